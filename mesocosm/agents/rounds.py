"""The rule that ends an episode after rounds of failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class FailedRounds:
    """Counts consecutive rounds in which every call failed.

    A round is one turn of the model: the calls that it made at once. Only who talks with the model knows
    them; a server sees calls, and cannot tell which of them were made together.
    """

    limit: int
    """So many of them in a row end the episode; 0: none do."""
    consecutive: int = 0

    def record(self, failed: Sequence[bool]) -> bool:
        """Take note of a round, by which of its calls failed; returns whether it ends the episode."""
        self.consecutive = self.consecutive + 1 if failed and all(failed) else 0
        return 0 < self.limit <= self.consecutive
