"""Asks about every node whose children are not known, until the value turns up or nothing is left."""

from __future__ import annotations

import re
from collections import deque

from mesocosm.services.calling import Tools

_NODE = re.compile(r"^\(id=(\w+), value=(\d+)\) -> UNKNOWN$", re.MULTILINE)


def solve(tools: Tools, prompt: str) -> None:
    """Search breadth first."""
    value, _, nodes = prompt.rpartition("Value to be found: ")[2].partition("\n")
    frontier = deque(node for node, _ in _NODE.findall(nodes))
    while frontier:
        for child in tools.call("treeworld", "get_children", id=frontier.popleft()):
            if child["val"] == int(value):
                tools.call("treeworld", "found", id=child["id"])
                return
            frontier.append(child["id"])
    tools.call("treeworld", "unreachable")
