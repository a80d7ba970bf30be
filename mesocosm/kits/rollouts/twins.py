"""Twins: the same rollout in words that mean something, and in symbols that mean nothing.

``words_of`` are the encyclopaedia's own words (setting ``ki``, knowledge-intensive), ``symbols_of`` a seeded
bijection of them (``kf``, knowledge-free). Names of creatures keep their alphabetical order, so lists keep
theirs; names and values keep their number of tokens, so lists keep their length; numbers stay what they are.
"""

from __future__ import annotations

import random
import string
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from mesocosm.kits.rollouts.encyclopaedia import SECTIONS, Encyclopaedia
from mesocosm.kits.rollouts.invented_names import name_tokens, plain_tokens
from mesocosm.worlds import tokens

Setting = Literal["ki", "kf"]
SETTINGS: tuple[Setting, ...] = ("ki", "kf")
_BETWEEN = 2
"""Tokens of what stands between two words of a list."""
_CANDIDATES = 24
"""Symbols to choose from for each name."""


@dataclass(frozen=True)
class SymbolVocabulary:
    """Names of creatures, sections and values."""

    setting: Setting
    names: Sequence[str]
    values: Sequence[Sequence[str]]
    exact: bool = True
    """True if names and values have the same number of tokens after a blank as at a text's beginning;
    otherwise counts are approximate, and messages are tokenised."""

    @property
    def sections(self) -> tuple[str, ...]:
        return section_names(self.setting)

    @property
    def thing(self) -> str:
        """Singular noun for the things: a creature, or an item."""
        return "creature" if self.setting == "ki" else "item"

    @property
    def tool(self) -> str:
        """The name of the tool that the player calls."""
        return f"query_{self.thing}s"

    @cached_property
    def name_tokens(self) -> list[int]:
        """The tokens of each name, the same in both settings."""
        return [(name_tokens(name) or 0) if self.exact else _in_a_list(name) for name in self.names]

    @cached_property
    def by_tokens(self) -> dict[int, int]:
        """Creatures by the number of tokens of their names, as bit sets."""
        found: dict[int, int] = {}
        for at, size in enumerate(self.name_tokens):
            found[size] = found.get(size, 0) | 1 << (len(self.names) - 1 - at)
        return found

    @cached_property
    def value_tokens(self) -> list[list[int]]:
        """The tokens of each value, by section."""
        count = plain_tokens if self.exact else _in_a_list
        return [[count(value) or 0 for value in values] for values in self.values]

    @cached_property
    def frames(self) -> dict[Hashable, int]:
        """Tokens of texts without the names, values and numbers in them, by their shape (``counting``)."""
        return {}


@cache
def section_names(setting: Setting) -> tuple[str, ...]:
    if setting == "ki":
        return tuple(section.name for section in SECTIONS)
    return tuple(f"attr_{at}" for at in range(1, len(SECTIONS) + 1))


@cache
def _in_a_list(word: str) -> int:
    """The tokens that a word adds to a list of words in quotation marks."""
    return tokens.count(f'"a", "{word}", "a"') - tokens.count('"a", "a"') - _BETWEEN


def words_of(book: Encyclopaedia, *, exact: bool = True) -> SymbolVocabulary:
    """The encyclopaedia's own words."""
    return SymbolVocabulary("ki", book.names, book.values, exact)


def symbols_of(book: Encyclopaedia, rng: random.Random) -> SymbolVocabulary:
    """Symbols in their place."""
    values = [_value_symbols(rng, letter, words) for letter, words in zip("ABCDEF", book.values, strict=True)]
    return SymbolVocabulary("kf", _name_symbols(rng, book.names), values)


def _number(rng: random.Random) -> str:
    """A number of one token."""
    return str(rng.randrange(100, 1000))


def _letter(rng: random.Random) -> str:
    return rng.choice(string.ascii_uppercase)


def _suffix(rng: random.Random, tokens: int) -> str:
    """Draw the rest of a name after its first letter, with this many tokens."""
    parts = (_number, _letter)
    return "".join(parts[at % 2](rng) for at in range(tokens))


def _name_symbols(rng: random.Random, names: Sequence[str]) -> list[str]:
    """One for each name in ascending order, with as many tokens as the name has."""
    needed = [name_tokens(name) or 0 for name in names]
    kinds = sorted(set(needed))
    pool: set[tuple[str, int]] = set()
    found: list[str] | None = None
    while found is None:
        for size in rng.choices(kinds, k=_CANDIDATES * len(names)):
            # Item, _X, and what follows: see the test that counts them.
            pool.add((f"Item_{_letter(rng)}{_suffix(rng, size - 2)}", size))
        found = _ascending(rng, sorted(pool), needed)
    return found


def _ascending(rng: random.Random, pool: list[tuple[str, int]], needed: Sequence[int]) -> list[str] | None:
    """For each need one symbol of that size, ascending: each from a stretch of the sorted pool of its own.

    ``None`` where a stretch has none.
    """
    found: list[str] = []
    for at, size in enumerate(needed):
        first, last = at * len(pool) // len(needed), (at + 1) * len(pool) // len(needed)
        fitting = [symbol for symbol, tokens in pool[first:last] if tokens == size]
        if not fitting:
            return None
        found.append(rng.choice(fitting))
    return found


def _value_symbols(rng: random.Random, letter: str, words: Sequence[str]) -> list[str]:
    taken: set[str] = set()
    found: list[str] = []
    for word in words:
        symbol = ""
        while not symbol or symbol in taken:
            symbol = letter + _suffix(rng, (plain_tokens(word) or 0) - 1)
        taken.add(symbol)
        found.append(symbol)
    return found
