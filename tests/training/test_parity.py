"""Score parity: what an agent did gets the same verdict through every environment as through us."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import mesocosm
from mesocosm.doors.mcp import McpTools
from mesocosm.families.family import load_family
from mesocosm.hosting.client import BlockingServer

TOKEN = "token-of-the-test"
TASK, LENGTH, SEED = "refund_list", "8k", 1
Calls = Sequence[tuple[str, dict[str, Any]]]


@dataclass
class Host:
    base: str
    trajectories: dict[str, Calls]

    @property
    def options(self) -> dict[str, Any]:
        return {"task": TASK, "length": LENGTH, "url": self.base, "token": TOKEN}


@pytest.fixture(scope="module")
def host(base: str) -> Host:
    with mesocosm.connect_sync(base, token=TOKEN) as server:
        return Host(base, _trajectories(server))


def _trajectories(server: BlockingServer) -> dict[str, Calls]:
    """Calls by the names that the endpoint of all services has for them."""
    episode = server.create(TASK, length=LENGTH, seed=SEED, tools="needed")
    family = load_family(TASK)
    with McpTools(episode.url) as tools:
        family.solve(tools, episode.prompt, family.read_expected(json.dumps(episode.truth()).encode()))
    solved = [(call["tool"], call["arguments"]) for call in episode.journal()]
    episode.delete()
    written = next(number for number, (tool, _) in enumerate(solved) if tool == "write_file")
    content = solved[written][1]["content"]
    one_row_less = content[: content.rstrip("\n").rindex("\n") + 1]
    mutant = list(solved)
    mutant[written] = ("write_file", {**solved[written][1], "content": one_row_less})
    refused = [("get_emails", {"page": "two"}), ("no_such_tool", {}), ("read_text_file", {"path": "no/file"})]
    done = [("claim_done", {})]
    return {"reference": solved, "nothing": done, "mutant": mutant, "refused calls": [*refused, *solved]}


EXPECTED = {"reference": 1.0, "nothing": 0.0, "mutant": 0.0, "refused calls": 1.0}


def through_us(host: Host, calls: Calls) -> float | None:
    with mesocosm.connect_sync(host.base, token=TOKEN) as server:
        episode = server.create(TASK, length=LENGTH, seed=SEED, tools="needed")
        for tool, arguments in calls:
            episode.act(tool, arguments)
        return server.grade_batch([episode], delete=True)[0].reward


def through_gymnasium(host: Host, calls: Calls) -> float | None:
    gymnasium = pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")
    pytest.importorskip("mesocosm.training.gymnasium")
    environment = gymnasium.make("mesocosm/Episode-v0", seeds=[SEED], **host.options)
    environment.reset(seed=0)
    for tool, arguments in calls:
        _, reward, terminated, _, info = environment.step(json.dumps({"tool": tool, "arguments": arguments}))
    environment.close()
    assert terminated
    assert info["verdict"] == ("passed" if reward else "failed")
    return float(reward)


def through_gymnasium_vectors(host: Host, calls: Calls) -> float | None:
    gymnasium = pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")
    pytest.importorskip("mesocosm.training.gymnasium")
    environments = gymnasium.make_vec("mesocosm/Episode-v0", num_envs=2, seeds=[SEED], **host.options)
    environments.reset(seed=0)
    for tool, arguments in calls:
        action = json.dumps({"tool": tool, "arguments": arguments})
        _, rewards, terminated, _, _ = environments.step([action, f"```json\n{action}\n```"])
    environments.close()
    assert terminated.all()
    assert rewards[0] == rewards[1]
    return float(rewards[0])


def through_trl(host: Host, calls: Calls) -> float | None:
    from mesocosm.training.trl import environment

    options = host.options
    rollout = environment(options.pop("task"), **options)()
    rollout.reset(prompt=[{"role": "user", "content": ""}], seed=SEED, length=LENGTH)
    for tool, arguments in calls:
        if method := getattr(rollout, tool, None):
            method(**arguments)
    reward = rollout.get_reward()
    rollout._play.close()
    rollout._server.close()
    return reward


WAYS: list[Callable[[Host, Calls], float | None]] = [
    through_us,
    through_gymnasium,
    through_gymnasium_vectors,
    through_trl,
]


@pytest.mark.parametrize("trajectory", EXPECTED)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_verdict_is_the_same(
    host: Host, way: Callable[[Host, Calls], float | None], trajectory: str
) -> None:
    assert way(host, host.trajectories[trajectory]) == EXPECTED[trajectory]
