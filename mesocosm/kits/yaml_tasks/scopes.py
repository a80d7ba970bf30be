"""Names in scope within a statement, and an author's choices of wording."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

from mesocosm.kits.yaml_tasks.entities import Entity
from mesocosm.kits.yaml_tasks.language import for_expressions
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.kits.yaml_tasks.voices import Voice


class Scope:
    """Names in scope within a statement: those of the entity, and variations."""

    def __init__(self, truth: Truth, entity: Entity | None, rng: random.Random) -> None:
        self.rng = rng
        self._lookup = truth.telling(entity.lookup if entity else truth.lookup)
        self._varied = varied(rng, truth.now)

    def __call__(self, name: str) -> Any:
        return self._varied[name] if name in self._varied else self._lookup(name)


def varied(rng: random.Random, now: dt.datetime | None = None) -> dict[str, Callable[..., Any]]:
    """Functions of statements: one author's way to write."""
    voice = Voice(rng, now)

    @for_expressions
    def choice(*values: Any) -> Any:
        flat = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
        return rng.choice(flat)

    @for_expressions
    def chance(share: float) -> bool:
        return rng.random() < share

    return {
        "choice": choice,
        "chance": chance,
        "spoken": for_expressions(voice.moment),
        "spoken_day": for_expressions(voice.day),
        "spoken_time": for_expressions(voice.time),
    }


VARIED = {
    "choice": "`choice('a', 'b')`: one of these, for each statement anew.",
    "chance": "`chance(0.3)`: true in three of ten.",
    "spoken": "A moment as one author writes it: `spoken(start)`.",
    "spoken_day": "Its day alone.",
    "spoken_time": "Its time alone.",
}
"""Functions that only statements have, and what they do."""
