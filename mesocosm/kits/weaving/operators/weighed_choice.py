"""One of two integers, chosen by comparing two others, which count in the result too.

Who gets one of the compared values wrong gets another result, even where the same branch is taken.
"""

import random
import re
from collections.abc import Mapping, Sequence

from mesocosm.kits.weaving.expressions import TreeValue, evaluate
from mesocosm.kits.weaving.operator import Operator
from mesocosm.kits.weaving.program import Identifiers, Program

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_CHOICE = re.compile(r"(?P<yes>.+) if (?P<left>\w+) (?P<comparison>[<>]=?) (?P<right>\w+) else (?P<no>.+)")
_LIMITED = re.compile(
    r"\(\((?P<both>[^()]+)\) \+ (?P<plus>\d+)\) % (?P<of_both>\d+)"
    r"|\((?P<reduced>[^()]+)\) % (?P<of_reduced>\d+)|\((?P<raised>[^()]+)\) \+ (?P<more>\d+)|[^()]+"
)
_WEIGHTS = range(2, 10)


class WeighedChoice(Operator):
    """``3 * v3 + 2 * v1 - 5 * v2 if v1 < v2 else 4 * v4 - 3 * v1 + 7 * v2``.

    The last variable given is the one of the branch that is not taken.
    """

    children = (4, 4)
    code_only = True
    spare = 1

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """Any comparison, the branches in any order; ``settle`` makes it right."""
        left, right, *branches = variables
        yes, no = (_branch(name, left, right, rng) for name in rng.sample(branches, 2))
        return f"{yes} if {left} {rng.choice(list(_OPPOSITE))} {right} else {no}"

    def settle(self, expression: str, variables: Sequence[str], values: Mapping[str, TreeValue]) -> str:
        """The comparison is turned into its opposite if it would choose the spare variable."""
        found = _read(expression)
        taken = variables[-2] in re.findall(r"\w+", found["yes"])
        marked = f"1 if {found['left']} {found['comparison']} {found['right']} else 0"
        if bool(evaluate(marked, values)) == taken:
            return expression
        turned = f"{found['left']} {_OPPOSITE[found['comparison']]} {found['right']}"
        return f"{found['yes']} if {turned} else {found['no']}"

    def limit(self, expression: str, add: int, modulus: int | None) -> str:
        """The number is added to whichever branch is taken, and the remainder is that of the whole."""
        total = f"({expression}) + {add}" if add else expression
        return f"({total}) % {modulus}" if modulus else total

    def evaluated(self, expression: str, variables: Sequence[str]) -> list[str]:
        """Return the operands that are compared, then the branch taken."""
        return list(variables[:-1])

    def program(self, expression: str, words: Identifiers) -> Program:
        """One expression, or statements."""
        found = _LIMITED.fullmatch(expression)
        assert found, expression
        choice = _read(found["both"] or found["reduced"] or found["raised"] or expression)
        add, modulus = found["plus"] or found["more"], found["of_both"] or found["of_reduced"]
        if words.rng.randrange(3) == 0:
            return Program(f"return {expression}")
        result = words.noun()
        total = f"{result} + {add}" if add else result
        return Program(
            f"if {choice['left']} {choice['comparison']} {choice['right']}:\n    {result} = {choice['yes']}\n"
            f"else:\n    {result} = {choice['no']}\n"
            f"return {f'({total}) % {modulus}' if modulus else total}"
        )


def _branch(name: str, left: str, right: str, rng: random.Random) -> str:
    one, two, three = rng.sample(_WEIGHTS, 3)
    return f"{one} * {name} {rng.choice('+-')} {two} * {left} {rng.choice('+-')} {three} * {right}"


def _read(expression: str) -> re.Match[str]:
    found = _CHOICE.fullmatch(expression)
    assert found, expression
    return found


operator = WeighedChoice()
