"""Oracles: at any step of an episode, what is truly the case and what would be best done next.

An oracle belongs to the control plane: it knows what the checker knows, and no tool of the agent leads to it.
It looks at nothing but the calls that were made, so it can be asked about any prefix of a trajectory,
whoever made it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from mesocosm.worlds.journal import Entry


class Call(BaseModel):
    """One tool call."""

    model_config = ConfigDict(frozen=True)

    service: str
    tool: str
    arguments: dict[str, Any]


class Made(Call):
    """A call that was made, with what came of it."""

    ok: bool
    result: str
    """The text of all its blocks."""


class Subtask(BaseModel):
    """Something to do next that takes one turn and no looking ahead."""

    model_config = ConfigDict(frozen=True)

    goal: str
    """What an agent could be told."""
    calls: list[Call]
    """What does it."""


class State(BaseModel):
    """What an agent that made these calls, and forgot nothing, would know."""

    model_config = ConfigDict(frozen=True)

    text: str
    """In words, compactly: what an agent could be told instead of all that came before."""
    facts: dict[str, Any]
    """The same as data."""


class Oracle(ABC):
    """What is known and what is next, for one instance."""

    @abstractmethod
    def state(self, history: Sequence[Made]) -> State:
        """What is known after these calls."""

    @abstractmethod
    def plan(self, history: Sequence[Made]) -> list[Subtask]:
        """All that could be done next on a shortest way to the goal, the first thing first; nothing at the
        end. Whatever is in the list stays right, and possible, when another thing of it is done before."""


def history_of(entries: Iterable[Entry]) -> list[Made]:
    """The calls of a journal as oracles look at them."""
    return [
        Made(
            service=entry.service,
            tool=entry.tool,
            arguments=entry.arguments,
            ok=entry.status == "ok",
            result=entry.result or "",
        )
        for entry in entries
        if entry.parent is None
    ]
