"""The course, its people and its dates, before anything is written."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from mesocosm.generators.course_assistant.expected import Student
from mesocosm.generators.course_assistant.params import Params
from mesocosm.kits.campus import domain_of
from mesocosm.kits.mailbox import awake
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject, Prose

_ZONES = (
    "America/Chicago", "America/New_York", "America/Los_Angeles", "America/Toronto", "Europe/London",
    "Australia/Sydney",
)  # fmt: skip
_COLLEGES = ("Ashford", "Barrow Hill", "Calder", "Denholm", "Eastmere", "Fairholt", "Glenrock", "Harrow Lake")


@dataclass(frozen=True)
class Plan:
    """Everything that the mails are written from."""

    university: str
    domain: str
    zone: ZoneInfo
    subject: CourseSubject
    assistant: Contact
    instructor: Contact
    students: tuple[Student, ...]
    people: dict[str, Contact]
    """Students' contacts by student ID."""
    first_deadline: dt.datetime
    """As announced first; a later mail moves it."""
    deadline: dt.datetime
    extended: dt.datetime
    """Until when students with an extension may hand in."""
    now: dt.datetime
    listed: dt.datetime
    """When the roster was written: whatever the instructor decided came later."""

    def local(self, moment: dt.datetime) -> dt.datetime:
        """A moment on the university's clocks."""
        return moment.astimezone(self.zone)


def plan_course(params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Draw the course and its students."""
    college = rng.choice(_COLLEGES)
    domain = domain_of(college)
    zone = ZoneInfo(rng.choice(_ZONES))
    assistant, instructor = (Contact.at(domain, prose) for _ in range(2))
    fates = params.fates()
    rng.shuffle(fates)
    students, people = _students(fates, rng, prose, domain, set())
    day = dt.date(2025, rng.choice((2, 3, 4, 10, 11)), rng.randint(8, 20))
    # An evening deadline lies on another day in UTC in most of these zones: mails show UTC.
    first = dt.datetime.combine(day, dt.time(rng.choice((12, 17, 18))), zone)
    deadline = dt.datetime.combine(day + dt.timedelta(days=rng.randint(2, 4)), dt.time(23, 59), zone)
    extended = dt.datetime.combine(deadline.date() + dt.timedelta(days=3), dt.time(12), zone)
    now = dt.datetime.combine(extended.date() + dt.timedelta(days=2), dt.time(9, rng.randint(0, 59)), zone)
    return Plan(
        university=f"{college} University",
        domain=domain,
        zone=zone,
        subject=prose.course_subject(),
        assistant=assistant,
        instructor=instructor,
        students=students,
        people=people,
        first_deadline=first.astimezone(dt.UTC),
        deadline=deadline.astimezone(dt.UTC),
        extended=extended.astimezone(dt.UTC),
        now=now.astimezone(dt.UTC),
        listed=awake(first.date() - dt.timedelta(days=rng.randint(22, 30)), rng, zone),
    )


def other_courses(plan: Plan, params: Params, rng: random.Random, prose: Prose) -> Iterator[Plan]:
    """Courses that the assistant helps with too, as large and as tangled as this one, without end.

    All are of one department, as whoever teaches or helps with several of them is.
    """
    taken = set(plan.people)
    instructor = plan.instructor
    while True:
        fates = params.fates()
        rng.shuffle(fates)
        students, people = _students(fates, rng, prose, plan.domain, taken)
        taken |= people.keys()
        earlier = dt.timedelta(days=rng.randint(-1, 1))
        yield replace(
            plan,
            subject=_related(plan.subject, prose),
            instructor=instructor,
            students=students,
            people=people,
            first_deadline=plan.first_deadline - earlier,
            deadline=plan.deadline - earlier,
            extended=plan.extended - earlier,
        )
        # The instructor in question teaches some of them.
        instructor = plan.instructor if rng.random() < 0.5 else Contact.at(plan.domain, prose)


def _related(subject: CourseSubject, prose: Prose) -> CourseSubject:
    """Another subject of the same department, whose title does not have this one's in it."""
    while True:
        other = prose.course_subject()
        if other.code_prefix == subject.code_prefix and subject.title not in other.title:
            return other


def _students(
    fates: list[str], rng: random.Random, prose: Prose, domain: str, taken: Collection[str]
) -> tuple[tuple[Student, ...], dict[str, Contact]]:
    drawn: dict[str, None] = {}
    while len(drawn) < len(fates):
        number = str(rng.randrange(2_000_000, 3_000_000))
        if number not in taken:
            drawn[number] = None
    numbers = list(drawn)
    contacts = [Contact.at(domain, prose) for _ in fates]
    # Two students share a name: the student ID and the address tell them apart.
    namesake, other = _first(fates, "submitted"), _first(fates, "silent")
    if namesake is not None and other is not None:
        person = contacts[namesake].person
        contacts[other] = Contact(person, f"{person.handle}2@{domain}")
    students = tuple(
        Student(name=contact.name, number=number, email=contact.email, fate=fate)
        for contact, number, fate in zip(contacts, numbers, fates, strict=True)
    )
    return students, dict(zip(numbers, contacts, strict=True))


def _first(fates: list[str], fate: str) -> int | None:
    return fates.index(fate) if fate in fates else None
