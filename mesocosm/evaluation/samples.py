"""Record of one sample, whatever became of it: a row of every table of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from mesocosm.agents.loop import Conversation
from mesocosm.errors import UsageError
from mesocosm.evaluation.failures import classify
from mesocosm.families.evidence_coverage import EvidenceCoverage
from mesocosm.families.family import Family
from mesocosm.families.oracle import StepAccuracy
from mesocosm.families.verdict import Check, Verdict


class SampleRow(BaseModel):
    """One sample. Everything is small and flat, so that it fits into the summary of a log."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)

    task: str
    length: int | None
    seed: int
    edl: int = 0
    version: int = 0
    """Of the task, by whose rules it was judged; 0: not known."""
    agent: str = "react"
    strategy: str = "none"
    window: int | None = None
    tools: str = "all"
    disturb: str = ""
    """How the episode was disturbed on purpose."""
    services: str = ""
    """Services added at run time, separated by blanks."""
    verdict: Literal["passed", "failed", "errored", "cancelled"] = "errored"
    """Cancelled: the evaluation was interrupted before it was judged."""
    score: float | None = None
    """The share of findings that passed."""
    missed: str = ""
    """Names of the findings that did not pass, separated by blanks."""
    ended: str | None = None
    tool_calls: int = 0
    """Counted by the server."""
    delivered_tokens: int = 0
    """Tokens of the results that tools delivered, counted by the server."""
    turns: int | None = None
    trajectory_length: int | None = None
    largest_context: int | None = None
    removed_tokens: int | None = None
    output_tokens: int | None = None
    own_seconds: float | None = None
    evidence: int = 0
    coverage: float | None = None
    """The share of the evidence that was delivered."""
    density: float | None = None
    """Tokens of results that hold evidence, as a share of the description length."""
    re_reads: int = 0
    refused_calls: int = 0
    coerced_calls: int = 0
    """Calls of which an argument was taken as another value than was sent."""
    horizon: int | None = None
    """Calls of an optimal policy, in families that know."""
    height: int | None = None
    """The longest chain of dependencies, in dependency trees."""
    steps: int | None = None
    """Calls that were judged one by one, in families that know the best ones."""
    step_accuracy: float | None = None
    """The share of these that were among the best when they were made."""
    confidence: float | None = None
    """The model's confidence at the end, from 0 to 1, if it was asked."""
    failure: str = ""
    """Class of the failure (``failures.CLASSES``), or empty."""
    world: str = ""
    """Folder of the kept episode, relative to the log; empty if not kept."""

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        conversation: Conversation | None = None,
        reading: EvidenceCoverage | None = None,
        measures: Mapping[str, int] | None = None,
        steps: StepAccuracy | None = None,
        **known: Any,
    ) -> SampleRow:
        measured = measures or {}
        told: dict[str, Any] = {"horizon": horizon_of(measured), "height": measured.get("height")}
        if steps:
            told |= {"steps": steps.calls, "step_accuracy": steps.share}
        if reading:
            told |= {
                "evidence": reading.evidence,
                "coverage": reading.coverage,
                "density": reading.density,
                "re_reads": reading.re_reads,
                "refused_calls": reading.refused,
                "coerced_calls": reading.coerced,
                "failure": classify(verdict, reading, conversation),
            }
        if conversation:
            told |= {
                "ended": conversation.ended,
                "turns": conversation.turns,
                "trajectory_length": conversation.trajectory_length,
                "largest_context": conversation.largest_context,
                "removed_tokens": sum(conversation.removed_tokens.values()),
                "output_tokens": conversation.output_tokens,
                "own_seconds": conversation.own_seconds,
                "confidence": conversation.confidence,
            }
        missed = " ".join(check.name for check in verdict.findings if not check.passed)
        return cls(**known, **told, verdict=verdict.verdict, score=verdict.score, missed=missed[:900])


def horizon_of(measures: Mapping[str, int]) -> int | None:
    """The calls of an optimal policy: the operations of a dependency tree are as many."""
    return measures.get("horizon", measures.get("operations"))


def explain(findings: Sequence[Check]) -> str:
    return "\n".join(
        f"{'ok  ' if check.passed else 'FAIL'} {check.name}" + (f": {check.detail}" if check.detail else "")
        for check in findings
    )


WORLDS = ("listworld", "treeworld", "gridworld")
"""Worlds whose horizon is the number of calls of an optimal policy."""
_OPERATIONS = "operations"


def sized(task: str, horizon: int) -> dict[str, Any]:
    """Parameters with which an optimal policy needs so many calls (list), or about as many."""
    if task not in WORLDS:
        raise UsageError(f"{task!r} is none of {', '.join(WORLDS)}")
    if horizon < 2:
        raise UsageError(f"a horizon has at least 2 calls; got {horizon}")
    return {
        "listworld": {"removals": horizon - 1, "kept": horizon},
        "treeworld": {"nodes": max(2, round(horizon / 0.6))},
        "gridworld": {"size": max(2, round(horizon / 1.4))},
    }[task]


def parameters_of_size(family: Family, n: int) -> dict[str, Any]:
    """Parameters of a family with which an instance has the size ``n``; ``UsageError`` where it has none."""
    if family.name in WORLDS:
        return sized(family.name, n)
    if _OPERATIONS in family.params_type.model_fields:
        return {_OPERATIONS: n}
    raise UsageError(
        f"{family.name} has no number of operations and no horizon that --n could set; give --length"
    )
