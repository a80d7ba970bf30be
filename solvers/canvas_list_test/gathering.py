"""Reads courses with their works and announcements, the student's notes, and the clock of the prompt."""

from __future__ import annotations

import datetime as dt
import html
import re
from dataclasses import dataclass, field
from typing import Any

from mesocosm.services.calling import Tools

_PER_PAGE = 100
_MOMENT = r"(\w+ \d+, \d{4}), (\d\d:\d\d)"


class Clock:
    """Time and student, from the prompt."""

    def __init__(self, prompt: str) -> None:
        student = re.search(r"assistant of (.+?), a student", prompt)
        now = re.search(rf"It is now \w+, {_MOMENT} on campus", prompt.replace("\n", " "))
        zone = re.search(r"\(time zone (\S+)\) is at (.+?)\.\s", prompt, re.DOTALL)
        assert student
        assert now
        assert zone
        self.student = student[1]
        self.now = _parsed(now[1], now[2])
        offsets = re.findall(r"UTC([+-])(\d\d):(\d\d)", zone[2])
        self._offsets = [
            (-1 if sign == "-" else 1) * dt.timedelta(hours=int(hours), minutes=int(minutes))
            for sign, hours, minutes in offsets
        ]
        change = re.search(rf"until {_MOMENT} UTC", " ".join(zone[2].split()))
        self._change = _parsed(change[1], change[2]) if change else None

    def local(self, stamp: str | None) -> dt.datetime | None:
        """A time that Canvas gives in UTC, by the clock of the campus."""
        if stamp is None:
            return None
        moment = dt.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ")  # noqa: DTZ007 - naive throughout
        changed = self._change is not None and moment >= self._change
        return moment + self._offsets[-1 if changed else 0]


def _parsed(day: str, clock: str) -> dt.datetime:
    return dt.datetime.strptime(f"{day} {clock}", "%B %d, %Y %H:%M")  # noqa: DTZ007 - naive throughout


@dataclass(frozen=True)
class Piece:
    """A quiz, or an assignment that is none."""

    title: str
    is_quiz: bool
    ungraded: bool
    due_at: str | None
    assignment_id: int | None
    record: dict[str, Any]


@dataclass
class Course:
    """A current course that the student takes."""

    id: int
    code: str
    name: str
    credits: float
    pieces: list[Piece] = field(default_factory=list)
    announcements: list[str] = field(default_factory=list)
    """Title and text of each, the oldest first."""


def courses(tools: Tools) -> list[Course]:
    """The courses that the student takes, with everything in them."""
    found = []
    for record in list(tools.pages("canvas", "canvas_list_courses", per_page=_PER_PAGE)):
        if not any(part["type"] == "student" for part in record["enrollments"]):
            continue
        syllabus = plain(tools.call("canvas", "canvas_get_syllabus", course_id=record["id"])["syllabus_body"])
        course = Course(record["id"], record["course_code"], record["name"], _credits(syllabus))
        course.pieces += _pieces(tools, course.id)
        posts = _all(tools, "announcements", course.id)
        posts.sort(key=lambda post: (post["posted_at"], post["id"]))
        course.announcements = [f"{post['title']}\n{_lines(post['message'])}" for post in posts]
        found.append(course)
    return found


def _all(tools: Tools, what: str, course_id: int) -> list[dict[str, Any]]:
    return list(tools.pages("canvas", f"canvas_list_{what}", course_id=course_id, per_page=_PER_PAGE))


def _pieces(tools: Tools, course_id: int) -> list[Piece]:
    pieces = [
        Piece(
            quiz["title"],
            True,
            quiz["quiz_type"] in ("practice_quiz", "survey"),
            quiz["due_at"],
            quiz["assignment_id"],
            quiz,
        )
        for quiz in _all(tools, "quizzes", course_id)
    ]
    pieces += [
        Piece(work["name"], False, work["grading_type"] == "not_graded", work["due_at"], work["id"], work)
        for work in _all(tools, "assignments", course_id)
        if not work["is_quiz_assignment"]
    ]
    return pieces


def _credits(syllabus: str) -> float:
    # "requires 30 credits" is what others call for, not what this course is worth.
    text = re.sub(r"requires \d+ credits", "", syllabus)
    found = re.search(r"(\d+(?:\.\d+)?) credits|[Cc]redits: (\d+(?:\.\d+)?)", text)
    assert found
    return float(found[1] or found[2])


def own_notes(tools: Tools) -> dict[str, list[str]]:
    """Return the memory's notes on each course, by code."""
    notes: dict[str, list[str]] = {}
    page: int | None = 1
    while page:
        graph = tools.call("memory", "read_graph", page=page)
        for entity in graph["entities"]:
            if entity["entityType"] == "course":
                notes[entity["name"]] = entity["observations"]
        page = graph.get("next_page")
    return notes


def _lines(body: str) -> str:
    """HTML as lines of text."""
    text = re.sub(r"</(?:p|li|h\d)>|<br ?/?>", "\n", body)
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip()


def plain(body: str) -> str:
    """HTML as one line of text."""
    return " ".join(_lines(body).split())
