"""A model without memory: it follows the oracle's latest advice.

A plan is carried out; where the state alone is told, it is enough to act on in the worlds of LUMINA, whose
rules are simple. So a conversation passes when what is told is right, in the place, and sufficient.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from mesocosm.agents.scripted.exchange import ModelMessage
from mesocosm.agents.scripted.solver_model import SolverStep

_PLANS: list[tuple[str, str, str, tuple[tuple[str, type], ...]]] = [
    (r"Remove the element \S+, which is at index (\d+)", "listworld", "pop", (("id", int),)),
    (r"There is nothing more to remove: call done", "listworld", "done", ()),
    (r"Ask for the children of the node (\w+)", "treeworld", "get_children", (("id", str),)),
    (r"Report the node (\w+) as found", "treeworld", "found", (("id", str),)),
    (r"Report that the value is unreachable", "treeworld", "unreachable", ()),
    (r"You are at the goal: call done", "gridworld", "done", ()),
]


def told_step(messages: Sequence[ModelMessage]) -> SolverStep | None:
    """Return the next call of the latest advice; ``None`` without one, or if nothing is left to do."""
    asked = [message.text for message in messages if message.role == "user"]
    told = asked[-1] if len(asked) > 1 else ""
    if plan := re.search(r"^Plan: (.*)", told, re.MULTILINE | re.DOTALL):
        return _planned(plan[1])
    if state := re.search(r"^State: (.*)", told, re.MULTILINE | re.DOTALL):
        return _from_state(state[1], asked[0])
    return None


def _planned(plan: str) -> SolverStep | None:
    if move := re.match(r"Move (\w+), to", plan):
        return SolverStep("gridworld", move[1], {})
    for pattern, service, tool, names in _PLANS:
        if found := re.match(pattern, plan):
            values = zip(names, found.groups(), strict=True)
            return SolverStep(service, tool, {name: kind(value) for (name, kind), value in values})
    # Those of reference solvers: the arguments are JSON, which may hold anything.
    if found := re.search(r"Call (\w+)\.(\w+) with (no arguments|(?=\{))", plan):
        arguments: dict[str, Any] = {}
        if not found[3]:
            arguments, _ = json.JSONDecoder().raw_decode(plan, found.end())
        return SolverStep(found[1], found[2], arguments)
    return None


def _from_state(state: str, prompt: str) -> SolverStep | None:
    if state.endswith("The task has ended."):
        return None
    if current := re.search(r"The list is now (\[.*?\])", state):
        return _pop(json.loads(current[1]), json.loads(re.findall(r"Target list: (\[.*?\])", prompt)[-1]))
    if found := re.match(r"The node (\w+) has the value", state):
        return SolverStep("treeworld", "found", {"id": found[1]})
    if unknown := re.search(r"children are not known yet: (\w+)", state):
        return SolverStep("treeworld", "get_children", {"id": unknown[1]})
    if state.startswith("No known node has the value"):
        return SolverStep("treeworld", "unreachable", {})
    if places := re.findall(r"\((\d+), (\d+)\)", state.partition(". ")[0]):
        (row, column), (to_row, to_column) = ((int(a), int(b)) for a, b in places)
        ways = {
            "up": row > to_row,
            "down": row < to_row,
            "left": column > to_column,
            "right": column < to_column,
        }
        return SolverStep("gridworld", next((way for way, nearer in ways.items() if nearer), "done"), {})
    return None


def _pop(current: Sequence[int], target: Sequence[int]) -> SolverStep:
    """The first element that is not wanted where it stands."""
    for index, value in enumerate(current):
        if index >= len(target) or value != target[index]:
            return SolverStep("listworld", "pop", {"id": index})
    return SolverStep("listworld", "done", {})
