"""A weighted sum of integers in which no two weights are the same: equal values never cancel."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator

_WEIGHTS = range(2, 10)


class Mixing(Operator):
    """``3 * v1 - 2 * v2 + 7 * v3``."""

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """Each variable times a number of its own from 2 to 9."""
        weights = rng.sample(_WEIGHTS, len(variables))
        terms = [f"{weight} * {name}" for weight, name in zip(weights, variables, strict=True)]
        return terms[0] + "".join(f" {rng.choice('+-')} {term}" for term in terms[1:])


operator = Mixing()
