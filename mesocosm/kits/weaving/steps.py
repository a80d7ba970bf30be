"""The operations of a tree as a checker sees them, and the ways in which one can be done wrongly."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from mesocosm.kits.weaving.expressions import TreeValue, evaluate
from mesocosm.kits.weaving.tree import Node, Tree


class TreeStep(BaseModel):
    """One operation of a bottom-up tree, with the values it is applied to."""

    model_config = ConfigDict(frozen=True)

    expression: str
    variables: list[str]
    values: dict[str, int | str]
    target: str
    result: str
    """Result after the ``%`` in the identifier."""

    @property
    def document(self) -> str:
        """The identifier that it computes."""
        return f"{self.target}%{self.result}"


def steps_of(tree: Tree) -> list[TreeStep]:
    """The operations of a bottom-up tree, in an order in which they can be taken."""
    return [_step(node) for node in tree.bottom_up() if node.rule]


def _step(node: Node) -> TreeStep:
    assert node.rule
    known = {c.variable: c.value for c in node.children if c.role == "value" and c.value is not None}
    return TreeStep(
        expression=node.rule.expression,
        variables=list(node.rule.variables),
        values=known,
        target=node.rule.target,
        result=node.id.partition("%")[2],
    )


# -- mistakes ----------------------------------------------------------------------------------------------

Mistake = Callable[[TreeStep], TreeValue]


def _minus_as_plus(step: TreeStep) -> TreeValue:
    return evaluate(step.expression.replace(" - ", " + "), step.values)


def _without_sign(step: TreeStep) -> TreeValue:
    result = evaluate(step.expression, step.values)
    return abs(result) if isinstance(result, int) else result


def _with_plus_sign(step: TreeStep) -> TreeValue:
    result = evaluate(step.expression, step.values)
    return f"{result:+d}" if isinstance(result, int) else result


def _other_order(step: TreeStep) -> TreeValue:
    return evaluate(step.expression, _renamed(step, step.variables[::-1]))


def _first_two_exchanged(step: TreeStep) -> TreeValue:
    first, second, *others = step.variables
    return evaluate(step.expression, _renamed(step, [second, first, *others]))


def _renamed(step: TreeStep, names: list[str]) -> dict[str, TreeValue]:
    """The values with the variables in another order."""
    return {old: step.values[new] for old, new in zip(step.variables, names, strict=True)}


def _off_by_one(step: TreeStep) -> TreeValue:
    result = evaluate(step.expression, step.values)
    return result + 1 if isinstance(result, int) else result


def _numbers_as_strings(step: TreeStep) -> TreeValue:
    if not all(isinstance(value, int) for value in step.values.values()):
        return step.result
    return "".join(str(step.values[name]) for name in step.variables)


def _one_left_out(step: TreeStep) -> TreeValue:
    """The last variable is overlooked."""
    nothing: TreeValue = "" if isinstance(step.values[step.variables[-1]], str) else 0
    return evaluate(step.expression, {**step.values, step.variables[-1]: nothing})


MISTAKES: dict[str, Mistake] = {
    "minus taken for plus": _minus_as_plus,
    "minus sign dropped": _without_sign,
    "plus sign written": _with_plus_sign,
    "operands in the opposite order": _other_order,
    "two operands exchanged": _first_two_exchanged,
    "off by one": _off_by_one,
    "integers concatenated": _numbers_as_strings,
    "an operand left out": _one_left_out,
}
"""The result of whoever does one operation wrongly."""
