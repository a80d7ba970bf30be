"""Requests of batchUpdate for cells: values, formats, copies, searches, orders and merges."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.engine.references import copied
from mesocosm.servers.google_sheet.store.formats import merged
from mesocosm.servers.google_sheet.store.ranges import Area
from mesocosm.servers.google_sheet.store.requests import Given, Place, fields_of, sequence, whole
from mesocosm.servers.google_sheet.store.sheets import Grid
from mesocosm.servers.google_sheet.store.values import Content, Put, check_length
from mesocosm.services.schema import Json

MAX_CELLS = 200_000
_VALUE = ("userEnteredValue",)


def _cell_put(place: Place, given: Given) -> Put:
    value = given.get("userEnteredValue")
    if value is None:
        return Put("")
    if not isinstance(value, Mapping) or len(names := [str(name) for name in value]) != 1:
        raise Invalid(
            "userEnteredValue has one of numberValue, stringValue, boolValue, formulaValue.",
            code="INVALID_ARGUMENT",
        )
    (name,) = names
    inside = value[name]
    if name == "formulaValue" and isinstance(inside, str) and inside.startswith("="):
        return place.store.values.entered(inside, "USER_ENTERED")
    if name == "boolValue" and isinstance(inside, bool):
        return Put("b", float(inside))
    if name == "numberValue" and isinstance(inside, (int, float)) and not isinstance(inside, bool):
        return place.store.values.entered(inside, "RAW")
    if name == "stringValue" and isinstance(inside, str):
        return place.store.values.entered(inside, "RAW")
    raise Invalid(f"Invalid value at 'userEnteredValue.{name[:40]}'.", code="INVALID_ARGUMENT")


def _set_cells(
    place: Place, sheet: Grid, top: int, left: int, rows: Sequence[Any], paths: Sequence[str]
) -> None:
    """Set the named fields of cells, line by line."""
    _check_paths(paths)
    everything = "*" in paths
    puts: list[tuple[Grid, int, int, Put]] = []
    for number, row in enumerate(rows):
        cells = sequence(row, "values") if isinstance(row, Mapping) else []
        for at, cell in enumerate(cells):
            if not isinstance(cell, Mapping):
                raise Invalid("a cell is an object.", code="INVALID_ARGUMENT")
            place_ = Area(top + number, left + at, top + number + 1, left + at + 1)
            sheet.area_of(place_)
            if everything or any(path.startswith("userEnteredValue") for path in paths):
                puts.append((sheet, place_.top, place_.left, _cell_put(place, cell)))
            if everything or "note" in paths:
                place.store.formats.set_note(sheet, place_.top, place_.left, _note(cell))
            _format(place, sheet, place_, cell, paths)
    place.store.values.put(place.book, puts)


def _note(cell: Given) -> str | None:
    note = cell.get("note")
    if note is not None and (not isinstance(note, str) or len(note) > 50_000 or "\0" in note):
        raise Invalid("Invalid value at 'note'.", code="INVALID_ARGUMENT")
    return note


def _check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        if path.partition(".")[0] not in ("*", "userEnteredValue", "userEnteredFormat", "note"):
            raise Invalid(f"Invalid field: {path[:60]} is not supported here.", code="INVALID_ARGUMENT")


def _format(place: Place, sheet: Grid, area: Area, cell: Given, paths: Sequence[str]) -> None:
    inside = [
        path.partition(".")[2] if path != "*" else ""
        for path in paths
        if path == "*" or path.partition(".")[0] == "userEnteredFormat"
    ]
    if inside:
        new = cell.get("userEnteredFormat") or {}
        if not isinstance(new, Mapping):
            raise Invalid("Invalid value at 'userEnteredFormat'.", code="INVALID_ARGUMENT")
        wanted = _plain(new)
        place.store.formats.change(place.book, sheet, area, lambda old: merged(old, wanted, inside))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _update_cells(place: Place, given: Given) -> None:
    rows = sequence(given, "rows")
    if "range" in given:
        sheet, area = place.area(given["range"])
        paths = fields_of(given)
        _check_paths(paths)
        if not rows:
            if {"userEnteredValue", "*"} & set(paths):
                place.store.values.clear(place.book, [(sheet, area)])
            _format(place, sheet, area, {}, paths)
            if {"note", "*"} & set(paths):
                for cell in place.store.values.cells(sheet, area):
                    place.store.formats.set_note(sheet, cell.row, cell.column, None)
            return
        _set_cells(place, sheet, area.top, area.left, rows[: area.height], paths)
        return
    start = given.get("start")
    if not isinstance(start, Mapping):
        raise Invalid("either start or range is needed.", code="INVALID_ARGUMENT")
    top, left = whole(start, "rowIndex", 0), whole(start, "columnIndex", 0)
    _set_cells(place, place.sheet(start), top, left, rows, fields_of(given))


def _append_cells(place: Place, given: Given) -> None:
    sheet, rows = place.sheet(given), sequence(given, "rows")
    used = place.store.values.used(sheet)
    assert used.bottom is not None
    if used.bottom + len(rows) > sheet.rows:
        place.store.dimensions.append(place.book, sheet, "ROWS", used.bottom + len(rows) - sheet.rows)
        sheet = place.store.sheets.with_id(place.book, sheet.sheet_id)
    _set_cells(place, sheet, used.bottom, 0, rows, fields_of(given))


def _repeat_cell(place: Place, given: Given) -> None:
    sheet, area = place.area(given.get("range"))
    cell = given.get("cell")
    cell = cell if isinstance(cell, Mapping) else {}
    paths = fields_of(given)
    _check_paths(paths)
    everything = "*" in paths
    if everything or any(path.startswith("userEnteredValue") for path in paths):
        if area.height * area.width > MAX_CELLS:
            raise Invalid(f"A request writes at most {MAX_CELLS} cells here.", code="INVALID_ARGUMENT")
        put = _cell_put(place, cell)
        puts = []
        for row in range(area.top, area.bottom or 0):
            for column in range(area.left, area.right or 0):
                own = put
                if put.formula is not None:
                    own = Put("", formula=copied(put.formula, row - area.top, column - area.left))
                puts.append((sheet, row, column, own))
        place.store.values.put(place.book, puts)
    if everything or "note" in paths:
        for row in range(area.top, min(area.bottom or 0, area.top + 1000)):
            for column in range(area.left, min(area.right or 0, area.left + 100)):
                place.store.formats.set_note(sheet, row, column, _note(cell))
    _format(place, sheet, area, cell, paths)


def _copy_paste(place: Place, given: Given) -> None:
    source, area = place.area(given.get("source"))
    target, into = place.area(given.get("destination"))
    kind = str(given.get("pasteType") or "PASTE_NORMAL")
    turned = given.get("pasteOrientation") == "TRANSPOSE"
    if kind not in ("PASTE_NORMAL", "PASTE_VALUES", "PASTE_FORMAT", "PASTE_FORMULA", "PASTE_NO_BORDERS"):
        raise Invalid(f"pasteType {kind[:40]} is not supported here.", code="INVALID_ARGUMENT")
    height, width = (area.width, area.height) if turned else (area.height, area.width)
    down, right = max(1, into.height // height), max(1, into.width // width)
    if height * width * down * right > MAX_CELLS:
        raise Invalid(f"A request writes at most {MAX_CELLS} cells here.", code="INVALID_ARGUMENT")
    target.area_of(Area(into.top, into.left, into.top + height * down, into.left + width * right))
    cells = {(cell.row, cell.column): cell for cell in place.store.values.cells(source, area)}
    puts = []
    for r in range(height * down):
        for c in range(width * right):
            y, x = (c % width, r % height) if turned else (r % height, c % width)
            cell = cells.get((area.top + (x if turned else y), area.left + (y if turned else x)))
            row, column = into.top + r, into.left + c
            if kind != "PASTE_FORMAT":
                puts.append((target, row, column, _pasted(cell, row, column, kind)))
            if kind in ("PASTE_NORMAL", "PASTE_FORMAT", "PASTE_NO_BORDERS"):
                look = place.store.formats.content(cell.format if cell else None)
                place.store.formats.change(
                    place.book,
                    target,
                    Area(row, column, row + 1, column + 1),
                    lambda old, look=look: look,  # type: ignore[misc]
                )
    place.store.values.put(place.book, puts)


def _pasted(cell: Content | None, row: int, column: int, kind: str) -> Put:
    if cell is None:
        return Put("")
    if cell.formula is not None and kind != "PASTE_VALUES":
        return Put("", formula=copied(cell.formula, row - cell.row, column - cell.column))
    if cell.anchor is not None and kind != "PASTE_VALUES":
        return Put("")
    return Put(cell.kind, cell.number, cell.text)


def _find_replace(place: Place, given: Given) -> Json:
    wanted, instead = given.get("find"), given.get("replacement") or ""
    if not isinstance(wanted, str) or not wanted or not isinstance(instead, str):
        raise Invalid("find must be a text that is not empty.", code="INVALID_ARGUMENT")
    if given.get("searchByRegex"):
        raise Invalid("searchByRegex is not supported here.", code="INVALID_ARGUMENT")
    if given.get("allSheets"):
        places = [(sheet, sheet.area) for sheet in place.store.sheets.all(place.book)]
    elif "range" in given:
        places = [place.area(given["range"])]
    else:
        sheet = place.sheet(given)
        places = [(sheet, sheet.area)]
    flags = re.NOFLAG if given.get("matchCase") else re.IGNORECASE
    pattern = re.compile(re.escape(wanted), flags)
    whole_cell, formulas = bool(given.get("matchEntireCell")), bool(given.get("includeFormulas"))
    puts, count, values_changed, formulas_changed = [], 0, 0, 0
    rows: set[tuple[int, int]] = set()
    for sheet, area in places:
        for cell in place.store.values.cells(sheet, area):
            if cell.anchor is not None or (cell.formula is not None and not formulas):
                continue
            text = cell.formula if cell.formula is not None else cell.shown
            if not text or (whole_cell and not pattern.fullmatch(text)):
                continue
            if times := sum(1 for _ in pattern.finditer(text)):
                check_length(len(text) + times * (len(instead) - len(wanted)))
                new = pattern.sub(lambda _: instead, text)
                puts.append((sheet, cell.row, cell.column, place.store.values.entered(new, "USER_ENTERED")))
                count += times
                formulas_changed += cell.formula is not None
                values_changed += cell.formula is None
                rows.add((sheet.number, cell.row))
    place.store.values.put(place.book, puts)
    counts = {
        "valuesChanged": values_changed, "formulasChanged": formulas_changed, "rowsChanged": len(rows),
        "sheetsChanged": len({sheet for sheet, _ in rows}), "occurrencesChanged": count,
    }  # fmt: skip
    return {name: value for name, value in counts.items() if value}


def _order(cell: Content | None) -> tuple[int, Any]:
    if cell is None or not cell.kind:
        return (9, 0)
    if cell.kind == "n":
        return (0, cell.number)
    return (1, str(cell.text).casefold()) if cell.kind == "s" else (2, str(cell.value))


def _sort_range(place: Place, given: Given) -> None:
    sheet, area = place.area(given.get("range"))
    cells = place.store.values.cells(sheet, area)
    lines: dict[int, dict[int, Content]] = {}
    for one in cells:
        if one.anchor is None:
            lines.setdefault(one.row, {})[one.column] = one
    last = max(lines, default=area.top - 1)
    order = list(range(area.top, last + 1))
    for spec in reversed(sequence(given, "sortSpecs")):
        if not isinstance(spec, Mapping):
            raise Invalid("a sort spec is an object.", code="INVALID_ARGUMENT")
        column = whole(spec, "dimensionIndex", area.left)
        if not area.left <= column < (area.right or 0):
            raise Invalid("dimensionIndex is not in the range.", code="INVALID_ARGUMENT")
        filled = [row for row in order if _order(lines.get(row, {}).get(column))[0] != 9]
        empty = [row for row in order if _order(lines.get(row, {}).get(column))[0] == 9]
        down = spec.get("sortOrder") == "DESCENDING"
        if down:
            filled.reverse()  # so that equal ones keep their order when the list is turned
        filled.sort(key=lambda row: _order(lines[row][column]))
        if down:
            filled.reverse()
        order = filled + empty
    puts, looks = [], []
    for at, row in enumerate(order):
        new = area.top + at
        for column in range(area.left, area.right or 0):
            cell = lines.get(row, {}).get(column)
            old = lines.get(new, {}).get(column)
            if cell is None and old is None:
                continue
            puts.append((sheet, new, column, _pasted(cell, new, column, "PASTE_FORMULA")))
            if (cell.format if cell else None) != (old.format if old else None):
                looks.append((cell.format if cell else None, sheet.number, new, column))
    place.store.values.put(place.book, puts)
    place.store.run_many("UPDATE cells SET format = ? WHERE sheet = ? AND row = ? AND col = ?", looks)


def _merge(place: Place, given: Given) -> None:
    sheet, area = place.area(given.get("range"))
    place.store.formats.merge(place.book, sheet, area, str(given.get("mergeType") or "MERGE_ALL"))


def _unmerge(place: Place, given: Given) -> None:
    place.store.formats.unmerge(*place.area(given.get("range")))


def _borders(place: Place, given: Given) -> None:
    sheet, area = place.area(given.get("range"))
    for side in ("top", "bottom", "left", "right", "innerHorizontal", "innerVertical"):
        line = given.get(side)
        if line is None:
            continue
        if not isinstance(line, Mapping):
            raise Invalid(f"Invalid value at '{side}'.", code="INVALID_ARGUMENT")
        for part, own in _edges(side, area):
            place.store.formats.change(
                place.book, sheet, part,
                partial(_bordered, own, _plain(line)),
            )  # fmt: skip


def _bordered(side: str, line: Json, old: Json) -> Json:
    return {**old, "borders": {**old.get("borders", {}), side: line}}


def _edges(side: str, area: Area) -> list[tuple[Area, str]]:
    top, left, bottom, right = area.top, area.left, area.bottom or 0, area.right or 0
    return {
        "top": [(Area(top, left, top + 1, right), "top")],
        "bottom": [(Area(bottom - 1, left, bottom, right), "bottom")],
        "left": [(Area(top, left, bottom, left + 1), "left")],
        "right": [(Area(top, right - 1, bottom, right), "right")],
        "innerHorizontal": [(Area(top, left, bottom - 1, right), "bottom")] if bottom - top > 1 else [],
        "innerVertical": [(Area(top, left, bottom, right - 1), "right")] if right - left > 1 else [],
    }[side]


REQUESTS: Mapping[str, Callable[[Place, Any], Json | None]] = {
    "updateCells": _update_cells,
    "appendCells": _append_cells,
    "repeatCell": _repeat_cell,
    "copyPaste": _copy_paste,
    "findReplace": _find_replace,
    "sortRange": _sort_range,
    "mergeCells": _merge,
    "unmergeCells": _unmerge,
    "updateBorders": _borders,
}
