"""Baselines: scores of answers that know nothing of the history, or half of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mesocosm.kits.rollouts.predictions import ScoredQuestion
from mesocosm.kits.rollouts.questions import Type
from mesocosm.kits.rollouts.transcript import Format

CLOSED: tuple[Type, ...] = (
    "count_frequency_tool",
    "find_duplicates_tool",
    "count_correctness_env",
    "count_frequency_env",
    "weighted_summation_env",
)
"""Types whose answers are few, so that one of them is often right; names and rounds are many."""
Kind = tuple[Type, Format]


def chances(scores: Iterable[ScoredQuestion]) -> dict[Kind, float]:
    """By type and format what the best constant answer is worth, over all questions there are.

    Who reads one of two results, and answers as it says, does better on ``find_duplicates_tool``: a creature
    that is not in both is as often missing in the first as in the second.
    """
    golds: dict[Kind, dict[str, tuple[str, ...]]] = {}
    for one in scores:
        if one.gold:
            golds.setdefault((one.type, one.format), {})[one.id] = tuple(one.gold)
    return {kind: _chance(kind[0], list(found.values())) for kind, found in golds.items()}


def _chance(type: Type, golds: Sequence[tuple[str, ...]]) -> float:
    if type not in CLOSED:
        return 0.0
    counted = Counter(golds)
    best = max(counted.values()) / len(golds)
    if type != "find_duplicates_tool":
        return best
    yes = counted["yes",] / len(golds)
    return max(best, yes + (1 - yes) / 2)


def chance_of(scores: Sequence[ScoredQuestion], known: Mapping[Kind, float]) -> float | None:
    """The chance of some questions together; ``None`` where it is not known of one."""
    found = [known.get((one.type, one.format)) for one in scores]
    return None if None in found else sum(one or 0.0 for one in found) / len(found)


def above_chance(accuracy: float, chance: float | None) -> float | None:
    """Rescale an accuracy so that chance is 0 and everything right is 1."""
    return None if chance is None or chance >= 1 else (accuracy - chance) / (1 - chance)
