"""An encyclopaedia of invented creatures: six sections each, no two alike.

Every name and value is chosen so that it has as many tokens at the beginning of a text as after a blank.
``twins`` relies on this, and so does the counting of long lists without tokenising them again.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Literal, NamedTuple

from mesocosm.errors import UsageError
from mesocosm.kits.rollouts import invented_names

MIN_ENTRIES, MAX_ENTRIES = 20, 100_000


class Section(NamedTuple):
    """One thing that is said of every creature."""

    name: str
    kind: Literal["set", "number"]
    weight: int
    """Points for each right value, in the questions that weigh."""


SECTIONS = (
    Section("Type", "set", 6),
    Section("Base Stats", "number", 4),
    Section("Generation", "number", 2),
    Section("Abilities", "set", 5),
    Section("Evolution", "set", 3),
    Section("Habitat", "set", 1),
)
TYPE, STATS, GENERATION, ABILITIES, EVOLUTION, HABITAT = range(len(SECTIONS))
SETS = tuple(at for at, section in enumerate(SECTIONS) if section.kind == "set")

_GENERATIONS = 9
_LIKE_ONE, _UNLIKE, _BAND, _FEW_ABILITIES, _FEW_LINES = 20, 0.35, 40, 12, 12
"""Parameters for overlapping sections: size of groups of similar creatures, probability that a section
differs, steps of numbers, numbers of abilities and evolution lines."""
_HIGHEST_ORDINARY = 640
"""Base Stats above are held by one creature each, so that a highest value can be asked for."""


class EncyclopaediaEntry(NamedTuple):
    """One creature: a tuple of value numbers for each section, or the one number."""

    number: int
    traits: tuple[tuple[int, ...], ...]


class EntryCondition(NamedTuple):
    """Condition on one section of a creature."""

    section: int
    comparator: Literal["any", "none", ">", "<", "=="]
    """``any``: it has any of the values; ``none``: it has none of them; else its number compares so."""
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Encyclopaedia:
    """All creatures, in the alphabetical order of their names.

    Sets of creatures are integers, bit by bit: the first creature is the highest bit.
    """

    names: Sequence[str]
    entries: Sequence[EncyclopaediaEntry]
    values: Sequence[Sequence[str]]
    """The words of each section's values, by their numbers; none where the section is a number."""

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def everything(self) -> int:
        """The set of all creatures."""
        return (1 << len(self)) - 1

    def only(self, index: int) -> int:
        """The set of one creature."""
        return 1 << (len(self) - 1 - index)

    def flags(self, creatures: int) -> bytes:
        """A byte for each creature: 1 for those of the set."""
        return f"{creatures:0{len(self)}b}".encode().translate(_FLAGS)

    def indexes(self, creatures: int) -> list[int]:
        """The places of a set's creatures, ascending."""
        return list(compress(range(len(self)), self.flags(creatures)))

    @cached_property
    def _holders(self) -> dict[tuple[int, int], list[int]]:
        holders: dict[tuple[int, int], list[int]] = {}
        for index, entry in enumerate(self.entries):
            for section in SETS:
                for value in entry.traits[section]:
                    holders.setdefault((section, value), []).append(index)
        return holders

    @cached_property
    def _ranked(self) -> dict[int, tuple[list[int], list[int]]]:
        """The numbers of a section, ascending, and who has them."""
        ranked = {}
        for section in (STATS, GENERATION):
            pairs = sorted((entry.traits[section][0], index) for index, entry in enumerate(self.entries))
            ranked[section] = [number for number, _ in pairs], [index for _, index in pairs]
        return ranked

    @cached_property
    def _kept(self) -> dict[EntryCondition, int]:
        return {}

    def meeting(self, condition: EntryCondition) -> int:
        found = self._kept.get(condition)
        if found is None:
            found = self._kept[condition] = self._meeting(condition)
        return found

    def _meeting(self, condition: EntryCondition) -> int:
        section, comparator, operands = condition
        if comparator in ("any", "none"):
            held = 0
            for value in operands:
                held |= self._set(self._holders.get((section, value), []))
            return held if comparator == "any" else self.everything ^ held
        numbers, who = self._ranked[section]
        first, last = bisect_left(numbers, operands[0]), bisect_right(numbers, operands[0])
        return self._set({"<": who[:first], ">": who[last:], "==": who[first:last]}[comparator])

    def _set(self, indexes: Sequence[int]) -> int:
        last = len(self) - 1
        if len(indexes) < 16:
            return sum(1 << (last - index) for index in indexes)
        digits = bytearray(b"0") * len(self)
        for index in indexes:
            digits[index] = 49  # the digit 1
        return int(digits, 2)


_FLAGS = bytes.maketrans(b"01", b"\0\1")


def compare(guess: EncyclopaediaEntry, target: EncyclopaediaEntry) -> tuple[tuple[bool, ...], ...]:
    """Compare a guess with the target: which values are right, by section."""
    return tuple(
        tuple(value in right for value in guessed)
        for guessed, right in zip(guess.traits, target.traits, strict=True)
    )


def invent(rng: random.Random, size: int) -> Encyclopaedia:
    """An encyclopaedia of ``size`` creatures; raises ``UsageError`` if that is too few or too many."""
    if not MIN_ENTRIES <= size <= MAX_ENTRIES:
        raise UsageError(f"an encyclopaedia has {MIN_ENTRIES} to {MAX_ENTRIES:,} creatures, not {size:,}")
    lines = _lines(rng, size)
    names, stems = invented_names.creature_names(rng, [len(line) for line in lines])
    abilities = invented_names.ability_names(rng, min(400, 40 + size // 8))
    values = [invented_names.types(rng), [], [], abilities, stems, invented_names.habitats(rng)]
    drawn = _Drawing(rng, values)
    entries = drawn.entries(lines)
    order = sorted(range(size), key=names.__getitem__)
    return Encyclopaedia([names[at] for at in order], [entries[at] for at in order], values)


def alike(key: str, book: Encyclopaedia) -> Encyclopaedia:
    """The same names, but their sections overlap: each creature is like one of a few in most of them.

    What is said of a creature does not depend on how many there are, so that a length is met closely.
    """
    seen: set[tuple[tuple[int, ...], ...]] = set()
    entries = []
    for at, entry in enumerate(book.entries):
        if at % _LIKE_ONE == 0:
            model = _overlapping(random.Random(f"{key}:model:{at}"), book)
        rng = random.Random(f"{key}:{at}")
        while True:
            others = _overlapping(rng, book)
            chosen = (
                other if rng.random() < _UNLIKE else own for own, other in zip(model, others, strict=True)
            )
            if (traits := tuple(chosen)) not in seen:
                break
        seen.add(traits)
        entries.append(EncyclopaediaEntry(entry.number, traits))
    return Encyclopaedia(book.names, entries, book.values)


def _overlapping(rng: random.Random, book: Encyclopaedia) -> tuple[tuple[int, ...], ...]:
    """Draw the description of a creature from few different values."""
    types, _, _, _, lines, habitats = map(len, book.values)
    return (
        tuple(rng.sample(range(types), rng.choice((1, 2)))),
        (rng.randrange(200, _HIGHEST_ORDINARY, _BAND),),
        (rng.randint(1, _GENERATIONS),),
        tuple(rng.sample(range(_FEW_ABILITIES), rng.choice((1, 2, 2, 3)))),
        (rng.randrange(min(lines, _FEW_LINES)),),
        (rng.randrange(habitats),),
    )


def _lines(rng: random.Random, size: int) -> list[list[int]]:
    """Lines of evolution: the stage of each member; a line of one is a creature that does not evolve."""
    lines, left = [], size
    while left:
        length = min(left, rng.choices((1, 2, 3), (3, 4, 5))[0])
        lines.append(list(range(length)) if length > 1 else [rng.choices((3, 4), (9, 1))[0]])
        left -= length
    return lines


_STATS = {0: (190, 330), 1: (320, 450), 2: (440, 560), 3: (360, 600), 4: (560, 760)}
"""From and to, by stage; those that do not evolve are 3, rare ones 4."""


class _Drawing:
    """Successive drawing of creatures."""

    def __init__(self, rng: random.Random, values: Sequence[Sequence[str]]) -> None:
        self.rng = rng
        self.values = values
        self._stats: set[int] = set()
        self._seen: set[tuple[tuple[int, ...], ...]] = set()
        self._popular = [1 + 3 * rng.random() for _ in values[TYPE]]

    def entries(self, lines: Sequence[Sequence[int]]) -> list[EncyclopaediaEntry]:
        """The creatures of these lines, numbered from 1 on, the earlier generations first."""
        total = sum(map(len, lines))
        found: list[EncyclopaediaEntry] = []
        for line, stages in enumerate(lines):
            generation = 1 + len(found) * _GENERATIONS // total
            types = self._types()
            habitat = self.rng.randrange(len(self.values[HABITAT]))
            for stage in stages:
                if len(types) == 1 and stage and self.rng.random() < 0.35:
                    types = (*types, self._type(types))
                traits = self._unlike((types, generation, line, habitat), stage)
                found.append(EncyclopaediaEntry(len(found) + 1, traits))
        return found

    def _unlike(
        self, shared: tuple[tuple[int, ...], int, int, int], stage: int
    ) -> tuple[tuple[int, ...], ...]:
        """Draw a description that differs from all earlier ones."""
        types, generation, line, habitat = shared
        while True:
            traits = (types, (self._total(stage),), (generation,), self._abilities(), (line,), (habitat,))
            if traits not in self._seen:
                self._seen.add(traits)
                return traits

    def _type(self, others: Sequence[int] = ()) -> int:
        while True:
            (found,) = self.rng.choices(range(len(self._popular)), self._popular)
            if found not in others:
                return found

    def _types(self) -> tuple[int, ...]:
        first = self._type()
        return (first, self._type((first,))) if self.rng.random() < 0.4 else (first,)

    def _abilities(self) -> tuple[int, ...]:
        number = self.rng.choices((1, 2, 3), (3, 5, 2))[0]
        return tuple(self.rng.sample(range(len(self.values[ABILITIES])), number))

    def _total(self, stage: int) -> int:
        low, high = _STATS[stage]
        while True:
            total = self.rng.randint(low, high)
            if total <= _HIGHEST_ORDINARY:
                return total
            if total not in self._stats:
                self._stats.add(total)
                return total
            low = 480  # what is left of the rare ones once their numbers are used up
