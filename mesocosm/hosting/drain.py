"""Draining of a server: no new episodes, existing ones continue, and the server reports what still runs."""

from __future__ import annotations

import time
from collections.abc import Callable

from pydantic import BaseModel, Field

from mesocosm.hosting.metrics import Metrics

QUIET = 600.0
"""Seconds without a call after which nobody is taken to be acting on an episode."""
REFUSED = "the server is being drained: it makes no further episodes"
RETRY_AFTER = 5


_MOST = 100_000
"""Episodes of which it is remembered when something was asked of them."""


class Drain(BaseModel):
    """State of draining, and what still runs."""

    draining: bool
    requests: int = Field(description="Requests that are being answered, besides this one")
    active: int = Field(description="Episodes of which something was asked within the seconds in question")


class Draining:
    """Switch that stops a process from making further episodes. A restart turns it off."""

    def __init__(self) -> None:
        self.on = False

    def refuses(self, method: str, path: str) -> bool:
        """True if a request would make an episode while draining."""
        return self.on and method == "POST" and _makes_episodes(path)


def _makes_episodes(path: str) -> bool:
    fork = path.startswith("/episodes/") and path.endswith("/fork")
    return fork or path in ("/episodes", "/episodes/batch")


def gauge_draining(metrics: Metrics, draining: Draining) -> None:
    """Let metrics show it."""
    metrics.gauge("mesocosm_draining", "Whether no further episodes are made", lambda: draining.on)


class LastUsed:
    """Time of the last request to each episode."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._at: dict[str, float] = {}

    def note(self, id_: str) -> None:
        """Something is asked of it now."""
        self._at.pop(id_, None)
        self._at[id_] = self._now()
        if len(self._at) > _MOST:
            del self._at[next(iter(self._at))]

    def forget(self, id_: str) -> None:
        """It is gone, or another process has it."""
        self._at.pop(id_, None)

    def within(self, seconds: float) -> int:
        """Of how many something was asked within so many seconds."""
        since = self._now() - seconds
        return sum(at >= since for at in self._at.values())
