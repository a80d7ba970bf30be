"""Optimal play in the grid world, against brute force."""

from __future__ import annotations

import random
from copy import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.families.oracle import Made
from mesocosm.kits.lumina.game import GameOracle
from mesocosm.kits.lumina.grids import GridBoard, GridGame, example


def made(tool: str, ok: bool = True) -> Made:
    return Made(service="gridworld", tool=tool, arguments={}, ok=ok, result="")


def cheapest(board: GridBoard) -> dict[tuple[int, int], tuple[float, int]]:
    """What every field's cheapest way costs, and its fewest moves: by relaxing until nothing changes."""
    fields = [(row, column) for row in range(board.size) for column in range(board.size)]
    costs = dict.fromkeys(fields, (float("inf"), 0))
    costs[board.goal] = (0, 0)
    changed = True
    while changed:
        changed = False
        for row, column in fields:
            if (row, column) == board.goal:
                continue
            around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            least = min(
                (costs[one][0] + (4 if one in HOLES else 1), costs[one][1] + 1)
                for one in around
                if one in costs
            )
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
    board = GridBoard(size, goal, HOLES)
    known = cheapest(board)
    costs = {field: cost for field, (cost, _) in known.items()}
    for row, column in fields:
        assert (board.cost((row, column)), board.moves((row, column))) == known[row, column]
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


@given(st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_plan_is_among_the_best_wherever_one_has_gone(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 6))
    fields = [(row, column) for row in range(size) for column in range(size)]
    start, goal, *holes = data.draw(st.permutations(fields))
    board = GridBoard(size, goal, holes[: data.draw(st.integers(0, len(holes)))])
    budget = data.draw(st.integers(1, 40))
    oracle = GameOracle(lambda: GridGame(board, start, budget), example)
    journal: list[Made] = []
    for _ in range(12):
        game = oracle.game(journal)
        best, legal = list(game.optimal()), list(oracle.legal(None, journal))
        planned = [call for subtask in oracle.plan(None, journal) for call in subtask.calls]
        assert planned == best[:1]
        assert all((call in best) is game.is_optimal(call) for call in legal)
        assert all(call in legal for call in best)
        if not legal:
            break
        assert best or game.left <= 0 < board.cost(game.at), "something is best until nothing is left"
        if best:
            after = copy(game)
            after.take(Made(**best[0].model_dump(), ok=True, result=""))
            spent = game.left - after.left
            assert board.cost(game.at) == spent + board.cost(after.at)
        taken = data.draw(st.sampled_from(legal))
        journal.append(Made(**taken.model_dump(), ok=True, result=""))
    assert len(oracle.judge(journal)) == len(journal)


def test_holes_cost_three_more_and_edges_nothing() -> None:
    game = GridGame(GridBoard(3, (2, 2), [(0, 1)]), (0, 0), 10)
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
    game = GridGame(GridBoard(2, (1, 1), []), (0, 0), 10)
    assert not game.is_optimal(made("done"))
    game.take(made("done"))
    assert game.over
    assert not list(game.optimal())


def test_the_example_goes_around_the_hole() -> None:
    assert "Call: down()" in example(False, False)
    assert "is a hole" in example(True, False)
