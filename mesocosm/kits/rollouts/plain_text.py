"""A history as one text: the form that is served page by page, and asked about in one prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from mesocosm.kits.rollouts.transcript import Message


def heading(index: int, message: Message) -> str:
    """Return the heading of a message; no other message begins with it."""
    role = message["role"]
    return f"Message {index} ({role}{', result of ' + message['tool_call_id'] if role == 'tool' else ''})"


def body(message: Message) -> str:
    """Return a message's content and calls."""
    parts = [message["content"]]
    for call in message.get("tool_calls", []):
        function = call["function"]
        parts.append(f"[{call['id']}] {function['name']}({function['arguments']})")
    return "\n".join(parts)


def as_text(messages: Iterable[Message]) -> str:
    """All messages, each under its heading."""
    return "\n\n".join(_each(messages))


def _each(messages: Iterable[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        yield f"{heading(index, message)}\n{body(message)}"


_HEADING = re.compile(r"^Message \d+ \((\w+)[^)\n]*\)\n", re.MULTILINE)


def read_text(text: str) -> Iterator[Message]:
    """Parse the messages of a text by ``as_text``, ignoring what surrounds it."""
    heads = list(_HEADING.finditer(text))
    ends = [following.start() for _, following in pairwise(heads)] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        yield {"role": head[1], "content": text[head.end() : end].partition("\n\n")[0]}
