"""What an agent sees of the grid world."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.gridworld.store import GridworldStore
from mesocosm.services.service import Service

server = Service(
    "gridworld",
    GridworldStore,
    instructions="A square board with holes, on which a player moves field by field.",
    extra="lumina",
)


@server.writes
def up(store: GridworldStore) -> str:
    """Move one field up: the row falls by 1. Costs 1 move, and 3 more when the field is a hole."""
    return str(store.move("up"))


@server.writes
def down(store: GridworldStore) -> str:
    """Move one field down: the row rises by 1. Costs 1 move, and 3 more when the field is a hole."""
    return str(store.move("down"))


@server.writes
def left(store: GridworldStore) -> str:
    """Move one field to the left: the column falls by 1. Costs 1 move, and 3 more when it is a hole."""
    return str(store.move("left"))


@server.writes
def right(store: GridworldStore) -> str:
    """Move one field to the right: the column rises by 1. Costs 1 move, and 3 more when it is a hole."""
    return str(store.move("right"))


@server.writes(ends_episode=True)
def done(store: GridworldStore) -> str:
    """End the task where you are. Call this at the goal, and only there."""
    store.finish()
    return "The task has ended."


@server.reads
def read_board(store: GridworldStore, offset: int = 0) -> dict[str, Any]:
    """Read the board: size, start, goal, budget and a page of its holes. Tasks state them in their prompt.

    Args:
        offset: How many holes to pass over: next_offset of the page before.
    """
    if not 0 <= offset < 2**62:
        raise Invalid("offset: it must be 0 or the next_offset of a page.")
    return store.board(offset)
