"""Environments of trainers: how they begin, end, refuse and clean up. Verdicts: ``test_parity.py``."""

from __future__ import annotations

import inspect
import json
import os
import runpy
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving
from mesocosm.training.play import NotACall, parse_action
from mesocosm.training.trl import environment

TASK: dict[str, Any] = {"task": "refund_list", "length": "8k", "token": "token-of-the-test"}
DONE = json.dumps({"tool": "claim_done"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am done.",
        "[]",
        '{"tool": 1}',
        '{"tool": "x", "arguments": []}',
        '{"tool": "x", "args": {}}',
        "[" * 9999,
    ],
)
def test_what_is_no_call_is_said(text: str) -> None:
    with pytest.raises(NotACall, match=r'\{"tool": "NAME", "arguments": \{\.\.\.\}\}'):
        parse_action(text)


def test_an_environment_keeps_gymnasiums_promises(base: str, hosting: Hosting) -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")
    from gymnasium.utils.env_checker import check_env

    from mesocosm.training.gymnasium import Environment

    before = hosting.pool.ids()
    one = Environment(url=base, seeds=range(1, 3), max_calls=2, **TASK)
    with warnings.catch_warnings():
        # It says so of every environment that it was not given by `gymnasium.make`.
        warnings.filterwarnings("ignore", message=".*(spec|render)")
        check_env(one, skip_render_check=True)
    asked, info = one.reset(options={"seed": 2})
    assert (info["seed"], asked) == (2, one.reset(options={"seed": 2})[0])
    assert "get_emails" in {tool["function"]["name"] for tool in info["tools"]}
    text, reward, ended, cut_off, info = one.step("Let me think.")
    assert ("Not a JSON object" in text, reward, ended, cut_off, info) == (True, 0, False, False, {})
    _, reward, ended, cut_off, info = one.step('{"tool": "get_emails", "arguments": {"page": "two"}}')
    assert (reward, ended, cut_off, info["verdict"]) == (0, False, True, "failed")
    with pytest.raises(gymnasium.error.ResetNeeded):
        one.step(DONE)
    one.reset(seed=1)
    call = '{"tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}}'
    assert not one.step(call)[3]
    one.rollback(0)
    assert not one.step(call)[3]
    assert one.step(call)[3]
    one.close()
    assert hosting.pool.ids() == before


def test_an_episode_of_a_vector_that_is_over_is_followed_by_a_new_one(base: str, hosting: Hosting) -> None:
    pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")
    from mesocosm.training.gymnasium import VectorEnvironment

    before = hosting.pool.ids()
    many = VectorEnvironment(num_envs=2, url=base, seeds=[1], reward="gained", **TASK)
    asked, infos = many.reset(seed=3)
    assert asked in many.observation_space
    assert infos["seed"].tolist() == [1, 1]
    texts, rewards, ended, _, infos = many.step((DONE, '{"tool": "get_emails"}'))
    assert ended.tolist() == [True, False]
    assert (infos["verdict"].tolist(), rewards.tolist()) == (["failed", None], [0, 0])
    texts, _, ended, _, infos = many.step(("ignored", DONE))
    assert (texts[0], ended.tolist(), infos["_seed"].tolist()) == (asked[0], [False, True], [True, False])
    many.close()
    assert hosting.pool.ids() == before


def test_goals_of_one_sort_are_gained_one_by_one(base: str) -> None:
    """The little task of the language model: four files, each a finding of the same name."""
    task = Path(__file__).parents[2] / "docs" / "examples" / "language_model" / "tasks" / "parcels.yaml"
    rewards = []
    with mesocosm.connect_sync(base, token=TASK["token"]) as m:
        [episode] = m.create_batch([{"task": str(task), "length": "8k", "seed": 0}])
        for place in ("north", "south", "east", "west"):
            note = episode.act("read_text_file", {"path": f"notes/{place}.txt"}).text
            episode.act("write_file", {"path": f"{place}.txt", "content": note.split()[-1].strip(".")})
            rewards.append(episode.grade("gained").reward)
        episode.act("write_file", {"path": "north.txt", "content": "Paris"})
        rewards.append(episode.grade("gained").reward)
        episode.delete()
    assert rewards == [0.25, 0.5, 0.75, 1, 0.75]


def test_the_example_learns(base: str) -> None:
    pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")
    example = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "examples" / "train_gridworld.py"))
    rewards = example["train"](80, size=2, seed=0, url=base, token=TASK["token"])
    assert sum(rewards[-20:]) > sum(rewards[:20])


def test_trl_itself_trains_on_episodes(base: str, tmp_path: Path) -> None:
    python = os.environ.get("MESOCOSM_TEST_TRL")
    if not python:
        pytest.skip("MESOCOSM_TEST_TRL names no Python that has trl, torch and httpx2")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [python, root / "docs" / "examples" / "train_with_trl.py", "--steps", "1"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(root),
            "MESOCOSM_URL": base,
            "MESOCOSM_ADMIN_TOKEN": TASK["token"],
        },
    )
    assert "steps 1 to 1: mean reward 0." in done.stdout, done.stderr


def test_tools_become_methods_for_trl(base: str) -> None:
    kind = environment(url=base, seeds=[1], max_calls=3, **TASK)
    tools = [name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")]
    assert {"reset", "get_reward", "get_emails", "write_file", "claim_done"} <= set(tools)
    write = inspect.signature(kind.write_file)  # type: ignore[attr-defined]
    assert [str(one) for one in write.parameters.values()] == ["self", "path: str", "content: str"]
    assert str(inspect.signature(kind.get_emails).parameters["page"]) == "page: int | None = None"  # type: ignore[attr-defined]
    tax = environment(url=base, seeds=[1], **{**TASK, "tools": "all"}).woo_tax_rates_create  # type: ignore[attr-defined]
    assert "class_" in inspect.signature(tax).parameters
    rollout: Any = kind()
    assert rollout.get_reward() is None
    asked = rollout.reset(prompt=[], seed=1)
    assert "call claim_done" in asked
    assert rollout.reset(prompt=[{"role": "user", "content": f"Please: {asked}"}], seed=1) is None
    assert "'page'" in rollout.get_emails(page="two")
    assert "Done" in rollout.claim_done() or rollout._over
    assert "over" in rollout.get_emails()
    assert rollout.get_reward() == 0
    rollout._play.close()
    kind._server.close()


def test_transformers_reads_the_methods(base: str) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    kind = environment(url=base, seeds=[1], **TASK)
    schema = transformers.utils.get_json_schema(kind().read_email)  # type: ignore[attr-defined]
    assert schema["function"]["name"] == "read_email"
    assert schema["function"]["parameters"]["required"] == ["email_id"]
    kind._server.close()


@pytest.mark.parametrize("wrong", [{"seeds": []}, {"max_calls": 0}, {"task": "nope"}])
def test_what_cannot_be_an_environment_is_refused(base: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        environment(url=base, **{**TASK, **wrong})


def test_the_class_of_trl_closes_what_is_open(base: str, hosting: Hosting) -> None:
    before = hosting.pool.ids()
    kind = environment(url=base, seeds=[1], **TASK)
    first, second = kind(), kind()
    first.reset(prompt=[], seed=1)
    second.reset(prompt=[], seed=1)
    second.reset(prompt=[], seed=1)
    assert len(hosting.pool.ids()) == len(before) + 2
    tools = [name for name, _ in inspect.getmembers(kind, inspect.isfunction)]
    assert "close" not in tools  # as TRL looks for tools
    kind.close()
    assert hosting.pool.ids() == before
    kind.close()


LEAVING = """
from mesocosm.training.trl import environment
rollout = environment("refund_list", length="8k")()
rollout.reset(prompt=[], seed=1)
if {killed}:
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_program_that_ends_leaves_nothing_behind(tmp_path: Path) -> None:
    """What it leaves when it is killed goes when nothing was heard of it for long, unless it is kept."""
    root = str(Path(__file__).parents[2])

    def leave(base: str, *, killed: bool) -> None:
        given = {"PYTHONPATH": root, "MESOCOSM_URL": base, "MESOCOSM_ADMIN_TOKEN": TASK["token"]}
        subprocess.run([sys.executable, "-c", LEAVING.format(killed=killed)], env={**os.environ, **given})

    def host(**options: Any) -> Hosting:
        return Hosting(tmp_path, admin_token=TASK["token"], **options)

    app = host()
    with serving(app) as base:
        leave(base, killed=False)
        assert app.pool.ids() == []
        leave(base, killed=True)
        (id_,) = app.pool.ids()
    folder = app.pool.path(id_)
    for path in (folder, *(folder / "world").glob("journal.db*")):
        os.utime(path, (0, path.stat().st_mtime - 7300))
    app = host(expire_abandoned=False)
    with serving(app), pytest.raises(AssertionError):
        until(lambda: app.pool.ids() == [], 1)
    app = host()
    with serving(app):
        until(lambda: app.pool.ids() == [], PATIENCE)


def until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_steps_are_paid_for_progress_if_that_is_asked_for(base: str) -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")
    import mesocosm.training.gymnasium  # noqa: F401

    wanted = {"url": base, "seeds": [1], "max_calls": 8, **TASK}
    one = gymnasium.make("mesocosm/Episode-v0", shaping=0.5, **wanted)
    one.reset(seed=1)
    read = '{"tool": "woo_orders_list", "arguments": {"perPage": 100}}'
    found, again = one.step(read)[1], one.step(read)[1]
    assert 0 < found < 0.25  # half of 0.5 is for evidence, of which the mails have some
    assert again == 0
    last = one.step(DONE)
    assert last[1:3] == (0, True)
    one.close()
    many = gymnasium.make_vec("mesocosm/Episode-v0", num_envs=2, shaping=0.5, **wanted)
    many.reset(seed=1)
    assert many.step((read, '{"tool": "get_emails", "arguments": {"page": "two"}}'))[1].tolist() == [found, 0]
    many.close()
    rollout: Any = environment(shaping=0.5, **wanted)()
    rollout.reset(prompt=[], seed=1)
    rollout.woo_orders_list(perPage=100)
    assert rollout.get_reward() == found
    rollout.close()
    with pytest.raises(UsageError, match="shaping"):
        environment(shaping=-1, **wanted)


def test_the_example_of_a_shop_acts_and_learns(base: str, hosting: Hosting) -> None:
    """One step on one instance; the guide has the curve of a whole training."""
    before = hosting.pool.ids()
    example = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "examples" / "train_on_a_shop.py"))
    with mesocosm.connect_sync(base, token=TASK["token"]) as server:
        right = [1, 1, 1, 0, 1, 1]
        rewards = example["rollouts"](server, 0, None, [right, [0, 2, 2, 1, 0, 0]])
    assert rewards[0] > 0.6 > rewards[1]
    policy = example["Policy"](0)
    policy.learn([right, [0, 2, 2, 1, 0, 0]], rewards, rate=1.0)
    assert [policy.shares(place)[value] > 0.34 for place, value in enumerate(right)] == [True] * 6
    assert hosting.pool.ids() == before
