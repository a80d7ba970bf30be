"""Parts of a woven family's instance, before it becomes a world or a dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

from mesocosm.kits.weaving.tree import Tree
from mesocosm.worlds.randomness import Dice, Streams

__all__ = ["Composition", "Dice", "Distorted", "File", "Streams"]


@runtime_checkable
class Distorted(Protocol):
    """A picture that was made from another one."""

    @property
    def steps(self) -> Sequence[tuple[str, *tuple[float | str, ...]]]:
        """Distortions in the terms of the document store's image tools, ``("rotate", 15)``; empty if
        undistorted.
        """

    def upright(self) -> bytes:
        """The picture before that."""


@dataclass(frozen=True)
class File:
    """One file that an agent can read by its identifier."""

    id: str
    text: str
    draw: Callable[[], bytes] | None = None
    """Draws the picture that belongs to it; the same bytes whenever it is called."""
    media_type: str = "image/png"

    @cached_property
    def image(self) -> bytes | None:
        """Picture, drawn on demand."""
        return self.draw() if self.draw else None


@dataclass(frozen=True, kw_only=True)
class Composition:
    """Everything about an instance: what the agent can read, what it is told, and what it has to find."""

    files: Sequence[File]
    """Sorted by identifier."""
    public: dict[str, str]
    """Values that the prompt may show."""
    answer: str
    """Exactly what has to be submitted."""
    tree: Tree

    @property
    def operations(self) -> int:
        """N."""
        return self.tree.operations

    @cached_property
    def height(self) -> int:
        """The longest chain of dependencies."""
        return self.tree.height
