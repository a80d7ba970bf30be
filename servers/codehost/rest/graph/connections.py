"""Lists of the GraphQL API: connections with cursors, which are offsets here."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from typing import Any

from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.services.schema import Json
from mesocosm.worlds import deadlines

Read = Callable[[int, int], tuple[Sequence[Any], int]]
"""Reads a page (its number, its size): the rows and how many there are in all."""
MAX = 100
_CURSOR = re.compile(r"offset:(\d{1,9})")


def node_of(identity: str) -> tuple[str, str]:
    """The kind and the id that a node's id says."""
    try:
        text = base64.b64decode(identity, validate=True).decode()
    except ValueError:
        text = ""
    found = re.match(r"0(\d{1,3}):", text)
    if not found:
        raise Unprocessable(f"Could not resolve to a node with the global id of '{identity[:60]}'")
    kind = text[found.end() :][: int(found[1])]
    return kind, text[found.end() + len(kind) :]


def connection(
    read: Read,
    show: Callable[[Any], Json],
    *,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    **_: Any,
) -> Json:
    """Part of a list, behind a cursor or at its end."""
    deadlines.check()
    for name, number in (("first", first), ("last", last)):
        if number is not None and not 0 <= number <= MAX:
            raise Unprocessable(f"Requesting {number} records exceeds the `{name}` limit of {MAX} records.")
    offset = _offset(after)
    if first is None and last is not None:
        size = read(1, 1)[1]
        offset, first = max(0, size - last), min(last, size)
    count = 30 if first is None else first
    rows: list[Any] = []
    page = offset // MAX + 1
    total: int | None = None
    while total is None or (len(rows) < offset % MAX + count and page * MAX < total + MAX):
        found, total = read(page, MAX if count else 1)
        rows += found
        page += 1
        if not count:
            break
    shown = rows[offset % MAX :][:count]
    end = offset + len(shown)
    return {
        "nodes": lambda info: [show(row) for row in shown],
        "edges": lambda info: [
            {"node": show(row), "cursor": _cursor(offset + number)} for number, row in enumerate(shown, 1)
        ],
        "totalCount": total,
        "pageInfo": {
            "hasNextPage": end < (total or 0),
            "hasPreviousPage": offset > 0,
            "startCursor": _cursor(offset + 1) if shown else None,
            "endCursor": _cursor(end) if shown else None,
        },
    }


def paged(read: Read, show: Callable[[Any], Json]) -> Callable[..., Json]:
    """A field that is a list, of which a query names the part."""
    return lambda info, **page: connection(read, show, **page)


def whole(rows: Callable[[], Sequence[Any]], show: Callable[[Any], Json]) -> Callable[..., Json]:
    """A field that is a list which is read as a whole."""
    return lambda info, **page: connection(listed(rows()), show, **page)


def listed(rows: Sequence[Any]) -> Read:
    """Pages of a list that is there as a whole."""
    return lambda page, size: (rows[(page - 1) * size : page * size], len(rows))


def nothing(info: Any, **_: Any) -> Json:
    """Return an empty connection."""
    return connection(listed(()), dict) | {"totalSize": 0, "checkRunCount": 0, "statusContextCount": 0}


def _cursor(offset: int) -> str:
    return base64.b64encode(f"offset:{offset}".encode()).decode()


def _offset(cursor: str | None) -> int:
    if not cursor:
        return 0
    try:
        found = _CURSOR.fullmatch(base64.b64decode(cursor, validate=True).decode())
    except ValueError:
        found = None
    if not found:
        raise Unprocessable(f"`{cursor[:60]}` does not appear to be a valid cursor.")
    return int(found[1])
