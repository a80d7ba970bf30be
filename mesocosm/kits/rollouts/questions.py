"""Eight types of questions about a rollout, each with its gold and the messages that hold its evidence.

Golds are computed from the rounds that were kept. What could be guessed without reading is balanced over the
``turn`` of a question (its place in a dataset, or the seed of a task): yes and no, 0 and 1, the number of
right sections. What has no single answer is not asked: ties for the largest value, followers that are
missing. Weighted sums always differ.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from mesocosm.kits.rollouts.encyclopaedia import ABILITIES, HABITAT, SECTIONS, STATS, TYPE
from mesocosm.kits.rollouts.engine import Unfit
from mesocosm.kits.rollouts.transcript import (
    Rollout,
    feedback_at,
    few_in_common,
    result_at,
    sections_of,
)

Type = Literal[
    "count_frequency_tool",
    "find_duplicates_tool",
    "find_target_offsets_tool",
    "count_correctness_env",
    "count_frequency_env",
    "find_round_largest_value_env",
    "weighted_summation_env",
    "intersection",
]
TYPES: tuple[Type, ...] = get_args(Type)


@dataclass(frozen=True)
class RolloutQuestion:
    """One question, without words."""

    type: Type
    rounds: tuple[int, ...]
    """The rounds that it names."""
    gold: tuple[int, ...]
    """A number, 1 or 0 for yes or no, or places of creatures (in order, where there is one)."""
    evidence: tuple[int, ...]
    """Indexes of the messages that have to be read for the answer, ascending."""
    creature: int | None = None
    section: int | None = None
    value: int | None = None


Draw = Callable[[random.Random, Rollout, int], RolloutQuestion]
_DRAWS: dict[Type, Draw] = {}


def ask(kind: Type, rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    """A question of this type; raises ``Unfit`` where the rollout has no place for one."""
    return _DRAWS[kind](rng, rollout, turn)


def _asks(kind: Type) -> Callable[[Draw], Draw]:
    def register(draw: Draw) -> Draw:
        _DRAWS[kind] = draw
        return draw

    return register


def _some_round(rng: random.Random, rollout: Rollout) -> int:
    return rng.randint(1, len(rollout.rounds))


def _listed(rollout: Rollout, number: int) -> int:
    """The creatures that are anywhere in the result of a round."""
    found = 0
    for creatures in rollout.rounds[number - 1].lists:
        found |= creatures
    return found


def _listed_so_often(rollout: Rollout, number: int, times: int) -> int:
    """The creatures that occur exactly so often in the result of a round."""
    exactly = [rollout.book.everything, *[0] * len(rollout.rounds[number - 1].lists)]
    for creatures in rollout.rounds[number - 1].lists:
        exactly = [
            (same & ~creatures) | (fewer & creatures)
            for same, fewer in zip(exactly, [0, *exactly], strict=False)
        ]
    return exactly[times]


def _one_of(rng: random.Random, rollout: Rollout, creatures: int, why: str) -> int:
    if not creatures:
        raise Unfit(why)
    return rng.choice(rollout.book.indexes(creatures))


# -- in tool results -----------------------------------------------------------------------------------------


@_asks("count_frequency_tool")
def _count_frequency_tool(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    # Of results with several lists, in which no number is the answer more often than another.
    several = [at for at, round_ in enumerate(rollout.rounds, 1) if len(round_.lists) > 1]
    number = rng.choice(several) if several else _some_round(rng, rollout)
    times = turn % (len(rollout.rounds[number - 1].lists) + 1)
    others = [_listed(rollout, other) for other in rng.sample(range(1, len(rollout.rounds) + 1), 2)]
    wanted = _listed_so_often(rollout, number, times)
    # One that is not in this round is preferred to be in others: absence alone should not give it away.
    elsewhere = wanted & (others[0] | others[1])
    creature = _one_of(rng, rollout, elsewhere or wanted, "no creature occurs so often")
    return RolloutQuestion(
        "count_frequency_tool", (number,), (times,), (result_at(number),), creature=creature
    )


@_asks("find_duplicates_tool")
def _find_duplicates_tool(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    first, second = sorted(rng.sample(range(1, len(rollout.rounds) + 1), 2))
    one, other = _listed(rollout, first), _listed(rollout, second)
    # No means: in one of them only, in turns the earlier and the later.
    wanted = one & other if turn % 2 == 0 else one & ~other if turn % 4 == 1 else other & ~one
    wanted &= ~rollout.book.only(rollout.target)
    creature = _one_of(rng, rollout, wanted, "no creature is in just one of two results")
    evidence = (result_at(first), result_at(second))
    return RolloutQuestion(
        "find_duplicates_tool", (first, second), (int(turn % 2 == 0),), evidence, creature=creature
    )


@_asks("find_target_offsets_tool")
def _find_target_offsets_tool(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    number = _some_round(rng, rollout)
    round_ = rollout.rounds[number - 1]
    at = rng.randrange(len(round_.lists))
    listed = rollout.book.indexes(round_.lists[at])
    if len(listed) < 3:
        raise Unfit("a list is too short for two followers")
    place = rng.randrange(len(listed) - 2)
    section = sections_of(round_.query)[at][0] if rollout.format == "v" else None
    return RolloutQuestion(
        "find_target_offsets_tool",
        (number,),
        tuple(listed[place + 1 : place + 3]),
        (result_at(number),),
        creature=listed[place],
        section=section,
    )


# -- in feedback ---------------------------------------------------------------------------------------------


@_asks("count_correctness_env")
def _count_correctness_env(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    by_count: dict[int, list[int]] = {}
    for number in range(1, len(rollout.rounds) + 1):
        by_count.setdefault(sum(map(all, rollout.verdicts(number))), []).append(number)
    counts = sorted(by_count)
    count = counts[turn % len(counts)]
    number = rng.choice(by_count[count])
    return RolloutQuestion("count_correctness_env", (number,), (count,), (feedback_at(number),))


def _all_feedback(rollout: Rollout) -> tuple[int, ...]:
    return tuple(feedback_at(number) for number in range(1, len(rollout.rounds) + 1))


@_asks("count_frequency_env")
def _count_frequency_env(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    seen = Counter(
        (section, value)
        for round_ in rollout.rounds
        for section in (TYPE, ABILITIES, HABITAT)
        for value in rollout.book.entries[round_.guess].traits[section]
    )
    # The number is chosen before the value: most values are rare, and "once" must not be the usual answer.
    counts = sorted(set(seen.values()))
    count = counts[turn % len(counts)]
    section, value = rng.choice(sorted(one for one, times in seen.items() if times == count))
    return RolloutQuestion(
        "count_frequency_env", (), (count,), _all_feedback(rollout), section=section, value=value
    )


@_asks("find_round_largest_value_env")
def _find_round_largest_value_env(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    totals = [rollout.book.entries[round_.guess].traits[STATS][0] for round_ in rollout.rounds]
    highest = max(totals)
    if totals.count(highest) > 1:
        raise Unfit("two rounds have the largest value")
    gold = totals.index(highest) + 1
    return RolloutQuestion("find_round_largest_value_env", (), (gold,), _all_feedback(rollout), section=STATS)


def score(verdicts: Sequence[Sequence[bool]]) -> int:
    """The weighted score of a round's feedback."""
    return sum(section.weight * sum(marks) for section, marks in zip(SECTIONS, verdicts, strict=True))


@_asks("weighted_summation_env")
def _weighted_summation_env(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    by_score: dict[int, list[int]] = {}
    for number in range(1, len(rollout.rounds) + 1):
        by_score.setdefault(score(rollout.verdicts(number)), []).append(number)
    if len(by_score) < 2:
        raise Unfit("all rounds have the same weighted score")
    one, other = rng.sample(sorted(by_score), 2)
    first, second = sorted((rng.choice(by_score[one]), rng.choice(by_score[other])))
    return RolloutQuestion(
        "weighted_summation_env",
        (first, second),
        (abs(one - other),),
        (feedback_at(first), feedback_at(second)),
    )


# -- the final guess -----------------------------------------------------------------------------------------


@_asks("intersection")
def _intersection(rng: random.Random, rollout: Rollout, turn: int) -> RolloutQuestion:
    return _whole_intersection(rollout) if rollout.format == "c" else _round_intersection(rng, rollout)


def _whole_intersection(rollout: Rollout) -> RolloutQuestion:
    left = rollout.book.everything
    for round_ in rollout.rounds:
        left &= round_.lists[0]
    if left != rollout.book.only(rollout.target):
        raise Unfit("the lists leave more than the hidden creature")
    evidence = tuple(result_at(number) for number in range(1, len(rollout.rounds) + 1))
    return RolloutQuestion("intersection", (), (rollout.target,), evidence)


def _round_intersection(rng: random.Random, rollout: Rollout) -> RolloutQuestion:
    fitting = {
        number: common
        for number, round_ in enumerate(rollout.rounds, 1)
        if (common := few_in_common(round_.lists))
    }
    if not fitting:
        raise Unfit("no round has lists with a few creatures in common")
    number = rng.choice(sorted(fitting))
    gold = tuple(rollout.book.indexes(fitting[number]))
    return RolloutQuestion("intersection", (number,), gold, (result_at(number),))
