"""The sheet that the formulas of ``formulas.txt`` are read over, and where each of them stands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

LINES: list[list[Any]] = [
    ["Region", "Item", "Units", "Price", "Date", "Note", None, "H", "I"],
    ["East", "Pen", 10, 1.5, date(2025, 1, 15), "a-b-c", None, 3, 2],
    ["West", "Ink", 4, 12, date(2025, 2, 3), "x,y", None, 1, 7],
    ["East", "Pad", 7, 3.25, date(2025, 2, 20), None, None, 4, 1],
    ["North", "Pen", 0, 1.5, date(2025, 3, 31), "Ref 4821 ok", None, 1, 8],
    ["West", "Pad", 25, 3, date(2025, 4, 1), "  two  words ", None, 5, 2],
    ["East", "Ink", 12, 11.5, date(2025, 12, 31), None, None, 9, 8],
    [],
    [],
    [None] * 7 + [0, "low"],
    [None] * 7 + [5, "mid"],
    [None] * 7 + [10, "high"],
    [None] * 7 + [20, "top"],
]
FIRST, STEP, COLUMN = 100, 8, 30
"""The row (from 0) of the first formula, the rows between two, and the column."""


@dataclass(frozen=True)
class Case:
    """A formula, what it gives by the vendor's documentation, and what LibreOffice gives where it differs."""

    formula: str
    result: Any
    libreoffice: Any


def cases() -> list[Case]:
    """The formulas of ``formulas.txt``."""
    found = []
    for line in (Path(__file__).parent / "formulas.txt").read_text().splitlines():
        if line.startswith("="):
            formula, _, rest = line.rpartition(" -> ")
            result, _, other = rest.partition(" | ")
            found.append(
                Case(formula, json.loads(result), json.loads(other) if other else json.loads(result))
            )
    return found


def row_of(number: int) -> int:
    """Where a formula stands."""
    return FIRST + number * STEP


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal, numbers to nine digits."""
    if isinstance(other, list):
        return (
            isinstance(one, list)
            and len(one) == len(other)
            and all(same(a, b) for a, b in zip(one, other, strict=True))
        )
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-9 * max(1, abs(other))
    return bool(one == other) or (other is None and one in ("", None))
