"""Filling the world: the roster, the mailboxes, and everyday mail around the evidence."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import replace

import orjson
from openpyxl import Workbook

from mesocosm import tokens
from mesocosm.family import Evidence
from mesocosm.family import Expected as AnyExpected
from mesocosm.generators.course_assistant.expected import HEADER, ROSTER, SHEET, Expected
from mesocosm.generators.course_assistant.mails import Mail, Writer
from mesocosm.generators.course_assistant.params import REMINDED, Params
from mesocosm.generators.course_assistant.planning import Contact, Plan, plan_course
from mesocosm.prose import Prose, Topic
from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.excel.store import save_workbook
from mesocosm.tools import Tools
from mesocosm.world import World

_TOPICS: tuple[Topic, ...] = (
    "campus_life", "coursework", "newsletter", "events", "research", "it_support", "personal", "project_work",
    "meeting_minutes", "hr", "conference", "travel",
)  # fmt: skip
_FOLDERS = (("INBOX", 0.8), ("Archive", 0.95), ("Spam", 1.0))
_JSON_AROUND = 203
"""Tokens of the JSON around a mail, in its listing and in itself, measured on whole worlds."""
_SMALLEST, _LARGEST = 60, 330
_PAGE = 100


def generate(world: World, params: Params) -> Expected:
    """Build the assistant's world."""
    rng = world.rng
    prose = Prose(rng)
    plan = plan_course(params, rng, prose)
    world.set_now(plan.now)
    everyday, left = _everyday(plan, params, world.stream("everyday"))
    # What is too little for a mail of its own makes the instructor's first mail longer.
    first, *others = Writer(plan, prose, rng).mails()
    evidence = [_longer(first, left, plan, world.stream("longer")), *others]
    mails = [*evidence, *everyday]
    _fill_mailboxes(world, plan, mails)
    _write_roster(world, plan)
    return _expected(plan, evidence)


def survey(tools: Tools, expected: AnyExpected) -> None:
    """Read the roster, and every mail of every folder."""
    tools.call("filesystem", "list_directory", path=".")
    start: str | None = "A1"
    while start:
        read = tools.call(
            "excel", "read_data_from_excel", filepath=ROSTER, sheet_name=SHEET, start_cell=start
        )
        start = read.get("next_start_cell")
    tools.call("email", "get_folders")
    for folder in ("INBOX", "Archive", "Spam", "Sent", "Trash"):
        page, pages = 1, 1
        while page <= pages:
            listed = tools.call("email", "get_emails", folder=folder, page=page, page_size=_PAGE)
            pages = listed["total_pages"]
            for mail in listed["emails"]:
                tools.call("email", "read_email", email_id=mail["id"])
            page += 1


def _longer(mail: Mail, size: int, plan: Plan, rng: random.Random) -> Mail:
    if size < 10:
        return mail
    text = Prose(rng).text("course_admin", size, subject=plan.subject)
    head, _, signature = mail.body.rpartition("\n\n")
    return replace(mail, body=f"{head}\n\n{text}\n\n{signature}")


def _everyday(plan: Plan, params: Params, rng: random.Random) -> tuple[list[Mail], int]:
    """Mails about anything else, and the tokens of the filler that are left."""
    prose = Prose(rng)
    mails = [
        _ordinary(plan, prose, rng, rng.randint(_SMALLEST, _LARGEST))
        for _ in range(params.distraction_emails)
    ]
    left = params.filler_tokens
    while left >= _JSON_AROUND + _SMALLEST:
        mail = _ordinary(plan, prose, rng, min(rng.randint(_SMALLEST, _LARGEST), left - _JSON_AROUND))
        mails.append(mail)
        left -= _cost(mail)
    return mails, left


def _ordinary(plan: Plan, prose: Prose, rng: random.Random, size: int) -> Mail:
    person = prose.person()
    domain = (
        plan.domain if rng.random() < 0.6 else rng.choice(("postbox.net", "brightmail.org", "inkwell.io"))
    )
    # A middle mark keeps these addresses apart from those of students and staff.
    sender = Contact(person, f"{person.handle}.{rng.randint(10, 99)}@{domain}")
    topic = rng.choice(_TOPICS)
    subject = plan.subject if topic == "coursework" else None
    message = prose.message(topic, size, person, plan.assistant.person, subject=subject)
    moment = plan.now - dt.timedelta(minutes=rng.randint(60, 40 * 24 * 60))
    draw = rng.random()
    folder = next(name for name, until in _FOLDERS if draw <= until)
    return Mail(sender, moment, message.subject, message.body, folder=folder)


def _cost(mail: Mail) -> int:
    body = tokens.count(orjson.dumps(mail.body).decode())
    return _JSON_AROUND + body + 2 * tokens.count(mail.subject)


def _fill_mailboxes(world: World, plan: Plan, mails: list[Mail]) -> None:
    store = world.store(EmailStore)
    staff = [plan.assistant, plan.instructor]
    # Everybody on the roster has a mailbox: whether one exists says nothing about who is to be written to.
    accounts = [(contact.email, contact.person.name) for contact in [*staff, *plan.people.values()]]
    store.create_accounts(
        [{"email": email, "name": name, "password": f"{email}!"} for email, name in accounts]
    )
    assistant = plan.assistant
    rng = world.stream("read")
    for folder, _ in _FOLDERS:
        ordered = sorted(
            (mail for mail in mails if mail.folder == folder), key=lambda mail: (mail.moment, mail.subject)
        )
        store.add_emails(
            assistant.email,
            folder,
            [
                {
                    "sender": mail.sender.header,
                    "to": assistant.header,
                    "subject": mail.subject,
                    "body": mail.body,
                    "date": mail.moment,
                    "is_read": rng.random() < 0.6,
                    "attachments": [{"filename": mail.file, "data": _slides(mail)}] if mail.file else [],
                }
                for mail in ordered
            ],
        )
    store.sign_in(assistant.email)


def _slides(mail: Mail) -> bytes:
    """Something to attach: what is in it does not matter to anybody."""
    return f"{mail.file} {mail.moment:%Y-%m-%d}".encode()


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
    local = plan.local(plan.now)
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
            "now": f"{local:%A}, {local:%B} {local.day}, {local.year}, {local:%H:%M}",
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
        # The middle of the body is in the mail itself and in no listing.
        yield Evidence(service="email", contains=mail.body.partition("\n\n")[2])
