"""Messages about gaps at places in a task file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Gap:
    """Gap: something that does not follow, and its place in the file."""

    keys: tuple[Any, ...]
    message: str
    untold: bool = False
    """True if it is a drawn value that nothing tells."""
