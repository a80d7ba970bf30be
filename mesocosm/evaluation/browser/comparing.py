"""Expected against got: rows that the reference solver changes beside those that the agent changed."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from mesocosm.evaluation.browser.calls import CONTENT, FILES, Change, RowChange
from mesocosm.services.service import load_service

_PASSING = re.compile(
    r"id|date|.*(created|updated|modified).*|(posted|submitted|graded|pushed|closed|drafted|last_\w+)_at"
    r"|message_id|references|in_reply_to|etag|sequence|revision|version"
)
"""Names of columns that differ from one run to the next without meaning anything."""


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

    @property
    def same(self) -> bool:
        """Whether what was got is what was expected."""
        return bool(self.expected and self.got and not self.differing)


@dataclass(frozen=True)
class _Rule:
    """Which columns of a table mean something."""

    keys: frozenset[str]
    numbers: Set[str]
    """Those that rows were given which changed: they follow the order of the calls."""

    def means(self, name: str, value: Any) -> bool:
        """Whether a value is more than a number in passing."""
        if name in self.keys or _PASSING.fullmatch(name):
            return False
        return not (name.endswith("_id") and str(value) in self.numbers)


def compared(expected: Sequence[Change], got: Sequence[Change]) -> list[tuple[str, list[Pair]]]:
    """By table: rows that were to be changed beside those that were, the most alike together."""
    rows = [{(one.service, one.table): one.rows for one in changes} for changes in (expected, got)]
    numbers = {
        row.ref.partition(":")[2] for changes in (expected, got) for one in changes for row in one.rows
    }
    found = []
    for service, table in dict.fromkeys([*rows[0], *rows[1]]):
        theirs, mine = (one.get((service, table), []) for one in rows)
        found.append(
            (
                f"{service}.{table}" if service != table else service,
                _paired(_Rule(_keys(service, table), numbers), theirs, mine),
            )
        )
    return found


def _paired(rule: _Rule, expected: Sequence[RowChange], got: Sequence[RowChange]) -> list[Pair]:
    """Rows beside each other: first those that are the same, then of the others the most alike."""
    pairs, waiting, left = [], [], list(got)
    for row in expected:
        same = next((one for one in left if _alike(rule, row, one) and not _differing(rule, row, one)), None)
        if same is None:
            waiting.append(row)
        else:
            left.remove(same)
            pairs.append(Pair(row, same, ()))
    for row in waiting:
        best = max(left, key=partial(_alike, rule, row), default=None)
        if best is not None and _alike(rule, row, best) >= _ENOUGH:
            left.remove(best)
            pairs.append(Pair(row, best, _differing(rule, row, best)))
        else:
            pairs.append(Pair(row, None, ()))
    return pairs + [Pair(None, row, ()) for row in left]


def _keys(service: str, table: str) -> frozenset[str]:
    """Columns that number rows, its own or those of other tables: they follow the order of the calls."""
    metadata = None if service == FILES else load_service(service).metadata
    if metadata is None or table not in metadata.tables:
        return frozenset()
    columns = metadata.tables[table].columns
    return frozenset(one.name for one in columns if one.primary_key or one.foreign_keys)


def _meant(rule: _Rule, row: RowChange) -> dict[str, Any]:
    values = row.after or row.before
    return {name: value for name, value in values.items() if rule.means(name, value)}


def _alike(rule: _Rule, one: RowChange, other: RowChange) -> float:
    if one.how != other.how:
        return 0
    if one.how != "added" or one.ref.startswith(f"{FILES}:"):
        return float(one.ref == other.ref)
    mine, theirs = _meant(rule, one), _meant(rule, other)
    telling = [name for name in mine if mine[name] not in (None, "", 0, 1)] or list(mine)
    same = [name for name in telling if mine[name] == theirs.get(name)]
    return len(same) / len(telling) if telling else 1


def _differing(rule: _Rule, one: RowChange, other: RowChange) -> list[tuple[str, Any, Any]]:
    mine, theirs = _meant(rule, one), _meant(rule, other)
    differing = [(name, mine[name], theirs.get(name)) for name in mine if mine[name] != theirs.get(name)]
    return [_lines(*found) if found[0] == CONTENT else found for found in differing]


def _lines(name: str, expected: Any, got: Any) -> tuple[str, str, str]:
    """Of two texts, the lines that only one of them has."""
    here, there = str(expected).split("\n"), str(got).split("\n")
    known, met = set(here), set(there)
    missing = [line for line in here if line not in met]
    new = [line for line in there if line not in known]
    return name, "\n".join(missing[:_LINES]), "\n".join(new[:_LINES])
