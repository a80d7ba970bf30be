"""Numbers that modules of a program share: some operations read one, and assign their result to one.

What an operation finds there is the result of whichever operation assigned last, so the order in which
modules are called counts. Each ``main`` runs once, when it is first called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mesocosm.kits.weaving.tree import Node, Register, Rule, Tree


@dataclass
class ProgramState:
    """Execution of a program."""

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
