"""Spreadsheets and their sheets."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.rest.service import all_of, api, body_of, plain, read
from mesocosm.servers.google_sheet.rest.values import filtered
from mesocosm.servers.google_sheet.store import SheetStore, messages
from mesocosm.servers.google_sheet.store.names import range_text
from mesocosm.servers.google_sheet.store.resources import line_metadata, sheet_properties, spreadsheet
from mesocosm.servers.google_sheet.store.sheets import Book
from mesocosm.services.schema import Json

MAX_CELLS = 100_000
"""Of an answer with all that cells have."""


_WHITE = {"red": 1, "green": 1, "blue": 1}
_DEFAULT_FORMAT: Json = {
    "backgroundColor": _WHITE,
    "padding": {"top": 2, "right": 3, "bottom": 2, "left": 3},
    "verticalAlignment": "BOTTOM",
    "wrapStrategy": "OVERFLOW_CELL",
    "textFormat": {
        "foregroundColor": {},
        "fontFamily": "arial,sans,sans-serif",
        "fontSize": 10,
        "bold": False,
        "italic": False,
        "strikethrough": False,
        "underline": False,
        "foregroundColorStyle": {"rgbColor": {}},
    },
    "backgroundColorStyle": {"rgbColor": _WHITE},
}
"""The vendor's format of cells that have none of their own."""


def _shown(store: SheetStore, book: Book, ranges: list[str], grid_data: bool) -> Json:
    places = []
    for text in ranges:
        sheet, area = store.names.resolve(book, text)
        places.append((sheet, sheet.area_of(area)))
    if grid_data:
        areas = places or [(sheet, store.values.used(sheet)) for sheet in store.sheets.all(book)]
        count = 0
        for sheet, area in areas:
            used, area = store.values.used(sheet), area.within(sheet.rows, sheet.columns)
            height = min(area.bottom or 0, used.bottom or 0) - area.top
            count += max(0, height) * max(0, min(area.right or 0, used.right or 0) - area.left)
        if count > MAX_CELLS:
            raise Invalid(f"An answer has the data of at most {MAX_CELLS} cells here: name ranges.")
    shown = spreadsheet(store, book, places, grid_data=grid_data)
    shown["properties"] |= {"defaultFormat": _DEFAULT_FORMAT}
    for one in shown["sheets"] if grid_data else ():
        sheet = store.sheets.with_id(book, one["properties"]["sheetId"])
        asked = [area for place, area in places if place.number == sheet.number]
        for data, area in zip(one["data"], asked or [sheet.area], strict=True):
            data |= line_metadata(store, sheet, area)
    return shown


@api.post("/v4/spreadsheets")
def create(store: SheetStore, request: Request) -> Json:
    """A new spreadsheet."""
    body = plain(body_of(request))
    messages.check_spreadsheet(body)
    properties = body.get("properties") or {}
    sheets = body.get("sheets") or []
    book = store.sheets.create(
        read.text(properties, "title") or "",
        locale=read.text(properties, "locale") or "en_US",
        time_zone=read.text(properties, "timeZone") or "Etc/GMT",
        auto_recalc=read.text(properties, "autoRecalc") or "ON_CHANGE",
        first=not sheets,
    )
    requests: list[Json] = []
    for number, sheet in enumerate(sheets):
        wanted = {"sheetId": number, **(sheet.get("properties") or {})}
        requests.append({"addSheet": {"properties": {**wanted, "index": number}}})
        for data in sheet.get("data") or []:
            start = {
                "sheetId": wanted["sheetId"],
                "rowIndex": data.get("startRow", 0),
                "columnIndex": data.get("startColumn", 0),
            }
            fields = "userEnteredValue,userEnteredFormat,note"
            requests.append(
                {"updateCells": {"start": start, "rows": data.get("rowData") or [], "fields": fields}}
            )
    if requests:
        store.batches.apply(book, requests)
    return _shown(store, store.sheets.book(book.id), [], False)


# Some clients put their path behind the address of a spreadsheet with a slash.
@api.get("/v4/spreadsheets/{spreadsheetId}/")
@api.get("/v4/spreadsheets/{spreadsheetId}")
def get(store: SheetStore, request: Request, spreadsheetId: str, includeGridData: bool = False) -> Json:
    """A spreadsheet; ``ranges`` and ``includeGridData`` ask for cells."""
    book = store.sheets.book(spreadsheetId)
    mask = request.asked.get("fields")  # where there is one, it alone says whether cells are wanted
    wanted = "data" in mask or "*" in mask if isinstance(mask, str) and mask else includeGridData
    return _shown(store, book, all_of(request, "ranges"), wanted)


@api.route("POST", "/v4/spreadsheets/{spreadsheetId}/:getByDataFilter", writes=False)
@api.route("POST", "/v4/spreadsheets/{spreadsheetId}:getByDataFilter", writes=False)
def get_by_data_filter(store: SheetStore, request: Request, spreadsheetId: str) -> Json:
    """Return a spreadsheet with the data selected by filters."""
    book = store.sheets.book(spreadsheetId)
    body = body_of(request)
    places = [range_text(*filtered(store, book, one)) for one in read.objects(body, "dataFilters")]
    read.flag(body, "excludeTablesInBandedRanges")
    mask = request.asked.get("fields")
    wanted = "data" in mask or "*" in mask if isinstance(mask, str) and mask else False
    return _shown(store, book, places, wanted or read.flag(body, "includeGridData"))


@api.post("/v4/spreadsheets/{spreadsheetId}/:batchUpdate")
@api.post("/v4/spreadsheets/{spreadsheetId}:batchUpdate")
def batch_update(store: SheetStore, request: Request, spreadsheetId: str) -> Json:
    """Several changes at once."""
    book = store.sheets.book(spreadsheetId, "writer")
    body = body_of(request)
    wanted = plain(body.get("requests"))
    if not isinstance(wanted, list):
        raise Invalid("Must specify at least one request.", code="INVALID_ARGUMENT")
    answer: Json = {"spreadsheetId": book.id, "replies": store.batches.apply(book, wanted)}
    ranges, grid_data = read.texts(body, "responseRanges") or [], read.flag(body, "responseIncludeGridData")
    if read.flag(body, "includeSpreadsheetInResponse"):
        answer["updatedSpreadsheet"] = _shown(store, store.sheets.book(book.id), ranges, grid_data)
    return answer


@api.post("/v4/spreadsheets/{spreadsheetId}/sheets/{sheetId}:copyTo")
def copy_to(store: SheetStore, request: Request, spreadsheetId: str, sheetId: int) -> Json:
    """A copy of a sheet in another spreadsheet."""
    source = store.sheets.book(spreadsheetId)
    target_id = read.text(body_of(request), "destinationSpreadsheetId")
    if not target_id:
        raise Invalid("destinationSpreadsheetId is needed.", code="INVALID_ARGUMENT")
    target = store.sheets.book(target_id, "writer")
    made = store.sheets.copy(source, store.sheets.with_id(source, sheetId), target)
    store.computing.restart(target, ["copy", source.id, source.state, sheetId, made.title])
    store.drive.touch(target.number)
    found: dict[str, Any] = sheet_properties(made)
    return found
