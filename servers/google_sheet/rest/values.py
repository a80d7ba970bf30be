"""Values of ranges."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.rest.service import all_of, api, body_of, plain, read
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.names import range_text
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.servers.google_sheet.store.sheets import Book, Grid
from mesocosm.servers.google_sheet.store.values import Option, Render
from mesocosm.services.schema import Json

Axis = Literal["DIMENSION_UNSPECIFIED", "ROWS", "COLUMNS"]
Moments = Literal["SERIAL_NUMBER", "FORMATTED_STRING"]
MAX_RANGES = 100


def _place(store: SheetStore, book: Book, text: str) -> tuple[Grid, Area]:
    sheet, area = store.names.resolve(book, text)
    return sheet, sheet.area_of(area)


def filtered(store: SheetStore, book: Book, wanted: Mapping[str, Any]) -> tuple[Grid, Area]:
    """Resolve a ``DataFilter``: a range in A1 notation, or by indices."""
    if (text := read.text(wanted, "a1Range")) is not None:
        return _place(store, book, text)
    indices = wanted.get("gridRange")
    if not isinstance(indices, Mapping):
        raise Invalid("A data filter needs a1Range or gridRange here.", code="INVALID_ARGUMENT")
    sheet = store.sheets.with_id(book, read.number(indices, "sheetId") or 0)
    area = Area(
        read.number(indices, "startRowIndex") or 0,
        read.number(indices, "startColumnIndex") or 0,
        read.number(indices, "endRowIndex"),
        read.number(indices, "endColumnIndex"),
    )
    return sheet, sheet.area_of(area)


def _range(store: SheetStore, sheet: Grid, area: Area, axis: str, how: Render, moments: str) -> Json:
    values = store.values.grid(sheet, area, how, moments, columns=axis == "COLUMNS")
    shown: Json = {
        "range": range_text(sheet, area),
        "majorDimension": _axis(axis == "COLUMNS"),
    }
    return shown | ({"values": values} if values else {})


@api.get("/v4/spreadsheets/{spreadsheetId}/values/{range}")
def get(
    store: SheetStore,
    spreadsheetId: str,
    range: str,
    majorDimension: Axis = "ROWS",
    valueRenderOption: Render = "FORMATTED_VALUE",
    dateTimeRenderOption: Moments = "SERIAL_NUMBER",
) -> Json:
    book = store.sheets.book(spreadsheetId)
    sheet, area = _place(store, book, range)
    return _range(store, sheet, area, majorDimension, valueRenderOption, dateTimeRenderOption)


@api.get("/v4/spreadsheets/{spreadsheetId}/values:batchGet")
def batch_get(
    store: SheetStore,
    request: Request,
    spreadsheetId: str,
    majorDimension: Axis = "ROWS",
    valueRenderOption: Render = "FORMATTED_VALUE",
    dateTimeRenderOption: Moments = "SERIAL_NUMBER",
) -> Json:
    """The values of several ranges."""
    book = store.sheets.book(spreadsheetId)
    places = [_place(store, book, text) for text in _some(all_of(request, "ranges"))]
    found = [
        _range(store, sheet, area, majorDimension, valueRenderOption, dateTimeRenderOption)
        for sheet, area in places
    ]
    return {"spreadsheetId": book.id, "valueRanges": found}


@api.route("POST", "/v4/spreadsheets/{spreadsheetId}/values:batchGetByDataFilter", writes=False)
def batch_get_by_data_filter(store: SheetStore, request: Request, spreadsheetId: str) -> Json:
    """The values where filters say."""
    book, body = store.sheets.book(spreadsheetId), body_of(request)
    axis = read.choice(body, "majorDimension", *get_args(Axis)) or "ROWS"
    render: Any = read.choice(body, "valueRenderOption", *get_args(Render)) or "FORMATTED_VALUE"
    moments = read.choice(body, "dateTimeRenderOption", *get_args(Moments)) or "SERIAL_NUMBER"
    found = []
    for one in _some(read.objects(body, "dataFilters")):
        shown = _range(store, *filtered(store, book, one), axis, render, moments)
        found.append({"valueRange": shown, "dataFilters": [plain(one)]})
    return {"spreadsheetId": book.id, "valueRanges": found}


def _some(ranges: Sequence[Any]) -> Sequence[Any]:
    if len(ranges) > MAX_RANGES:
        raise Invalid(f"At most {MAX_RANGES} ranges at once.", code="INVALID_ARGUMENT")
    return ranges


def _option(value: str | None) -> Option:
    if value is None or value == "INPUT_VALUE_OPTION_UNSPECIFIED":
        raise Invalid("'valueInputOption' is required but not specified", code="INVALID_ARGUMENT")
    if value not in ("RAW", "USER_ENTERED"):
        raise Invalid(f"Invalid value at 'value_input_option': {value[:40]!r}", code="INVALID_ARGUMENT")
    return "RAW" if value == "RAW" else "USER_ENTERED"


def _lines(body: Mapping[str, Any]) -> tuple[list[Any], bool]:
    values = plain(body.get("values"))
    if values is None:
        values = []
    if not isinstance(values, list) or not all(isinstance(line, list) for line in values):
        raise Invalid("Invalid value at 'data.values': a list of lists is expected.", code="INVALID_ARGUMENT")
    axis = read.text(body, "majorDimension") or "ROWS"
    if axis not in ("ROWS", "COLUMNS", "DIMENSION_UNSPECIFIED"):
        raise Invalid(f"Invalid value at 'data.major_dimension': {axis[:40]!r}", code="INVALID_ARGUMENT")
    return values, axis == "COLUMNS"


def _updated(book: Book, sheet: Grid, area: Area, count: int, columns: bool) -> Json:
    sizes = {"updatedRows": area.height, "updatedColumns": area.width, "updatedCells": count} if count else {}
    return {"spreadsheetId": book.id, "updatedRange": range_text(sheet, area)} | sizes


@api.put("/v4/spreadsheets/{spreadsheetId}/values/{range}")
def update(
    store: SheetStore,
    request: Request,
    spreadsheetId: str,
    range: str,
    valueInputOption: str | None = None,
    includeValuesInResponse: bool = False,
    responseValueRenderOption: Render = "FORMATTED_VALUE",
    responseDateTimeRenderOption: Moments = "SERIAL_NUMBER",
) -> Json:
    """Write values into a range."""
    book, sheet, area, values, columns, how = _asked(store, request, spreadsheetId, range, valueInputOption)
    written, count = store.values.write(book, sheet, area, values, how, columns)
    answer = _updated(book, sheet, written, count, columns)
    if includeValuesInResponse:
        shown = (responseValueRenderOption, responseDateTimeRenderOption)
        answer["updatedData"] = _range(store, sheet, written, _axis(columns), *shown)
    return answer


def _asked(
    store: SheetStore, request: Request, spreadsheet: str, range: str, option: str | None
) -> tuple[Book, Grid, Area, list[Any], bool, Option]:
    """Parse a write request: place, values, whether these are columns, and options."""
    how = _option(option)
    book = store.sheets.book(spreadsheet, "writer")
    body = body_of(request)
    _same_range(body, range)
    values, columns = _lines(body)
    return book, *_place(store, book, range), values, columns, how


def _axis(columns: bool) -> str:
    return "COLUMNS" if columns else "ROWS"


def _same_range(body: Mapping[str, Any], range: str) -> None:
    said = read.text(body, "range")
    if said is not None and said.replace("'", "") != range.replace("'", ""):
        raise Invalid(
            f"Requested writing within range [{range[:60]}], but the body says {said[:60]}.",
            code="INVALID_ARGUMENT",
        )


@api.post("/v4/spreadsheets/{spreadsheetId}/values:batchUpdateByDataFilter")
@api.post("/v4/spreadsheets/{spreadsheetId}/values:batchUpdate")
def batch_update(store: SheetStore, request: Request, spreadsheetId: str) -> Json:
    """Write values into several ranges: all, or none."""
    book = store.sheets.book(spreadsheetId, "writer")
    body = body_of(request)
    how = _option(read.text(body, "valueInputOption"))
    data = body.get("data")
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise Invalid("Invalid value at 'data': a list of ranges is expected.", code="INVALID_ARGUMENT")
    by_filter = request.path.endswith("ByDataFilter")
    parts = []
    for one in _some(data):
        if by_filter:
            sheet, area = filtered(store, book, read.inner(one, "dataFilter"))
        else:
            sheet, area = _place(store, book, read.text(one, "range") or "")
        parts.append((sheet, area, *_lines(one)))
    written = store.values.write_many(book, parts, how)
    responses = [
        _updated(book, part[0], area, count, part[3])
        for part, (area, count) in zip(parts, written, strict=True)
    ]
    render = read.text(body, "responseValueRenderOption") or "FORMATTED_VALUE"
    read.text(body, "responseDateTimeRenderOption")
    if read.flag(body, "includeValuesInResponse"):
        for part, (area, _), response in zip(parts, written, responses, strict=True):
            response["updatedData"] = _range(store, part[0], area, _axis(part[3]), render, "SERIAL_NUMBER")  # type: ignore[arg-type]
    if by_filter:
        for one, response in zip(data, responses, strict=True):
            response["dataFilter"] = plain(one["dataFilter"])
    sheets = {part[0].number for part, (_, count) in zip(parts, written, strict=True) if count}
    totals = {
        "totalUpdatedRows": sum(area.height for area, count in written if count),
        "totalUpdatedColumns": sum(area.width for area, count in written if count),
        "totalUpdatedCells": sum(count for _, count in written),
        "totalUpdatedSheets": len(sheets),
    }
    return {"spreadsheetId": book.id, **totals, "responses": responses}


@api.post("/v4/spreadsheets/{spreadsheetId}/values/{range}:append")
def append(
    store: SheetStore,
    request: Request,
    spreadsheetId: str,
    range: str,
    valueInputOption: str | None = None,
    insertDataOption: Literal["OVERWRITE", "INSERT_ROWS"] = "OVERWRITE",
    includeValuesInResponse: bool = False,
    responseValueRenderOption: Render = "FORMATTED_VALUE",
    responseDateTimeRenderOption: Moments = "SERIAL_NUMBER",
) -> Json:
    """Write values below the table that lies in a range."""
    book, sheet, area, values, columns, how = _asked(store, request, spreadsheetId, range, valueInputOption)
    table = store.values.table(sheet, area)
    answer: Json = {"spreadsheetId": book.id}
    top, left = area.top, area.left
    if table is not None and table.bottom is not None:
        answer["tableRange"] = range_text(sheet, table)
        top, left = table.bottom, table.left
    height = max(map(len, values), default=0) if columns else len(values)
    if insertDataOption == "INSERT_ROWS" and height and top < sheet.rows:
        store.dimensions.insert(book, sheet, "ROWS", top, height, True)
        store.computing.restart(book, ["append", sheet.sheet_id, top, height])
    elif top + height > sheet.rows:
        store.dimensions.append(book, sheet, "ROWS", top + height - sheet.rows)
        store.computing.restart(book, ["append", sheet.sheet_id, top, height])
    sheet = store.sheets.with_id(book, sheet.sheet_id)
    width = len(values) if columns else max(map(len, values), default=0)
    place = Area(top, left, top + max(1, height), left + max(1, width))
    written, count = store.values.write(book, sheet, place, values, how, columns)
    answer["updates"] = _updated(book, sheet, written, count, columns)
    if includeValuesInResponse:
        shown = (responseValueRenderOption, responseDateTimeRenderOption)
        answer["updates"]["updatedData"] = _range(store, sheet, written, _axis(columns), *shown)
    return answer


@api.post("/v4/spreadsheets/{spreadsheetId}/values/{range}:clear")
def clear(store: SheetStore, spreadsheetId: str, range: str) -> Json:
    """Empty the cells of a range; their formats stay."""
    book = store.sheets.book(spreadsheetId, "writer")
    sheet, area = _place(store, book, range)
    store.values.clear(book, [(sheet, area)])
    return {"spreadsheetId": book.id, "clearedRange": range_text(sheet, area)}


@api.post("/v4/spreadsheets/{spreadsheetId}/values:batchClearByDataFilter")
@api.post("/v4/spreadsheets/{spreadsheetId}/values:batchClear")
def batch_clear(store: SheetStore, request: Request, spreadsheetId: str) -> Json:
    """Empty the cells of several ranges."""
    book = store.sheets.book(spreadsheetId, "writer")
    body = body_of(request)
    if request.path.endswith("ByDataFilter"):
        places = [filtered(store, book, one) for one in _some(read.objects(body, "dataFilters"))]
    elif isinstance(ranges := body.get("ranges"), list):
        places = [_place(store, book, str(text)) for text in _some(ranges)]
    else:
        raise Invalid("Invalid value at 'ranges': a list is expected.", code="INVALID_ARGUMENT")
    store.values.clear(book, places)
    return {"spreadsheetId": book.id, "clearedRanges": [range_text(sheet, area) for sheet, area in places]}
