"""The campus on Canvas: a student's courses with syllabus, classmates and assignments, and what is posted
there."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from mesocosm.kits.moments import utc_stamp
from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.delivery import deliver_posts
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.paging import mails
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World
from mesocosm.worlds import tokens

_DAY = dt.timedelta(days=1)
_WORKS = (
    "Problem set",
    "Reading response",
    "Lab sheet",
    "Worksheet",
    "Case notes",
    "Vocabulary",
    "Source list",
)
_RECORD = 330
"""Tokens of an assignment besides what it asks for."""
_FINE = 500
"""Tokens that lines of syllabi take at least, where there is room for assignments beside them."""
_PER_PAGE = 100


def place_on_canvas(
    world: World,
    campus: Campus,
    me: Person,
    letters: Sequence[Letter],
    budget: int,
    *,
    codes: Mapping[Course, str],
) -> None:
    """Open the platform for a student, who is signed in; records of assignments take the budget (tokens).

    Args:
        codes: The codes of the courses as the platform shows them.
    """
    store = world.store(CanvasStore)

    def stamp(moment: dt.datetime) -> str:
        return utc_stamp(moment.replace(tzinfo=campus.zone))

    [root] = store.accounts.add_accounts([{"name": campus.university, "default_time_zone": str(campus.zone)}])
    began = campus.now - 75 * _DAY
    people = list(
        dict.fromkeys(
            [me, campus.office, campus.secretary, *campus.assistants, *campus.instructors]
            + [who for course in campus.listed for who in course.students]
            + [who for letter in letters if letter.channel != "mail" for who in (letter.sender, letter.to)]
        )
    )
    ids = store.users.add_users(
        [
            {
                "name": who.full,
                "login_id": who.email,
                "primary_email": who.email,
                "account_id": root,
                "time_zone": str(campus.zone),
                "created_at": stamp(began - 40 * _DAY),
            }
            for who in people
        ]
    )
    users = dict(zip((who.email for who in people), ids, strict=True))
    work = list(_assignments(campus, began, budget - _FINE, world.stream("assignments"), stamp))
    # The smallest records take what assignments are too large for.
    readings = _readings(campus, budget - sum(map(_cost_of, work)), world.stream("readings"))
    teaching = {course.instructor for course in campus.listed}
    others = [who for who in campus.instructors if who not in teaching]
    keys = store.courses.add_courses(
        [
            {
                "name": course.title,
                "course_code": codes[course],
                "account_id": root,
                "start_at": stamp(began),
                "end_at": stamp(campus.now + 60 * _DAY),
                "syllabus_body": syllabus(
                    course, readings[course], others if course is campus.listed[0] else ()
                ),
                "time_zone": str(campus.zone),
                "created_at": stamp(began - 30 * _DAY),
            }
            for course in campus.listed
        ]
    )
    courses = dict(zip((course.code for course in campus.listed), keys, strict=True))
    staff = {
        (letter.about.code, letter.sender.email) for letter in letters if letter.channel == "announcement"
    }
    rows: dict[tuple[int, int], str] = {}
    for course in campus.listed:
        key = courses[course.code]
        rows[key, users[course.instructor.email]] = "TeacherEnrollment"
        for code, email in sorted(staff):
            if code == course.code:
                rows.setdefault((key, users[email]), "TaEnrollment")
        for who in course.students:
            rows.setdefault((key, users[who.email]), "StudentEnrollment")
    store.courses.add_enrollments(
        [
            {"course_id": key, "user_id": user, "type": kind, "created_at": stamp(began)}
            for (key, user), kind in rows.items()
        ]
    )
    store.assignments.add_assignments([{"course_id": courses[one.course.code], **one.fields} for one in work])
    deliver_posts(store, letters, me, users, courses, campus.zone, world.stream("talks"))
    store.sign_in(users[me.email])


def syllabus(course: Course, readings: Sequence[str], others: Sequence[Person]) -> str:
    """Write the syllabus page: the course, its readings by week, and other instructors of the department."""
    lines = [
        f"Meets: {course.day}s, {course.hour}:00, {course.room}",
        f"Credits: {course.credits:g}",
        f"Topics: {'; '.join(random.Random(course.code).sample(list(course.topics), 4))}",
        *(f"Also in the department: {who.full} ({who.email})" for who in others),
        *readings,
    ]
    return f"{heading(course)}{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def heading(course: Course) -> str:
    """Return how the page begins: with the course and who teaches it."""
    return (
        f"<p>{course.title}</p><ul><li>Instructor: {course.instructor.full} ({course.instructor.email})</li>"
    )


@dataclass(frozen=True)
class _Assignment:
    course: Course
    exercises: int
    fields: dict[str, Any]


def _cost_of(assignment: _Assignment) -> int:
    """Return about how many tokens an assignment takes."""
    return _RECORD + 4 * assignment.exercises


def _assignments(
    campus: Campus, began: dt.datetime, budget: int, rng: random.Random, stamp: Any
) -> Iterator[_Assignment]:
    """Yield assignments as long as they fit into so many tokens."""
    for number in count(1):
        course, exercises = rng.choice(campus.listed), rng.randint(4, 40)
        due = (began + rng.randint(7, 100) * _DAY).replace(hour=rng.choice((12, 17, 22)), minute=0, second=0)
        chosen = ", ".join(f"{rng.randint(1, 12)}.{rng.randint(1, 30)}" for _ in range(exercises))
        fields: dict[str, Any] = {
            "name": f"{rng.choice(_WORKS)} {number}",
            "description": f"<p>{chosen}</p>",
            "due_at": stamp(due),
            "points_possible": rng.choice((5, 10, 20, 25)),
            "created_at": stamp(due - rng.randint(8, 13) * _DAY),
        }
        made = _Assignment(course, exercises, fields)
        budget -= _cost_of(made)
        if budget < 0:
            return
        yield made


def _readings(campus: Campus, budget: int, rng: random.Random) -> Mapping[Course, list[str]]:
    """Draw weekly readings by course, of ``budget`` tokens."""
    found: dict[Course, list[str]] = {course: [] for course in campus.listed}
    while budget > 0:
        course = rng.choice(campus.listed)
        first = rng.randint(2, 480)
        pages = f"pp. {first}-{first + rng.randint(4, 40)}"
        line = f"Week {rng.randint(1, 15)}: {rng.choice(course.topics)}, {pages}"
        found[course].append(line)
        budget -= tokens.count(line) + 6
    return found


def survey_student(tools: Tools) -> None:
    """Read a student's courses with syllabus, announcements and assignments, the conversations and the
    mail."""
    for course in list(tools.pages("canvas", "canvas_list_courses", per_page=_PER_PAGE)):
        tools.call("canvas", "canvas_get_syllabus", course_id=course["id"])
        for tool in ("canvas_list_announcements", "canvas_list_assignments"):
            for _ in tools.pages("canvas", tool, course_id=course["id"], per_page=_PER_PAGE):
                pass
    for talk in list(tools.pages("canvas", "canvas_list_conversations", per_page=_PER_PAGE)):
        tools.call("canvas", "canvas_get_conversation", conversation_id=talk["id"])
    for _ in mails(tools, "INBOX", "Sent"):
        pass
