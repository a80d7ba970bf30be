"""Documents to which wrong results lead: errors are silent.

Every identifier that an operation computes has others beside it, which the same operation gives where it is
done wrongly, or over a value that was got wrongly before. What stands there is of the same kind: another
value of the same variable, another rule, another list. Whoever makes one mistake goes on over documents that
are there, up to another value of the variable that is asked for.

A node has one other value, whatever the mistake was, so that the documents do not multiply from operation to
operation: an operation has some forty at most.
"""

# A mistake that leads nowhere shows itself; here it leads to another plausible end (decision 097).

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from mesocosm.errors import UsageError
from mesocosm.kits.weaving.expressions import TreeValue, evaluate
from mesocosm.kits.weaving.steps import MISTAKES, TreeStep
from mesocosm.kits.weaving.supply import Values
from mesocosm.kits.weaving.tree import Node, Rule, Tree, Validity
from mesocosm.kits.weaving.validity import Calendar
from mesocosm.kits.weaving.weaver import free_id

_SLIPS = (-100, -10, -9, -2, -1, 1, 2, 9, 10, 100)
"""By how much sums are often wrong."""


@dataclass
class Shadows:
    """Values behind a tree's wrong identifiers.

    Args:
        tree: The tree, finished.
        rng: What it is drawn with.
        name: Gives a new variable name with every call.
        values: Where the other values come from.
        calendar: Says for what they hold, where that of the tree is said.
    """

    tree: Tree
    rng: random.Random
    name: Callable[[], str]
    values: Values
    calendar: Calendar
    _others: dict[Node, Node] = field(default_factory=dict)
    """For each node that can be missed what stands in its place, with an identifier of its own."""

    def documents(self) -> Iterator[tuple[str, Node]]:
        """Yield identifiers with the content of their documents: a node of the same kind, with other
        content.
        """
        taken = {node.id for node in self.tree.nodes()}
        for node in self.tree.bottom_up():
            if any(child in self._others for child in node.children if child.role == "list"):
                other = self._other(node)
                yield other.id, other
            if node.validity:
                self._other(node)
            if node.rule:
                other = self._other(node)
                for id_ in self._wrong(node, node.rule):
                    if id_ not in taken:
                        taken.add(id_)
                        yield id_, other

    def _other(self, node: Node) -> Node:
        """Return the node that stands in place of another, whichever mistake led there."""
        if node not in self._others:
            made = Node(role=node.role, variable=node.variable, kind=node.kind)
            made.id = free_id(self.name(), self.rng)
            if node.role == "value":
                made.value = self._value(node)
                if node.validity:
                    made.validity = self._validity(node, node.validity)
            elif node.states:
                made.states = self._rule(node)
            self._others[node] = made
            if node.role == "list":
                made.parents = [self._other(parent) for parent in node.parents]
        return self._others[node]

    def _value(self, node: Node) -> TreeValue:
        if node.validity:
            return node.validity.other
        while (value := self._drawn(node)) == node.value:
            pass
        return value

    def _validity(self, node: Node, validity: Validity) -> Validity:
        """Return the validity of the other value, depending on whether its dependency was computed right."""
        unheard, given = self._drawn(node), validity.given
        if given is None:
            return self.calendar.for_a_time(unheard)
        other = given.validity.other if given.validity else self._other(given).value
        values = [value for value in (given.value, other) if isinstance(value, int)]
        return self.calendar.as_long_as(unheard, given, values)

    def _drawn(self, node: Node) -> TreeValue:
        return self.values.answer() if node is self.tree.root else self.values.draw(node.kind)

    def _rule(self, node: Node) -> Rule:
        """Another rule over the same variables, which gives something else."""
        assert node.states
        rule, known = node.states, _values(node.parents[0])
        right = evaluate(rule.expression, known)
        order = list(rule.variables)
        for _ in range(20):
            self.rng.shuffle(order)
            written = rule.operator.write(order, self.rng)
            if evaluate(written, known) != right:
                return Rule(rule.operator, tuple(order), written, rule.target)
        # Sums and products are the same in any order; no value is 0.
        less = f"{rule.expression} - {order[0]}"
        written = less if rule.operator.gives == "integer" else " + ".join(reversed(order))
        return Rule(rule.operator, rule.variables, written, rule.target)

    def _wrong(self, node: Node, rule: Rule) -> Iterator[str]:
        """The identifiers to which the operation of a node leads where something went wrong."""
        right = _values(node)
        stating = next((child for child in node.children if child.role == "rule"), None)
        rules = [rule]
        if stating in self._others:
            other = self._others[stating].states
            rules += [other] if other else []
        choices = [
            [right[child.variable], *self._other_values(child)]
            for child in node.children
            if child.role == "value"
        ]
        names = [child.variable for child in node.children if child.role == "value"]
        for stated in rules:
            for combination in product(*choices):
                known = dict(zip(names, combination, strict=True))
                yield from _results(stated, known)
                if stated is rule and known == right:
                    yield from _mistakes(stated, known)

    def _other_values(self, node: Node) -> list[TreeValue]:
        other = self._others.get(node)
        return [] if other is None or other.value is None else [other.value]


def _values(node: Node) -> dict[str, TreeValue]:
    return {
        child.variable: child.value
        for child in node.children
        if child.role == "value" and child.value is not None
    }


def _results(rule: Rule, known: Mapping[str, TreeValue]) -> Iterator[str]:
    result = evaluate(rule.expression, known)
    yield f"{rule.target}%{result}"
    if isinstance(result, int):
        yield f"{rule.target}%{result + 1}"


def _mistakes(rule: Rule, known: Mapping[str, TreeValue]) -> Iterator[str]:
    """Yield the results of typical mistakes in an operation."""
    step = TreeStep(
        expression=rule.expression,
        variables=list(rule.variables),
        values=dict(known),
        target=rule.target,
        result=str(evaluate(rule.expression, known)),
    )
    for mistake in MISTAKES.values():
        try:
            result = str(mistake(step))
        except UsageError:
            continue
        if result and not result.startswith("+"):
            yield f"{rule.target}%{result}"
    if step.result.lstrip("-").isdigit():
        yield from (f"{rule.target}%{int(step.result) + slip}" for slip in _SLIPS)
    else:
        yield f"{rule.target}%{step.result.swapcase()}"
        yield f"{rule.target}%{step.result[::-1]}"
