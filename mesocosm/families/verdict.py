"""Checks and verdicts: what a checker finds in the final state, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from mesocosm.services.calling import Tools
    from mesocosm.worlds.world import World


_SHOWN = 5
"""How many differences a finding names."""


class Check(BaseModel):
    """One finding of a checker."""

    model_config = ConfigDict(frozen=True)

    name: str
    passed: bool
    detail: str = ""
    """What was found, and for a failure what was expected."""


def finding(name: str, wrong: Iterable[object]) -> Check:
    """The check that nothing is wrong; its detail names the first few things that are."""
    found = [str(one) for one in wrong]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return Check(name=name, passed=not found, detail="; ".join(found[:_SHOWN]) + more)


class Verdict(BaseModel):
    """The judgement of one episode."""

    verdict: Literal["passed", "failed", "errored"]
    reward: float | None
    """1 when every check passed, 0 when one did not; ``None`` when the fault is ours."""
    score: float | None
    """The share of checks that passed; for reading, not for ranking."""
    findings: list[Check]
    error: str | None = None
    """Why the episode is errored."""

    @classmethod
    def of(cls, findings: list[Check]) -> Verdict:
        """The verdict that follows from a checker's findings."""
        passed = all(check.passed for check in findings)
        score = sum(check.passed for check in findings) / len(findings)
        return cls(
            verdict="passed" if passed else "failed", reward=float(passed), score=score, findings=findings
        )

    @classmethod
    def errored(cls, error: str) -> Verdict:
        """The verdict of an episode that could not be judged because of a fault of ours."""
        return cls(verdict="errored", reward=None, score=None, findings=[], error=error)


@dataclass(frozen=True)
class Mutant:
    """A near miss: a change to the solved state that the checker must refuse, for a stated reason."""

    name: str
    breaks: str | frozenset[str]
    """Name of the check that must fail, or names of which one must."""
    apply: Callable[[World, Any], None]
    """``apply(world, expected)`` changes the solved world; raises ``Inapplicable`` if it has no place."""


@dataclass(frozen=True)
class Misreading:
    """A near miss that is made through the tools: what an agent does who has misread something."""

    name: str
    breaks: frozenset[str]
    """Names of checks of which one at least must fail."""
    start: Callable[[Tools, Any], None]
    """What such agents do alike; done once for all misreadings that share it."""
    act: Callable[[Tools, Any], None]
    """``act(tools, expected)`` does the rest, wrongly; raises ``Inapplicable`` if it has no place."""


class Inapplicable(Exception):
    """This instance has nothing that the mutant could change (say, no course without an exam)."""
