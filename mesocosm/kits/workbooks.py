"""Near misses of workbooks: changed cells, and additions that nobody asked for."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.families.verdict import Mutant
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.world import World


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
    """Yield unwanted changes to a workbook in which only cells are asked for: a chart, a comment, another
    sheet.
    """
    for name, change in (
        ("a chart", _chart),
        ("a comment on a cell", _comment),
        ("a second sheet", lambda book: book.create_sheet("Notes")),
    ):
        yield Mutant(name, breaks, partial(_changed, path, change))


def _changed(path: str, change: Callable[[Workbook], object], world: World, expected: Any) -> None:
    with edited(world, path) as book:
        change(book)
