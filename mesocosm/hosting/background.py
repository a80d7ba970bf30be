"""What a process does beside answering, again and again, for as long as it serves."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from mesocosm.errors import NotNow

_log = logging.getLogger("mesocosm.hosting")
OVERDUE = 60.0
"""Seconds after which a round that does not end is trouble."""


class Background:
    """Rounds of work, one after the other. One that fails is followed by the next as if it had not; until one
    succeeds, ``trouble`` says what is the matter."""

    def __init__(self) -> None:
        self._failed: dict[str, str] = {}
        self._began: dict[str, float] = {}

    @property
    def trouble(self) -> str | None:
        """Why not all is well, or ``None``."""
        for name, error in self._failed.items():
            return f"{name} fails: {error}"
        now = time.monotonic()
        for name, began in self._began.items():
            if now - began > OVERDUE:
                return f"{name} has not come to an end for {now - began:.0f} seconds"
        return None

    async def every(self, seconds: float, name: str, work: Callable[[], Awaitable[Any]]) -> None:
        """Do some work every so many seconds, for ever."""
        while True:
            self._began[name] = time.monotonic()
            try:
                await work()
                self._failed.pop(name, None)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next round is made
                if name not in self._failed:
                    _log.error("%s: %s", name, error, exc_info=not isinstance(error, NotNow))
                self._failed[name] = str(error) or type(error).__name__
            finally:
                del self._began[name]
            await anyio.sleep(seconds)
