"""One author's way to write moments down, the same throughout a text."""

from __future__ import annotations

import datetime as dt
import random

_DAYS = (
    "{0:%A}, {0:%B} {0.day}, {0.year}",
    "{0:%A} {0.day} {0:%B} {0.year}",
    "{0:%B} {0.day}, {0.year}",
    "{0.day} {0:%B} {0.year}",
    "{0:%a} {0.day} {0:%b} {0.year}",
    "{0:%Y-%m-%d}",
)
_BETWEEN = (" at {}", ", {}", " ({})")


class Voice:
    """Writes moments."""

    def __init__(self, rng: random.Random) -> None:
        self._day = rng.choice(_DAYS)
        self._half = rng.random() < 0.4
        self._between = rng.choice(_BETWEEN)

    def day(self, day: dt.date) -> str:
        """A day with its year."""
        return self._day.format(day)

    def time(self, moment: dt.datetime) -> str:
        """A time of the day."""
        if not self._half:
            return f"{moment:%H:%M}"
        return f"{(moment.hour - 1) % 12 + 1}:{moment:%M} {'am' if moment.hour < 12 else 'pm'}"

    def moment(self, moment: dt.datetime) -> str:
        """Day and time."""
        return self.day(moment) + self._between.format(self.time(moment))
