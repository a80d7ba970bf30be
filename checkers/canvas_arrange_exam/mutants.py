"""Near misses of a solved schedule."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from openpyxl.worksheet.worksheet import Worksheet
from sqlalchemy import delete, select

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.canvas_arrange_exam.expected import SHEET, WORKBOOK, Expected, Row
from mesocosm.kits.outbox import INBOX_MUTANTS, send
from mesocosm.kits.workbooks import add_chart, add_comment, edited, edited_sheet
from mesocosm.servers.canvas.models import DiscussionTopic
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.memory.store import MemoryStore
from mesocosm.services.world import World

CODE, NAME, PROCTOR, ADDRESS, BOOK, DATE, TIME, DURATION, PLACE, SOURCE, CREDIT = range(1, 12)
_OTHER_SOURCE = {"Announcement": "Email", "Email": "Message", "Message": "Announcement"}


# -- the workbook ------------------------------------------------------------------------------------------


def _sheet(world: World) -> AbstractContextManager[Worksheet]:
    return edited_sheet(world, WORKBOOK, SHEET)


def _line(sheet: Worksheet, code: str) -> int:
    for number in range(2, sheet.max_row + 1):
        if sheet.cell(number, CODE).value == code:
            return number
    raise Inapplicable


def _written(row: Row) -> list[Any]:
    """A row as it would be written down."""

    def shown(value: Any) -> Any:
        if value is None:
            return "TBD"
        if isinstance(value, dt.date):
            return f"{value:%m/%d/%Y}"
        return f"{value:%H:%M}" if isinstance(value, dt.time) else value

    return [shown(value) for value in row.model_dump().values()]


def _swap(world: World, one: Row, other: Row) -> None:
    with _sheet(world) as sheet:
        first, second = _line(sheet, one.code), _line(sheet, other.code)
        for column in range(1, sheet.max_column + 1):
            a, b = sheet.cell(first, column), sheet.cell(second, column)
            a.value, b.value = b.value, a.value


def _set(world: World, code: str, column: int, value: Any) -> None:
    with _sheet(world) as sheet:
        sheet.cell(_line(sheet, code), column).value = value


def _first(rows: list[Row], apt: Callable[[Row], bool] = lambda _: True) -> Row:
    for row in rows:
        if apt(row):
            return row
    raise Inapplicable


# -- rows --------------------------------------------------------------------------------------------------


def _remove_last(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        sheet.delete_rows(_line(sheet, expected.rows[-1].code))


def _add(reason: str) -> Callable[[World, Expected], None]:
    def apply(world: World, expected: Expected) -> None:
        left_out = next((course for course in expected.left_out if course.reason == reason), None)
        if left_out is None:
            raise Inapplicable
        with _sheet(world) as sheet:
            sheet.append(_written(left_out.row))

    return apply


def _repeat_first(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        sheet.append(_written(expected.rows[0]))


def _keep_suffix(world: World, expected: Expected) -> None:
    code = expected.rows[0].code
    _set(world, code, CODE, code + expected.suffixes[code])


def _swap_tie(world: World, expected: Expected) -> None:
    for one, other in zip(expected.rows, expected.rows[1:], strict=False):
        if one.time and (one.date, one.time) == (other.date, other.time):
            return _swap(world, one, other)
    raise Inapplicable


def _undated_first(world: World, expected: Expected) -> None:
    undated = _first(expected.rows, lambda row: row.time is None)
    dated = _first(expected.rows, lambda row: row.time is not None)
    _swap(world, dated, undated)


def _farthest_first(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        if len(rows) < 2:
            raise Inapplicable
        for number, values in enumerate(reversed(rows), start=2):
            for column, value in enumerate(values, start=1):
                sheet.cell(number, column).value = value


# -- cells -------------------------------------------------------------------------------------------------


def _superseded(field: str, column: int) -> Callable[[World, Expected], None]:
    """The value of a notice that a later one changed."""

    def apply(world: World, expected: Expected) -> None:
        valid = {row.code: row for row in expected.rows}
        stale = _first(
            expected.superseded, lambda row: getattr(row, field) != getattr(valid[row.code], field)
        )
        _set(world, stale.code, column, _written(stale)[column - 1])

    return apply


def _unconverted_time(world: World, expected: Expected) -> None:
    row = _first(expected.unconverted)
    _set(world, row.code, TIME, _written(row)[TIME - 1])


def _unconverted_date(world: World, expected: Expected) -> None:
    valid = {row.code: row.date for row in expected.rows}
    row = _first(expected.unconverted, lambda row: row.date != valid[row.code])
    _set(world, row.code, DATE, _written(row)[DATE - 1])


def _cut_name(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: "-" in row.name)
    _set(world, row.code, NAME, row.name.partition("-")[0])


def _name_with_suffix(world: World, expected: Expected) -> None:
    row = expected.rows[-1]
    _set(world, row.code, NAME, row.name + expected.suffixes[row.code])


def _instructor_proctors(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: row.proctor != expected.instructors[row.code][0])
    _set(world, row.code, PROCTOR, expected.instructors[row.code][0])


def _assistant_address(world: World, expected: Expected) -> None:
    row = expected.rows[0]
    _set(world, row.code, ADDRESS, expected.assistants[row.code][1])


def _other_book(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: row.book is not None)
    _set(world, row.code, BOOK, "Closed-book" if row.book == "Open-book" else "Open-book")


def _day_before_month(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: row.date is not None and row.date.day != row.date.month)
    assert row.date
    _set(world, row.code, DATE, f"{row.date:%d/%m/%Y}")


def _half_an_hour_late(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: row.time is not None)
    assert row.time
    late = dt.datetime.combine(dt.date(2000, 1, 1), row.time) + dt.timedelta(minutes=30)
    _set(world, row.code, TIME, f"{late:%H:%M}")


def _duration_in_hours(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: row.duration is not None)
    assert row.duration
    _set(world, row.code, DURATION, row.duration / 60)


def _building_only(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: row.location is not None)
    assert row.location
    _set(world, row.code, PLACE, row.location.rpartition(" ")[0])


def _blank_instead_of_tbd(world: World, expected: Expected) -> None:
    row = _first(expected.rows, lambda row: row.time is None)
    _set(world, row.code, TIME, None)


def _other_source(world: World, expected: Expected) -> None:
    row = expected.rows[0]
    _set(world, row.code, SOURCE, _OTHER_SOURCE[row.source])


def _credit_off_by_one(world: World, expected: Expected) -> None:
    row = expected.rows[-1]
    _set(world, row.code, CREDIT, row.credit + 1)


def _marks_instead_of_names(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        for number in range(2, sheet.max_row + 1):
            sheet.cell(number, NAME).value = "!"


# -- around the table --------------------------------------------------------------------------------------


def _rename_column(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        sheet.cell(1, CREDIT).value = "Credits"


def _second_sheet(world: World, expected: Expected) -> None:
    with edited(world, WORKBOOK) as workbook:
        workbook.create_sheet("Notes")


def _stray_heading(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        sheet.cell(1, CREDIT + 1).value = "Remarks"


def _chart(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        add_chart(sheet)


def _comment(world: World, expected: Expected) -> None:
    with _sheet(world) as sheet:
        add_comment(sheet)


def _note_in_a_file(world: World, expected: Expected) -> None:
    world.workspace.write("notes.txt", b"done\n", world.now)


def _mail_sent(world: World, expected: Expected) -> None:
    store = world.store(EmailStore)
    own = store.account
    send(
        store,
        own,
        {"sender": own, "to": own, "subject": "My finals", "body": "See the workbook.", "date": world.now},
    )


def _remember(world: World, expected: Expected) -> None:
    world.store(MemoryStore).create_entities([("Finals", "note", ["All entered"])])


def _announcement_removed(world: World, expected: Expected) -> None:
    session = world.store(CanvasStore).session
    oldest = session.execute(select(DiscussionTopic.id).order_by(DiscussionTopic.id).limit(1)).scalar()
    session.execute(delete(DiscussionTopic).where(DiscussionTopic.id == oldest))


def _instructor_asked(world: World, expected: Expected) -> None:
    store = world.store(CanvasStore)
    me = store.user_id
    message = {"author_id": me, "body": "When is the final?", "created_at": store.stamp}
    asked = {"subject": "Final", "participants": [me, me + 1], "messages": [message]}
    store.conversations.add_conversations([asked])  # type: ignore[list-item]


MUTANTS = [
    Mutant("a heading beside the table", "workbook", _stray_heading),
    Mutant("a chart", "workbook", _chart),
    Mutant("a comment on a cell", "workbook", _comment),
    Mutant("row-missing", "rows_missing", _remove_last),
    Mutant("code-with-section", "rows_missing", _keep_suffix),
    Mutant("past-final-listed", "rows_extra", _add("past")),
    Mutant("exempt-course-listed", "rows_extra", _add("exemption")),
    Mutant("optional-final-listed", "rows_extra", _add("optional")),
    Mutant("course-without-final-listed", "rows_extra", _add("no_exam")),
    Mutant("row-twice", "rows_extra", _repeat_first),
    Mutant("tie-swapped", "row_order", _swap_tie),
    Mutant("undated-final-first", "row_order", _undated_first),
    Mutant("farthest-first", "row_order", _farthest_first),
    Mutant("superseded-date", "final_date", _superseded("date", DATE)),
    Mutant("superseded-time", "start_time", _superseded("time", TIME)),
    Mutant("superseded-duration", "duration", _superseded("duration", DURATION)),
    Mutant("superseded-room", "location", _superseded("location", PLACE)),
    Mutant("superseded-book", "book", _superseded("book", BOOK)),
    Mutant("source-of-superseded", "information_source", _superseded("source", SOURCE)),
    Mutant("time-not-converted", "start_time", _unconverted_time),
    Mutant("date-not-converted", "final_date", _unconverted_date),
    Mutant("name-cut-at-hyphen", "course_name", _cut_name),
    Mutant("name-with-section", "course_name", _name_with_suffix),
    Mutant("name-a-mere-mark", "course_name", _marks_instead_of_names),
    Mutant("instructor-as-proctor", "proctor_name", _instructor_proctors),
    Mutant("address-of-assistant", "proctor_email", _assistant_address),
    Mutant("book-flipped", "book", _other_book),
    Mutant("day-before-month", "final_date", _day_before_month),
    Mutant("half-an-hour-late", "start_time", _half_an_hour_late),
    Mutant("blank-for-tbd", "start_time", _blank_instead_of_tbd),
    Mutant("duration-in-hours", "duration", _duration_in_hours),
    Mutant("building-without-room", "location", _building_only),
    Mutant("notes-in-memory", "memory", _remember),
    Mutant("source-wrong", "information_source", _other_source),
    Mutant("credit-off-by-one", "course_credit", _credit_off_by_one),
    Mutant("column-renamed", "header", _rename_column),
    Mutant("second-sheet", "workbook", _second_sheet),
    Mutant("file-left-behind", "other_files", _note_in_a_file),
    *INBOX_MUTANTS,
    Mutant("mail-sent", "mailbox", _mail_sent),
    Mutant("announcement-removed", "canvas", _announcement_removed),
    Mutant("instructor-asked", "canvas", _instructor_asked),
]
