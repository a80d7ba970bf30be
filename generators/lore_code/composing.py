"""Weaves the program and its distractors, and writes them down as modules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from mesocosm.families.family import Evidence
from mesocosm.generators.lore_code.branching import levels_of, lookalikes
from mesocosm.generators.lore_code.expected import ROOT, Step, found_at_first, shared_numbers, steps_of
from mesocosm.generators.lore_code.params import Params
from mesocosm.generators.lore_code.writing import VARIABLE, Author, Module, docstring, wrapped
from mesocosm.kits.prose import Prose
from mesocosm.kits.weaving import Node, Numbers, Register, TopDown, Tree, TreeValue, ValueKind, Values
from mesocosm.kits.weaving.composition import Composition, File
from mesocosm.kits.weaving.program import Identifiers
from mesocosm.kits.weaving.supply import wide_span
from mesocosm.worlds import tokens
from mesocosm.worlds.randomness import Streams

_MODULI = (503, 547, 599, 601, 653, 701, 751, 797, 809, 853, 907, 953, 997)
"""Primes; one of them bounds the values of a program."""
_DEEPEST = 60
"""Modules that import each other in a row, beyond which Python's own limit would be met."""
_PREAMBLE = "import sys\n\nsys.setrecursionlimit(100_000)"
_SHARE_OF_BRANCHES = 0.7
"""Share of distractors in branches not taken, which only a comparison shows to be unneeded; the others hang
on uncalled functions."""
_SHARE_OF_IDLE_WRITERS = 0.12
"""Share of modules with an uncalled function that assigns to a shared number."""
_OPERATIONS_PER_REGISTER = 4
_SHORTEST_PASSAGE = 10
_ROOM_FOR_A_TREE, _ROOM_FOR_AN_OPERATION, _ROOM_FOR_A_MODULE = 700, 350, 90
"""In tokens."""
_MODULES_PER_OPERATION = 4
"""At most."""
_OPERATIONS = (0, 0, 1, 1, 1, 2, 3)
"""Of a distractor to which an uncalled function leads."""


@dataclass(frozen=True, kw_only=True)
class Codebase(Composition):
    """A composed program."""

    evidence: list[Evidence]
    steps: list[Step]
    """In an order in which they can be taken; the last one gives the answer."""
    leaves: dict[str, int]
    """Results of the tree's modules that compute nothing."""
    reading_order: list[str]
    """All modules, in an order in which imports lead to them."""
    other_answer: str
    """The result of another module's ``main``."""


def compose(streams: Streams, params: Params) -> Codebase:
    """The modules, the question and the answer; the tree does not depend on the distractors."""
    streams = params.dice(streams)
    numbers = Numbers(streams.rng, span=_span(params))

    def name() -> str:
        return f"v{numbers.draw()}"

    modulus = streams.rng.choice(_MODULI)
    registers = _registers(streams.stream("shared numbers"), params, name)
    weaver = TopDown(
        streams.rng,
        name,
        params.values(streams.rng),
        root=ROOT,
        modulus=modulus,
        registers=registers,
        shared_state=params.shared_state,
    )
    tree = weaver.weave(params.shape(), params.kinds())
    draft = Draft(params, modulus, registers, _author(streams, params, tree), streams.stream("branches"))
    draft.plant(tree, 0, weaver)
    # Distractors are drawn with dice of their own, their names from what the tree has left.
    numbers.rng = streams.stream("distractor names")
    draft.author = _author(streams, params, tree, filler=True)
    other = draft.distract(name) or tree.root.children[0]
    spare = {variable for node in tree.nodes() if node.rule for variable in node.rule.spare}
    found_first = found_at_first(tree)
    return Codebase(
        files=sorted(draft.files(), key=lambda file: file.id),
        public={"operations": str(tree.operations), "height": str(tree.height)},
        answer=str(tree.root.value),
        tree=tree,
        evidence=[
            Evidence(service="documents", contains=f"# {node.id}.py\n")
            for node in tree.nodes()
            if node.id not in spare
        ]
        + [Evidence(service="documents", contains=f"# {one.name}.py\n") for one in found_first],
        steps=steps_of(tree, dict(zip(params.kinds(), params.operators, strict=True))),
        leaves={node.id: _integer(node) for node in tree.nodes() if not node.rule}
        | {one.name: one.value for one in shared_numbers(tree)},
        reading_order=[module.id for module in draft.modules.values()],
        other_answer=str(other.value),
    )


@dataclass(frozen=True)
class Spare:
    """A leaf that nobody asks for, in a branch that is not taken."""

    leaf: Node
    passes_on: bool
    """True if it only names the module that it asks, like the branch it imitates."""
    shared: bool
    """True if it caches its result."""


@dataclass
class Draft:
    """The modules of a program while they are written."""

    params: Params
    modulus: int
    registers: Sequence[Register]
    author: Author
    branches: random.Random
    modules: dict[str, Module] = field(default_factory=dict)
    """In an order in which imports lead to them."""
    hosts: list[Module] = field(default_factory=list)
    spare: dict[str, Spare] = field(default_factory=dict)
    """Where distractors can grow."""
    below: int = 0
    """Modules of distractors in branches that are not taken."""
    beside: int = 0
    """Modules of distractors to which uncalled functions lead."""
    deepest: int = 0

    def plant(
        self, tree: Tree, level: int, weaver: TopDown, *, called: bool = True, shared: bool = False
    ) -> list[Module]:
        """Write a tree down, each node in place of the module of its name if there is one.

        Args:
            called: Whether distractors may grow in its branches that are not taken.
            shared: Whether its root keeps its result.
        """
        levels = levels_of(tree, level)
        again = _asked_again(tree) if self.registers else set()
        others = lookalikes(tree, levels, self.branches, weaver)
        made = []
        for node in tree.nodes():
            model = others.models.get(node.id)
            looks = model or node
            keeps = len(looks.parents) > 1 or looks.id in others.called or (shared and node is tree.root)
            keeps = keeps or looks in again
            made.append(self._write(others.modules.get(node.id, node), levels[node], shared=keeps))
            if called and model and model.rule:
                self.spare[node.id] = Spare(node, passes_on=len(model.rule.variables) == 1, shared=keeps)
            else:
                self.hosts.append(made[-1])
        return made

    def _write(self, node: Node, level: int, *, shared: bool = False) -> Module:
        module = self.author.module(node, level, shared=shared)
        self.modules[node.id] = module
        self.deepest = max(self.deepest, level)
        if self.registers:
            self._share(module, node)
        return module

    def _share(self, module: Module, node: Node) -> None:
        """Write down the shared numbers of a module; now and then nobody calls what assigns to one."""
        named = [one for one in (node.rule.reads, node.rule.writes) if one] if node.rule else []
        if self.branches.random() < _SHARE_OF_IDLE_WRITERS:
            idle = self.branches.choice(self.registers)
            module.refer(self.author.assignment(module.words, idle), idle.name)
            named.append(idle)
        for register in named:
            if register.name not in self.modules:
                self.modules[register.name] = self.author.register(register, module.generation + 1)

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
            root, made, cost = self._grow(name, left, room)
            computing = computing or (root if root.rule else None)
            left -= made
            spent += 0 if room is None else cost
        return computing

    def _grow(self, name: Callable[[], str], left: int, room: int | None) -> tuple[Node, int, int]:
        """Add a distractor; returns its root, how many modules it has, and how many tokens it adds."""
        few = self.below <= _SHARE_OF_BRANCHES * (self.below + self.beside)
        if self.spare and few and (room is None or room >= _ROOM_FOR_A_TREE):
            most = left // _MODULES_PER_OPERATION if room is None else room // _ROOM_FOR_AN_OPERATION
            return self._grow_below(name, max(most, 1))
        return self._grow_beside(name, room)

    def _grow_below(self, name: Callable[[], str], most: int) -> tuple[Node, int, int]:
        """In a branch that is not taken, of at most so many operations: a tree like that of the program."""
        rng = self.author.rng
        spare = self.spare.pop(rng.choice(list(self.spare)))
        leaf, old = spare.leaf, self.modules[spare.leaf.id]
        root = name() if spare.passes_on else leaf.id
        # The last one gets a whole program, so that there surely are others again.
        operations = rng.randint(1, self.params.operations) if self.spare else self.params.operations
        tree, weaver = self._weave(root, min(operations, most), name)
        leaf.value = tree.root.value
        made: list[Module] = []
        if spare.passes_on:
            made.append(
                self._write(weaver.passing_on(leaf.id, tree.root), old.generation, shared=spare.shared)
            )
            self.hosts += made
        # What several branches ask for keeps its result; that is what others would pass on to.
        made += self.plant(tree, old.generation + len(made), weaver, shared=spare.passes_on or spare.shared)
        self.below += len(made)
        return tree.root, len(made), sum(_cost(module.text()) for module in made) - _cost(old.text())

    def _grow_beside(self, name: Callable[[], str], room: int | None) -> tuple[Node, int, int]:
        """Grow a program beside the main one, reached only from a function that nobody calls."""
        rng = self.author.rng
        roomy = room is None or room >= _ROOM_FOR_A_TREE
        tree, weaver = self._weave(name(), rng.choice(_OPERATIONS) if roomy else 0, name)
        host = rng.choice(self.hosts)
        function = self.author.reference(host.words, tree.root.id)
        host.refer(function, tree.root.id)
        made = self.plant(tree, host.generation + 1, weaver, called=False)
        self.beside += len(made)
        cost = _cost(f"\n\n{function}\nimport {tree.root.id}")
        cost += sum(_cost(module.text()) for module in made)
        if room is not None and not roomy and room - cost >= _SHORTEST_PASSAGE:
            made[0].remark = docstring(self.author.passage(room - cost))
            cost = room
        return tree.root, len(made), cost

    def _weave(self, root: str, operations: int, name: Callable[[], str]) -> tuple[Tree, TopDown]:
        """A distractor: plausible, but nobody asks for its value."""
        values = _OtherValues(self.params, self.author)
        weaver = TopDown(
            self.author.rng,
            name,
            values,
            root=root,
            modulus=self.modulus,
            secret=False,
            registers=self.registers,
            shared_state=self.params.shared_state,
        )
        if not operations:
            weaver.tree.root.value = values.draw("integer")
            return weaver.tree, weaver
        return weaver.weave(self.params.shape(operations), self.params.kinds()), weaver

    def _note(self, size: int) -> None:
        """A comment of so many tokens."""
        if size >= _SHORTEST_PASSAGE:
            host = self.author.rng.choice(self.hosts)
            host.functions.append(wrapped(self.author.passage(size), "# "))


def _registers(rng: random.Random, params: Params, name: Callable[[], str]) -> list[Register]:
    """The numbers that modules share, of which each is read by a few operations."""
    if not params.shared_state:
        return []
    number = max(1, round(params.operations * params.shared_state / _OPERATIONS_PER_REGISTER))
    values, words = params.values(rng), Identifiers(rng)
    return [Register(name(), words.noun(), int(values.draw("integer"))) for _ in range(number)]


def _asked_again(tree: Tree) -> set[Node]:
    """Nodes that an operation asks for more than once: they keep their result, so that nothing runs twice."""
    again = set()
    for node in tree.nodes():
        asked = Counter(VARIABLE.findall(node.rule.expression)) if node.rule else Counter()
        again |= {child for child in node.children if asked[child.id] > 1}
    return again


class _OtherValues(Values):
    """Values as those of the program, without the answer."""

    def __init__(self, params: Params, author: Author) -> None:
        self._supply, self._avoid = params.values(author.rng), author.avoid

    def draw(self, kind: ValueKind) -> TreeValue:
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
    return wide_span(params.operations * (params.max_children + 1) + params.distractor_modules)


def _integer(node: Node) -> int:
    assert isinstance(node.value, int)
    return node.value


def _cost(text: str) -> int:
    """About how many tokens a text adds to the survey."""
    return tokens.count(text + "\n")
