"""A list to be cut down to a target by popping elements from left to right (LUMINA)."""

from __future__ import annotations

from pydantic import Field

from mesocosm.families import family
from mesocosm.families.family import Evidence
from mesocosm.kits.lumina.game import SPARE_CALLS, BudgetParams, GameOracle
from mesocosm.kits.lumina.lists import ListGame, example
from mesocosm.servers.listworld.store import ListworldStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

_TOKENS_PER_ELEMENT = 5
"""An element that stays is in both lists."""


class Params(BudgetParams):
    """Length of the list, and how much of it has to be removed."""

    removals: int = Field(default=10, ge=1, le=1_000_000)
    """Elements to remove."""
    kept: int = Field(default=80, ge=0, le=1_000_000)
    """Elements that stay (besides those of ``filler_tokens``)."""
    different_values: int | None = Field(default=None, ge=1, le=10**9)
    """From how many integers the elements are drawn; without it, all elements differ."""


class Expected(family.Expected):
    """The game as it is at first."""

    initial: list[int]
    target: list[int]
    budget: int

    @property
    def measures(self) -> dict[str, int]:
        """The calls of an optimal policy, and the length of the list."""
        return {"horizon": len(self.initial) - len(self.target) + 1, "elements": len(self.initial)}

    @property
    def least_calls(self) -> int:
        """Number of calls of an optimal policy."""
        return self.measures["horizon"]

    @property
    def granted_calls(self) -> int:
        """The budget, and some that are refused once it is used up."""
        return self.budget + SPARE_CALLS

    def oracle(self) -> GameOracle:
        return GameOracle(lambda: ListGame(self.initial, self.target, self.budget), example)


def generate(world: World, params: Params) -> Expected:
    """Draw a list and what of it stays."""
    rng = world.rng
    length = params.removals + params.kept + params.filler_tokens // _TOKENS_PER_ELEMENT
    if params.different_values is None:
        initial = rng.sample(range(max(1_000, 10 * length)), length)
    else:
        initial = [rng.randrange(params.different_values) for _ in range(length)]
    removed = set(rng.sample(range(length), params.removals))
    target = [value for place, value in enumerate(initial) if place not in removed]
    budget = params.budget(params.removals + 1)
    world.store(ListworldStore).set_up(initial, target, budget)
    return Expected(
        initial=initial,
        target=target,
        budget=budget,
        public={
            "initial": str(initial),
            "target": str(target),
            "budget": str(budget),
            "example": example(False, False),
        },
        evidence=[Evidence(service="listworld", contains='"initial":[')],
    )


def survey(tools: Tools, expected: Expected) -> None:
    """Read both lists."""
    offset: int | None = 0
    while offset is not None:
        offset = tools.call("listworld", "read_start", offset=offset)["next_offset"]
