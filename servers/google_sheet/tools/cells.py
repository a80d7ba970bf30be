"""Tools for what is in the cells."""

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.errors import Invalid, Refusal
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.names import range_text
from mesocosm.servers.google_sheet.store.ranges import Area, open_area_name
from mesocosm.servers.google_sheet.store.resources import spreadsheet
from mesocosm.servers.google_sheet.store.sheets import Book, Grid
from mesocosm.servers.google_sheet.store.values import Render
from mesocosm.servers.google_sheet.tools.service import SheetTitle, SpreadsheetId, server
from mesocosm.services.schema import Cell, Json

MAX_ROWS = 500
MAX_CELLS = 10_000
MAX_DETAILED = 1_000
"""Cells of a result that shows how they look."""
MAX_QUERIES = 50


class Query(TypedDict):
    """A range of a sheet."""

    spreadsheet_id: str
    sheet: str
    range: str


def _place(
    store: SheetStore, spreadsheet_id: str, sheet: str, range: str | None, role: str = "reader"
) -> tuple[Book, Grid, Area]:
    book = store.sheets.book(spreadsheet_id, role)
    grid = store.sheets.titled(book, sheet)
    if range is None:
        return book, grid, grid.area
    named, area = store.names.resolve(book, range, grid)
    if named.number != grid.number:
        raise Invalid(
            f"The range {range[:100]!r} lies in {named.title!r}, not in {grid.title!r}.",
            code="INVALID_ARGUMENT",
        )
    return book, grid, grid.area_of(area)


def _page(store: SheetStore, grid: Grid, area: Area, most: int) -> tuple[Area, Json]:
    """The first part of an area that a result shows, and where the rest begins, if there is any."""
    bottom = max(area.top, min(area.bottom or 0, store.values.last_row(grid) + 1))
    first = Area(area.top, area.left, min(bottom, area.top + MAX_ROWS), area.right)
    right = max(area.left, store.values.last_column(grid, first) + 1)
    rows = min(MAX_ROWS, max(1, most // max(1, right - area.left)))
    shown = Area(area.top, area.left, min(bottom, area.top + rows), min(right, area.left + most))
    further: Json = {}
    if shown.bottom is not None and shown.bottom < bottom:
        further = {
            "nextRange": open_area_name(Area(shown.bottom, area.left, bottom, right)),
            "lastRow": bottom,
        }
    return shown, further


def _values(store: SheetStore, grid: Grid, area: Area, how: Render) -> tuple[list[list[Any]], Json]:
    shown, further = _page(store, grid, area, MAX_CELLS)
    return store.values.grid(grid, shown, how), further


@server.reads(long=True)
def get_sheet_data(
    store: SheetStore,
    spreadsheet_id: str,
    sheet: SheetTitle,
    range: str | None = None,
    include_grid_data: bool = False,
) -> Json:
    """Read the values of a sheet as they are shown; the matrix begins at the first cell of the range.

    Empty cells at the end of a row and empty rows at the end are left out. A long range comes in parts: where
    the result has nextRange, read on with that range.

    Args:
        spreadsheet_id: The id of the spreadsheet, from list_spreadsheets.
        range: A range such as B2:D10, A:C or 5:9, or a named range; the whole sheet if left out.
        include_grid_data: true also tells formulas, formats and notes of each cell; far longer.
    """
    book, grid, area = _place(store, spreadsheet_id, sheet, range)
    if include_grid_data:
        shown, further = _page(store, grid, area, MAX_DETAILED)
        return spreadsheet(store, book, [(grid, shown)], grid_data=True) | further
    values, further = _values(store, grid, area, "FORMATTED_VALUE")
    text = range_text(grid, area)
    return {"spreadsheetId": book.id, "valueRanges": [{"range": text, "values": values}], **further}


@server.reads(long=True)
def get_sheet_formulas(
    store: SheetStore, spreadsheet_id: SpreadsheetId, sheet: SheetTitle, range: str | None = None
) -> list[list[Any]]:
    """Read the formulas of a sheet; cells without a formula show their value.

    At most 500 rows come at once: read the next ones with a range such as A501:Z1000.

    Args:
        range: A range such as B2:D10 or A:C; the whole sheet if left out.
    """
    _, grid, area = _place(store, spreadsheet_id, sheet, range)
    return _values(store, grid, area, "FORMULA")[0]


@server.reads(long=True)
def get_multiple_sheet_data(store: SheetStore, queries: list[Query]) -> list[Json]:
    """Read several ranges, of one or of several spreadsheets, as they are shown.

    What is wrong with one of them is told in its place and does not hold up the others.

    Args:
        queries: Up to 50 ranges, each with spreadsheet_id, sheet and range.
    """
    if len(queries) > MAX_QUERIES:
        raise Invalid(f"At most {MAX_QUERIES} ranges at once.", code="INVALID_ARGUMENT")
    found: list[Json] = []
    left = MAX_CELLS
    for query in queries:
        try:
            _, grid, area = _place(store, query["spreadsheet_id"], query["sheet"], query["range"])
            shown, further = _page(store, grid, area, max(1, left))
            values = store.values.grid(grid, shown)
            left -= sum(map(len, values))
            found.append({**query, "data": values, **further})
        except Refusal as refusal:
            found.append({**query, "error": refusal.message})
    return found


@server.writes(destructive=True, idempotent=True)
def update_cells(
    store: SheetStore, spreadsheet_id: SpreadsheetId, sheet: SheetTitle, range: str, data: list[list[Cell]]
) -> Json:
    """Write values into a range, as if they were typed: numbers and dates are recognised, =... is a formula.

    null leaves a cell as it is, an empty text empties it. A range of one cell is where the values begin; any
    other range has to hold them.

    Args:
        range: A range such as B2:D10, or the first cell, such as B2.
        data: The rows, each a list of values.
    """
    book, grid, area = _place(store, spreadsheet_id, sheet, range, "writer")
    written, count = store.values.write(book, grid, area, data, "USER_ENTERED")
    return {"spreadsheetId": book.id} | _updated(grid, written, count)


def _updated(grid: Grid, area: Area, count: int) -> Json:
    sizes = {"updatedRows": area.height, "updatedColumns": area.width} if count else {}
    return {"updatedRange": range_text(grid, area)} | sizes | {"updatedCells": count}


@server.writes(destructive=True, idempotent=True)
def batch_update_cells(
    store: SheetStore, spreadsheet_id: SpreadsheetId, sheet: SheetTitle, ranges: dict[str, list[list[Cell]]]
) -> Json:
    """Write values into several ranges of a sheet; all of them are written, or none.

    Args:
        ranges: By range, the rows that go there, such as {"A1:B1": [["Name", "Sum"]], "B9": [[5]]}.
    """
    if not ranges:
        raise Invalid("ranges is empty: nothing to write.", code="INVALID_ARGUMENT")
    parts = []
    for range, data in ranges.items():
        if not isinstance(data, list):
            raise Invalid(f"ranges[{range[:60]!r}] must be a list of rows.", code="INVALID_ARGUMENT")
        book, grid, area = _place(store, spreadsheet_id, sheet, range, "writer")
        parts.append((grid, area, data, False))
    written = store.values.write_many(book, parts, "USER_ENTERED")
    responses = [
        {"range": range_text(grid, area), "updatedCells": count}
        for (grid, _, _, _), (area, count) in zip(parts, written, strict=True)
    ]
    total = sum(count for _, count in written)
    return {"spreadsheetId": book.id, "totalUpdatedCells": total, "responses": responses}


def _inserted(
    store: SheetStore, spreadsheet_id: str, sheet: str, axis: str, count: int, start: int | None
) -> Json:
    book = store.sheets.book(spreadsheet_id, "writer")
    grid = store.sheets.titled(book, sheet)
    at = 0 if start is None else start
    place = {"sheetId": grid.sheet_id, "dimension": axis, "startIndex": at, "endIndex": at + count}
    if count < 1:
        raise Invalid(f"Argument 'count' must be at least 1, got {count}.", code="INVALID_ARGUMENT")
    if at < 0:
        raise Invalid(f"Rows and columns count from 0, got {at}.", code="INVALID_ARGUMENT")
    request = {"range": place, "inheritFromBefore": at > 0}
    store.batches.apply(book, [{"insertDimension": request}])
    return {"spreadsheetId": book.id, "replies": [{"insertDimension": request}]}


@server.writes
def add_rows(
    store: SheetStore,
    spreadsheet_id: SpreadsheetId,
    sheet: SheetTitle,
    count: int,
    start_row: int | None = None,
) -> Json:
    """Insert empty rows; the rows below move down and formulas follow.

    Args:
        count: How many rows.
        start_row: The row before which they come, counted from 0; at the top if left out.
    """
    return _inserted(store, spreadsheet_id, sheet, "ROWS", count, start_row)


@server.writes
def add_columns(
    store: SheetStore,
    spreadsheet_id: SpreadsheetId,
    sheet: SheetTitle,
    count: int,
    start_column: int | None = None,
) -> Json:
    """Insert empty columns; the columns on the right move on and formulas follow.

    Args:
        count: How many columns.
        start_column: The column before which they come, counted from 0; on the left if left out.
    """
    return _inserted(store, spreadsheet_id, sheet, "COLUMNS", count, start_column)
