"""The last query of a game: one with which the game has the tokens it should have.

It is put together from what feedback has said, as the player's own queries are, but aimed: conditions are
added for as long as the result stays long enough. In the concise format it also leaves the hidden creature
alone among those that all lists hold; in the verbose one, if no round did so before, its lists have a few
creatures in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mesocosm.kits.rollouts.encyclopaedia import EntryCondition
from mesocosm.kits.rollouts.simulated_player import (
    MOST_CONDITIONS,
    PlayerState,
    Query,
    SimulatedPlayer,
    merged,
)
from mesocosm.kits.rollouts.token_counts import Counter
from mesocosm.kits.rollouts.transcript import Round, few_in_common

TOLERANCE = 0.01
"""Tolerance of a game's tokens."""
_GOOD_ENOUGH = {1: 0.002, 2: 0.006}
"""A last round that misses by no more is taken at once, by the number of vocabularies: twins differ."""
_TRIES = 60
_HOPELESS = 15
"""Tries of which none came near, after which there are no more."""
_FACTS = 80
"""So many facts are tried: the latest, and some of the others."""
_CALL = 60
"""Tokens of a call, about."""
_SECTIONS_ASKED = (1, 2, 2, 3, 4)


@dataclass(frozen=True)
class Ending:
    """Looks for the last query of a game.

    Args:
        player: Who plays.
        counters: One for each vocabulary in which the game is to have its tokens.
        budget: These tokens.
    """

    player: SimulatedPlayer
    counters: Sequence[Counter]
    budget: int

    def query(self, state: PlayerState) -> Query | None:
        """The last query, if the game can end with this round."""
        wanted = self._wanted(state)
        slack = max(40, int(0.003 * self.budget))
        best: tuple[float, Query] | None = None
        facts = self._facts(state) if wanted + slack > 0 else []
        tellers = self._tellers(state, facts) if self.player.format == "c" else facts
        done = self.player.format == "c" or any(few_in_common(round_.lists) for round_ in state.rounds)
        for tried in range(_TRIES if tellers else 0):
            if tried == _HOPELESS and best is None:
                break
            if self.player.format == "c":
                chosen = self._concise(state, tellers, facts, wanted - slack, wanted + slack)
            else:
                chosen = self._verbose(facts, wanted - slack, wanted + slack)
            if not chosen:
                continue
            query = merged(chosen)
            if not done and not few_in_common(self.player.lists(query)):
                continue
            miss = self._miss(state, query)
            if best is None or miss < best[0]:
                best = miss, query
            if miss <= _GOOD_ENOUGH[len(self.counters)] * self.budget:
                break
        # What the next guess adds is left out of account until now.
        return best[1] if best and best[0] <= 0.9 * TOLERANCE * self.budget else None

    def _facts(self, state: PlayerState) -> list[EntryCondition]:
        known = [fact for fact in state.facts if self._met(fact) != self.player.book.everything]
        if len(known) > _FACTS:
            half = _FACTS // 2
            known = [*known[-half:], *self.player.rng.sample(known[:-half], half)]
        return known

    def _met(self, fact: EntryCondition) -> int:
        return self.player.book.meeting(fact)

    def _wanted(self, state: PlayerState) -> int:
        """Tokens that the names of the result should have, about."""
        number = len(state.rounds) + 1
        had = [
            before + counter.feedback(number, state.guess) + counter.guess(state.guess)
            for before, counter in zip(state.tokens, self.counters, strict=True)
        ]
        return self.budget - (min(had) + max(had)) // 2 - _CALL

    def _miss(self, state: PlayerState, query: Query) -> float:
        """By how much the game would miss its length if it ended with this query."""
        round_ = Round(state.guess, query, self.player.lists(query), state.guess)
        number = len(state.rounds) + 1
        made = (sum(counter.round(number, round_)) for counter in self.counters)
        return max(abs(self.budget - had - more) for had, more in zip(state.tokens, made, strict=True))

    # -- one list ----------------------------------------------------------------------------------------

    def _tellers(self, state: PlayerState, facts: list[EntryCondition]) -> list[EntryCondition]:
        """Facts that rule suspects out; none unless they can rule out all of them together."""
        left = state.suspects
        for fact in facts:
            left &= self._met(fact)
        if left != self.player.hidden:
            return []
        return [fact for fact in facts if state.suspects & ~self._met(fact)]

    def _concise(
        self,
        state: PlayerState,
        tellers: list[EntryCondition],
        facts: list[EntryCondition],
        low: int,
        high: int,
    ) -> list[EntryCondition] | None:
        """Facts that leave no suspect and a list between ``low`` and ``high`` tokens."""
        rng, size = self.player.rng, self.counters[0].names
        book = self.player.book
        least = max(2, int(self.player.behaviour.min_share * len(book)))
        left, met = state.suspects & ~self.player.hidden, book.everything
        chosen: list[EntryCondition] = []
        while left:
            telling = [fact for fact in tellers if left & ~self._met(fact)]
            some = rng.sample(telling, min(3, len(telling)))
            fact = max(some, key=lambda one: (met & self._met(one)).bit_count())
            chosen.append(fact)
            left, met = left & self._met(fact), met & self._met(fact)
            if len(chosen) > MOST_CONDITIONS or met.bit_count() < least or size(met) < low:
                return None
        for fact in rng.sample(facts, len(facts)):
            if size(met) <= high or len(chosen) == MOST_CONDITIONS:
                break
            fewer = met & self._met(fact)
            if fewer != met and fewer.bit_count() >= least and size(fewer) >= low:
                chosen.append(fact)
                met = fewer
        return chosen if low <= size(met) <= high else None

    # -- several lists -----------------------------------------------------------------------------------

    def _verbose(self, facts: list[EntryCondition], low: int, high: int) -> list[EntryCondition] | None:
        """Facts about a few sections whose lists have between ``low`` and ``high`` tokens together."""
        rng, size = self.player.rng, self.counters[0].names
        asked = rng.choice(_SECTIONS_ASKED)
        lists: dict[int, int] = {}
        sizes: dict[int, int] = {}
        chosen: list[EntryCondition] = []
        met = self.player.book.everything
        for fact in rng.sample(facts, len(facts)):
            section = fact.section
            if section not in lists and len(lists) == asked:
                continue
            fewer = lists.get(section, self.player.book.everything) & self._met(fact)
            if fewer == lists.get(section) or (met & fewer).bit_count() < 2:
                continue
            after = {**sizes, section: size(fewer)}
            if len(lists) == asked and sum(after.values()) < low:
                continue
            lists[section], sizes, met = fewer, after, met & fewer
            chosen.append(fact)
            total = sum(sizes.values())
            if (len(lists) == asked and total <= high) or len(chosen) == MOST_CONDITIONS:
                break
        return chosen if low <= sum(sizes.values()) <= high else None
