"""Conversations as they were kept; taking up what an earlier process finished and could not log any more.

An episode is kept a moment before inspect_ai writes its sample into the log. Who is killed in between has a
judged episode that no log knows: it is taken into the new log as it is, and no model is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser, ModelUsage
from inspect_ai.tool import ToolCall, ToolCallError
from pydantic import ValidationError

from mesocosm.evaluation.runs import FAULT_FILE, RunResult

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

    from mesocosm.worlds.journal import Entry


def left_behind(worlds: Path, log: str, sample: str) -> tuple[Path, RunResult] | None:
    """The judged run of a sample that an earlier log of the same task should have held.

    Args:
        worlds: Where episodes are kept.
        log: Name of the log that is being written: its last part, the task's id, is the same for all logs of
            one task in one set.
        sample: The sample's id and epoch, as the names of its folders begin.
    """
    task = log.rpartition("_")[2]
    for file in sorted(worlds.glob(f"*_{task}/{sample}-*/run.json")):
        if file.parents[1].name == log or (file.parent / FAULT_FILE).exists():
            continue  # of this very run; or an error, which is to be run again
        try:
            result = RunResult.model_validate(orjson.loads(file.read_bytes()))
        except (orjson.JSONDecodeError, ValidationError):
            continue  # of another version
        if result.verdict != "errored":
            return file.parent, result
    return None


def conversation_of(run: Path) -> list[ChatMessage]:
    """All messages of a kept conversation, in order; the prompt alone where there was no conversation."""
    found: list[ChatMessage] = [ChatMessageUser(content=(run / "prompt.md").read_text(encoding="utf-8"))]
    path = run / "conversation.jsonl"
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else ()):
        turn = orjson.loads(line)
        told = [one for one in turn.get("added", ()) if one["role"] == "user"]
        # The first is the prompt, with what strategies said at its end.
        found = [] if told and not number else found
        found += [ChatMessageUser(content=one["content"]) for one in told]
        found += _turn(turn)
    return found


def take_up_usage(run: Path, model: str) -> None:
    """Charge the running sample with the usage of a kept conversation: tokens and their price."""
    # There is no public way to say it.
    from inspect_ai.model import _model

    path = run / "conversation.jsonl"
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        if told := orjson.loads(line).get("usage"):
            for used in (_model.sample_model_usage(), _model.model_usage()):
                _model.set_model_usage(model, ModelUsage.model_validate(told), used)


def calls_made(entries: Iterable[Entry]) -> list[ChatMessage]:
    """Calls that reached the server as messages, for agents whose conversation is their own affair."""
    return [
        message
        for entry in entries
        if entry.parent is None
        for message in _turn(
            {
                "turn": entry.seq,
                "text": "",
                "calls": [
                    {
                        "tool": f"{entry.service}_{entry.tool}",
                        "arguments": entry.arguments,
                        "result": entry.result or "",
                        "error": None if entry.status == "ok" else entry.result or entry.status,
                    }
                ],
            }
        )
    ]


def _turn(turn: dict[str, Any]) -> Iterator[ChatMessage]:
    calls = [
        ToolCall(id=f"turn{turn['turn']}-{at}", function=call["tool"], arguments=call["arguments"])
        for at, call in enumerate(turn["calls"])
    ]
    yield ChatMessageAssistant(content=turn["text"], tool_calls=calls or None)
    for call, made in zip(calls, turn["calls"], strict=True):
        error = ToolCallError(type="unknown", message=made["error"]) if made["error"] else None
        yield ChatMessageTool(
            content=made["result"], tool_call_id=call.id, function=call.function, error=error
        )
