"""Randomness from a seed: one main source and as many named ones as are asked for."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol


class Streams(Protocol):
    """Source of random streams: a world that is being built, or ``Dice`` without a world."""

    @property
    def rng(self) -> random.Random:
        """The main source."""

    def stream(self, name: str) -> random.Random:
        """A source of its own: drawing from it does not disturb the others."""


@dataclass(frozen=True)
class Dice:
    """Dice of one instance: its randomness, in a world or without one."""

    family: str
    """Name of the task, not of the generator: a task and its variants draw differently."""
    seed: int

    @cached_property
    def rng(self) -> random.Random:
        """The main source."""
        return random.Random(f"{self.family}:{self.seed}")

    def stream(self, name: str) -> random.Random:
        """Return an independent source derived from the seed; the same name restarts it."""
        return random.Random(f"{self.family}:{self.seed}:{name}")


@dataclass(frozen=True)
class Renamed:
    """The dice of a part or a size of an instance: nothing that it draws is drawn by another one."""

    streams: Streams
    name: str

    @cached_property
    def rng(self) -> random.Random:
        """The main source."""
        return self.streams.stream(self.name)

    def stream(self, name: str) -> random.Random:
        """Return an independent source; the same name restarts it."""
        return self.streams.stream(f"{self.name}, {name}")
