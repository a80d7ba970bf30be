"""Knowledge of the family's checker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from mesocosm.families import family
from mesocosm.kits.weaving import Node, Operator, Register, Rule, Tree, load_operators
from mesocosm.kits.weaving.oracle import Piece, WovenOracle, program_pieces

ROOT = "main"
"""The module that is asked for."""
_VARIABLE = re.compile(r"\bv\d+\b")


class Step(BaseModel):
    """One operation: the rule over other modules' values that a module's ``main`` computes."""

    model_config = ConfigDict(frozen=True)

    module: str
    operator: str
    """Its name, or that of the user's module that defines it."""
    expression: str
    variables: list[str]
    shared: str = ""
    """The shared number that is read, if one is; in the expression stands whose result is found in it."""
    found: str = ""
    """The module with that result; itself, where it is as at first."""

    @model_serializer(mode="wrap")
    def _as_before(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without shared numbers where there are none: what is written of other tasks stays as it was."""
        dumped: dict[str, Any] = dump(self)
        return dumped if self.shared else {k: v for k, v in dumped.items() if k not in ("shared", "found")}

    def load(self) -> Operator:
        """The operator itself."""
        (operator,) = load_operators([self.operator])
        return operator

    def value(self, values: Mapping[str, int]) -> int:
        """Compute the module's result from those of others."""
        return int(self.load().execute(self.expression, values))


def steps_of(tree: Tree, names: Mapping[Operator, str]) -> list[Step]:
    """The operations of a top-down tree, in an order in which they can be taken.

    Args:
        tree: The tree.
        names: Under which each operator can be loaded.
    """
    return [_step(node, node.rule, names, tree.found.get(node)) for node in tree.bottom_up() if node.rule]


def _step(node: Node, rule: Rule, names: Mapping[Operator, str], found: Node | None) -> Step:
    """One operation; a shared number is named as what it is then: the result of the node found in it."""
    shared = rule.reads.name if rule.reads else ""
    source = found.id if found else shared
    renamed = {shared: source}
    expression = _VARIABLE.sub(lambda one: renamed.get(one[0], one[0]), rule.expression)
    return Step(
        module=node.id,
        operator=names.get(rule.operator, "addition"),  # which collects leaves
        expression=expression,
        variables=[renamed.get(one, one) for one in rule.variables],
        shared=shared,
        found=source,
    )


def shared_numbers(tree: Tree) -> list[Register]:
    """The shared numbers that some operation reads."""
    rules = (node.rule for node in tree.bottom_up())
    return list(dict.fromkeys(rule.reads for rule in rules if rule and rule.reads))


def found_at_first(tree: Tree) -> list[Register]:
    """The shared numbers that some operation finds as they are at first."""
    rules = (node.rule for node in tree.bottom_up() if node in tree.found and tree.found[node] is None)
    return list(dict.fromkeys(rule.reads for rule in rules if rule and rule.reads))


def pieces_of(tree: Tree) -> list[Piece]:
    """Return the oracle's knowledge of a top-down tree's modules."""
    return program_pieces(tree, lambda node: f"{node.id}.py", _says)


def _says(node: Node) -> str:
    rule = node.rule
    if rule is None or rule.reads is None or rule.writes is None:
        return f"{node.id}.main() is {rule.expression if rule else node.value}"
    shared = f"{rule.reads.name}.{rule.reads.attribute}"
    expression = re.sub(rf"\b{rule.reads.name}\b", shared, rule.expression)
    return f"{node.id}.main() is {expression}, and is assigned to {rule.writes.name}.{rule.writes.attribute}"


class Expected(family.Expected):
    """The answer, and how it follows."""

    answer: str
    operations: int
    """N."""
    height: int
    """The longest chain of dependencies."""
    collections: int
    """How often leaves were redirected to one module."""
    steps: list[Step]
    """In an order in which they can be taken; the last one gives the answer."""
    leaves: dict[str, int]
    """Results of the tree's other modules, also in branches not taken, and initial shared numbers."""
    modules: list[str]
    """All modules, in an order in which imports lead to them."""
    other_answer: str
    """The result of another module's ``main``."""
    pieces: list[Piece]
    """The text of each module that the program calls, and when it can be read."""

    @property
    def measures(self) -> dict[str, int]:
        """N and the height."""
        return {"operations": self.operations, "height": self.height}

    @property
    def least_calls(self) -> int:
        """Every module is read whose ``main`` is called, and the answer submitted."""
        return len(self.pieces) + 1

    def oracle(self) -> WovenOracle:
        """The oracle of the program."""
        return WovenOracle(self.pieces, ROOT, self.answer)
