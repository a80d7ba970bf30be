"""Undoing changes to cells: their previous content is written again."""

from __future__ import annotations

from typing import Any

from openpyxl.utils import column_index_from_string, get_column_letter
from openpyxl.utils.cell import coordinate_from_string

from mesocosm.services.undo import Done, ToolCall


def _cells(done: Done) -> list[ToolCall]:
    path, sheet = done.arguments["filepath"], done.arguments["sheet_name"]
    rows = done.arguments["data"]
    start = done.arguments.get("start_cell", "A1")
    letters, first = coordinate_from_string(start)
    left = column_index_from_string(letters)
    width = max((len(row) for row in rows), default=0)
    if not width:
        return []
    last = f"{get_column_letter(left + width - 1)}{first + len(rows) - 1}"
    read = done.earlier(
        "read_data_from_excel", filepath=path, sheet_name=sheet, start_cell=start, end_cell=last
    )
    held = {
        cell["address"]: cell.get("value")
        for cell in (read.get("cells", []) if isinstance(read, dict) else [])
    }
    before: list[list[Any]] = [
        [held.get(f"{get_column_letter(left + column)}{first + row}") for column in range(width)]
        for row in range(len(rows))
    ]
    return [
        (
            "write_data_to_excel",
            {"filepath": path, "sheet_name": sheet, "data": before, "start_cell": start},
        )
    ]


UNDO = {"write_data_to_excel": _cells}
