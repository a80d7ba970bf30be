"""Strategies: what each takes away or adds, through the loop with a scripted model over real HTTP and MCP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from later import Later

from mesocosm.agents.ledger import Ledger
from mesocosm.agents.react import React, open_model
from mesocosm.agents.strategies import Strategy, View
from mesocosm.agents.strategies.registry import label, parse_strategies, strategies
from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import Actor, RunResult, WantedRun, run_task
from mesocosm.families.family import load_family

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

inspected, called = Later("inspect_ai.model"), Later("inspect_ai.tool")
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")
TASK = load_family("lore_documents")


def conversation(rounds: int) -> list[ChatMessage]:
    """A prompt and rounds of two calls each, every result of about a hundred tokens."""
    messages: list[ChatMessage] = [inspected.ChatMessageUser(content="The task.")]
    for n in range(rounds):
        calls = [called.ToolCall(id=f"{n}-{m}", function="read", arguments={"id": n}) for m in "ab"]
        thought = [
            inspected.ContentReasoning(reasoning=f"thought {n}"),
            inspected.ContentText(text=f"step {n}"),
        ]
        messages.append(inspected.ChatMessageAssistant(content=thought, tool_calls=calls))
        messages += [
            inspected.ChatMessageTool(
                content=f"result {call.id} " + "word " * 100, tool_call_id=call.id, function="read"
            )
            for call in calls
        ]
    return messages


def seen(strategy: str, messages: list[ChatMessage], **known: Any) -> View:
    """What is left of a conversation before the next turn."""
    made = parse_strategies(strategy)
    view = View(
        messages=list(messages),
        history=list(messages),
        model=open_model("scripted/solver"),
        ledger=Ledger(),
        **{"window": None, "answer": 0, **known},
        tools=frozenset(),
        strategies=made,
        turn=2,
    )
    for one in made:
        asyncio.run(one.before_turn(view))
    return view


def test_clearing_takes_half_of_the_rounds_but_the_last_and_leaves_the_text() -> None:
    before = conversation(6)
    view = seen("clear_tool_results:reset_size=500", before)
    answers = [message for message in view.messages if message.role == "assistant"]
    assert [bool(answer.tool_calls) for answer in answers] == [False] * 2 + [True] * 4, "int(0.5 * (6 - 1))"
    assert [answer.text for answer in answers[:2]] == ["step 0", "step 1"]
    assert sum(message.role == "tool" for message in view.messages) == 8
    assert before[1].text in {message.text for message in before}, "the messages themselves are not changed"
    lost = view.ledger.removed(before, view.messages)
    assert 400 < lost == view.ledger.context(before) - view.ledger.context(view.messages)


def test_nothing_is_taken_below_the_size() -> None:
    before = conversation(6)
    assert seen("clear_tool_results+clear_thinking", before).messages == before


def test_thinking_is_cleared_but_for_the_last_answers() -> None:
    view = seen("clear_thinking:reset_size=500:keep=2", conversation(5))
    thoughts = [
        any(part.type == "reasoning" for part in message.content if not isinstance(part, str))
        for message in view.messages
        if message.role == "assistant"
    ]
    assert thoughts == [False] * 3 + [True] * 2


def test_the_trim_drops_the_oldest_rounds_until_the_rest_fits() -> None:
    view = seen("trim", conversation(6), window=1_000, answer=200)
    assert view.tokens <= 800
    assert view.messages[0].text == "The task."
    assert view.messages[1].text.startswith("step "), "a round goes with its results"
    kept = [message for message in view.messages if message.role == "assistant"]
    assert kept[-1].text == "step 5"


def test_memory_warns_before_whatever_takes_away_first() -> None:
    full = conversation(6)  # 1,300 tokens, about
    trimmed = seen("memory", full, window=2_500, answer=500).messages[-1].text
    assert "At 2,000 tokens older parts" in trimmed, "the trim, which always acts"
    provider = seen("memory+anthropic_clear_tool_uses:trigger=1900", full, window=9_000).messages[-1].text
    assert "At 1,900 tokens older parts" in provider
    inspect = seen("memory", full, window=9_000).messages
    assert inspect == full, "that is far from it"
    [memory] = parse_strategies("memory")
    brief = memory.brief(seen("none", full))
    assert "no part of the task" in brief, "a prompt may forbid to change another memory"


def test_a_strategy_of_ones_own_is_found_again_by_its_label(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from mesocosm.agents.strategies import Strategy\n\n\n"
        "class Reminder(Strategy):\n    name = 'reminder'\n    every: int = 10\n"
    )
    written = f"{tmp_path}/own.py::Reminder:every=5+trim"
    [one, _] = parse_strategies(written)
    assert label(parse_strategies(written)) == written
    [again, _] = parse_strategies(label([one, *parse_strategies("trim")]))
    assert type(again) is type(one)
    (tmp_path / "broken.py").write_text("import nothing_such\n")
    with pytest.raises(UsageError, match=r"broken\.py cannot be loaded: ModuleNotFoundError"):
        parse_strategies(f"{tmp_path}/broken.py::Reminder")


def test_awareness_and_memory_say_where_the_conversation_stands() -> None:
    view = seen(
        "memory:threshold=0.5+clear_tool_results:reset_size=2k+awareness", conversation(6), window=9_000
    )
    said = [message.text for message in view.messages if message.role == "user"][1:]
    assert len(said) == 1, "awareness answers results, and the warning came before it"
    assert "2,000 tokens" in said[0]
    assert "of 9,000 tokens used" in seen("awareness", conversation(2), window=9_000).messages[-1].text


def test_anthropics_own_are_settings_of_the_request_and_refused_elsewhere() -> None:
    tools, _ = parse_strategies("anthropic_clear_tool_uses:trigger=90k+anthropic_clear_thinking")
    model = open_model("scripted/solver")
    with pytest.raises(UsageError, match="Anthropic's own"):
        tools.configure(inspected.GenerateConfig(), model)


def test_parameters_are_read_and_shown_as_they_are_written() -> None:
    text = "clear_tool_results:reset_size=100000:share=0.25+awareness"
    assert label(parse_strategies(text.replace("100000", "100k"))) == text
    assert label(parse_strategies("none")) == "none"
    assert {"trim", "clear_tool_results", "clear_thinking", "summarise", "awareness", "memory"} <= set(
        strategies()
    )


def run(tmp_path: Path, model: str = "scripted/solver", **settings: Any) -> RunResult:
    react = React(model, **settings)
    out = tmp_path / "run"
    parameters = {"operations": 12}
    return run_task(TASK, WantedRun(parameters=parameters), Actor("react", react=react), out)


def test_a_summary_takes_the_place_of_the_conversation_and_all_is_counted(tmp_path: Path) -> None:
    result = run(tmp_path, strategy="summarise:reset_size=1500")
    assert result.verdict == "passed"
    talk = result.conversation
    assert talk
    assert talk.removed_tokens["summarise"] > 1_000
    assert talk.trajectory_length == talk.largest_context + sum(talk.removed_tokens.values())
    lines = [json.loads(line) for line in (tmp_path / "run/conversation.jsonl").read_text().splitlines()]
    assert (
        sum(line.get("removed", {}).get("summarise", 0) for line in lines) == talk.removed_tokens["summarise"]
    )
    after = next(line for line in lines if line.get("removed"))
    assert len(after["added"]) == 1
    assert "<summary>" in after["added"][0]["content"]
    assert after["shown"][0] == [0, 0], "the prompt, and then only the summary"


EXAMPLE = '''
from mesocosm.agents.strategies import Strategy, View


class Reminder(Strategy):
    """Says every few turns what the task was."""

    name = "reminder"
    every: int = 10

    async def before_turn(self, view: View) -> None:
        if view.turn > 1 and view.turn % self.every == 0:
            view.tell("Remember the task: " + view.messages[0].text)
'''


def test_a_strategy_of_ones_own_is_a_class_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "reminding.py"
    file.write_text(EXAMPLE)
    result = run(tmp_path, strategy=f"{file}::Reminder:every=3")
    assert result.verdict == "passed"
    lines = [json.loads(line) for line in (tmp_path / "run/conversation.jsonl").read_text().splitlines()]
    reminded = [line["turn"] for line in lines if line["turn"] > 1 and line.get("added")]
    assert reminded == [turn for turn in range(2, len(lines) + 1) if turn % 3 == 0]


def test_the_guide_blanks_results_in_copies(tmp_path: Path) -> None:
    """The class that the guide to strategies has, as it stands there."""
    guide = Path(__file__).parents[2] / "docs/guides/evaluate-models.md"
    [code] = [
        block for block in guide.read_text().split("```python\n")[1:] if block.startswith("class Blank")
    ]
    file = tmp_path / "blank.py"
    head = "from mesocosm.agents.strategies import Strategy, View\n\n\n"
    file.write_text(head + code.partition("```")[0])
    before = conversation(3)
    left = seen(f"{file}::Blank:keep=2", before).messages
    assert [m.text[:8] for m in left if m.role == "tool"] == ["(removed"] * 4 + ["result 2"] * 2
    assert [m.id for m in left] == [m.id for m in before]
    assert all(m.text.startswith("result") for m in before if m.role == "tool")


@pytest.mark.parametrize("wrong", ["no_file.py::X", "json::loads", "memory:threshold=2", "memory:threshold"])
def test_what_is_no_strategy_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError):
        parse_strategies(wrong)


def test_every_strategy_says_what_it_is() -> None:
    for kind in strategies().values():
        assert issubclass(kind, Strategy)
        assert kind.__doc__
