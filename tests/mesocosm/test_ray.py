"""Work spread over a Ray cluster: the same bytes as on one machine, whatever becomes of its nodes."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from cluster import Cluster
from commands import mesocosm
from patience import PATIENCE

from mesocosm.families.instances import fingerprint

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: pip install 'mesocosm[ray]'")
SUITE = ("--tasks", "listworld,puzzle", "--lengths", "8k")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    for _ in range(2):
        cluster.add()
    yield cluster
    cluster.close()


def test_a_node_that_dies_costs_nothing_but_time(cluster: Cluster, tmp_path: Path) -> None:
    dying = cluster.add()
    words = ("suite", "build", *SUITE, "--seeds", "0-2")
    spread = tmp_path / "spread"

    def kill_when_it_has_begun() -> None:
        while not list(spread.glob("*/*/*")):
            time.sleep(0.05)
        cluster.kill(dying)

    killer = threading.Thread(target=kill_when_it_has_begun)
    killer.start()
    done = mesocosm(*words, "--out", spread, "--ray", cluster.address)
    killer.join()
    assert done.returncode == 0, done.stderr
    assert mesocosm(*words, "--out", tmp_path / "here", "--workers", 1).returncode == 0
    assert fingerprint(spread) == fingerprint(tmp_path / "here")


def test_proofs_are_spread_and_resumed(cluster: Cluster, tmp_path: Path) -> None:
    words = ("suite", "prove", *SUITE, "--resume", tmp_path / "proofs", "--ray", cluster.address, "--json")
    assert mesocosm(*words, "--seeds", "0").returncode == 0
    first = (tmp_path / "proofs").read_text()
    done = mesocosm(*words, "--seeds", "0-1")
    assert len(json.loads(done.stdout)) == 4, done.stderr
    assert (tmp_path / "proofs").read_text().startswith(first)


def test_a_node_with_another_version_is_named_and_refused(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "mesocosm").mkdir()
    (tmp_path / "mesocosm" / "__init__.py").write_text("__version__ = '0.0.9'\n")
    other = cluster.add(tmp_path)
    # Ray's workers look into the driver's working folder, too: it must not be the one with this very code.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = mesocosm("suite", "build", *SUITE, "--out", "out", "--ray", cluster.address, cwd=elsewhere)
    cluster.kill(other)
    assert done.returncode == 2
    assert "mesocosm is 0.0.9 there" in done.stderr


@pytest.mark.parametrize("listens", [True, False])
def test_a_cluster_that_is_not_there_is_no_long_wait(listens: bool, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listens:
            taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ("suite", "build", *SUITE, "--out", tmp_path / "out", "--ray", address)
        done = mesocosm(*words, timeout=PATIENCE)
    assert done.returncode == 2, done.stderr
    assert f"--ray {address}" in done.stderr


def test_datasets_and_reports_are_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    lumina = (
        "dataset",
        "lumina",
        "--tasks",
        "listworld",
        "--horizons",
        "10",
        "--seeds",
        "0-3",
        "--players",
        "0.9",
    )
    played = ("report", "lumina", "--calibrate", "listworld", "--horizons", "10", "--episodes", 4, "--json")
    for name, where in (("spread", ("--ray", cluster.address)), ("here", ("--workers", 1))):
        assert (
            mesocosm(*lumina, "--players", "0.9", "--out", tmp_path / f"{name}.jsonl", *where).returncode == 0
        )
        done = mesocosm(*played, *where)
        (tmp_path / f"{name}.json").write_text(done.stdout)
    for kind in ("jsonl", "json"):
        spread = (tmp_path / f"spread.{kind}").read_bytes()
        assert spread.count(b"\n") == (4 if kind == "jsonl" else 1)
        assert spread == (tmp_path / f"here.{kind}").read_bytes()


def test_samples_of_a_node_that_dies_are_acted_on_another(cluster: Cluster, tmp_path: Path) -> None:
    dying = cluster.add()
    words = [
        "eval",
        "listworld",
        "--length",
        "8k",
        "--seeds",
        "0-5",
        "--agent",
        "reference",
        "--max-samples",
        3,
    ]
    words += ["--log-dir", tmp_path / "logs", "--json"]

    def kill_when_some_are_done() -> None:
        while not list(tmp_path.glob("logs/worlds/*/*/run.json")):
            time.sleep(0.05)
        cluster.kill(dying)

    killer = threading.Thread(target=kill_when_some_are_done)
    killer.start()
    done = mesocosm(*words, "--ray", cluster.address, MESOCOSM_SERVER_WAIT="3")
    killer.join()
    assert done.returncode == 0, done.stderr
    [one] = json.loads(done.stdout)
    assert (one["passed"], one["errored"]) == (6, 0)
    # Where the episodes were is no part of what was evaluated: here, there is nothing left to do.
    again = mesocosm(*words)
    assert json.loads(again.stdout)[0]["log"] == one["log"], again.stderr
