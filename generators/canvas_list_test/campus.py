"""Data of a campus, its courses and their works."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal

from mesocosm.kits import campus
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject

Kind = Literal["quiz", "assignment"]
Role = Literal["student", "assistant", "ended"]
Topic = Literal["deadline", "withdrawn", "status", "rule", "excused"]


@dataclass(frozen=True)
class Campus(campus.CampusWorld):
    """A campus in the middle of a term."""

    last_term: str

    @property
    def term_start(self) -> dt.datetime:
        """Start of teaching: the Monday of the eighth week before this one."""
        return (self.now - dt.timedelta(weeks=8, days=self.now.weekday())).replace(hour=0, minute=0)


@dataclass
class Course:
    subject: CourseSubject
    role: Role
    instructor: Contact
    credits: float
    syllabus: str = ""
    first_result: int | None = None
    """The student's midterm result before it was marked again; ``None`` if it never was."""
    result: int | None = None
    """The student's midterm result of 100."""
    repeats: bool | None = None
    """True if the student takes the course for the second time."""
    titles: set[str] = field(default_factory=set)

    @property
    def code(self) -> str:
        """Its code, unique among all courses of the student."""
        return self.subject.code


@dataclass(frozen=True)
class Rule:
    """Rule of exemption: by the midterm result, or, without a threshold, for everybody who repeats the
    course.
    """

    threshold: int | None = None
    inclusive: bool = True
    """True if the threshold itself is enough."""


@dataclass(frozen=True)
class Notice:
    """Statement of one announcement about a work."""

    about: Literal[
        "deadline", "withdrawn", "optional", "cancelled", "compulsory", "revived", "rule", "excused"
    ]
    moment: dt.datetime
    deadline: dt.datetime | None = None
    """Local and naive, as it is written."""
    rule: Rule | None = None
    names: tuple[str, ...] = ()


@dataclass
class Work:
    """A quiz or an assignment: as Canvas has it, and what is true of it."""

    kind: Kind
    course: Course
    title: str
    description: str
    """HTML."""
    created: dt.datetime
    fate: str = "listed"
    variant: str = ""
    due: dt.datetime | None = None
    """On Canvas; local and naive like all times of a work."""
    deadline: dt.datetime | None = None
    """The deadline that counts in the end."""
    stale: dt.datetime | None = None
    """A deadline that does not count any more."""
    unlock: dt.datetime | None = None
    lock: dt.datetime | None = None
    points: float = 10
    question_points: list[float] = field(default_factory=list)
    time_limit: int | None = None
    attempts: int = -1
    policy: str = "keep_highest"
    quiz_type: str = "assignment"
    grading_type: str = "points"
    submission_types: list[str] = field(default_factory=lambda: ["online_text_entry"])
    published: bool = True
    nearly_exempt: bool = False
    """There is a rule of exemption from it that the student narrowly does not satisfy."""
    notices: list[Notice] = field(default_factory=list)

    @property
    def key(self) -> tuple[bool, str, str, str]:
        """By what a list is ordered."""
        deadline = self.deadline
        return deadline is None, deadline.isoformat() if deadline else "", self.course.code, self.title


@dataclass(frozen=True)
class Post:
    """An announcement."""

    course: Course
    moment: dt.datetime
    subject: str
    body: str
    evidence: bool = False


@dataclass
class Plan:
    """Everything that is true."""

    campus: Campus
    courses: list[Course]
    works: list[Work]
    features: dict[str, int] = field(default_factory=dict)

    @property
    def taken(self) -> list[Course]:
        """The courses that the student takes."""
        return [course for course in self.courses if course.role == "student"]
