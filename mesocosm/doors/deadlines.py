"""Deadlines of connections, which are set anew several times a request and met hardly ever."""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable


class Deadline:
    """Calls ``late`` when what was expected was not there in time.

    To set a timer and take it back costs more than to let one run out that nobody needs any more.
    """

    def __init__(self, loop: AbstractEventLoop, late: Callable[[], None]) -> None:
        self._loop, self._late = loop, late
        self._until: float | None = None
        self._timer: TimerHandle | None = None

    def set(self, seconds: float | None) -> None:
        """Require the next data within ``seconds``; ``None`` expects nothing."""
        if seconds is None:
            self._until = None
            return
        self._until = until = self._loop.time() + seconds
        if self._timer is None:
            self._timer = self._loop.call_at(until, self._look)
        elif self._timer.when() > until:
            self._timer.cancel()
            self._timer = self._loop.call_at(until, self._look)

    def end(self) -> None:
        """The connection is over."""
        self._until = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._until is None:
            return
        if self._loop.time() < self._until:
            self._timer = self._loop.call_at(self._until, self._look)
        else:
            self._until = None
            self._late()
