"""An episode as environments hand it to an agent: texts out, tool calls in, a judgement at the end."""

# All environments share this, so that the same calls get the same verdict in each (decision 077).

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mesocosm.errors import UsageError
from mesocosm.hosting.client import BlockingEpisode, BlockingServer, Grade, Order, Reward, UnknownEpisode

HOW = 'Answer with one JSON object and nothing else: {"tool": "NAME", "arguments": {...}}.'
"""Instructions to an agent about the form of its actions."""

_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.S)


class NotACall(Exception):
    """An action that is not a tool call; the text says what is missing."""


def parse_action(text: str) -> tuple[str, dict[str, Any]]:
    """Parse an action into tool and arguments; ``NotACall`` explains why it is none."""
    bare = text.strip()
    fenced = _FENCED.match(bare)
    try:
        action = json.loads(fenced[1] if fenced else bare)
    except (ValueError, RecursionError) as error:
        raise NotACall(f"Not a JSON object ({error}). {HOW}") from None
    if not isinstance(action, dict) or not isinstance(action.get("tool"), str):
        raise NotACall(f"The object has no tool's name as `tool`. {HOW}")
    arguments = action.get("arguments", {})
    if not isinstance(arguments, dict):
        raise NotACall(f"`arguments` is no object. {HOW}")
    if extra := sorted(set(action) - {"tool", "arguments"}):
        raise NotACall(f"Unknown key {extra[0]!r}. {HOW}")
    return action["tool"], arguments


@dataclass(frozen=True)
class Instances:
    """Instances of an environment, and the reward."""

    task: str
    length: str | int | None = None
    seeds: Sequence[int] = (0,)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tools: str = "needed"
    services: Sequence[str] = ()
    disturb: str = ""
    """Disturbances of its episodes."""
    reward: Reward = "verdict"
    shaping: float = 0.0
    """Reward for the progress of a whole episode, paid step by step (``progress_of``)."""
    max_calls: int | None = None
    """After which an episode is cut off; default: what follows from the instance."""
    abandoned_after: int | None = 7200
    """Seconds without a call after which the server takes this program to be gone and removes the episode."""

    def __post_init__(self) -> None:
        if not self.seeds:
            raise UsageError("an environment needs at least one seed to draw instances from")
        if self.max_calls is not None and self.max_calls < 1:
            raise UsageError(f"max_calls={self.max_calls}: at least one call is needed")
        if self.shaping < 0:
            raise UsageError(f"shaping={self.shaping}: progress cannot be punished")

    def order(self, seed: int) -> Order:
        """The order for one of its instances."""
        return {
            "task": self.task,
            "length": self.length,
            "seed": int(seed),
            "parameters": dict(self.parameters),
            "tools": self.tools,
            "services": list(self.services),
            "disturb": self.disturb,
            "abandoned_after": self.abandoned_after,
        }


def progress_of(grade: Grade) -> float | None:
    """Return an episode's progress from 0 to 1: half for the share of evidence that was delivered, half for
    what the state has ``gained`` (request it with the grade). ``None`` if errored.
    """
    if grade.reward is None or grade.evidence_delivered is None:
        return grade.reward
    return (grade.evidence_delivered + grade.reward) / 2


@dataclass(frozen=True)
class Turn:
    """Result of an action."""

    text: str
    """The text that the agent reads."""
    ended: bool = False
    """The agent has said that it is done."""
    cut_off: bool = False
    """It may make no more calls."""
    reward: float = 0.0
    """The step's reward for its progress; 0 without ``Instances.shaping``."""

    @property
    def over(self) -> bool:
        """True if the episode is to be judged now."""
        return self.ended or self.cut_off


class Play:
    """One episode being played; ``close`` removes it."""

    def __init__(self, server: BlockingServer, episode: BlockingEpisode, instances: Instances) -> None:
        self.server, self.episode, self._instances = server, episode, instances
        self._calls = 0
        self._progress = 0.0
        self._limit = instances.max_calls or int(episode.view.data["call_limit"])

    @property
    def seed(self) -> int:
        """Seed of the instance."""
        return int(self.episode.view.data["seed"])

    def act(self, action: str) -> Turn:
        """Make the call in a text. An invalid action gets an answer and counts as a call."""
        try:
            tool, arguments = parse_action(action)
        except NotACall as wrong:
            return self._turn(str(wrong), ended=False)
        return self.call(tool, arguments)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Turn:
        """Make a call."""
        result = self.episode.act(tool, arguments)
        return self._turn(result.text, ended=not result.is_error and tool in self.episode.view.ending)

    def _turn(self, text: str, *, ended: bool) -> Turn:
        self._calls += 1
        cut_off = not ended and self._calls >= self._limit
        return Turn(text, ended, cut_off, self._advance() if self._instances.shaping else 0.0)

    def _advance(self) -> float:
        """Reward the last step with the change in progress. Lost progress costs as much, so loops gain
        nothing.
        """
        before, self._progress = self._progress, self.progress()
        return self._instances.shaping * (self._progress - before)

    def progress(self) -> float:
        """Return the episode's progress (``progress_of``); while it is errored, the previous value."""
        found = progress_of(self.episode.grade("gained"))
        return self._progress if found is None else found

    @property
    def shaped(self) -> float:
        """Sum of all step rewards, for trainers that want one reward per episode."""
        return self._instances.shaping * self._progress

    def rollback(self, step: int) -> None:
        """Return to the state after ``step`` calls; invalid actions no longer count."""
        self._calls = self.episode.rollback(step).calls
        if self._instances.shaping:
            self._progress = self.progress()

    def grade(self) -> Grade:
        """Grade the present state."""
        return self.episode.grade(self._instances.reward)

    def close(self) -> None:
        """Remove the episode, unless it is gone already."""
        try:
            self.episode.delete()
        except UnknownEpisode:
            return
