"""Names that people on the campus use for courses and one another."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.moments import DAYS, Level
from mesocosm.kits.organisations.people import BY_NAME, FORMAL, Person
from mesocosm.kits.organisations.referring_expressions import Attribute, Reference, distinguishing

COURSE_ATTRIBUTES: Mapping[str, Attribute] = {
    "code": lambda course: course.code,
    "title": lambda course: course.title,
    "short": lambda course: course.short,
    "day": lambda course: course.day,
    "daypart": lambda course: course.daypart,
    "clock": lambda course: f"{(course.hour - 1) % 12 + 1} o'clock",
    "teacher": lambda course: course.instructor.last,
}
_ON = re.compile(rf"(\bclass),? (?=(?:{'|'.join(DAYS)})\b)")
_FOR = re.compile(
    r"(?<![Ff]or the )(?<![Ff]or your )(?<![Ff]or my )"
    r"\b((?:orals?|finals?|midterms?|quiz|quizzes)(?: exams?)?) in "
    r"(?=(?:my|your|the|[\w ]+'s) (?:\w+day |\d+ o'clock |morning |afternoon )*class\b)"
)
_OPPOSITE = 0.85
"""The share of asides that name a course in question beside one that is not, or the other way around."""
_WORDS = ("day", "daypart", "clock")
"""Attributes in the order in which they stand before a noun."""


class CampusSpeaker:
    """Finds expressions that have one referent for their reader.

    Args:
        own: The courses in question.
        rehearsing: True where instructors have one course only, and may mention any other.
    """

    def __init__(
        self,
        courses: Sequence[Course],
        staff: Sequence[Person],
        instructors: Sequence[Person],
        me: Person,
        own: Collection[Course] = (),
        rehearsing: bool = False,
    ) -> None:
        self.own, self.rehearsing = own, rehearsing
        self.courses, self.staff, self.instructors, self.me = courses, staff, instructors, me

    @classmethod
    def of(
        cls, campus: Campus, me: Person, own: Collection[Course] = (), *, rehearsing: bool = False
    ) -> CampusSpeaker:
        """Return the speaker of a campus, also for courses that are added to it later."""
        staff = [campus.secretary, campus.office, campus.technician, campus.librarian, *campus.assistants, me]
        return cls(campus.courses, staff, campus.instructors, me, own, rehearsing)

    def shared(self, writer: Person, reader: Person) -> list[Course]:
        """The courses that a writer and a reader both have to do with: among them the reader looks."""
        one, other = self.mine(writer), self.mine(reader)
        return [course for course in one if course in other]

    def context(self, writer: Person, reader: Person, what: Course) -> list[Course]:
        """Return what a course could be taken for: one that both have to do with, or else one of either."""
        shared = self.shared(writer, reader)
        return shared if what in shared else self.either(writer, reader)

    def _described_among(self, writer: Person, reader: Person, what: Course) -> Sequence[Course]:
        """Return the courses among which a description must be unique.

        A student has no lists of courses that they do not take: what others write must be clear without.
        """
        if self.me.role != "student":
            return self.context(writer, reader, what)
        return self.mine(what.instructor) if what.instructor in (writer, reader) else self.courses

    def either(self, writer: Person, reader: Person) -> list[Course]:
        """The courses that a writer or a reader has to do with."""
        return list(dict.fromkeys([*self.mine(writer), *self.mine(reader)]))

    def mine(self, person: Person) -> Sequence[Course]:
        """The courses that somebody has to do with."""
        if person is self.me or person.role not in ("student", "instructor"):
            return self.courses
        if person.role == "instructor":
            return [course for course in self.courses if course.instructor is person]
        return [course for course in self.courses if person in course.topic]

    def thing(
        self,
        what: Course,
        writer: Person,
        reader: Person,
        level: Level,
        rng: random.Random,
        named: frozenset[Person],
        habit: str,
        moments: Collection[dt.datetime],
    ) -> tuple[str, Reference]:
        """Return what a writer calls a course, so that the reader knows which."""
        if level == "explicit":
            by: tuple[str, ...] = ("title", "code") if rng.random() < 0.4 else ("title",)
            text = f"{what.title} ({what.code})" if "code" in by else what.title
            return text, Reference(text, "thing", what.code, by)
        for whose, by in _ways(what, writer, reader, named, habit, moments):
            chosen = distinguishing(what, self._described_among(writer, reader, what), by, COURSE_ATTRIBUTES)
            if chosen is not None:
                text = _phrase(what, whose, chosen)
                return text, Reference(text, "thing", what.code, tuple(chosen))
        return what.short, Reference(what.short, "thing", what.code, ("short",))

    def other(self, writer: Person, reader: Person, about: Course, rng: random.Random) -> Course | None:
        """Draw a course that a writer may mention beside one: a student's own, or one of an instructor's.

        Mostly it is one in question beside one that is not: both are named in such mails, whatever they are
        about.
        """
        if writer.role == "student":
            found = [one for one in self.courses if writer in one.topic and writer not in one.leaving]
        else:
            taught = next((who for who in (writer, reader) if who.role == "instructor"), about.instructor)
            found = list(self.mine(taught))
        found = [course for course in found if course is not about]
        if not found and self.rehearsing:
            found = [course for course in self.courses if course is not about]
        opposite = [course for course in found if (course in self.own) != (about in self.own)]
        if opposite and rng.random() < _OPPOSITE:
            found = opposite
        return rng.choice(found) if found else None

    def person(
        self, who: Person, writer: Person, reader: Person, about: Any, level: Level
    ) -> tuple[str, Reference]:
        """Return a writer's way to refer to somebody; the full name if the first name is ambiguous."""
        called = who.called_by(writer)
        if who.role == "instructor" and FORMAL & {writer.role, reader.role} and who is not reader:
            called = f"Professor {who.last}"
            return called, Reference(called, "person", who.email, ("last",))
        if level == "explicit" or not self._unique(who, about):
            return who.full, Reference(who.full, "person", who.email, ("full",))
        return called, Reference(called, "person", who.email, ("first",))

    def _unique(self, who: Person, about: Any) -> bool:
        others = self.known(about)
        if who.role == "instructor":
            others = list(dict.fromkeys([*others, *self.instructors]))
        return sum(other.first == who.first for other in others) <= 1

    def smoothed(self, text: str) -> str:
        """Return a text with "the oral for my Friday class on Monday" for "in my Friday class Monday"."""
        return _ON.sub(r"\1 on ", _FOR.sub(r"\1 for ", text))

    def around(self, about: Course) -> list[Person]:
        """Return those who have to do with a course."""
        return [about.instructor, *about.students]

    def known(self, about: Any) -> list[Person]:
        """Everybody that is spoken of in a course: its students, its instructor, and the staff."""
        others = self.around(about) if isinstance(about, Course) else []
        return list(dict.fromkeys([*self.staff, *others]))

    def named(self, who: Person, form: str, about: Any) -> tuple[str, Reference | None]:
        """Return a person in a form that the scene asks for."""
        match form:
            case "id":
                return f"{who.full} ({who.number})", Reference(
                    f"{who.full} ({who.number})", "person", who.email, ("number",)
                )
            case "topic" | "topic_person":
                topic = about.topic.get(who) if isinstance(about, Course) else None
                if topic is None:
                    return who.full, Reference(who.full, "person", who.email, ("full",))
                return topic, Reference(topic, "person", who.email, ("topic",))
            case "first" if not self._unique(who, about):
                return who.full, Reference(who.full, "person", who.email, ("full",))
            case "first" | "full" | "last":
                text = str(getattr(who, form))
                return text, Reference(text, "person", who.email, (form,))
        raise ValueError(f"nobody is called by {form!r}")


def _ways(
    what: Course,
    writer: Person,
    reader: Person,
    named: frozenset[Person],
    habit: str,
    moments: Collection[dt.datetime],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield how a course may be called without its name: whose it is, and attributes in their order."""
    if habit == BY_NAME:
        return
    teacher = what.instructor
    whose = ""
    first: tuple[str, ...] = ()
    if "assistant" in (writer.role, reader.role) and (
        habit != "teacher" or teacher in (writer, reader, *named)
    ):
        # Assistants help with several classes, and know when they meet.
        whose = "the"
    elif teacher is writer:
        whose = "my"
    elif teacher is reader:
        whose = "your"
    elif teacher not in named:
        # Instructors alone call each other by the last name.
        title = "" if writer.role == "instructor" else "Professor "
        whose, first = f"{title}{teacher.last}'s", ("teacher",)
    if not whose:
        return
    # Nobody writes "my Friday class, Friday, May 8", if its hour says as well which it is; or the other way
    # around.
    clashes = {
        "clock": any(moment.hour == what.hour for moment in moments),
        "day": any(moment.weekday() == what.weekday for moment in moments),
    }
    usual = ("clock", "day") if habit == "hour" else ("day",)
    instead = [one for one in clashes if not clashes[one]] if clashes[usual[0]] else []
    for attribute in (*instead, *usual):
        yield whose, (*first, "clock") if attribute == "clock" else (*first, "day", "daypart")


def _phrase(course: Course, whose: str, by: Sequence[str]) -> str:
    """A noun phrase of attributes."""
    words = [whose, *(str(COURSE_ATTRIBUTES[name](course)) for name in _WORDS if name in by)]
    return f"{' '.join(words)} class"
