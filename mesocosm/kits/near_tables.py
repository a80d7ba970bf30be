"""Near misses of a table that had to be written: its lines changed, in a CSV file or a sheet of a workbook.

A right table has the right rows in their order, so its line ``n`` is about row ``n``, counted from 1.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Generic, TypeVar

from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.worksheet import Worksheet

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.world import World

E = TypeVar("E")
R = TypeVar("R")

Lines = list[list[Any]]
"""All lines, the header first."""


@dataclass(frozen=True)
class NearTable(Generic[E, R]):
    """A table of a solved world; each method is something to do to it that the checker must refuse."""

    path: str
    """The file, ``.csv`` or ``.xlsx``."""
    header: Sequence[str]
    rows: Callable[[E], Sequence[R]]
    """The right rows."""
    written: Callable[[R], Sequence[Any]]
    """The cells of a row as they would be written down."""
    sheet: str | None = None

    def edit(self, change: Callable[[Lines, E], object]) -> Callable[[World, E], None]:
        """Any change of the lines, in place."""

        def apply(world: World, expected: E) -> None:
            with self._lines(world) as lines:
                change(lines, expected)

        return apply

    def cell(self, column: str, value: Callable[[R, E], Any]) -> Callable[[World, E], None]:
        """Another value (``None``: none for this row) in one cell, of the first row where it is wrong."""

        def change(lines: Lines, expected: E) -> None:
            place = self.header.index(column)
            for number, row in enumerate(self.rows(expected), start=1):
                new = value(row, expected)
                if new is not None and new != self.written(row)[place]:
                    lines[number][place] = new
                    return
            raise Inapplicable

        return self.edit(change)

    def added(self, row: Callable[[E], R]) -> Callable[[World, E], None]:
        """A row that does not belong there, in the end."""
        return self.edit(lambda lines, expected: lines.append([*self.written(row(expected))]))

    def swapped(self, apt: Callable[[R, R], bool]) -> Callable[[World, E], None]:
        """The first two neighbours that are so, the wrong way round."""

        def change(lines: Lines, expected: E) -> None:
            for number, pair in enumerate(pairwise(self.rows(expected)), start=1):
                if apt(*pair):
                    lines[number : number + 2] = lines[number + 1], lines[number]
                    return
            raise Inapplicable

        return self.edit(change)

    def short(self) -> Callable[[World, E], None]:
        """Without the last row."""
        return self.edit(lambda lines, _: _some(lines) and lines.pop())

    def long(self) -> Callable[[World, E], None]:
        """Duplicate the first row."""
        return self.edit(lambda lines, _: lines.append(_some(lines)[1]))

    def turned_round(self) -> Callable[[World, E], None]:
        """The last row first."""

        def change(lines: Lines, expected: E) -> None:
            if len(lines) < 3:
                raise Inapplicable
            lines[1:] = lines[:0:-1]

        return self.edit(change)

    def oddities(self, breaks: str | frozenset[str]) -> Iterator[Mutant]:
        """Yield malformed tables, whatever their cells contain."""
        for name, change in (
            ("a note beside the table", _noted),
            ("a heading twice", _headed_twice),
            ("something more in some lines", _uneven),
            ("a line above the table", _lower),
            ("a blank line between rows", _apart),
        ):
            yield Mutant(name, breaks, self.edit(partial(_apply, change)))

    def heading(self, column: str, other: str) -> Callable[[World, E], None]:
        """Another name for a column."""
        return self.edit(lambda lines, _: lines[0].__setitem__(self.header.index(column), other))

    @contextmanager
    def _lines(self, world: World) -> Iterator[Lines]:
        if self.path.endswith(".csv"):
            lines: Lines = list(csv.reader(io.StringIO(world.workspace.read(self.path).decode())))
            yield lines
            world.workspace.write(self.path, as_csv(lines), world.now)
            return
        with edited_sheet(world, self.path, self.sheet) as sheet:
            lines = [list(line) for line in sheet.iter_rows(values_only=True)]
            yield lines
            sheet.delete_rows(1, sheet.max_row)
            for number, line in enumerate(lines, start=1):
                for column, value in enumerate(line, start=1):
                    sheet.cell(number, column).value = None if value == "" else value


def _apply(change: Callable[[Lines], object], lines: Lines, expected: Any) -> None:
    change(lines)


def _noted(lines: Lines) -> None:
    _some(lines)[1].append("checked")


def _headed_twice(lines: Lines) -> None:
    for number, line in enumerate(_some(lines)):
        line.insert(-1, line[-1] if number == 0 else 0)


def _uneven(lines: Lines) -> None:
    for line in _some(lines)[2:] or _some(lines)[1:]:
        line.append("EXTRA")


def _lower(lines: Lines) -> None:
    lines.insert(0, ["Table 1"])


def _apart(lines: Lines) -> None:
    if len(lines) < 3:
        raise Inapplicable
    lines.insert(2, [""] * len(lines[0]))


def as_csv(lines: Lines) -> bytes:
    """Lines as a file, with quotes where one is needed."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()


def _some(lines: Lines) -> Lines:
    if len(lines) < 2:
        raise Inapplicable
    return lines


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
