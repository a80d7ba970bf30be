"""Dependency trees: nodes, and the rules by which one follows from its children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from mesocosm.kits.weaving.expressions import TreeValue, ValueKind
from mesocosm.kits.weaving.operator import Operator

Role = Literal["value", "rule", "list"]


@dataclass(frozen=True)
class Register:
    """A number that modules of a program share: an attribute of a module of its own."""

    name: str
    """Of the module; in rules also the variable that stands for the number."""
    attribute: str
    value: int
    """Its first value."""


@dataclass(frozen=True)
class Rule:
    """An expression over the values of some variables."""

    operator: Operator
    variables: tuple[str, ...]
    expression: str
    target: str = ""
    """Bottom-up: the part before ``%`` of the identifier that the rule computes."""
    reads: Register | None = None
    """Top-down: a shared number that is one of the variables."""
    writes: Register | None = None
    """Top-down: the shared number to which the result is assigned."""

    @property
    def spare(self) -> tuple[str, ...]:
        """The variables that the rule does not choose."""
        return self.variables[len(self.variables) - self.operator.spare :]

    def execute(self, values: Mapping[str, TreeValue]) -> TreeValue:
        return self.operator.execute(self.expression, values)


@dataclass(frozen=True)
class Validity:
    """Validity of a value: when it holds, and the other value beside it that does not."""

    other: TreeValue
    before: bool
    """True if the value holds before the day, or below the threshold; else from it on."""
    day: date | None = None
    given: Node | None = None
    """The node whose value is compared with the threshold."""
    threshold: int = 0


@dataclass(eq=False)
class Node:
    """One file: its identifier and its statement.

    A ``value`` node says what its variable's value is; a ``rule`` node (bottom-up) states the rule by which
    an identifier is computed; a ``list`` node (bottom-up) lists the identifiers of its parents.
    """

    role: Role = "value"
    variable: str = ""
    """Of a value node: the variable that it defines."""
    kind: ValueKind = "integer"
    value: TreeValue | None = None
    validity: Validity | None = None
    """Validity, for a value that holds only for a time or under a condition."""
    id: str = ""
    """Bottom-up: the identifier of the document; top-down, of the module: its variable."""
    rule: Rule | None = None
    """Rule by which the identifier (bottom-up) or value (top-down) follows from the children."""
    states: Rule | None = None
    """Of a rule node: the rule that it states, which is that of its parent."""
    parents: list[Node] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    def adopt(self, child: Node) -> None:
        """Make a node depend on another."""
        self.children.append(child)
        child.parents.append(self)


@dataclass
class Tree:
    """A root and all that it depends on.

    It is a tree in the strict sense but for collected leaves: the node that several leaves were collected in
    is a child of each of them.
    """

    root: Node
    operations: int = 0
    collections: int = 0
    order: list[Node] = field(default_factory=list)
    """Where nodes share numbers: all nodes in an order in which they can be computed."""
    found: dict[Node, Node | None] = field(default_factory=dict)
    """Of nodes that read a shared number: whose result they find in it; ``None``: what it is at first."""

    def nodes(self) -> Iterator[Node]:
        """Yield every node once, root first, and parents before children where there is one path."""
        order, shared = [self.root], set()
        for node in order:  # which grows meanwhile
            for child in node.children:
                if len(child.parents) == 1:
                    order.append(child)
                elif child not in shared:
                    shared.add(child)
                    order.append(child)
        return iter(order)

    def leaves(self) -> list[Node]:
        """Return the nodes without dependencies, which the prompt lists (bottom-up)."""
        return [node for node in self.nodes() if not node.children]

    def bottom_up(self) -> Iterator[Node]:
        """Every node once, children before their parents."""
        if self.order:
            return iter(self.order)
        nodes = list(self.nodes())
        waiting = {node: len(node.children) for node in nodes}
        ready = [node for node in nodes if not node.children]
        for node in ready:  # which grows meanwhile
            for parent in node.parents:
                waiting[parent] -= 1
                if waiting[parent] == 0:
                    ready.append(parent)
        return iter(ready)

    @property
    def height(self) -> int:
        """The longest chain of dependencies, in edges."""
        heights: dict[Node, int] = {}
        for node in self.bottom_up():
            heights[node] = max((heights[child] + 1 for child in node.children), default=0)
        return heights[self.root]
