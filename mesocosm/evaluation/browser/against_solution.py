"""Differences from what the reference solver does: rows, and in which way they are otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from mesocosm.evaluation.browser.calls import CONTENT, RowChange
from mesocosm.evaluation.browser.comparison import PASSING, Pair, label_of
from mesocosm.evaluation.browser.marks import Marks, plain
from mesocosm.evaluation.browser.slips import slip_of
from mesocosm.evaluation.browser.subject import Subject
from mesocosm.evaluation.browser.why_parts import ADDRESS, NAMED, WhyPart, WhyPoint, shown
from mesocosm.families.verdict import named_values

_SHORT = 120
"""Letters of a value, at most, that is shown beside the one that was expected."""
_DELETED = re.compile(r"deleted|cancelled|canceled|trashed?|removed", re.IGNORECASE)
_MISSING = {"added": "missing", "changed": "not changed", "removed": "not deleted"}
_UNASKED = {
    "added": "not expected",
    "changed": "changed, which was not asked for",
    "removed": "deleted, which was not asked for",
}


def against(subject: Subject, marks: Marks, tables: Sequence[tuple[str, list[Pair]]]) -> Iterator[WhyPoint]:
    """Describe the difference from the reference solver's changes in a few rows."""
    told, by_table = _told_rows(tables), dict(tables)
    lines: list[list[WhyPart]] = []
    named: list[str] = []
    for how, rows in told.items():
        # Rows that say most come first; those that only lead from one row to another say nothing beside them.
        rows.sort(key=lambda one: -one[1].called.count(" / "))
        for table, pair in rows[:NAMED]:
            named.append(table)
            lines.append([WhyPart(f"{how}: {pair.called}"), *_told(subject, marks, pair, by_table[table])])
        if len(rows) > NAMED:
            lines.append([WhyPart(f"{how}: {len(rows) - NAMED:,} more")])
    if lines:
        # Of the tables that one thing fills, one is enough.
        for pairs in [pairs for table, pairs in tables if table == named[0]][:1]:
            right, of = sum(pair.same for pair in pairs), sum(bool(pair.expected) for pair in pairs)
            if right:
                lines.insert(0, [WhyPart(f"{right:,} of {of:,} rows of {named[0]} are as it makes them")])
        yield WhyPoint("Against what the reference solver does", lines, "changes?against=solution")


def _told_rows(tables: Sequence[tuple[str, list[Pair]]]) -> dict[str, list[tuple[str, Pair]]]:
    """The rows that are told, with their tables, by the way in which they differ."""
    told: dict[str, list[tuple[str, Pair]]] = {}
    seen: set[tuple[str, str, str]] = set()
    for table, pairs in tables:
        for pair in pairs:
            how = how_differs(pair)
            if pair.called and how and (how, table, pair.called) not in seen:
                seen.add((how, table, pair.called))
                told.setdefault(how, []).append((table, pair))
    labels = {pair.called for rows in told.values() for _, pair in rows}
    bare = [one for rows in told.values() for one in rows if not _is_nameless(*one)]
    for how, rows in told.items():
        # A row that is new and has no name of its own is told where nothing else is.
        rows = [one for one in rows if not bare or not _is_nameless(*one)]
        # What belongs to a row that is named itself goes with it.
        told[how] = [
            (table, pair)
            for table, pair in rows
            if not any(
                of != pair.called and (f" of {of}" in pair.called or of.startswith(f"{pair.called} / "))
                for of in labels
            )
        ]
    return told


def only_missing(tables: Sequence[tuple[str, list[Pair]]]) -> list[str]:
    """Name what is missing of what the reference solver does, if nothing that was done is wrong."""
    told = _told_rows(tables)
    if not told.keys() <= set(_MISSING.values()):
        return []
    return [
        pair.called if how == _MISSING["added"] else f"{pair.called} ({how})"
        for how, rows in told.items()
        for _, pair in rows
    ]


def _is_nameless(table: str, pair: Pair) -> bool:
    """True for a row that was added, or was to be, and is called after what it belongs to."""
    row = pair.expected or pair.got
    return bool(
        row and row.how == "added" and pair.called.startswith(f"{table.rpartition('.')[2]} of ")
    ) and not (pair.expected and pair.got)


def how_differs(pair: Pair) -> str:
    """Say in which way a row is not as expected; empty if it is."""
    if pair.expected and pair.got:
        return "different" if pair.differing else ""
    row = pair.expected or pair.got
    assert row is not None
    return (_MISSING if pair.expected else _UNASKED)["removed" if _deletes(row) else row.how]


def _deletes(row: RowChange) -> bool:
    """True if a change is a deletion: some services keep what is deleted, and say so."""
    return row.how == "changed" and any(
        _DELETED.fullmatch(str(after)) or (_DELETED.fullmatch(name.removeprefix("is_")) and not before)
        for name, before, after in row.values
        if after
    )


def _told(subject: Subject, marks: Marks, pair: Pair, pairs: Sequence[Pair]) -> Iterator[WhyPart]:
    """Tell the values in which a row differs, what else it holds, and the call that made it."""
    name = pair.differing[0][0] if pair.differing else ""
    rows = [one.expected for one in pairs if one is not pair and one.expected]
    elsewhere = {label_of(row): row.after.get(name) for row in rows if label_of(row)}
    yield WhyPart(_differing(pair, marks, elsewhere))
    if pair.got and (seq := _made_by(subject, pair.got)):
        yield WhyPart(", ")
        yield WhyPart(f"call {seq}", f"calls/{seq}")
    if rest := _rest(pair):
        yield WhyPart(f"; all else of it is right: “{rest}”")


def _differing(pair: Pair, marks: Marks, elsewhere: Mapping[str, Any]) -> str:
    """The first value in which rows differ, or that was changed, if it is short; of texts the first line.

    ``elsewhere``: what is right in the other rows of the same column, by their names.
    """
    if pair.expected and pair.got and pair.differing:
        name, *values = _innermost(*pair.differing[0])
        if "" in values:  # of texts, only lines that one side alone has
            lines = next(filter(None, values)).split("\n")
            more = f" and {len(lines) - 2:,} more lines" if len(lines) > 2 else ""
            told = "; ".join(f"“{shown(line, _SHORT)}”" for line in lines[:2])
            return f" ({'lacks' if values[0] else 'has besides'} {told}{more})"
        expected, got = _apart(*(_line(value) for value in values))
        if max(len(expected), len(got)) > _SHORT:
            return ""
        told = f"“{got}”{_person(got, marks)}, not “{expected}”{_person(expected, marks)}"
        slip = slip_of(got, expected, elsewhere)
        return f" ({_spaced(name)}: {told}{f': {slip}' if slip else ''})"
    row = pair.expected or pair.got
    if row is None or row.how != "changed":
        return ""
    for name, before, after in row.values:
        before, after = _line(before), _line(after)
        if (
            name in row.after
            and not PASSING.fullmatch(name)
            and max(len(before), len(after)) <= _SHORT
            and not _moment(after)
        ):
            to_be = "should have become" if pair.expected else "became"
            return f" ({_spaced(name)}: “{before}” {to_be} “{after}”)"
    return ""


def _innermost(name: str, expected: Any, got: Any) -> tuple[str, Any, Any]:
    """Of two values with names in them, what differs: under one name, or of several ``name: value``."""
    while isinstance(expected, Mapping) and isinstance(got, Mapping):
        apart = [key for key in {**expected, **got} if expected.get(key) != got.get(key)]
        if len(apart) != 1:
            mine, right = ({key: one.get(key) for key in apart} for one in (got, expected))
            return name, named_values(right), named_values(mine)
        name, expected, got = f"{name} {apart[0]}", expected.get(apart[0]), got.get(apart[0])
    return name, expected, got


def _apart(one: str, other: str) -> tuple[str, str]:
    """Of two long texts, the words in which they differ."""
    if max(len(one), len(other)) <= _SHORT:
        return one, other
    mine, theirs = re.split(r"(?<=[\s,;\t])", one), re.split(r"(?<=[\s,;\t])", other)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False)))
    rest = zip(reversed(mine[start:]), reversed(theirs[start:]), strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
    begin = max(0, start - 2)  # with the words before it
    shown_of = ("".join(words[begin : len(words) - end]).strip() for words in (mine, theirs))
    cut_one, cut_other = (f"{'…' if begin else ''}{text}{'…' if end else ''}" for text in shown_of)
    return cut_one, cut_other


def _moment(text: str) -> bool:
    return bool(re.match(r"\d{4}-\d\d-\d\dT", text))


def _line(value: Any) -> str:
    return named_values(value).split("\n")[0].strip()


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _person(value: str, marks: Marks) -> str:
    """The name of whoever has an address, in brackets."""
    name = next((name for address, name in marks.cast.items() if address.lower() == value.lower()), "")
    return f" ({name})" if name else ""


def _rest(pair: Pair) -> str:
    """The text of a row that went to a wrong address and is right in all else: it says for whom it was."""
    if not (pair.expected and pair.got and len(pair.differing) == 1):
        return ""
    name, *values = pair.differing[0]
    if not all(ADDRESS.search(str(value)) and len(str(value)) <= _SHORT for value in values):
        return ""
    same = [
        plain(value)
        for column, value in pair.got.after.items()
        if column != name and isinstance(value, str) and value == pair.expected.after.get(column)
    ]
    text = " ".join(max((one for one in same if " " in one), key=len, default="").split())
    return shown(text, _SHORT)


def _made_by(subject: Subject, row: RowChange) -> int | None:
    """The last call that changed a row."""
    for seq in reversed(subject.compared_calls):
        if any(one.ref == row.ref for change in subject.changes_of(seq) for one in change.rows):
            return seq
    return None


def lines_apart(tables: Sequence[tuple[str, list[Pair]]]) -> list[str]:
    """The first lines of written texts that are not as expected: they name what they are about."""
    values = [
        value
        for _, pairs in tables
        for pair in pairs
        for name, *both in pair.differing
        if name == CONTENT
        for value in both
    ]
    return [line for value in values for line in str(value).split("\n")[:NAMED] if line]


def diverted(tables: Sequence[tuple[str, list[Pair]]]) -> set[str]:
    """The addresses between which something went astray that is right in all else.

    Nothing that was read of them decided it, so nothing is told of them.
    """
    found = set()
    for _, pairs in tables:
        for pair in pairs:
            if _rest(pair):
                for value in pair.differing[0][1:]:
                    found |= {one.lower() for one in ADDRESS.findall(str(value))}
    return found
