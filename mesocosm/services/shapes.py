"""Building blocks of answers."""

# Answers name the attributes that they take from a row, because most are the row's own (decision 087).

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def same(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the attributes of a row under their own names, in this order."""
    return {name: row[name] for name in names}
