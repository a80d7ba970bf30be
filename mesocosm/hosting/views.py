"""Requests and responses of the control plane."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

import mesocosm
from mesocosm.doors.mail import MAIL_SERVICE
from mesocosm.families import grading
from mesocosm.families.episode import Episode
from mesocosm.families.evidence_coverage import EvidenceCoverage, read_journal
from mesocosm.families.oracle import StepAccuracy
from mesocosm.families.quantities import MAX_SEED
from mesocosm.families.task import Offer
from mesocosm.families.verdict import Verdict
from mesocosm.hosting.expiry import MIN_ABANDONED
from mesocosm.hosting.pool import HostedEpisode
from mesocosm.hosting.tokens import Quota
from mesocosm.services.service import ending_tools

MAX_BATCH = 1000
"""Episodes that one request may be about."""
FIRST = "Mesocosm-First"
"""Header of a batch that is part of a larger one: the number of its first episode there."""
OTHER_TABLES = (
    "the episode was made by another version of Mesocosm, whose tables are not those of this one: it goes on "
    "where that version serves it"
)
STRICT = "Reward 0 instead of null where it is errored"

RewardKind = Literal["verdict", "findings", "gained"]
"""Ways to reward: that every finding passed (0 or 1), the share of them that did, or the share that was won
since the world was built."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewEpisode(_Body):
    """An instance to build. Give a length, or the generator's parameters, or neither for the shortest
    default.
    """

    task: str = Field(description="Name of a task", examples=["canvas_arrange_exam"])
    length: str | int | None = Field(
        default=None, description="Target length in tokens", examples=["32k", 64000]
    )
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    parameters: dict[str, Any] = Field(default={}, description="Parameters of the generator")
    tools: Offer = Field(
        default="all",
        description="Offer all tools of the task, those that are needed, or some by name with commas",
    )
    services: list[str] = Field(
        default=[],
        max_length=100,
        description="Services to offer besides the task's own",
        examples=[["memory_tool"]],
    )
    disturb: str = Field(
        default="",
        max_length=400,
        description="Disturb it on purpose",
        examples=["light", "rate_limits=0.1,errors=0.05"],
    )
    abandoned_after: int | None = Field(
        default=None,
        ge=MIN_ABANDONED,
        le=365 * 86_400,
        description="Seconds without a call after which its client is taken to be gone and it is removed",
    )


class NewEpisodes(NewEpisode):
    """One or more episodes on one instance."""

    count: int = Field(
        default=1, ge=1, le=MAX_BATCH, description="How many episodes, as for a group of rollouts"
    )


class Orders(_Body):
    """An instance to build for many episodes."""

    episodes: list[NewEpisodes] = Field(min_length=1, max_length=MAX_BATCH)


class GradeOrder(_Body):
    """Episodes to judge, and how."""

    ids: list[str] = Field(min_length=1, max_length=MAX_BATCH)
    reward: RewardKind = "verdict"
    strict: bool = Field(default=False, description=STRICT)
    delete: bool = Field(default=False, description="Remove them when all of them are judged")


class HostsUp(_Body):
    """Hosts that serve, by a door; the highest turn counts."""

    up: list[int]
    turn: int
    tokens: list[Quota] = []


class SnapshotName(_Body):
    """Name of a snapshot."""

    name: str = Field(examples=["before-sending"])


class StepNumber(_Body):
    """Number of a step."""

    step: int = Field(ge=0, le=2**62, description="Number of a call in the journal; 0: as it was built")


class EpisodeView(BaseModel):
    """An episode as the control plane shows it."""

    id: str
    task: str
    seed: int
    target: int | None
    edl: int
    tools: Offer
    disturb: str = ""
    abandoned_after: int | None = None
    calls: int
    least_calls: int | None = Field(
        default=None, description="Calls without which the task cannot be done, where it is known"
    )
    call_limit: int | None = Field(
        default=None, description="Calls after which whoever runs it should end it, unless told otherwise"
    )
    ended: bool
    snapshots: list[str]
    ending: list[str] = Field(
        description="Tools that say that the agent is done, as the endpoint of all services calls them"
    )
    prompt: str
    mcp: str = Field(description="Path of the endpoint with all services")
    services: dict[str, str] = Field(description="Path of each service's endpoint")
    apis: dict[str, str] = Field(description="Base path of each vendor's API; the token is the episode's id")
    mail: dict[str, int] = Field(
        description="Ports of IMAP and SMTP. User: the mailbox's address; password: the episode's id"
    )


class EpisodePage(BaseModel):
    """One page of the list of episodes."""

    episodes: list[str]
    total: int


class Grade(BaseModel):
    """The judgement of an episode, and what the agent used."""

    verdict: Verdict
    reward: float | None = Field(description="Of the kind that was asked for; null where it is errored")
    tool_calls: int
    delivered_tokens: int
    measures: dict[str, int]
    steps: StepAccuracy | None = Field(description="How many calls were among the best, where that is known")
    reading: EvidenceCoverage = Field(description="What was read of the evidence, and what was read again")


class GradedEpisode(Grade):
    """The judgement of one of several episodes."""

    id: str


class Grades(BaseModel):
    """The judgements of several episodes, in the order in which they were asked for."""

    grades: list[GradedEpisode]


class EpisodeBatch(BaseModel):
    """Several new episodes, in the order in which they were asked for."""

    episodes: list[EpisodeView]


class JournalPage(BaseModel):
    """Some calls of an episode."""

    calls: list[dict[str, Any]]
    last: int = Field(description="Number of the last call of the episode")


class Health(BaseModel):
    """Health of the process, with its version."""

    status: Literal["ok"] = "ok"
    version: str = mesocosm.__version__


async def view(hosted: HostedEpisode) -> EpisodeView:
    """An episode that is hosted, between two calls."""

    def look(episode: Episode) -> EpisodeView:
        prefix = f"/e/{hosted.id}"
        return EpisodeView(
            id=hosted.id,
            **episode.info.model_dump(),
            calls=episode.world.calls.counted,
            least_calls=episode.least_calls,
            call_limit=episode.call_limit,
            ended=episode.world.calls.ended,
            snapshots=episode.snapshots(),
            ending=sorted(ending_tools(episode.world.all_services)),
            prompt=episode.prompt,
            mcp=f"{prefix}/mcp",
            services={name: f"{prefix}/{name}/mcp" for name in episode.world.services},
            apis={name: f"{prefix}/{name}" for name in hosted.apis},
            mail=hosted.mail_ports if episode.world.is_open(MAIL_SERVICE) else {},
        )

    return await hosted.look(look)


def judge(episode: Episode, strict: bool, reward: RewardKind = "verdict") -> Grade:
    """Judge the present state of an episode that this process has open."""
    verdict, (calls, delivered) = grading.grade(episode), episode.usage()
    verdict = verdict.strictly() if strict else verdict
    return Grade(
        verdict=verdict,
        reward=_reward(episode, verdict, reward),
        tool_calls=calls,
        delivered_tokens=delivered,
        measures=episode.measures,
        steps=episode.step_accuracy(),
        reading=EvidenceCoverage() if verdict.verdict == "errored" else read_journal(episode),
    )


def _reward(episode: Episode, verdict: Verdict, kind: RewardKind) -> float | None:
    """Compute the reward; the verdict decides if an internal error may have cost a pass."""
    if kind == "gained":
        return verdict.gained(grading.untouched(episode))
    if kind == "findings" and verdict.verdict != "errored":
        return verdict.score
    return verdict.reward


def journal_page(episode: Episode, after: int, limit: int) -> JournalPage:
    """Some calls of an episode, from the one after ``after``."""
    journal = episode.world.journal
    calls = [entry.shown() for entry in journal.entries(after, limit)]
    return JournalPage(calls=calls, last=journal.last)
