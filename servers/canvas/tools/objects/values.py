"""What all objects share: their address, and how numbers and unguessable texts are written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]
Row = Mapping[Any, Any]

ADDRESS = "https://canvas.brookfield.edu"
STORAGE_MB = 500


def number(value: float | None) -> float | int | None:
    """A whole number without its ``.0``."""
    return int(value) if value is not None and value == int(value) else value


def unguessable(kind: str, key: int) -> str:
    """A text of 40 letters and digits that belongs to a row, like Canvas's uuids."""
    return hashlib.sha256(f"{kind}:{key}".encode()).hexdigest()[:40]
