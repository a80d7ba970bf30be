"""A Ray cluster on this machine, as a program of its own: nodes come and go as its standard input says.

    python tests/cluster.py
    add [PYTHONPATH]    a node with one processor; answers with its number
    kill NUMBER         the node's processes are gone from one moment to the next

The first line it prints is the address. Its first node has no processor: it only keeps the cluster.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from patience import PATIENCE


class Cluster:
    """A cluster of nodes with one processor each, in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = self._line()

    def add(self, pythonpath: str | Path = "") -> int:
        return int(self._ask(f"add {pythonpath}"))

    def kill(self, node: int) -> None:
        assert self._ask(f"kill {node}") == "gone"

    def close(self) -> None:
        self._process.communicate(timeout=PATIENCE)

    def _ask(self, what: str) -> str:
        assert self._process.stdin
        print(what, file=self._process.stdin, flush=True)
        return self._line()

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()


def main() -> None:
    """Serve until the input ends."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster as RayCluster

    nodes: list[Any] = []
    quickly = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": quickly}
    cluster = RayCluster(initialize_head=True, head_node_args=head)
    print(cluster.address, flush=True)
    for line in sys.stdin:
        word, _, told = line.strip().partition(" ")
        if word == "add":
            more = {"env_vars": {"PYTHONPATH": told}} if told else {}
            nodes.append(cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20, **more))
            print(len(nodes) - 1, flush=True)
        else:
            cluster.remove_node(nodes[int(told)], allow_graceful=False)
            print("gone", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
