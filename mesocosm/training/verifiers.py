"""verifiers: episodes of a server as an environment of ``verifiers.v1``, for its trainers and evaluations.

::

    from mesocosm.training.verifiers import load_environment
    env = load_environment("refund_list", length="8k", seeds=range(100))

A task is an instance. Each rollout has an episode of its own, whose tools the agent's harness reaches over
MCP, whatever harness that is; the state it leaves is judged by the server, and the episode is removed.

As a plugin (``eval my_episodes --env.taskset.family refund_list``) it is a module of yours with one line, of
whatever name: ``from mesocosm.training.verifiers import *``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.agent import Agents
from verifiers.v1.mcp import SharedToolServer

from mesocosm.hosting.client import Grade, Order, connect
from mesocosm.training.play import Instances, progress_of

__all__ = ["EpisodeEnv", "Episodes"]

PLUGIN = "mesocosm_episodes"
"""The name by which verifiers finds this module when it was loaded by ``load_environment``."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class EpisodeData(vf.TaskData):
    """An instance."""

    seed: int


class EpisodesConfig(vf.TasksetConfig):
    """Instances and rewards of the environment: see ``Instances``."""

    family: str = ""
    """Name of the task."""
    length: str | int | None = None
    seeds: list[int] = Field(default_factory=lambda: [0])
    parameters: dict[str, Any] = Field(default_factory=dict)
    tools: str = "needed"
    services: list[str] = Field(default_factory=list)
    disturb: str = ""
    reward: Literal["verdict", "findings", "gained"] = "verdict"
    shaping: float = 0.0
    abandoned_after: int | None = 7200
    url: str | None = None
    """The server; else that in ``MESOCOSM_URL``. Its token is taken from ``MESOCOSM_ADMIN_TOKEN`` alone."""


class EpisodeTask(vf.Task[EpisodeData]):
    """An instance; its prompt is known when its episode is opened."""


class Episodes(vf.Taskset[EpisodeTask, EpisodesConfig]):
    """The instances of a task by their seeds."""

    def load(self) -> Iterator[EpisodeTask]:
        """One task for each seed."""
        for seed in self.instances.seeds:
            name = f"{self.config.family}-{self.config.length or 'default'}-s{seed}"
            yield EpisodeTask(EpisodeData(id=name, name=name, seed=seed), self.config.task)

    @property
    def instances(self) -> Instances:
        """The order sent to the server."""
        of = self.config
        return Instances(
            of.family,
            length=of.length,
            seeds=of.seeds,
            parameters=of.parameters,
            tools=of.tools,
            services=of.services,
            disturb=of.disturb,
            reward=of.reward,
            shaping=of.shaping,
            abandoned_after=of.abandoned_after,
        )


class EpisodeEnvConfig(vf.EnvConfig):
    """The one agent that acts; ``max_turns`` and the like are its own."""

    agent: vf.AgentConfig = vf.AgentConfig()


class Errored(RuntimeError):
    """A fault of the server may be why an episode did not pass: it is no sample."""


class EpisodeEnv(vf.Env[EpisodeEnvConfig]):
    """Opens an episode for each rollout, lets the agent act on it over MCP, and judges it."""

    async def run(self, task: vf.Task[EpisodeData], agents: Agents) -> None:
        """One rollout."""
        taskset = self.taskset
        assert isinstance(taskset, Episodes)
        order: Order = taskset.instances.order(task.data.seed)
        async with connect(taskset.config.url) as server:
            episode = (await server.create_batch([order]))[0]
            try:
                trace = await agents.agent.run(
                    task.with_data(prompt=episode.prompt), tools={"mesocosm": _endpoint(episode.url)}
                )
                grade = await episode.grade(taskset.instances.reward)
                far = progress_of(await episode.grade("gained")) if taskset.config.shaping else None
            finally:
                await episode.delete()
        if grade.reward is None:
            raise Errored(f"{task.data.name} is errored: a fault of the server's may be why it did not pass")
        _record(trace, grade, taskset.config.reward)
        if far is not None:
            trace.record_reward("shaping", taskset.config.shaping * far)


def _endpoint(url: str) -> SharedToolServer:
    """An episode's tools, which are none of verifiers' own servers."""
    return SharedToolServer(url=url, local=urlsplit(url).hostname in _LOOPBACK, external=True)


def _record(trace: vf.Trace, grade: Grade, reward: str) -> None:
    trace.record_reward(reward, grade.reward)
    trace.record_metrics(
        {
            "passed": float(grade.verdict == "passed"),
            "findings": sum(one.passed for one in grade.findings) / max(1, len(grade.findings)),
            "tool_calls": float(grade.tool_calls),
            "delivered_tokens": float(grade.delivered_tokens),
        }
    )


def load_environment(
    family: str,
    *,
    url: str | None = None,
    seeds: Sequence[int] = (0,),
    agent: vf.AgentConfig | Mapping[str, Any] | None = None,
    **options: Any,
) -> EpisodeEnv:
    """An environment of a task's episodes; its ``taskset`` has the instances.

    Args:
        family: Name of the task.
        url: The server; else that in ``MESOCOSM_URL``. Its token stands in ``MESOCOSM_ADMIN_TOKEN``.
        seeds: Which instances.
        agent: Harness, runtime and limits of the agent.
        options: ``length``, ``parameters``, ``tools``, ``services``, ``disturb``, ``reward`` and ``shaping``.
    """
    sys.modules.setdefault(PLUGIN, sys.modules[__name__])
    taskset = EpisodesConfig(id=PLUGIN, family=family, url=url, seeds=[int(one) for one in seeds], **options)
    given = {} if agent is None else {"agent": agent}
    env = vf.load_environment(EpisodeEnvConfig(taskset=taskset, **given))
    assert isinstance(env, EpisodeEnv)
    return env
