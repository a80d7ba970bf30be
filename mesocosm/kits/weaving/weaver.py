"""Algorithm 1 of the TaskWeaver paper: growing a tree by a given number of operations, in either mode."""

from __future__ import annotations

import random
import re
import string
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mesocosm.errors import UsageError
from mesocosm.kits.weaving.expressions import TreeValue
from mesocosm.kits.weaving.operator import Operator, load_operators
from mesocosm.kits.weaving.supply import Values
from mesocosm.kits.weaving.tree import Node, Register, Rule, Tree

# Numbers that modules of a program share: some operations read one, and assign their result to one.
#
# What an operation finds there is the result of whichever operation assigned last, so the order in which
# modules are called counts. Each ``main`` runs once, when it is first called.


@dataclass
class ProgramState:
    returned: dict[Node, None] = field(default_factory=dict)
    """The nodes that are called, in the order in which they return."""
    found: dict[Node, Node | None] = field(default_factory=dict)
    """Of each node that reads a shared number: whose result it finds; ``None``: what it is at first."""

    @classmethod
    def of(cls, tree: Tree) -> ProgramState:
        """The course of a tree's program."""
        course = cls()
        assigned: dict[Register, Node] = {}
        running = [_Call(tree.root)]
        while running:
            call = running[-1]
            rule, name = call.node.rule, next(call.names, None)
            if name is None:
                running.pop()
                course.returned[call.node] = None
                if rule and rule.writes:
                    assigned[rule.writes] = call.node
            elif rule and rule.reads and name == rule.reads.name:
                course.found[call.node] = assigned.get(rule.reads)
            elif call.named[name] not in course.returned:
                running.append(_Call(call.named[name]))
        return course

    def order(self, tree: Tree) -> list[Node]:
        """Every node once, what others follow from before these; first those that are never called."""
        return [*(node for node in tree.nodes() if node not in self.returned), *self.returned]


class _Call:
    def __init__(self, node: Node) -> None:
        self.node = node
        self.named = {child.variable: child for child in node.children}
        self.names: Iterator[str] = iter(_evaluated(node.rule) if node.rule else ())


def _evaluated(rule: Rule) -> list[str]:
    return rule.operator.evaluated(rule.expression, rule.variables)


LARGEST_CONSTANT = 40
"""Numbers that are part of an operator (factors, waits) are at most so large."""
_DRAWS = 500


class Shape(BaseModel):
    """Target size and shape of a tree."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    operations: int = Field(default=20, ge=1)
    """N: the number of operations."""
    min_children: int = Field(default=2, ge=2)
    """Values that an operation combines, at least; an operator may ask for more."""
    max_children: int = Field(default=4, ge=2)
    """Values that an operation combines, at most; an operator may allow fewer."""
    leaf_threshold: int = Field(default=24, ge=2)
    """Leaves are collected only while there are more than these."""
    collection_probability: float = Field(default=0.3, ge=0, le=1)
    """Probability of that after an operation."""
    max_collected: int = Field(default=5, ge=2)
    """Leaves that are collected in one node, at most."""

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.min_children > self.max_children:
            raise ValueError("min_children is greater than max_children")
        return self

    def bounds(self, operator: Operator) -> tuple[int, int]:
        """Return the bounds on an operator's children; its own bounds come first."""
        low, high = operator.children
        low = min(max(low, self.min_children), high)
        return low, max(low, min(high, self.max_children))


class Weaver(ABC):
    """Grows one tree. ``weave`` does it all; the steps are public for trees of a given form.

    Args:
        rng: The source of all choices.
        name: Gives a new variable or module name with every call.
        values: Where values of nodes come from.
        root: Name of the root's variable.
    """

    def __init__(
        self, rng: random.Random, name: Callable[[], str], values: Values, *, root: str = "v0"
    ) -> None:
        self._rng = rng
        self._name = name
        self._values = values
        self.tree = Tree(Node(variable=root, id=self._root_id(root)))
        self._leaves: list[Node] = [self.tree.root]

    def weave(self, shape: Shape, operators: Sequence[Operator], *, collect_once: bool = False) -> Tree:
        """A whole tree.

        Args:
            shape: Its size and form.
            operators: What an operation may be; each is as likely as the others.
            collect_once: Collect leaves at the end if none were, so that the tree surely has such a node.
        """
        for _ in range(shape.operations):
            operator = self._rng.choice(self._usable(operators))
            self.expand(self._take_leaf(), operator, self._rng.randint(*shape.bounds(operator)))
            if len(self._leaves) > shape.leaf_threshold and self._rng.random() < shape.collection_probability:
                self._collect_some(shape)
        if collect_once and not self.tree.collections:
            self._collect_some(shape)
        return self.finish()

    def expand(self, node: Node, operator: Operator, count: int) -> list[Node]:
        """Make a leaf depend on ``count`` new values by an operation; returns the new nodes."""
        self._drop_leaf(node)
        children = self._expand(node, operator, count)
        spare = node.rule.spare if node.rule else ()
        for child in children:
            node.adopt(child)
            # The branch that a choice does not take stays as it is: operations there would count, and no
            # reader would have to follow them.
            if not child.variable or child.variable not in spare:
                self._leaves.append(child)
        self.tree.operations += 1
        return children

    def collect(self, nodes: Sequence[Node]) -> Node:
        """Collect leaves: they all depend on one new node, which is returned."""
        for node in nodes:
            self._drop_leaf(node)
        shared = self._collect(nodes)
        for node in nodes:
            node.adopt(shared)
        self._leaves.append(shared)
        self.tree.collections += 1
        return shared

    @abstractmethod
    def finish(self) -> Tree:
        """Give leaves and root what they lack."""

    @abstractmethod
    def _usable(self, operators: Sequence[Operator]) -> Sequence[Operator]: ...

    @abstractmethod
    def _root_id(self, root: str) -> str: ...

    @abstractmethod
    def _expand(self, node: Node, operator: Operator, count: int) -> list[Node]: ...

    @abstractmethod
    def _collect(self, nodes: Sequence[Node]) -> Node: ...

    def _collect_some(self, shape: Shape) -> None:
        count = min(self._rng.randint(2, shape.max_collected), len(self._leaves))
        taken = []
        for _ in range(count):
            taken.append(self._take_leaf())
            self._leaves.pop()
        # Put back last to first, so that ``collect`` finds each at the end of the list.
        self._leaves.extend(reversed(taken))
        self.collect(taken)

    def _take_leaf(self) -> Node:
        """Any leaf, moved to the end of the list, where it can be dropped in constant time."""
        # A choice from the list would be as good, but to remove from its middle makes large trees quadratic.
        at = self._rng.randrange(len(self._leaves))
        self._leaves[at], self._leaves[-1] = self._leaves[-1], self._leaves[at]
        return self._leaves[-1]

    def _drop_leaf(self, node: Node) -> None:
        if node is self._leaves[-1]:
            self._leaves.pop()
        elif node in self._leaves:
            self._leaves.remove(node)
        else:
            raise UsageError("only a leaf can be expanded or collected")

    def _rule(self, operator: Operator, variables: Sequence[str], target: str = "") -> Rule:
        """A rule over these variables in any order."""
        mixed = self._rng.sample(variables, len(variables))
        return Rule(operator, tuple(mixed), operator.write(mixed, self._rng), target)


class BottomUp(Weaver):
    """Bottom-up trees: the children's values compute the identifier of their parent."""

    def finish(self) -> Tree:
        """Identifiers for the remaining leaves, and a random value for the root."""
        for leaf in self._leaves:
            leaf.id = self._new_id()
        self.tree.root.kind = "string"
        self.tree.root.value = self._values.answer()
        return self.tree

    def _usable(self, operators: Sequence[Operator]) -> Sequence[Operator]:
        usable = [operator for operator in operators if not operator.code_only]
        if not usable:
            raise UsageError("a bottom-up tree needs operators that are not for code only")
        return usable

    def _root_id(self, root: str) -> str:
        return ""

    def _expand(self, node: Node, operator: Operator, count: int) -> list[Node]:
        children = [
            Node(variable=self._name(), kind=operator.takes, value=self._values.draw(operator.takes))
            for _ in range(count)
        ]
        rule = self._rule(operator, [child.variable for child in children], self._name())
        # Python writes integers as the rule documents ask for: a minus sign, never a plus.
        node.id = f"{rule.target}%{rule.execute(_values(children))}"
        node.rule = rule
        return [*children, Node(role="rule", states=rule)]

    def _collect(self, nodes: Sequence[Node]) -> Node:
        for node in nodes:
            node.id = self._new_id()
        return Node(role="list")

    def _new_id(self) -> str:
        return free_id(self._name(), self._rng)


def free_id(name: str, rng: random.Random) -> str:
    """An identifier that is not computed; the name makes it different from all others."""
    suffix = "X"
    while suffix == "X":  # which stands for the computed part in rules
        suffix = "".join(rng.choices(string.ascii_letters, k=rng.randint(1, 5)))
    return f"{name}%{suffix}"


def _values(nodes: Sequence[Node]) -> dict[str, TreeValue]:
    return {node.variable: node.value for node in nodes if node.value is not None}


class TopDown(Weaver):
    """Identifiers come first: a node's value follows from its children's, once the leaves have values.

    Args:
        modulus: A prime. No value is as large, and none is a multiple of it: where it would be, the rule
            takes the remainder or adds a little. So values do not grow with the tree, and a change of a
            leaf, if it is no multiple of the modulus, is not lost on its way through sums and products.
        secret: Whether the root's value is to be no number that a leaf or a rule holds, as far as the
            operators allow.
        registers: Numbers that operations may share.
        shared_state: How many of the operations that do not choose read and write one.
    """

    def __init__(
        self,
        rng: random.Random,
        name: Callable[[], str],
        values: Values,
        *,
        root: str = "v0",
        modulus: int | None = None,
        secret: bool = True,
        registers: Sequence[Register] = (),
        shared_state: float = 0,
    ) -> None:
        super().__init__(rng, name, values, root=root)
        self._modulus = modulus
        self._secret = secret
        self._registers, self._shared_state = registers, shared_state

    def finish(self) -> Tree:
        """Random values for the leaves; the others' are computed."""
        if self._registers:
            course = ProgramState.of(self.tree)
            self.tree.order, self.tree.found = course.order(self.tree), course.found
        drafts = [(node, node.rule) for node in self.tree.bottom_up()]
        # Values anew with the same tree: the answer is not to stand in a leaf or a rule, where a guess would
        # find it. The operators may not allow that, so there is an end.
        for _ in range(_DRAWS):
            for node, rule in drafts:
                if rule is None:
                    node.value = self._values.draw(node.kind)
                else:
                    node.rule, node.value = self._settled(rule, self._known(node, rule))
            if not self._secret or not self._is_told():
                break
        return self.tree

    def _known(self, node: Node, rule: Rule) -> dict[str, TreeValue]:
        known = _values(node.children)
        if rule.reads:
            source = self.tree.found.get(node)
            known[rule.reads.name] = (
                rule.reads.value if source is None or source.value is None else source.value
            )
        return known

    def over(self, name: str, model: Rule, nodes: Sequence[Node]) -> Node:
        """A node outside the tree with an operation as another's, over nodes of it, once that is finished."""
        rule = self._sharing(model.operator, [node.variable for node in nodes], model.reads, model.writes)
        at_first: dict[str, TreeValue] = {model.reads.name: model.reads.value} if model.reads else {}
        rule, value = self._settled(rule, _values(nodes) | at_first)
        return Node(variable=name, id=name, rule=rule, value=value)

    def passing_on(self, name: str, node: Node) -> Node:
        """A node outside the tree that says no more than which node of it it asks."""
        return Node(variable=name, id=name, rule=_redirection(node), value=node.value)

    def _settled(self, rule: Rule, values: Mapping[str, TreeValue]) -> tuple[Rule, TreeValue]:
        """A rule that keeps to the modulus, and its value."""
        operator = rule.operator
        expression = operator.settle(rule.expression, rule.variables, values)
        value = operator.execute(expression, values)
        if self._modulus and isinstance(value, int):
            # A multiple of the modulus would be 0 in every product and remainder above it: what lies below
            # could be skipped.
            add = 0 if value % self._modulus else self._rng.randint(1, 9)
            modulus = self._modulus if abs(value + add) >= self._modulus else None
            if add or modulus:
                expression = operator.limit(expression, add, modulus)
                value = operator.execute(expression, values)
        return (rule if expression == rule.expression else replace(rule, expression=expression)), value

    def _is_told(self) -> bool:
        answer = self.tree.root.value
        assert isinstance(answer, int)
        if abs(answer) <= LARGEST_CONSTANT:
            return True
        if any(abs(register.value) == abs(answer) for register in self._registers):
            return True
        written = re.compile(rf"\b{abs(answer)}\b")
        return any(
            written.search(node.rule.expression) if node.rule else node.value in (answer, -answer)
            for node in self.tree.nodes()
        )

    def _usable(self, operators: Sequence[Operator]) -> Sequence[Operator]:
        # A value that can take the place of another must be of its kind: integers, as the root is.
        usable = [operator for operator in operators if operator.takes == operator.gives == "integer"]
        if not usable:
            raise UsageError("a top-down tree needs operators on integers")
        if self._secret and not self.tree.operations:
            # A root that chooses would have the very value of another node.
            return [operator for operator in usable if not operator.spare] or usable
        return usable

    def _root_id(self, root: str) -> str:
        return root

    def _expand(self, node: Node, operator: Operator, count: int) -> list[Node]:
        reads = writes = None
        if self._registers and not operator.spare and self._rng.random() < self._shared_state:
            reads, writes = self._rng.choice(self._registers), self._rng.choice(self._registers)
        # The shared number is one of the values, so that an operation combines as many as without it.
        children = [self._node(operator) for _ in range(count - 1 if reads else count)]
        node.rule = self._sharing(operator, [child.variable for child in children], reads, writes)
        return children

    def _sharing(
        self, operator: Operator, variables: list[str], reads: Register | None, writes: Register | None
    ) -> Rule:
        """A rule over these variables, and over the shared number that it reads."""
        if reads is None:
            return self._rule(operator, variables)
        return replace(self._rule(operator, [*variables, reads.name]), reads=reads, writes=writes)

    def _node(self, operator: Operator) -> Node:
        name = self._name()
        return Node(variable=name, id=name, kind=operator.takes)

    def _collect(self, nodes: Sequence[Node]) -> Node:
        shared = self._node(_addition())
        for node in nodes:
            node.rule = _redirection(shared)
        return shared


def _addition() -> Operator:
    (addition,) = load_operators(["addition"])
    return addition


def _redirection(node: Node) -> Rule:
    """The sum of one value: that says no more than which module is asked."""
    return Rule(_addition(), (node.variable,), node.variable)
