"""The one number that says how large an instance is: operations of a tree, calls of an optimal policy."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import UsageError
from mesocosm.families.family import Family

WORLDS = ("listworld", "treeworld", "gridworld")
"""Worlds whose horizon is the number of calls of an optimal policy."""
_OPERATIONS = "operations"


def sized(task: str, horizon: int) -> dict[str, Any]:
    """Parameters with which an optimal policy needs so many calls (list), or about as many."""
    if task not in WORLDS:
        raise UsageError(f"{task!r} is none of {', '.join(WORLDS)}")
    if horizon < 2:
        raise UsageError(f"a horizon has at least 2 calls; got {horizon}")
    return {
        "listworld": {"removals": horizon - 1, "kept": horizon},
        "treeworld": {"nodes": max(2, round(horizon / 0.6))},
        "gridworld": {"size": max(2, round(horizon / 1.4))},
    }[task]


def parameters_of_size(family: Family, n: int) -> dict[str, Any]:
    """Parameters of a family with which an instance has the size ``n``; ``UsageError`` where it has none."""
    if family.name in WORLDS:
        return sized(family.name, n)
    if _OPERATIONS in family.params_type.model_fields:
        return {_OPERATIONS: n}
    raise UsageError(
        f"{family.name} has no number of operations and no horizon that --n could set; give --length"
    )
