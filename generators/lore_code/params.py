"""The parameters of the family."""

from __future__ import annotations

import random

from pydantic import Field

from mesocosm.kits.weaving import Values
from mesocosm.kits.weaving.params import TreeParams


class Params(TreeParams):
    """Size of the program, what its modules compute, and the noise around them."""

    sparing = ("shared_state",)

    operators: list[str] = Field(
        default=["addition", "subtraction", "multiplication", "conditional"], min_length=1
    )
    """Operations; a name with a dot is a module of the user's."""
    largest_value: int = Field(default=99, ge=60, le=400)
    """The largest number that a module without imports returns."""
    distractor_functions: int = Field(default=1, ge=0, le=20)
    """Functions in a module that nobody calls, at most (besides those that lead to distractor modules)."""
    distractor_fields: int = Field(default=1, ge=0, le=100)
    """Constants in a module that nobody uses, at most."""
    remark_share: float = Field(default=0.3, ge=0, le=1)
    """Share of modules and uncalled functions with a docstring."""
    distractor_modules: int = Field(default=0, ge=0)
    """Modules that are imported but whose ``main`` is not called (besides those of ``filler_tokens``)."""

    shared_state: float = Field(default=0, ge=0, le=1)
    """Share of the operations, choices excepted, that read and assign a shared number."""

    def values(self, rng: random.Random) -> Values:
        """A supply of values; a number may come twice."""
        return Values(rng, span=self.largest_value + 1, negative_share=self.negative_share, repeating=True)
