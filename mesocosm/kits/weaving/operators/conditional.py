"""One of two integers, chosen by comparing two others."""

import random
from collections.abc import Mapping, Sequence

from mesocosm.kits.weaving.expressions import TreeValue, evaluate
from mesocosm.kits.weaving.operator import Operator
from mesocosm.kits.weaving.program import Identifiers, Program

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Conditional(Operator):
    """``v3 if v1 < v2 else v4``; the last variable given is the branch that is not taken."""

    children = (4, 4)
    code_only = True
    spare = 1

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """Any comparison, the branches in any order; ``settle`` makes it right."""
        left, right, *branches = variables
        yes, no = rng.sample(branches, 2)
        return f"{yes} if {left} {rng.choice(list(_OPPOSITE))} {right} else {no}"

    def settle(self, expression: str, variables: Sequence[str], values: Mapping[str, TreeValue]) -> str:
        """The comparison is turned into its opposite if it would choose the spare variable."""
        yes, _, left, comparison, right, _, no = expression.split()
        marked: dict[str, TreeValue] = {**values, variables[-2]: 1, variables[-1]: 0}
        chosen = comparison if evaluate(expression, marked) else _OPPOSITE[comparison]
        return f"{yes} if {left} {chosen} {right} else {no}"

    def evaluated(self, expression: str, variables: Sequence[str]) -> list[str]:
        """Return the operands that are compared, then the branch taken."""
        return list(variables[:-1])

    def program(self, expression: str, words: Identifiers) -> Program:
        """One expression, or statements."""
        yes, _, left, comparison, right, _, no = expression.split()
        form = words.rng.randrange(4)
        if form == 0:
            return Program(f"return {expression}")
        if form == 1:
            return Program(f"if {left} {comparison} {right}:\n    return {yes}\nreturn {no}")
        if form == 2:
            return Program(f"if {left} {comparison} {right}:\n    return {yes}\nelse:\n    return {no}")
        one, other = words.noun(), words.noun()
        return Program(
            f"{one} = {left}\n{other} = {right}\nreturn {yes} if {one} {comparison} {other} else {no}"
        )


operator = Conditional()
