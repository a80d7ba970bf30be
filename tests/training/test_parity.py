"""Score parity: what an agent did gets the same verdict through every environment as through us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml

import mesocosm
from mesocosm.doors.mcp import McpTools
from mesocosm.families.family import load_family
from mesocosm.families.quantities import parse_length
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import BlockingServer
from mesocosm.hosting.server import serving
from mesocosm.training.harbor import write_tasks

TOKEN = "token-of-the-test"
TASK, LENGTH, SEED = "refund_list", "8k", 1
Calls = Sequence[tuple[str, dict[str, Any]]]


@dataclass
class Host:
    base: str
    trajectories: dict[str, Calls]
    harbor: Path
    """The folder of the instance as a task of Harbor."""

    @property
    def options(self) -> dict[str, Any]:
        return {"task": TASK, "length": LENGTH, "url": self.base, "token": TOKEN}

    @cached_property
    def inspected(self) -> dict[str, float]:
        """The reward of each trajectory through inspect_ai, which takes a while to load."""
        asked = {**self.options, "seed": SEED, "trajectories": self.trajectories}
        return played(sys.executable, "inspect_player.py", asked)


@pytest.fixture(scope="module")
def host(base: str, tmp_path_factory: pytest.TempPathFactory) -> Host:
    out = tmp_path_factory.mktemp("harbor")
    written = write_tasks(load_family(TASK), [parse_length(LENGTH)], [SEED], out, parameters={})
    with mesocosm.connect_sync(base, token=TOKEN) as server:
        return Host(base, _trajectories(server), *written)


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


def played(python: str, player: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What a program beside this one prints that plays calls."""
    done = subprocess.run(
        [python, Path(__file__).with_name(player)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(mesocosm.__file__).parents[1]),
            "MESOCOSM_ADMIN_TOKEN": TOKEN,
        },
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


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


def through_openenv(host: Host, calls: Calls) -> float | None:
    return _through_another_python("OpenEnv", "openenv_player.py", host, calls)


def through_verifiers(host: Host, calls: Calls) -> float | None:
    return _through_another_python("verifiers", "verifiers_player.py", host, calls)


def _through_another_python(package: str, player: str, host: Host, calls: Calls) -> float | None:
    variable = f"MESOCOSM_TEST_{package.upper()}"
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{package} cannot be installed beside this; {variable} names no Python that has it")
    reward: float | None = played(python, player, {**host.options, "seed": SEED, "calls": calls})["reward"]
    return reward


def through_inspect(host: Host, calls: Calls) -> float | None:
    pytest.importorskip("inspect_ai", reason="the extra `eval` is not installed")
    return next(reward for name, reward in host.inspected.items() if host.trajectories[name] is calls)


def through_harbor(host: Host, calls: Calls) -> float | None:
    """As Harbor does it: on a server with the state in the task's folder; then the verifier runs."""
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(host.harbor / "environment" / "world" / "state.tar") as tar:
            tar.extractall(scratch, filter="data")
        compose = yaml.safe_load((host.harbor / "environment" / "docker-compose.yaml").read_text())
        token = compose["services"]["mesocosm"]["environment"]["MESOCOSM_ADMIN_TOKEN"]
        config = tomllib.loads((host.harbor / "task.toml").read_text())
        endpoint = config["environment"]["mcp_servers"][0]["url"]
        with serving(Hosting(Path(scratch) / "state", admin_token=token)) as base:
            given = {**os.environ, "MESOCOSM_URL": base}
            in_server = {**given, "VERDICT": f"{scratch}/verdict", "MESOCOSM_ADMIN_TOKEN": token}
            in_verifier = {"PATH": os.environ["PATH"], "VERIFIER_LOGS": f"{scratch}/logs"}
            if calls is host.trajectories["reference"]:
                subprocess.run([host.harbor / "solution" / "solve.sh"], env=given, check=True)
            else:
                with mesocosm.connect_sync(base, token=token) as server:
                    episode = server.episode(endpoint.split("/")[-2])
                    for tool, arguments in calls:
                        episode.act(tool, arguments)
            asking = host.harbor / "environment" / "world" / "verdict.py"
            subprocess.run([sys.executable, asking], env=in_server, check=True)
            in_verifier["VERDICT"] = in_server["VERDICT"]
            subprocess.run([host.harbor / "tests" / "test.sh"], env=in_verifier, check=True)
            return float((Path(scratch) / "logs" / "reward.txt").read_text())


WAYS: list[Callable[[Host, Calls], float | None]] = [
    through_us,
    through_gymnasium,
    through_gymnasium_vectors,
    through_trl,
    through_openenv,
    through_verifiers,
    through_inspect,
    through_harbor,
]


@pytest.mark.parametrize("trajectory", EXPECTED)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_verdict_is_the_same(
    host: Host, way: Callable[[Host, Calls], float | None], trajectory: str
) -> None:
    assert way(host, host.trajectories[trajectory]) == EXPECTED[trajectory]
