"""How cells look, and merged cells."""

from __future__ import annotations

from typing import TypedDict

from mesocosm.servers.excel.store import PAGE_MERGED, ExcelStore
from mesocosm.servers.excel.store.cells import parse_area
from mesocosm.servers.excel.store.formats import Look
from mesocosm.servers.excel.tools.service import Filepath, SheetName, StartCell, server
from mesocosm.services.schema import Nullable
from mesocosm.services.service import Page


class Protection(TypedDict, total=False):
    """What a protected sheet does with a cell."""

    locked: bool
    hidden: bool


class Fill(TypedDict, total=False):
    """The colours of a background."""

    fgColor: str
    bgColor: str


class FormatParameters(TypedDict, total=False):
    """How a conditional format looks; which of them count depends on its type."""

    color: str
    start_color: str
    start_type: str
    start_value: float | str
    mid_color: str
    mid_type: str
    mid_value: float | str
    end_color: str
    end_type: str
    end_value: float | str
    icon_style: str
    type: str
    values: list[float]
    operator: str
    formula: list[str] | str
    fill: Fill | str


class ConditionalFormat(TypedDict, total=False):
    """A format that depends on the value of a cell."""

    type: str
    params: FormatParameters


@server.writes(destructive=True, idempotent=True)
def format_range(
    store: ExcelStore,
    filepath: Filepath,
    sheet_name: SheetName,
    start_cell: StartCell,
    end_cell: Nullable[str] = None,
    bold: bool = False,
    italic: bool = False,
    underline: bool = False,
    font_size: Nullable[int] = None,
    font_color: Nullable[str] = None,
    bg_color: Nullable[str] = None,
    border_style: Nullable[str] = None,
    border_color: Nullable[str] = None,
    number_format: Nullable[str] = None,
    alignment: Nullable[str] = None,
    wrap_text: bool = False,
    merge_cells: bool = False,
    protection: Nullable[Protection] = None,
    conditional_format: Nullable[ConditionalFormat] = None,
) -> str:
    """Change how a range of cells looks; what is not given stays as it is.

    Args:
        end_cell: Last cell of the range; the first, if not given.
        bold: Make the text bold.
        italic: Make the text italic.
        underline: Underline the text.
        font_size: Size of the font in points, 1 to 409.
        font_color: Colour of the text in hexadecimal, such as FF0000.
        bg_color: Colour of the background in hexadecimal.
        border_style: Lines around each cell: thin, medium, thick, double, dashed, dotted, hair and others.
        border_color: Colour of the lines in hexadecimal.
        number_format: How numbers are shown, such as 0.00, #,##0 or yyyy-mm-dd.
        alignment: left, center, right, justify, general, fill, centerContinuous or distributed.
        wrap_text: Break long text into lines.
        merge_cells: Merge the range into one cell.
        protection: {locked: bool, hidden: bool}, effective once the sheet is protected.
        conditional_format: {type, params}; type is color_scale (start_color, end_color, mid_color and
            *_type, *_value), data_bar (color), icon_set (icon_style, type, values), formula (formula, fill)
            or cell_is (operator, formula, fill).
    """
    look = Look(
        bold=bold,
        italic=italic,
        underline=underline,
        font_size=font_size,
        font_color=font_color,
        bg_color=bg_color,
        border_style=border_style,
        border_color=border_color,
        number_format=number_format,
        alignment=alignment,
        wrap_text=wrap_text,
        protection=protection,
    )
    area = parse_area(start_cell, end_cell)
    store.format(filepath, sheet_name, area, look, conditional_format, join=merge_cells)
    return "Range formatted successfully"


@server.writes(destructive=True)
def merge_cells(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, start_cell: StartCell, end_cell: str
) -> str:
    """Merge a range into one cell, which keeps the value of the first cell; the others are lost.

    Args:
        end_cell: Last cell of the range.
    """
    area = parse_area(start_cell, end_cell)
    store.merge(filepath, sheet_name, area)
    return f"Range '{area}' merged in sheet '{sheet_name}'"


@server.writes
def unmerge_cells(
    store: ExcelStore, filepath: Filepath, sheet_name: SheetName, start_cell: str, end_cell: str
) -> str:
    """Take a merged range apart again; it must be given exactly.

    Args:
        start_cell: First cell of the merged range.
        end_cell: Last cell of the merged range.
    """
    area = parse_area(start_cell, end_cell)
    store.unmerge(filepath, sheet_name, area)
    return f"Range '{area}' unmerged successfully"


@server.reads
def get_merged_cells(store: ExcelStore, filepath: Filepath, sheet_name: SheetName, page: int = 1) -> Page:
    """List the merged ranges of a worksheet.

    Args:
        page: Which thousand of the ranges to list, from 1.
    """
    ranges, total = store.merged(filepath, sheet_name, page)
    return Page(ranges, page, PAGE_MERGED, total)
