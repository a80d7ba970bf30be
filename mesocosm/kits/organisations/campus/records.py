"""Records of the campus: the class lists of an assistant, and the log of what was handed in through a
form."""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from zoneinfo import ZoneInfo

from openpyxl import Workbook

from mesocosm.kits.organisations.campus.coursework import Class
from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.people import Person
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.world import World
from mesocosm.worlds import tokens

CLASSES, LIST, LEFT = "classes.xlsx", "Classes", "Dropped"
_COURSES = ("Code", "Title", "Meets", "Room", "Instructor", "Instructor's address")
_STUDENTS = ("Name", "Student ID", "Email", "Talk on")
_LEFT = ("Class", "Name", "Student ID")
PRESENTATION = "presentation"
_WORKS = (
    "reading notes",
    "problem set",
    "lab sheet",
    "outline",
    "peer review",
    "bibliography",
    "quiz corrections",
)
_OF_ONE_WORD = (
    "observations",
    "documentation",
    "translation",
    "registration",
    "declaration",
    "reflection",
)
"""Works whose lines are as long as that of a presentation."""
_LINES = 220
"""Lines of a log file: one for each week, or for a part of it where there are more."""
_AROUND = 4
"""So many days before and after others lie uploads that are like them."""
_DAY = dt.timedelta(days=1)
Upload = tuple[dt.datetime, str, str, str, str]
"""When, class, student ID, what, file name."""


def write_classes(
    world: World, campus: Campus, gone: Mapping[Course, set[Person]], saved: dt.datetime
) -> None:
    """Put the workbook with the classes into the workspace, with who has left them."""
    book = Workbook()
    courses = book.worksheets[0]
    courses.title = LIST
    courses.append(_COURSES)
    left = book.create_sheet(LEFT)
    left.append(_LEFT)
    for course in campus.courses:
        teacher = course.instructor
        courses.append((course.code, course.title, course.meets, course.room, teacher.full, teacher.email))
        students = book.create_sheet(course.code)
        students.append(_STUDENTS)
        for who in sorted(course.students, key=lambda one: (one.last, one.first)):
            students.append((who.full, who.number, who.email, course.topic[who]))
            if who in gone.get(course, ()):
                left.append((course.code, who.full, who.number))
    moment = saved.replace(tzinfo=campus.zone)
    world.workspace.write(CLASSES, save_workbook(book, moment), moment)


def log_line(upload: Upload) -> str:
    """An upload as the log has it."""
    when, code, number, what, name = upload
    return f"{when:%Y-%m-%d %H:%M},{code},{number},{what},{name}"


def named(who: Person, what: str, rng: random.Random) -> str:
    """Draw a file name of somebody's making."""
    stem = rng.choice((who.last.lower(), who.first.lower(), what.split()[0]))
    return f"{stem}{rng.choice(('', '_final', '2', '-b'))}.pdf"


def presentations(made: Class, rng: random.Random) -> list[Upload]:
    """Return what a class handed in through the form."""
    return [
        (
            one.at,
            made.course.code,
            one.people[0].number,
            PRESENTATION,
            named(one.people[0], PRESENTATION, rng),
        )
        for one in made.uploads
    ]


def write_uploads(world: World, uploads: Sequence[Upload], zone: ZoneInfo) -> None:
    """Put the log into the workspace, a file a week."""
    weeks: dict[tuple[int, int], list[Upload]] = {}
    for upload in sorted(uploads):
        year, week, _ = upload[0].isocalendar()
        weeks.setdefault((year, week), []).append(upload)
    for (year, week), found in sorted(weeks.items()):
        for part in range(0, len(found), _LINES):
            lines = found[part : part + _LINES]
            out = io.StringIO()
            out.write("time,class,student_id,what,file\n")
            out.write("".join(f"{log_line(one)}\n" for one in lines))
            tail = f"-{part // _LINES + 1}" if len(found) > _LINES else ""
            moment = (lines[-1][0] + _DAY / 2).replace(tzinfo=zone)
            world.workspace.write(f"uploads/{year}-w{week:02}{tail}.csv", out.getvalue().encode(), moment)


def further_uploads(
    campus: Campus, budget: int, rng: random.Random, like: Sequence[Upload] = ()
) -> Iterator[Upload]:
    """Draw uploads of other work, worth so many tokens.

    Args:
        like: Their lines are as long as these, and of about the same days: a long log must not tell by that.
    """
    while budget > 0:
        course = rng.choice(campus.courses)
        who = rng.choice(course.students)
        if like:
            when = rng.choice(like)[0] + rng.uniform(-_AROUND, _AROUND) * _DAY
        else:
            when = campus.now - rng.random() * 60 * _DAY - _DAY / 24
        if not 7 <= when.hour <= 23:
            when = when.replace(hour=rng.randint(8, 22))
        if when >= campus.now:
            when -= _DAY
        what = rng.choice(_OF_ONE_WORD) if like else f"{rng.choice(_WORKS)} {rng.randint(1, 9)}"
        upload = (when.replace(second=0, microsecond=0), course.code, who.number, what, named(who, what, rng))
        budget -= tokens.count(log_line(upload) + "\n") + 1
        yield upload
