"""The applicant, the professors and what they want, before anything is written."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

from mesocosm.generators.apply_phd_email.documents import Material, draw_material
from mesocosm.generators.apply_phd_email.expected import ASKING, File
from mesocosm.generators.apply_phd_email.params import STRUCTURES, Params
from mesocosm.generators.apply_phd_email.wording import POSITIONS
from mesocosm.kits.campus import domain_of
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Person, Prose

_COLLEGES = ("Ashford", "Barrow Hill", "Calder", "Denholm", "Eastmere", "Fairholt", "Glenrock", "Harrow Lake")
_KINDS = ("University", "Institute of Technology", "State University")
_SHORT = {"University": "", "Institute of Technology": "tech", "State University": "state"}

_AT_HOME = 0.12
"""The share of the professors whom the applicant knows by sight."""

Wanted = tuple[str, tuple[str, ...]]
"""The name of a file as a professor writes it, and the kinds of documents in it, in order."""

_CERTIFICATES = ("awards_oldest_first", "awards_newest_first")
_MERGED = ("[LASTNAME]_[APPLICANTNO]_Application.pdf", "Application_[LASTNAME].pdf",
           "[APPLICANTNO]-[LASTNAME].pdf", "PhD_[APPLICANTNO].pdf")  # fmt: skip
_AWARDS = ("Awards_[LASTNAME].pdf", "[APPLICANTNO]_Certificates.pdf", "[LASTNAME]_Prizes.pdf",
           "Certificates-[APPLICANTNO].pdf", "Honours_[LASTNAME].pdf")  # fmt: skip
_SINGLE = {
    "cv": "[LASTNAME]_CV.pdf",
    "statement": "[LASTNAME]_Statement.pdf",
    "english": "English_[APPLICANTNO].pdf",
    "proposal": "[LASTNAME]_Proposal.pdf",
    "proposal_summary": "Summary_[LASTNAME].pdf",
    "bachelor": "[APPLICANTNO]_Bachelor.pdf",
    "master": "[APPLICANTNO]_Master.pdf",
    "first_letter": "Letter1_[LASTNAME].pdf",
    "second_letter": "Letter2_[LASTNAME].pdf",
}


@dataclass(frozen=True)
class Professor:
    """Somebody who replied."""

    contact: Contact
    university: str
    fate: str
    wanted: tuple[Wanted, ...]
    """Documents they ask for, or would ask for another time; those who get nothing may have asked, too."""
    superseded: tuple[Wanted, ...]
    assistant: Contact | None
    story: str
    """Story of their mails: their fate, or, if they are too late or want something else, that of somebody who
    asks for material."""
    position: str = ""
    """The position that they offer instead of a PhD."""


@dataclass(frozen=True)
class Plan:
    """Everything that the mails are written from."""

    applicant: Contact
    university: str
    """The applicant's."""
    domain: str
    """Of that university; students have addresses of their own kind."""
    number: str
    """The applicant number."""
    outdated_number: str
    referees: tuple[str, str]
    professors: tuple[Professor, ...]
    material: Material
    now: dt.datetime

    def file(self, wanted: Wanted) -> File:
        """Resolve a professor's request to a file."""
        name, kinds = wanted
        name = name.replace("[LASTNAME]", self.applicant.person.last).replace("[APPLICANTNO]", self.number)
        return File(name=name, pages=tuple(ref for kind in kinds for ref in self.material.chosen[kind]))


def plan_replies(params: Params, rng: random.Random, prose: Prose, receivers: Prose | None = None) -> Plan:
    """Draw the applicant and the professors; from ``receivers``, if any, those who collect for somebody."""
    person = _plain(prose)
    university, domain = home = _named(rng.choice(_COLLEGES), "University")
    now = dt.datetime(
        2025, rng.choice((2, 3, 10, 11)), rng.randint(10, 26), 9, rng.randint(0, 59), tzinfo=dt.UTC
    )
    number, outdated = (str(n) for n in rng.sample(range(410_000, 990_000), 2))
    referees = (f"Dr. {_plain(prose).name}", f"Prof. {_plain(prose).name}")
    material = draw_material(
        person.name,
        university,
        _plain(prose).name,
        referees,
        now.date(),
        rng,
        awards=2 if params.tight else 3,
    )
    fates = params.fates()
    rng.shuffle(fates)
    return Plan(
        applicant=Contact(person, f"{person.handle}@students.{domain}"),
        university=university,
        domain=domain,
        number=number,
        outdated_number=outdated,
        referees=referees,
        professors=tuple(_professors(fates, params, home, rng, prose, receivers)),
        material=material,
        now=now,
    )


def _plain(prose: Prose) -> Person:
    """Somebody whose name can stand in the name of a file, and in a PDF file."""
    while True:
        person = prose.person()
        if person.last.isascii() and person.last.isalpha() and person.first.isascii():
            return person


def _professors(
    fates: list[str],
    params: Params,
    home: _University,
    rng: random.Random,
    prose: Prose,
    receivers: Prose | None,
) -> Iterator[Professor]:
    dealt = rng.sample(STRUCTURES, len(STRUCTURES))
    layouts = cycle(dealt if params.assign_different_structures else [params.structure])
    order = cycle(rng.sample(_CERTIFICATES, 2))
    tight = params.tight
    # Namesakes share the names of professors who ask for material, and have addresses of their own.
    asked = [_Drawn.of(fate, home, rng, prose) for fate in fates]
    models = cycle([drawn for drawn in asked if drawn.fate in ("asked", "corrected", "assistant")])
    taken = set[str]()
    for drawn in asked:
        story = drawn.fate
        if drawn.fate in ("expired", "research_assistant"):
            # Nobody refuses and then offers something else. Two mails are too many where there is no room.
            told = _STORIES if params.roomy else _SHORT_STORIES
            story = rng.choice(told[: -1 if drawn.fate == "research_assistant" else None])
        if drawn.fate == "namesake":
            model = next(models)
            drawn.person, other = model.person, model.university
            while drawn.university == other:
                drawn.university, drawn.domain = _university(home, rng)
        wanted = (
            tuple(_wanted(next(layouts), next(order), rng, tight=tight)) if drawn.fate in _REQUESTING else ()
        )
        if drawn.fate in _REFUSING:
            wanted = tuple(_wanted(rng.choice(STRUCTURES), next(order), rng, tight=tight))
        superseded: tuple[Wanted, ...] = ()
        if story == "corrected":
            superseded = tuple(_wanted(next(layouts), next(order), rng, tight=tight))
            while superseded == wanted:
                superseded = tuple(_wanted(next(layouts), next(order), rng, tight=tight))
        elif story == "two_mails":
            wanted = tuple(_wanted("two_files", next(order), rng, tight=tight))
        aide = story == "assistant" or (story == "corrected" and rng.random() < 0.3)
        email = _address(drawn, taken)
        yield Professor(
            contact=Contact(drawn.person, email),
            university=drawn.university,
            fate=drawn.fate,
            wanted=wanted,
            superseded=superseded,
            assistant=_receiver(drawn.domain, prose, receivers) if aide else None,
            story=story,
            position=rng.choice(POSITIONS) if drawn.fate == "research_assistant" else "",
        )


def _address(who: _Drawn, taken: set[str]) -> str:
    """A number keeps several of one name at one university apart."""
    numbered = (f"{who.person.handle}{number or ''}@{who.domain}" for number in (0, *range(2, 10_000)))
    email = next(email for email in numbered if email not in taken)
    taken.add(email)
    return email


_REFUSING = ("declined", "namesake", "undecided")
_REQUESTING = (*ASKING, "expired", "withdrawn", "research_assistant")
_STORIES = ("asked", "asked", "corrected", "corrected", "two_mails", "two_mails", "extended", "extended",
            "assistant", "reopened")  # fmt: skip
_SHORT_STORIES = ("asked", "asked", "assistant")
_MORE = ("expired",) * 14 + ("research_assistant",) * 5 + ("declined",)
"""Fates of further professors, who are to get nothing."""


def more_professors(params: Params, plan: Plan, rng: random.Random, prose: Prose) -> Iterator[Professor]:
    """Professors who are to get nothing, without end."""
    while True:
        yield from _professors(
            rng.sample(_MORE, len(_MORE)), params, (plan.university, plan.domain), rng, prose, None
        )


@dataclass
class _Drawn:
    person: Person
    university: str
    domain: str
    fate: str

    @classmethod
    def of(cls, fate: str, home: _University, rng: random.Random, prose: Prose) -> _Drawn:
        return cls(prose.person(), *_university(home, rng), fate)


_University = tuple[str, str]
"""A university's name and domain."""


def _university(home: _University, rng: random.Random) -> _University:
    """Draw a university, possibly the applicant's own."""
    if rng.random() < _AT_HOME:
        return home
    return _named(rng.choice(_COLLEGES), rng.choice(_KINDS))


def _named(college: str, kind: str) -> _University:
    return f"{college} {kind}", domain_of(college + _SHORT[kind])


def _receiver(domain: str, prose: Prose, receivers: Prose | None) -> Contact:
    """Somebody who collects material; always drawn, so that nobody else depends on who it is."""
    usual = Contact.at(domain, prose)
    if receivers is None:
        return usual
    other = receivers.person()
    # These people are drawn apart from all others, and may be called alike.
    return Contact(other, f"{other.handle}.office@{domain}")


def _wanted(layout: str, awards: str, rng: random.Random, *, tight: bool) -> Iterator[Wanted]:
    """Draw a request: everything in one file, one file per document, or something between."""
    kinds = rng.sample(sorted(_SINGLE), 4)
    if "proposal" in kinds and "proposal_summary" in kinds:
        kinds.remove(rng.choice(("proposal", "proposal_summary")))
    kinds, few = kinds[:3], 2 if tight else 3
    merged = rng.choice(_MERGED)
    match layout:
        case "merged":
            yield merged, tuple(kinds[:few])
        case "merged_with_awards":
            yield merged, (*kinds[: few - 1], awards)
        case "separate":
            yield from ((_SINGLE[kind], (kind,)) for kind in kinds)
        case _:
            yield merged, tuple(kinds[:few])
            yield rng.choice(_AWARDS), (awards,)
