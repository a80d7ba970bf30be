"""Optimal play in the list world, against brute force."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.families.oracle import Made
from mesocosm.kits.lumina.lists import ListGame, example

Numbers = tuple[int, ...]


def made(tool: str, ok: bool = True, **arguments: int) -> Made:
    return Made(service="listworld", tool=tool, arguments=arguments, ok=ok, result="")


@cache
def within_reach(current: Numbers, first: int, target: Numbers) -> bool:
    """Whether some pops turn the list into the target: by trying all."""
    return current == target or any(
        within_reach(current[:i] + current[i + 1 :], i, target) for i in range(first, len(current))
    )


def best(current: Numbers, first: int, target: Numbers) -> set[object]:
    """Every call after which the target is within reach; all ways take as many calls."""
    if current == target:
        return {"done"}
    return {i for i in range(first, len(current)) if within_reach(current[:i] + current[i + 1 :], i, target)}


def check_all(game: ListGame, target: Numbers, pops: list[int]) -> None:
    """The game after these pops, and after all that can follow while the target is within reach."""
    for index in pops:
        game.take(made("pop", id=index))
    current, first = tuple(game.current), len(game.settled)
    offered = {call.arguments.get("id", "done") for call in game.optimal()}
    assert offered == best(current, first, target), (game.initial, target, pops)
    assert all(game.is_optimal(call) is (call in list(game.optimal())) for call in game.legal())


@pytest.mark.parametrize("length", range(1, 6))
def test_the_optimal_calls_are_those_of_brute_force(length: int) -> None:
    for initial in product(range(2), repeat=length):
        for kept in range(length + 1):
            for places in combinations(range(length), kept):
                target = tuple(initial[place] for place in places)
                trails: list[list[int]] = [[]]
                while trails:
                    pops = trails.pop()
                    game = ListGame(initial, target, 99)
                    check_all(game, target, pops)
                    trails += [[*pops, call.arguments["id"]] for call in game.optimal() if call.tool == "pop"]


def test_a_list_may_be_emptied() -> None:
    game = ListGame([4, 4], [], 9)
    assert [call.arguments for call in game.optimal()] == [{"id": 0}]
    game.take(made("pop", id=0))
    game.take(made("pop", id=0))
    assert [call.tool for call in game.optimal()] == ["done"]


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_there_is_always_a_best_call_and_a_lost_game_saves_what_follows(data: st.DataObject) -> None:
    """All elements differ: whatever has happened, the next element that is not wanted is to go."""
    initial = list(range(data.draw(st.integers(1, 12))))
    target = [value for value in initial if data.draw(st.booleans())]
    game = ListGame(initial, target, 99)
    while not game.over:
        unwanted = [
            index
            for index, value in enumerate(game.current)
            if index >= len(game.settled) and value not in target
        ]
        (call,) = game.optimal()
        assert call.tool == "done" if not unwanted else call.arguments == {"id": unwanted[0]}
        taken = data.draw(st.sampled_from(game.legal()))
        game.take(Made(**taken.model_dump(), ok=True, result=""))
    assert not list(game.optimal())


def test_a_wrong_pop_is_never_mended() -> None:
    game = ListGame([1, 2, 3, 4], [1, 3], 99)
    game.take(made("pop", id=0))
    assert game.lost
    while (call := next(game.optimal(), None)) is not None:
        game.take(Made(**call.model_dump(), ok=True, result=""))
    assert game.current == [3]


def test_refused_calls_change_nothing_but_the_turns() -> None:
    game = ListGame([1, 2, 3], [1, 3], 3)
    game.take(made("pop", ok=False, id=7))
    assert (game.current, game.turns, game.lost) == ([1, 2, 3], 1, False)
    game.take(made("pop", ok=False, id=7))
    assert game.lost, "one call is left, and two are needed"


def test_the_example_has_what_the_oracles_tell() -> None:
    plain = example(False, False)
    assert "State:" not in plain
    assert "Plan:" not in plain
    assert plain.endswith("Result: The task has ended.")
    assert ("State:" in example(True, False), "Plan:" in example(True, False)) == (True, False)
    assert example(True, True).count("Plan:") == plain.count("Call:")
