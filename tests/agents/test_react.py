"""The ReAct agent: a scripted model over HTTP, the real MCP server, real worlds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm

from mesocosm.agents.react import React
from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import Actor, RunResult, WantedRun, run_task
from mesocosm.families.family import load_family

TASK = load_family("lore_documents")
KEY = "a-key-that-nobody-may-see"
MODEL = Path(__file__).with_name("scripted_model.py")
# inspect_ai calls tenacity in the way that its newest release deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")


@dataclass
class Provider:
    """A running process with models."""

    url: str
    log: Path

    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    log = tmp_path_factory.mktemp("provider") / "requests.jsonl"
    process = subprocess.Popen([sys.executable, str(MODEL), str(log)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    with process.stdout as stdout:
        yield Provider(f"http://127.0.0.1:{int(stdout.readline())}/v1", log)
    process.kill()
    process.wait()


Run = Callable[..., RunResult]


@pytest.fixture
def run(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("solver", operations=5, max_turns=3)``: the result of a run with that model."""
    monkeypatch.setenv("SCRIPTED_API_KEY", KEY)

    def act(model: str, *, operations: int = 5, max_failed_rounds: int = 3, **settings: Any) -> RunResult:
        react = React(
            f"openai-api/scripted/{model}", provider.url, max_failed_rounds=max_failed_rounds, **settings
        )
        wanted = WantedRun(parameters={"operations": operations})
        return run_task(TASK, wanted, Actor("react", react=react), tmp_path / "run")

    return act


def turns(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "run/conversation.jsonl").read_text().splitlines()]


def test_a_model_that_follows_the_documents_passes(run: Run, provider: Provider, tmp_path: Path) -> None:
    result = run("solver", operations=30)
    assert result.verdict == "passed"
    assert result.measures["operations"] == 30
    assert result.measures["height"] > 3
    talk = result.conversation
    assert talk
    assert (talk.ended, talk.failed_rounds, talk.max_failed_rounds) == ("submitted", 0, 3)
    assert talk.turns == talk.rounds == len(turns(tmp_path)) < talk.calls == result.tool_calls
    assert (talk.input_tokens, talk.output_tokens) == (100 * talk.turns, 10 * talk.turns)
    assert len(turns(tmp_path)[0]["calls"]) > 10, "the documents of the prompt are read at once"
    kept = RunResult.model_validate_json((tmp_path / "run/run.json").read_bytes())
    assert kept == result
    last = provider.requests()[-1]
    assert (last["body"]["temperature"], last["body"]["parallel_tool_calls"]) == (0, True)
    assert {tool["function"]["name"] for tool in last["body"]["tools"]} == {
        "read_document",
        "submit_answer",
    }


def test_the_last_message_can_be_the_answer(run: Run, provider: Provider, tmp_path: Path) -> None:
    result = run("solver", operations=2, final_text=True)
    assert result.verdict == "passed"
    assert result.conversation
    assert result.conversation.ended == "submitted"
    last = provider.requests()[-1]["body"]
    assert [tool["function"]["name"] for tool in last["tools"]] == ["read_document"]
    assert "Your last message" in last["messages"][0]["content"]
    done = mesocosm(
        "run", "recall_campaign", "--agent", "react", "--model", "x/y", "--final-text", cwd=tmp_path
    )
    assert (done.returncode, "--final-text is for tasks" in done.stderr) == (2, True)


def test_the_key_goes_to_the_provider_and_nowhere_else(run: Run, provider: Provider, tmp_path: Path) -> None:
    run("talking", operations=1)
    assert provider.requests()[-1]["headers"]["authorization"] == f"Bearer {KEY}"
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("model", ["stray", "garbled"])
def test_three_rounds_of_failures_end_the_episode_as_failed(run: Run, tmp_path: Path, model: str) -> None:
    result = run(model)
    assert (result.verdict, result.reward) == ("failed", 0)
    talk = result.conversation
    assert talk
    assert (talk.ended, talk.turns, talk.rounds, talk.failed_rounds) == ("failed_rounds", 3, 3, 3)
    assert "failed_rounds" in [check.name for check in result.findings if not check.passed]
    assert all(call["error"] for turn in turns(tmp_path) for call in turn["calls"])


def test_a_round_with_one_success_starts_the_count_anew(run: Run) -> None:
    result = run("recovering")
    assert result.verdict == "passed"
    assert result.conversation
    assert result.conversation.failed_rounds == 4


def test_without_the_rule_the_turns_end_it(run: Run) -> None:
    result = run("stray", max_failed_rounds=0, max_turns=5)
    assert result.verdict == "failed"
    assert result.conversation
    assert (result.conversation.ended, result.conversation.failed_rounds) == ("turns", 5)
    assert "failed_rounds" not in [check.name for check in result.findings]


@pytest.mark.parametrize(("model", "ended"), [("talking", "stopped"), ("guessing", "submitted")])
def test_giving_up_and_guessing_fail(run: Run, model: str, ended: str) -> None:
    result = run(model)
    assert result.verdict == "failed"
    assert result.conversation
    assert (result.conversation.ended, result.conversation.turns) == (ended, 1)


def test_a_provider_that_refuses_makes_the_run_errored(run: Run) -> None:
    result = run("unheard-of")
    assert (result.verdict, result.reward) == ("errored", None)
    assert "there is no such model" in (result.error or "")
    assert result.conversation
    assert result.conversation.ended is None


def test_a_model_without_a_key_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCRIPTED_API_KEY", raising=False)
    react = React("openai-api/scripted/solver", "http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="SCRIPTED_API_KEY"):
        run_task(TASK, WantedRun(), Actor("react", react=react), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_rule_holds_on_the_command_line_and_when_graded_again(provider: Provider, tmp_path: Path) -> None:
    words = ["run", "lore_documents", "--param", "operations=2", "--agent", "react", "--out", "run", "--json"]
    words += ["--model", "openai-api/scripted/stray", "--base-url", provider.url]
    done = mesocosm(*words, "--max-failed-rounds", "2", cwd=tmp_path, SCRIPTED_API_KEY=KEY)
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert (result["conversation"]["ended"], result["conversation"]["rounds"]) == ("failed_rounds", 2)
    again = mesocosm("grade", "run", "--json", cwd=tmp_path, SCRIPTED_API_KEY=KEY)
    assert again.returncode == 1, again.stderr
    assert json.loads(again.stdout)["findings"] == result["findings"]
    told = json.loads(mesocosm("look", "run", "--json", cwd=tmp_path, SCRIPTED_API_KEY=KEY).stdout)
    assert told["failure"] == "tool_errors"
    assert re.search(
        r"Its last \d calls, to [a-z_.]+, failed; number \d, with \w+: .+, was refused with “.+”", told["why"]
    )
    assert "It changed nothing." in told["why"]


@pytest.mark.parametrize("words", [["--max-failed-rounds", "3"], ["--agent", "react"], ["--model", "a/b"]])
def test_options_of_the_react_agent_need_it(tmp_path: Path, words: list[str]) -> None:
    done = mesocosm("run", "lore_documents", *words, "--out", "run", cwd=tmp_path, SCRIPTED_API_KEY=KEY)
    assert done.returncode == 2
    assert "--agent react" in done.stderr
    assert not (tmp_path / "run").exists()
