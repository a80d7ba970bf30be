"""Compares the lists from left to right and pops what is not wanted."""

from __future__ import annotations

import ast
import re

from mesocosm.services.calling import Tools


def solve(tools: Tools, prompt: str) -> None:
    """Pop every element that is not the next one of the target."""
    initial, target = _last_list(prompt, "Initial"), _last_list(prompt, "Target")
    kept = 0
    for value in initial:
        if kept < len(target) and target[kept] == value:
            kept += 1
        else:
            tools.call("listworld", "pop", id=kept)
    tools.call("listworld", "done")


def _last_list(prompt: str, name: str) -> list[int]:
    """The list of the task, which follows those of the example."""
    numbers: list[int] = ast.literal_eval(re.findall(rf"^{name} list: (\[.*\])$", prompt, re.MULTILINE)[-1])
    return numbers
