"""Memory of what was said, so that the writers of a world do not repeat themselves."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

_RUN = 8
"""Words in a row that nobody says twice by chance."""
_KEPT = 60_000
"""Runs that are remembered at least, and at most twice as many: nobody remembers longer."""
_TRIES = 12


class RecentRuns:
    """Recent runs of eight words, as checksums; shared by all writers of a world."""

    __slots__ = ("_before", "_now")

    def __init__(self) -> None:
        self._now: set[int] = set()
        self._before: set[int] = set()

    def again(self, text: str, before: str = "") -> bool:
        """True if a run of words in the text, following ``before``, was used earlier. Otherwise its runs are
        recorded.
        """
        runs = _runs(text, before)
        if not (self._now.isdisjoint(runs) and self._before.isdisjoint(runs)):
            return True
        self._keep(runs)
        return False

    def remember(self, text: str) -> None:
        """Record a text, whether it repeats something or not."""
        self._keep(_runs(text))

    def draw(self, say: Callable[[], str], before: str = "") -> str:
        """Draw from ``say`` until the text repeats nothing, for a limited number of attempts."""
        for _ in range(_TRIES):
            if not self.again(text := say(), before):
                break
        return text

    def _keep(self, runs: set[int]) -> None:
        self._now |= runs
        if len(self._now) >= _KEPT:
            self._before, self._now = self._now, set()


def _runs(text: str, before: str = "") -> set[int]:
    words = [*before.lower().split()[1 - _RUN :], *text.lower().split()]
    return {crc32(" ".join(words[at : at + _RUN]).encode()) for at in range(len(words) - _RUN + 1)}
