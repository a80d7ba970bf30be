"""Expected against got: rows that the reference solver changes beside those that the agent changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mesocosm.evaluation.browser.calls import FILES, Change, RowChange
from mesocosm.services.service import load_service

_PASSING = re.compile(
    r"id|date|.*(created|updated|modified).*|(posted|submitted|graded|pushed|closed|drafted|last_\w+)_at"
    r"|message_id|references|in_reply_to|etag|sequence|revision|version"
)
"""Names of columns that differ from one run to the next without meaning anything."""


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


def compared(expected: Sequence[Change], got: Sequence[Change]) -> list[tuple[str, list[Pair]]]:
    """By table: rows that were to be changed beside those that were, the most alike together."""
    theirs = {(one.service, one.table): one.rows for one in expected}
    mine = {(one.service, one.table): one.rows for one in got}
    found = []
    for service, table in dict.fromkeys([*theirs, *mine]):
        keys = _keys(service, table)
        pairs, left = [], list(mine.get((service, table), ()))
        for row in theirs.get((service, table), ()):
            best = max(left, key=partial(_alike, keys, row), default=None)
            if best is not None and _alike(keys, row, best) >= 0.5:
                left.remove(best)
                pairs.append(Pair(row, best, _differing(keys, row, best)))
            else:
                pairs.append(Pair(row, None, ()))
        pairs += [Pair(None, row, ()) for row in left]
        found.append((f"{service}.{table}" if service != table else service, pairs))
    return found


def _keys(service: str, table: str) -> frozenset[str]:
    """Columns that number rows, its own or those of other tables: they follow the order of the calls."""
    metadata = None if service == FILES else load_service(service).metadata
    if metadata is None or table not in metadata.tables:
        return frozenset()
    columns = metadata.tables[table].columns
    return frozenset(one.name for one in columns if one.primary_key or one.foreign_keys)


def _meant(keys: frozenset[str], row: RowChange) -> dict[str, Any]:
    values = row.after or row.before
    return {
        name: value for name, value in values.items() if name not in keys and not _PASSING.fullmatch(name)
    }


def _alike(keys: frozenset[str], one: RowChange, other: RowChange) -> float:
    if one.how != other.how:
        return 0
    if one.how != "added" or not (one.after or one.before):
        return float(one.ref == other.ref)
    mine, theirs = _meant(keys, one), _meant(keys, other)
    telling = [name for name in mine if mine[name] not in (None, "", 0, 1)] or list(mine)
    same = [name for name in telling if mine[name] == theirs.get(name)]
    return len(same) / len(telling) if telling else 1


def _differing(keys: frozenset[str], one: RowChange, other: RowChange) -> list[tuple[str, Any, Any]]:
    mine, theirs = _meant(keys, one), _meant(keys, other)
    return [(name, mine[name], theirs.get(name)) for name in mine if mine[name] != theirs.get(name)]
