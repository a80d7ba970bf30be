"""Deadlines of calls: no call may keep other episodes waiting.

A call is made in a thread, which nobody can end from outside. So whatever takes time in proportion to what
an agent made (statements, walks through folders, loops over lines) passes ``check``, which raises ``Overdue``
when the time of the call is up; its transaction is rolled back and the call is refused.
"""

# Time is checked by SQLite's progress handler and by loops, because a thread cannot be interrupted from
# outside (decision 030).

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from mesocosm.worlds.cpu_yield import give_way
from mesocosm.worlds.limits import setting

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
    token = _until.set(perf_counter() + (setting("call_timeout") if seconds is None else seconds))
    try:
        yield
    finally:
        _until.reset(token)


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
