"""The books of a conversation: every message that ever was has a number and a size, and is never
forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from mesocosm.worlds import tokens

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage
    from inspect_ai.tool import ToolInfo

IMAGE_TOKENS = 1_600
"""Tokens counted for an image: the most that the large providers charge at high detail."""


class Ledger:
    """Numbers and counts messages by identity, so that no message is counted twice.

    A size is the number of cl100k_base tokens of the message as JSON, which is what the reference scaffold
    measures a context by, whatever the model's own tokenizer.
    """

    def __init__(self, tools: Iterable[ToolInfo] = ()) -> None:
        self.tool_tokens = sum(tokens.count(tool.model_dump_json(exclude_none=True)) for tool in tools)
        self._known: dict[int, tuple[ChatMessage, int, int]] = {}

    def number(self, message: ChatMessage) -> int:
        """The place of the message among all that ever were."""
        return self._entry(message)[1]

    def size(self, message: ChatMessage) -> int:
        """Tokens of one message."""
        return self._entry(message)[2]

    def context(self, messages: Iterable[ChatMessage]) -> int:
        """Tokens of what a model is shown: these messages and the tools."""
        return self.tool_tokens + sum(map(self.size, messages))

    def removed(self, before: Sequence[ChatMessage], after: Sequence[ChatMessage]) -> int:
        """Tokens that went from one state of a conversation to the next, whatever was added."""
        kept = {id(message) for message in after}
        gone = [message for message in before if id(message) not in kept]
        if not gone:
            return 0
        ids, old = {message.id for message in gone}, {id(message) for message in before}
        edited = (message for message in after if id(message) not in old and message.id in ids)
        return sum(map(self.size, gone)) - sum(map(self.size, edited))

    def _entry(self, message: ChatMessage) -> tuple[ChatMessage, int, int]:
        entry = self._known.get(id(message))
        if entry is None:
            # The message itself is kept too: as long as it lives nobody else can have its identity.
            entry = self._known[id(message)] = (message, len(self._known), _size(message))
        return entry


def _size(message: ChatMessage) -> int:
    shown = shape(message)
    images: int = shown.pop("images", 0)
    return tokens.count(orjson.dumps(shown).decode()) + images * IMAGE_TOKENS


def shape(message: ChatMessage) -> dict[str, Any]:
    """A message as plain data: role, text, reasoning, calls, the call that it answers, number of images."""
    shown: dict[str, Any] = {"role": message.role, "content": message.text}
    if isinstance(message.content, list):
        reasoning = [part.summary or part.reasoning for part in message.content if part.type == "reasoning"]
        images = sum(part.type == "image" for part in message.content)
        shown |= {"reasoning": "\n".join(reasoning)} if reasoning else {}
        shown |= {"images": images} if images else {}
    if message.role == "assistant" and message.tool_calls:
        shown["tool_calls"] = [
            {"id": call.id, "function": call.function, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        shown |= {"tool_call_id": message.tool_call_id, "name": message.function}
        if message.error:
            shown["content"] = message.error.message
    return shown


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Ascending runs of numbers as pairs of first and last, which keeps a long context short on paper."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] + 1 == number:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found
