"""Judges a table of growth rates, and that nothing else was touched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from mesocosm.checkers.excel_market_research.mutants import MUTANTS
from mesocosm.errors import Refusal
from mesocosm.families.verdict import Check, finding
from mesocosm.generators.excel_market_research.expected import RESULT, Expected
from mesocosm.kits.damage import touched_files
from mesocosm.kits.workbooks import drawings, percentages
from mesocosm.servers.excel.store import ExcelStore
from mesocosm.servers.excel.store.books import Formula
from mesocosm.services.world import World

__all__ = ["MUTANTS", "check"]

_NEAR = 0.005001
"""How far two decimals may be from the exact value, a half rounded either way."""

_MOST_ROWS, _MOST_COLUMNS = 2_000, 200
"""No table that is asked for comes near; what is larger is not read."""


@dataclass
class Table:
    """What stands in the result."""

    problem: str = ""
    header: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    not_numbers: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    """Blank rows between others."""


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    table = _read(world)
    years = [_number(row[0]) if row else None for row in table.rows]
    return [
        Check(name="workbook", passed=not table.problem, detail=table.problem),
        finding(
            "header", [] if table.header == expected.header else [f"{table.header} is not {expected.header}"]
        ),
        finding(
            "years",
            table.gaps or ([] if years == expected.years else [f"{years} instead of {expected.years}"]),
        ),
        finding("numbers", table.not_numbers),
        finding("other_cells", list(_beside(table))),
        finding("category_growth", list(_wrong(table, expected, slice(1, len(expected.header) - 1)))),
        finding("growth_rate", list(_wrong(table, expected, slice(len(expected.header) - 1, None)))),
        finding("other_files", touched_files(world.changes(), made=(RESULT,), additions=True)),
    ]


def _read(world: World) -> Table:
    try:
        book = world.store(ExcelStore).book(RESULT)
        names = book.sheet_names
        if len(names) != 1:
            return Table(f"{RESULT} has {len(names)} sheets instead of one: {', '.join(names)}")
        sheet = book.sheet(names[0])
        data = world.workspace.read(RESULT)
    except Refusal as refusal:
        return Table(refusal.message)
    if drawn := drawings(data):
        return Table(f"{', '.join(drawn)} in {RESULT}")
    lines: list[list[Any]] = []
    not_numbers: list[str] = []
    if len(sheet.rows) > _MOST_ROWS or (sheet.used and sheet.used.last_column > _MOST_COLUMNS):
        return Table(f"{RESULT} has cells far beyond the table")
    for columns, values in sheet.rows:
        line: list[Any] = [None] * max(columns)
        for column, value in zip(columns, values, strict=True):
            line[column - 1] = value
            if lines and _number(value) is None:
                kind = "a formula" if isinstance(value, Formula) else repr(value)
                not_numbers.append(f"{kind} in column {column}, row {len(lines) + 1}")
        lines.append(line)
    if not lines:
        return Table(f"{RESULT} is empty")
    if sheet.numbers[0] != 1:
        return Table(rows=lines, not_numbers=not_numbers)
    not_numbers += [f"{cell} is shown as a percentage" for cell in percentages(data)]
    header = [" ".join(str(cell or "").split()) for cell in lines[0]]
    gaps = [f"row {after - 1} is blank" for before, after in pairwise(sheet.numbers) if after - before > 1]
    return Table(header=header, rows=lines[1:], not_numbers=not_numbers, gaps=gaps)


def _wrong(table: Table, expected: Expected, columns: slice) -> Sequence[str]:
    """Cells that are not what they should be, found by year and heading."""
    rows = {_number(row[0]): row for row in reversed(table.rows) if row}
    places = {name: index for index, name in enumerate(table.header)}
    wrong = []
    for year, truth in zip(expected.years, expected.rows, strict=True):
        for name, value in zip(expected.header[1:][_before(columns)], truth[_before(columns)], strict=True):
            row = rows.get(year, [])
            place = places.get(name, len(row))
            found = _number(row[place]) if place < len(row) else None
            if found is None or not abs(found - value) <= _NEAR:
                wrong.append(f"{year}, {name}: {found} instead of {value:.2f}")
            elif round(found, 2) != found:
                wrong.append(f"{year}, {name}: {found} is not rounded to two decimals")
    return wrong


def _beside(table: Table) -> Iterable[str]:
    """Cells that are beside the table; further rows are years that were not asked for."""
    for number, row in enumerate(table.rows, start=2):
        if any(cell is not None for cell in row[len(table.header) :]):
            yield f"row {number} goes on beyond the heading"


def _before(columns: slice) -> slice:
    """The same columns of a row that has no year in front."""
    return slice(columns.start - 1, None if columns.stop is None else columns.stop - 1)


def _number(cell: Any) -> float | None:
    """A number; text that looks like one is none."""
    return None if isinstance(cell, bool) or not isinstance(cell, int | float) else float(cell)
