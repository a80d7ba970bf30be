"""The simulated player: its memory, its queries and its guesses.

It queries with what feedback told it, so every list holds the hidden creature. It guesses from what the query
returned, and among these one that agrees with what it remembers, the latest feedback first; never the hidden
creature and nothing twice.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mesocosm.kits.rollouts.encyclopaedia import SECTIONS, SETS, STATS, Encyclopaedia, EntryCondition
from mesocosm.kits.rollouts.transcript import Format, Round


class Behaviour(BaseModel):
    """The paper's parameters (Appendix C.3), and how large the lists are that the player asks for."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    history_window: int = Field(default=3, ge=1)
    """So many rounds of feedback are at hand."""
    forget_history_prob: float = Field(default=0.6, ge=0, le=1)
    """Probability that an older round is forgotten."""
    mask_prob: float = Field(default=0.3, ge=0, le=1)
    """Probability that a section is left out of a query."""
    max_mask_sections: int = Field(default=2, ge=0, le=5)
    """So many sections are left out at most."""
    epsilon: float = Field(default=0.3, ge=0, le=1)
    """Probability that a query is relaxed: half of its conditions are dropped."""
    min_share: float = Field(default=0.1, gt=0, lt=1)
    """A concise list holds at least this share of all creatures ..."""
    max_share: float = Field(default=0.3, gt=0, lt=1)
    """... or up to this share, drawn anew for each round."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_share > self.max_share:
            raise ValueError("min_share must not be above max_share")
        return self


SUSPECTS = 24
"""So many creatures are left by all lists together after the first tenth of a concise game."""
MOST_CONDITIONS = 10
_FEW = 2 * SUSPECTS
"""Maximum number of remaining creatures at which the player guesses none of them: the hidden one is among
them."""
_OLD_MEMORIES = 20
_STRICT = 0.7
"""Probability that the player prefers the most selective condition."""
_SECTIONS_ASKED = (1, 2, 2, 3)
"""Sections of a verbose query."""

Query = tuple[EntryCondition, ...]


class NobodyLeft(Exception):
    """Everybody was guessed."""


@dataclass
class PlayerState:
    """A game that is going on; everything that a round changes."""

    guess: int
    suspects: int
    """The number of candidates that the lists so far leave together."""
    tokens: list[int]
    """Of the whole game so far, for each vocabulary."""
    rounds: list[Round] = field(default_factory=list)
    guessed: int = 0
    highest: int = 0
    """The highest Base Stats that were guessed."""
    facts: dict[EntryCondition, None] = field(default_factory=dict)
    """All that feedback has said, oldest first: conditions that the hidden creature meets."""
    recent: list[list[EntryCondition]] = field(default_factory=list)
    """The rounds at hand, oldest first."""

    def copy(self) -> PlayerState:
        """The same, to go on from here more than once."""
        return replace(
            self,
            rounds=list(self.rounds),
            facts=dict(self.facts),
            recent=list(self.recent),
            tokens=list(self.tokens),
        )


@dataclass(frozen=True)
class SimulatedPlayer:
    """Plays for one hidden creature.

    Args:
        book: The creatures.
        format: What a query returns.
        behaviour: How the player behaves.
        rng: What its choices are drawn from.
        target: Place of the hidden creature.
    """

    book: Encyclopaedia
    format: Format
    behaviour: Behaviour
    rng: random.Random
    target: int

    @property
    def hidden(self) -> int:
        """The set of the hidden creature alone."""
        return self.book.only(self.target)

    # -- feedback ----------------------------------------------------------------------------------------

    def learn(self, state: PlayerState) -> None:
        """Take in the feedback on the guess."""
        said = self.facts(state.guess)
        state.recent = [*state.recent, said][-self.behaviour.history_window :]
        state.facts.update(dict.fromkeys(said))
        state.highest = max(state.highest, *self.book.entries[state.guess].traits[STATS])
        state.guessed |= self.book.only(state.guess)

    def facts(self, guess: int) -> list[EntryCondition]:
        """Derive conditions from a guess, one per value."""
        found: list[EntryCondition] = []
        hidden = self.book.entries[self.target].traits
        for section, values in enumerate(self.book.entries[guess].traits):
            right = hidden[section]
            if SECTIONS[section].kind == "number":
                sign = "==" if values[0] == right[0] else ">" if values[0] < right[0] else "<"
                found.append(EntryCondition(section, sign, values))  # type: ignore[arg-type]
            else:
                found += [EntryCondition(section, "any" if v in right else "none", (v,)) for v in values]
        return found

    def think(self, state: PlayerState) -> list[EntryCondition]:
        """List remembered conditions, latest first: recent ones, and some of the older ones."""
        thoughts = {fact: None for said in reversed(state.recent) for fact in said}
        for fact in self.some(list(state.facts)):
            if self.rng.random() >= self.behaviour.forget_history_prob:
                thoughts[fact] = None
        return list(thoughts)

    def some(self, facts: list[EntryCondition]) -> list[EntryCondition]:
        """A few of many facts."""
        return self.rng.sample(facts, min(len(facts), _OLD_MEMORIES))

    # -- queries -----------------------------------------------------------------------------------------

    def ask(self, state: PlayerState, thoughts: list[EntryCondition], *, wanted: int, most: int) -> Query:
        """Make a query from remembered conditions, leaving out masked ones, sometimes relaxed.

        Args:
            state: The game.
            thoughts: What comes to mind.
            wanted: Creatures that all concise lists together are to leave at least.
            most: Tokens that a verbose result has at most, at 5 for a name and 2 beside it.
        """
        masked = self._masked()
        kept = [fact for fact in thoughts if fact.section not in masked]
        relaxed = self.rng.random() < self.behaviour.epsilon
        kept = self.rng.sample(kept, len(kept) // 2 if relaxed else len(kept))
        if self.rng.random() < _STRICT:
            # What is right is asked for before what is wrong is left out: the sort is stable.
            kept.sort(key=lambda fact: fact.comparator == "none")
        chosen = self._concise(state, kept, wanted) if self.format == "c" else self._verbose(kept, most // 7)
        if not chosen:
            chosen = [max(state.recent[-1], key=lambda fact: self.book.meeting(fact).bit_count())]
        return merged(chosen)

    def _masked(self) -> set[int]:
        """Sections that are left out of a query."""
        player, masked = self.behaviour, set[int]()
        for section in self.rng.sample(range(len(SECTIONS)), len(SECTIONS)):
            if len(masked) < player.max_mask_sections and self.rng.random() < player.mask_prob:
                masked.add(section)
        return masked

    def _verbose(self, thoughts: list[EntryCondition], most: int) -> list[EntryCondition]:
        """The conditions of a few sections, as long as two creatures meet all of them."""
        asked = self.rng.choice(_SECTIONS_ASKED)
        chosen: list[EntryCondition] = []
        lists: dict[int, int] = {}
        met, names = self.book.everything, 0
        for fact in thoughts:
            mask = self.book.meeting(fact)
            known = lists.get(fact.section, 0)
            listed = known & mask if known else mask
            more = listed.bit_count() - known.bit_count()
            if not known and (len(lists) == asked or names + more > most):
                continue
            if (met & mask).bit_count() >= 2 and len(chosen) < MOST_CONDITIONS:
                chosen.append(fact)
                lists[fact.section] = listed
                met, names = met & mask, names + more
        return chosen

    def _concise(
        self, state: PlayerState, thoughts: list[EntryCondition], wanted: int
    ) -> list[EntryCondition]:
        """As many conditions as leave a long list, and leave the suspects as many as they should be."""
        share = self.rng.uniform(self.behaviour.min_share, self.behaviour.max_share)
        least = max(2, int(share * len(self.book)))
        met, suspects = self.book.everything, state.suspects
        wanted = min(wanted, suspects.bit_count())
        chosen: list[EntryCondition] = []
        settling = self._settling(state, wanted) if suspects.bit_count() > wanted else []
        for fact in [*settling, *thoughts]:
            mask = self.book.meeting(fact)
            fewer = met & mask
            if fewer != met and fewer.bit_count() >= least and (suspects & mask).bit_count() >= wanted:
                met, suspects = fewer, suspects & mask
                chosen.append(fact)
                if len(chosen) == MOST_CONDITIONS:
                    break
        return chosen

    def _settling(self, state: PlayerState, wanted: int) -> list[EntryCondition]:
        """Three facts that rule out suspects, but not too many of them; the more are left, the sharper."""
        facts = list(state.facts)
        if len(state.rounds) > 60:
            facts = self.some(facts) + self.some(facts)
        left = state.suspects.bit_count()
        leave = {fact: (state.suspects & self.book.meeting(fact)).bit_count() for fact in facts}
        found = [fact for fact, after in leave.items() if wanted <= after < left]
        drawn = self.rng.sample(found, min(3 if left <= 2 * wanted else 12, len(found)))
        return sorted(drawn, key=leave.__getitem__)[:3]

    def met(self, query: Query) -> int:
        """Return the creatures that meet all conditions."""
        met = self.book.everything
        for condition in query:
            met &= self.book.meeting(condition)
        return met

    def lists(self, query: Query) -> tuple[int, ...]:
        if self.format == "c":
            return (self.met(query),)
        by_section: dict[int, int] = {}
        for condition in query:
            met = by_section.get(condition.section, self.book.everything)
            by_section[condition.section] = met & self.book.meeting(condition)
        return tuple(by_section.values())

    # -- guesses -----------------------------------------------------------------------------------------

    def next_guess(self, state: PlayerState, met: int, thoughts: Sequence[EntryCondition]) -> int:
        """One of those returned that agrees with as much as possible of what comes to mind.

        Not one that all lists leave, once these are few, and none that ties with the highest Base Stats so
        far, so that a highest can be asked for. ``NobodyLeft`` if there is none.
        """
        free = self.book.everything & ~(state.guessed | self.hidden)
        tied = self.book.meeting(EntryCondition(STATS, "==", (state.highest,)))
        free = free & ~tied or free
        few = self.format == "c" and state.suspects.bit_count() <= _FEW
        away = free & ~state.suspects if few else free
        if not away:
            raise NobodyLeft
        pool = self._agreeing(away & met or away, state.recent[-1])
        if self.format == "c" and state.suspects.bit_count() <= 10 * _FEW:
            pool = self._telling(state, pool) or self._telling(state, away) or pool
        return self.any(self._agreeing(pool, thoughts))

    def _agreeing(self, pool: int, facts: Sequence[EntryCondition]) -> int:
        """Those of the pool that agree with as many facts as can be, the first of these first."""
        for fact in facts:
            pool = pool & self.book.meeting(fact) or pool
        return pool

    def _telling(self, state: PlayerState, away: int) -> int:
        """Return the creatures whose feedback would best separate the suspects, if none did yet."""
        ours = self.book.entries[self.target].traits
        suspects = self.book.indexes(state.suspects)
        held = Counter(
            (section, value)
            for suspect in suspects[:: 1 + len(suspects) // _FEW]
            for section in SETS
            for value in self.book.entries[suspect].traits[section]
            if value not in ours[section] and EntryCondition(section, "none", (value,)) not in state.facts
        )
        for (section, value), _ in held.most_common():
            if holders := away & self.book.meeting(EntryCondition(section, "any", (value,))):
                return holders
        return 0

    def any(self, creatures: int) -> int:
        """One of them."""
        return self.rng.choice(self.book.indexes(creatures))


def merged(chosen: list[EntryCondition]) -> Query:
    """One condition per section and comparator where that means the same, by section."""
    refused: dict[int, list[int]] = {}
    found: list[EntryCondition] = []
    bounds: dict[tuple[int, str], int] = {}
    for section, comparator, operands in chosen:
        if comparator == "none":
            refused.setdefault(section, []).extend(operands)
        elif comparator in (">", "<"):
            tighter = max if comparator == ">" else min
            known = bounds.get((section, comparator), operands[0])
            bounds[section, comparator] = tighter(known, operands[0])
        else:
            found.append(EntryCondition(section, comparator, operands))
    found += [EntryCondition(section, "none", tuple(values)) for section, values in refused.items()]
    found += [EntryCondition(section, sign, (number,)) for (section, sign), number in bounds.items()]  # type: ignore[arg-type]
    return tuple(sorted(set(found)))
