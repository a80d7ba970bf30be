"""Requests of batchUpdate for sheets, rows, columns and names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.messages import GRID_KEPT
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.servers.google_sheet.store.resources import named_range, sheet_properties
from mesocosm.servers.google_sheet.store.sheets import COLUMNS, ROWS, Book, Grid
from mesocosm.services.schema import Json

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

Given = Mapping[str, Any]

KEPT = ("sheetType", "hidden", "tabColor", "tabColorStyle", "rightToLeft")


@dataclass(frozen=True)
class Place:
    """Target of a request."""

    store: SheetStore
    book: Book

    def sheet(self, given: Given, name: str = "sheetId") -> Grid:
        """The sheet that a request names; the vendor's default is the id 0."""
        return self.store.sheets.with_id(self.book, whole(given, name, 0))

    def area(self, given: Any) -> tuple[Grid, Area]:
        """The sheet and the area of a GridRange."""
        if not isinstance(given, Mapping):
            raise Invalid("a range is expected.", code="INVALID_ARGUMENT")
        sheet = self.sheet(given)
        top, left = whole(given, "startRowIndex", 0), whole(given, "startColumnIndex", 0)
        bottom, right = whole(given, "endRowIndex", None), whole(given, "endColumnIndex", None)
        if (
            (bottom is not None and bottom <= top)
            or (right is not None and right <= left)
            or min(top, left) < 0
        ):
            raise Invalid("the range is empty or runs backwards.", code="INVALID_ARGUMENT")
        return sheet, sheet.area_of(Area(top, left, bottom, right))


def whole(given: Given, name: str, default: Any) -> Any:
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**31:
        raise Invalid(f"Invalid value at '{name}': a whole number is expected.", code="INVALID_ARGUMENT")
    return value


def fields_of(given: Given) -> list[str]:
    """The paths of a field mask."""
    mask = given.get("fields")
    if not isinstance(mask, str) or not mask.strip():
        raise Invalid(
            "At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)",
            code="INVALID_ARGUMENT",
        )
    return _paths(mask)


def _paths(mask: str) -> list[str]:
    """The paths of a mask such as ``a.b,c(d,e)``."""
    found, prefix, current = [], [""], ""
    for character in mask.replace(" ", "").replace("/", ".") + ",":
        if character == "(":
            prefix.append(prefix[-1] + current + ".")
            current = ""
        elif character in ",)":
            if current:
                found.append(prefix[-1] + current)
            current = ""
            if character == ")" and len(prefix) > 1:
                prefix.pop()
        else:
            current += character
    return found


def _text(given: Given, name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid(f"Invalid value at '{name}': a text is expected.", code="INVALID_ARGUMENT")
    return value


def _inner(given: Given, name: str) -> Given:
    value = given.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Invalid(f"Invalid value at '{name}': an object is expected.", code="INVALID_ARGUMENT")
    return value


def _add_sheet(place: Place, given: Given) -> Json:
    properties = _inner(given, "properties")
    grid = _inner(properties, "gridProperties")
    made = place.store.sheets.add(
        place.book,
        _text(properties, "title"),
        sheet_id=whole(properties, "sheetId", None),
        position=whole(properties, "index", None),
        rows=whole(grid, "rowCount", ROWS),
        columns=whole(grid, "columnCount", COLUMNS),
        properties=_kept(properties, {}),
    )
    return {"properties": sheet_properties(made)}


def _kept(properties: Given, old: Json) -> Json:
    grid = _inner(properties, "gridProperties")
    kept = {name: properties[name] for name in KEPT if name in properties and name != "sheetType"}
    inside = {
        name: whole(grid, name, 0) if name.startswith("frozen") else grid[name]
        for name in GRID_KEPT
        if name in grid
    }
    if _text(properties, "sheetType") not in (None, "GRID"):
        raise Invalid("Only sheets of the type GRID are supported here.", code="INVALID_ARGUMENT")
    result = {**old, **kept}
    if inside or "gridProperties" in old:
        result["gridProperties"] = {**old.get("gridProperties", {}), **inside}
    return result


def _delete_sheet(place: Place, given: Given) -> None:
    place.store.sheets.delete(place.book, place.sheet(given))


def _duplicate_sheet(place: Place, given: Given) -> Json:
    made = place.store.sheets.copy(
        place.book,
        place.sheet(given, "sourceSheetId"),
        place.book,
        _text(given, "newSheetName"),
        sheet_id=whole(given, "newSheetId", None),
        position=whole(given, "insertSheetIndex", None),
    )
    return {"properties": sheet_properties(made)}


def _update_sheet(place: Place, given: Given) -> None:
    properties = _inner(given, "properties")
    sheet = place.sheet(properties)
    paths = fields_of(given)
    if "*" in paths:
        paths = [name for name in ("title", "index", *KEPT) if name in properties]
        paths += [f"gridProperties.{name}" for name in _inner(properties, "gridProperties")]
    if "gridProperties" in paths:
        paths += [f"gridProperties.{name}" for name in _inner(properties, "gridProperties")]
        paths.remove("gridProperties")
    grid = _inner(properties, "gridProperties")
    kept, rows, columns = dict(sheet.properties), sheet.rows, sheet.columns
    for path in paths:
        first, _, last = path.partition(".")
        if path == "title":
            place.store.sheets.rename(place.book, sheet, _text(properties, "title") or "")
        elif path == "index":
            place.store.sheets.move(place.book, sheet, whole(properties, "index", 0))
        elif path == "gridProperties.rowCount":
            rows = whole(grid, "rowCount", 0)
        elif path == "gridProperties.columnCount":
            columns = whole(grid, "columnCount", 0)
        elif first == "gridProperties" and last in GRID_KEPT:
            kept = _kept({"gridProperties": {last: grid.get(last, 0)}}, kept)
        elif first in KEPT:
            kept[first] = properties.get(first)
        elif path != "sheetId":
            raise Invalid(f"Invalid field: {path[:60]}", code="INVALID_ARGUMENT")
    current = place.store.sheets.with_id(place.book, sheet.sheet_id)
    if (rows, columns) != (sheet.rows, sheet.columns):
        place.store.sheets.resize(place.book, current, rows, columns)
    frozen = kept.get("gridProperties", {})
    if (
        frozen.get("frozenRowCount", 0) >= max(rows, 1) + (rows == 0)
        or frozen.get("frozenColumnCount", 0) >= columns
    ):
        raise Invalid("You can't freeze all visible rows or columns on the sheet.", code="INVALID_ARGUMENT")
    place.store.sheets.set_properties(current, {k: v for k, v in kept.items() if v is not None})


def _update_book(place: Place, given: Given) -> None:
    properties = _inner(given, "properties")
    names = {"title": "title", "locale": "locale", "timeZone": "time_zone", "autoRecalc": "auto_recalc"}
    paths = fields_of(given)
    paths = [name for name in names if name in properties] if "*" in paths else paths
    changes = {}
    for path in paths:
        if path not in names:
            raise Invalid(f"Invalid field: {path[:60]}", code="INVALID_ARGUMENT")
        changes[names[path]] = _text(properties, path) or ""
    if changes.get("auto_recalc", "ON_CHANGE") not in ("ON_CHANGE", "MINUTE", "HOUR"):
        raise Invalid("Invalid value at 'autoRecalc'.", code="INVALID_ARGUMENT")
    place.store.sheets.change(place.book, changes)


def _lines(place: Place, given: Any) -> tuple[Grid, str, int, int]:
    if not isinstance(given, Mapping):
        raise Invalid("a dimension range is expected.", code="INVALID_ARGUMENT")
    axis = given.get("dimension")
    if axis not in ("ROWS", "COLUMNS"):
        raise Invalid("Invalid value at 'dimension': ROWS or COLUMNS.", code="INVALID_ARGUMENT")
    sheet = place.sheet(given)
    end = whole(given, "endIndex", sheet.rows if axis == "ROWS" else sheet.columns)
    start = whole(given, "startIndex", 0)
    if not 0 <= start < end:
        raise Invalid("the range of rows or columns is empty or runs backwards.", code="INVALID_ARGUMENT")
    return sheet, axis, start, end


def _insert_lines(place: Place, given: Given) -> None:
    sheet, axis, start, end = _lines(place, given.get("range"))
    place.store.dimensions.insert(
        place.book, sheet, axis, start, end - start, bool(given.get("inheritFromBefore"))
    )


def _append_lines(place: Place, given: Given) -> None:
    axis = given.get("dimension")
    if axis not in ("ROWS", "COLUMNS"):
        raise Invalid("Invalid value at 'dimension': ROWS or COLUMNS.", code="INVALID_ARGUMENT")
    place.store.dimensions.append(place.book, place.sheet(given), axis, whole(given, "length", 0))


def _delete_lines(place: Place, given: Given) -> None:
    sheet, axis, start, end = _lines(place, given.get("range"))
    place.store.dimensions.delete(place.book, sheet, axis, start, end)


def _update_lines(place: Place, given: Given) -> None:
    sheet, axis, start, end = _lines(place, given.get("range"))
    properties = _inner(given, "properties")
    paths = fields_of(given)
    for path in paths:
        if path not in ("pixelSize", "hiddenByUser", "*"):
            raise Invalid(f"Invalid field: {path[:60]}", code="INVALID_ARGUMENT")
    pixels = whole(properties, "pixelSize", None) if {"pixelSize", "*"} & set(paths) else None
    if pixels is not None and not 0 <= pixels <= 2000:
        raise Invalid("Invalid value at 'pixelSize'.", code="INVALID_ARGUMENT")
    hidden = properties.get("hiddenByUser") if {"hiddenByUser", "*"} & set(paths) else None
    size = sheet.rows if axis == "ROWS" else sheet.columns
    place.store.formats.set_lines(sheet, axis, range(start, min(end, size)), pixels, hidden)


def _resize_lines(place: Place, given: Given) -> None:
    """Fit columns to their content: there is no screen here, so they get the usual size."""
    sheet, axis, start, end = _lines(place, given.get("dimensions"))
    place.store.formats.set_lines(sheet, axis, range(start, end), {"ROWS": 21, "COLUMNS": 100}[axis], None)


def _axis(given: Given) -> str:
    axis = given.get("shiftDimension")
    if axis not in ("ROWS", "COLUMNS"):
        raise Invalid("Invalid value at 'shiftDimension': ROWS or COLUMNS.", code="INVALID_ARGUMENT")
    return str(axis)


def _insert_area(place: Place, given: Given) -> None:
    place.store.dimensions.insert_area(place.book, *place.area(given.get("range")), _axis(given))


def _delete_area(place: Place, given: Given) -> None:
    place.store.dimensions.delete_area(place.book, *place.area(given.get("range")), _axis(given))


def _add_name(place: Place, given: Given) -> Json:
    named = _inner(given, "namedRange")
    sheet, area = place.area(named.get("range"))
    name = _text(named, "name") or ""
    made = place.store.names.add(place.book, name, sheet, area, _text(named, "namedRangeId"))
    return {"namedRange": named_range(made, sheet.sheet_id)}


def _update_name(place: Place, given: Given) -> None:
    named = _inner(given, "namedRange")
    paths = fields_of(given)
    name = _text(named, "name") if {"name", "*"} & set(paths) else None
    moved = (
        place.area(named.get("range"))
        if any(p in ("range", "*") or p.startswith("range.") for p in paths)
        else None
    )
    place.store.names.change(place.book, _text(named, "namedRangeId") or "", name, moved)


def _delete_name(place: Place, given: Given) -> None:
    place.store.names.delete(place.book, _text(given, "namedRangeId") or "")


REQUESTS: Mapping[str, Callable[[Place, Any], Json | None]] = {
    "addSheet": _add_sheet,
    "deleteSheet": _delete_sheet,
    "duplicateSheet": _duplicate_sheet,
    "updateSheetProperties": _update_sheet,
    "updateSpreadsheetProperties": _update_book,
    "insertDimension": _insert_lines,
    "appendDimension": _append_lines,
    "deleteDimension": _delete_lines,
    "updateDimensionProperties": _update_lines,
    "autoResizeDimensions": _resize_lines,
    "insertRange": _insert_area,
    "deleteRange": _delete_area,
    "addNamedRange": _add_name,
    "updateNamedRange": _update_name,
    "deleteNamedRange": _delete_name,
}

STRUCTURAL = frozenset(
    {*REQUESTS, "copyPaste", "sortRange"} - {"updateDimensionProperties", "autoResizeDimensions"}
)
"""Kinds of requests after which all formulas are read again."""


def sequence(given: Given, name: str) -> Sequence[Any]:
    value = given.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Invalid(f"Invalid value at '{name}': a list is expected.", code="INVALID_ARGUMENT")
    return value
