"""What is said of a place in a task file that is not as it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Gap:
    """What does not follow, and where the file says it."""

    keys: tuple[Any, ...]
    message: str
    untold: bool = False
    """Whether it is a drawn value that nothing tells."""
