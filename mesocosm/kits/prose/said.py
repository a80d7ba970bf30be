"""What has been said already, so that writers of one world need not say it again."""

from __future__ import annotations

from zlib import crc32

_RUN = 8
"""Words in a row that nobody says twice by chance."""
_KEPT = 60_000
"""Runs that are remembered at least, and at most twice as many: nobody remembers longer."""


class Said:
    """The runs of eight words of what was said last, by checksums; shared by all who write in one world."""

    __slots__ = ("_before", "_now")

    def __init__(self) -> None:
        self._now: set[int] = set()
        self._before: set[int] = set()

    def again(self, text: str) -> bool:
        """Whether a run of the text was said before; if none was, all of them now are."""
        words = text.lower().split()
        runs = {crc32(" ".join(words[at : at + _RUN]).encode()) for at in range(len(words) - _RUN + 1)}
        if not (self._now.isdisjoint(runs) and self._before.isdisjoint(runs)):
            return True
        self._now |= runs
        if len(self._now) >= _KEPT:
            self._before, self._now = self._now, set()
        return False
