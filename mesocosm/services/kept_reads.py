"""Reads that come out the same again: kept until something is written.

Clients poll and page back, and agents read again what they have read. A reading call is kept if nothing went
into its result but its arguments and its service's tables: one that looked at the clock, the dice or the
workspace is made anew each time. The journal has every call all the same.
"""

# Agents repeat reads, and most calls change nothing, so a result stays valid until the next write (decision
# 002).

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mesocosm.services.outcomes import Outcome

MAX_SIZE = 256 * 1024
"""Characters and bytes of the results that one world keeps; what was asked for longest ago goes first."""

Key = tuple[str, str, str]
"""Service, tool or operation, and the arguments as the journal has them."""


class RecentReads:
    """The results of the latest reading calls on one world."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Outcome] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Outcome | None:
        """The result of the same call, if nothing was written since."""
        outcome = self._kept.get(key)
        if outcome is not None:
            self._kept.move_to_end(key)
        return outcome

    def keep(self, key: Key, outcome: Outcome) -> None:
        """Keep a result for the next time."""
        size = _size(outcome)
        if size > MAX_SIZE // 4 or (outcome.reply and not outcome.reply.repeatable):
            return
        self._kept[key] = outcome
        self._size += size
        while self._size > MAX_SIZE:
            _, oldest = self._kept.popitem(last=False)
            self._size -= _size(oldest)

    def clear(self) -> None:
        """Something may have been written."""
        self._kept.clear()
        self._size = 0


def _size(outcome: Outcome) -> int:
    """Estimate the memory of a result. The text is no measure, because a pack may stand behind it."""
    if outcome.reply is not None:
        return len(outcome.reply.body)
    return sum(len(block if isinstance(block, str) else block.data) for block in outcome.blocks)
