"""The rollout engine: a forgetful player's rounds, up to a number of tokens, cut at a whole round.

The player queries with what feedback told it, so every list holds the hidden creature, and guesses from what
the query returned, never the hidden creature and nothing twice.

In the concise format the game is specialised on the way: the lists of all rounds together leave exactly the
hidden creature, and until the end of the game they leave several (``_Plan``), so that the last query that
matters comes late and no list gives the answer away.

The last round is the one of many that the player might have made with which the game has the tokens it
should have, in every vocabulary that is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mesocosm.errors import UsageError
from mesocosm.families.quantities import show_length
from mesocosm.kits.rollouts.behaviour import Behaviour
from mesocosm.kits.rollouts.encyclopaedia import (
    SECTIONS,
    SETS,
    Condition,
    Encyclopaedia,
)
from mesocosm.kits.rollouts.transcript import Format, Rollout, Round, Scribe
from mesocosm.kits.rollouts.twins import Vocabulary
from mesocosm.worlds import tokens

TOLERANCE = 0.01
"""How far the tokens of a game may be from its target."""
_GOOD_ENOUGH = {1: 0.002, 2: 0.006}
"""A last round that misses by no more is taken at once, by the number of vocabularies: twins differ."""
_ATTEMPTS = 12
_ENDINGS = 9
_LAST_TRIES = 160
_SUSPECTS = 24
"""So many creatures are left by all lists together after the first tenth of a concise game."""
_HOPELESS = 24
"""Tries for a last round without one that leaves only the hidden creature, after which there are no more."""
_OLD_MEMORIES = 20
_MOST_CONDITIONS = 10
_STRICT = 0.7
"""How likely the player prefers what narrows a list most."""
_SECTIONS_ASKED = (1, 2, 2, 3)
"""Sections of a verbose query."""


class Unfit(Exception):
    """This attempt at a game does not have what is asked of it; another may."""


@dataclass
class _Game:
    """A game that is going on; everything that a step changes."""

    guess: int
    rounds: list[Round] = field(default_factory=list)
    guessed: int = 0
    facts: dict[Condition, None] = field(default_factory=dict)
    """All that feedback has said, oldest first: conditions that the hidden creature meets."""
    recent: list[list[Condition]] = field(default_factory=list)
    suspects: int = 0
    """What the lists so far leave together."""
    tokens: list[int] = field(default_factory=list)
    """Of the whole game so far, for each vocabulary."""

    def copy(self) -> _Game:
        return replace(
            self,
            rounds=list(self.rounds),
            facts=dict(self.facts),
            recent=list(self.recent),
            tokens=list(self.tokens),
        )


@dataclass(frozen=True)
class Engine:
    """Plays games of one encyclopaedia.

    Args:
        book: The creatures.
        vocabularies: In which a game is to have its tokens, within 1 %.
        format: What a query returns.
        behaviour: How the player behaves.
        rounds_allowed: The limit that the feedback speaks of; by the length of the game if left out.
    """

    book: Encyclopaedia
    vocabularies: Sequence[Vocabulary]
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

    def __init__(self, engine: Engine, rng: random.Random, target_tokens: int) -> None:
        self.book, self.format, self.behaviour = engine.book, engine.format, engine.behaviour
        self.rng, self.budget = rng, target_tokens
        allowed = engine.rounds_allowed or 10 * (2 + target_tokens // (10 * self._least_round()))
        self.scribes = [Scribe(words, self.format, allowed) for words in engine.vocabularies]
        self.allowed = allowed
        self.target = rng.randrange(len(self.book))
        self.hidden = self.book.only(self.target)

    def _least_round(self) -> int:
        share = self.behaviour.min_share if self.format == "c" else 0.3
        return 100 + int(4 * share * len(self.book))

    def play(self) -> Rollout:
        """The game."""
        first = self._any(self.book.everything & ~self.hidden)
        game = _Game(guess=first, guessed=self.book.only(first) | self.hidden, suspects=self.book.everything)
        game.tokens = [tokens.count(scribe.system + "\n") for scribe in self.scribes]
        before: list[_Game] = []
        while True:
            before = [*before[-2:], game.copy()]
            self._learn(game)
            self._check_twins(game)
            left = self.budget - max(game.tokens)
            if left < 2.2 * self._typical(game):
                break
            self._step(game, self._query(game))
        # The last rounds are played anew until one ends where it should.
        for ending in range(_ENDINGS):
            game = before[max(0, len(before) - 1 - ending // 3)].copy()
            self._learn(game)
            if self._end(game):
                return Rollout(self.book, self.target, self.format, self.allowed, game.rounds)
        raise Unfit("its last round could not be made to fit the length")

    def _check_twins(self, game: _Game) -> None:
        """Refuse early where no last round could bring all vocabularies near the target."""
        if max(game.tokens) - min(game.tokens) > 1.9 * TOLERANCE * self.budget:
            raise UsageError(
                f"with {len(self.book):,} creatures the twins of a game of {show_length(self.budget)} tokens "
                "differ by more than 2 %; take more creatures"
            )

    def _typical(self, game: _Game) -> float:
        """Tokens of a round as they have been so far."""
        begun = len(game.rounds)
        return max(game.tokens) / begun if begun else self._least_round()

    def _end(self, game: _Game) -> bool:
        """Play on to a last round with which the length is right; whether there was one."""
        for _ in range(4):
            if self._last_round(game):
                return True
            self._step(game, self._query(game))
            self._learn(game)
            if max(game.tokens) > self.budget:
                return False
        return False

    def _last_round(self, game: _Game) -> bool:
        best: tuple[float, tuple[Condition, ...]] | None = None
        for tried in range(_LAST_TRIES):
            if tried == _HOPELESS and best is None:
                break
            query = self._query(game, last=True)
            if self.format == "c" and game.suspects & self._met(query) != self.hidden:
                continue
            miss = self._miss(game, query)
            if best is None or miss < best[0]:
                best = miss, query
            if miss <= _GOOD_ENOUGH[len(self.scribes)] * self.budget:
                break
        if best is None or best[0] > TOLERANCE * self.budget * 0.9:
            return False
        self._step(game, best[1])
        return self._off(game.tokens) <= TOLERANCE * self.budget

    def _off(self, counted: Sequence[int]) -> float:
        return max(abs(self.budget - count) for count in counted)

    def _miss(self, game: _Game, query: tuple[Condition, ...]) -> float:
        """By how much the game would miss its length if it ended with this query."""
        round_ = Round(game.guess, query, self._lists(query), game.guess)
        made = (self._round_tokens(game, scribe, round_) for scribe in self.scribes)
        return self._off([had + more for had, more in zip(game.tokens, made, strict=True)])

    def _round_tokens(self, game: _Game, scribe: Scribe, round_: Round) -> int:
        return sum(scribe.tokens(len(game.rounds) + 1, round_, self.book, self.target))

    # -- one round ---------------------------------------------------------------------------------------

    def _learn(self, game: _Game) -> None:
        """Take in the feedback on the guess."""
        said = list(self._facts(game.guess))
        game.recent = [*game.recent[1 - self.behaviour.history_window :], said]
        if self.behaviour.history_window == 1:
            game.recent = [said]
        for fact in said:
            game.facts[fact] = None

    def _facts(self, guess: int) -> list[Condition]:
        """What follows from a guess, one condition per value."""
        found: list[Condition] = []
        hidden = self.book.entries[self.target].traits
        for section, values in enumerate(self.book.entries[guess].traits):
            right = hidden[section]
            if SECTIONS[section].kind == "number":
                sign = "==" if values[0] == right[0] else ">" if values[0] < right[0] else "<"
                found.append(Condition(section, sign, values))  # type: ignore[arg-type]
            else:
                found += [Condition(section, "any" if v in right else "none", (v,)) for v in values]
        return found

    def _step(self, game: _Game, query: tuple[Condition, ...]) -> None:
        lists = self._lists(query)
        met = self._met(query)
        game.suspects &= met
        round_ = Round(game.guess, query, lists, self._next_guess(game, met))
        for at, scribe in enumerate(self.scribes):
            game.tokens[at] += self._round_tokens(game, scribe, round_)
        game.rounds.append(round_)
        game.guess = round_.answer
        game.guessed |= self.book.only(round_.answer)

    def _met(self, query: tuple[Condition, ...]) -> int:
        met = self.book.everything
        for condition in query:
            met &= self.book.meeting(condition)
        return met

    def _lists(self, query: tuple[Condition, ...]) -> tuple[int, ...]:
        if self.format == "c":
            return (self._met(query),)
        by_section: dict[int, int] = {}
        for condition in query:
            met = by_section.get(condition.section, self.book.everything)
            by_section[condition.section] = met & self.book.meeting(condition)
        return tuple(by_section.values())

    def _next_guess(self, game: _Game, met: int) -> int:
        """From what was returned if that is possible; not what all lists leave, once these are few."""
        free = self.book.everything & ~game.guessed
        few = self.format == "c" and game.suspects.bit_count() <= 2 * _SUSPECTS
        away = free & ~game.suspects if few else free
        if not away:
            raise UsageError(
                f"an encyclopaedia of {len(self.book):,} creatures is too small for "
                f"{show_length(self.budget)} tokens: after {len(game.rounds):,} rounds none is left to guess"
            )
        if few and (telling := self._telling(game, away)):
            return telling
        return self._any(away & met or away)

    def _telling(self, game: _Game, away: int) -> int | None:
        """A guess whose feedback will tell one of the suspects from the hidden creature."""
        if self.rng.random() < 0.5 or any(
            game.suspects & ~self.book.meeting(fact) for fact in self._some(list(game.facts))
        ):
            return None
        suspect = self._any(game.suspects & ~self.hidden or game.suspects)
        theirs, ours = self.book.entries[suspect].traits, self.book.entries[self.target].traits
        for section in self.rng.sample(SETS, len(SETS)):
            for value in theirs[section]:
                holders = away & self.book.meeting(Condition(section, "any", (value,)))
                if value not in ours[section] and holders:
                    return self._any(holders)
        return None

    def _any(self, creatures: int) -> int:
        return self.rng.choice(self.book.indexes(creatures))

    # -- queries -----------------------------------------------------------------------------------------

    def _query(self, game: _Game, *, last: bool = False) -> tuple[Condition, ...]:
        thoughts = self._remembered(game, last=last)
        self.rng.shuffle(thoughts)
        if self.rng.random() < _STRICT:
            # What is right is asked for before what is wrong is left out: the sort is stable.
            thoughts.sort(key=lambda fact: fact.comparator == "none")
        chosen = self._concise(game, thoughts, last) if self.format == "c" else self._verbose(thoughts, last)
        if not chosen:
            chosen = [max(game.recent[-1], key=lambda fact: self.book.meeting(fact).bit_count())]
        return _merged(chosen)

    def _remembered(self, game: _Game, *, last: bool) -> list[Condition]:
        """What the player thinks of: what is at hand, some of what is not, less what is masked."""
        player, rng = self.behaviour, self.rng
        thoughts = {fact: None for said in game.recent for fact in said}
        for fact in self._some(list(game.facts)):
            if last or rng.random() >= player.forget_history_prob:
                thoughts[fact] = None
        masked: set[int] = set()
        for section in rng.sample(range(len(SECTIONS)), len(SECTIONS)):
            if len(masked) < player.max_mask_sections and rng.random() < player.mask_prob:
                masked.add(section)
        kept = [fact for fact in thoughts if fact.section not in masked]
        if not last and rng.random() < player.epsilon:
            kept = rng.sample(kept, len(kept) // 2)
        return kept

    def _some(self, facts: list[Condition]) -> list[Condition]:
        return self.rng.sample(facts, min(len(facts), _OLD_MEMORIES))

    def _verbose(self, thoughts: list[Condition], last: bool) -> list[Condition]:
        """The conditions of a few sections, as long as two creatures meet all of them."""
        asked = self.rng.choice(_SECTIONS_ASKED) if not last else self.rng.randint(1, 4)
        chosen: list[Condition] = []
        sections: set[int] = set()
        met = self.book.everything
        for fact in thoughts:
            if fact.section not in sections and len(sections) == asked:
                continue
            fewer = met & self.book.meeting(fact)
            if fewer.bit_count() >= 2 and len(chosen) < _MOST_CONDITIONS:
                chosen.append(fact)
                sections.add(fact.section)
                met = fewer
        return chosen

    def _concise(self, game: _Game, thoughts: list[Condition], last: bool) -> list[Condition]:
        """As many conditions as leave a long list, and leave the suspects as many as they should be."""
        share = self.rng.uniform(self.behaviour.min_share, self.behaviour.max_share)
        if last:
            share = self.rng.uniform(self.behaviour.min_share, min(0.95, 2 * self.behaviour.max_share))
        least = max(2, int(share * len(self.book)))
        wanted = 1 if last else self._suspects_wanted(game)
        met, suspects = self.book.everything, game.suspects
        chosen: list[Condition] = []
        settling = self._settling(game, wanted) if suspects.bit_count() > wanted else []
        for fact in [*settling, *thoughts]:
            mask = self.book.meeting(fact)
            fewer = met & mask
            if (
                fewer != met
                and fewer.bit_count() >= least
                and (suspects & mask).bit_count() >= min(wanted, suspects.bit_count())
            ):
                met, suspects = fewer, suspects & mask
                chosen.append(fact)
                if len(chosen) == _MOST_CONDITIONS:
                    break
        return chosen

    def _suspects_wanted(self, game: _Game) -> int:
        """How many creatures all lists together should leave by now: few less with every round."""
        done = max(game.tokens) / self.budget
        return max(2, round(_SUSPECTS * (1 - done / 0.95))) if done < 0.95 else 1

    def _settling(self, game: _Game, wanted: int) -> list[Condition]:
        """Facts that rule out suspects, but not too many of them."""
        facts = list(game.facts)
        if len(game.rounds) > 60:
            facts = self._some(facts) + self._some(facts)
        left = game.suspects.bit_count()
        found = [
            fact for fact in facts if wanted <= (game.suspects & self.book.meeting(fact)).bit_count() < left
        ]
        self.rng.shuffle(found)
        return found[: 3 if wanted > 1 else 12]


def _merged(chosen: list[Condition]) -> tuple[Condition, ...]:
    """One condition per section and comparator where that means the same, by section."""
    refused: dict[int, list[int]] = {}
    found: list[Condition] = []
    bounds: dict[tuple[int, str], int] = {}
    for section, comparator, operands in chosen:
        if comparator == "none":
            refused.setdefault(section, []).extend(operands)
        elif comparator in (">", "<"):
            tighter = max if comparator == ">" else min
            known = bounds.get((section, comparator), operands[0])
            bounds[section, comparator] = tighter(known, operands[0])
        else:
            found.append(Condition(section, comparator, operands))
    found += [Condition(section, "none", tuple(values)) for section, values in refused.items()]
    found += [Condition(section, sign, (number,)) for (section, sign), number in bounds.items()]  # type: ignore[arg-type]
    return tuple(sorted(set(found)))
