"""Finds a cheapest way over the board and walks it."""

from __future__ import annotations

import ast
import re
from heapq import heappop, heappush
from typing import Any

from mesocosm.services.calling import Tools

_MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def solve(tools: Tools, prompt: str) -> None:
    """Walk the way, and be done."""
    task = prompt.rpartition("Board size: ")[2]
    size = int(task.split()[0])
    for move in _way(size, _value(task, "Start"), _value(task, "Goal"), set(_value(task, "Holes"))):
        tools.call("gridworld", move)
    tools.call("gridworld", "done")


def _value(task: str, name: str) -> Any:
    found = re.search(rf"^{name}: (.*)$", task, re.MULTILINE)
    assert found, name
    return ast.literal_eval(found[1])


def _way(size: int, start: tuple[int, int], goal: tuple[int, int], holes: set[tuple[int, int]]) -> list[str]:
    """The moves of a cheapest way."""
    came: dict[tuple[int, int], tuple[str, tuple[int, int]]] = {}
    costs, queue = {start: 0}, [(0, start)]
    while queue:
        cost, at = heappop(queue)
        if at == goal:
            break
        for move, (down, right) in _MOVES.items():
            further = (at[0] + down, at[1] + right)
            total = cost + (4 if further in holes else 1)
            if min(further) >= 0 and max(further) < size and total < costs.get(further, total + 1):
                costs[further] = total
                came[further] = move, at
                heappush(queue, (total, further))
    moves: list[str] = []
    at = goal
    while at != start:
        move, at = came[at]
        moves.append(move)
    return moves[::-1]
