"""The workbook as the agent left it, and how its cells compare with the truth.

What is accepted: blanks around and repeated inside a text; any case in addresses, in TBD and in the two
columns with fixed words; dates and times as cells of that kind or as text with or without leading zeros;
numbers as numbers or as text. Nothing else.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mesocosm.errors import Refusal
from mesocosm.generators.canvas_arrange_exam.expected import HEADER, SHEET, WORKBOOK, Row
from mesocosm.servers.excel.store import ExcelStore
from mesocosm.servers.excel.store.books import Formula, Sheet
from mesocosm.servers.excel.store.contents import read_contents
from mesocosm.services.contents import Unreadable
from mesocosm.services.world import World

Cells = tuple[Any, ...]
"""The values of one row, as many as the header has columns."""

_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::00)?", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?", re.ASCII)


@dataclass
class Schedule:
    """What stands in the workbook."""

    problem: str = ""
    """Why the workbook is not as it should be, apart from the values of the table."""
    readable: bool = False
    header: Cells = ()
    lines: list[Cells] = field(default_factory=list)
    """The rows below the header that are not blank."""


def read_schedule(world: World) -> Schedule:
    """The schedule; a workbook that cannot be read has a problem and no lines."""
    try:
        book = world.store(ExcelStore).book(WORKBOOK)
        names = book.sheet_names
        if SHEET not in names:
            return Schedule(f"{WORKBOOK} has no sheet {SHEET!r}; it has {', '.join(names)}")
        rows = _rows(book.sheet(SHEET))
    except Refusal as refusal:
        return Schedule(refusal.message)
    contents = read_contents(world.workspace, WORKBOOK)
    if isinstance(contents, Unreadable):
        return Schedule(str(contents))
    drawn = contents.drawings
    stray = [number for number, row in rows.items() if any(column > len(HEADER) for column in row)]
    schedule = Schedule(readable=True, header=_cut(rows.pop(1, {})))
    others = [name for name in names if name != SHEET]
    if others:
        schedule.problem = f"further sheets: {', '.join(others)}"
    elif drawn:
        schedule.problem = f"{', '.join(drawn)} in the workbook"
    elif stray:
        schedule.problem = f"values beside the table in rows {', '.join(map(str, stray[:10]))}"
    schedule.lines = [cells for cells in map(_cut, rows.values()) if any(cell is not None for cell in cells)]
    return schedule


def _rows(sheet: Sheet) -> dict[int, dict[int, Any]]:
    """The cells that are not blank, by row and column."""
    rows: dict[int, dict[int, Any]] = {}
    for number, (columns, values) in zip(sheet.numbers, sheet.rows, strict=True):
        cells = {column: _value(value) for column, value in zip(columns, values, strict=True)}
        rows[number] = {column: value for column, value in cells.items() if value is not None}
    return rows


def _value(value: Any) -> Any:
    if isinstance(value, Formula):
        value = value.text if value.computed is None else value.computed
    if isinstance(value, str):
        return " ".join(value.split()) or None
    return value


def _cut(row: Mapping[int, Any]) -> Cells:
    return tuple(row.get(column) for column in range(1, len(HEADER) + 1))


# -- comparing ---------------------------------------------------------------------------------------------


def _exact(cell: Any, truth: str) -> bool:
    return bool(cell == truth)


def _any_case(cell: Any, truth: str) -> bool:
    return isinstance(cell, str) and cell.casefold() == truth.casefold()


def _date(cell: Any, truth: dt.date) -> bool:
    if isinstance(cell, dt.datetime):
        return cell == dt.datetime.combine(truth, dt.time())
    if isinstance(cell, dt.date):
        return cell == truth
    found = _DATE.fullmatch(cell) if isinstance(cell, str) else None
    return found is not None and tuple(map(int, found.groups())) == (truth.month, truth.day, truth.year)


def _time(cell: Any, truth: dt.time) -> bool:
    if isinstance(cell, dt.timedelta):
        return cell == dt.timedelta(hours=truth.hour, minutes=truth.minute)
    if isinstance(cell, dt.time):
        return cell == truth
    found = _TIME.fullmatch(cell) if isinstance(cell, str) else None
    return found is not None and tuple(map(int, found.groups())) == (truth.hour, truth.minute)


def _number(cell: Any, truth: float) -> bool:
    if isinstance(cell, str) and _NUMBER.fullmatch(cell):
        cell = float(cell)
    return isinstance(cell, int | float) and not isinstance(cell, bool) and cell == truth


@dataclass(frozen=True)
class Column:
    """A column that has a finding of its own."""

    finding: str
    index: int
    """In the header."""
    truth: Callable[[Row], Any]
    same: Callable[[Any, Any], bool]

    def agrees(self, cells: Cells, row: Row) -> bool:
        """Whether the cell says what is true; what is not published is TBD."""
        truth = self.truth(row)
        return _any_case(cells[self.index], "TBD") if truth is None else self.same(cells[self.index], truth)

    def shown(self, row: Row) -> str:
        """The truth as it should be written."""
        truth = self.truth(row)
        if truth is None:
            return "TBD"
        if isinstance(truth, dt.date):
            return f"{truth:%m/%d/%Y}"
        return f"{truth:%H:%M}" if isinstance(truth, dt.time) else f"{truth}"


COLUMNS = (
    Column("course_name", 1, lambda row: row.name, _exact),
    Column("proctor_name", 2, lambda row: row.proctor, _exact),
    Column("proctor_email", 3, lambda row: row.proctor_email, _any_case),
    Column("book", 4, lambda row: row.book, _any_case),
    Column("final_date", 5, lambda row: row.date, _date),
    Column("start_time", 6, lambda row: row.time, _time),
    Column("duration", 7, lambda row: row.duration, _number),
    Column("location", 8, lambda row: row.location, _exact),
    Column("information_source", 9, lambda row: row.source, _any_case),
    Column("course_credit", 10, lambda row: row.credit, _number),
)
"""All columns but the code, by which rows are told apart."""
