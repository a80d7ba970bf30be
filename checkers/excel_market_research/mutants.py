"""Near misses of a right table of growth rates."""

from __future__ import annotations

from collections.abc import Callable

from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.excel_market_research.expected import DATA, RESULT, Expected
from mesocosm.kits.workbooks import add_chart, add_comment, edited, edited_sheet
from mesocosm.services.world import World

Change = Callable[[Worksheet, Expected], None]


def _edit(change: Change) -> Callable[[World, Expected], None]:
    """Change the sheet of the result."""

    def apply(world: World, expected: Expected) -> None:
        with edited_sheet(world, RESULT) as sheet:
            change(sheet, expected)

    return apply


def _nudge(row: int, column: int) -> Change:
    """One cell off by a little more than rounding explains; negative numbers count from the end."""

    def change(sheet: Worksheet, expected: Expected) -> None:
        cell = sheet.cell(
            row if row > 0 else len(expected.years) + 2 + row,
            column if column > 0 else len(expected.header) + 1 + column,
        )
        assert isinstance(cell.value, int | float)
        cell.value = round(cell.value + 0.03, 2)

    return change


def _round(sheet: Worksheet, expected: Expected) -> None:
    last = len(expected.header)
    exact = [sheet.cell(row, last).value for row in range(2, len(expected.years) + 2)]
    rounded = [round(float(str(value)), 0) for value in exact]
    if exact == rounded:
        raise Inapplicable
    for row, value in enumerate(rounded, start=2):
        sheet.cell(row, last, value)


def _swap_years(sheet: Worksheet, expected: Expected) -> None:
    for column in range(1, len(expected.header) + 1):
        first, second = sheet.cell(2, column), sheet.cell(3, column)
        first.value, second.value = second.value, first.value


def _shift(sheet: Worksheet, expected: Expected) -> None:
    """Every year's growth one year late."""
    last, column = len(expected.years) + 1, len(expected.header)
    for row in range(last, 2, -1):
        sheet.cell(row, column).value = sheet.cell(row - 1, column).value


def _swap_columns(sheet: Worksheet, expected: Expected) -> None:
    if len(expected.header) < 4:
        raise Inapplicable
    for row in range(1, len(expected.years) + 2):
        first, second = sheet.cell(row, 2), sheet.cell(row, 3)
        first.value, second.value = second.value, first.value


def _drop_column(sheet: Worksheet, expected: Expected) -> None:
    sheet.delete_cols(2)


def _drop_year(sheet: Worksheet, expected: Expected) -> None:
    sheet.delete_rows(len(expected.years) + 1)


def _extra_year(sheet: Worksheet, expected: Expected) -> None:
    row = len(expected.years) + 2
    sheet.cell(row, 1, expected.years[-1] + 1)
    for column in range(2, len(expected.header) + 1):
        sheet.cell(row, column, 1.5)


def _formula(sheet: Worksheet, expected: Expected) -> None:
    sheet.cell(2, len(expected.header)).value = "=ROUND((B3/B2-1)*100,2)"


def _everywhere(value: Callable[[float], float | str]) -> Change:
    """Other values in all cells but the years."""

    def change(sheet: Worksheet, expected: Expected) -> None:
        for row in range(2, len(expected.years) + 2):
            for column in range(2, len(expected.header) + 1):
                cell = sheet.cell(row, column)
                cell.value = value(float(str(cell.value)))

    return change


def _unrounded(sheet: Worksheet, expected: Expected) -> None:
    for row, values in enumerate(expected.rows, start=2):
        for column, value in enumerate(values, start=2):
            sheet.cell(row, column).value = value
    if all(round(value, 2) == value for values in expected.rows for value in values):
        raise Inapplicable


def _beside(sheet: Worksheet, expected: Expected) -> None:
    sheet.cell(2, len(expected.header) + 2).value = "checked"


def _unit_in_heading(sheet: Worksheet, expected: Expected) -> None:
    sheet.cell(1, 2).value = str(sheet.cell(1, 2).value).replace(" %", " (mn USD) %")


def _lowered(sheet: Worksheet, expected: Expected) -> None:
    sheet.insert_rows(1, 2)


def _chart(sheet: Worksheet, expected: Expected) -> None:
    add_chart(sheet)


def _comment(sheet: Worksheet, expected: Expected) -> None:
    add_comment(sheet)


def _as_percentages(sheet: Worksheet, expected: Expected) -> None:
    for row in sheet.iter_rows(min_row=2, min_col=2):
        for cell in row:
            cell.number_format = "0.00%"


def _second_sheet(world: World, expected: Expected) -> None:
    with edited(world, RESULT) as workbook:
        workbook.create_sheet("Working")


def _corrected_data(world: World, expected: Expected) -> None:
    with edited_sheet(world, DATA) as sheet:
        sheet["B2"] = 1


MUTANTS = [
    Mutant("first figure of a category off", "category_growth", _edit(_nudge(2, 2))),
    Mutant("last figure of a category off", "category_growth", _edit(_nudge(-1, -2))),
    Mutant("first growth rate off", "growth_rate", _edit(_nudge(2, -1))),
    Mutant("last growth rate off", "growth_rate", _edit(_nudge(-1, -1))),
    Mutant("rounded to whole percents", "growth_rate", _edit(_round)),
    Mutant("fractions instead of percents", "growth_rate", _edit(_everywhere(lambda value: value / 100))),
    Mutant("growth one year late", "growth_rate", _edit(_shift)),
    Mutant("two years in the wrong order", "years", _edit(_swap_years)),
    Mutant("a year missing", "years", _edit(_drop_year)),
    Mutant("a year too many", "years", _edit(_extra_year)),
    Mutant("two categories in the wrong order", "header", _edit(_swap_columns)),
    Mutant("a category missing", "header", _edit(_drop_column)),
    Mutant("a unit in a heading", "header", _edit(_unit_in_heading)),
    Mutant("a formula", "numbers", _edit(_formula)),
    Mutant("not a number", "numbers", _edit(_everywhere(lambda value: "nan"))),
    Mutant("numbers as text", "numbers", _edit(_everywhere(str))),
    Mutant("all a hundredth higher", "growth_rate", _edit(_everywhere(lambda v: round(v + 0.01, 2)))),
    Mutant("not rounded", "growth_rate", _edit(_unrounded)),
    Mutant("a remark beside the table", "other_cells", _edit(_beside)),
    Mutant("blank rows above the heading", "header", _edit(_lowered)),
    Mutant("shown as percentages", "numbers", _edit(_as_percentages)),
    Mutant("a chart", "workbook", _edit(_chart)),
    Mutant("a comment on a cell", "workbook", _edit(_comment)),
    Mutant("a second sheet", "workbook", _second_sheet),
    Mutant("the data corrected in place", "other_files", _corrected_data),
]
