"""A tree to be searched for the node with a value, by asking for children (LUMINA)."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product

from pydantic import Field

from mesocosm.families import family
from mesocosm.families.family import Evidence
from mesocosm.kits.lumina.game import SPARE_CALLS, BudgetParams, GameOracle
from mesocosm.kits.lumina.trees import TreeGame, example, given_text
from mesocosm.servers.treeworld.store import TreeworldStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

_TOKENS_PER_NODE = 22
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_SYLLABLES = ["".join(letters) for letters in product(_LETTERS, repeat=3)]
"""An id is two of them."""


class Params(BudgetParams):
    """Size of the tree, and how much of it is shown."""

    nodes: int = Field(default=30, ge=2, le=1_000_000)
    """Nodes of the tree (besides those of ``filler_tokens``)."""
    arity: int = Field(default=3, ge=1, le=1_000)
    """Children of a node, at most."""
    known_share: float = Field(default=0.4, ge=0, lt=1)
    """Share of the nodes whose children the prompt tells, about."""
    unreachable_share: float = Field(default=0.25, ge=0, le=1)
    """Probability that no node has the wanted value."""


class Expected(family.Expected):
    """The search as it is at first, and how it ends."""

    given: list[tuple[str, int, list[str] | None]]
    """Nodes of which the prompt speaks: id, value, and children where they are told."""
    value: int
    """The value that is looked for."""
    answer: str | None
    """The node that has it."""
    budget: int
    horizon: int
    """Calls of an optimal policy in the worst case."""
    nodes: int

    @property
    def measures(self) -> dict[str, int]:
        """The calls of an optimal policy in the worst case, and the nodes."""
        return {"horizon": self.horizon, "nodes": self.nodes}

    @property
    def least_calls(self) -> int:
        """Number of calls of an optimal policy in the worst case."""
        return self.measures["horizon"]

    @property
    def granted_calls(self) -> int:
        """The budget, and some that are refused once it is used up."""
        return self.budget + SPARE_CALLS

    def oracle(self) -> GameOracle:
        """The oracle of the search."""
        return GameOracle(lambda: TreeGame(self.given, self.value, self.budget), example)


@dataclass(frozen=True)
class _Tree:
    ids: Sequence[str]
    values: Sequence[int]
    parents: Sequence[int | None]
    children: Sequence[Sequence[int]]

    def given(self, told: Sequence[int]) -> Iterator[tuple[str, int, list[str] | None]]:
        """The nodes that are known when the children of some are told."""
        whose, ids = set(told), self.ids
        known = {0, *whose, *chain.from_iterable(map(self.children.__getitem__, told))}
        for node in sorted(known):
            children = [ids[child] for child in self.children[node]] if node in whose else None
            yield ids[node], self.values[node], children


def generate(world: World, params: Params) -> Expected:
    """Grow a tree, choose what is looked for and what is told."""
    rng = world.rng
    number = params.nodes + params.filler_tokens // _TOKENS_PER_NODE
    tree, spare = _grow(rng, number, params.arity)
    reachable = rng.random() >= params.unreachable_share
    leaf = _hidden_leaf(rng, tree)
    told = _told(rng, tree, round(params.known_share * number), tree.parents[leaf] if reachable else leaf)
    given = list(tree.given(told))
    value = tree.values[leaf] if reachable else spare
    # In the worst case all that is hidden is asked about, but for the node itself; then comes the end.
    horizon = number - len(told) + (0 if reachable else 1)
    budget = params.budget(horizon)
    nodes = zip(tree.ids, tree.values, tree.parents, strict=True)
    world.store(TreeworldStore).set_up(nodes, {tree.ids[node] for node in told}, budget)
    sought = f'"id":"{tree.ids[leaf]}","val":{value}'
    return Expected(
        given=given,
        value=value,
        answer=tree.ids[leaf] if reachable else None,
        budget=budget,
        horizon=horizon,
        nodes=number,
        public={
            "value": str(value),
            "nodes": given_text(given),
            "budget": str(budget),
            "example": example(False, False),
        },
        # That a value is nowhere is known only when everything was read: every page is evidence as a whole.
        evidence=[Evidence(service="treeworld", contains=sought if reachable else '"nodes":[')],
    )


def _grow(rng: random.Random, number: int, arity: int) -> tuple[_Tree, int]:
    """A random tree, and a value that none of its nodes has."""
    parents: list[int | None] = [None]
    children: list[list[int]] = [[] for _ in range(number)]
    open_, draw = [0], rng.random
    for node in range(1, number):
        place = int(draw() * len(open_))
        parent = open_[place]
        parents.append(parent)
        siblings = children[parent]
        siblings.append(node)
        if len(siblings) == arity:
            # The last of the open nodes takes the place of the parent, and the new node that of the last.
            open_[place] = open_[-1]
            open_[-1] = node
        else:
            open_.append(node)
    pairs = (divmod(one, len(_SYLLABLES)) for one in _distinct(rng, number, len(_SYLLABLES) ** 2))
    ids = [_SYLLABLES[first] + _SYLLABLES[second] for first, second in pairs]
    *values, spare = _distinct(rng, number + 1, max(1_000, 10 * number))
    return _Tree(ids, values, parents, children), spare


def _distinct(rng: random.Random, number: int, below: int) -> list[int]:
    """Different whole numbers below a bound: many are drawn at a time, where ``sample`` takes one by one."""
    drawn: dict[int, None] = {}
    while len(drawn) < number:
        more = struct.unpack(f"<{number}Q", rng.randbytes(8 * number))
        drawn.update(dict.fromkeys(one % below for one in more))
    return list(islice(drawn, number))


def _hidden_leaf(rng: random.Random, tree: _Tree) -> int:
    """A leaf, where there is one not directly below the root."""
    leaves = [node for node, children in enumerate(tree.children) if node and not children]
    deep = [node for node in leaves if tree.parents[node]]
    return rng.choice(deep or leaves)


def _told(rng: random.Random, tree: _Tree, number: int, hidden: int | None) -> list[int]:
    """Nodes whose children are told: connected with the root, and ``hidden`` is none of them."""
    told: list[int] = []
    frontier = [0] if hidden != 0 else []
    while frontier and len(told) < number:
        place = rng.randrange(len(frontier))
        frontier[place], frontier[-1] = frontier[-1], frontier[place]
        node = frontier.pop()
        told.append(node)
        frontier += [child for child in tree.children[node] if child != hidden]
    return told


def survey(tools: Tools, expected: Expected) -> None:
    """Read the whole tree."""
    offset: int | None = 0
    while offset is not None:
        offset = tools.call("treeworld", "read_tree", offset=offset)["next_offset"]
