"""Names in scope within a statement, and an author's choices of wording."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

from mesocosm.kits.yaml_tasks.entities import Entity
from mesocosm.kits.yaml_tasks.language import for_expressions
from mesocosm.kits.yaml_tasks.truth import Truth

# One author's way to write moments down, the same throughout a text.

_DAYS = (
    "{0:%A}, {0:%B} {0.day}, {0.year}",
    "{0:%A} {0.day} {0:%B} {0.year}",
    "{0:%B} {0.day}, {0.year}",
    "{0.day} {0:%B} {0.year}",
    "{0:%a} {0.day} {0:%b} {0.year}",
    "{0:%Y-%m-%d}",
)
_NEAR_DAYS = (
    "{0:%A} {0.day} {0:%B}",
    "{0:%A}, {0:%B} {0.day}",
    "{0:%A} the {nth} of {0:%B}",
    "the {nth} of {0:%B}",
    "{0:%B} {nth}",
    "{0:%a} {0.day} {0:%b}",
)
_NEAR = dt.timedelta(days=100)
"""Within it nobody writes the year, unless they always do."""
_BETWEEN = (" at {}", ", {}", " ({})")
_HOURS = ("twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_PARTS = {0: "{0} o'clock", 15: "quarter past {0}", 30: "half past {0}", 45: "quarter to {1}"}


class Voice:
    """Writes moments.

    Args:
        now: When the text is read: days near to it may stand without their year.
    """

    def __init__(self, rng: random.Random, now: dt.datetime | None = None) -> None:
        self._day = rng.choice(_DAYS)
        self._near_day = rng.choice(_NEAR_DAYS) if rng.random() < 0.6 else self._day
        self._clock = rng.choice(("24", "24", "dot", "12", "12", "words"))
        self._between = rng.choice(_BETWEEN)
        self._now = now

    def day(self, day: dt.date) -> str:
        """A day, with its year unless it is near."""
        near = False
        if self._now is not None:
            there = day.date() if isinstance(day, dt.datetime) else day
            near = abs(there - self._now.date()) < _NEAR
        return (self._near_day if near else self._day).format(day, nth=_nth(day.day))

    def time(self, moment: dt.datetime) -> str:
        if self._clock == "24" or (self._clock == "words" and moment.minute not in _PARTS):
            return f"{moment:%H:%M}"
        half = "am" if moment.hour < 12 else "pm"
        if self._clock == "words":
            hours = _HOURS[moment.hour % 12], _HOURS[(moment.hour + 1) % 12]
            of = "in the morning" if moment.hour < 12 else "in the afternoon"
            return f"{_PARTS[moment.minute].format(*hours)} {of if moment.hour < 18 else 'in the evening'}"
        if self._clock == "dot":
            return f"{(moment.hour - 1) % 12 + 1}.{moment:%M} {half}"
        return f"{(moment.hour - 1) % 12 + 1}:{moment:%M} {half}"

    def moment(self, moment: dt.datetime) -> str:
        """Day and time."""
        return self.day(moment) + self._between.format(self.time(moment))


def _nth(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


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
