"""Judges a table of growth rates, and that nothing else was touched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mesocosm.checkers.excel_market_research.mutants import MUTANTS
from mesocosm.families.verdict import Check, finding, told
from mesocosm.generators.excel_market_research.expected import RESULT, Expected
from mesocosm.kits.damage import touched_files
from mesocosm.servers.excel.store.contents import read_contents
from mesocosm.services.contents import UnreadableContent
from mesocosm.services.numbers import BINARY
from mesocosm.services.world import World

__all__ = ["MUTANTS", "check"]

_NEAR = 0.005001
"""Tolerance for two decimals, whichever way a half is rounded."""


@dataclass
class Table:
    """Content of the result's table."""

    problem: str = ""
    header: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    not_numbers: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    """Blank rows between others, or above all, and what is concealed."""


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    table = _read(world)
    years = [_number(row[0]) if row else None for row in table.rows]
    return [
        Check(name="workbook", passed=not table.problem, detail=table.problem),
        finding("header", [] if table.header == expected.header else [told(table.header, expected.header)]),
        finding(
            "years",
            table.defects or ([] if years == expected.years else [told(years, expected.years)]),
        ),
        finding("numbers", table.not_numbers),
        finding("other_cells", list(_beside(table))),
        finding("category_growth", list(_wrong(table, expected, slice(1, len(expected.header) - 1)))),
        finding("growth_rate", list(_wrong(table, expected, slice(len(expected.header) - 1, None)))),
        finding("other_files", touched_files(world.changes(), made=(RESULT,), additions=True)),
    ]


def _read(world: World) -> Table:
    contents = read_contents(world.workspace, RESULT)
    if isinstance(contents, UnreadableContent):
        return Table(str(contents))
    if len(contents.sheets) != 1:
        return Table(f"{RESULT} has {len(contents.sheets)} sheets instead of one")
    if contents.drawings:
        return Table(f"{', '.join(contents.drawings)} in {RESULT}")
    [grid] = contents.sheets.values()
    if not contents.filled:
        return Table(f"{RESULT} is empty")
    not_numbers = [
        f"{cell!r} in column {column}, row {number}"
        for number, line in enumerate(grid.lines, start=2)
        for column, cell in enumerate(line, start=1)
        if cell is not None and _number(cell) is None
    ]
    header = [" ".join(str(cell or "").split()) for cell in grid.head]
    return Table(header=header, rows=grid.lines, not_numbers=not_numbers, defects=grid.defects())


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
                wrong.append(f"{year}, {name}: {told(found, f'{value:.2f}')}")
            elif abs(round(found, 2) - found) > BINARY:
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
