"""A guessing game over an encyclopaedia of invented creatures (AgentLongBench's puzzle, to be played)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import Field

from mesocosm.families import family
from mesocosm.families.family import Evidence
from mesocosm.families.oracle import Call, Made, Oracle, State, Subtask
from mesocosm.kits.rollouts.encyclopaedia import (
    MAX_ENTRIES,
    MIN_ENTRIES,
    SECTIONS,
    Encyclopaedia,
    alike,
    invent,
)
from mesocosm.kits.rollouts.player import best_guess, marks, still_open
from mesocosm.servers.puzzle.store import Profile, PuzzleStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

_TOKENS_PER_CREATURE = 62
_SHOWN = 20
FEW, MANY = 4, 700
"""Guesses of an expert game, to which one is added from so many creatures on."""
_RETURNS = {
    "c": "one list of those who meet all of them",
    "v": "one list for each section asked about, of those who meet the conditions on that section alone",
}
"""Description of a query's result in the prompt, by format."""


class Params(family.Params):
    """The parameters of the family; the filler is further creatures."""

    creatures: int = Field(default=40, ge=MIN_ENTRIES, le=MAX_ENTRIES)
    """Creatures of the encyclopaedia."""
    rounds: int = Field(default=10, ge=0, le=1_000)
    """Guesses that are allowed. 0: as many as the reference player needs, which are four, or five from 700
    creatures on."""
    format: Literal["c", "v"] = "c"
    """Queries return one list (``c``), or one per section (``v``)."""
    feedback: Literal["values", "sections"] = "values"
    """Feedback tells of each value, and for numbers the direction; or of each section as a whole."""
    overlapping: bool = False
    """True if creatures are alike in most sections."""


class Expected(family.Expected):
    """Knowledge of the checker."""

    target: str
    rounds: int
    creatures: int
    key: str
    """Seed of the encyclopaedia."""
    overlapping: bool
    by_section: bool

    def oracle(self) -> Oracle:
        """Return the oracle: the creatures that feedback leaves possible, and the most informative guess."""
        return PuzzleOracle(self)

    @property
    def measures(self) -> dict[str, int]:
        """Creatures and rounds."""
        return {"creatures": self.creatures, "rounds": self.rounds}


def generate(world: World, params: Params) -> Expected:
    """Fill the encyclopaedia and hide a creature."""
    size = min(MAX_ENTRIES, params.creatures + params.filler_tokens // _TOKENS_PER_CREATURE)
    key = world.stream("encyclopaedia").randbytes(16).hex()
    book = drawn(key, size, params.overlapping)
    store = world.store(PuzzleStore)
    store.add_sections({section.name: section.kind == "number" for section in SECTIONS})
    store.add_creatures(
        (entry.number, name, _profile(book, at))
        for at, (name, entry) in enumerate(zip(book.names, book.entries, strict=True))
    )
    by_section = params.feedback == "sections"
    rng, rounds = world.stream("target"), params.rounds
    target = rng.randrange(size)
    if not rounds:
        rounds = FEW if size < MANY else FEW + 1
        target = found_last(book, rounds, rng, by_section)
    store.set_up(target + 1, rounds, verbose=params.format == "v", by_section=by_section)
    return Expected(
        public={"rounds": str(rounds), "returns": _RETURNS[params.format]},
        evidence=[Evidence(service="puzzle", contains=f'"name":"{book.names[target]}"')],
        target=book.names[target],
        rounds=rounds,
        creatures=size,
        key=key,
        overlapping=params.overlapping,
        by_section=by_section,
    )


def _profile(book: Encyclopaedia, at: int) -> Profile:
    traits = book.entries[at].traits
    return {
        section.name: values
        if section.kind == "number"
        else tuple(book.values[number][value] for value in values)
        for number, (section, values) in enumerate(zip(SECTIONS, traits, strict=True))
    }


def survey(tools: Tools, expected: Expected) -> None:
    """Read the whole encyclopaedia."""
    tools.call("puzzle", "describe_game")
    page: int | None = 1
    while page:
        page = tools.call("puzzle", "browse", page=page, per_page=100).get("next_page")


def found_last(book: Encyclopaedia, rounds: int, rng: random.Random, by_section: bool) -> int:
    """A creature that the reference player finds with the last of these guesses, or else as late as any."""
    profiles = {name: _profile(book, at) for at, name in enumerate(book.names)}
    opening = best_guess(book.names, profiles, by_section=by_section)
    latest, found = 0, 0
    for at in rng.sample(range(len(book)), len(book)):
        needed = _needed(opening, book.names[at], profiles, by_section)
        if latest < needed <= rounds:
            latest, found = needed, at
        if latest == rounds:
            break
    return found


def _needed(opening: str, target: str, profiles: Mapping[str, Profile], by_section: bool) -> int:
    """Return the number of guesses of the reference player."""
    names, guess, number = list(profiles), opening, 1
    while guess != target:
        said = marks(profiles[guess], profiles[target], by_section=by_section)
        names = still_open(names, profiles, guess, said, by_section=by_section)
        guess, number = best_guess(names, profiles, by_section=by_section), number + 1
    return number


def consistent(
    profiles: Mapping[str, Profile], guesses: Sequence[str], target: str, *, by_section: bool = False
) -> list[str]:
    """List the creatures consistent with the feedback on these guesses."""
    names = list(profiles)
    for guess in guesses:
        if guess == target:
            return [guess]
        said = marks(profiles[guess], profiles[target], by_section=by_section)
        names = still_open(names, profiles, guess, said, by_section=by_section)
    return names


def drawn(key: str, size: int, overlapping: bool) -> Encyclopaedia:
    book = invent(random.Random(key), size)
    return alike(key, book) if overlapping else book


@cache
def profiles_of(key: str, size: int, overlapping: bool) -> dict[str, Profile]:
    """Return each creature's description."""
    book = drawn(key, size, overlapping)
    return {name: _profile(book, at) for at, name in enumerate(book.names)}


@dataclass(frozen=True)
class PuzzleOracle(Oracle):
    """Knows what the feedback leaves open; what is hidden shows in nothing but the feedback."""

    expected: Expected

    def state(self, world: World, journal: Sequence[Made]) -> State:
        """Return the number of remaining creatures, their names if few, and the rounds left."""
        guesses = _guesses(journal)
        left, solved = self._left(guesses), self.expected.target in guesses
        remaining = self.expected.rounds - len(guesses)
        few = left if len(left) <= _SHOWN else []
        which = f": {', '.join(few)}" if few else ""
        text = f"Creatures that the feedback leaves open: {len(left):,}{which}. Rounds left: {remaining}."
        if solved:
            text = f"The hidden creature was found: {left[0]}."
        facts = {"open": few, "count": len(left), "remaining_rounds": remaining, "solved": solved}
        return State(text=text, facts=facts)

    def plan(self, world: World, journal: Sequence[Made]) -> list[Subtask]:
        """The guess that leaves the fewest open."""
        guesses = _guesses(journal)
        if self.expected.target in guesses or len(guesses) >= self.expected.rounds:
            return []
        name = best_guess(self._left(guesses), self._everyone, by_section=self.expected.by_section)
        call = Call(service="puzzle", tool="guess", arguments={"name": name})
        return [Subtask(goal=f"Guess {name}.", calls=[call])]

    @property
    def _everyone(self) -> dict[str, Profile]:
        return profiles_of(self.expected.key, self.expected.creatures, self.expected.overlapping)

    def _left(self, guesses: Sequence[str]) -> list[str]:
        by_section = self.expected.by_section
        return consistent(self._everyone, guesses, self.expected.target, by_section=by_section)


def _guesses(journal: Sequence[Made]) -> list[str]:
    return [
        str(made.arguments["name"])
        for made in journal
        if made.ok and (made.service, made.tool) == ("puzzle", "guess")
    ]
