"""Near misses of a solved schedule."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from mesocosm.families.verdict import Mutant
from mesocosm.generators.canvas_arrange_exam.expected import HEADER, SHEET, WORKBOOK, Expected, Row
from mesocosm.kits.near_misses import first, spoilings
from mesocosm.kits.near_tables import Lines, NearTable
from mesocosm.kits.outbox import INBOX_MUTANTS
from mesocosm.kits.workbooks import workbook_mutants

(CODE, NAME, PROCTOR, ADDRESS, BOOK, DATE, TIME, DURATION, PLACE, SOURCE, CREDIT) = HEADER
_OTHER_SOURCE = {"Announcement": "Email", "Email": "Message", "Message": "Announcement"}
_OTHER_BOOK = {"Open-book": "Closed-book", "Closed-book": "Open-book"}


def _written(row: Row) -> list[Any]:
    """A row as it would be written down."""

    def shown(value: Any) -> Any:
        if value is None:
            return "TBD"
        if isinstance(value, dt.date):
            return f"{value:%m/%d/%Y}"
        return f"{value:%H:%M}" if isinstance(value, dt.time) else value

    return [shown(value) for value in row.model_dump().values()]


_SCHEDULE: NearTable[Expected, Row] = NearTable(
    WORKBOOK, HEADER, lambda expected: expected.rows, _written, SHEET
)


def _cell(name: str, breaks: str, column: str, value: Callable[[Row, Expected], Any]) -> Mutant:
    return Mutant(name, breaks, _SCHEDULE.cell(column, value))


def _added(name: str, reason: str) -> Mutant:
    """A course that has no line is listed all the same."""
    row = _SCHEDULE.added(lambda expected: first(x.row for x in expected.left_out if x.reason == reason))
    return Mutant(name, "rows_extra", row)


def _as_in(rows: str, column: str) -> Callable[[Row, Expected], Any]:
    """What the same course has in other lines: those before a change, those not converted."""

    def value(row: Row, expected: Expected) -> Any:
        others = {other.code: _written(other) for other in getattr(expected, rows)}
        return others[row.code][HEADER.index(column)] if row.code in others else None

    return value


def _same_time(one: Row, other: Row) -> bool:
    return one.time is not None and (one.date, one.time) == (other.date, other.time)


def _only_other_undated(one: Row, other: Row) -> bool:
    return one.time is not None and other.time is None


def _later(row: Row, expected: Expected) -> str | None:
    if row.time is None:
        return None
    return f"{dt.datetime.combine(dt.date(2000, 1, 1), row.time) + dt.timedelta(minutes=30):%H:%M}"


def _building(row: Row, expected: Expected) -> str | None:
    return row.location and row.location.rpartition(" ")[0]


def _marks_instead_of_names(lines: Lines, expected: Expected) -> None:
    for line in lines[1:]:
        line[HEADER.index(NAME)] = "!"


MUTANTS = [
    Mutant(
        "a heading beside the table", "workbook", _SCHEDULE.edit(lambda lines, _: lines[0].append("Remarks"))
    ),
    *workbook_mutants(WORKBOOK, "workbook"),
    Mutant("row-missing", "rows_missing", _SCHEDULE.short()),
    _cell("code-with-section", "rows_missing", CODE, lambda row, e: row.code + e.suffixes[row.code]),
    _added("past-final-listed", "past"),
    _added("exempt-course-listed", "exemption"),
    _added("optional-final-listed", "optional"),
    _added("course-without-final-listed", "no_exam"),
    Mutant("row-twice", "rows_extra", _SCHEDULE.long()),
    Mutant("tie-swapped", "row_order", _SCHEDULE.swapped(_same_time)),
    Mutant("undated-final-first", "row_order", _SCHEDULE.swapped(_only_other_undated)),
    Mutant("farthest-first", "row_order", _SCHEDULE.turned_round()),
    *(
        _cell(f"superseded {column}", finding, column, _as_in("superseded", column))
        for column, finding in (
            (DATE, "final_date"), (TIME, "start_time"), (DURATION, "duration"), (PLACE, "location"),
            (BOOK, "book"), (SOURCE, "information_source"),
        )
    ),
    _cell("time-not-converted", "start_time", TIME, _as_in("unconverted", TIME)),
    _cell("date-not-converted", "final_date", DATE, _as_in("unconverted", DATE)),
    _cell("name-cut-at-hyphen", "course_name", NAME, lambda row, _: row.name.partition("-")[0]),
    _cell("name-with-section", "course_name", NAME, lambda row, e: row.name + e.suffixes[row.code]),
    Mutant("name-a-mere-mark", "course_name", _SCHEDULE.edit(_marks_instead_of_names)),
    _cell("instructor-as-proctor", "proctor_name", PROCTOR, lambda row, e: e.instructors[row.code][0]),
    _cell("address-of-assistant", "proctor_email", ADDRESS, lambda row, e: e.assistants[row.code][1]),
    _cell("book-flipped", "book", BOOK, lambda row, _: row.book and _OTHER_BOOK[row.book]),
    _cell("day-before-month", "final_date", DATE, lambda row, _: row.date and f"{row.date:%d/%m/%Y}"),
    _cell("half-an-hour-late", "start_time", TIME, _later),
    _cell("blank-for-tbd", "start_time", TIME, lambda row, _: None if row.time else ""),
    _cell("duration-in-hours", "duration", DURATION, lambda row, _: row.duration and row.duration / 60),
    _cell("building-without-room", "location", PLACE, _building),
    _cell("source-wrong", "information_source", SOURCE, lambda row, _: _OTHER_SOURCE[row.source]),
    _cell("credit-off-by-one", "course_credit", CREDIT, lambda row, _: row.credit + 1),
    Mutant("column-renamed", "header", _SCHEDULE.heading(CREDIT, "Credits")),
    *spoilings("filesystem", "other_files", "a file left behind"),
    *INBOX_MUTANTS,
    *spoilings("email", "mailbox", "a mail sent to a stranger"),
    *spoilings(
        "canvas", "canvas", "an announcement rewritten", "an announcement removed", "a message written"
    ),
    *spoilings("memory", "memory", "something noted"),
]  # fmt: skip
