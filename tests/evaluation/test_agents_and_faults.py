"""Agents of one's own in an evaluation, and faults that are no failures."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from mesocosm.agents.loop import Conversation
from mesocosm.evaluation.evaluation import Evaluation, run_evaluation
from mesocosm.evaluation.report.rows import read_samples
from mesocosm.families.verdict import Check, Verdict

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
AGENT = '''
from inspect_ai.agent import AgentState, agent, agent_bridge
from inspect_ai.tool import ToolDef
from openai import AsyncOpenAI
import json


@agent
def bridged(tools):
    """An agent that was written against OpenAI's API: one step after the other, through the bridge."""

    async def execute(state: AgentState) -> AgentState:
        offered = {ToolDef(tool).name: ToolDef(tool) for tool in await tools.tools()}
        described = [
            {"type": "function", "function": {"name": one.name, "description": one.description,
             "parameters": one.parameters.model_dump(exclude_none=True)}}
            for one in offered.values()
        ]
        messages = [{"role": "user", "content": state.messages[0].text}]
        async with agent_bridge(state) as bridge:
            client = AsyncOpenAI(api_key="none")
            while True:
                answer = await client.chat.completions.create(
                    model="inspect", messages=messages, tools=described
                )
                said = answer.choices[0].message
                messages.append(said.model_dump(exclude_none=True))
                if not said.tool_calls:
                    return bridge.state
                for call in said.tool_calls:
                    result = await offered[call.function.name].tool(**json.loads(call.function.arguments))
                    text = result if isinstance(result, str) else "".join(part.text for part in result)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

    return execute
'''


def asked(**known: object) -> Evaluation:
    values = {"tasks": ["lore_documents"], "models": ["scripted/solver"], "seeds": "0", **known}
    return Evaluation.model_validate({"parameters": {"operations": 2}, **values})


def test_an_agent_against_openais_api_acts_through_the_bridge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(AGENT)
    [outcome] = run_evaluation(asked(agent="own.py::bridged"), tmp_path / "logs", quiet=True)
    assert (outcome.judged, outcome.passed, outcome.errored) == (1, 1, 0)
    [sample] = read_samples([tmp_path / "logs"])
    assert sample.tool_calls > 2, "the server counts"
    assert sample.coverage == 1


def test_a_provider_that_breaks_is_an_error_and_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    logs = tmp_path / "logs"
    # The first request is refused for good: its model is unknown to the server that the base URL names.
    monkeypatch.setenv("NOBODY_API_KEY", "none")
    monkeypatch.setattr("mesocosm.evaluation.evaluation.RETRIES", 0)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as provider:
        Thread(target=provider.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{provider.server_port}/v1"
        broken = asked(models=["openai-api/nobody/none"], base_url=url, retry_on_error=0)
        [outcome] = run_evaluation(broken, logs, quiet=True)
        assert (outcome.judged, outcome.errored) == (0, 1)
        run_evaluation(broken, logs, quiet=True)
        provider.shutdown()
    assert len(list(logs.glob("worlds/20*/*"))) == 2, "an error is no result: it is tried again"
    [sample] = read_samples([logs])
    assert sample.verdict == "errored"
    assert sample.score is None


def test_classes_of_failures_follow_from_reading_and_findings() -> None:
    from mesocosm.evaluation.failures import classify
    from mesocosm.families.evidence_coverage import EvidenceCoverage

    def why(*missed: str, **read: object) -> str:
        checks = [Check(name=name, passed=False) for name in missed]
        return classify(Verdict.of(checks), EvidenceCoverage.model_validate({"writes": 1, **read}), None)

    assert why("rows", writes=0) == "gave_up"
    assert why("rows", writes=0, delivered=1, begun=["email"]) == "stopped_early"
    assert why("rows", writes=0, delivered=2) == "undone"
    assert why("rows", unread=["email"]) == "source_missed"
    assert why("rows", begun=["email"]) == "stopped_early"
    assert why("rows", broke_off=True) == "broke_off"
    assert why("rows", writes=0, broke_off=True) == "gave_up"
    assert why("mails_missing") == "left_out"
    assert why("mails_missing", "rows") == "value_drifted"
    assert why("mails_missing", "rows", undeclared=True) == "unfinished"
    assert why("rows", undeclared=True) == "value_drifted"
    assert why("header", "row_order") == "format"
    assert why("other_files", "mailbox") == "damage"
    assert why("refunds_rows_extra", "mails_extra") == "overdone"
    assert why("mails_extra", "mailbox") == "damage"
    assert why("header", "start_time") == "value_drifted"
    assert classify(Verdict.of([Check(name="a", passed=True)]), EvidenceCoverage(), None) == ""
    ends = {"context": "context", "calls": "limits", "turns": "limits", "seconds": "limits"}
    ends |= {"failed_rounds": "tool_errors", "empty": "gave_up", "refused": "gave_up"}
    for ended, name in ends.items():
        talk = Conversation(model="m", max_failed_rounds=0, temperature=None, ended=ended)  # type: ignore[arg-type]
        assert classify(Verdict.of([Check(name="a", passed=False)]), EvidenceCoverage(writes=1), talk) == name


def test_calls_of_small_models_are_read_from_their_text() -> None:
    from mesocosm.agents.local import parse_answer

    call = '<tool_call>{"name": "read", "arguments": {"id": "a"}}</tool_call>'
    said, [first, second] = parse_answer(f"I look. {call}\n<tool_call>{{oops", 3)
    assert (said, first.function, first.arguments) == ("I look.", "read", {"id": "a"})
    assert second.parse_error
    assert first.id != second.id
