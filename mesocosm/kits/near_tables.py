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

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.kits.workbooks import edited_sheet
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
