"""A product, with the other integers added to it."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator


class Multiplication(Operator):
    """``v1 * v2 + v3``. Tells values apart as long as none is zero, which supplied values never are."""

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """The product of two; the order of operations matters as soon as there is a third."""
        parts = [f"{variables[0]} * {variables[1]}", *variables[2:]]
        return " + ".join(rng.sample(parts, len(parts)))


operator = Multiplication()
