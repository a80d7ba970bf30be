"""The campus that `canvas_arrange_exam` asks about, and the answer: which finals are still to be sat, when
and where."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Font

from mesocosm.families.family import Evidence
from mesocosm.kits.apportionment import drawn_numbers, require_whole, share_of
from mesocosm.kits.organisations.campus.directory import Directory
from mesocosm.kits.organisations.campus.exams import Exam, exam_of
from mesocosm.kits.organisations.campus.platform import survey_student
from mesocosm.kits.organisations.campus.studies import Studies
from mesocosm.kits.organisations.events import Event, Story
from mesocosm.kits.organisations.questions import Answer, Organisation
from mesocosm.servers.excel.store import save_workbook
from mesocosm.servers.memory.store import MemoryStore
from mesocosm.services.world import World

WORKBOOK, SHEET = "exam_schedule.xlsx", "Exam Schedule"
COLUMNS = (
    "Course Code",
    "Course Name",
    "Proctor Name",
    "Proctor Email",
    "Open-book/Closed-book",
    "Final Date (MM/DD/YYYY)",
    "Start Time (HH:MM)",
    "Duration (minutes)",
    "Location",
    "Information Source",
    "Course Credit",
)
_RATES = {
    "announcement": "canvas_exam_rate",
    "mail": "email_exam_rate",
    "conversation": "message_exam_rate",
    "cancelled": "no_exam_rate",
    "exempt": "exemption_rate",
    "past": "past_exam_rate",
    "optional": "optional_rate",
}
_SOURCES = {"announcement": "Announcement", "mail": "Email", "conversation": "Message"}
_SUPERSEDING = (
    ("moved", "moved_twice", "back"),
    ("room",),
    ("length",),
    ("exempt_withdrawn",),
    ("optional_for_others",),
)
"""Changes after the first word on a final; of each row one at most."""


def valid(params: Any) -> None:
    """Complain of rates that are no shares of a whole, or leave nothing to put into the schedule."""
    for name in (*_RATES.values(), "tbd_rate", "superseded_rate", "proctor_rate"):
        if not 0 <= getattr(params, name) <= 1:
            raise ValueError(f"{name}: between 0 and 1")
    rates = {name: getattr(params, name) for name in _RATES.values()}
    require_whole(rates, "num_courses", max(params.num_courses, len(rates)))
    if not any(_shares(params)[fate] for fate in _SOURCES):
        raise ValueError("the rates leave no final exam to put into the schedule")


def _shares(params: Any) -> dict[str, float]:
    return {fate: getattr(params, name) for fate, name in _RATES.items()}


def simulate(stream: Any, params: Any) -> Organisation:
    """Run the weeks before the finals of a student."""
    numbers = drawn_numbers(_shares(params), params.num_courses, stream("numbers"))
    fates = [fate for fate, number in numbers.items() for _ in range(number)]
    if not any(fate in _SOURCES for fate in fates):
        fates[0] = next(fate for fate in _SOURCES if _shares(params)[fate])
    studies = Studies.drawn(stream, "final", params.num_courses)
    rng = stream("fates")
    rng.shuffle(fates)
    listed = [number for number, fate in enumerate(fates) if fate in _SOURCES]

    def some(rate: float) -> set[int]:
        return set(rng.sample(listed, share_of(rate, len(listed))))

    opened, superseded, proctored = (
        some(params.tbd_rate),
        some(params.superseded_rate),
        some(params.proctor_rate),
    )
    # Of the others it is not known yet.
    booked = some(0.75) if params.tbd_rate else set(listed)
    stories: list[Story] = []
    for number, (course, fate) in enumerate(zip(studies.campus.listed, fates, strict=True)):
        via = fate if fate in _SOURCES else rng.choice(list(_SOURCES))
        changes = []
        if number in booked:
            changes.append("books_changed" if number in superseded and rng.random() < 0.3 else "books")
        if number in superseded:
            rows = rng.sample(_SUPERSEDING, rng.choices((1, 2, 3), (1, 3, 3))[0])
            changes += [rng.choice(row) for row in rows]
        if number in proctored:
            changes.append(rng.choice(("examiner", "examiner", "examiner_twice")))
        rng.shuffle(changes)
        if fate in ("cancelled", "exempt", "optional"):
            changes = [*changes, fate]
        still_open = (
            rng.choice(("room", "room", "time"))
            if number in opened and not set(changes) & {"moved", "moved_twice", "room", "back"}
            else ""
        )
        stories += studies.exams.run(course, via, changes, still_open, over=fate == "past")
    return studies.organisation(
        stories, stream, {}, codes=lambda course: f"{course.code}-{course.section}", besides=_besides(studies)
    )


def _besides(studies: Studies) -> Any:
    """The workbook with nothing but its header, and what the memory knows."""

    def place(world: World) -> list[Evidence]:
        book = Workbook()
        sheet = book.worksheets[0]
        sheet.title = SHEET
        sheet.append(COLUMNS)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        saved = (studies.campus.now - dt.timedelta(days=3)).replace(tzinfo=studies.campus.zone)
        world.workspace.write(WORKBOOK, save_workbook(book, saved), saved)
        me, university = studies.me, studies.campus.university
        world.store(MemoryStore).add_graph(
            [
                (me.full, "person", [f"Studies at {university}", f"E-mail: {me.email}"]),
                (university, "organization", [f"Time zone: {studies.campus.zone}"]),
            ],
            [(me.full, university, "studies at")],
        )
        return []

    return place


def answer(directory: Directory, events: Sequence[Event], known: Mapping[str, Any], params: Any) -> Answer:
    """The schedule as it stands, by the rules of the prompt."""
    me = directory.me
    listed = [course for course in directory.courses.values() if course.listed]
    exams = [exam for course in listed if (exam := exam_of(course, events))]
    exams.sort(key=lambda exam: (exam.start is None, exam.start or dt.datetime.max, exam.course.code))
    return Answer(
        singles={
            "me": {"name": me.full, "email": me.email},
            "place": {
                "university": directory.university,
                "zone": directory.zone,
                "secretary": directory.secretary.full,
                "office": f"{directory.office.full} ({directory.office.email})",
            },
        },
        sets={"exam": [_row(exam, number, directory) for number, exam in enumerate(exams)]},
    )


def _row(exam: Exam, number: int, directory: Directory) -> dict[str, Any]:
    course, start = exam.course, exam.start
    proctor = exam.examiner or course.instructor
    return {
        "on": exam.is_on and (start is None or start > directory.now),
        "place_in_order": number,
        "code": course.code,
        "title": course.title,
        "proctor": proctor.full,
        "address": proctor.email,
        "book": "TBD" if exam.allowed is None else "Open-book" if exam.allowed else "Closed-book",
        "date": f"{start:%m/%d/%Y}" if start else "TBD",
        "time": f"{start:%H:%M}" if start else "TBD",
        "duration": exam.length or "TBD",
        "room": exam.room or "TBD",
        "source": _SOURCES.get(exam.via, "TBD"),
        "credit": course.credits,
    }


def survey(tools: Any) -> None:
    """Read the workbook, the memory, Canvas and the mail."""
    tools.call("filesystem", "list_directory", path=".")
    tools.call("excel", "read_data_from_excel", filepath=WORKBOOK, sheet_name=SHEET)
    tools.call("memory", "read_graph")
    survey_student(tools)
