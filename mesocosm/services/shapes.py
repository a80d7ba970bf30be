"""What answers are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def same(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """What an answer has of a row as it is, under the same names and in this order."""
    return {name: row[name] for name in names}
