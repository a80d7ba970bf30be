"""The cast of an organisation: people, their style of writing, and their names."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from mesocosm.kits.prose.names import slug

_GREETINGS = ("Hi {0},", "Hello {0},", "Hey {0},", "{0},", "Dear {0},")
_FORMAL = ("Dear {0},", "Hello {0},", "Hi {0},", "{0},")
_SIGNATURES = ("{0}", "Thanks,\n{0}", "Best,\n{0}", "- {0}", "{0}", "Cheers,\n{0}", "All best,\n{0}")
_STAFF = frozenset({"instructor", "secretary", "office", "technician", "librarian"})
OFFICES = frozenset({"office", "secretary"})
"""Roles that pass on what was decided, with dates."""
FORMAL = frozenset({"student", "assistant"})
"""Those who call instructors by title and last name, and are written to so about them."""
BY_NAME, BY_DAY = "name", "day"
COURSE_HABITS = (BY_NAME, "hour", BY_DAY, "teacher")
"""The ways to call a course: by a short name, by the hour or the day at which it meets, by who teaches it."""


@dataclass(eq=False, slots=True)
class Person:
    """Somebody of the cast."""

    first: str
    last: str
    sex: str
    role: str
    """instructor, assistant, student, secretary, office, technician or librarian."""
    email: str
    number: str = ""
    """Student ID; empty for staff."""
    programme: str = ""
    greeting: str = "Hi {0},"
    signature: str = "{0}"
    greets: float = 0.4
    """How often answers begin with a greeting."""
    habit: str = BY_NAME
    """How the person calls courses, one of ``COURSE_HABITS``."""
    early: int = 8
    late: int = 20
    """Between these hours the person writes."""
    claims: set[str] = field(default_factory=set)
    """Claims of small talk about the person."""

    @property
    def full(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"

    @property
    def header(self) -> str:
        """The person as a From or To header shows them."""
        return f"{self.full} <{self.email}>"

    @property
    def he(self) -> str:
        """The pronoun as a subject."""
        return "he" if self.sex == "m" else "she"

    @property
    def him(self) -> str:
        """The pronoun as an object."""
        return "him" if self.sex == "m" else "her"

    @property
    def his(self) -> str:
        """The possessive."""
        return "his" if self.sex == "m" else "her"

    @property
    def himself(self) -> str:
        """The reflexive."""
        return "himself" if self.sex == "m" else "herself"

    @property
    def staff(self) -> bool:
        """True for whoever is employed and not a student or an assistant."""
        return self.role in _STAFF

    def called_by(self, writer: Person) -> str:
        """Return how a writer calls the person: instructors by title and last name, if not an equal."""
        if self.role == "instructor" and writer.role in FORMAL:
            return f"Professor {self.last}"
        return self.first

    def __repr__(self) -> str:
        return f"{self.full} ({self.role})"


_MC = re.compile(r"(?<=^Mc)[a-z]")
"""The letter that is a capital in names such as McDowell."""


@cache
def _names(locale: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return female and male first names and last names of a locale, without those that are both."""
    provider = import_module(f"faker.providers.person.{locale}").Provider
    women, men = dict.fromkeys(provider.first_names_female), dict.fromkeys(provider.first_names_male)
    last = dict.fromkeys(provider.last_names)
    plain = str.isalpha
    return (
        tuple(name for name in women if plain(name) and name not in men),
        tuple(name for name in men if plain(name) and name not in women),
        tuple(
            _MC.sub(lambda found: found[0].title(), name)
            for name in last
            if plain(name) and name not in women and name not in men
        ),
    )


class Naming:
    """Draws people whose full names and addresses are their own.

    First names come again among many people, as they do in life; no two are alike in both names.
    """

    def __init__(self, rng: random.Random, domain: str, locale: str = "en_US") -> None:
        women, men, last = _names(locale)
        self._rng, self._domain = rng, domain
        self._last = self._dealt(last)
        self._first = {"f": self._dealt(women), "m": self._dealt(men)}
        self._emails: set[str] = set()
        self._numbers: set[str] = set()
        self._full: set[str] = set()

    def _dealt(self, names: tuple[str, ...]) -> Iterator[str]:
        while True:
            yield from self._rng.sample(names, len(names))

    def person(self, role: str, programme: str = "") -> Person:
        """Draw somebody new."""
        rng = self._rng
        sex = rng.choice("fm")
        while True:
            first, last = next(self._first[sex]), next(self._last)
            if f"{first} {last}" not in self._full:
                break
        self._full.add(f"{first} {last}")
        formal = role in _STAFF
        early = rng.choice((6, 7, 8, 8, 9)) if formal else rng.choice((8, 9, 10, 11))
        return Person(
            first=first,
            last=last,
            sex=sex,
            role=role,
            email=self._email(first, last),
            number="" if formal else self._number(),
            programme=programme,
            greeting=rng.choice(_FORMAL if formal else _GREETINGS),
            signature=rng.choice(_SIGNATURES),
            greets=rng.choice((0.1, 0.3, 0.6)),
            habit=rng.choice(COURSE_HABITS),
            early=early,
            late=early + rng.randint(10, 13),
        )

    def _email(self, first: str, last: str) -> str:
        handle = f"{slug(first)[0]}{slug(last)}"
        address, count = f"{handle}@{self._domain}", 1
        while address in self._emails:
            count += 1
            address = f"{handle}{count}@{self._domain}"
        self._emails.add(address)
        return address

    def _number(self) -> str:
        while True:
            number = str(self._rng.randrange(2_000_000, 3_000_000))
            if number not in self._numbers:
                self._numbers.add(number)
                return number
