"""Requests and answers of the client, as values."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Required, TypedDict

Reward = Literal["verdict", "findings", "gained"]
"""Ways to reward: that every finding passed (0 or 1), the share of them that did, or the share that was won
since the world was built."""


class Order(TypedDict, total=False):
    """Order for an episode; with ``count`` for a batch of them on one instance."""

    task: Required[str]
    length: str | int | None
    seed: int
    parameters: Mapping[str, Any]
    tools: str
    services: Sequence[str]
    disturb: str
    abandoned_after: int | None
    count: int


class Options(TypedDict, total=False):
    """Options of an order besides its task."""

    length: str | int | None
    """Target length in tokens (``"64k"``, 64000); without it and without parameters, the task's shortest."""
    seed: int
    parameters: Mapping[str, Any]
    """Of the generator."""
    tools: str
    services: Sequence[str]
    """Besides the task's own."""
    disturb: str
    """How the episode is disturbed on purpose: ``"light"``, ``"rate_limits=0.1,errors=0.05"``."""
    abandoned_after: int | None
    """Seconds without a call after which the server takes this client to be gone and removes the episode."""


@dataclass(frozen=True)
class View:
    """An episode as the control plane showed it."""

    data: Mapping[str, Any]
    """The whole answer."""

    @property
    def id(self) -> str:
        """The episode's id. Whoever has it may call its tools."""
        return str(self.data["id"])

    @property
    def prompt(self) -> str:
        """The task's prompt."""
        return str(self.data["prompt"])

    @property
    def edl(self) -> int:
        """Tokens of the description."""
        return int(self.data["edl"])

    @property
    def ended(self) -> bool:
        """True once the agent has declared the task done."""
        return bool(self.data["ended"])

    @property
    def calls(self) -> int:
        """Number of calls made."""
        return int(self.data["calls"])

    @property
    def ending(self) -> tuple[str, ...]:
        """Names of the tools that say that the agent is done."""
        return tuple(self.data["ending"])


@dataclass(frozen=True)
class Finding:
    """One thing that a checker found."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Grade:
    """The judgement of an episode."""

    data: Mapping[str, Any]
    """The whole answer."""

    @property
    def verdict(self) -> Literal["passed", "failed", "errored"]:
        """*Errored* where a fault of ours may be why it did not pass."""
        found: Literal["passed", "failed", "errored"] = self.data["verdict"]["verdict"]
        return found

    @property
    def reward(self) -> float | None:
        """Of the kind that was asked for; ``None`` where it is errored and the grading not strict."""
        reward: float | None = self.data["reward"]
        return reward

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The checker's findings."""
        return tuple(Finding(**one) for one in self.data["verdict"]["findings"])

    @property
    def evidence_delivered(self) -> float | None:
        """The share of the evidence that some result held; ``None`` where the instance names none."""
        reading = self.data["reading"]
        return float(reading["delivered"] / reading["evidence"]) if reading["evidence"] else None

    @property
    def error(self) -> str | None:
        """The reason why the episode is errored."""
        error: str | None = self.data["verdict"]["error"]
        return error

    @property
    def tool_calls(self) -> int:
        """Calls that were made until the agent said that it was done."""
        return int(self.data["tool_calls"])

    @property
    def delivered_tokens(self) -> int:
        """Tokens of what they delivered."""
        return int(self.data["delivered_tokens"])


@dataclass(frozen=True)
class ToolInfo:
    """A tool as the endpoint of all services lists it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    service: str | None

    @property
    def listing(self) -> dict[str, Any]:
        """The tool as chat templates and most model APIs take it."""
        function = {"name": self.name, "description": self.description, "parameters": self.input_schema}
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class Result:
    """Result of a call, errors included."""

    blocks: tuple[Mapping[str, Any], ...]
    """The content blocks of MCP."""
    is_error: bool

    @property
    def text(self) -> str:
        """All text, as an agent reads it."""
        return "\n".join(self._texts())

    @property
    def images(self) -> list[bytes]:
        """The images, as files of the type that their blocks say."""
        return [base64.b64decode(one["data"]) for one in self.blocks if one["type"] == "image"]

    @property
    def value(self) -> Any:
        """The first text block: decoded where it is a JSON object or array, else the text itself."""
        text = next(iter(self._texts()), "")
        if text[:1] in ("{", "["):
            try:
                return json.loads(text)
            except ValueError:
                return text
        return text

    def _texts(self) -> list[str]:
        return [str(block["text"]) for block in self.blocks if block["type"] == "text"]
