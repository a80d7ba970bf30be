"""Numbers as checkers compare them, and how they are written."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

BINARY = 1e-9
"""Binary noise tolerated in decimal results: ``3.2500000000000004`` is 3.25."""
_LARGE = 1e8
_WRITTEN = re.compile(r"[-+]?(\d{1,40}(\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?", re.ASCII)


def number_of(value: Any) -> float | None:
    """The number that a value is, or that a text writes down as programs do; ``None`` for anything else.

    ``1,200``, ``1_37.55``, ``12 %``, digits of other scripts and what is no finite number are none.
    """
    if isinstance(value, str):
        value = value.strip()
        if not _WRITTEN.fullmatch(value):
            return None
    try:
        number = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) < float("inf") else None


def written(value: float) -> str:
    """A number as it stands in a text: ten digits, and of large ones all down to the cent."""
    text = f"{value:.10g}"
    if abs(value) >= _LARGE or "e" in text:
        return f"{Decimal(f'{value:.15g}'):f}"
    return text
