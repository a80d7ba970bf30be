"""Page of the grid world: the board, drawn."""

from __future__ import annotations

import sqlalchemy as sql

from mesocosm.servers.gridworld import models
from mesocosm.servers.gridworld.store import GridworldStore
from mesocosm.services.views import Asked, Board, Fields, Page, View

view = View()


@view.page("")
def board(store: GridworldStore, asked: Asked) -> Page:
    """The board with start, goal, holes and the player."""
    found = store.session.scalars(sql.select(models.Board)).one()
    holes = set(store.session.scalars(sql.select(models.Hole.id)))
    player = store.session.scalars(sql.select(models.Player)).one()

    def square(row: int, column: int) -> tuple[str, str]:
        hole = row * found.size + column in holes
        if (row, column) == (player.row, player.column):
            return "☻", "player in a hole" if hole else "player"
        if (row, column) == (found.goal_row, found.goal_column):
            return "G", "goal"
        if (row, column) == (found.start_row, found.start_column):
            return "S", "start"
        return ("■", "hole") if hole else ("·", "free")

    squares = [[square(row, column) for column in range(found.size)] for row in range(found.size)]
    facts = Fields(
        {
            "Player": f"row {player.row}, column {player.column}",
            "Spent": f"{player.spent} of {found.budget}",
            "Ended": "yes" if player.done else "no",
            "Holes": len(holes),
        },
        ref=f"player:{player.id}",
    )
    return Page("Grid", [facts, Board(squares)])
