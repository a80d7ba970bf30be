"""A student's campus: the courses that one student takes, and the exams in them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mesocosm.families.family import Evidence
from mesocosm.kits.organisations.campus.directory import Lists
from mesocosm.kits.organisations.campus.exams import LARGE, NEUTRAL, Exams, Noun
from mesocosm.kits.organisations.campus.platform import heading, place_on_canvas
from mesocosm.kits.organisations.campus.setting import Campus, Course
from mesocosm.kits.organisations.campus.speaker import CampusSpeaker
from mesocosm.kits.organisations.delivery import deliver_mail
from mesocosm.kits.organisations.events import Story
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.questions import Organisation
from mesocosm.services.world import World

_DAY = dt.timedelta(days=1)
_CLASS = (7, 12)
"""So many fellow students of each course are on its list."""
_SHARED = 0.8
"""The share of the other courses that are taught by instructors of one's own."""
_OTHERS, _MORE_OTHERS = 2, 3
"""So many courses off the list write for each on it; in large worlds."""


@dataclass
class Studies:
    """A student with courses, before anything is said about exams."""

    campus: Campus
    me: Person
    exams: Exams
    fellows: list[Person]

    @classmethod
    def drawn(cls, stream: Any, noun: Noun, number: int) -> Studies:
        """Draw a campus, and a student with ``number`` courses, some by the same instructors.

        Others still write to the student, who dropped them or only sits in on them.
        """
        campus = Campus.drawn(stream)
        rng = stream("studies")
        me = campus.naming.person("student", "B.A.")
        me.early, me.late = 8, 23
        campus.now = dt.datetime(2026, 4, rng.randint(7, 22), 9, rng.randrange(60))
        while campus.now.weekday() > 4:
            campus.now += _DAY
        fellows: list[Person] = []
        for _ in range(number):
            shared = len(campus.instructors) > 2 and rng.random() < 0.25
            instructor = campus.some_instructor(rng) if shared else None
            course = campus.add_course(instructor, rng.randint(*_CLASS), fellows)
            fellows = list(dict.fromkeys([*fellows, *course.students]))[-40:]
            course.students.append(me)
            course.topic[me] = ""
        for _ in range(max(3, number * (_MORE_OTHERS if number > LARGE else _OTHERS))):
            instructor = campus.some_instructor(rng) if rng.random() < _SHARED else None
            campus.add_course(instructor, rng.randint(*_CLASS), fellows, listed=False)
        for _ in range(max(8, number)):
            instructor = campus.some_instructor(rng)
            campus.add_course(instructor, rng.randint(*_CLASS), fellows, listed=False, bulletins=True)
        while len(campus.instructors) < 4:
            campus.instructors.append(campus.naming.person("instructor"))
        return cls(campus, me, Exams(campus, me, noun, stream("exams")), fellows)

    def organisation(
        self,
        stories: Sequence[Story],
        stream: Any,
        records: Mapping[str, Any],
        *,
        codes: Callable[[Course], str] = lambda course: course.code,
        besides: Callable[[World], Sequence[Evidence]] = lambda world: (),
    ) -> Organisation:
        """Return what is to be told and delivered: on Canvas and by mail."""
        campus, me = self.campus, self.me

        def place(world: World, letters: Sequence[Letter], budget: int) -> list[Evidence]:
            place_on_canvas(
                world, campus, me, letters, budget, codes={course: codes(course) for course in campus.listed}
            )
            people = [who for one in campus.courses for who in (one.instructor, *one.students)]
            staff = [
                campus.secretary,
                campus.office,
                campus.technician,
                campus.librarian,
                *campus.assistants,
                *campus.instructors,
            ]
            others = [who for who in dict.fromkeys([*staff, *people]) if who is not me]
            deliver_mail(world, me, letters, others, campus.zone)
            listed = [
                Evidence(service="canvas", contains=f'"course_code":"{codes(course)}"')
                for course in campus.listed
            ]
            # Who teaches a course, at which address, and what it is worth stands in its syllabus.
            taught = [Evidence(service="canvas", contains=heading(course)) for course in campus.listed]
            return [*listed, *taught, *besides(world)]

        return Organisation(
            now=campus.now,
            zone=campus.zone,
            me=me,
            stories=list(self.exams.in_bulletins(stories, stream("bulletins"))),
            further=self.exams.distractions(stream),
            speaker=CampusSpeaker.of(campus, me, campus.listed),
            lists=lambda: Lists.of(campus, me),
            place=place,
            neutral=NEUTRAL,
            channels=frozenset({"mail", "announcement", "conversation"}),
            records=records,
            shared=len(campus.listed) > LARGE,
        )
