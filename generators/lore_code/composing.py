"""Weaves the program and its distractors, and writes them down as modules."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mesocosm.families.family import Evidence
from mesocosm.generators.lore_code.branching import levels_of, lookalikes
from mesocosm.generators.lore_code.expected import ROOT, Step, steps_of
from mesocosm.generators.lore_code.params import Params
from mesocosm.generators.lore_code.writing import Author, Module, docstring, wrapped
from mesocosm.kits.prose import Prose
from mesocosm.kits.weaving import Kind, Node, Numbers, TopDown, Tree, Value, Values
from mesocosm.kits.weaving.composing import Composition, File
from mesocosm.worlds import tokens
from mesocosm.worlds.randomness import Streams

_MODULI = (503, 547, 599, 601, 653, 701, 751, 797, 809, 853, 907, 953, 997)
"""Primes; one of them bounds the values of a program."""
_DEEPEST = 60
"""Modules that import each other in a row, beyond which Python's own limit would be met."""
_PREAMBLE = "import sys\n\nsys.setrecursionlimit(100_000)"
_SHARE_OF_BRANCHES = 0.6
"""How many distractors grow in branches that are not taken; uncalled functions lead to the others."""
_SHORTEST_PASSAGE = 10
_ROOM_FOR_A_TREE, _ROOM_FOR_A_MODULE = 700, 90
_OPERATIONS = (0, 0, 1, 1, 1, 2, 3)
"""Of a distractor."""


@dataclass(frozen=True, kw_only=True)
class Codebase(Composition):
    """A composed program."""

    evidence: list[Evidence]
    steps: list[Step]
    """In an order in which they can be taken; the last one gives the answer."""
    leaves: dict[str, int]
    """What the modules of the tree return that compute nothing."""
    reading_order: list[str]
    """All modules, in an order in which imports lead to them."""
    other_answer: str
    """What the ``main`` of another module returns."""


def compose(streams: Streams, params: Params) -> Codebase:
    """The modules, the question and the answer; the tree does not depend on the distractors."""
    streams = params.dice(streams)
    numbers = Numbers(streams.rng, span=_span(params))

    def name() -> str:
        return f"v{numbers.draw()}"

    modulus = streams.rng.choice(_MODULI)
    weaver = TopDown(streams.rng, name, params.values(streams.rng), root=ROOT, modulus=modulus)
    tree = weaver.weave(params.shape(), params.kinds())
    draft = Draft(params, modulus, _author(streams, params, tree), streams.stream("branches"))
    draft.plant(tree, 0, weaver)
    # Distractors are drawn with dice of their own, their names from what the tree has left.
    numbers.rng = streams.stream("distractor names")
    draft.author = _author(streams, params, tree, filler=True)
    other = draft.distract(name) or tree.root.children[0]
    spare = {variable for node in tree.nodes() if node.rule for variable in node.rule.spare}
    return Codebase(
        files=sorted(draft.files(), key=lambda file: file.id),
        public={"operations": str(tree.operations), "height": str(tree.height)},
        answer=str(tree.root.value),
        tree=tree,
        evidence=[
            Evidence(service="documents", contains=f"# {node.id}.py\n")
            for node in tree.nodes()
            if node.id not in spare
        ],
        steps=steps_of(tree, dict(zip(params.kinds(), params.operators, strict=True))),
        leaves={node.id: _integer(node) for node in tree.nodes() if not node.rule},
        reading_order=[module.id for module in draft.modules.values()],
        other_answer=str(other.value),
    )


@dataclass
class Draft:
    """The modules of a program while they are written."""

    params: Params
    modulus: int
    author: Author
    branches: random.Random
    modules: dict[str, Module] = field(default_factory=dict)
    """In an order in which imports lead to them."""
    hosts: list[Module] = field(default_factory=list)
    spare: dict[str, Node] = field(default_factory=dict)
    """Leaves of the trees in branches that are not taken, where distractors can grow."""
    deepest: int = 0

    def plant(self, tree: Tree, level: int, weaver: TopDown) -> list[Module]:
        """Write a tree down, each node in place of the module of its name if there is one."""
        levels = levels_of(tree, level)
        others = lookalikes(tree, levels, self.branches, weaver)
        made = []
        for node in tree.nodes():
            if node.rule:
                spare = node.rule.spare
                self.spare.update((child.id, child) for child in node.children if child.id in spare)
            shared = len(node.parents) > 1 or node.id in others.called
            module = self.author.module(others.modules.get(node.id, node), levels[node], shared=shared)
            self.modules[node.id] = module
            self.deepest = max(self.deepest, module.generation)
            if node.id not in self.spare:
                self.hosts.append(module)
            made.append(module)
        return made

    def files(self) -> Iterator[File]:
        """The modules as files."""
        for module in self.modules.values():
            deep = module.name == ROOT and self.deepest > _DEEPEST
            yield File(module.id, module.text(_PREAMBLE if deep else ""))

    def distract(self, name: Callable[[], str]) -> Node | None:
        """Add so many distractors, and then so many tokens of them; returns the root of one that computes."""
        left, spent = self.params.distractor_modules, 0
        computing: Node | None = None
        while left > 0 or spent < self.params.filler_tokens:
            room = None if left > 0 else self.params.filler_tokens - spent
            if room is not None and room < _ROOM_FOR_A_MODULE:
                self._note(room)
                break
            root, made, cost = self._grow(name, room)
            computing = computing or (root if root.rule else None)
            left -= made
            spent += 0 if room is None else cost
        return computing

    def _grow(self, name: Callable[[], str], room: int | None) -> tuple[Node, int, int]:
        """Add a distractor; returns its root, how many modules it has, and how many tokens it adds."""
        rng = self.author.rng
        roomy = room is None or room >= _ROOM_FOR_A_TREE
        operations = rng.choice(_OPERATIONS) if roomy else 0
        if self.spare and roomy and rng.random() < _SHARE_OF_BRANCHES:
            leaf = self.spare.pop(rng.choice(list(self.spare)))
            tree, weaver = self._weave(leaf.id, max(operations, 1), name)
            leaf.value = tree.root.value
            old = self.modules[leaf.id]
            level, cost = old.generation, -_cost(old.text())
        else:
            host = rng.choice(self.hosts)
            tree, weaver = self._weave(name(), operations, name)
            function = self.author.reference(host.words, tree.root.id)
            host.refer(function, tree.root.id)
            level, cost = host.generation + 1, _cost(f"\n\n{function}\nimport {tree.root.id}")
        made = self.plant(tree, level, weaver)
        cost += sum(_cost(module.text()) for module in made)
        if room is not None and not roomy and room - cost >= _SHORTEST_PASSAGE:
            made[0].remark = docstring(self.author.passage(room - cost))
            cost = room
        return tree.root, len(made), cost

    def _weave(self, root: str, operations: int, name: Callable[[], str]) -> tuple[Tree, TopDown]:
        """A distractor: plausible, but nobody asks for its value."""
        values = _OtherValues(self.params, self.author)
        weaver = TopDown(self.author.rng, name, values, root=root, modulus=self.modulus, secret=False)
        if not operations:
            weaver.tree.root.value = values.draw("integer")
            return weaver.tree, weaver
        shape = self.params.shape(operations).model_copy(update={"collection_probability": 0.0})
        return weaver.weave(shape, self.params.kinds()), weaver

    def _note(self, size: int) -> None:
        """A comment of so many tokens."""
        if size >= _SHORTEST_PASSAGE:
            host = self.author.rng.choice(self.hosts)
            host.functions.append(wrapped(self.author.passage(size), "# "))


class _OtherValues(Values):
    """Values as those of the program, without the answer."""

    def __init__(self, params: Params, author: Author) -> None:
        self._supply, self._avoid = params.values(author.rng), author.avoid

    def draw(self, kind: Kind) -> Value:
        """A value that is not the answer, nor its opposite."""
        while (value := self._supply.draw(kind)) in (self._avoid, -self._avoid):
            pass
        return value


def _author(streams: Streams, params: Params, tree: Tree, filler: bool = False) -> Author:
    name = "filler" if filler else "remarks"
    rng = streams.stream("filler") if filler else streams.rng
    return Author(rng, Prose(streams.stream(f"{name} prose")), params, abs(_integer(tree.root)))


def _span(params: Params) -> int:
    """Numbers of modules come from so wide a range that distractors do not stand out by theirs."""
    modules = params.operations * (params.max_children + 1) + params.distractor_modules
    span = 100
    while span < 4 * modules:
        span *= 10
    return span


def _integer(node: Node) -> int:
    assert isinstance(node.value, int)
    return node.value


def _cost(text: str) -> int:
    """About how many tokens a text adds to the survey."""
    return tokens.count(text + "\n")
