"""People, companies, places and addresses drawn from pools, without repeating themselves."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from mesocosm.kits.prose.faked import Address, addresses, everybody
from mesocosm.kits.prose.grammar import expand
from mesocosm.kits.prose.topics import shared_grammar

T = TypeVar("T")
_TOWNS = 24
"""That addresses of English-speaking countries have in one world."""


@dataclass(frozen=True)
class Person:
    """Somebody in a world; ``handle`` is the local part of an address, ASCII and lower case."""

    first: str
    last: str
    handle: str

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"


@cache
def _pool(name: str) -> tuple[str, ...]:
    return tuple(str(entry) for entry in shared_grammar().rule(name))


_SPELT = str.maketrans(
    {"ß": "ss", "æ": "ae", "ø": "o", "Æ": "Ae", "Ø": "O", "đ": "d", "ł": "l", "Ł": "L", "ı": "i"}
)


def slug(text: str) -> str:
    """Lower-case ASCII letters of a name: "O'Brien" is "obrien", "Müller" is "muller"."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.translate(_SPELT))
    return re.sub(r"[^a-z0-9]", "", text.lower())


class Names:
    """Draws people, companies and places, each at most once."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()
        self._handles: set[str] = set()
        self._towns: dict[tuple[str, str], list[tuple[str, str]]] = {}

    def person(self) -> Person:
        """Draw a person with a new name and handle."""
        first, last = self._first_and_last()
        name, tries = f"{first} {last}", 0
        while name in self._taken:
            tries += 1
            first, last = self._first_and_last()
            if tries > 4:  # the plain combinations are running out
                first = f"{first} {'ABCDEFGHIJKLMNOPRSTVW'[int(self._rng.random() * 21)]}."
            name = f"{first} {last}"
        self._taken.add(name)
        return Person(first, last, self._handle(first, last))

    def _first_and_last(self) -> tuple[str, str]:
        names = self._pick(everybody())
        first, last = self._pick(names.first), self._pick(names.last)
        return (first, last) if first != last else self._first_and_last()

    def _handle(self, first: str, last: str) -> str:
        given, family = slug(first), slug(last)
        for handle in (f"{given[0]}.{family}", f"{given}.{family}", f"{given[:2]}.{family}"):
            if handle not in self._handles:
                break
        else:
            number = 2
            while (handle := f"{given[0]}.{family}{number}") in self._handles:
                number += 1
        self._handles.add(handle)
        return handle

    def company(self) -> str:
        return self._unique("firm")

    def place(self) -> str:
        return self._unique("townish")

    def town(self) -> str:
        """A town that may have been named before."""
        return self._expand("townish")

    def firm(self) -> str:
        """A company that may have been named before."""
        return self._expand("firm")

    def brand(self) -> str:
        """One word, as on the front of a product."""
        return self._pick(_pool("firm_a")) if self._rng.random() < 0.7 else self._expand("townish")

    def address(self, locale: str, state: str = "") -> Address:
        """Draw an address. Towns recur with the same postcodes."""
        parts = addresses(locale, state)
        towns = self._towns.setdefault((locale, state), [])
        if not towns:
            # No town of another country among those of a state.
            names = parts.towns or [self._unique("coined_town") for _ in range(_TOWNS)]
            towns += [(name, self._pick(parts.postcodes)) for name in names]
        city, postcode = self._pick(towns)
        street, phone = self._pick(parts.streets), self._pick(parts.phones)
        return Address(street, city, state, postcode, parts.country, phone)

    def _unique(self, rule: str) -> str:
        for attempt in range(200):
            name = self._expand(rule)
            if attempt > 30:
                name = f"{self._pick(('New', 'Old', 'Great', 'Little', 'Upper', 'Lower'))} {name}"
            if name not in self._taken:
                break
        self._taken.add(name)
        return name

    def _expand(self, rule: str) -> str:
        out: list[str] = []
        expand(shared_grammar().rule(rule), (), self._rng.random, out.append)
        return "".join(out)

    def _pick(self, pool: Sequence[T]) -> T:
        return pool[int(self._rng.random() * len(pool))]
