"""Optimal play in the grid world, against brute force."""

from __future__ import annotations

import random

import pytest

from mesocosm.families.oracle import Made
from mesocosm.kits.lumina.grids import Board, GridGame, example


def made(tool: str, ok: bool = True) -> Made:
    return Made(service="gridworld", tool=tool, arguments={}, ok=ok, result="")


def least_costs(board: Board) -> dict[tuple[int, int], float]:
    """What every field's cheapest way costs: by relaxing all moves until nothing changes."""
    fields = [(row, column) for row in range(board.size) for column in range(board.size)]
    costs = dict.fromkeys(fields, float("inf"))
    costs[board.goal] = 0
    changed = True
    while changed:
        changed = False
        for row, column in fields:
            if (row, column) == board.goal:
                continue
            around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            least = min(costs[one] + (4 if one in HOLES else 1) for one in around if one in costs)
            if least < costs[row, column]:
                costs[row, column], changed = least, True
    return costs


HOLES: set[tuple[int, int]] = set()


@pytest.mark.parametrize("seed", range(12))
def test_the_optimal_moves_are_those_of_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(2, 7)
    fields = [(row, column) for row in range(size) for column in range(size)]
    goal, *others = rng.sample(fields, len(fields))
    HOLES.clear()
    HOLES.update(rng.sample(others, rng.randint(0, len(others) - 1)))
    board = Board(size, goal, HOLES)
    costs = least_costs(board)
    for row, column in fields:
        assert board.cost((row, column)) == costs[row, column]
        game = GridGame(board, (row, column), 99)
        moves = {"up": (row - 1, column), "down": (row + 1, column)}
        moves |= {"left": (row, column - 1), "right": (row, column + 1)}
        wanted = {
            move
            for move, to in moves.items()
            if to in costs and costs[to] + (4 if to in HOLES else 1) == costs[row, column]
        }
        if (row, column) == goal:
            wanted = {"done"}
        assert {call.tool for call in game.optimal()} == wanted
        assert {call.tool for call in game.legal() if game.is_optimal(call)} == wanted


def test_holes_cost_three_more_and_edges_nothing() -> None:
    game = GridGame(Board(3, (2, 2), [(0, 1)]), (0, 0), 10)
    game.take(made("right"))
    assert (game.at, game.left) == ((0, 1), 6)
    game.take(made("up", ok=False))
    assert (game.at, game.left) == ((0, 1), 6)
    assert not game.lost
    game.take(made("left"))
    game.take(made("right"))
    assert game.left == 1
    assert game.lost


def test_to_be_done_early_is_legal_and_not_best() -> None:
    game = GridGame(Board(2, (1, 1), []), (0, 0), 10)
    assert not game.is_optimal(made("done"))
    game.take(made("done"))
    assert game.over
    assert not list(game.optimal())


def test_the_example_goes_around_the_hole() -> None:
    assert "Call: down()" in example(False, False)
    assert "is a hole" in example(True, False)
