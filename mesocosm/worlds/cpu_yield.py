"""Threads that work long give way to the thread that answers everybody.

The interpreter runs one thread at a time and knows no ranks: one that computes takes half of the time from
the one that serves all episodes, which then falls behind. So who computes rests now and then, but only while
requests are coming in: twice as long as it computed, for a server with much to do needs two thirds itself.
"""

# Python runs one thread at a time: a long call has to pause by itself so that others get an answer
# (decisions 030 and 103).

from __future__ import annotations

import asyncio
import threading
from time import perf_counter, sleep
from weakref import WeakValueDictionary

_TURN = 0.001
"""Seconds that a thread computes before it rests; then twice as long as it computed."""
_LONGEST = 0.02
"""Seconds of the longest rest."""
_BUSY = 0.01
"""Seconds after a request for which more of them are expected."""


class _Door:
    """The thread that answers."""

    ident: int | None = None
    last = float("-inf")
    """Time of the last request, by ``perf_counter``."""


class _Own(threading.local):
    """State of one thread."""

    since = 0.0
    """Time of the last pause."""


_own = _Own()


def request_came() -> None:
    """Somebody is to be answered, by this thread."""
    _Door.ident, _Door.last = threading.get_ident(), perf_counter()


def _is_busy(now: float) -> bool:
    return now - _Door.last <= _BUSY


class Lane:
    """Work of several connections that has to be done where everybody is answered: together they get no more
    of the time than one of them would."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._worked = 0.0

    async def rest(self, worked: float) -> None:
        """Yield to others if it is time, after ``worked`` seconds of work."""
        self._worked += worked
        if self._worked > _TURN:
            async with self._turn:
                worked, self._worked = self._worked, 0.0
                if worked > _TURN:
                    await asyncio.sleep(min(worked, _LONGEST) if _is_busy(perf_counter()) else 0)


_lanes: WeakValueDictionary[str, Lane] = WeakValueDictionary()


def lane_of(name: str) -> Lane:
    """Return the lane of an episode, or of clients that are not identified yet."""
    lane = _lanes.get(name)
    if lane is None:
        lane = _lanes[name] = Lane()
    return lane


class Pauses:
    """Those of something long that has to be done where everybody is answered: a coroutine of many steps."""

    def __init__(self, lane: Lane | None = None) -> None:
        self.lane = lane or Lane()
        self.begin()

    def begin(self) -> None:
        """Begin a step. Earlier waiting does not count as work."""
        self._since = perf_counter()

    async def take(self) -> None:
        """Yield to others if it is time, between two steps."""
        await self.lane.rest(perf_counter() - self._since)
        self.begin()


def give_way() -> None:
    """Rest, if it is time to and others are being served. For loops of whatever may take long."""
    now = perf_counter()
    computed = now - _own.since
    if computed < _TURN or not _is_busy(now) or threading.get_ident() == _Door.ident:
        return
    sleep(min(2 * computed, _LONGEST))
    _own.since = perf_counter()
