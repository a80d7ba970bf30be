"""A request to a model and its answer, whatever protocol carries them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Stop = Literal["stop", "calls", "length"]
NAMESPACED = "::"
"""Stands between a namespace and the tool in it; names of tools hold no colon."""


@dataclass(frozen=True)
class ModelCall:
    id: str
    name: str
    arguments: dict[str, Any] | str
    """Text where it is not JSON, as a model may write it."""


@dataclass(frozen=True)
class ModelMessage:
    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    call_id: str = ""
    """Of the call that a tool's message answers."""
    failed: bool = False
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Ask:
    """Request to a model."""

    model: str
    messages: Sequence[ModelMessage]
    tools: frozenset[str]
    stream: bool
    size: int
    """Tokens of the request, about: a quarter of its characters."""


@dataclass(frozen=True)
class ModelAnswer:
    text: str = ""
    reasoning: str = ""
    calls: tuple[ModelCall, ...] = ()
    stop: Stop = "stop"
    cut: bool = False
    """True if the connection ends in the middle of it."""


class RequestRefused(Exception):
    """The provider answers with an error."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message


@dataclass
class Usage:
    """Tokens of a request and its answer."""

    given: int
    made: int
    total: int = field(init=False)

    def __post_init__(self) -> None:
        self.total = self.given + self.made


def usage(ask: Ask, answer: ModelAnswer) -> Usage:
    """Count the tokens of request and answer."""
    written = (
        len(answer.text) + len(answer.reasoning) + sum(len(str(call.arguments)) for call in answer.calls)
    )
    return Usage(ask.size, max(1, written // 4))
