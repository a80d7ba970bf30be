"""Optimal play in the tree world.

The agent does not know what hangs below a node before it asks, so an optimal policy is one that needs the
fewest calls in the worst case. Whatever is hidden may hang below any node that was not asked about yet, and
these look alike: to ask about any of them is optimal, to ask again is not. A node with the value that is
looked for is reported at once; when nothing is left to ask about, the value cannot be reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import orjson

from mesocosm.families.oracle import Call, Made, State
from mesocosm.kits.lumina.game import Game, GameCalls, played

Given = tuple[str, int, Sequence[str] | None]
"""A node of which the prompt speaks: id, value, and ids of its children where these are told."""


class TreeGame(Game):
    """The tree world.

    Args:
        given: Id, value, and children (``None``: not told) of the nodes of which the prompt speaks.
        value: The value that is looked for.
        budget: Calls that may be made in all.
    """

    service: ClassVar[str] = "treeworld"

    def __init__(self, given: Sequence[Given], value: int, budget: int) -> None:
        super().__init__()
        self.value, self.budget = value, budget
        self.turns = 0
        self.known = {node: its_value for node, its_value, _ in given}
        """Values of the nodes that are known, by id."""
        self.frontier: dict[str, None] = {node: None for node, _, children in given if children is None}
        """Nodes whose children are not known, in the order in which they became known."""
        self.asked = 0
        """Nodes about whose children the agent asked."""
        self.goal = next((node for node, its_value in self.known.items() if its_value == value), None)
        """The node that is looked for, once it is known."""
        self._ids = list(self.known)

    def _learn(self, node: str, value: int) -> None:
        if node in self.known:
            return
        self.known[node] = value
        self._ids.append(node)
        self.frontier[node] = None
        if value == self.value:
            self.goal = node

    @property
    def spent(self) -> bool:
        """True if no calls are left."""
        return self.turns >= self.budget

    def take(self, made: Made) -> None:
        """Count the turn and record the answer."""
        self.turns += 1
        if not made.ok:
            return
        if made.tool != "get_children":
            self.over = self.over or made.tool in ("found", "unreachable")
            return
        node = str(made.arguments["id"])
        if node in self.frontier:
            del self.frontier[node]
            self.asked += 1
        for child in orjson.loads(made.result):
            self._learn(child["id"], child["val"])

    def optimal(self) -> Iterator[Call]:
        """To report the node; else to ask about any that was not asked about; else to give up."""
        if self.over or self.spent:
            return
        if self.goal is not None:
            yield self.call("found", id=self.goal)
        elif self.frontier:
            yield from (self.call("get_children", id=node) for node in self.frontier)
        else:
            yield self.call("unreachable")

    def is_optimal(self, call: Call) -> bool:
        """True if the call is among the optimal ones."""
        if self.over or self.spent:
            return False
        node = call.arguments.get("id")
        if self.goal is not None:
            return call.tool == "found" and node == self.goal
        if self.frontier:
            return call.tool == "get_children" and node in self.frontier
        return call.tool == "unreachable"

    def legal(self) -> Sequence[Call]:
        """To ask about any known node, to report any, and to give up."""
        if self.over or self.spent:
            return ()
        known = len(self._ids)

        def make(number: int) -> Call:
            if number == 2 * known:
                return self.call("unreachable")
            tool = "get_children" if number < known else "found"
            return self.call(tool, id=self._ids[number % known])

        return GameCalls(2 * known + 1, make)

    def describe(self) -> State:
        """Describe what may still lead to the value: the nodes not yet queried."""
        left = max(0, self.budget - self.turns)
        if self.goal is not None:
            text = f"The node {self.goal} has the value {self.value}. "
        elif self.frontier:
            nodes = ", ".join(self.frontier)
            text = (
                f"No known node has the value {self.value}. Nodes known: {len(self.known)}. "
                f"Nodes whose children are not known yet: {nodes}. "
            )
        else:
            text = (
                f"No known node has the value {self.value}, and the children of every known node are known. "
            )
        text += f"Calls left: {left}."
        if self.over:
            text += " The task has ended."
        facts = {
            "known": dict(self.known),
            "frontier": list(self.frontier),
            "found": self.goal,
            "calls_left": left,
            "ended": self.over,
        }
        return State(text=text, facts=facts)

    def phrase(self, call: Call) -> str:
        """Name the node to query or to report."""
        if call.tool == "get_children":
            return f"Ask for the children of the node {call.arguments['id']}."
        if call.tool == "found":
            return f"Report the node {call.arguments['id']} as found: it has the value {self.value}."
        return "Report that the value is unreachable: there is no node left to ask about."


def given_text(given: Sequence[Given]) -> str:
    """The nodes as the prompt lists them."""
    return "\n".join(
        f"(id={node}, value={value}) -> {'UNKNOWN' if children is None else '[' + ', '.join(children) + ']'}"
        for node, value, children in given
    )


_TREE: Mapping[str, list[tuple[str, int]]] = {"bb": [("dd", 61), ("ee", 17)], "cc": []}
_GIVEN: list[Given] = [
    ("aa", 35, ["bb", "cc"]),
    ("bb", 8, None),
    ("cc", 52, None),
]


def example(state: bool, plan: bool) -> str:
    """A short search that succeeds, and one that cannot."""
    return "\n\n".join(_search(value, state, plan) for value in (17, 99))


def _search(value: int, state: bool, plan: bool) -> str:
    def answer(call: Call) -> str:
        if call.tool != "get_children":
            return "The task has ended."
        children = _TREE.get(call.arguments["id"], [])
        return orjson.dumps([{"id": node, "val": its} for node, its in children]).decode()

    turns = played(TreeGame(_GIVEN, value, 9), answer, state, plan)
    return f"Value to be found: {value}\n{given_text(_GIVEN)}\nBudget: 9 calls\n{turns}"
