"""Keeps people from saying the same eight words in a row twice."""

from __future__ import annotations

from collections.abc import Callable

_RUN = 8
"""Words in a row by which somebody might notice a phrase."""
_TRIES = 12
_REMEMBERED = 100_000
"""Runs that are known at once: what was said long ago may be said again."""


class Freshness:
    """Remembers what was said in a world: matters that count and those that do not take turns at the same
    wordings."""

    def __init__(self) -> None:
        self._runs: dict[str, None] = {}

    def is_new(self, text: str, before: str = "") -> bool:
        """Whether nothing in a row was said before, when ``text`` comes after ``before``."""
        return not any(run in self._runs for run in _runs(text, before))

    def remember(self, text: str, before: str = "") -> None:
        """Take note of what is said."""
        self._runs.update(dict.fromkeys(_runs(text, before)))
        while len(self._runs) > _REMEMBERED:
            del self._runs[next(iter(self._runs))]

    def draw(self, say: Callable[[], str], before: str = "") -> str:
        """What ``say`` says, if possible nothing that was said before."""
        for _ in range(_TRIES):
            if self.is_new(said := say(), before):
                break
        self.remember(said, before)
        return said


def _runs(text: str, before: str) -> list[str]:
    words = [*before.lower().split()[1 - _RUN :], *text.lower().split()]
    return [" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]
