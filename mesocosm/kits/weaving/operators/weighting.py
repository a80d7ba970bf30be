"""A weighted sum of integers."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator


class Weighting(Operator):
    """``3 * v1 - 2 * v2``."""

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """Each variable times a number from 2 to 9."""
        terms = [f"{rng.randint(2, 9)} * {name}" for name in variables]
        return terms[0] + "".join(f" {rng.choice('+-')} {term}" for term in terms[1:])


operator = Weighting()
