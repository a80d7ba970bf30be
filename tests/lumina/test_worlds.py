"""The three worlds through their tools, over MCP, and how their families judge what was done."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from trials import failures

from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.kits.lumina.game import GameOracle
from mesocosm.servers.gridworld.store import GridworldStore
from mesocosm.servers.listworld.store import ListworldStore
from mesocosm.servers.treeworld.store import TreeworldStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World


def short_list(world: World) -> None:
    world.store(ListworldStore).set_up([5, 6, 7, 8], [5, 7], 4)


def small_tree(world: World) -> None:
    world.store(TreeworldStore).set_up([("aa", 1, None), ("bb", 2, 0), ("cc", 3, 0), ("dd", 4, 1)], (), 3)


def small_board(world: World) -> None:
    world.store(GridworldStore).set_up(3, (0, 0), (2, 2), [(0, 1)], 6)


def current(world: World) -> list[int]:
    """The list as it lies in the world's file."""
    with World(world.path) as again:
        return again.store(ListworldStore).current()


def endings(world: World) -> list[str | None]:
    with World(world.path) as again:
        return again.store(TreeworldStore).endings()


def standing(world: World) -> tuple[int, ...]:
    with World(world.path) as again:
        return again.store(GridworldStore).standing()


def refusal(tools: Any, service: str, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as refused:
        tools.call(service, tool, **arguments)
    return str(refused.value)


def test_pops_go_from_left_to_right(open_tools: Any) -> None:
    tools = open_tools(short_list, "listworld")
    assert tools.call("listworld", "pop", id=1) == "Removed the element at index 1."
    assert current(tools.world) == [5, 7, 8]
    assert "from left to right" in refusal(tools, "listworld", "pop", id=0)
    assert "no element at index 3" in refusal(tools, "listworld", "pop", id=3)
    assert current(tools.world) == [5, 7, 8]
    tools.call("listworld", "done")


def test_refused_pops_count_against_the_budget(open_tools: Any) -> None:
    tools = open_tools(short_list, "listworld")
    for index in (9, 9, -1):
        refusal(tools, "listworld", "pop", id=index)
    tools.call("listworld", "pop", id=1)
    assert "budget of 4 calls is used up" in refusal(tools, "listworld", "done")


def test_a_list_is_read_page_by_page(open_tools: Any) -> None:
    def long_list(world: World) -> None:
        world.store(ListworldStore).set_up(range(4_500), range(0, 4_500, 2), 9_999)

    tools = open_tools(long_list, "listworld")
    offset, initial, target = 0, [], []
    while offset is not None:
        page = tools.call("listworld", "read_start", offset=offset)
        initial += page["initial"]
        target += page["target"]
        offset = page["next_offset"]
    assert (initial, target) == (list(range(4_500)), list(range(0, 4_500, 2)))
    assert "next_offset" in refusal(tools, "listworld", "read_start", offset=-1)


def test_children_are_told_with_their_values(open_tools: Any) -> None:
    tools = open_tools(small_tree, "treeworld")
    assert tools.call("treeworld", "get_children", id="aa") == [
        {"id": "bb", "val": 2},
        {"id": "cc", "val": 3},
    ]
    assert tools.call("treeworld", "get_children", id="dd") == []
    assert "no node" in refusal(tools, "treeworld", "get_children", id="zz")
    assert "budget of 3 calls is used up" in refusal(tools, "treeworld", "get_children", id="aa")
    assert "budget of 3 calls is used up" in refusal(tools, "treeworld", "unreachable")


def test_only_nodes_can_be_found(open_tools: Any) -> None:
    tools = open_tools(small_tree, "treeworld")
    assert "no node" in refusal(tools, "treeworld", "found", id="zz")
    assert "1 to 100" in refusal(tools, "treeworld", "found", id="")
    tools.call("treeworld", "found", id="dd")
    assert endings(tools.world) == ["dd"]
    assert "declared done" in refusal(tools, "treeworld", "unreachable")


def test_the_whole_tree_can_be_read(open_tools: Any) -> None:
    tools = open_tools(small_tree, "treeworld")
    page = tools.call("treeworld", "read_tree")
    assert page["nodes"][0] == {"id": "aa", "val": 1, "parent": None}
    assert page["nodes"][3] == {"id": "dd", "val": 4, "parent": "bb"}
    assert page["next_offset"] is None


def test_moves_and_holes(open_tools: Any) -> None:
    tools = open_tools(small_board, "gridworld")
    assert "The board ends here" in refusal(tools, "gridworld", "up")
    assert "The board ends here" in refusal(tools, "gridworld", "left")
    assert tools.call("gridworld", "right") == "You are at (0, 1). Moves left: 2."
    assert tools.call("gridworld", "down") == "You are at (1, 1). Moves left: 1."
    assert tools.call("gridworld", "right") == "You are at (1, 2). Moves left: 0."
    assert "budget of 6 moves is used up" in refusal(tools, "gridworld", "down")
    board = tools.call("gridworld", "read_board")
    assert (board["size"], board["holes"], board["goal"]) == (3, [[0, 1]], [2, 2])
    tools.call("gridworld", "done")


# -- families ----------------------------------------------------------------------------------------------


class Played:
    """An episode and its oracle."""

    def __init__(self, episode: Episode) -> None:
        assert isinstance(episode.oracle, GameOracle)
        self.episode, self.oracle = episode, episode.oracle

    def best(self, calls: int | None = None) -> None:
        """Make so many of the best calls, or all that are left."""
        while (
            calls != 0
            and (call := next(self.oracle.game(self.episode.history()).optimal(), None)) is not None
        ):
            self.make(call.tool, **call.arguments)
            calls = None if calls is None else calls - 1

    def make(self, tool: str, **arguments: Any) -> str:
        return self.episode.world.call(self.episode.family.name, tool, arguments).text


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Any]:
    episodes = []

    def start(task: str, seed: int = 0, **parameters: Any) -> Played:
        family = load_family(task)
        folder = tmp_path / str(len(episodes))
        instance = build_instance(family, seed, folder / "instance", parameters=parameters)
        episodes.append(Episode.create(folder / "episode", instance.path, family))
        return Played(episodes[-1])

    yield start
    for episode in episodes:
        episode.close()


@pytest.mark.parametrize("task", ["listworld", "treeworld", "gridworld"])
@pytest.mark.parametrize("seed", range(4))
def test_who_plays_optimally_passes_within_the_horizon(play: Any, task: str, seed: int) -> None:
    played = play(task, seed, budget_factor=1, budget_extra=0)
    played.best()
    assert failures(played.episode) == set()
    steps = played.episode.step_accuracy()
    assert steps.optimal_calls == steps.calls <= played.episode.measures["horizon"]


def test_a_mistake_in_the_list_cannot_be_mended(play: Any) -> None:
    played = play("listworld", removals=6, kept=6, budget_factor=9)
    played.best(2)
    game = played.oracle.game(played.episode.history())
    best = next(game.optimal()).arguments["id"]
    wrong = next(c.arguments["id"] for c in game.legal() if c.tool == "pop" and c.arguments["id"] != best)
    played.make("pop", id=wrong)
    played.best()
    assert failures(played.episode) == {"list"}
    steps = played.episode.step_accuracy()
    assert steps.calls - steps.optimal_calls == 1, "what can still be had was had"


def test_the_budget_is_m_times_the_optimum_plus_n(play: Any) -> None:
    for task, optimum in (("listworld", 7), ("treeworld", None), ("gridworld", None)):
        own = {"removals": 6} if task == "listworld" else {}
        played = play(task, budget_factor=2.5, budget_extra=3, **own)
        prompt = played.episode.prompt
        told = int(re.findall(r"udget: (\d+)", prompt)[-1])
        horizon = played.episode.measures["horizon"]
        assert told == int(2.5 * played.episode.measures.get("cost", horizon)) + 3
        assert optimum in (None, horizon)


def test_one_call_more_than_the_budget_fails(play: Any) -> None:
    played = play("listworld", removals=3, kept=3, budget_factor=1, budget_extra=1)
    played.make("pop", id=99)
    played.make("pop", id=99)
    played.best()
    assert "ended" in failures(played.episode)


def test_to_say_that_a_value_is_unreachable_is_right_where_it_is(play: Any) -> None:
    right = play("treeworld", unreachable_share=1)
    right.best()
    assert failures(right.episode) == set()
    assert endings(right.episode.world) == [None]
    early = play("treeworld", unreachable_share=1)
    early.make("unreachable")
    assert failures(early.episode) == {"searched"}, "a guess is no search"
    assert early.episode.step_accuracy().optimal_calls == 0
    wrong = play("treeworld", unreachable_share=0)
    wrong.make("unreachable")
    assert failures(wrong.episode) == {"answer", "searched"}


def test_to_be_done_too_early_fails(play: Any) -> None:
    for task, check in (("listworld", "list"), ("gridworld", "goal")):
        played = play(task)
        played.best(2)
        played.make("done")
        assert failures(played.episode) == {check}


def test_too_long_a_way_fails(play: Any) -> None:
    played = play("gridworld", size=4, hole_density=0, budget_factor=1, budget_extra=0)
    played.best(1)
    game = played.oracle.game(played.episode.history())
    wrong = next(call for call in game.legal() if call.tool != "done" and not game.is_optimal(call))
    played.make(wrong.tool)
    played.best()
    assert failures(played.episode) & {"goal", "budget"}


def test_the_state_is_the_world_after_any_prefix(play: Any) -> None:
    played = play("listworld", removals=8, kept=8, different_values=4)
    while not played.episode.world.calls.ended:
        state = played.oracle.state(played.episode.world, played.episode.history())
        assert state.facts["list"] == current(played.episode.world)
        played.best(1)
    played = play("gridworld")
    while not played.episode.world.calls.ended:
        facts = played.oracle.state(played.episode.world, played.episode.history()).facts
        assert (*facts["at"], facts["moves_left"]) == standing(played.episode.world)
        played.best(1)


@pytest.mark.parametrize(
    ("task", "parameters", "message"),
    [
        ("gridworld", {"size": 3, "hole_density": 0.99}, "at most 7 holes"),
        ("gridworld", {"size": 1}, "size: Input should be greater than or equal to 2"),
        ("gridworld", {"hole_density": 1}, "hole_density: Input should be less than 1"),
        ("listworld", {"removals": 0}, "removals"),
        ("listworld", {"different_values": 0}, "different_values"),
        ("listworld", {"budget_factor": 0.5}, "budget_factor: Input should be greater than or equal to 1"),
        ("treeworld", {"nodes": 1}, "nodes"),
        ("treeworld", {"arity": 0}, "arity"),
        ("treeworld", {"known_share": 1}, "known_share"),
    ],
)
def test_what_cannot_be_made_is_refused(
    tmp_path: Path, task: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        build_instance(load_family(task), 0, tmp_path / "x", parameters=parameters)


@pytest.mark.parametrize(
    ("task", "parameters"),
    [
        ("listworld", {"removals": 1, "kept": 0}),
        ("treeworld", {"nodes": 2}),
        ("treeworld", {"nodes": 2, "unreachable_share": 0, "arity": 1}),
        ("treeworld", {"nodes": 40, "arity": 1, "known_share": 0.9, "unreachable_share": 0}),
        ("gridworld", {"size": 2, "hole_density": 0}),
        ("gridworld", {"size": 3, "hole_density": 0.77}),
    ],
)
def test_the_smallest_instances_are_possible(play: Any, task: str, parameters: dict[str, Any]) -> None:
    played = play(task, 3, **parameters)
    played.best()
    assert failures(played.episode) == set()


def test_nobody_passes_by_saying_at_once_that_the_value_is_nowhere(tmp_path: Path) -> None:
    family = load_family("treeworld")
    nowhere = 0
    for seed in range(10):
        built = build_instance(family, seed, tmp_path / f"i{seed}", parameters={"nodes": 12})
        nowhere += json.loads((built.path / "expected.json").read_bytes())["answer"] is None
        episode = Episode.create(tmp_path / f"e{seed}", built.path, family)
        assert not episode.world.call("treeworld", "unreachable", {}).is_error
        verdict = episode.grade()
        assert verdict.verdict == "failed", verdict.findings
        episode.close()
    assert nowhere, "in some of them it is nowhere indeed"
