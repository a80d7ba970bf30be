"""Branches that are not taken look like those that are: they end as often, or lead on, to modules that are
there anyway until distractors grow in their place."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from mesocosm.kits.weaving import Node, Rule, TopDown, Tree

_LOOKED_AT = 64
"""Of so many modules, that is called which depends on about as many as the branch that is taken does."""
_JITTER = (0.8, 1.5)


@dataclass(frozen=True)
class Lookalikes:
    """Stand-ins for leaves that nobody asks for."""

    modules: Mapping[str, Node]
    called: frozenset[str]
    """Modules of the tree that they call."""
    models: Mapping[str, Node]
    """For each such leaf a branch that is taken somewhere: what stands in its place is to look like that."""


def levels_of(tree: Tree, level: int) -> dict[Node, int]:
    """Return the length of the longest chain of calls to each node; ``level`` is that of the root."""
    levels: dict[Node, int] = {}
    for node in reversed(list(tree.bottom_up())):
        levels[node] = max((levels[parent] + 1 for parent in node.parents), default=level)
    return levels


def lookalikes(tree: Tree, levels: Mapping[Node, int], rng: random.Random, weaver: TopDown) -> Lookalikes:
    """Operations for branches that are not taken, of the forms that operations of the tree have.

    They call modules of higher levels only: so nothing imports itself, and no chain of imports is longer than
    the tree is high.
    """
    forks = [(node, node.rule) for node in tree.nodes() if node.rule and node.rule.spare]
    weights: dict[Node, int] = {}
    for node in tree.bottom_up():
        weights[node] = min(1 + sum(weights[child] for child in node.children), len(levels))
    spare = {name for _, rule in forks for name in rule.spare}
    by_level = sorted((node for node in levels if node.id not in spare), key=levels.__getitem__)
    places = [levels[node] for node in by_level]
    takens = [_branches(fork, rule)[0] for fork, rule in forks]
    made: dict[str, Node] = {}
    called: set[str] = set()
    models: dict[str, Node] = {}
    for fork, rule in forks:
        left = _branches(fork, rule)[1]
        above = by_level[bisect_right(places, levels[left]) :]
        # So as many end here as of the branches that are taken.
        model = models[left.id] = rng.choice(takens)
        if not model.rule or len(above) < len(model.children):
            continue
        most, *aims = sorted((weights[child] for child in model.children), reverse=True)
        chosen = _chosen(above, [most * rng.uniform(*_JITTER), *aims], weights, rng)
        made[left.id] = weaver.over(left.id, model.rule, chosen)
        called.update(node.id for node in chosen)
    return Lookalikes(made, frozenset(called), models)


def _branches(fork: Node, rule: Rule) -> tuple[Node, Node]:
    """The branch that is taken, and the other."""
    named = {child.id: child for child in fork.children}
    return named[rule.variables[-2]], named[rule.variables[-1]]


def _chosen(
    nodes: Sequence[Node], aims: Sequence[float], weights: Mapping[Node, int], rng: random.Random
) -> list[Node]:
    """A node for each weight, near it, none twice."""
    chosen: list[Node] = []
    for aim in aims:
        looked_at = rng.sample(nodes, min(len(nodes), _LOOKED_AT + len(chosen)))
        left = [node for node in looked_at if node not in chosen]
        chosen.append(min(left, key=lambda node: abs(log(weights[node] / aim))))
    return chosen
