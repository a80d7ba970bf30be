"""Threads that work long give way to the thread that answers everybody.

The interpreter runs one thread at a time and knows no ranks: one that computes takes half of the time from
the one that serves all episodes, which then falls behind. So who computes rests now and then, but only while
requests are coming in: twice as long as it computed, for a server with much to do needs two thirds itself.
"""

from __future__ import annotations

import asyncio
import threading
from time import perf_counter, sleep

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
    """When a request came in, by ``perf_counter``."""


class _Own(threading.local):
    """What each thread knows of itself."""

    since = 0.0
    """When it last rested."""


_own = _Own()


def request_came() -> None:
    """Somebody is to be answered, by this thread."""
    _Door.ident, _Door.last = threading.get_ident(), perf_counter()


def _is_busy(now: float) -> bool:
    return now - _Door.last <= _BUSY


class Pauses:
    """Those of something long that has to be done where everybody is answered: a coroutine of many steps."""

    def __init__(self) -> None:
        self._since = perf_counter()

    async def take(self) -> None:
        """Between two steps: let others be answered, if it is time to."""
        worked = perf_counter() - self._since
        if worked > _TURN:
            await asyncio.sleep(min(worked, _LONGEST) if _is_busy(perf_counter()) else 0)
            self._since = perf_counter()


def give_way() -> None:
    """Rest, if it is time to and others are being served. For loops of whatever may take long."""
    now = perf_counter()
    computed = now - _own.since
    if computed < _TURN or not _is_busy(now) or threading.get_ident() == _Door.ident:
        return
    sleep(min(2 * computed, _LONGEST))
    _own.since = perf_counter()
