"""Optimal play in the tree world, against a search of the whole game against a hostile tree."""

from __future__ import annotations

from functools import cache
from itertools import product

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.families.oracle import Made
from mesocosm.kits.lumina.trees import TreeGame, example


def made(tool: str, ok: bool = True, result: str = "", **arguments: str) -> Made:
    return Made(service="treeworld", tool=tool, arguments=arguments, ok=ok, result=result)


def children(*nodes: tuple[str, int]) -> str:
    return orjson.dumps([{"id": node, "val": value} for node, value in nodes]).decode()


SOUGHT = 7


@cache
def calls_needed(frontier: int, hidden: int, target_hidden: bool) -> int:
    """The calls of the best policy in the worst case: nodes to ask about, nodes hidden below any of them,
    and whether the target may be among these. By trying all answers of a tree that is as bad as it can be.
    """
    if frontier == 0:
        return 1  # unreachable
    worst = 0
    for told in range(min(2, hidden) + 1):
        # Told nodes without the target; or with it, after which one call is left.
        worst = max(worst, 1 + calls_needed(frontier - 1 + told, hidden - told, target_hidden))
        if told and target_hidden:
            worst = max(worst, 2)
    return worst


def test_asking_anything_new_is_best_and_asking_again_is_not() -> None:
    """To ask again takes one call more than is needed; to end early fails in some tree."""
    for frontier, hidden in product(range(1, 5), range(4)):
        needed = calls_needed(frontier, hidden, True)
        again = 1 + calls_needed(frontier, hidden, True)
        anew = 1 + max(
            calls_needed(frontier - 1 + told, hidden - told, True) for told in range(min(2, hidden) + 1)
        )
        assert anew == needed < again
        nodes = [f"n{number}" for number in range(frontier)]
        game = TreeGame([("r", 0, nodes), *((node, 1, None) for node in nodes)], SOUGHT, 99)
        best = list(game.optimal())
        assert [(call.tool, call.arguments["id"]) for call in best] == [("get_children", n) for n in nodes]
        assert [call for call in game.legal() if game.is_optimal(call)] == best


def test_needed_calls_are_the_nodes_to_ask_about_and_the_end() -> None:
    """The horizon of an instance, as the generator counts it."""
    for frontier, hidden in product(range(1, 5), range(4)):
        assert calls_needed(frontier, hidden, True) == frontier + hidden + 1


def test_a_node_that_is_found_is_reported_and_nothing_else_is_best() -> None:
    game = TreeGame([("r", 0, ["a"]), ("a", 1, None)], SOUGHT, 99)
    game.take(made("get_children", id="a", result=children(("b", 3), ("c", SOUGHT))))
    assert [(call.tool, call.arguments) for call in game.optimal()] == [("found", {"id": "c"})]
    game.take(made("found", id="c"))
    assert game.over
    assert not list(game.optimal())
    assert not game.legal()


def test_when_nothing_is_left_the_value_is_unreachable() -> None:
    game = TreeGame([("r", 0, ["a"]), ("a", 1, None)], SOUGHT, 99)
    assert not game.is_optimal(made("unreachable"))
    game.take(made("get_children", id="a", result="[]"))
    assert [call.tool for call in game.optimal()] == ["unreachable"]
    assert "every known node" in game.describe().text


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_state_is_what_was_told_and_the_best_calls_ask_what_was_not(data: st.DataObject) -> None:
    tree: dict[str, list[str]] = {"n0": []}
    for number in range(1, data.draw(st.integers(1, 12))):
        tree[f"n{number}"] = []
        tree[data.draw(st.sampled_from(list(tree)[:-1]))].append(f"n{number}")
    game = TreeGame([("n0", 0, None)], SOUGHT, 99)
    known, asked = {"n0"}, set[str]()
    for _ in range(data.draw(st.integers(0, 20))):
        node = data.draw(st.sampled_from(sorted(known)))
        assert game.is_optimal(made("get_children", id=node)) is (node not in asked)
        game.take(
            made("get_children", id=node, result=children(*((n, 100 + int(n[1:])) for n in tree[node])))
        )
        known |= set(tree[node])
        asked.add(node)
        assert set(game.frontier) == known - asked
        assert set(game.describe().facts["known"]) == known
        assert game.is_optimal(made("unreachable")) is (asked == set(tree))


def test_the_examples_end_both_ways() -> None:
    assert "found(id=" in example(False, False)
    assert "unreachable()" in example(True, True)
