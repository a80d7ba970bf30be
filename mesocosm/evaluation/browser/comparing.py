"""Expected against got: rows that the reference solver changes beside those that the agent changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mesocosm.evaluation.browser.calls import Change, RowChange

_PASSING = (
    "date",
    "time",
    "_at",
    "created",
    "updated",
    "modified",
    "message_id",
    "etag",
    "sequence",
    "revision",
)
"""Parts of names of columns that differ from one run to the next without meaning anything."""


@dataclass(frozen=True)
class Pair:
    """A row that was expected beside the one that was got; either may be missing."""

    expected: RowChange | None
    got: RowChange | None
    differing: Sequence[tuple[str, Any, Any]]


def compared(expected: Sequence[Change], got: Sequence[Change]) -> list[tuple[str, list[Pair]]]:
    """By table: rows that were to be changed beside those that were, the most alike together."""
    theirs = {(one.service, one.table): one.rows for one in expected}
    mine = {(one.service, one.table): one.rows for one in got}
    found = []
    for service, table in dict.fromkeys([*theirs, *mine]):
        pairs, left = [], list(mine.get((service, table), ()))
        for row in theirs.get((service, table), ()):
            best = max(left, key=partial(_alike, row), default=None)
            if best is not None and _alike(row, best) >= 0.5:
                left.remove(best)
                pairs.append(Pair(row, best, _differing(row, best)))
            else:
                pairs.append(Pair(row, None, ()))
        pairs += [Pair(None, row, ()) for row in left]
        found.append((f"{service}.{table}" if service != table else service, pairs))
    return found


def _meant(row: RowChange) -> dict[str, Any]:
    values = row.after or row.before
    passing = {name for name in values if name == "id" or any(part in name for part in _PASSING)}
    return {name: value for name, value in values.items() if name not in passing}


def _alike(one: RowChange, other: RowChange) -> float:
    if one.how != other.how:
        return 0
    if not one.after and not one.before:
        return float(one.ref == other.ref)
    mine, theirs = _meant(one), _meant(other)
    telling = [name for name in mine if mine[name] not in (None, "", 0, 1)] or list(mine)
    same = [name for name in telling if mine[name] == theirs.get(name)]
    return len(same) / max(len(telling), 1)


def _differing(one: RowChange, other: RowChange) -> list[tuple[str, Any, Any]]:
    mine, theirs = _meant(one), _meant(other)
    return [(name, mine[name], theirs.get(name)) for name in mine if mine[name] != theirs.get(name)]
