"""Near misses of a right table of growth rates."""

from __future__ import annotations

from collections.abc import Callable

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.excel_market_research.expected import DATA, RESULT, Expected
from mesocosm.kits.near_tables import Lines, NearTable, edited_sheet, workbook_mutants
from mesocosm.services.world import World

Change = Callable[[Lines, Expected], object]

_TABLE: NearTable[Expected, int] = NearTable(RESULT, (), lambda expected: expected.years, lambda year: [year])


def _nudge(row: int, column: int) -> Change:
    """One cell off by a little more than rounding explains."""

    def change(lines: Lines, expected: Expected) -> None:
        lines[row][column] = round(lines[row][column] + 0.03, 2)

    return change


def _round(lines: Lines, expected: Expected) -> None:
    exact = [line[-1] for line in lines]
    for line in lines[1:]:
        line[-1] = round(float(line[-1]), 0)
    if exact == [line[-1] for line in lines]:
        raise Inapplicable


def _shift(lines: Lines, expected: Expected) -> None:
    """Every year's growth one year late."""
    rates = [line[-1] for line in lines[1:-1]]
    for line, rate in zip(lines[2:], rates, strict=True):
        line[-1] = rate


def _swap_columns(lines: Lines, expected: Expected) -> None:
    if len(expected.header) < 4:
        raise Inapplicable
    for line in lines:
        line[1:3] = line[2], line[1]


def _drop_column(lines: Lines, expected: Expected) -> None:
    for line in lines:
        del line[1]


def _everywhere(value: Callable[[float], float | str]) -> Change:
    """Other values in all cells but the years."""

    def change(lines: Lines, expected: Expected) -> None:
        for line in lines[1:]:
            line[1:] = [value(float(cell)) for cell in line[1:]]

    return change


def _unrounded(lines: Lines, expected: Expected) -> None:
    if all(round(value, 2) == value for values in expected.rows for value in values):
        raise Inapplicable
    for line, values in zip(lines[1:], expected.rows, strict=True):
        line[1:] = values


def _extra_year(lines: Lines, expected: Expected) -> None:
    lines.append([expected.years[-1] + 1, *[1.5] * (len(expected.header) - 1)])


def _unit_in_heading(lines: Lines, expected: Expected) -> None:
    lines[0][1] = lines[0][1].replace(" %", " (mn USD) %")


def _formula(lines: Lines, expected: Expected) -> None:
    lines[1][-1] = "=ROUND((B3/B2-1)*100,2)"


def _as_percentages(world: World, expected: Expected) -> None:
    with edited_sheet(world, RESULT) as sheet:
        for row in sheet.iter_rows(min_row=2, min_col=2):
            for cell in row:
                cell.number_format = "0.00%"


def _corrected_data(world: World, expected: Expected) -> None:
    with edited_sheet(world, DATA) as sheet:
        sheet["B2"] = 1


_CHANGES: list[tuple[str, str, Change]] = [
    ("first figure of a category off", "category_growth", _nudge(1, 1)),
    ("last figure of a category off", "category_growth", _nudge(-1, -2)),
    ("first growth rate off", "growth_rate", _nudge(1, -1)),
    ("last growth rate off", "growth_rate", _nudge(-1, -1)),
    ("rounded to whole percents", "growth_rate", _round),
    ("fractions instead of percents", "growth_rate", _everywhere(lambda value: value / 100)),
    ("growth one year late", "growth_rate", _shift),
    ("all a hundredth higher", "growth_rate", _everywhere(lambda value: round(value + 0.01, 2))),
    ("not rounded", "growth_rate", _unrounded),
    ("a year too many", "years", _extra_year),
    ("two categories in the wrong order", "header", _swap_columns),
    ("a category missing", "header", _drop_column),
    ("a unit in a heading", "header", _unit_in_heading),
    ("blank rows above the heading", "years", lambda lines, _: lines.__setitem__(slice(0, 0), [[], []])),
    ("a blank row between years", "years", lambda lines, _: lines.insert(2, [])),
    ("a formula", "numbers", _formula),
    ("not a number", "numbers", _everywhere(lambda value: "nan")),
    ("numbers as text", "numbers", _everywhere(str)),
    ("a remark beside the table", "other_cells", lambda lines, _: lines[1].extend([None, "checked"])),
]

MUTANTS = [
    *(Mutant(name, breaks, _TABLE.edit(change)) for name, breaks, change in _CHANGES),
    Mutant("two years in the wrong order", "years", _TABLE.swapped(lambda one, other: True)),
    Mutant("the years backwards", "years", _TABLE.turned_round()),
    Mutant("a year missing", "years", _TABLE.short()),
    Mutant("shown as percentages", "numbers", _as_percentages),
    *_TABLE.oddities(frozenset({"header", "years", "numbers", "other_cells"})),
    *workbook_mutants(RESULT, "workbook"),
    Mutant("the data corrected in place", "other_files", _corrected_data),
]
