"""Oracles: at any step of an episode, the true state and the best next steps.

An oracle belongs to the control plane: it knows what the checker knows, and no tool of the agent leads to it.
It is asked about a world and the calls that led to it, whoever made them.
"""

# The oracle sees only the calls, so it works on any prefix of any agent's trajectory (decision 041).

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from mesocosm.worlds.journal import Entry

if TYPE_CHECKING:
    from mesocosm.services.world import World


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
    """Goal as told to an agent."""
    calls: list[Call]
    """Calls that achieve it."""


class State(BaseModel):
    """Knowledge of an agent that made these calls and forgot nothing."""

    model_config = ConfigDict(frozen=True)

    text: str
    """In words, compactly: what an agent could be told instead of all that came before."""
    facts: dict[str, Any]
    """The same as data."""


Lapse = Literal["halted_early", "lead_lost", "reasoned_wrongly"]
"""Ways to fail at gathering and combining: stopping with an unfollowed lead; losing one among later ones;
combining everything wrongly."""


class Oracle(ABC):
    """An instance's oracle: what is known, and what comes next."""

    def prepare(self) -> None:
        """Do expensive work that depends on the instance alone, so that no answer has to wait."""
        return

    @abstractmethod
    def state(self, world: World, journal: Sequence[Made]) -> State:
        """Return what is known after these calls, which led to this world."""

    @abstractmethod
    def plan(self, world: World, journal: Sequence[Made]) -> list[Subtask]:
        """List steps on a shortest way to the goal, the next one first; empty at the goal. Each stays valid
        when another is done first.
        """

    def legal(self, world: World, journal: Sequence[Made]) -> Sequence[Call] | None:
        """All calls that are not in vain now; ``None`` where they cannot be listed."""
        return None

    def judge(self, journal: Sequence[Made]) -> list[bool] | None:
        """Of each call that matters to the task, whether it was among the best that could be made then;
        ``None`` where this cannot be told."""
        return None

    def lapse(self, journal: Sequence[Made]) -> Lapse | None:
        """Explain how these calls went wrong; ``None`` if this cannot be told."""
        return None

    def brief(self, prompt: str, *, state: bool, plan: bool) -> str:
        """The prompt for an agent that is told the state, the plan or both before every turn."""
        told = [f"{label} ({what})" for on, label, what in ((state, *STATE), (plan, *PLAN)) if on]
        if not told:
            return prompt
        return f"{prompt.rstrip()}\n\nBefore each of your turns you are told: {' and '.join(told)}.\n"


STATE = ("State", "what is known so far")
PLAN = ("Plan", "what to do next")


def advice(state: str | None, plan: str | None) -> str:
    """Return the advice for an agent before a turn."""
    told = ((STATE[0], state), (PLAN[0], plan))
    return "\n".join(f"{label}: {text}" for label, text in told if text is not None)


class StepAccuracy(BaseModel):
    """Number of an episode's calls that were optimal when they were made."""

    model_config = ConfigDict(frozen=True)

    calls: int
    """Calls that were judged."""
    optimal_calls: int
    """Those of them that were among the best."""

    @property
    def share(self) -> float | None:
        """The step accuracy; ``None`` where no call was made."""
        return self.optimal_calls / self.calls if self.calls else None


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
