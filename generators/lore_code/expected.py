"""What the checker of the family needs to know."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from mesocosm.families import family
from mesocosm.kits.weaving import Node, Operator, Tree, load_operators
from mesocosm.kits.weaving.oracle import Piece, WovenOracle, program_pieces

ROOT = "main"
"""The module that is asked for."""


class Step(BaseModel):
    """One operation: the rule over other modules' values that a module's ``main`` computes."""

    model_config = ConfigDict(frozen=True)

    module: str
    operator: str
    """Its name, or that of the user's module that defines it."""
    expression: str
    variables: list[str]

    def load(self) -> Operator:
        """The operator itself."""
        (operator,) = load_operators([self.operator])
        return operator

    def value(self, values: Mapping[str, int]) -> int:
        """What the module returns, given what others do."""
        return int(self.load().execute(self.expression, values))


def steps_of(tree: Tree, names: Mapping[Operator, str]) -> list[Step]:
    """The operations of a top-down tree, in an order in which they can be taken.

    Args:
        tree: The tree.
        names: Under which each operator can be loaded.
    """
    return [
        Step(
            module=node.id,
            operator=names.get(node.rule.operator, "addition"),  # which collects leaves
            expression=node.rule.expression,
            variables=list(node.rule.variables),
        )
        for node in tree.bottom_up()
        if node.rule
    ]


def pieces_of(tree: Tree) -> list[Piece]:
    """What the oracle knows of a top-down tree's modules."""
    return program_pieces(tree, lambda node: f"{node.id}.py", _says)


def _says(node: Node) -> str:
    return f"{node.id}.main() is {node.rule.expression if node.rule else node.value}"


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
    """What the other modules of the tree return, also those of branches that are not taken."""
    modules: list[str]
    """All modules, in an order in which imports lead to them."""
    other_answer: str
    """What the ``main`` of another module returns."""
    pieces: list[Piece]
    """What each module says that the program calls, and when it can be read."""

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
