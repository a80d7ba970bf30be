"""Periodic background work of a serving process."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import anyio

from mesocosm.errors import NotNow

_log = logging.getLogger("mesocosm.hosting")
OVERDUE = 60.0
"""Seconds after which a round that neither ends nor goes on is trouble."""


class Background:
    """Repeated rounds of work. A failed round is retried like any other; ``trouble`` describes the failure
    until one succeeds.
    """

    def __init__(self) -> None:
        self._failed: dict[str, str] = {}
        self._went_on: dict[str, float] = {}
        """Time at which each running round began or last made progress."""

    @property
    def trouble(self) -> str | None:
        """Description of the current failure, or ``None``."""
        for name, error in self._failed.items():
            return f"{name} fails: {error}"
        now = monotonic()
        for name, since in self._went_on.items():
            if now - since > OVERDUE:
                return f"{name} has not gone on for {now - since:.0f} seconds"
        return None

    def goes_on(self, name: str) -> None:
        """A round that takes as long as there is much to do has done one thing of it."""
        if name in self._went_on:
            self._went_on[name] = monotonic()

    async def every(self, seconds: float, name: str, work: Callable[[], Awaitable[Any]]) -> None:
        """Do some work every so many seconds, for ever."""
        while True:
            self._went_on[name] = monotonic()
            try:
                await work()
                self._failed.pop(name, None)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next round is made
                if name not in self._failed:
                    _log.error("%s: %s", name, error, exc_info=not isinstance(error, NotNow))
                self._failed[name] = str(error) or type(error).__name__
            finally:
                del self._went_on[name]
            await anyio.sleep(seconds)
