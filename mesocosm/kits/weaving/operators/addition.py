"""The sum of integers."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator


class Addition(Operator):
    """``v1 + v2 + v3``."""

    children = (2, 64)

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """All variables with a plus between them."""
        return " + ".join(variables)


operator = Addition()
