"""Integers added and subtracted."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator


class Subtraction(Operator):
    """``v1 + v2 - v3``, with at least one minus."""

    children = (2, 64)

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """The first variable, and each other one with a sign; one of them is surely subtracted."""
        first, *others = variables
        surely = rng.randrange(len(others))
        signs = ["-" if at == surely else rng.choice("+-") for at in range(len(others))]
        return first + "".join(f" {sign} {name}" for sign, name in zip(signs, others, strict=True))


operator = Subtraction()
