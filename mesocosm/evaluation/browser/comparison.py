"""Expected against got: rows that the reference solver changes beside those that the agent changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from mesocosm.evaluation.browser.calls import CONTENT, FILES, RowChange, ShownChange
from mesocosm.services.service import load_service

PASSING = re.compile(
    r"id|date|.*(created|updated|modified).*"
    r"|(posted|submitted|graded|pushed|closed|drafted|authored|committed|corrected|last_\w+)_at"
    r"|timestamp|received|altered|(meta)?generation|message_id|references|in_reply_to|etag|sequence|revision|version"
)
"""Names of columns that differ from one run to the next without meaning anything."""
_CALLED = (
    "to",
    "recipients",
    "login_id",
    "login",
    "name",
    "title",
    "subject",
    "summary",
    "filename",
    "path",
    "email",
    "answer",
)
_SIGNED = re.compile(rb"> \d+ [+-]\d{4}")
"""When a commit was made, as git's objects say it."""
_DIGEST = re.compile("[0-9a-f]{32}")
_NEW = "(new)"
"""Placeholder for a hash or number that was assigned during the run."""
RowOf = Callable[[str, str, str, Any], Mapping[str, Any] | None]
"""Looks up a row as the world was built, by service, table, column and value."""
_LINES = 20
"""Lines of a text that are shown where it differs."""
_ENOUGH = 0.5
"""The share of columns that are the same from which on two rows are the same thing, done otherwise."""


@dataclass(frozen=True)
class Pair:
    """A row that was expected beside the one that was got; either may be missing."""

    expected: RowChange | None
    got: RowChange | None
    differing: Sequence[tuple[str, Any, Any]]
    called: str = ""
    """Name of the row: its own, or of what it belongs to."""

    @property
    def same(self) -> bool:
        """True if the actual value is the expected one."""
        return bool(self.expected and self.got and not self.differing)


class _Side:
    """The rows that one side changed, and what their values mean."""

    def __init__(self, changes: Sequence[ShownChange], row_of: RowOf) -> None:
        self._row_of = row_of
        self.rows = {
            (one.service, one.table): [row for row in one.rows if not _says_nothing(row)] for one in changes
        }
        self._added: dict[tuple[str, str, str], dict[Any, RowChange]] = {}
        rows = [row for one in changes for row in one.rows if row.how == "added"]
        self._numbers = {row.ref.partition(":")[2] for one in changes for row in one.rows}
        self._hashes = {str(row.after["sha"]): row.after.get("data") for row in rows if row.after.get("sha")}

    def meant(self, service: str, table: str, row: RowChange) -> dict[str, Any]:
        """The values of a row that mean something: references by what they lead to, contents for hashes."""
        keys, references = _columns(service, table)
        found = {}
        for name, value in (row.after or row.before).items():
            if name in references and value is not None:
                found[name] = self._led_to(service, *references[name], value)
            elif not (
                name in keys
                or PASSING.fullmatch(name)
                or (name.endswith("_id") and str(value) in self._numbers)
                or (name == "sha" and "data" in row.after)  # which is compared
            ):
                found[name] = self._content(value)
        return found

    def called(self, service: str, table: str, row: RowChange) -> str:
        """Return the name of a row, or of what it belongs to."""
        meant, (_, references) = self.meant(service, table, row), _columns(service, table)
        owners = " / ".join(str(meant[name]) for name in references if meant.get(name) not in (None, ""))
        return label_of(row) or (f"{table} of {owners}" if owners else "")

    def _led_to(self, service: str, table: str, column: str, value: Any) -> Any:
        """Resolve a reference to what it points at: numbers of rows differ between runs."""
        added = self._added.get((service, table, column))
        if added is None:
            rows = [row for row in self.rows.get((service, table), ()) if row.how == "added"]
            added = self._added[service, table, column] = {row.after.get(column): row for row in rows}
        if row := added.get(value):
            return label_of(row) or f"{_NEW[:-1]}: {table})"
        built = self._row_of(service, table, column, value)
        if built is None:
            return _NEW
        name = _named(built)
        return f"{name} ({table} {value})" if name else f"{table} {value}"

    def _content(self, value: Any) -> Any:
        if isinstance(value, str) and value in self._hashes:
            data = self._hashes[value]
            text = _decoded(data) if isinstance(data, bytes) else None
            return _NEW if text is None or value in text or _SIGNED.search(data or b"") else text
        if isinstance(value, str) and _DIGEST.fullmatch(value):
            return _NEW  # what it was made of is compared
        if isinstance(value, bytes):
            for one in self._hashes:
                value = value.replace(one.encode(), b"")
                if re.fullmatch("(?:[0-9a-f]{2})+", one):
                    value = value.replace(bytes.fromhex(one), b"")
            value = _SIGNED.sub(b">", value)
            text = _decoded(value)
            return value if text is None else text
        return value


def _says_nothing(row: RowChange) -> bool:
    """True for a change of nothing but when something was done, and how often."""
    return row.how == "changed" and all(PASSING.fullmatch(name) for name, _, _ in row.values)


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def label_of(row: RowChange) -> str:
    """Return the name of a row, from its naming columns."""
    if row.ref.startswith(f"{FILES}:"):
        return row.ref.partition(":")[2][:120]
    return _named({**row.before, **row.after})


def _named(values: Mapping[str, Any]) -> str:
    return " / ".join([str(values[name]) for name in _CALLED if values.get(name) not in (None, "")][:2])[:120]


def compared(
    expected: Sequence[ShownChange], got: Sequence[ShownChange], row_of: RowOf
) -> list[tuple[str, list[Pair]]]:
    """By table: rows that were to be changed beside those that were, the most alike together."""
    theirs, mine = _Side(expected, row_of), _Side(got, row_of)
    return [
        (f"{service}.{table}" if service != table else service, _paired(service, table, theirs, mine))
        for service, table in dict.fromkeys([*theirs.rows, *mine.rows])
    ]


_Meant = tuple[RowChange, Mapping[str, Any]]


def _paired(service: str, table: str, expected: _Side, got: _Side) -> list[Pair]:
    """Rows beside each other: first those that are the same, then of the others the most alike."""
    wanted, left = (
        [(row, side.meant(service, table, row)) for row in side.rows.get((service, table), ())]
        for side in (expected, got)
    )
    pairs, waiting = [], []
    for one in wanted:
        same = next((other for other in left if _alike(one, other) and not _differing(one, other)), None)
        if same is None:
            waiting.append(one)
        else:
            left.remove(same)
            pairs.append(Pair(one[0], same[0], ()))
    for one in waiting:
        best = max(left, key=partial(_alike, one), default=None)
        called = expected.called(service, table, one[0])
        if best is not None and _alike(one, best) >= _ENOUGH:
            left.remove(best)
            pairs.append(Pair(one[0], best[0], _differing(one, best), called))
        else:
            pairs.append(Pair(one[0], None, (), called))
    return pairs + [Pair(None, row, (), got.called(service, table, row)) for row, _ in left]


@cache
def _columns(service: str, table: str) -> tuple[frozenset[str], Mapping[str, tuple[str, str]]]:
    """Columns that number rows, which follows the order of the calls; by column that leads to another table:
    that one and its column."""
    metadata = None if service == FILES else load_service(service).metadata
    if metadata is None or table not in metadata.tables:
        return frozenset(), {}
    columns = metadata.tables[table].columns
    own = [one.name for one in columns if one.primary_key]
    references = {
        one.name: (key.column.table.name, key.column.name) for one in columns for key in one.foreign_keys
    }
    # Of several columns, those that lead nowhere say something: a path, a name, a place.
    return frozenset(own if len(own) == 1 else ()) - references.keys(), references


def _alike(one: _Meant, other: _Meant) -> float:
    if one[0].how != other[0].how:
        return 0
    if one[0].how != "added" or one[0].ref.startswith(f"{FILES}:"):
        return float(one[0].ref == other[0].ref)
    mine, theirs = one[1], other[1]
    telling = [name for name in mine if mine[name] not in (None, "", 0, 1)] or list(mine)
    same = [name for name in telling if mine[name] == theirs.get(name)]
    return len(same) / len(telling) if telling else 1


def _differing(one: _Meant, other: _Meant) -> list[tuple[str, Any, Any]]:
    mine, theirs = one[1], other[1]
    differing = [(name, mine[name], theirs.get(name)) for name in mine if mine[name] != theirs.get(name)]
    return [_lines(*found) if found[0] == CONTENT or "\n" in str(found[1]) else found for found in differing]


def _lines(name: str, expected: Any, got: Any) -> tuple[str, str, str]:
    """Of two texts, the lines that only one of them has."""
    here, there = str(expected).split("\n"), str(got).split("\n")
    known, met = set(here), set(there)
    missing = [line for line in here if line not in met]
    new = [line for line in there if line not in known]
    return name, "\n".join(missing[:_LINES]), "\n".join(new[:_LINES])
