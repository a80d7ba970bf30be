"""Places for jobs that are not ended for others, such as code of agents, shared fairly among episodes.

A free place goes to whoever has held places for the least time of late, and then to who came first. Three
of four places may be held for episodes that have had much; the rest is for those that have had little. So
neither many jobs of one episode nor many episodes with long jobs make one wait that seldom asks.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic

import anyio

_LITTLE = 5.0
"""Seconds of late up to which an episode has had little."""
_HALF = 60.0
"""Seconds after which half of what an episode has had is forgotten."""
_KNOWN = 1_000
"""Episodes whose past is remembered; of more, those that have had most."""


@dataclass(eq=False)
class _Waiter:
    whom: str
    served: anyio.Event = field(default_factory=anyio.Event)
    since: float | None = None
    """Since when it has a place."""


class Shares:
    """So many places, for tasks of one event loop."""

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._clock = most, clock
        self._for_much = most - most // 4
        self._held: list[_Waiter] = []
        self._waiting: list[_Waiter] = []
        self._had: dict[str, tuple[float, float]] = {}
        """Seconds, and as of when."""

    @property
    def running(self) -> int:
        """Number of places in use."""
        return len(self._held)

    @property
    def waiting(self) -> int:
        """Number of callers waiting for a place."""
        return len(self._waiting)

    @asynccontextmanager
    async def place(self, whom: str) -> AsyncIterator[None]:
        """Hold a place for an episode, as soon as it has its turn."""
        one = _Waiter(whom)
        self._waiting.append(one)
        self._serve()
        try:
            await one.served.wait()
            yield
        finally:
            now = self._clock()
            if one.since is None:
                self._waiting.remove(one)
            else:
                self._held.remove(one)
                self._remember(whom, self._past(whom, now) + now - one.since, now)
                self._serve()

    def _serve(self) -> None:
        now = self._clock()
        while self._waiting and len(self._held) < self._most:
            had = {one.whom: self._of_late(one.whom, now) for one in (*self._held, *self._waiting)}
            room = sum(had[one.whom] > _LITTLE for one in self._held) < self._for_much
            fit = [one for one in self._waiting if room or had[one.whom] <= _LITTLE]
            if not fit:
                return
            # Of several that have had nothing, who holds no place yet; ``min`` takes the first of equals.
            chosen = min(fit, key=lambda one: (had[one.whom], self._holds(one.whom)))
            self._waiting.remove(chosen)
            self._held.append(chosen)
            chosen.since = now
            chosen.served.set()

    def _holds(self, whom: str) -> int:
        return sum(one.whom == whom for one in self._held)

    def _past(self, whom: str, now: float) -> float:
        seconds, then = self._had.get(whom, (0.0, now))
        return seconds * math.exp2((then - now) / _HALF)

    def _of_late(self, whom: str, now: float) -> float:
        holding = [now - one.since for one in self._held if one.whom == whom and one.since is not None]
        return self._past(whom, now) + sum(holding)

    def _remember(self, whom: str, seconds: float, now: float) -> None:
        self._had[whom] = seconds, now
        if len(self._had) > 2 * _KNOWN:
            most = sorted(self._had, key=lambda one: self._past(one, now), reverse=True)
            self._had = {one: self._had[one] for one in most[:_KNOWN]}
