"""Invented names of creatures, and invented words for their values.

Only words are taken that have as many tokens with a blank before them as without (``plain_tokens``).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

import yaml

from mesocosm.worlds import tokens

_WORDS: dict[str, list[str]] = {
    kind: words.split()
    for kind, words in yaml.safe_load(
        resources.files(__package__).joinpath("words.yaml").read_text(encoding="utf-8")
    ).items()
}
_CLOSED = 0.7
"""Probability that a stem ends in a consonant."""
_TOKENS = (
    (3_000, (3, 4), (2, 3)),
    (20_000, (4, 5), (3, 4)),
    (10**9, (5, 6), (4, 5)),
)
"""Up to how many creatures names, and names of lines, have so many tokens."""


@cache
def plain_tokens(word: str) -> int | None:
    """The tokens of a word where it does not matter whether a blank stands before it; else ``None``."""
    bare = tokens.count(word)
    return bare if tokens.count(" " + word) == bare else None


@cache
def name_tokens(word: str) -> int | None:
    """Return the tokens of a name if none merges with a preceding blank or bracket; else ``None``."""
    bare = tokens.count(word)
    return bare if tokens.count(" " + word) == bare == tokens.count(">" + word) - 1 else None


@cache
def _usable(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if (plain_tokens(word) or 0) >= 2)


def types(rng: random.Random) -> list[str]:
    """18 types."""
    return rng.sample(_usable(tuple(_WORDS["types"])), 18)


def habitats(rng: random.Random) -> list[str]:
    """12 habitats."""
    return rng.sample(_usable(tuple(_WORDS["habitats"])), 12)


def ability_names(rng: random.Random, number: int) -> list[str]:
    """Abilities, of two words each."""
    pairs = tuple(f"{first} {second}" for first in _WORDS["first"] for second in _WORDS["second"])
    return rng.sample(_usable(pairs), number)


def creature_names(rng: random.Random, lines: Sequence[int]) -> tuple[list[str], list[str]]:
    """Names for the members of lines of these lengths, line after line, and a name for each line."""
    size = sum(lines)
    # Large encyclopaedias need longer names: there are fewer short symbols than they have creatures (twins).
    allowed, stem_tokens = next(found for most, *found in _TOKENS if size <= most)
    names: list[str] = []
    stems: list[str] = []
    taken: set[str] = set()
    words = _stems(rng, taken, stem_tokens)
    for members in lines:
        stem = next(words)
        found: list[str] = []
        while len(found) < members:
            if (name := _member(rng, stem, allowed, taken)) is None:
                stem, found = next(words), []
            else:
                found.append(name)
        names += found
        stems.append(stem)
    return names, stems


def _stems(rng: random.Random, taken: set[str], allowed: Sequence[int]) -> Iterator[str]:
    while True:
        count = rng.choice((1, 2, 2)) if allowed[0] < 4 else rng.choice((2, 3))
        closing = rng.choice(_WORDS["closings"]) if rng.random() < _CLOSED else ""
        stem = ("".join(_syllable(rng) for _ in range(count)) + closing).capitalize()
        if len(stem) >= 3 and stem not in taken and plain_tokens(stem) in allowed:
            taken.add(stem)
            yield stem


def _syllable(rng: random.Random) -> str:
    return rng.choice(_WORDS["beginnings"]) + rng.choice(_WORDS["vowels"])


def _member(rng: random.Random, stem: str, allowed: Sequence[int], taken: set[str]) -> str | None:
    for ending in rng.sample(_WORDS["endings"], 8):
        extra = _syllable(rng) if allowed[-1] > 4 or rng.random() < 0.3 else ""
        name = f"{stem}{extra}{ending}"
        if name not in taken and len(name) >= 6 and name_tokens(name) in allowed:
            taken.add(name)
            return name
    return None
