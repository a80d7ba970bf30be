"""Hosts on the nodes of a Ray cluster, behind one door."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from cluster import Cluster
from patience import PATIENCE

import mesocosm

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: pip install 'mesocosm[ray]'"),
    pytest.mark.skipif(find_spec("fsspec") is None, reason="needs fsspec: pip install 'mesocosm[store]'"),
]
TOKEN = "token-of-the-test"
ORDER: Any = {"task": "refund_list", "length": "8k", "seed": 1, "tools": "needed"}


class Served:
    """A door, and as many hosts as the cluster has nodes."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        options = ["--port", "0", "--state", str(folder / "state"), "--keep-every", "0"]
        options += ["--ray", cluster.address, "--store", f"file://{folder}/store"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mesocosm", "serve", *options],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "MESOCOSM_ADMIN_TOKEN": TOKEN},
        )
        assert self.process.stderr
        said = self.process.stderr.readline()
        found = re.search(r"http://\S+?:\d+", said)
        assert found, said + self.process.stderr.read()
        self.base = found[0]

    def get(self, path: str) -> Any:
        asked = urllib.request.Request(self.base + path, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(asked) as response:
            return json.loads(response.read())

    def addresses(self, count: int) -> set[str]:
        until = time.monotonic() + PATIENCE
        while len(hosts := self.get("/hosts")["hosts"]) < count:
            assert time.monotonic() < until, "a host does not come"
            time.sleep(0.1)
        return {host["address"] for host in hosts}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    yield cluster
    cluster.close()


def test_what_a_lost_node_had_is_served_by_the_others(cluster: Cluster, tmp_path: Path) -> None:
    nodes = [cluster.add(), cluster.add()]
    served = Served(tmp_path, cluster)
    try:
        with mesocosm.connect_sync(served.base, token=TOKEN, retries=20) as server:
            served.addresses(2)
            group = server.create_batch([{**ORDER, "count": 6}])
            for number, episode in enumerate(group):
                episode.call("filesystem", "write_file", path="a.txt", content=f"kept {number}")
            cluster.kill(nodes[0])
            for number, episode in enumerate(group):
                assert f"kept {number}" in episode.act("read_text_file", {"path": "a.txt"}).text
            listed = served.get("/episodes")
            assert (listed["total"], set(listed["episodes"])) == (6, {one.id for one in group})
            cluster.add()
            served.addresses(2)
            for number, episode in enumerate(group):  # those whose host is there again are moved back
                assert f"kept {number}" in episode.act("read_text_file", {"path": "a.txt"}).text
            server.grade_batch(group, delete=True)
            assert served.get("/episodes")["total"] == 0
    finally:
        served.process.send_signal(signal.SIGTERM)
        _, errors = served.process.communicate(timeout=PATIENCE)
        assert served.process.returncode == 0
        assert "Traceback" not in errors, errors
    assert not list((tmp_path / "store").glob("episodes/*"))
    assert len(list((tmp_path / "store").glob("holders/*"))) == 1  # of the node that was lost
