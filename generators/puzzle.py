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
from mesocosm.kits.rollouts.encyclopaedia import MAX_ENTRIES, MIN_ENTRIES, SECTIONS, Encyclopaedia, invent
from mesocosm.kits.rollouts.player import best_guess, marks, still_open
from mesocosm.servers.puzzle.store import Profile, PuzzleStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

_TOKENS_PER_CREATURE = 62
_SHOWN = 20
_RETURNS = {
    "c": "one list of those who meet all of them",
    "v": "one list for each section asked about, of those who meet the conditions on that section alone",
}
"""What the prompt says that a query returns, by the format."""


class Params(family.Params):
    """The parameters of the family; the filler is further creatures."""

    creatures: int = Field(default=40, ge=MIN_ENTRIES, le=MAX_ENTRIES)
    """Creatures of the encyclopaedia."""
    rounds: int = Field(default=10, ge=1, le=1_000)
    """Guesses that are allowed."""
    format: Literal["c", "v"] = "c"
    """Queries return one list (``c``), or one per section (``v``)."""


class Expected(family.Expected):
    """What the checker needs."""

    target: str
    rounds: int
    creatures: int
    key: str
    """What the encyclopaedia is drawn with."""

    def oracle(self) -> Oracle:
        """What the feedback leaves open, and the guess that tells the most."""
        return PuzzleOracle(self)

    @property
    def measures(self) -> dict[str, int]:
        """Creatures and rounds."""
        return {"creatures": self.creatures, "rounds": self.rounds}


def generate(world: World, params: Params) -> Expected:
    """Fill the encyclopaedia and hide a creature."""
    size = min(MAX_ENTRIES, params.creatures + params.filler_tokens // _TOKENS_PER_CREATURE)
    key = world.stream("encyclopaedia").randbytes(16).hex()
    book = invent(random.Random(key), size)
    store = world.store(PuzzleStore)
    store.add_sections({section.name: section.kind == "number" for section in SECTIONS})
    store.add_creatures(
        (entry.number, name, _profile(book, at))
        for at, (name, entry) in enumerate(zip(book.names, book.entries, strict=True))
    )
    target = world.stream("target").randrange(size)
    store.set_up(target + 1, params.rounds, verbose=params.format == "v")
    return Expected(
        public={"rounds": str(params.rounds), "returns": _RETURNS[params.format]},
        evidence=[Evidence(service="puzzle", contains=f'"name":"{book.names[target]}"')],
        target=book.names[target],
        rounds=params.rounds,
        creatures=size,
        key=key,
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


def consistent(profiles: Mapping[str, Profile], guesses: Sequence[str], target: str) -> list[str]:
    """Who could be the hidden creature by the feedback on these guesses."""
    names = list(profiles)
    for guess in guesses:
        if guess == target:
            return [guess]
        names = still_open(names, profiles, guess, marks(profiles[guess], profiles[target]))
    return names


@cache
def _profiles(key: str, size: int) -> dict[str, Profile]:
    """The encyclopaedia that is drawn with this key."""
    book = invent(random.Random(key), size)
    return {name: _profile(book, at) for at, name in enumerate(book.names)}


@dataclass(frozen=True)
class PuzzleOracle(Oracle):
    """Knows what the feedback leaves open; what is hidden shows in nothing but the feedback."""

    expected: Expected

    def state(self, world: World, journal: Sequence[Made]) -> State:
        """How many creatures are left, and which, if they are few; rounds that are left."""
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
        name = best_guess(self._left(guesses), self._everyone)
        call = Call(service="puzzle", tool="guess", arguments={"name": name})
        return [Subtask(goal=f"Guess {name}.", calls=[call])]

    @property
    def _everyone(self) -> dict[str, Profile]:
        return _profiles(self.expected.key, self.expected.creatures)

    def _left(self, guesses: Sequence[str]) -> list[str]:
        return consistent(self._everyone, guesses, self.expected.target)


def _guesses(journal: Sequence[Made]) -> list[str]:
    return [
        str(made.arguments["name"])
        for made in journal
        if made.ok and (made.service, made.tool) == ("puzzle", "guess")
    ]
