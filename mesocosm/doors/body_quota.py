"""Quota of request bodies per episode: a body stays in memory until its request is answered.

Each request has a limit of its own, but of a thousand that are sent at once, and never to their end, each
would be within it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST = 64 * 2**20
"""Bytes for one episode: two of the largest requests that there are."""
FULL = "Too much is being sent to this episode at a time; send it again when the rest was answered."

Take = Callable[[int], None]
"""Told of each piece before it is kept; raises ``Full``."""


class Full(Exception):
    """There is no room for more."""


class Intake:
    """Bytes that each episode is currently receiving."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    @contextmanager
    def of(self, episode: str) -> Iterator[Take]:
        """A request, as long as anything of it is kept."""
        held = 0

        def take(size: int) -> None:
            nonlocal held
            if self._held[episode] + size > MOST:
                raise Full(FULL)
            self._held[episode] += size
            held += size

        try:
            yield take
        finally:
            self._held[episode] -= held
            if not self._held[episode]:
                del self._held[episode]


intake = Intake()
"""Of this process, by whichever door it comes."""
