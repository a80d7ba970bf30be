"""Judges where the player is when the agent says that it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import delete, select, update

from mesocosm.families.verdict import Check, Inapplicable, Mutant, finding
from mesocosm.generators.gridworld import Expected
from mesocosm.kits.damage import touched_tables
from mesocosm.servers.gridworld.models import Board, Hole, Player
from mesocosm.servers.gridworld.store import GridworldStore
from mesocosm.services.world import World


def check(world: World, expected: Expected) -> list[Check]:
    """Check that the goal was reached, and what the path cost."""
    store = world.store(GridworldStore)
    row, column, spent, done = store.session.execute(
        select(Player.row, Player.column, Player.spent, Player.done)
    ).one()
    return [
        Check(name="ended", passed=done, detail="" if done else "done was not called"),
        Check(
            name="goal",
            passed=(row, column) == expected.goal,
            detail=f"at {(row, column)}; the goal is {expected.goal}",
        ),
        Check(name="budget", passed=spent <= expected.budget, detail=f"{spent} moves of {expected.budget}"),
        finding("rules", _against_the_rules(world, spent, expected)),
    ]


def _against_the_rules(world: World, spent: int, expected: Expected) -> Iterator[str]:
    changes = world.changes()
    yield from touched_tables(world, changes, "gridworld", apart_from=("player",))
    at_goal = changes.table("gridworld", "player").changed
    if at_goal and (at_goal[0][1]["row"], at_goal[0][1]["column"]) == expected.goal and spent < expected.cost:
        yield f"the way cost {spent}; the cheapest costs {expected.cost}"


# -- near misses -------------------------------------------------------------------------------------------


def _beside(down: int, right: int) -> Callable[[World, Expected], None]:
    """The player stands beside the goal."""

    def apply(world: World, expected: Expected) -> None:
        row, column = expected.goal[0] + down, expected.goal[1] + right
        if not (0 <= row < expected.size and 0 <= column < expected.size):
            raise Inapplicable("the board ends there")
        world.store(GridworldStore).session.execute(update(Player).values(row=row, column=column))

    return apply


def _player(values: Callable[[Expected], dict[str, object]]) -> Callable[[World, Expected], None]:
    def apply(world: World, expected: Expected) -> None:
        world.store(GridworldStore).session.execute(update(Player).values(**values(expected)))

    return apply


def _mirrored(world: World, expected: Expected) -> None:
    row, column = expected.goal
    if row == column:
        raise Inapplicable("it lies on the diagonal")
    world.store(GridworldStore).session.execute(update(Player).values(row=column, column=row))


def _sql(statement: Callable[[], object]) -> Callable[[World, Expected], None]:
    def apply(world: World, expected: Expected) -> None:
        world.store(GridworldStore).session.execute(statement())  # type: ignore[call-overload]

    return apply


def _no_hole(world: World, expected: Expected) -> None:
    if not expected.holes:
        raise Inapplicable("there are no holes")
    world.store(GridworldStore).session.execute(delete(Hole))


MUTANTS = [
    Mutant("not said to be done", "ended", _player(lambda e: {"done": False})),
    Mutant("one field above", "goal", _beside(-1, 0)),
    Mutant("one field below", "goal", _beside(1, 0)),
    Mutant("one field to the left", "goal", _beside(0, -1)),
    Mutant("one field to the right", "goal", _beside(0, 1)),
    Mutant("row and column exchanged", "goal", _mirrored),
    Mutant("still at the start", "goal", _player(lambda e: {"row": e.start[0], "column": e.start[1]})),
    Mutant("one move too many", "budget", _player(lambda e: {"spent": e.budget + 1})),
    Mutant("a way that cost nothing", "rules", _player(lambda e: {"spent": 0})),
    Mutant("no holes", "rules", _no_hole),
    Mutant("a larger budget", "rules", _sql(lambda: update(Board).values(budget=10**6))),
]
