"""Names that people on the campus use for courses and one another."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.moments import Level
from mesocosm.kits.organisations.people import FORMAL, Person
from mesocosm.kits.organisations.referring_expressions import Attribute, Reference, distinguishing

COURSE_ATTRIBUTES: Mapping[str, Attribute] = {
    "code": lambda course: course.code,
    "title": lambda course: course.title,
    "short": lambda course: course.short,
    "day": lambda course: course.day,
    "daypart": lambda course: course.daypart,
    "teacher": lambda course: course.instructor.last,
    "building": lambda course: course.building,
}
_HABITS = {"meeting": "day", "teacher": "teacher"}
"""By which attribute people call a course who do not use its name."""


class CampusSpeaker:
    """Finds expressions that have one referent for their reader."""

    def __init__(
        self, courses: Sequence[Course], staff: Sequence[Person], instructors: Sequence[Person], me: Person
    ) -> None:
        self.courses, self.staff, self.instructors, self.me = courses, staff, instructors, me

    @classmethod
    def of(cls, campus: Campus, me: Person) -> CampusSpeaker:
        """Return the speaker of a campus, also for courses that are added to it later."""
        staff = [campus.secretary, campus.office, campus.technician, campus.librarian, *campus.assistants, me]
        return cls(campus.courses, staff, campus.instructors, me)

    def shared(self, writer: Person, reader: Person) -> list[Course]:
        """The courses that a writer and a reader both have to do with: among them the reader looks."""
        one, other = self.mine(writer), self.mine(reader)
        return [course for course in one if course in other]

    def context(self, writer: Person, reader: Person, what: Course) -> list[Course]:
        """Return what a course could be taken for: one that both have to do with, or else one of either."""
        shared = self.shared(writer, reader)
        return shared if what in shared else self.either(writer, reader)

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
    ) -> tuple[str, Reference]:
        """Return what a writer calls a course, so that the reader knows which."""
        if level == "explicit":
            by: tuple[str, ...] = ("title", "code") if rng.random() < 0.4 else ("title",)
            text = f"{what.title} ({what.code})" if "code" in by else what.title
            return text, Reference(text, "thing", what.code, by)
        by_habit = _HABITS.get(
            writer.habit if rng.random() < 0.7 else rng.choice(("short", "meeting", "teacher"))
        )
        # Nobody says "Rossi's class" to Rossi, nor "Rossi has moved the final in Rossi's class", and
        # Rossi says "the Tuesday class" to assistants alone.
        if by_habit == "teacher" and what.instructor in (writer, reader, *named):
            by_habit = "day"
        if by_habit == "day" and "assistant" not in (writer.role, reader.role):
            by_habit = None
        if by_habit is not None:
            chosen = distinguishing(what, self.context(writer, reader, what), (by_habit,), COURSE_ATTRIBUTES)
            if chosen is not None:
                text = _phrase(what, by_habit, writer)
                return text, Reference(text, "thing", what.code, (by_habit,))
        return what.short, Reference(what.short, "thing", what.code, ("short",))

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


def _phrase(course: Course, by: str, writer: Person) -> str:
    """A noun phrase of an attribute; instructors alone call each other by the last name."""
    if by != "teacher":
        return f"the {course.day} class"
    title = "" if writer.role == "instructor" else "Professor "
    return f"{title}{course.instructor.last}'s class"
