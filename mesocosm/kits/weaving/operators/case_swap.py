"""Strings one after the other, one of them with small and capital letters swapped."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator


class CaseSwap(Operator):
    """``v1 + swapcase(v2)``."""

    takes = "string"
    gives = "string"
    words = ("swapcase",)

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """One of the strings has its letters swapped."""
        swapped = rng.randrange(len(variables))
        return " + ".join(f"swapcase({name})" if at == swapped else name for at, name in enumerate(variables))


operator = CaseSwap()
