"""Judges a table of growth rates, and that nothing else was touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mesocosm.checkers.excel_market_research.mutants import MUTANTS
from mesocosm.checking import Check, finding
from mesocosm.checking.damage import touched_files
from mesocosm.errors import Refusal
from mesocosm.generators.excel_market_research.expected import RESULT, Expected
from mesocosm.servers.excel.store import ExcelStore
from mesocosm.servers.excel.store.reading import Formula
from mesocosm.world import World

__all__ = ["MUTANTS", "check"]

_NEAR = 0.0101
"""Two decimals, however halves were rounded on the way."""


@dataclass
class Table:
    """What stands in the result."""

    problem: str = ""
    header: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    formulas: int = 0


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    table = _read(world)
    years = [_number(row[0]) if row else None for row in table.rows]
    return [
        Check(name="workbook", passed=not table.problem, detail=table.problem),
        finding(
            "header", [] if table.header == expected.header else [f"{table.header} is not {expected.header}"]
        ),
        finding("years", [] if years == expected.years else [f"{years} instead of {expected.years}"]),
        finding("numbers", [f"{table.formulas} formulas"] if table.formulas else []),
        finding("category_growth", list(_wrong(table, expected, slice(1, len(expected.header) - 1)))),
        finding("growth_rate", list(_wrong(table, expected, slice(len(expected.header) - 1, None)))),
        finding("other_files", touched_files(world.changes(), made=(RESULT,))),
    ]


def _read(world: World) -> Table:
    try:
        book = world.store(ExcelStore).book(RESULT)
        names = book.sheet_names
        if len(names) != 1:
            return Table(f"{RESULT} has {len(names)} sheets instead of one: {', '.join(names)}")
        sheet = book.sheet(names[0])
    except Refusal as refusal:
        return Table(refusal.message)
    lines: list[list[Any]] = []
    formulas = 0
    for columns, values in sheet.rows:
        line: list[Any] = [None] * max(columns)
        for column, value in zip(columns, values, strict=True):
            formulas += isinstance(value, Formula)
            line[column - 1] = value
        lines.append(line)
    if not lines:
        return Table(f"{RESULT} is empty")
    header = [" ".join(str(cell or "").split()) for cell in lines[0]]
    return Table(header=header, rows=lines[1:], formulas=formulas)


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
            if found is None or abs(found - round(value, 2)) > _NEAR:
                wrong.append(f"{year}, {name}: {found} instead of {value:.2f}")
    return wrong


def _before(columns: slice) -> slice:
    """The same columns of a row that has no year in front."""
    return slice(columns.start - 1, None if columns.stop is None else columns.stop - 1)


def _number(cell: Any) -> float | None:
    """A number, also one that was written as text."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        return float(cell)
    except ValueError:
        return None
