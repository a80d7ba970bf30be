"""Gymnasium: episodes as environments whose observations and actions are texts.

::

    import gymnasium, mesocosm.training.gymnasium
    env = gymnasium.make("mesocosm/Episode-v0", task="refund_list", length="8k", seeds=range(100))

An action is one call as JSON, ``{"tool": "get_emails", "arguments": {"page": 2}}``. The reward comes with
the last step (with ``shaping``, some of it with each): when the agent has said that it is done (*terminated*)
or may make no more calls (*truncated*). ``info`` of the first observation has the tools, that of the last the
verdict and the findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mesocosm.hosting.client import Grade, connect_sync
from mesocosm.training.play import HOW, Instances, Play, Turn

MAX_CHARACTERS = 10_000_000
_WORDS = "abcdefghijklmnopqrstuvwxyz "


class Texts(gymnasium.Space[str]):
    """Texts of any characters; ``gymnasium.spaces.Text`` would have to list them all."""

    def __init__(self, max_length: int = MAX_CHARACTERS, seed: int | None = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """A text is no array."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A few letters: an action that is refused."""
        return "".join(self.np_random.choice(list(_WORDS), size=int(self.np_random.integers(1, 40))))

    def contains(self, x: Any) -> bool:
        """True for a text within the maximum length."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texts) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((Texts, self.max_length))

    def __repr__(self) -> str:
        return f"Texts({self.max_length})"


def _first_info(play: Play) -> dict[str, Any]:
    tools = [tool.listing for tool in play.episode.tools()]
    return {"seed": play.seed, "edl": play.episode.view.edl, "how": HOW, "tools": tools}


def _last_info(grade: Grade) -> dict[str, Any]:
    findings = [(finding.name, finding.passed, finding.detail) for finding in grade.findings]
    return {
        "verdict": grade.verdict,
        "errored": grade.verdict == "errored",
        "findings": findings,
        "tool_calls": grade.tool_calls,
        "delivered_tokens": grade.delivered_tokens,
    }


class Environment(gymnasium.Env[str, str]):
    """Episodes of a task, one after the other.

    Args:
        task: Its name. Further options are those of ``Instances``: ``length``, ``seeds`` (which instances are
            drawn from), ``parameters``, ``tools``, ``services``, ``reward``, ``shaping`` and ``max_calls``.
        url: The server; else that in ``MESOCOSM_URL``.
        token: Its admin token; else that in ``MESOCOSM_ADMIN_TOKEN``.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(
        self, task: str, *, url: str | None = None, token: str | None = None, **options: Any
    ) -> None:
        self._instances = Instances(task, **options)
        self._server = connect_sync(url, token=token)
        self._play: Play | None = None
        self.observation_space = Texts()
        self.action_space = Texts()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """A new episode. ``options={"seed": n}`` names the instance; else one is drawn from ``seeds``, always
        the same ones after the same ``seed``."""
        super().reset(seed=seed)
        self._end()
        wanted = (options or {}).get("seed")
        if wanted is None:
            wanted = self._instances.seeds[int(self.np_random.integers(len(self._instances.seeds)))]
        episode = self._server.create_batch([self._instances.order(wanted)])[0]
        self._play = Play(self._server, episode, self._instances)
        return episode.prompt, _first_info(self._play)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Make a call. An errored episode has the reward 0 and ``info["errored"]``: leave it out."""
        if self._play is None:
            raise gymnasium.error.ResetNeeded("there is no episode: call reset first")
        turn = self._play.act(action)
        if not turn.over:
            return turn.text, turn.reward, False, False, {}
        grade = self._play.grade()
        self._end()
        return turn.text, turn.reward + (grade.reward or 0.0), turn.ended, turn.cut_off, _last_info(grade)

    def rollback(self, step: int) -> None:
        """Return to the state after ``step`` calls, before the episode is over; later calls are forgotten."""
        if self._play is None:
            raise gymnasium.error.ResetNeeded("there is no episode: it is over, or reset was not called yet")
        self._play.rollback(step)

    def close(self) -> None:
        """Remove the episode that is open, and the connections."""
        self._end()
        self._server.close()

    def _end(self) -> None:
        if self._play is not None:
            self._play.close()
            self._play = None


class VectorEnvironment(VectorEnv[tuple[str, ...], tuple[str, ...], NDArray[Any]]):
    """Several episodes of a task at once: made and judged in one request each, acted on at the same time.

    An episode that is over is followed by a new one with the next step (``AutoresetMode.NEXT_STEP``), whose
    action for it is not looked at.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        url: str | None = None,
        token: str | None = None,
        **options: Any,
    ) -> None:
        self._instances = Instances(task, **options)
        self._server = connect_sync(url, token=token)
        self._threads = ThreadPoolExecutor(num_envs, "mesocosm-vector")
        self._plays: list[Play] = []
        self._over = np.zeros(num_envs, dtype=bool)
        self.num_envs = num_envs
        self.single_observation_space = self.single_action_space = Texts()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """New episodes. ``options={"seeds": [...]}`` names the instances, which are drawn else."""
        super().reset(seed=seed)
        self._close(self._plays)
        self._plays = self._open((options or {}).get("seeds") or self._draw(self.num_envs))
        self._over[:] = False
        infos: dict[str, Any] = {}
        for number, info in enumerate(self._threads.map(_first_info, self._plays)):
            infos = self._add_info(infos, info, number)
        return tuple(play.episode.prompt for play in self._plays), infos

    def step(
        self, actions: Sequence[str]
    ) -> tuple[tuple[str, ...], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Make a call in each; those that were over begin anew."""
        if not self._plays:
            raise gymnasium.error.ResetNeeded("there are no episodes: call reset first")
        infos: dict[str, Any] = {}
        texts, rewards = [""] * self.num_envs, np.zeros(self.num_envs)
        begin = np.flatnonzero(self._over).tolist()
        for number, play in zip(begin, self._open(self._draw(len(begin))) if begin else [], strict=True):
            self._plays[number], texts[number] = play, play.episode.prompt
            infos = self._add_info(infos, _first_info(play), number)
        acting = np.flatnonzero(~self._over).tolist()
        turns = dict(
            zip(
                acting, self._threads.map(lambda one: self._plays[one].act(actions[one]), acting), strict=True
            )
        )
        for number, grade in self._judge(turns).items():
            rewards[number] = grade.reward or 0.0
            infos = self._add_info(infos, _last_info(grade), number)
        for number, turn in turns.items():
            texts[number] = turn.text
            rewards[number] += turn.reward
        ended, cut_off = (
            np.array([number in turns and getattr(turns[number], how) for number in range(self.num_envs)])
            for how in ("ended", "cut_off")
        )
        self._over = ended | cut_off
        return tuple(texts), rewards, ended, cut_off, infos

    def close_extras(self, **_: Any) -> None:
        """Remove the episodes that are open, and the connections."""
        self._close([play for play, over in zip(self._plays, self._over, strict=False) if not over])
        self._threads.shutdown()
        self._server.close()

    def _draw(self, number: int) -> list[int]:
        seeds = self._instances.seeds
        return [int(seeds[place]) for place in self.np_random.integers(len(seeds), size=number)]

    def _open(self, seeds: Sequence[int]) -> list[Play]:
        episodes = self._server.create_batch([self._instances.order(seed) for seed in seeds])
        return [Play(self._server, episode, self._instances) for episode in episodes]

    def _judge(self, turns: Mapping[int, Turn]) -> dict[int, Grade]:
        """The judgements of those that are over, which are removed with them."""
        over = [number for number, turn in turns.items() if turn.over]
        if not over:
            return {}
        episodes = [self._plays[number].episode for number in over]
        grades = self._server.grade_batch(episodes, self._instances.reward, delete=True)
        return dict(zip(over, grades, strict=True))

    def _close(self, plays: Sequence[Play]) -> None:
        list(self._threads.map(Play.close, plays))


gymnasium.register(
    "mesocosm/Episode-v0",
    entry_point="mesocosm.training.gymnasium:Environment",
    vector_entry_point="mesocosm.training.gymnasium:VectorEnvironment",
)
