"""Reads the whole history and works the answer out of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from mesocosm.kits.rollouts.answers import History, answer_from
from mesocosm.services.calling import Tools

_HEADING = re.compile(r"^Message (\d+) \((\w+)[^)\n]*\)(?:, from character \d+ on)?\n", re.MULTILINE)

_ONWARD = re.compile(r'\s*(\{"next_first":\d+,"next_offset":\d+\})\s*$')


def solve(tools: Tools, prompt: str) -> None:
    """Answer the question that the prompt holds."""
    question = " ".join(prompt.partition("Question:")[2].split())
    history = History.of(_messages(tools))
    tools.call("submit_answer", "submit_answer", answer=answer_from(question, history))


def _messages(tools: Tools) -> Iterator[dict[str, Any]]:
    """All messages, those that came in parts put together."""
    pending: dict[str, Any] | None = None
    for number, role, text in _parts(tools):
        if pending and pending["number"] == number:
            pending["content"] += text
            continue
        if pending:
            yield pending
        pending = {"number": number, "role": role, "content": text}
    if pending:
        yield pending


def _parts(tools: Tools) -> Iterator[tuple[int, str, str]]:
    place: dict[str, Any] = {"first": 0}
    while place:
        text, onward = _onward(tools.read("history", "read_messages", place))
        heads = list(_HEADING.finditer(text))
        for head, following in zip(heads, [*heads[1:], None], strict=True):
            end = following.start() - 2 if following else len(text)
            yield int(head[1]), head[2], text[head.end() : end]
        place = {"first": onward["next_first"], "offset": onward["next_offset"]} if onward else {}


def _onward(blocks: list[str]) -> tuple[str, dict[str, int]]:
    """Return the text and the arguments of the next page. Some clients join all blocks of a result."""
    text = "\n".join(blocks)
    if found := _ONWARD.search(text):
        text = text[: found.start()]
    return text, orjson.loads(found[1]) if found else {}
