"""Schemas of the vendor's messages: batchUpdate requests, and new spreadsheets.

A message that has others is refused by name, as the vendor's parser of JSON does, also where a field mask
would leave them out. Fields that the vendor has and this server could only drop are not listed.

Source: the discovery document of the Sheets API, v4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mesocosm.errors import Invalid

GRID_KEPT = (
    "frozenRowCount",
    "frozenColumnCount",
    "hideGridlines",
    "rowGroupControlAfter",
    "columnGroupControlAfter",
)
"""Properties of a sheet's grid that are kept as they are written."""

Shape = Mapping[str, Any] | list[Any] | None
"""The fields of an object, what each item of a list is, or (``None``) a value that its reader checks."""


def _of(*names: str) -> dict[str, Shape]:
    return dict.fromkeys(names)


_COLOR = _of("red", "green", "blue", "alpha")
_STYLE = {"rgbColor": _COLOR, "themeColor": None}
_BORDER = {"style": None, "width": None, "color": _COLOR, "colorStyle": _STYLE}
_GRID_RANGE = _of("sheetId", "startRowIndex", "endRowIndex", "startColumnIndex", "endColumnIndex")
_LINES = _of("sheetId", "dimension", "startIndex", "endIndex")
FORMAT: Mapping[str, Shape] = {
    **_of(
        "horizontalAlignment", "verticalAlignment", "wrapStrategy", "textDirection", "hyperlinkDisplayType"
    ),
    "numberFormat": _of("type", "pattern"),
    "backgroundColor": _COLOR,
    "backgroundColorStyle": _STYLE,
    "borders": dict.fromkeys(("top", "bottom", "left", "right"), _BORDER),
    "padding": _of("top", "right", "bottom", "left"),
    "textFormat": {
        **_of("fontFamily", "fontSize", "bold", "italic", "strikethrough", "underline"),
        "foregroundColor": _COLOR,
        "foregroundColorStyle": _STYLE,
        "link": _of("uri"),
    },
    "textRotation": _of("angle", "vertical"),
}
"""The vendor's CellFormat."""
_CELL: Shape = {
    "userEnteredValue": _of("numberValue", "stringValue", "boolValue", "formulaValue"),
    "userEnteredFormat": FORMAT,
    # What only the server says, which clients send back as they were given it:
    **_of("note", "effectiveValue", "formattedValue", "effectiveFormat", "hyperlink"),
}
_ROWS: Shape = [{"values": [_CELL]}]
_SHEET: Shape = {
    **_of("sheetId", "title", "index", "sheetType", "hidden", "rightToLeft"),
    "gridProperties": _of("rowCount", "columnCount", *GRID_KEPT),
    "tabColor": _COLOR,
    "tabColorStyle": _STYLE,
}
_BOOK = _of("title", "locale", "timeZone", "autoRecalc")
_NAMED: Shape = {"namedRangeId": None, "name": None, "range": _GRID_RANGE}

_SPREADSHEET: Shape = {
    **_of("spreadsheetId", "spreadsheetUrl"),
    "properties": _BOOK,
    "sheets": [{"properties": _SHEET, "data": [{**_of("startRow", "startColumn"), "rowData": _ROWS}]}],
}
_REQUESTS: Mapping[str, Shape] = {
    "addSheet": {"properties": _SHEET},
    "deleteSheet": _of("sheetId"),
    "duplicateSheet": _of("sourceSheetId", "insertSheetIndex", "newSheetId", "newSheetName"),
    "updateSheetProperties": {"properties": _SHEET, "fields": None},
    "updateSpreadsheetProperties": {"properties": _BOOK, "fields": None},
    "insertDimension": {"range": _LINES, "inheritFromBefore": None},
    "appendDimension": _of("sheetId", "dimension", "length"),
    "deleteDimension": {"range": _LINES},
    "updateDimensionProperties": {
        "range": _LINES, "properties": _of("pixelSize", "hiddenByUser"), "fields": None,
    },
    "autoResizeDimensions": {"dimensions": _LINES},
    "insertRange": {"range": _GRID_RANGE, "shiftDimension": None},
    "deleteRange": {"range": _GRID_RANGE, "shiftDimension": None},
    "addNamedRange": {"namedRange": _NAMED},
    "updateNamedRange": {"namedRange": _NAMED, "fields": None},
    "deleteNamedRange": _of("namedRangeId"),
    "updateCells": {
        "rows": _ROWS, "fields": None, "range": _GRID_RANGE,
        "start": _of("sheetId", "rowIndex", "columnIndex"),
    },
    "appendCells": {"sheetId": None, "rows": _ROWS, "fields": None},
    "repeatCell": {"range": _GRID_RANGE, "cell": _CELL, "fields": None},
    "copyPaste": {
        "source": _GRID_RANGE, "destination": _GRID_RANGE, **_of("pasteType", "pasteOrientation"),
    },
    "findReplace": {
        **_of("find", "replacement", "matchCase", "matchEntireCell", "searchByRegex", "includeFormulas"),
        **_of("sheetId", "allSheets"),
        "range": _GRID_RANGE,
    },
    "sortRange": {"range": _GRID_RANGE, "sortSpecs": [_of("dimensionIndex", "sortOrder")]},
    "mergeCells": {"range": _GRID_RANGE, "mergeType": None},
    "unmergeCells": {"range": _GRID_RANGE},
    "updateBorders": {
        "range": _GRID_RANGE,
        **dict.fromkeys(("top", "bottom", "left", "right", "innerHorizontal", "innerVertical"), _BORDER),
    },
}  # fmt: skip


def check_spreadsheet(value: Any) -> None:
    """``Invalid`` where a new spreadsheet has other fields than it can have."""
    _check(value, _SPREADSHEET, "spreadsheet")


def check_request(kind: str, value: Any, where: str) -> None:
    """``Invalid`` where a request of a known kind has other fields than its kind; ``where`` it stands."""
    _check(value, _REQUESTS[kind], f"{where}.{_snake(kind)}")


def _check(value: Any, shape: Shape, where: str) -> None:
    if value is None or shape is None:
        return
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise _wrong(where, "a list")
        for number, item in enumerate(value):
            if item is None:
                raise _wrong(f"{where}[{number}]", "an object")
            _check(item, shape[0], f"{where}[{number}]")
        return
    if not isinstance(value, Mapping):
        raise _wrong(where, "an object")
    for name, inner in value.items():
        if name not in shape:
            raise Invalid(
                f"Invalid JSON payload received. Unknown name \"{str(name)[:60]}\" at '{where}': Cannot find"
                " field.",
                code="INVALID_ARGUMENT",
            )
        _check(inner, shape[name], f"{where}.{_snake(name)}")


def _wrong(where: str, expected: str) -> Invalid:
    return Invalid(f"Invalid value at '{where}': {expected} is expected.", code="INVALID_ARGUMENT")


def _snake(name: str) -> str:
    return re.sub("(?=[A-Z])", "_", name).lower()
