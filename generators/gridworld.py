"""A board with holes to be crossed within a budget of moves (LUMINA)."""

from __future__ import annotations

import random
from collections.abc import Collection
from functools import cached_property

from pydantic import Field

from mesocosm.errors import UsageError
from mesocosm.families import family
from mesocosm.families.family import Evidence
from mesocosm.kits.lumina.game import SPARE_CALLS, BudgetParams, GameOracle
from mesocosm.kits.lumina.grids import Field as Place
from mesocosm.kits.lumina.grids import GridBoard, GridGame, example
from mesocosm.servers.gridworld.store import GridworldStore
from mesocosm.services.calling import Tools
from mesocosm.services.world import World

_TOKENS_PER_HOLE = 5
_DRAWS = 8
"""Pairs of start and goal that are drawn, of which the one farthest apart is taken."""


class Params(BudgetParams):
    """Size of the board, and number of its holes."""

    size: int = Field(default=10, ge=2, le=2_000)
    """Rows, and columns, of the board."""
    hole_density: float = Field(default=0.2, ge=0, lt=1)
    """Share of the fields that are holes (besides those of ``filler_tokens``)."""


class Expected(family.Expected):
    """The board."""

    size: int
    start: Place
    goal: Place
    holes: list[Place]
    budget: int
    cost: int
    """The cost of the cheapest way."""
    moves: int
    """Moves of the shortest of the cheapest ways: through a hole they are fewer than it costs."""

    @property
    def measures(self) -> dict[str, int]:
        """The calls of an optimal policy, what they cost, and the size of the board."""
        return {"horizon": self.moves + 1, "cost": self.cost, "size": self.size}

    @property
    def least_calls(self) -> int:
        """Number of calls of an optimal policy."""
        return self.measures["horizon"]

    @property
    def granted_calls(self) -> int:
        """The budget, and some that are refused once it is used up."""
        return self.budget + SPARE_CALLS

    def oracle(self) -> GameOracle:
        """The oracle of the board."""
        return GameOracle(lambda: GridGame(self._board, self.start, self.budget), example)

    @cached_property
    def _board(self) -> GridBoard:
        """Reckoned once for all episodes of an instance."""
        return GridBoard(self.size, self.goal, self.holes)


def generate(world: World, params: Params) -> Expected:
    """Draw a board with start and goal."""
    rng, size = world.rng, params.size
    number = round(params.hole_density * size * size) + params.filler_tokens // _TOKENS_PER_HOLE
    if number > size * size - 2:
        raise UsageError(
            f"gridworld: a board of {size} x {size} fields has at most {size * size - 2} holes beside its "
            f"start and its goal; {number} were asked for (by hole_density and length)"
        )
    fields = rng.sample(range(size * size), number)
    holes = [divmod(field, size) for field in sorted(fields)]
    start, goal = _ends(rng, size, set(fields))
    board = GridBoard(size, goal, holes)
    cost = board.cost(start)
    budget = params.budget(cost)
    world.store(GridworldStore).set_up(size, start, goal, holes, budget)
    return Expected(
        size=size,
        start=start,
        goal=goal,
        holes=holes,
        budget=budget,
        cost=cost,
        moves=board.moves(start),
        public={
            "size": f"{size} x {size}",
            "start": str(start),
            "goal": str(goal),
            "holes": str(holes),
            "budget": str(budget),
            "example": example(False, False),
        },
        evidence=[Evidence(service="gridworld", contains='"holes":[')],
    )


def _ends(rng: random.Random, size: int, holes: Collection[int]) -> tuple[Place, Place]:
    """Two fields that are no holes, far apart."""
    free = [field for field in range(size * size) if field not in holes]
    pairs = [tuple(divmod(field, size) for field in rng.sample(free, 2)) for _ in range(_DRAWS)]
    start, goal = max(pairs, key=lambda pair: sum(abs(a - b) for a, b in zip(*pair, strict=True)))
    return start, goal


def survey(tools: Tools, expected: Expected) -> None:
    """Read the board."""
    offset: int | None = 0
    while offset is not None:
        offset = tools.call("gridworld", "read_board", offset=offset)["next_offset"]
