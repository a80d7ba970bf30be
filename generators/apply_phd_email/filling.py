"""Filling the world: the documents, the memory, the mailbox, and everyday mail around the replies."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parseaddr

from mesocosm.families.family import Evidence
from mesocosm.families.family import Expected as AnyExpected
from mesocosm.generators.apply_phd_email.expected import ASKING, MATERIALS, Expected, Request, Silent
from mesocosm.generators.apply_phd_email.mails import LONGEST_FACT, TOPICS, Interests, Letters, Writer
from mesocosm.generators.apply_phd_email.params import Params
from mesocosm.generators.apply_phd_email.planning import (
    Plan,
    Professor,
    more_professors,
    plan_replies,
)
from mesocosm.kits.mailbox import (
    EverydayMail,
    Mail,
    MailWriter,
    fill_mailbox,
    last_received,
    rest_text,
    within,
)
from mesocosm.kits.paging import SURVEYED, mails
from mesocosm.kits.prose import Prose, RecentRuns, Topic
from mesocosm.servers.memory.store import MemoryStore
from mesocosm.servers.pdf_tools.store import write_pdf
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

# Not "admissions": mail about anything else must not look like a request for material.
_TOPICS: tuple[Topic, ...] = (
    "campus_life", "coursework", "newsletter", "events", "it_support", "personal", "travel",
)  # fmt: skip
_SIZES = (40, 260)
"""Tokens of what a mail says besides, if anything."""
_EVERYDAY = 0.15
"""The share of the filler that has nothing to do with anybody's application."""


def generate(world: World, params: Params) -> Expected:
    """Build the applicant's world."""
    rng = world.rng
    said = RecentRuns()
    prose = Prose(rng, said)
    receivers = Prose(world.stream(f"receivers {params.receiver_idx}")) if params.receiver_idx else None
    plan = plan_replies(params, rng, prose, receivers)
    world.set_now(plan.now)
    sizes = _SIZES if params.roomy else (0, 0)
    letters = Letters(plan, params, world.stream("letters"), answered=params.answered)
    interests = Interests(plan.material.field, world.stream("interests"))
    writer = Writer(plan, MailWriter(plan.applicant, rng, prose, sizes), letters, interests, rng, said)
    stories = [(who, writer.story(who, index)) for index, who in enumerate(plan.professors)]
    replies = [mail for _, story in stories for mail in story]
    needed = [mail for who, story in stories if _bears(who) for mail in story]
    more, alike, everyday, left = _around(world, params, plan, letters, interests, prose, said, sizes)
    # What is too little for a mail of its own makes one of a professor longer.
    longer = alike or replies
    place = last_received(longer)
    subject = interests.of(parseaddr(longer[place].sender)[1])
    rest = rest_text(Prose(world.stream("longer"), said), TOPICS[0], left, subject=subject)
    last = longer[place].with_paragraph(rest, 1)
    needed = [last if mail is longer[place] else mail for mail in needed]
    longer[place] = last
    written = letters.mails({who.contact.email for who in (*plan.professors, *more)})
    fill_mailbox(world, plan.applicant, [*replies, *alike, *everyday, *written])
    _fill_memory(world, plan)
    for path, pages in plan.material.pages.items():
        made = plan.material.made[path]
        world.workspace.fill([(path, write_pdf(pages, moment=made, creator="Writer"))], made)
    return _expected(plan, needed)


def _bears(who: Professor) -> bool:
    """True if whoever has not read all of a professor's mails may send something wrong, or nothing."""
    return who.fate in (*ASKING, "withdrawn")


def _around(
    world: World,
    params: Params,
    plan: Plan,
    letters: Letters,
    interests: Interests,
    people: Prose,
    said: RecentRuns,
    sizes: tuple[int, int],
) -> tuple[list[Professor], list[Mail], list[Mail], int]:
    """More professors who are to get nothing; their mails; everyday ones; the tokens that are left."""
    rng = world.stream("more professors")
    mail_writer = MailWriter(plan.applicant, rng, Prose(rng, said), sizes)
    writer = Writer(plan, mail_writer, letters, interests, rng, said)
    written: list[Professor] = []

    def groups() -> Iterator[list[Mail]]:
        for index, who in enumerate(more_professors(params, plan, rng, people)):
            written.append(who)
            yield writer.story(who, index)

    share = round(params.filler_tokens * (1 - _EVERYDAY))
    alike, left = within(share, groups(), plan.applicant)
    rest = world.stream("everyday")
    mails = MailWriter(plan.applicant, rest, Prose(rest, said), sizes)
    everyday = EverydayMail(
        mails, plan.now, _TOPICS, lambda _: plan.domain, people, fact=LONGEST_FACT, days=(1, 33),
        known=[who.contact for who in (*plan.professors, *written[:-1])], known_topics=TOPICS,
        thread=letters.answered, course=plan.material.field.subject(rest),
    )  # fmt: skip
    others, left = everyday.worth(left + params.filler_tokens - share)
    return written[:-1], alike, others, left


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
    for _ in mails(tools, *SURVEYED):
        pass


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
            (
                plan.university,
                "organization",
                ["The applicant's university; the degree there is nearly finished"],
            ),
        ],
        [(name, plan.university, "graduates from")],
    )


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
        yield Evidence(service="email", contains=mail.gist)
