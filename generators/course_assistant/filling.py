"""Filling the world: the roster, the mailboxes, and everyday mail around the evidence."""

from __future__ import annotations

import random
from collections.abc import Iterator

from openpyxl import Workbook

from mesocosm.families.family import Evidence
from mesocosm.families.family import Expected as AnyExpected
from mesocosm.generators.course_assistant.expected import HEADER, ROSTER, SHEET, Expected
from mesocosm.generators.course_assistant.mails import Writer
from mesocosm.generators.course_assistant.params import REMINDED, Params
from mesocosm.generators.course_assistant.planning import Plan, plan_course
from mesocosm.kits.mailbox import EverydayMail, Mail, fill_mailbox, rest_text
from mesocosm.kits.moments import in_words
from mesocosm.kits.paging import SURVEYED, mails, sheet_cells
from mesocosm.kits.prose import Prose, Topic
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.calling import Tools
from mesocosm.worlds.world import World

_TOPICS: tuple[Topic, ...] = (
    "campus_life", "coursework", "newsletter", "events", "research", "it_support", "personal", "project_work",
    "meeting_minutes", "hr", "conference", "travel",
)  # fmt: skip


def generate(world: World, params: Params) -> Expected:
    """Build the assistant's world."""
    rng = world.rng
    prose = Prose(rng)
    plan = plan_course(params, rng, prose)
    world.set_now(plan.now)

    def domain(rng: random.Random) -> str:
        return (
            plan.domain if rng.random() < 0.6 else rng.choice(("postbox.net", "brightmail.org", "inkwell.io"))
        )

    everyday = EverydayMail(plan.assistant, plan.now, _TOPICS, domain, world.stream("everyday"), plan.subject)
    around, left = everyday.worth(params.filler_tokens, params.distraction_emails)
    first, *others = Writer(plan, prose, rng).mails()
    # What is too little for a mail of its own makes the instructor's first mail longer.
    rest = rest_text(Prose(world.stream("longer")), "course_admin", left, subject=plan.subject)
    evidence = [first.with_paragraph(rest, -1), *others]
    # Everybody on the roster has a mailbox: whether one exists says nothing about who is to be written to.
    fill_mailbox(world, plan.assistant, [*evidence, *around], [plan.instructor, *plan.people.values()])
    _write_roster(world, plan)
    return _expected(plan, evidence)


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
    world.workspace.write(ROSTER, save_workbook(workbook, world.now), world.now)


def _expected(plan: Plan, mails: list[Mail]) -> Expected:
    subject = f"{plan.subject.code_prefix.lower()}{plan.subject.number}-presentation-missing"
    return Expected(
        public={
            "assistant": plan.assistant.person.name,
            "assistant_email": plan.assistant.email,
            "instructor": plan.instructor.person.name,
            "instructor_email": plan.instructor.email,
            "course": plan.subject.title,
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
        yield Evidence(service="excel", contains=student.number)
    for mail in mails:
        yield Evidence(service="email", contains=mail.gist)
