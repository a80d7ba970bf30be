"""Undoing changes to cells: their previous content is written again."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.ranges import Area, area_name, parse_area
from mesocosm.services.undo import Done, ToolCall


def _cells(done: Done) -> list[ToolCall]:
    place = {name: done.arguments[name] for name in ("spreadsheet_id", "sheet")}
    rows = done.arguments["data"]
    height, width = len(rows), max((len(row) for row in rows), default=0)
    try:
        area = parse_area(done.arguments["range"])
    except Invalid:
        return []
    if not width:
        return []
    written = area_name(Area(area.top, area.left, area.top + height, area.left + width))
    held = done.earlier("get_sheet_formulas", **place, range=written)
    if not isinstance(held, list):
        return []
    before: list[list[Any]] = [
        [held[r][c] if r < len(held) and c < len(held[r]) else "" for c in range(width)]
        for r in range(height)
    ]
    return [("update_cells", {**place, "range": written, "data": before})]


UNDO = {"update_cells": _cells}
