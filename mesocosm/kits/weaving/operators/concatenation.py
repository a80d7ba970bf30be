"""Strings one after the other."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator


class Concatenation(Operator):
    """``v1 + v2`` of strings."""

    takes = "string"
    gives = "string"
    children = (2, 64)

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """All variables with a plus between them; the order counts."""
        return " + ".join(variables)


operator = Concatenation()
