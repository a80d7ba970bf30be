"""Others that are like those a task is about, and as many: for what lies among it and does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any


def some_others(own: str, codes: Sequence[str], rng: Random) -> list[str]:
    """One or two of the other codes; one that stands twice is the larger. With more of them, how often a code
    occurs would tell which is one's own."""
    first, second = rng.sample([code for code in codes if code != own], 2)
    return [first] if rng.random() < 0.6 else [first, first, second]


def draw_other(one: Mapping[str, Any], rng: Random) -> str:
    """One of the codes in its field ``others``: the hook of that name."""
    return str(rng.choice(one["others"]))
