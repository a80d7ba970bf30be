"""The rules of the grid world: a move costs 1, into a hole 4, and the board has edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from sqlalchemy import bindparam, insert, select, update

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.gridworld.models import Base, Board, Hole, Player
from mesocosm.services.service import Store

PER_PAGE = 2_000
MOVE_COST = 1
HOLE_COST = 3
"""The additional cost of entering a hole."""

Direction = Literal["up", "down", "left", "right"]
STEPS: dict[Direction, tuple[int, int]] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""How row and column change."""

_BOARD = select(
    Board.size, Board.start_row, Board.start_column, Board.goal_row, Board.goal_column, Board.budget
)
_PLAYER = select(Player.row, Player.column, Player.spent, Player.done)
_IS_HOLE = select(Hole.id).where(Hole.id == bindparam("field"))
_HOLES = select(Hole.id).order_by(Hole.id).limit(PER_PAGE).offset(bindparam("at"))


class Standing(NamedTuple):
    """Position of the player, and the remaining budget."""

    row: int
    column: int
    left: int

    def __str__(self) -> str:
        return f"You are at ({self.row}, {self.column}). Moves left: {self.left}."


class GridworldStore(Store):
    """One board and one player."""

    metadata = Base.metadata

    def board(self, at: int) -> dict[str, Any]:
        """The board with a page of its holes."""
        board = self._board()
        rows = self.fetch(_HOLES, at=at)
        return {
            "size": board["size"],
            "start": [board["start_row"], board["start_column"]],
            "goal": [board["goal_row"], board["goal_column"]],
            "budget": board["budget"],
            "holes": [list(divmod(row["id"], board["size"])) for row in rows],
            "next_offset": at + PER_PAGE if len(rows) == PER_PAGE else None,
        }

    def standing(self) -> Standing:
        """Return the player's position and budget."""
        board, player = self._board(), self.fetch(_PLAYER)[0]
        return Standing(player["row"], player["column"], board["budget"] - player["spent"])

    def move(self, direction: Direction) -> Standing:
        """Go to the next field in a direction."""
        board, player = self._board(), self.fetch(_PLAYER)[0]
        if player["spent"] >= board["budget"]:
            raise Conflict(f"The budget of {board['budget']} moves is used up.")
        row, column = (player["row"] + STEPS[direction][0], player["column"] + STEPS[direction][1])
        size = board["size"]
        if not (0 <= row < size and 0 <= column < size):
            raise Conflict(
                f"The board ends here: from {(player['row'], player['column'])} nothing is {direction}."
            )
        hole = self.fetch(_IS_HOLE, field=row * size + column)
        spent = player["spent"] + MOVE_COST + (HOLE_COST if hole else 0)
        self.session.execute(update(Player).values(row=row, column=column, spent=spent))
        return Standing(row, column, board["budget"] - spent)

    def finish(self) -> None:
        """End the game where the player is."""
        self._board()
        self.session.execute(update(Player).values(done=True))

    def _board(self) -> dict[str, Any]:
        rows = self.fetch(_BOARD)
        if not rows:
            raise Conflict("There is no board in this world.")
        return dict(rows[0])

    # -- filling ----------------------------------------------------------------------------------------

    def set_up(
        self,
        size: int,
        start: tuple[int, int],
        goal: tuple[int, int],
        holes: Iterable[tuple[int, int]],
        budget: int,
    ) -> None:
        """Lay out the board and put the player at the start."""
        fields = sorted(row * size + column for row, column in holes)
        if not all(0 <= field < size * size for field in fields):
            raise Invalid("a hole lies outside the board")
        if fields:
            self.session.execute(insert(Hole), [{"id": field} for field in fields])
        self.session.add(
            Board(
                id=1,
                size=size,
                start_row=start[0],
                start_column=start[1],
                goal_row=goal[0],
                goal_column=goal[1],
                budget=budget,
            )
        )
        self.session.add(Player(id=1, row=start[0], column=start[1]))
        self.session.flush()
