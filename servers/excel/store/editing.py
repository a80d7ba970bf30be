"""Sheets and cells of a workbook that is being changed."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.cell import MergedCell
from openpyxl.cell.rich_text import CellRichText
from openpyxl.formula.translate import Translator, TranslatorError
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.excel.store.cells import Area, address, check_value, parse_area
from mesocosm.servers.excel.store.reference_shifts import BROKEN
from mesocosm.services.workbook_functions import as_stored


def worksheet(workbook: Workbook, name: str) -> Worksheet:
    """A sheet of cells by name."""
    sheet = workbook[name] if name in workbook.sheetnames else None
    if not isinstance(sheet, Worksheet):
        names = ", ".join(sheet.title for sheet in workbook.worksheets)
        raise NotFound(f"Sheet '{name}' not found; the workbook has {names}")
    return sheet


def source_of(workbook: Workbook, sheet: Worksheet, data_range: str) -> tuple[Worksheet, Area]:
    """The sheet and area of a range that may name another sheet: ``Data!A1:C9``."""
    title, mark, cells = data_range.rpartition("!")
    if mark:
        sheet = worksheet(workbook, title.strip("'").replace("''", "'"))
    if ":" not in cells:
        raise Invalid(f"Data range must be in format 'A1:B2', got {data_range!r}.")
    return sheet, parse_area(cells)


def copied(sheet: Worksheet, row: int, column: int, rows: int, columns: int) -> tuple[Any, Any]:
    """Value and style of a cell for a place some rows and columns further."""
    cell: Any = sheet.cell(row, column)
    value = cell.value
    if isinstance(value, ArrayFormula):
        value = value.text
    if isinstance(value, str) and value.startswith("=") and cell.data_type == "f":
        try:
            value = Translator(value, cell.coordinate).translate_formula(row_delta=rows, col_delta=columns)
        except TranslatorError:
            value = f"={BROKEN}"
    return value, cell._style


def check_within(area: Area, sheet: Worksheet) -> None:
    """Refuse an area that goes beyond the cells of a sheet."""
    if area.last_row > sheet.max_row:
        raise Invalid(f"End row {area.last_row} out of bounds (1-{sheet.max_row})")
    if area.last_column > sheet.max_column:
        raise Invalid(f"End column {area.last_column} out of bounds (1-{sheet.max_column})")


def set_value(sheet: Worksheet, row: int, column: int, value: Any) -> Any:
    """Put a value into a cell and return the cell; ``Invalid`` if it cannot stand there."""
    place = address(row, column)
    cell: Any = sheet.cell(row, column)
    if isinstance(cell, MergedCell):
        merged = next(str(area) for area in sheet.merged_cells.sorted() if place in area)
        raise Invalid(f"{place} is inside the merged range {merged}; only its first cell can be written.")
    as_it_is = isinstance(value, date | time | timedelta | CellRichText)
    kept = value if as_it_is else check_value(value, place)
    cell.value = as_stored(kept) if isinstance(kept, str) and kept.startswith("=") else kept
    return cell
