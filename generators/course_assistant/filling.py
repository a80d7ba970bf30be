"""Filling the world: the roster, the mailboxes, and everyday mail around the evidence."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from openpyxl import Workbook

from mesocosm.families.family import Evidence
from mesocosm.families.family import Expected as AnyExpected
from mesocosm.generators.course_assistant.expected import HEADER, ROSTER, SHEET, Expected
from mesocosm.generators.course_assistant.mails import INSTRUCTORS, STUDENTS, Writer
from mesocosm.generators.course_assistant.params import REMINDED, Params
from mesocosm.generators.course_assistant.planning import Plan, other_courses, plan_course
from mesocosm.kits.mailbox import (
    EverydayMail,
    Mail,
    MailWriter,
    fill_mailbox,
    rest_text,
    within,
)
from mesocosm.kits.moments import in_words
from mesocosm.kits.paging import SURVEYED, mails, sheet_cells
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose, Said, Topic
from mesocosm.kits.wording import Phrases
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

_TOPICS: tuple[Topic, ...] = (
    "campus_life", "newsletter", "events", "research", "it_support", "personal", "hr", "conference", "travel",
)  # fmt: skip
_PRIVATE: tuple[Topic, ...] = ("newsletter", "research", "personal", "conference", "travel")
"""What those write about who are not at the university."""
_ELSEWHERE = ("postbox.example", "brightmail.example", "inkwell.example")
_SIZES = (15, 170)
"""Tokens of what a mail says besides; in a course that only just has every case, nothing."""
_SMALL = 20
_EVERYDAY = 0.1
"""The share of the filler that has nothing to do with anybody's coursework."""
_ASIDE = 0.08
"""How many mails there are, for each student, that say nothing about whether a presentation counts."""


def generate(world: World, params: Params) -> Expected:
    """Build the assistant's world."""
    rng = world.rng
    said = Said()
    prose = Prose(rng, said)
    plan = plan_course(params, rng, prose)
    world.set_now(plan.now)
    sizes = _SIZES if params.num_students > _SMALL else (0, 0)
    mails = MailWriter(plan.assistant, rng, prose, sizes)
    own = Writer(plan, mails, Phrases(rng, said), rng)
    evidence = own.deadlines()
    for index, student in enumerate(plan.students):
        evidence += own.story(student, index)
    alike, everyday, contacts, left = _around(world, params, plan, prose, said, sizes)
    # What is too little for a mail of its own makes one of the instructor's about this course longer.
    rest = rest_text(Prose(world.stream("longer"), said), "teaching", left, subject=plan.subject)
    theirs = plan.instructor.header
    longer = everyday if any(mail.sender == theirs for mail in everyday) else evidence
    last = max(place for place, mail in enumerate(longer) if mail.sender == theirs)
    longer[last] = longer[last].with_paragraph(rest, 1)
    # Everybody on a roster has a mailbox: whether one exists says nothing about who is to be written to.
    fill_mailbox(
        world,
        plan.assistant,
        _one_by_one([*evidence, *alike, *everyday], plan),
        [plan.instructor, *plan.people.values(), *contacts],
    )
    _write_roster(world, plan)
    return _expected(plan, evidence)


def _one_by_one(mails: Sequence[Mail], plan: Plan) -> list[Mail]:
    """The mails, of which the instructor writes no two within minutes; what was answered stays."""
    answered = {mail.answers for mail in mails}
    found: list[Mail] = []
    last: dt.datetime | None = None
    for mail in sorted(mails, key=lambda mail: (mail.moment, mail.subject)):
        kept = mail
        if mail.sender == plan.instructor.header:
            gap = dt.timedelta(minutes=13 + mail.moment.minute % 29, seconds=mail.moment.second)
            moment = max(mail.moment, last + gap) if last else mail.moment
            if mail.thread.message_id not in answered and moment < plan.now:
                kept = replace(mail, moment=moment)
            last = kept.moment
        found.append(kept)
    return found


def _around(
    world: World, params: Params, plan: Plan, people: Prose, said: Said, sizes: tuple[int, int]
) -> tuple[list[Mail], list[Mail], list[Contact], int]:
    """Mails of other courses and about other coursework; everyday ones; who wrote the former; and the tokens
    that are left."""
    rng = world.stream("other courses")
    writer = MailWriter(plan.assistant, rng, Prose(rng, said), sizes)
    courses: list[Plan] = []
    groups = _other_groups(params, plan, people, writer, courses, said)
    alike, left = within(round(params.filler_tokens * (1 - _EVERYDAY)), groups, plan.assistant)
    left += params.filler_tokens - round(params.filler_tokens * (1 - _EVERYDAY))
    senders = {mail.sender for mail in alike}
    contacts = [one for course in courses for one in (course.instructor, *course.people.values())]
    known = [contact for contact in contacts if contact.header in senders]
    instructors = {plan.instructor, *(course.instructor for course in courses)}

    def domain(rng: random.Random) -> str:
        return plan.domain if rng.random() < 0.8 else rng.choice(_ELSEWHERE)

    def topics_from(domain: str) -> Sequence[Topic]:
        return _PRIVATE if domain in _ELSEWHERE else _TOPICS

    def topics_of(sender: Contact) -> Sequence[Topic]:
        return INSTRUCTORS if sender in instructors else STUDENTS

    rest = world.stream("everyday")
    everyday = EverydayMail(
        MailWriter(plan.assistant, rest, Prose(rest, said), sizes), plan.now, _TOPICS, domain, people,
        fact=10, days=(3, 17), zone=plan.zone, course=plan.subject, attached=0.65,
        known=[*plan.people.values(), plan.instructor, *known], topics_of=topics_of,
        topics_from=topics_from,
    )  # fmt: skip
    mails, left = everyday.worth(left, params.distraction_emails)
    return alike, mails, known, left


def _other_groups(
    params: Params, plan: Plan, people: Prose, writer: MailWriter, courses: list[Plan], said: Said
) -> Iterator[list[Mail]]:
    rng = writer.rng
    phrases = Phrases(rng, said)
    own = Writer(plan, writer, phrases, rng)
    for course in other_courses(plan, params, rng, people):
        other = Writer(course, writer, phrases, rng)
        courses.append(course)
        yield other.deadlines()
        for index, student in enumerate(course.students):
            yield other.story(student, index)
            for course_writer, students in ((other, course.students), (own, plan.students)):
                if rng.random() < _ASIDE:
                    yield course_writer.aside(rng.choice(students))


def survey(tools: Tools, expected: AnyExpected) -> None:
    """Read the roster, and every mail of every folder."""
    tools.call("filesystem", "list_directory", path=".")
    for _ in sheet_cells(tools, ROSTER, SHEET):
        pass
    tools.call("email", "get_folders")
    for _ in mails(tools, *SURVEYED):
        pass


def _write_roster(world: World, plan: Plan) -> None:
    workbook = Workbook()
    sheet = workbook.worksheets[0]
    sheet.title = SHEET
    sheet.append(list(HEADER))
    for student in plan.students:
        gone = student.fate in ("dropped", "reinstated")
        sheet.append([student.name, student.number, student.email, "dropped" if gone else "enrolled"])
    world.workspace.write(ROSTER, save_workbook(workbook, plan.listed), plan.listed)


def _expected(plan: Plan, mails: list[Mail]) -> Expected:
    subject = f"{plan.subject.code.lower().replace(' ', '')}-presentation-missing"
    return Expected(
        public={
            "assistant": plan.assistant.person.name,
            "assistant_email": plan.assistant.email,
            "instructor": plan.instructor.person.name,
            "instructor_email": plan.instructor.email,
            "course": plan.subject.title,
            "code": plan.subject.code,
            "listed": f"{plan.local(plan.listed):%B} {plan.local(plan.listed).day}",
            "university": plan.university,
            "zone": str(plan.zone),
            "now": in_words(plan.local(plan.now)),
            "subject": subject,
        },
        evidence=list(_evidence(plan, mails)),
        assistant=plan.assistant.email,
        subject=subject,
        reminded=[student for student in plan.students if student.fate in REMINDED],
        others=[student for student in plan.students if student.fate not in REMINDED],
    )


def _evidence(plan: Plan, mails: list[Mail]) -> Iterator[Evidence]:
    for student in plan.students:
        for cell in (student.number, student.name, student.email):
            yield Evidence(service="excel", contains=f'"value":"{cell}"')
    for cell in (*HEADER, "enrolled", "dropped"):
        yield Evidence(service="excel", contains=f'"value":"{cell}"')
    for mail in mails:
        if mail.folder != "Sent":
            yield Evidence(service="email", contains=mail.gist)
