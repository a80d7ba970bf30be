"""Actors of a sample: the plain loop, the reference solver, nobody, a command, or the user's own agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio.to_thread
from inspect_ai.agent import is_agent
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.solver import TaskState

from mesocosm.agents.players import Player
from mesocosm.agents.scripted.ability import needs_truth
from mesocosm.agents.scripted.known_truth import known
from mesocosm.agents.strategies.registry import load_object
from mesocosm.errors import UsageError
from mesocosm.evaluation.reasons import EpisodeErrored, reason_of
from mesocosm.evaluation.resume import calls_made
from mesocosm.evaluation.runs import act_command, act_player, act_reference
from mesocosm.evaluation.sample_episode import Acting, episode_tools, in_time, run_agent, talk
from mesocosm.families.family import load_family

SHOWN_LOG = 20_000
"""Characters of what a program wrote that the log shows; ``agent.log`` beside the episode has all."""

Actor = Callable[[TaskState, Acting], Awaitable[TaskState]]


async def _react(state: TaskState, now: Acting) -> TaskState:
    await _tell(state, now)
    limits = load_family(now.order.task).task.limits
    rounds = now.axes.max_failed_rounds
    await talk(state, now, limits.seconds, limits.failed_rounds if rounds is None else rounds)
    return state


async def _tell(state: TaskState, now: Acting) -> None:
    """Tell a scripted model what a solution in YAML has to know."""
    family = load_family(now.order.task)
    if needs_truth(str(state.model), family):
        expected = await anyio.to_thread.run_sync(now.stage.truth, now.opened.id, family)
        known.tell(family, now.opened.prompt, expected)


async def _reference(state: TaskState, now: Acting) -> TaskState:
    family = load_family(now.order.task)
    expected = None
    if family.solver == "solution":
        expected = await anyio.to_thread.run_sync(now.stage.truth, now.opened.id, family)
    fault = await anyio.to_thread.run_sync(
        act_reference, family, now.opened.mcp, now.opened.prompt, "auto", expected, bool(now.order.disturb)
    )
    if fault:
        raise EpisodeErrored(reason_of(fault))
    return state


async def _none(state: TaskState, now: Acting) -> TaskState:
    return state


async def _command(state: TaskState, now: Acting) -> TaskState:
    seconds = load_family(now.order.task).task.limits.seconds
    opened = now.opened
    assert now.axes.command
    act = partial(act_command, hidden=now.folder.parents[1:2])  # the worlds of all samples
    ended = await anyio.to_thread.run_sync(
        act, now.axes.command, opened.mcp, opened.services, opened.prompt, seconds, now.folder
    )
    if access := now.stage.access(opened.id):
        state.messages += calls_made(await access.do(lambda episode: list(episode.world.journal.entries())))
    written = (now.folder / "agent.log").read_text(encoding="utf-8", errors="replace")
    state.messages.append(ChatMessageAssistant(content=written[-SHOWN_LOG:] or "(it wrote nothing)"))
    if ended.failure:
        now.fault = ended.failure
    return state


async def _random(state: TaskState, now: Acting) -> TaskState:
    access = now.stage.access(now.opened.id)
    if access is None:
        raise UsageError("--agent random needs an episode of this process: leave --server out")
    player = Player(0.0, now.order.seed)
    fault = await anyio.to_thread.run_sync(act_player, player, now.opened.mcp, access, "auto")
    if fault:
        raise EpisodeErrored(reason_of(fault))
    return state


_KNOWN: dict[str, Actor] = {
    "react": _react,
    "reference": _reference,
    "none": _none,
    "random": _random,
    "command": _command,
}


def actor(name: str) -> Actor:
    """An agent by its name, or as ``module::function`` or ``file.py::function``.

    The function is called with the episode's tools and returns an agent of inspect_ai.
    """
    if name in _KNOWN:
        return _KNOWN[name]
    if "::" not in name:
        raise UsageError(
            f"unknown agent {name!r}; there are: {', '.join(_KNOWN)} (or module::function, file.py::function)"
        )
    make = load_object(name)

    async def own(state: TaskState, now: Acting) -> TaskState:
        await _tell(state, now)
        agent = make(episode_tools())
        if not is_agent(agent):
            raise UsageError(f"{name} returned no agent of inspect_ai")
        seconds = load_family(now.order.task).task.limits.seconds
        await in_time(seconds, lambda: run_agent(agent, state))
        return state

    return own
