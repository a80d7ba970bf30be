"""Cost of an episode's life for a trainer: create, grade, delete; one by one and in batches.

    python benchmarks/training.py [--task canvas_arrange_exam ...] [--length 8k] [--sizes 1 8 32 128]

``--episodes 10000 --sizes 100`` is what a long training run asks for: ten thousand lives, in batches of a
hundred.

Server and client are one process here; the processes that judge count, too. Wall time says little on a
machine that has other things to do, so what processors spent is printed beside it, and the machine's load.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mesocosm
from mesocosm.families.family import family_names
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import BlockingServer, Order
from mesocosm.hosting.client.exchange import Refused
from mesocosm.hosting.server import serving
from mesocosm.worlds.garbage import look_rarely


def processor_seconds() -> float:
    """Of this process and those that it started."""
    tasks = Path("/proc/self/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    ticks = 0
    for process in [os.getpid(), *children]:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(what: str, episodes: int, live: Callable[[], object]) -> None:
    """Print what one episode costs."""
    used, started = processor_seconds(), time.perf_counter()
    live()
    wall, cpu = time.perf_counter() - started, processor_seconds() - used
    print(f"{what:<16}{wall / episodes * 1e3:7.1f} ms wall{cpu / episodes * 1e3:7.1f} ms of processors")


def one_by_one(server: BlockingServer, order: Order, episodes: int) -> None:
    """One life after the other."""
    for _ in range(episodes):
        episode = server.create_batch([order])[0]
        episode.grade()
        episode.delete()


def in_batches(server: BlockingServer, order: Order, episodes: int, size: int) -> None:
    """Many created, and many judged and deleted, in a request each."""
    for start in range(0, episodes, size):
        batch = server.create_batch([{**order, "count": min(size, episodes - start)}])
        server.grade_batch(batch, delete=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", nargs="*", default=["canvas_arrange_exam"], help="some, or all")
    parser.add_argument("--length", default="8k")
    parser.add_argument("--episodes", type=int, default=128)
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[1, 8, 32, 128], help="of batches; 1 is one by one"
    )
    options = parser.parse_args()
    look_rarely()  # as `mesocosm serve` does
    with tempfile.TemporaryDirectory() as folder:
        app = Hosting(Path(folder), admin_token="benchmark")
        with serving(app) as base, mesocosm.connect_sync(base, token="benchmark") as server:
            for task in family_names() if options.task == ["all"] else options.task:
                lives(server, {"task": task, "length": options.length}, options.episodes, options.sizes)


def lives(server: BlockingServer, order: Order, episodes: int, sizes: list[int]) -> None:
    """Print what the lives of episodes of a task cost."""
    print(f"{episodes} episodes of {order['task']}; load {os.getloadavg()[0]:.1f}", flush=True)
    try:
        in_batches(server, order, 16, 16)
    except Refused as refusal:
        print(refusal)
        return
    if 1 in sizes:
        measure("one by one", episodes, lambda: one_by_one(server, order, episodes))
    for size in [size for size in sizes if size > 1]:
        measure(f"batches of {size}", episodes, partial(in_batches, server, order, episodes, size))


if __name__ == "__main__":
    main()
