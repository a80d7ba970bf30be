"""Filling the world: the documents, the memory, the mailbox, and everyday mail around the replies."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import replace

import orjson

from mesocosm import tokens
from mesocosm.family import Evidence
from mesocosm.family import Expected as AnyExpected
from mesocosm.generators.apply_phd_email.expected import MATERIALS, Expected, Request, Silent
from mesocosm.generators.apply_phd_email.mails import Mail, Writer
from mesocosm.generators.apply_phd_email.params import ASKING, Params
from mesocosm.generators.apply_phd_email.planning import Contact, Plan, Professor, plan_replies
from mesocosm.prose import Prose, Topic
from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.memory.store import MemoryStore
from mesocosm.servers.pdf_tools.store import write_pdf
from mesocosm.tools import Tools
from mesocosm.world import World

# Not "admissions": mail about anything else must not look like a request for material.
_TOPICS: tuple[Topic, ...] = (
    "campus_life", "coursework", "newsletter", "events", "research", "it_support", "personal", "project_work",
    "meeting_minutes", "hr", "conference", "travel", "household",
)  # fmt: skip
_FOLDERS = (("INBOX", 0.8), ("Archive", 0.95), ("Spam", 1.0))
_JSON_AROUND = 203
"""Tokens of the JSON around a mail, in its listing and in itself, measured on whole worlds."""
_SMALLEST, _LARGEST = 60, 330
_PAGE = 100


def generate(world: World, params: Params) -> Expected:
    """Build the applicant's world."""
    rng = world.rng
    prose = Prose(rng)
    plan = plan_replies(params, rng, prose)
    world.set_now(plan.now)
    everyday, left = _everyday(plan, params, world.stream("everyday"))
    # What is too little for a mail of its own makes a reply longer.
    first, *others = Writer(plan, prose, rng).mails()
    replies = [_longer(first, left, world.stream("longer")), *others]
    _fill_mailbox(world, plan, [*replies, *everyday])
    _fill_memory(world, plan)
    world.workspace.fill(_files(plan), plan.now - dt.timedelta(days=2))
    return _expected(plan, replies)


def survey(tools: Tools, expected: AnyExpected) -> None:
    """Read the memory, every document, and every mail of every folder."""
    assert isinstance(expected, Expected)
    tools.call("memory", "read_graph")
    tools.call("filesystem", "list_directory", path=".")
    tools.call("filesystem", "list_directory", path=MATERIALS)
    for path in sorted(expected.documents):
        pages = len(expected.documents[path])
        tools.call("pdf_tools", "read_pdf_pages", pdf_file_path=path, start_page=1, end_page=pages)
    tools.call("email", "get_folders")
    for folder in ("INBOX", "Archive", "Spam", "Sent", "Trash"):
        page, pages = 1, 1
        while page <= pages:
            listed = tools.call("email", "get_emails", folder=folder, page=page, page_size=_PAGE)
            pages = listed["total_pages"]
            for mail in listed["emails"]:
                tools.call("email", "read_email", email_id=mail["id"])
            page += 1


def _longer(mail: Mail, size: int, rng: random.Random) -> Mail:
    if size < 10:
        return mail
    greeting, _, rest = mail.body.partition("\n\n")
    return replace(mail, body=f"{greeting}\n\n{Prose(rng).text('research', size)}\n\n{rest}")


def _everyday(plan: Plan, params: Params, rng: random.Random) -> tuple[list[Mail], int]:
    """Mails about anything else, and the tokens of the filler that are left."""
    prose = Prose(rng)
    mails = []
    left = params.filler_tokens
    while left >= _JSON_AROUND + _SMALLEST:
        mail = _ordinary(plan, prose, rng, min(rng.randint(_SMALLEST, _LARGEST), left - _JSON_AROUND))
        mails.append(mail)
        left -= _cost(mail)
    return mails, left


def _ordinary(plan: Plan, prose: Prose, rng: random.Random, size: int) -> Mail:
    person = prose.person()
    domain = rng.choice(
        (
            "campusmail.edu",
            "campusmail.edu",
            "postbox.net",
            "brightmail.org",
            "calder.edu",
            "denholm.state.edu",
        )
    )
    # A middle mark keeps these addresses apart from those of professors and their assistants.
    sender = Contact(person, f"{person.handle}.{rng.randint(10, 99)}@{domain}")
    message = prose.message(rng.choice(_TOPICS), size, person, plan.applicant.person)
    moment = plan.now - dt.timedelta(minutes=rng.randint(60, 40 * 24 * 60))
    draw = rng.random()
    folder = next(name for name, until in _FOLDERS if draw <= until)
    return Mail(sender, moment, message.subject, message.body, folder=folder)


def _cost(mail: Mail) -> int:
    body = tokens.count(orjson.dumps(mail.body).decode())
    return _JSON_AROUND + body + 2 * tokens.count(mail.subject)


def _fill_mailbox(world: World, plan: Plan, mails: list[Mail]) -> None:
    store = world.store(EmailStore)
    applicant = plan.applicant
    email = applicant.email
    store.create_accounts([{"email": email, "name": applicant.person.name, "password": f"{email}!"}])
    rng = world.stream("read")
    for folder, _ in _FOLDERS:
        ordered = sorted(
            (mail for mail in mails if mail.folder == folder), key=lambda mail: (mail.moment, mail.subject)
        )
        store.add_emails(
            email,
            folder,
            [
                {
                    "sender": mail.sender.header,
                    "to": applicant.header,
                    "subject": mail.subject,
                    "body": mail.body,
                    "date": mail.moment,
                    "is_read": rng.random() < 0.6,
                }
                for mail in ordered
            ],
        )
    store.sign_in(email)


def _facts(plan: Plan) -> list[str]:
    year = plan.now.year
    return [
        f"Full name: {plan.applicant.person.name}",
        f"Last name on forms and in file names: {plan.applicant.person.last}",
        f"Applicant number of the {year - 1} round, no longer valid: {plan.outdated_number}",
        f"Applicant number of the {year} round: {plan.number}",
        f"First referee: {plan.referees[0]}",
        f"Second referee: {plan.referees[1]}",
    ]


def _fill_memory(world: World, plan: Plan) -> None:
    name = plan.applicant.person.name
    world.store(MemoryStore).add_graph(
        [
            (name, "person", _facts(plan)),
            (plan.university, "organization", ["The applicant's college until this summer"]),
        ],
        [(name, plan.university, "graduates from")],
    )


def _files(plan: Plan) -> Iterator[tuple[str, bytes]]:
    for path, pages in plan.material.pages.items():
        yield path, write_pdf(pages, moment=plan.now - dt.timedelta(days=2))


def _expected(plan: Plan, replies: list[Mail]) -> Expected:
    now = plan.now
    return Expected(
        public={
            "applicant": plan.applicant.person.name,
            "applicant_email": plan.applicant.email,
            "today": f"{now:%A}, {now:%B} {now.day}, {now.year}",
            "year": str(now.year),
        },
        evidence=list(_evidence(plan, replies)),
        applicant=plan.applicant.email,
        subject=f"submit_material {plan.number}",
        number=plan.number,
        outdated_number=plan.outdated_number,
        requests=[_request(plan, who) for who in plan.professors if who.fate in ASKING],
        others=[
            Silent(name=who.contact.person.name, address=who.contact.email, fate=who.fate)
            for who in plan.professors
            if who.fate not in ASKING
        ],
        documents=plan.material.pages,
        older=plan.material.older,
    )


def _request(plan: Plan, who: Professor) -> Request:
    return Request(
        professor=who.contact.person.name,
        own_address=who.contact.email,
        address=(who.assistant or who.contact).email,
        fate=who.fate,
        files=tuple(map(plan.file, who.wanted)),
        superseded=tuple(map(plan.file, who.superseded)),
    )


def _evidence(plan: Plan, replies: list[Mail]) -> Iterator[Evidence]:
    yield Evidence(service="memory", contains=plan.number)
    for pages in plan.material.pages.values():
        # The second line is in no other document.
        yield Evidence(service="pdf_tools", contains=pages[0].split("\n")[1])
    for mail in replies:
        # The middle of the body is in the mail itself and in no listing.
        yield Evidence(service="email", contains=mail.body.partition("\n\n")[2])
