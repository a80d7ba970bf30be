"""What a workbook holds besides cells, as checkers that allow cells only must know."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet._read_only import ReadOnlyWorksheet
from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.families.verdict import Mutant
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.world import World

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
_LITERAL = re.compile(r'"[^"]*"|[\\_*].')
"""What a number format shows as it stands, or leaves room for."""


@contextmanager
def edited(world: World, path: str) -> Iterator[Workbook]:
    """A workbook of a world to be changed; it is saved in the end."""
    workbook = load_workbook(io.BytesIO(world.workspace.read(path)))
    yield workbook
    world.workspace.write(path, save_workbook(workbook, world.now), world.now)


@contextmanager
def edited_sheet(world: World, path: str, name: str | None = None) -> Iterator[Worksheet]:
    """A sheet of a workbook to be changed: the first, or the one of that name."""
    with edited(world, path) as workbook:
        sheet = workbook.worksheets[0] if name is None else workbook[name]
        assert isinstance(sheet, Worksheet)
        yield sheet


def _chart(book: Workbook) -> None:
    sheet, chart = book.worksheets[0], BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "H4")


def _comment(book: Workbook) -> None:
    book.worksheets[0]["A1"].comment = Comment("checked", "assistant")


def workbook_mutants(path: str, breaks: str) -> Iterator[Mutant]:
    """What nobody asked for where the cells of one sheet are asked for: a chart, a comment, a sheet more."""
    for name, change in (
        ("a chart", _chart),
        ("a comment on a cell", _comment),
        ("a second sheet", lambda book: book.create_sheet("Notes")),
    ):
        yield Mutant(name, breaks, partial(_changed, path, change))


def _changed(path: str, change: Callable[[Workbook], object], world: World, expected: Any) -> None:
    with edited(world, path) as book:
        change(book)


def percentages(data: bytes) -> list[str]:
    """Cells of the first sheet whose number format shows a hundred times what they hold."""
    book = load_workbook(io.BytesIO(data), read_only=True)
    try:
        sheet = book.worksheets[0]
        assert isinstance(sheet, ReadOnlyWorksheet)
        # Else each row, and each of those that are not there, is filled up to the last column the file names.
        sheet.reset_dimensions()
        cells = (cell for row in sheet.iter_rows() for cell in row)
        return [
            cell.coordinate
            for cell in cells
            if cell.value is not None and "%" in _LITERAL.sub("", cell.number_format)
        ]
    finally:
        book.close()


def drawings(data: bytes) -> list[str]:
    """Charts, pictures, comments and the like in a workbook (the bytes of an .xlsx file), each kind once."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = package.namelist()
    except zipfile.BadZipFile:
        return []
    found = {kind: None for start, kind in _KINDS.items() if any(name.startswith(start) for name in names)}
    drawn = not found and any(name.startswith(_DRAWING) for name in names)
    return [*found, *(["a drawing"] if drawn else [])]
