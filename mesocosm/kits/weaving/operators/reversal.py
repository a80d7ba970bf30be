"""Strings one after the other, one of them backwards."""

import random
from collections.abc import Sequence

from mesocosm.kits.weaving.operator import Operator


class Reversal(Operator):
    """``v1 + reverse(v2)``, or ``reverse(v1 + v2)``."""

    takes = "string"
    gives = "string"
    words = ("reverse",)

    def write(self, variables: Sequence[str], rng: random.Random) -> str:
        """Either the whole or one of the strings is written backwards."""
        if rng.random() < 0.5:
            return f"reverse({' + '.join(variables)})"
        backwards = rng.randrange(len(variables))
        return " + ".join(
            f"reverse({name})" if at == backwards else name for at, name in enumerate(variables)
        )


operator = Reversal()
