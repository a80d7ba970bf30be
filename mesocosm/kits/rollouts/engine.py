"""The rollout engine: a forgetful player's rounds, up to a number of tokens, cut at a whole round.

In the concise format the game is specialised on the way: the lists of all rounds together leave exactly the
hidden creature, and until the last round they leave several (``_suspects_wanted``), so that the last query
matters and no list gives the answer away.

The last round is searched for (``ending``): with it the game has the tokens it should have, in every
vocabulary that is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from mesocosm.errors import UsageError
from mesocosm.families.quantities import show_length
from mesocosm.kits.rollouts.encyclopaedia import Encyclopaedia, EntryCondition
from mesocosm.kits.rollouts.last_query import TOLERANCE, Ending
from mesocosm.kits.rollouts.simulated_player import (
    SUSPECTS,
    Behaviour,
    NobodyLeft,
    PlayerState,
    Query,
    SimulatedPlayer,
)
from mesocosm.kits.rollouts.token_counts import Counter
from mesocosm.kits.rollouts.transcript import Format, Rollout, Round, Scribe
from mesocosm.kits.rollouts.twins import SymbolVocabulary

_ATTEMPTS = 12
_ENDINGS = 6
"""Attempts at the last rounds until the game can end."""


class Unfit(Exception):
    """This attempt at a game does not have what is asked of it; another may."""


@dataclass(frozen=True)
class RolloutEngine:
    """Plays games of one encyclopaedia.

    Args:
        book: The creatures.
        vocabularies: In which a game is to have its tokens, within 1 %.
        format: What a query returns.
        behaviour: How the player behaves.
        rounds_allowed: The limit that the feedback speaks of; by the length of the game if left out.
    """

    book: Encyclopaedia
    vocabularies: Sequence[SymbolVocabulary]
    format: Format
    behaviour: Behaviour = field(default_factory=Behaviour)
    rounds_allowed: int | None = None

    def play(self, rng: random.Random, target_tokens: int) -> Rollout:
        """One game of so many tokens; ``UsageError`` where these creatures do not allow it."""
        last: Unfit | None = None
        for _ in range(_ATTEMPTS):
            try:
                return _Attempt(self, rng, target_tokens).play()
            except Unfit as error:
                last = error
        raise UsageError(
            f"an encyclopaedia of {len(self.book):,} creatures gives no game of "
            f"{show_length(target_tokens)} tokens: {last}"
        )


class _Attempt:
    """One game from its beginning to its end, or ``Unfit``."""

    def __init__(self, engine: RolloutEngine, rng: random.Random, target_tokens: int) -> None:
        self.book, self.budget = engine.book, target_tokens
        share = engine.behaviour.min_share if engine.format == "c" else 0.3
        self.least_round = 100 + int(4 * share * len(self.book))
        self.allowed = engine.rounds_allowed or 10 * (2 + target_tokens // (10 * self.least_round))
        target = rng.randrange(len(self.book))
        self.counters = [
            Counter(Scribe(words, engine.format, self.allowed), self.book, target)
            for words in engine.vocabularies
        ]
        self.player = SimulatedPlayer(self.book, engine.format, engine.behaviour, rng, target)

    def play(self) -> Rollout:
        state = PlayerState(
            guess=self.player.any(self.book.everything & ~self.player.hidden),
            suspects=self.book.everything,
            tokens=[counter.system() for counter in self.counters],
        )
        before: list[PlayerState] = []
        while (left := self.budget - max(state.tokens)) > 2.2 * self._typical(state):
            if left < 5 * self._typical(state):
                before = [*before[-2:], state.copy()]
            self._round(state)
            self._check_twins(state)
        before.append(state)
        ending = Ending(self.player, self.counters, self.budget)
        # The last rounds are played anew, from further and further back, until one ends where it should.
        for number in range(_ENDINGS):
            state = before[max(0, len(before) - 1 - number // 2)].copy()
            if self._end(state, ending):
                player = self.player
                return Rollout(self.book, player.target, player.format, self.allowed, state.rounds)
        raise Unfit(
            "its last round could not be made to fit the length; with fewer creatures rounds are shorter"
        )

    def _check_twins(self, state: PlayerState) -> None:
        """Refuse early where no last round could bring all vocabularies near the target."""
        if max(state.tokens) - min(state.tokens) > 1.9 * TOLERANCE * self.budget:
            raise UsageError(
                f"with {len(self.book):,} creatures the twins of a game of {show_length(self.budget)} tokens "
                "differ by more than 2 %; take more creatures"
            )

    def _typical(self, state: PlayerState) -> float:
        """Tokens of a round as they have been so far."""
        begun = len(state.rounds)
        return max(state.tokens) / begun if begun else self.least_round

    def _end(self, state: PlayerState, ending: Ending) -> bool:
        """Play on to a last round with which the length is right; whether there was one."""
        while max(state.tokens) < self.budget:
            self.player.learn(state)
            if query := ending.query(state):
                self._add(state, query)
                return max(abs(self.budget - had) for had in state.tokens) <= TOLERANCE * self.budget
            self._round(state, learned=True)
        return False

    def _round(self, state: PlayerState, *, learned: bool = False) -> None:
        if not learned:
            self.player.learn(state)
        thoughts = self.player.think(state)
        wanted, most = self._suspects_wanted(state), self.budget // 4
        self._add(state, self.player.ask(state, thoughts, wanted=wanted, most=most), thoughts)

    def _add(self, state: PlayerState, query: Query, thoughts: Sequence[EntryCondition] = ()) -> None:
        met = self.player.met(query)
        state.suspects &= met
        try:
            answer = self.player.next_guess(state, met, thoughts)
        except NobodyLeft:
            raise UsageError(
                f"an encyclopaedia of {len(self.book):,} creatures is too small for "
                f"{show_length(self.budget)} tokens: after {len(state.rounds):,} rounds none is left to guess"
            ) from None
        round_ = Round(state.guess, query, self.player.lists(query), answer)
        number = len(state.rounds) + 1
        for at, counter in enumerate(self.counters):
            state.tokens[at] += sum(counter.round(number, round_))
        state.rounds.append(round_)
        state.guess = answer

    def _suspects_wanted(self, state: PlayerState) -> int:
        """Return the number of creatures that all lists together should leave by now: fewer each round, never
        one.
        """
        done = max(state.tokens) / self.budget
        return max(2, round(SUSPECTS * (1 - done / 0.95)))
