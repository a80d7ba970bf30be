"""Families as tasks of inspect_ai: each sample acts on an episode of its own and is judged by the checker."""

from __future__ import annotations

import logging
import math
import os
import re
import secrets
import shutil
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import orjson
from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from mesocosm.agents.loop import Conversation, check_final_text
from mesocosm.agents.strategies.registry import label, parse_strategies
from mesocosm.errors import UsageError
from mesocosm.evaluation.actors import actor
from mesocosm.evaluation.reasons import EpisodeErrored, explained
from mesocosm.evaluation.reports import WORLDS
from mesocosm.evaluation.resume import conversation_of, left_behind, take_up_usage
from mesocosm.evaluation.runs import CUT_OFF, FAULT_FILE, RunResult, judge
from mesocosm.evaluation.sample_episode import ACTING, STORED, Acting, Axes, acting
from mesocosm.evaluation.samples import SampleRow, explain, parameters_of_size
from mesocosm.evaluation.stage import (
    EvaluationStage,
    Settled,
    StageOrder,
    given_stage,
    local_stage,
    remote_stage,
    services_for,
    settle,
)
from mesocosm.families import program
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, known_as, load_family
from mesocosm.families.instances import check_parameters
from mesocosm.families.quantities import show_length
from mesocosm.worlds.limits import setting
from mesocosm.worlds.workspace import replace_file

if TYPE_CHECKING:
    pass

_log = logging.getLogger(__name__)

ROOM = 1_000_000
"""Bytes that a disk has left at least; below, a failure may be the disk's."""


# -- the task -------------------------------------------------------------------------------------------


def episode_task(
    families: Sequence[Family],
    *,
    lengths: Sequence[int] | None,
    seeds: Sequence[int] | None,
    parameters: Mapping[str, Any],
    axes: Axes,
    name: str,
    sizes: Sequence[int] | None = None,
    epochs: int | Epochs | None = None,
) -> Task:
    """A task of inspect_ai over instances of families: of every length, size and seed.

    Raises ``UsageError`` for parameters that no instance can have.
    """
    axes.check()
    if axes.final_text:
        for family in families:
            check_final_text(family.task.servers)
    samples = [
        _sample(family, length, seed, given, size)
        for family in families
        for size, given in _given(family, sizes, parameters)
        for length in _lengths(family, lengths, given)
        for seed in seeds or family.task.seeds
    ]
    for family in families:
        for _, given in _given(family, sizes, parameters):
            for length in _lengths(family, lengths, given):
                check_parameters(family, length, given)
    strategies = parse_strategies(axes.strategy)
    return Task(
        dataset=MemoryDataset(samples, name=name),
        setup=open_episode(axes),
        solver=act(axes),
        scorer=verdict(),
        metrics=[mean(), stderr(), step_accuracy()] if any(one.has_own_oracle for one in families) else None,
        cleanup=put_away,
        config=GenerateConfig(
            temperature=1.0,
            max_tokens=None if axes.max_tokens == 0 and axes.window is None else axes.answer,
            parallel_tool_calls=axes.parallel,
        ),
        epochs=epochs,
        name=name,
        # All samples are run, and a log with errors is not done: run again, it goes on with these.
        fail_on_error=True,
        continue_on_fail=True,
        metadata={
            "strategy": label(strategies),
            "structured": bool(setting("structured_results")),
            "window": axes.window,
            "agent": axes.agent,
            "services": list(axes.services),
            "made_with": program.parts(),
        },
    )


def _given(
    family: Family, sizes: Sequence[int] | None, parameters: Mapping[str, Any]
) -> list[tuple[int | None, dict[str, Any]]]:
    """The sizes and the parameters that they come with."""
    if not sizes:
        return [(None, dict(parameters))]
    return [(size, {**parameters_of_size(family, size), **parameters}) for size in dict.fromkeys(sizes)]


def _lengths(
    family: Family, lengths: Sequence[int] | None, parameters: Mapping[str, Any]
) -> Sequence[int | None]:
    if lengths:
        return lengths
    return [None] if parameters else family.task.lengths[:1]


def _sample(
    family: Family, length: int | None, seed: int, parameters: Mapping[str, Any], size: int | None
) -> Sample:
    shown = show_length(length) if length else "custom"
    shown += f"-n{size}" if size else ""
    order = {"task": family.name, "length": length, "seed": seed, "parameters": dict(parameters)}
    if (known := known_as(family)) != family.name:
        order["file"] = known
    return Sample(
        id=f"{family.name}-{shown}-s{seed}",
        # The prompt is known when the instance is built, which is when its turn comes.
        input=f"{family.task.title} ({shown}, seed {seed})",
        metadata=order,
    )


@solver
def open_episode(axes: Axes) -> Solver:
    """Build the instance, open an episode on it and put its prompt."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        needed = [name for one in parse_strategies(axes.strategy) for name in type(one).services]
        order = StageOrder(
            task=state.metadata.get("file", state.metadata["task"]),
            length=state.metadata["length"],
            seed=state.metadata["seed"],
            parameters=state.metadata["parameters"],
            services=services_for(axes.services, needed),
            tools=axes.tools,
            disturb=axes.disturb,
        )
        folder, log = _log_folder()
        sample = re.sub(r"[^A-Za-z0-9._-]", "_", f"{state.sample_id}-{state.epoch}")
        if found := left_behind(folder / WORLDS, log, sample):
            run, result = found
            told = _told(axes, order, "", str(run.relative_to(folder)), result.edl)
            talk = result.conversation
            state.store.set(STORED, {**told, "conversation": talk and talk.model_dump()})
            state.messages = conversation_of(run)
            if talk:
                take_up_usage(run, talk.model)
            return state
        with explained():
            stage = await anyio.to_thread.run_sync(_stage, axes.server, folder / WORLDS)
            opened = await anyio.to_thread.run_sync(stage.open, order, limiter=_limiter())
            calls = opened.calls_of(axes.max_calls)
        kept_as = f"{WORLDS}/{log}/{sample}-{opened.id[:6]}"
        place = folder / kept_as
        place.mkdir(parents=True)
        (place / "prompt.md").write_text(opened.prompt, encoding="utf-8")
        ACTING[opened.id] = Acting(order, opened, stage, axes, place, kept_as, calls)
        state.store.set(STORED, _told(axes, order, opened.id, kept_as, opened.edl))
        state.messages = [ChatMessageUser(content=opened.prompt)]
        return state

    return solve


def _told(axes: Axes, order: StageOrder, id_: str, world: str, edl: int) -> dict[str, Any]:
    """Return the entries of a sample's store that describe its episode."""
    return {
        "id": id_,
        "world": world,
        "edl": edl,
        "agent": axes.agent,
        "strategy": label(parse_strategies(axes.strategy)),
        "window": axes.window,
        "tools": axes.tools,
        "disturb": axes.disturb,
        "services": " ".join(order.services),
    }


def _stage(server: str | None, worlds: Path) -> EvaluationStage:
    if (elsewhere := given_stage()) is not None:
        return elsewhere
    if server:
        return remote_stage(server)
    worlds.mkdir(parents=True, exist_ok=True)
    return local_stage(worlds)


def _limiter() -> anyio.CapacityLimiter:
    """Episodes are opened by at most a few threads at a time: there is one disk."""
    return _opening


_opening = anyio.CapacityLimiter(8)


def _log_folder() -> tuple[Path, str]:
    """The folder of the log that is being written, and the log's name without its ending."""
    # There is no public way to learn it inside a sample.
    from inspect_ai.log._samples import sample_active

    active = sample_active()
    location = active.log_location if active else ""
    if not location or "://" in location.removeprefix("file://"):
        return Path(os.environ.get("INSPECT_LOG_DIR", "logs")).resolve(), "remote-" + secrets.token_hex(4)
    path = Path(location.removeprefix("file://"))
    return path.parent.resolve(), path.stem


# -- the agents -----------------------------------------------------------------------------------------


@solver
def act(axes: Axes) -> Solver:
    """Let the agent act on the episode, for as long as the task allows."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if not state.store.get(STORED)["id"]:
            return state  # it was taken up as an earlier process left it
        now = acting()
        try:
            with explained():
                return await actor(axes.agent)(state, now)
        except Exception:
            # Provider, tools or an agent of the user's broke: inspect_ai records it; so does the run's
            # folder.
            now.fault = traceback.format_exc()
            raise

    return solve


# -- the verdict ----------------------------------------------------------------------------------------


@metric
def step_accuracy() -> Metric:
    """The mean share of calls that were among the best when they were made; ``nan`` where none was made.

    With several epochs inspect_ai hands over the first one's; our reports read all of them.
    """

    def measure(scores: list[SampleScore]) -> float:
        told = [(one.score.metadata or {}).get("step_accuracy") for one in scores]
        known = [share for share in told if share is not None]
        return sum(known) / len(known) if known else math.nan

    return measure


@scorer(metrics=[mean(), stderr()])
def verdict() -> Scorer:
    """The checker's verdict: 1 or 0, its findings as the explanation. A fault of ours is an error."""

    async def score(state: TaskState, target: Target) -> Score:
        told = state.store.get(STORED)
        now = ACTING.get(told["id"])
        if now is None:  # `inspect score`, or taken up
            return await anyio.to_thread.run_sync(score_kept, _log_folder()[0], told, state.metadata)
        settled = now.settled = await anyio.to_thread.run_sync(
            now.stage.settle, now.opened.id, limiter=_limiter()
        )
        if settled.verdict.verdict == "failed" and shutil.disk_usage(now.folder).free < ROOM:
            now.fault = "the disk is full: what the agent did could not be kept"
        told = {**told, "conversation": now.conversation and now.conversation.model_dump()}
        state.store.set(STORED, told)
        return to_score(settled, now.fault, told, state.metadata)

    return score


def to_score(settled: Settled, fault: str | None, told: Mapping[str, Any], order: Mapping[str, Any]) -> Score:
    """A verdict as inspect_ai keeps it; ``EpisodeErrored`` where there is none.

    ``told`` is what the sample's store says of the episode, ``order`` its metadata.
    """
    conversation = Conversation.model_validate(told["conversation"]) if told.get("conversation") else None
    judged = judge(settled.verdict, fault, conversation)
    if judged.reward is None:
        raise EpisodeErrored(judged.error or "the episode could not be judged")
    row = SampleRow.of(
        judged,
        conversation,
        settled.reading,
        settled.measures,
        settled.steps,
        task=order["task"],
        length=order["length"],
        seed=order["seed"],
        tool_calls=settled.tool_calls,
        delivered_tokens=settled.delivered_tokens,
        disturb=told.get("disturb", ""),
        version=version_of(order),
        **{name: told[name] for name in ("edl", "agent", "strategy", "window", "tools", "services", "world")},
    )
    return Score(
        value=judged.reward,
        answer=judged.verdict,
        explanation=explain(judged.findings),
        metadata={**row.model_dump(), "findings": [check.model_dump() for check in judged.findings]},
    )


def version_of(order: Mapping[str, Any]) -> int:
    """The version of the task by whose rules a sample is judged."""
    return load_family(order.get("file", order["task"])).task.version


def score_kept(logs: Path, told: Mapping[str, Any], order: Mapping[str, Any]) -> Score:
    """Judge an episode that was kept with its log again, without running anything."""
    folder = logs / told["world"]
    fault = folder / FAULT_FILE
    episode = Episode(folder / "episode")
    try:
        settled = settle(episode)
    finally:
        episode.close()
    return to_score(settled, fault.read_text(encoding="utf-8") if fault.is_file() else None, told, order)


async def put_away(state: TaskState) -> None:
    """Keep the episode with the log, as a run's directory."""
    told = state.store.get(STORED)
    now = ACTING.pop(told["id"], None) if told else None
    if now is None:
        return
    await anyio.to_thread.run_sync(_keep, now, limiter=_limiter())


def _keep(now: Acting) -> None:
    if not now.settled:
        # Ctrl-C, say: what was not judged is no result, and is run again.
        now.fault = now.fault or CUT_OFF
    if now.fault:
        with suppress(OSError):  # a full disk: the log has the error
            (now.folder / FAULT_FILE).write_text(now.fault, encoding="utf-8")
    try:
        now.stage.keep(now.opened.id, now.folder / "episode")
    except UsageError as error:  # a server that is gone: the log says what became of the sample
        _log.warning("%s", error)
        return
    episode = Episode(now.folder / "episode")
    try:
        settled = now.settled or settle(episode)
    finally:
        episode.close()
    judged = judge(settled.verdict, now.fault, now.conversation)
    result = RunResult(
        **judged.model_dump(),
        task=now.order.task,
        length=now.order.length,
        seed=now.order.seed,
        agent=now.axes.agent,
        tools=now.axes.tools,
        disturb=now.axes.disturb,
        services=" ".join(now.order.services),
        parameters=dict(now.order.parameters),
        edl=now.opened.edl,
        tool_calls=settled.tool_calls,
        delivered_tokens=settled.delivered_tokens,
        episode="episode",
        seconds=None,
        measures=dict(settled.measures),
        steps=settled.steps,
        conversation=now.conversation,
    )
    with suppress(OSError):  # a full disk: the log has the verdict
        replace_file(now.folder / "run.json", orjson.dumps(result.model_dump(), option=orjson.OPT_INDENT_2))
