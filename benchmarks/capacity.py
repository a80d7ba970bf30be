"""Capacity for many open episodes and many calls a second: measurements of one host, and a simulation of
many.

    python benchmarks/capacity.py measure > figures.json         about a minute
    python benchmarks/capacity.py plan figures.json [--episodes 100000] [--rate 50000] [--plot capacity.svg]

*measure*: memory, disk, processor time and bytes of an episode and of a call, on this machine; processor time
rather than the clock, so that other work on the machine shows little. The calls are those of a survey: all
there is to read.
*plan*: calls come as a Poisson process, on episodes drawn evenly. Each waits for its door (one process, one
call at a time), then for its host (the same), whose time for a call is drawn from those measured. Queues are
exact (Lindley's recursion); what they leave out is the network, other processes, and writes that wait for a
disk.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from hosts import LENGTH, TASK, rate

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_length
from mesocosm.hosting.pool import EpisodePool
from mesocosm.worlds.garbage import leave_modules_out

EPISODES = 300
SECONDS = 2.0
"""Of arrivals in a simulation; the first quarter warms it up and is not counted."""
P99_MS = 50.0
"""The limit of what is good enough: 99 of 100 calls are answered within so long."""
CORES = 8
"""Of a machine: one for a door, the others for hosts."""


# -- measuring -----------------------------------------------------------------------------------------------


def resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def own_bytes(folder: Path) -> int:
    """Bytes on the disk that belong to a folder alone: what is linked elsewhere is counted there."""
    found = [one.lstat() for one in [folder, *folder.rglob("*")]]
    # A folder has more than one link anyway.
    return sum(one.st_blocks * 512 for one in found if one.st_nlink == 1 or stat.S_ISDIR(one.st_mode))


def measure() -> dict[str, Any]:
    """The figures of one host."""
    family = load_family(TASK)
    with tempfile.TemporaryDirectory(prefix="mesocosm-capacity-") as name:
        folder = Path(name)
        instance = build_instance(family, 0, folder / "instance", target=parse_length(LENGTH))
        calls = [(one.service, one.tool, one.arguments) for one in instance.survey.results]
        pool = EpisodePool(folder / "state", max_open=EPISODES + 1)
        pool.get(pool.adopt(instance.path, family)).episode.world.call(*calls[0])
        before = resident()
        ids = [pool.adopt(instance.path, family) for _ in range(EPISODES)]
        idle = resident() - before
        fresh = own_bytes(pool.path(ids[0]))
        worlds = [pool.get(id_).episode.world for id_ in ids]
        for world in worlds:
            for service in dict.fromkeys(service for service, *_ in calls):
                world.call(*next(call for call in calls if call[0] == service))
        opened = resident() - before
        for call in calls:  # what is loaded when it is first needed
            worlds[-1].call(*call)
        leave_modules_out()
        took, sent = [], []
        for world in worlds[:20]:
            for call in calls:
                began = time.process_time()
                outcome = world.call(*call)
                took.append((time.process_time() - began) * 1e3)
                sent.append(len(outcome.text.encode()))
        files = len(os.listdir("/proc/self/fd"))
        grown = own_bytes(pool.path(ids[0])) - fresh
        pool.close()
    light = rate(1, 10, 16)
    mean = float(np.mean(took))
    # A call over HTTP costs the host what was measured of a small one, and what this one does more.
    wire = max(0.0, light["host_ms"] - float(np.percentile(took, 10)))
    return {
        "task": {"task": TASK, "length": LENGTH},
        "load": os.getloadavg()[0],
        "idle_bytes": idle / EPISODES,
        "open_bytes": opened / EPISODES,
        "open_files": files / EPISODES,
        "disk_bytes": fresh,
        "disk_bytes_a_call": grown / len(calls),
        "call_ms": mean,
        "wire_ms": wire,
        "door_ms": light["door_ms"],
        "calls_ms": [round(one, 3) for one in took],
        "answer_bytes": float(np.mean(sent)),
    }


# -- simulating ----------------------------------------------------------------------------------------------


def served(arrivals: np.ndarray, services: np.ndarray) -> np.ndarray:
    """Compute when calls are done that arrive at one process in order: Lindley's recursion."""
    worked = np.cumsum(services)
    return worked + np.maximum.accumulate(arrivals - (worked - services))


def through(times: np.ndarray, at: np.ndarray, services: np.ndarray) -> np.ndarray:
    """Compute when calls are done that each go to one of several processes, first come, first served."""
    done = np.empty_like(times)
    order = np.lexsort((times, at))
    for part in np.split(order, np.flatnonzero(np.diff(at[order])) + 1):
        done[part] = served(times[part], services[part])
    return done


def simulate(
    figures: dict[str, Any], calls: float, episodes: int, doors: int, hosts: int
) -> dict[str, float]:
    """Simulate latencies in milliseconds, and the load of doors and hosts."""
    dice = np.random.default_rng(0)
    times = np.cumsum(dice.exponential(1 / calls, int(calls * SECONDS)))
    on = dice.integers(episodes, size=times.size)
    home = dice.integers(hosts, size=episodes)
    door = dice.exponential(figures["door_ms"] / 1e3, times.size)
    work = (dice.choice(figures["calls_ms"], times.size) + figures["wire_ms"]) / 1e3
    reached = through(times, on % doors, door)
    waits = (through(reached, home[on], work) - times)[times > SECONDS / 4] * 1e3
    return {
        "median_ms": float(np.median(waits)),
        "p99_ms": float(np.percentile(waits, 99)),
        "door_busy": calls * figures["door_ms"] / 1e3 / doors,
        "host_busy": calls * (figures["call_ms"] + figures["wire_ms"]) / 1e3 / hosts,
    }


def enough(figures: dict[str, Any], calls: float, episodes: int) -> tuple[int, int]:
    """The fewest doors and hosts with which calls are answered in time."""
    doors = math.ceil(calls * figures["door_ms"] / 1e3 / 0.7)
    least = math.ceil(calls * (figures["call_ms"] + figures["wire_ms"]) / 1e3)
    low, high = least, 2 * least + 8
    while low < high:
        middle = (low + high) // 2
        if simulate(figures, calls, episodes, doors, middle)["p99_ms"] <= P99_MS:
            high = middle
        else:
            low = middle + 1
    return doors, low


def plan(figures: dict[str, Any], episodes: int, calls: float) -> dict[str, Any]:
    """Plan the machines for a number of episodes and calls a second."""
    doors, hosts = enough(figures, calls, episodes)
    found = simulate(figures, calls, episodes, doors, hosts)
    return {
        "episodes": episodes,
        "calls": calls,
        "doors": doors,
        "hosts": hosts,
        "machines": math.ceil((doors + hosts) / CORES),
        "memory_GiB": (episodes * figures["open_bytes"] + (doors + hosts) * 150 * 2**20) / 2**30,
        "files_a_host": episodes * figures["open_files"] / hosts,
        "disk_GiB": episodes * (figures["disk_bytes"] + 100 * figures["disk_bytes_a_call"]) / 2**30,
        "disk_MiB_a_second": calls * figures["disk_bytes_a_call"] / 2**20,
        "network_Gbit_a_second": calls * (figures["answer_bytes"] + 1500) * 8 / 1e9,
        **found,
    }


def draw(figures: dict[str, Any], episodes: int, calls: float, path: Path) -> None:
    """Draw latency against load for some numbers of hosts."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "capacity"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    doors, most = enough(figures, calls, episodes)
    for hosts in (max(1, most // 4), max(1, most // 2), most):
        share = np.array([0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98])
        rates = share * hosts * 1e3 / (figures["call_ms"] + figures["wire_ms"])
        waits = [simulate(figures, float(one), episodes, doors, hosts)["p99_ms"] for one in rates]
        axes.plot(rates / 1e3, waits, marker="o", markersize=3, label=f"{hosts} hosts")
    axes.axhline(P99_MS, color="grey", linewidth=0.8, linestyle="--")
    axes.set(xlabel="thousand calls a second", ylabel="99th percentile, ms", yscale="log")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure, or plan."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["measure", "plan"])
    parser.add_argument("figures", type=Path, nargs="?", help="with plan: what measure printed")
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=50_000)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    if options.what == "measure":
        json.dump(measure(), sys.stdout)
        return
    if options.figures is None:
        parser.error("plan needs the file of what measure printed")
    figures = json.loads(options.figures.read_text())
    for scale in (0.02, 0.1, 0.5, 1):
        print(json.dumps(plan(figures, round(options.episodes * scale), options.rate * scale), indent=1))
    if options.plot:
        draw(figures, options.episodes, options.rate, options.plot)


if __name__ == "__main__":
    main()
