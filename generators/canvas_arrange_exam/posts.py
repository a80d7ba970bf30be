"""A world's texts before they are stored: who writes what to whom, where and when; and who else there is."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from mesocosm.generators.canvas_arrange_exam.courses import Channel, Course, Plan
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Person, Prose


@dataclass(frozen=True)
class Post:
    """An announcement, a mail or a conversation."""

    channel: Channel
    moment: dt.datetime
    author: Contact
    subject: str
    body: str
    course: Course | None = None
    answers: tuple[tuple[Contact, str], ...] = ()
    """Further messages of a conversation, each some time after the one before."""
    to: str = ""
    """As the To header of a mail shows it; empty: the student."""


class People:
    """Those around the student who have nothing to say about finals, with addresses of their own."""

    def __init__(self, plan: Plan, prose: Prose, number: int) -> None:
        known = [plan.campus.student]
        for course in plan.courses:
            known += [course.instructor, course.assistant, *([course.proctor] if course.proctor else [])]
        self._names = {contact.name for contact in known}
        self._emails = {contact.email for contact in known}
        self._campus = plan.campus
        self._prose = prose
        self.teachers: list[Contact] = []
        """Of courses that the student does not take."""
        self.classmates = [self._new(plan.campus.domain) for _ in range(number)]

    def _new(self, domain: str) -> Contact:
        while True:
            person = self._prose.person()
            email = f"{person.handle}@{domain}"
            if person.name not in self._names and email not in self._emails:
                return Contact(person, email)

    def desk(self, name: str) -> Contact:
        """A sender that is not a person."""
        first, _, last = name.rpartition(" ")
        return Contact(
            Person(first or last, last if first else "", last.lower()),
            f"{last.lower()}@{self._campus.domain}",
        )
