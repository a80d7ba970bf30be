"""Optimal play in the grid world: the cheapest ways from every field to the goal, all of them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar

from mesocosm.families.oracle import Call, Made, State
from mesocosm.kits.lumina.game import Game, played
from mesocosm.servers.gridworld.store import HOLE_COST, MOVE_COST, STEPS, Direction, Standing

Field = tuple[int, int]
"""Row and column."""
_BITS = 22
"""Of the moves of a way: as many as the largest board has fields."""


class GridBoard:
    """A board with the cost of the cheapest way from each of its fields to the goal."""

    def __init__(self, size: int, goal: Field, holes: Collection[Field]) -> None:
        self.size, self.goal = size, goal
        self.holes = frozenset(row * size + column for row, column in holes)
        self._lengths = self._cheapest()

    def enter(self, field: Field) -> int:
        return MOVE_COST + (HOLE_COST if field[0] * self.size + field[1] in self.holes else 0)

    def cost(self, field: Field) -> int:
        """Return the cost of the cheapest path from a field to the goal."""
        return self._lengths[field[0] * self.size + field[1]] >> _BITS

    def moves(self, field: Field) -> int:
        """Return the number of moves on the shortest of the cheapest paths to the goal."""
        return self._lengths[field[0] * self.size + field[1]] & (1 << _BITS) - 1

    def beyond(self, field: Field) -> Iterator[tuple[Direction, Field]]:
        for direction, (down, right) in STEPS.items():
            row, column = field[0] + down, field[1] + right
            if 0 <= row < self.size and 0 <= column < self.size:
                yield direction, (row, column)

    def best(self, field: Field) -> list[Direction]:
        """Every direction in which a cheapest way leads."""
        least = self.cost(field)
        return [
            direction
            for direction, further in self.beyond(field)
            if self.enter(further) + self.cost(further) == least
        ]

    def _cheapest(self) -> array[int]:
        """Dijkstra from the goal over the moves turned round: costs, and in the lower bits moves."""
        size = self.size
        plain, hole = (MOVE_COST << _BITS) + 1, (MOVE_COST + HOLE_COST << _BITS) + 1
        entering = [hole if number in self.holes else plain for number in range(size * size)]
        edges = []
        for row in range(size):
            for column in range(size):
                here = row * size + column
                cost = entering[here]
                # To come here from a neighbour costs what this field costs.
                if row:
                    edges.append((here, here - size, cost))
                if row < size - 1:
                    edges.append((here, here + size, cost))
                if column:
                    edges.append((here, here - 1, cost))
                if column < size - 1:
                    edges.append((here, here + 1, cost))
        import rustworkx

        graph: rustworkx.PyDiGraph[int, int] = rustworkx.PyDiGraph(multigraph=False)
        graph.add_nodes_from(range(size * size))
        graph.add_edges_from(edges)
        goal = self.goal[0] * size + self.goal[1]
        found = rustworkx.dijkstra_shortest_path_lengths(graph, goal, float)
        return array("q", (int(found[field]) if field != goal else 0 for field in range(size * size)))


class GridGame(Game):
    """The grid world.

    Args:
        board: Its board.
        start: Where the player is at first.
        budget: What the way may cost.
    """

    service: ClassVar[str] = "gridworld"

    def __init__(self, board: GridBoard, start: Field, budget: int) -> None:
        super().__init__()
        self.board, self.at, self.left = board, start, budget

    @property
    def lost(self) -> bool:
        """True if the rest of the budget is too small."""
        return self.left < self.board.cost(self.at)

    def take(self, made: Made) -> None:
        """Move, and pay for it."""
        if not made.ok:
            return
        if made.tool == "done":
            self.over = True
        else:
            for direction, further in self.board.beyond(self.at):
                if direction == made.tool:
                    self.left -= self.board.enter(further)
                    self.at = further
                    return

    def optimal(self) -> Iterator[Call]:
        """Every move along a cheapest way; at the goal, to be done."""
        if self.over:
            return
        if self.at == self.board.goal:
            yield self.call("done")
        elif self.left > 0:
            yield from (self.call(direction) for direction in self.board.best(self.at))

    def is_optimal(self, call: Call) -> bool:
        """True if the call is among the optimal ones."""
        return any(call.tool == best.tool for best in self.optimal())

    def legal(self) -> Sequence[Call]:
        """Moves that stay on the board, and to be done."""
        if self.over:
            return ()
        moves = [self.call(direction) for direction, _ in self.board.beyond(self.at)] if self.left > 0 else []
        return [*moves, self.call("done")]

    def describe(self) -> State:
        """Describe the player's position, its surroundings and the remaining budget."""
        around = ", ".join(
            f"{direction} {field}{' is a hole' if self.board.enter(field) > MOVE_COST else ''}"
            for direction, field in self.board.beyond(self.at)
        )
        text = (
            f"You are at {self.at}, the goal is at {self.board.goal}. Around you: {around}. "
            f"Moves left: {self.left}."
        )
        if self.over:
            text += " The task has ended."
        facts = {"at": list(self.at), "moves_left": self.left, "ended": self.over}
        return State(text=text, facts=facts)

    def phrase(self, call: Call) -> str:
        """Name the field to enter."""
        if call.tool == "done":
            return "You are at the goal: call done."
        further = next(field for direction, field in self.board.beyond(self.at) if direction == call.tool)
        return f"Move {call.tool}, to {further}."


def example(state: bool, plan: bool) -> str:
    """A short way around a hole."""
    board = GridBoard(3, (0, 2), [(0, 1)])
    game = GridGame(board, (0, 0), 8)

    def answer(call: Call) -> str:
        if call.tool == "done":
            return "The task has ended."
        further = next(field for direction, field in board.beyond(game.at) if direction == call.tool)
        return str(Standing(*further, game.left - board.enter(further)))

    turns = played(game, answer, state, plan)
    return f"Board size: 3 x 3\nStart: (0, 0)\nGoal: (0, 2)\nHoles: [(0, 1)]\nMove budget: 8\n{turns}"
