"""What there is to know of a campus, its people and its courses."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal

from mesocosm.generators.canvas_arrange_exam.expected import Book
from mesocosm.kits import campus
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject, Person

Channel = Literal["announcement", "email", "message"]
CHANNELS: tuple[Channel, ...] = ("announcement", "announcement", "announcement", "email", "message")
"""Where notices appear for which no parameter says where."""
Change = Literal["when", "date", "time", "duration", "room", "book"]
Open = Literal["all", "date", "time", "duration", "room", "book", "proctor"]
"""What is not published yet; ``date`` is open together with the time."""


def is_free(day: dt.date) -> bool:
    """Whether nobody is examined on a day: Sundays, Christmas Eve to New Year, the last Monday of May and the
    one before, Thanksgiving and the days after it."""
    christmas = (day.month, day.day) >= (12, 24) or (day.month, day.day) == (1, 1)
    monday_of_may = day.month == 5 and day.day > 17 and day.weekday() == 0
    thanksgiving = day.month == 11 and 22 <= day.day - (day.weekday() - 3) % 7 <= 28 and day.weekday() > 2
    return day.weekday() == 6 or christmas or monday_of_may or thanksgiving


@dataclass(frozen=True)
class Details:
    """What a notice says of a final; ``None`` is open."""

    date: dt.date | None
    time: dt.time | None
    duration: int | None
    room: str | None
    book: Book | None

    @property
    def start(self) -> dt.datetime | None:
        """The start by the clock of the campus."""
        return dt.datetime.combine(self.date, self.time) if self.date and self.time else None


@dataclass(frozen=True)
class Zone:
    """Another time zone that a notice uses."""

    label: str
    """``UTC`` or ``Berlin time (UTC+2)``."""
    offset: dt.timedelta


@dataclass(frozen=True)
class Exemption:
    """Who reaches the average need not sit the final."""

    threshold: float
    inclusive: bool
    """Whether the threshold itself is enough."""
    average: float
    """The student's."""


@dataclass
class Course:
    """All that is true of one course."""

    subject: CourseSubject
    section: int
    instructor: Contact
    assistant: Contact
    credits: float
    fate: str
    channel: Channel
    """Where the first notice of the final appears."""
    details: Details
    """What is valid in the end."""
    earlier: Details | None = None
    """What the first notice says, where a later one changes it."""
    change: Change | None = None
    change_channel: Channel = "announcement"
    zone: Zone | None = None
    open: Open | None = None
    proctor: Contact | None = None
    """Somebody other than the instructor; ``None`` with ``open == "proctor"``: not named yet."""
    proctor_apart: bool = False
    """The proctor has a notice of its own instead of standing in the first one."""
    exemption: Exemption | None = None
    coursework: float = 80.0
    """The student's average."""
    in_syllabus: bool = False
    """Credits, books and the rule of exemption stand in the syllabus, else in a welcome post."""
    variant: str = ""
    """Which of the ways to be exempt, optional or without a final."""
    groups: tuple[int, ...] = ()
    """The sections that what is said is about; none: all of the course's."""
    term: str = ""
    """The term of the final, where notices name it."""
    sitting: str = "final exam"
    """What notices are about: the final, or something else of the course's."""
    known: bool = True
    """Whether the student is in the course, so that it has a page to post on."""
    personal: bool = True
    """Whether the student is among those that notices are meant for."""

    @property
    def code(self) -> str:
        """The code without the section."""
        return self.subject.code

    @property
    def title(self) -> str:
        """The name without the section."""
        return self.subject.title

    @property
    def source(self) -> Channel:
        """Where the latest notice of a date, time, duration or room appears."""
        return self.channel if self.change in (None, "book") else self.change_channel

    @property
    def named_at_once(self) -> bool:
        """The first notice names another proctor, or says that it will be somebody else."""
        return (self.proctor is not None or self.open == "proctor") and not self.proctor_apart

    @property
    def suffix(self) -> str:
        """The section as code and name end with it on Canvas."""
        return f"-{self.section}"


@dataclass(frozen=True)
class Campus(campus.Campus):
    """A campus in exam week."""

    @property
    def office(self) -> Contact:
        """The office that speaks for all courses."""
        return Contact(Person("Examinations", "Office", "exams"), f"exams@{self.domain}")

    @property
    def earlier_term(self) -> str:
        """The term before this one."""
        season, year = self.term.split()
        return f"fall {int(year) - 1}" if season == "spring" else f"spring {year}"

    @property
    def term_start(self) -> dt.datetime:
        """When teaching began: on the Monday of the fifteenth week before this one."""
        return (self.now - dt.timedelta(weeks=15, days=self.now.weekday())).replace(hour=0, minute=0)

    @property
    def offset(self) -> dt.timedelta:
        """Local time minus UTC; it does not change within an exam period."""
        offset = self.now.utcoffset()
        assert offset is not None
        return offset


@dataclass
class Plan:
    """Campus and courses."""

    campus: Campus
    courses: list[Course] = field(default_factory=list)
