"""The scripted models through the real clients of their protocols: work, faults, windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mesocosm.agents.react import React, open_model
from mesocosm.agents.scripted.behaviours import Models
from mesocosm.agents.scripted.exchange import Ask, ModelMessage, RequestRefused
from mesocosm.agents.scripted.known_truth import known
from mesocosm.agents.scripted.solver_model import SolverStep, name_among, recognise
from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import Actor, RunResult, WantedRun, run_task
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]
TASK = load_family("lore_documents")


def run(model: str, tmp_path: Path, operations: int = 2, **settings: Any) -> RunResult:
    react = React(model, **settings)
    parameters = {"operations": operations}
    out = tmp_path / "run"
    return run_task(TASK, WantedRun(parameters=parameters), Actor("react", react=react), out)


@pytest.mark.parametrize("provider", ["scripted", "scripted-responses", "scripted-anthropic"])
def test_each_protocol_carries_a_whole_episode(provider: str, tmp_path: Path) -> None:
    result = run(f"{provider}/solver:think=1:every_429=5:every_500=7", tmp_path)
    assert (result.verdict, result.error) == ("passed", None)
    assert result.conversation
    assert result.conversation.input_tokens > 100
    assert result.conversation.calls == result.tool_calls


@pytest.mark.parametrize("provider", ["scripted", "scripted-anthropic"])
def test_a_window_that_is_too_small_ends_the_conversation_and_is_the_models_failure(
    provider: str, tmp_path: Path
) -> None:
    result = run(f"{provider}/solver:window=1200", tmp_path, operations=12)
    assert result.verdict == "failed"
    assert result.conversation
    assert result.conversation.ended == "context"


def test_a_trim_keeps_a_conversation_inside_a_small_window(tmp_path: Path) -> None:
    result = run("scripted/solver", tmp_path, operations=12, window=1_500, max_tokens=200)
    assert result.verdict == "passed"
    assert result.conversation
    assert result.conversation.largest_context <= 1_300
    assert result.conversation.removed_tokens["trim"] > 0


@pytest.mark.parametrize(
    ("model", "ended"), [("talking", "stopped"), ("empty", "empty"), ("garbled", "turns")]
)
def test_models_that_do_not_work_fail(model: str, ended: str, tmp_path: Path) -> None:
    result = run(f"scripted/{model}", tmp_path, max_turns=3)
    assert result.verdict == "failed"
    assert result.conversation
    assert result.conversation.ended == ended


def test_a_prompt_is_known_by_its_family_whatever_was_added_to_it(tmp_path: Path) -> None:
    prompt = build_instance(TASK, 0, tmp_path / "instance", parameters={"operations": 2}).prompt
    found = recognise(prompt + "\nYour context window holds 1,000 tokens.")
    assert found
    assert (found[0].name, found[1].strip()) == ("lore_documents", prompt.strip())
    assert recognise("What is the capital of France?") is None


@pytest.mark.parametrize(
    ("offered", "name"),
    [
        ({"mesocosm_up", "mesocosm_done", "mesocosm_claim_done"}, "mesocosm_done"),
        ({"gridworld_done", "mesocosm_gridworld_done"}, "gridworld_done"),
        ({"mesocosm.gridworld_done", "mesocosm.claim_done"}, "mesocosm.gridworld_done"),
        ({"undone", "claim_done"}, "claim_done"),
        ({"done", "x_done"}, "done"),
        ({"other"}, "done"),
    ],
)
def test_a_tool_is_known_by_whatever_name_a_harness_gives_it(offered: set[str], name: str) -> None:
    assert name_among(SolverStep("gridworld", "done", {}), frozenset(offered)) == name


def test_a_task_in_yaml_is_played_by_its_solution_that_is_told_its_truth(tmp_path: Path) -> None:
    wanted, actor = WantedRun(target=8_000), Actor("react", react=React("scripted-responses/solver"))
    assert run_task(load_family("refund_list"), wanted, actor, tmp_path / "run").verdict == "passed"


def test_a_task_in_yaml_is_refused_and_not_failed_unless_its_instance_is_in_a_folder_that_is_named(
    tmp_path: Path,
) -> None:
    instance = build_instance(load_family("visit_calendar"), 1, tmp_path / "instance", target=8_000)
    tools = {f"mesocosm_{tool}" for tool in ("create_event", "up", "claim_done")}
    asked = Ask(
        "solver", [ModelMessage("user", f"Work!\n{instance.prompt} Go on.")], frozenset(tools), False, 900
    )
    with pytest.raises(
        RequestRefused, match=r"no scripted model knows this task; .*--worlds FOLDER"
    ) as refused:
        Models().answer(asked)
    assert refused.value.status == 400
    known.look_into([tmp_path])
    try:
        answer = Models().answer(asked)
    finally:
        known.look_into([])
    assert [call.name for call in answer.calls] == ["mesocosm_create_event"]


@pytest.mark.parametrize("name", ["scripted/genius", "scripted/solver:speed=9"])
def test_unknown_scripted_models_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        open_model(name)
