"""Deadlines of calls, and pauses in long ones: no call may keep other episodes waiting.

A call is made in a thread, which nobody can end from outside. So whatever takes time in proportion to what
an agent made (statements, walks through folders, loops over lines) passes ``check``, which raises ``Overdue``
when the time of the call is up; its transaction is rolled back and the call is refused.
"""

# Time is checked by SQLite's progress handler and by loops, because a thread cannot be interrupted from
# outside (decision 030).

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from time import perf_counter, sleep
from weakref import WeakKeyDictionary, WeakValueDictionary

from mesocosm.worlds.limits import setting, variable

_TIMEOUT = "call_timeout"
_VARIABLE = variable(_TIMEOUT)
_until: ContextVar[float | None] = ContextVar("until", default=None)


class Overdue(BaseException):
    """The time is up. No ``Exception``, so that no tool takes it for something that it can handle."""


def moment() -> float | None:
    """Return when the current call has to end, by ``perf_counter``; ``None`` without a deadline."""
    return _until.get()


def left() -> float | None:
    """Seconds that the present call has left; ``None`` if it has no end."""
    until = _until.get()
    return None if until is None else until - perf_counter()


def overdue() -> bool:
    """True if the current call is past its deadline."""
    until = _until.get()
    return until is not None and perf_counter() > until


def check() -> None:
    """Raise ``Overdue`` after the current call's deadline, and yield to waiting threads."""
    if overdue():
        raise Overdue
    give_way()


def expect(seconds: float) -> None:
    """Raises ``Overdue`` when less time is left than what follows may take without passing ``check``."""
    until = _until.get()
    if until is not None and perf_counter() + seconds > until:
        raise Overdue


def past_return() -> None:
    """From here on the present call is finished: it has done what cannot be undone."""
    if _until.get() is not None:
        _until.set(None)


@contextmanager
def within(seconds: float | None = None) -> Iterator[None]:
    """Set a deadline for the code inside: ``seconds``, or the setting ``call_timeout``."""
    token = _until.set(perf_counter() + (_timeout(os.environ.get(_VARIABLE)) if seconds is None else seconds))
    try:
        yield
    finally:
        _until.reset(token)


@lru_cache
def _timeout(given: str | None) -> int:
    """Parse the setting, once for each text: it is asked for with every call."""
    return int(setting(_TIMEOUT))


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit the code inside to ``seconds``, or to the rest of the call's time if that is shorter."""
    before, until = _until.get(), perf_counter() + seconds
    token = _until.set(until if before is None else min(before, until))
    try:
        yield
    finally:
        is_past_return = _until.get() is None
        _until.reset(token)
        if is_past_return:
            _until.set(None)


# Long computations let the event loop go first, by sleeping now and then.
#
# **The problem.** A server's event loop serves every connection, and calls compute in threads beside it.
# Python runs one thread at a time (the GIL) and has no priorities: a thread that computes without end gets
# half of the time, two get two thirds. The event loop then falls behind, and every episode waits because one
# agent edits a large file.
#
# **How it works.** Who computes rests, but only while somebody is to be served:
#
# 1. The event loop says with each request that comes in: ``request_came()``. For 10 ms from then on more are
#    expected.
# 2. ``calls.py`` says ``begin()`` when a thread begins a call.
# 3. Loops over whatever an agent made call ``deadlines.check()``, which calls ``give_way()``; so do copies
#    and removals.
# 4. ``give_way`` does nothing in the event loop's own thread, for the first millisecond, or while no request
#    has come in for 10 ms. Else the thread sleeps twice as long as it has computed since it last rested, 20
#    ms at most.
#
# Example: ``edit_file`` compares two texts for 300 ms. While fifty other episodes call, it computes for 1 ms,
# sleeps for 2, and so on, and takes 900 ms; alone on the server it takes 300.
#
# **Work that has to be done on the event loop**, such as taking apart a ``FETCH`` of a thousand mails for the
# client of a connection, cannot sleep: it is a coroutine that awaits ``Pauses.take()`` between its steps. All
# connections of an episode share a ``Lane``, so that an episode gets no more of the time with ten connections
# than with one.
#
# **Why not otherwise.** A shorter switch interval (0.2 instead of 1 ms) made no difference that could be
# measured. A lower priority of the thread would make things worse: while the kernel lets it wait, it may hold
# the GIL. A process for each long call would copy arguments and results, and a change of a workbook is a
# closure. An interpreter without a GIL would make this module needless.
#
# **What breaks.** Without rests, the median of fifty other episodes rose from 10 to 52 ms beside
# ``edit_file``, from 15 to 89 beside a workbook, from 11 to 79 beside ``search_files`` (decision 030). With
# rests while nobody is served, single calls take three times as long. A new loop over an agent's data that
# does not call ``check`` holds up all others: measure with ``benchmarks/hostile_neighbours.py``, which has a
# kind for each door.

# Python runs one thread at a time: a long call has to pause by itself so that others get an answer
# (decisions 030 and 103).


_TURN = 0.001
"""Seconds that a thread computes before it rests."""
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


# A lock belongs to the event loop in which somebody first waited for it, and a test has several one after the
# other: what is left of one would refuse everybody in the next.
_lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[str, Lane]] = WeakKeyDictionary()


def lane_of(name: str) -> Lane:
    """Return the running event loop's lane of an episode, or of clients that are not identified yet."""
    lanes = _lanes.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    lane = lanes.get(name)
    if lane is None:
        lane = lanes[name] = Lane()
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


def begin() -> None:
    """Begin a task of this thread, which has not computed yet."""
    _own.since = perf_counter()


def give_way() -> None:
    """Rest, if it is time to and others are being served. For loops of whatever may take long."""
    now = perf_counter()
    computed = now - _own.since
    if computed < _TURN or not _is_busy(now) or threading.get_ident() == _Door.ident:
        return
    sleep(min(2 * computed, _LONGEST))
    _own.since = perf_counter()
