"""OpenEnv: episodes of a server behind OpenEnv's own protocol, one a session, as many at once as are wanted.

::

    MESOCOSM_URL=... MESOCOSM_ADMIN_TOKEN=... MESOCOSM_TASK=refund_list MESOCOSM_LENGTH=8k \\
        uvicorn --factory mesocosm.training.openenv:application

OpenEnv needs a ``fastmcp`` that goes with an older ``mcp`` than Mesocosm's server does. So it has a Python
environment of its own, in which this package is installed without what it requires, and with ``httpx2``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_types import (
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    Tool,
)
from openenv.core.env_server.types import Action, Observation, State

from mesocosm.errors import UsageError
from mesocosm.hosting.client import connect_sync
from mesocosm.training.play import Instances, Play


class Asked(Observation):
    """Observation at the start of an episode."""

    prompt: str
    seed: int
    edl: int


class EpisodeEnvironment(Environment[Action, Observation, State]):
    """One episode after the other.

    ``CallToolAction`` makes a call, whose observation has the text as ``result``; ``ListToolsAction`` lists
    the tools. The last observation of an episode is ``done``, with the reward (``None`` where it is errored),
    and the verdict and the findings in ``metadata``.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, instances: Instances, *, url: str | None = None, token: str | None = None) -> None:
        super().__init__()
        self._instances = instances
        self._server = connect_sync(url, token=token)
        self._play: Play | None = None
        self._steps = 0
        self._over = False

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Asked:
        """A new episode; ``seed`` names its instance."""
        self._end()
        order = self._instances.order(self._instances.seeds[0] if seed is None else seed)
        self._play = Play(self._server, self._server.create_batch([order])[0], self._instances)
        self._steps, self._over = 0, False
        view = self._play.episode.view
        return Asked(prompt=view.prompt, seed=self._play.seed, edl=view.edl)

    def step(self, action: Action, timeout_s: float | None = None, **_: Any) -> Observation:
        """List the tools, or call one."""
        if self._play is None:
            raise UsageError("there is no episode: call reset first")
        if isinstance(action, ListToolsAction):
            return ListToolsObservation(tools=[_tool(tool) for tool in self._play.episode.tools()])
        if not isinstance(action, CallToolAction):
            raise UsageError(f"an action is CallToolAction or ListToolsAction, not {type(action).__name__}")
        if self._over:
            raise UsageError("the episode is over: call reset")
        turn = self._play.call(action.tool_name, action.arguments)
        self._steps, self._over = self._steps + 1, turn.over
        seen = CallToolObservation(tool_name=action.tool_name, result=turn.text)
        if self._instances.shaping:
            seen.reward = turn.reward
        if turn.over:
            grade = self._play.grade()
            findings = dict[str, bool]()
            for one in grade.findings:  # goals of one sort may share their name
                findings[one.name] = findings.get(one.name, True) and one.passed
            seen.done, seen.reward = True, None if grade.reward is None else grade.reward + turn.reward
            seen.metadata = {"verdict": grade.verdict, "findings": findings, "cut_off": turn.cut_off}
        return seen

    @property
    def state(self) -> State:
        """The number of calls. The id of OpenEnv's episode is not ours, which would open the world."""
        return State(step_count=self._steps)

    def close(self) -> None:
        """Remove the episode that is open, and the connections."""
        self._end()
        self._server.close()

    def _end(self) -> None:
        if self._play is not None:
            self._play.close()
            self._play = None


def _tool(tool: Any) -> Tool:
    return Tool(name=tool.name, description=tool.description, input_schema=dict(tool.input_schema))


def factory(
    task: str, *, url: str | None = None, token: str | None = None, **options: Any
) -> Callable[[], Any]:
    """Make an environment factory for OpenEnv's ``create_app``. The options are those of ``Instances``."""
    instances = Instances(task, **options)
    return lambda: EpisodeEnvironment(instances, url=url, token=token)


def application() -> Any:
    """OpenEnv's application for the task that the environment variables name."""
    task = os.environ.get("MESOCOSM_TASK")
    if not task:
        raise UsageError("name a task in MESOCOSM_TASK")
    given: dict[str, Any] = {"reward": reward} if (reward := os.environ.get("MESOCOSM_REWARD")) else {}
    shaping = float(os.environ.get("MESOCOSM_SHAPING", "0"))
    make = factory(task, length=os.environ.get("MESOCOSM_LENGTH"), shaping=shaping, **given)
    sessions = int(os.environ.get("MESOCOSM_SESSIONS", "64"))
    return create_app(
        make, CallToolAction, CallToolObservation, env_name="mesocosm", max_concurrent_envs=sessions
    )
