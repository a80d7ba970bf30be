"""Contents of a workbook, for checkers."""

from __future__ import annotations

import io
import zipfile
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from openpyxl.utils import get_column_letter

from mesocosm.errors import Refusal
from mesocosm.servers.excel.store.books import Book, Formula, Sheet, Value
from mesocosm.servers.excel.store.cells import address, parse_area
from mesocosm.services.contents import (
    HIDDEN,
    MERGED,
    Concealed,
    Grid,
    UnreadableContent,
    file_data,
    sheet_grid,
)
from mesocosm.worlds.workspace import Workspace

_FAR = 500
"""Columns beyond which there is no table that anybody asks for."""
_KINDS = {
    "xl/charts/": "a chart",
    "xl/chartsheets/": "a sheet with a chart",
    "xl/media/": "a picture",
    "xl/pivotTables/": "a pivot table",
    "xl/embeddings/": "an embedded file",
    "xl/comments": "a comment",
    "xl/threadedComments/": "a comment",
}
"""By the beginning of parts' names. Writers differ in where they put comments."""
_DRAWING = "xl/drawings/"
"""Shapes and boxes of text, if it is nothing of the above."""


@dataclass(frozen=True)
class Contents:
    """Of a workbook."""

    sheets: dict[str, Grid]
    """By their names, in their order."""
    drawings: tuple[str, ...]
    """Charts, pictures, comments and the like, each kind once."""

    @property
    def filled(self) -> dict[str, Grid]:
        """The sheets that hold anything."""
        return {name: grid for name, grid in self.sheets.items() if grid.head or grid.lines}


def read_contents(workspace: Workspace, path: str) -> Contents | UnreadableContent:
    """Read the contents of a workbook. A formula is its text; a cell in a percent format is the displayed
    text.
    """
    data = file_data(workspace, path)
    return data if isinstance(data, UnreadableContent) else contents_of(data, path)


def contents_of(data: bytes, path: str) -> Contents | UnreadableContent:
    """The same of the bytes of a file."""
    try:
        book = Book(data, path)
        drawn = tuple(_drawings(data))
        for name in book.sheet_names:
            if (used := book.sheet(name).used) and used.last_column > _FAR:
                return UnreadableContent(f"it has cells far beyond any table, up to {used}")
        beside = [f"{kind} in the workbook" for kind in drawn]
        return Contents({name: _grid(book.sheet(name), beside) for name in book.sheet_names}, drawn)
    except Refusal as refusal:
        return UnreadableContent(refusal.message)


def _grid(sheet: Sheet, beside: list[str]) -> Grid:
    rows: list[list[Any]] = []
    blank: list[str] = []
    before = 0
    for number, (columns, values) in zip(sheet.numbers, sheet.rows, strict=True):
        if number > before + 1:
            blank.append(f"row {number - 1} is blank")
        before = number
        row: list[Any] = [None] * columns[-1]
        for column, value in zip(columns, values, strict=True):
            row[column - 1] = _seen(value, percent=(number, column) in sheet.percents)
        rows.append(row)
    return sheet_grid(rows, [*beside, *blank], _concealed(sheet))


def _concealed(sheet: Sheet) -> Iterator[Concealed]:
    """Yield the content of a sheet that its reader does not plainly see."""
    if not sheet.numbers:
        return
    if sheet.hidden:
        yield Concealed(f"the sheet {HIDDEN}", sheet.name)
    heads: dict[int, Value] = {}
    if sheet.hidden_columns:
        for columns, values in sheet.rows:
            heads = dict(zip(columns, values, strict=True)) | heads
    for column, value in sorted(heads.items()):
        if any(first <= column <= last for first, last in sheet.hidden_columns):
            yield Concealed(f"column {get_column_letter(column)} {HIDDEN}", repr(value))
    for number in sheet.hidden_rows:
        yield Concealed(f"row {number} {HIDDEN}", repr(sheet.rows[bisect_left(sheet.numbers, number)]))
    covered = dict(sheet.concealing)
    for area in map(parse_area, sheet.merged):
        for number, cells in sheet.within(area):
            covered |= {
                (number, column): MERGED
                for column, _ in cells
                if (number, column) != (area.first_row, area.first_column)
            }
    for (number, column), why in sorted(covered.items()):
        yield Concealed(f"{address(number, column)} {why}", repr(sheet.value(number, column)))


def _seen(value: Any, *, percent: bool) -> Any:
    if isinstance(value, Formula):
        return value.text
    return f"{value * 100:.10g}%" if percent and type(value) in (int, float) else value


def _drawings(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        names = package.namelist()
    found = {kind: None for start, kind in _KINDS.items() if any(name.startswith(start) for name in names)}
    drawn = not found and any(name.startswith(_DRAWING) for name in names)
    return [*found, *(["a drawing"] if drawn else [])]
