"""The campus directory of people and courses as data, against which expressions are evaluated again."""

from __future__ import annotations

import datetime as dt
import re
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.campus.speaker import COURSE_ATTRIBUTES, CampusSpeaker
from mesocosm.kits.organisations.derivations import DerivationStep
from mesocosm.kits.organisations.people import Person


class PersonRow(BaseModel):
    first: str
    last: str
    sex: str
    role: str
    email: str
    number: str = ""


class CourseRow(BaseModel):
    """A course of a list, with its class."""

    code: str
    title: str
    short: str
    section: str
    weekday: int
    hour: int
    room: str
    instructor: str
    credits: float
    topics: dict[str, str]
    """The topic of each student's talk, by address: the class, in its order."""
    listed: bool = True
    """True if it is one of the owner's courses."""


class Lists(BaseModel):
    university: str
    domain: str
    zone: str
    now: dt.datetime
    """Local."""
    me: str
    people: list[PersonRow]
    courses: list[CourseRow]
    staff: dict[str, str]
    """Addresses of the secretary, the office, the technician and the librarian."""

    @classmethod
    def of(cls, campus: Campus, me: Person) -> Lists:
        """Write down the lists of a campus."""
        staff = {
            "secretary": campus.secretary,
            "office": campus.office,
            "technician": campus.technician,
            "librarian": campus.librarian,
        }
        everybody = [me, *staff.values(), *campus.assistants, *campus.instructors]
        everybody += [student for course in campus.courses for student in course.students]
        return cls(
            university=campus.university,
            domain=campus.domain,
            zone=str(campus.zone),
            now=campus.now,
            me=me.email,
            people=[
                PersonRow(
                    first=who.first,
                    last=who.last,
                    sex=who.sex,
                    role=who.role,
                    email=who.email,
                    number=who.number,
                )
                for who in dict.fromkeys(everybody)
            ],
            courses=[
                CourseRow(
                    code=course.code,
                    title=course.title,
                    short=course.short,
                    section=course.section,
                    weekday=course.weekday,
                    hour=course.hour,
                    room=course.room,
                    instructor=course.instructor.email,
                    credits=course.credits,
                    topics={who.email: course.topic[who] for who in course.students},
                    listed=course.listed,
                )
                for course in campus.courses
            ],
            staff={name: who.email for name, who in staff.items()},
        )


class Directory:
    """Looks expressions up in lists."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists

    @property
    def university(self) -> str:
        """Its name."""
        return self._lists.university

    @property
    def zone(self) -> str:
        """The time zone of its clocks."""
        return self._lists.zone

    @property
    def now(self) -> dt.datetime:
        """The clock, local."""
        return self._lists.now

    @property
    def secretary(self) -> Person:
        """The secretary of the department."""
        return self.people[self._lists.staff["secretary"]]

    @property
    def colleagues(self) -> list[Person]:
        """The other assistants."""
        return [who for who in self.people.values() if who.role == "assistant" and who is not self.me]

    @property
    def office(self) -> Person:
        """The person at the exam office."""
        return self.people[self._lists.staff["office"]]

    @cached_property
    def people(self) -> dict[str, Person]:
        """Everybody, by address."""
        return {
            row.email: Person(row.first, row.last, row.sex, row.role, row.email, row.number)
            for row in self._lists.people
        }

    @cached_property
    def courses(self) -> dict[str, Course]:
        """The courses, by code."""
        found = {}
        for row in self._lists.courses:
            course = Course(
                row.code,
                row.title,
                row.short,
                row.section,
                row.weekday,
                row.hour,
                row.room,
                self.people[row.instructor],
                row.credits,
                list(row.topics.values()),
            )
            course.listed = row.listed
            course.students = [self.people[email] for email in row.topics]
            course.topic = {self.people[email]: topic for email, topic in row.topics.items()}
            found[row.code] = course
        return found

    @cached_property
    def me(self) -> Person:
        """The owner of the mailbox."""
        return self.people[self._lists.me]

    @cached_property
    def _speaker(self) -> CampusSpeaker:
        people = self.people
        assistants = [who for who in people.values() if who.role == "assistant"]
        staff = dict.fromkeys(
            [*(people[email] for email in self._lists.staff.values()), *assistants, self.me]
        )
        instructors = [who for who in people.values() if who.role == "instructor"]
        return CampusSpeaker(list(self.courses.values()), list(staff), instructors, self.me)

    def thing_of(self, code: str) -> Course | None:
        """Return the course with a code; None if there is none."""
        return self.courses.get(code)

    def things(self, step: DerivationStep) -> list[Course]:
        """Return all courses that a writer and a reader share and that an expression can mean."""
        sender, to = self.people[step.sender], self.people[step.to]
        found = [course for course in self._speaker.shared(sender, to) if _fits(course, step)]
        return found or [course for course in self._speaker.either(sender, to) if _fits(course, step)]

    def person(self, step: DerivationStep, course: Course) -> list[Person]:
        """Return everybody around a course that an expression can mean."""
        match step.expression:
            case "from":
                return [self.people[step.sender]]
            case "to":
                return [self.people[step.to]]
            case "owner":
                return [self.me]
        [by] = step.by
        said = step.expression
        known = self._speaker.known(course)
        if by == "topic":
            return [who for who in course.students if course.topic[who].lower() == said.lower()]
        if by == "number":
            return [who for who in known if who.number and who.number in said]
        if by == "last":
            others = {who.email: who for who in (*known, *self._speaker.instructors)}
            return [who for who in others.values() if said.endswith(who.last) and who.role == "instructor"]
        everybody: dict[str, Any] = {who.email: who for who in known}
        if by == "full" or not any(getattr(who, by).lower() == said.lower() for who in known):
            everybody |= {who.email: who for who in self._speaker.instructors}
        return [who for who in everybody.values() if getattr(who, by).lower() == said.lower()]


def _fits(course: Course, step: DerivationStep) -> bool:
    """True if the words can mean the course."""
    phrases = {name: str(COURSE_ATTRIBUTES[name](course)) for name in step.by}
    if step.by in (("title",), ("short",)):
        return phrases[step.by[0]].lower() == step.expression.lower()
    return all(re.search(rf"\b{re.escape(phrase)}\b", step.expression) for phrase in phrases.values())
