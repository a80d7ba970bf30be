"""How much an episode may take follows from its task, and what cannot be done is refused first."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from commands import mesocosm
from sse_starlette.sse import AppStatus

from mesocosm.doors.mcp import Era, McpTools
from mesocosm.errors import UsageError
from mesocosm.evaluation.evaluation import Evaluation, run_evaluation
from mesocosm.evaluation.stage import LocalStage, StageOrder


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> LocalStage:
    return LocalStage(tmp_path_factory.mktemp("stage"))


@pytest.mark.parametrize(
    ("task", "parameters", "least"),
    [
        ("lore_documents", {"operations": 120}, 500),
        ("lore_code", {"operations": 350}, 800),
        ("listworld", {"removals": 900}, 901),
        ("treeworld", {"nodes": 1_500}, 800),
    ],
)
def test_long_instances_are_given_the_calls_that_they_take(
    stage: LocalStage, task: str, parameters: dict[str, int], least: int
) -> None:
    opened = stage.open(StageOrder(task, None, 0, parameters))
    assert opened.least_calls is not None
    assert opened.least_calls >= least
    assert opened.call_limit >= 3 * opened.least_calls
    with pytest.raises(UsageError, match=f"--max-calls {least - 1}: an instance takes"):
        opened.calls_of(least - 1)


def test_a_budget_is_never_cut_short(stage: LocalStage) -> None:
    opened = stage.open(StageOrder("gridworld", None, 0, {"size": 9, "budget_factor": 90}))
    assert opened.call_limit > 90 * 8


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_call_is_answered_though_another_server_of_the_process_is_interrupted(
    stage: LocalStage, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    """Ctrl-C, and a budget that is used up, first meet the server that inspect has in the same process."""
    monkeypatch.setattr(AppStatus, "should_exit", False)  # as it was, afterwards
    opened = stage.open(StageOrder("gridworld", None, 0, {"size": 5}))
    uvicorn.Server(uvicorn.Config("none:here", log_config=None)).handle_exit(signal.SIGINT, None)
    with McpTools(opened.mcp, era=era) as tools:
        assert "Moves left" in tools.read("gridworld", "down", {})[0]


def refused(folder: Path, **settings: Any) -> str:
    with pytest.raises(UsageError) as said:
        run_evaluation(
            Evaluation(**{"seeds": "0", "models": ["scripted/solver"], **settings}), folder / "logs"
        )
    assert not (folder / "logs").exists(), "nothing was run"
    return str(said.value)


def test_a_limit_below_what_the_solver_needs_is_refused(tmp_path: Path) -> None:
    words = ("lore_documents", "--n", "1,3", "--seeds", "0", "--max-calls", "5", "--log-dir", "logs")
    done = mesocosm("eval", *words, "--model", "scripted/solver", cwd=tmp_path)
    assert done.returncode == 2
    assert "--max-calls 5: an instance takes" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"tasks": ["listworld"], "parameters": {"removals": 0}}, "removals: Input should be greater than"),
        ({"tasks": ["listworld"], "n": "1"}, "a horizon has at least 2 calls"),
        ({"tasks": ["puzzle"], "n": "3"}, "puzzle has no number of operations"),
        ({"tasks": ["longproc"], "n": "3"}, "--n has no meaning"),
        ({"tasks": ["lore_multimodal"]}, "scripted-anthropic/solver can"),
        ({"tasks": ["listworld"], "models": ["scripted/obedient"]}, "give --strategy oracle:give=P"),
        ({"tasks": ["longproc"], "models": ["scripted/obedient"]}, "cannot answer the questions of longproc"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(
    settings: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    assert reason in refused(tmp_path, **settings)


def test_a_run_with_a_scripted_model_that_cannot_play_is_refused(tmp_path: Path) -> None:
    done = mesocosm("run", "lore_multimodal", "--agent", "react", "--model", "scripted/solver", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "scripted/solver cannot play lore_multimodal" in " ".join(done.stderr.split())


def test_what_goes_wrong_when_an_instance_is_built_is_told(tmp_path: Path) -> None:
    words = ("gridworld", "--param", "size=2", "--param", "hole_density=0.9", "--seeds", "0")
    done = mesocosm("eval", *words, "--agent", "reference", "--log-dir", "logs", "--json", cwd=tmp_path)
    assert done.returncode == 3
    [outcome] = json.loads(done.stdout)
    assert "has at most 2 holes" in outcome["error"]
