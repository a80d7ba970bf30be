"""Spreadsheets, sheets and cells as the vendor's API has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesocosm.servers.google_sheet.store.formats import USUAL
from mesocosm.servers.google_sheet.store.names import Named
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.servers.google_sheet.store.rendering import DEFAULT_PATTERNS
from mesocosm.servers.google_sheet.store.sheets import Book, Grid
from mesocosm.servers.google_sheet.store.values import Content
from mesocosm.services.schema import Json

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore


def spreadsheet(
    store: SheetStore,
    book: Book,
    places: Sequence[tuple[Grid, Area]] | None = None,
    *,
    grid_data: bool = False,
) -> Json:
    """A spreadsheet; with the cells of the places (all that hold something, where none are named)."""
    sheets = store.sheets.all(book)
    named = {sheet.number: sheet.sheet_id for sheet in sheets}
    wanted = sheets if not places else [s for s in sheets if any(p.number == s.number for p, _ in places)]
    shown = []
    for sheet in wanted:
        one: Json = {"properties": sheet_properties(sheet)}
        if grid_data:
            areas = [area for place, area in places or () if place.number == sheet.number] or [
                store.values.used(sheet)
            ]
            one["data"] = [grid_data_of(store, sheet, area) for area in areas]
        if merges := store.formats.merges(sheet):
            one["merges"] = [grid_range(sheet.sheet_id, area) for area in merges]
        shown.append(one)
    found: Json = {
        "spreadsheetId": book.id,
        "properties": book_properties(store, book),
        "sheets": shown,
    }
    if names := store.names.all(book):
        found["namedRanges"] = [named_range(one, named[one.sheet]) for one in names]
    return found | {"spreadsheetUrl": url_of(book.id)}


def url_of(spreadsheet_id: str) -> str:
    """Return the vendor's URL of a spreadsheet."""
    return f"https://docs.google.com/spreadsheets/d/{spreadsheet_id}/edit"


def book_properties(store: SheetStore, book: Book) -> Json:
    """The properties of a spreadsheet."""
    return {
        "title": store.drive.by_number(book.number).name,
        "locale": book.locale,
        "autoRecalc": book.auto_recalc,
        "timeZone": book.time_zone,
    }


def sheet_properties(sheet: Grid) -> Json:
    kept = dict(sheet.properties)
    grid = {"rowCount": sheet.rows, "columnCount": sheet.columns}
    grid |= {name: value for name, value in kept.pop("gridProperties", {}).items() if value}
    return {
        "sheetId": sheet.sheet_id,
        "title": sheet.title,
        "index": sheet.position,
        "sheetType": "GRID",
        "gridProperties": grid,
        **{name: value for name, value in kept.items() if value},
    }


def named_range(named: Named, sheet_id: int) -> Json:
    return {"namedRangeId": named.id, "name": named.name, "range": grid_range(sheet_id, named.area)}


def grid_range(sheet_id: int, area: Area) -> Json:
    """An area as the vendor's GridRange."""
    found = {
        "sheetId": sheet_id,
        "startRowIndex": area.top,
        "endRowIndex": area.bottom,
        "startColumnIndex": area.left,
        "endColumnIndex": area.right,
    }
    return {name: value for name, value in found.items() if value is not None}


def grid_data_of(store: SheetStore, sheet: Grid, area: Area) -> Json:
    """The cells of an area, up to the last that holds something."""
    area = area.within(sheet.rows, sheet.columns)
    formats: dict[int, Json] = {}
    rows: list[Json] = []
    for cell in store.values.cells(sheet, area):
        line, at = cell.row - area.top, cell.column - area.left
        while len(rows) <= line:
            rows.append({})
        values = rows[line].setdefault("values", [])
        while len(values) <= at:
            values.append({})
        if cell.format is not None and cell.format not in formats:
            formats[cell.format] = store.formats.content(cell.format)
        values[at] = cell_data(cell, formats.get(cell.format or 0, {}))
    found: Json = {}
    if area.top:
        found["startRow"] = area.top
    if area.left:
        found["startColumn"] = area.left
    if rows:
        found["rowData"] = rows
    sizes = {axis: store.formats.lines(sheet, axis) for axis in ("ROWS", "COLUMNS")}
    if sizes["ROWS"]:
        found["rowMetadata"] = _lines(sizes["ROWS"], area.top, len(rows), "ROWS")
    if sizes["COLUMNS"]:
        found["columnMetadata"] = _lines(sizes["COLUMNS"], area.left, area.width, "COLUMNS")
    return found


def line_metadata(store: SheetStore, sheet: Grid, area: Area) -> Json:
    """Return the sizes of an area's rows and columns, default ones included."""
    area = area.within(sheet.rows, sheet.columns)
    rows, columns = (store.formats.lines(sheet, axis) for axis in ("ROWS", "COLUMNS"))
    return {
        "rowMetadata": _lines(rows, area.top, area.height, "ROWS"),
        "columnMetadata": _lines(columns, area.left, area.width, "COLUMNS"),
    }


def _lines(sizes: dict[int, tuple[int, bool]], start: int, count: int, axis: str) -> list[Json]:
    found = []
    for position in range(start, start + count):
        pixels, hidden = sizes.get(position, (USUAL[axis], False))
        found.append({"pixelSize": pixels} | ({"hiddenByUser": True} if hidden else {}))
    return found


def cell_data(cell: Content, look: Json) -> Json:
    """A cell as the vendor's CellData."""
    found: Json = {}
    if cell.formula is not None:
        found["userEnteredValue"] = {"formulaValue": cell.formula}
    elif cell.kind and cell.anchor is None:
        found["userEnteredValue"] = extended_value(cell)
    if cell.kind:
        found["effectiveValue"] = extended_value(cell)
        found["formattedValue"] = cell.shown
    if look:
        found["userEnteredFormat"] = look
    effective = dict(look)
    if "numberFormat" not in look and cell.hint:
        effective["numberFormat"] = {"type": cell.hint, "pattern": DEFAULT_PATTERNS[cell.hint]}
    if effective:
        found["effectiveFormat"] = effective
    if cell.note:
        found["note"] = cell.note
    return found


def extended_value(cell: Content) -> Json:
    """A value as the vendor's ExtendedValue."""
    if cell.kind == "b":
        return {"boolValue": bool(cell.number)}
    if cell.kind == "n":
        return {"numberValue": cell.value}
    if cell.kind == "e":
        type_, _, message = (cell.message or "ERROR ").partition(" ")
        return {"errorValue": {"type": type_, "message": message}}
    return {"stringValue": cell.text}
