"""Oracle interventions: with a model, through the service of any client, and with scripted players."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mesocosm.agents.players import Player
from mesocosm.agents.react import React
from mesocosm.agents.scripted.behaviours import told_step
from mesocosm.agents.scripted.exchange import ModelMessage
from mesocosm.agents.strategies.registry import parse_strategies
from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.errors import UsageError
from mesocosm.evaluation.horizons import expected_success, points
from mesocosm.evaluation.runs import Actor, RunResult, WantedRun, run_task
from mesocosm.evaluation.trajectories import calibrate, make_record
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.workers.processes import Processes

MODEL = Path(__file__).with_name("scripted_model.py")
SHORT = {"removals": 3, "kept": 4}
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    log = tmp_path_factory.mktemp("provider") / "requests.jsonl"
    process = subprocess.Popen([sys.executable, str(MODEL), str(log)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    with process.stdout as stdout:
        yield f"http://127.0.0.1:{int(stdout.readline())}/v1", log
    process.kill()
    process.wait()


def asked(log: Path) -> list[list[dict[str, Any]]]:
    """The messages of each request."""
    return [json.loads(line)["body"]["messages"] for line in log.read_text().splitlines()]


@pytest.mark.parametrize("give", ["SPH", "SP", "P"])
def test_a_model_that_does_what_it_is_told_passes(
    provider: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, give: str
) -> None:
    monkeypatch.setenv("OBEDIENT_API_KEY", "none")
    url, log = provider
    before = len(asked(log)) if log.exists() else 0
    react = React("openai-api/obedient/obedient", url, strategy=f"oracle:give={give}", max_turns=9)
    family, out = load_family("listworld"), tmp_path / "run"
    result = run_task(family, WantedRun(parameters=SHORT), Actor("react", react=react), out)
    assert result.verdict == "passed", result
    assert result.step_accuracy == 1
    requests = asked(log)[before:]
    assert len(requests) == 4
    for turn, messages in enumerate(requests):
        prompt, last = messages[0]["content"], messages[-1]["content"]
        assert ("State: " in last, "Plan: " in last) == ("S" in give, "P" in give)
        assert ("State: The list is now [7, 3" in prompt) is ("S" in give), "examples have the same form"
        assert "Plan: Remove the element 3" in prompt
        if "H" in give:
            assert [one["role"] for one in messages] == ["user", "user"], "the task and the state, no more"
        else:
            assert sum("Plan: " in str(one["content"]) for one in messages[1:]) == 1, "only the newest"
            assert len(messages) == 2 + 2 * turn


@pytest.mark.parametrize("task", ["listworld", "treeworld", "gridworld"])
@pytest.mark.parametrize("give", ["S", "P"])
def test_what_is_told_is_enough_to_act_on_without_a_memory(tmp_path: Path, task: str, give: str) -> None:
    """The scripted model that obeys sees the task and what it is told, as with H; nothing else."""
    family = load_family(task)
    built = build_instance(family, 1, tmp_path / "instance", parameters={"budget_extra": 9})
    episode = Episode.create(tmp_path / "episode", built.path, family)
    while True:
        told = f"State: {episode.told_state()}" if give == "S" else f"Plan: {episode.told_plan()}"
        step = told_step([ModelMessage("user", episode.prompt), ModelMessage("user", told)])
        if step is None or step.tool in ("done", "found", "unreachable"):
            break
        assert episode.world.call(step.service, step.tool, step.arguments).status == "ok"
    assert step
    episode.world.call(step.service, step.tool, step.arguments)
    assert all(check.passed for check in family.check(episode.world, built.expected))
    episode.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [("oracle:give=H", "where the state"), ("oracle:give=PH", "where the state"), ("oracle:give=X", "give")],
)
def test_history_is_taken_away_only_where_the_state_is_told(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_strategies(text)


def test_any_client_may_ask_the_service_where_it_is_offered(tmp_path: Path) -> None:
    family = load_family("gridworld")
    built = build_instance(family, 0, tmp_path / "instance", parameters={"size": 4})
    fingerprint = (built.path / "world" / "world.json").read_bytes()
    without = Episode.create(tmp_path / "without", built.path, family)
    assert "oracle" not in without.world.services
    episode = Episode.create(tmp_path / "with", built.path, family, services=["oracle"])
    with McpTools(world_server(episode.world)) as tools:
        assert "get_plan" in " ".join(tool.name for tool in tools.list_tools())
        for _ in range(30):
            state, plan = tools.call("oracle", "get_state"), tools.call("oracle", "get_plan")
            assert state.startswith("You are at (")
            if plan.startswith("You are at the goal"):
                break
            tools.call("gridworld", plan.split()[1].strip(","))
        tools.call("gridworld", "done")
        assert tools.call("oracle", "get_plan") == "There is nothing left to do."
    assert [check.name for check in family.check(episode.world, built.expected) if not check.passed] == []
    steps = episode.step_accuracy()
    assert steps
    assert steps.share == 1, "what the oracle was asked is no step"
    assert (built.path / "world" / "world.json").read_bytes() == fingerprint


def test_players_are_what_they_say(tmp_path: Path) -> None:
    for p, label in ((1.0, "optimal"), (0.0, "random"), (0.9, "noisy p=0.9")):
        assert Player(p).label == label
    with pytest.raises(UsageError, match="from 0 to 1"):
        Player(1.5)
    wanted = WantedRun(seed=3, parameters={"nodes": 12})
    optimal = Actor("optimal", player=Player())
    result = run_task(load_family("treeworld"), wanted, optimal, tmp_path / "run")
    assert (result.verdict, result.agent, result.step_accuracy) == ("passed", "optimal", 1)
    at_random = Actor("random", player=Player(0))
    with pytest.raises(UsageError, match="listworld, treeworld or gridworld"):
        run_task(load_family("course_assistant"), WantedRun(8_000), at_random, tmp_path / "other")


def test_noisy_players_come_to_what_can_be_computed() -> None:
    results = list(calibrate("listworld", [60], [0.9, 1.0], 6, Processes(1)))
    noisy, perfect = (
        [result for result in results if result.agent == agent] for agent in ("noisy p=0.9", "optimal")
    )
    assert {result.verdict for result in perfect} == {"passed"}
    (point,) = [point for point in points(noisy, 3) if point.runs == 6]
    assert point.theory is not None
    assert point.lower <= point.theory <= point.upper
    assert point.theory < 0.01
    assert point.success < 0.3
    assert point.step_accuracy
    assert point.step_accuracy > 0.6, "most steps are right where nearly nothing succeeds"


def test_theory_is_told_of_noisy_players_only() -> None:
    blank = RunResult(
        verdict="passed", reward=1, score=1, findings=[], error=None, task="gridworld", length=None, seed=0,
        agent="noisy p=0.5", edl=0, tool_calls=0, delivered_tokens=0, episode="", seconds=None,
        measures={"horizon": 3},
    )  # fmt: skip
    assert expected_success(blank) == 0.125
    assert expected_success(blank.model_copy(update={"agent": "optimal"})) is None


def test_a_line_of_the_dataset_holds_the_world_and_rewarded_steps() -> None:
    record = make_record("treeworld", 12, 1, [1.0, 0.0], dense=True)
    best, worst = record.trajectories
    assert (best.player, best.reward, best.step_accuracy) == ("optimal", 1, 1)
    assert sum(step.reward for step in best.steps) == pytest.approx(2), "all steps and the end"
    assert worst.player == "random"
    assert {node["id"] for node in record.world["tree"]} >= {node for node, _, _ in record.world["given"]}
    assert [tool["name"] for tool in record.tools] == ["get_children", "found", "unreachable"]
    sparse = make_record("treeworld", 12, 1, [1.0], dense=False).trajectories[0]
    assert [step.reward for step in sparse.steps[:-1]] == [0] * (len(sparse.steps) - 1)
    assert sparse.steps[-1].reward == 1
