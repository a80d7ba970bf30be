"""Cost of episodes: the time of a fork, and the memory of a thousand open ones.

    python benchmarks/episodes.py [--length 64k] [--episodes 1000]

The fork is timed beside a plain copy of the same directory (the ratio says what our part is); the memory is
the resident size of one process in which every episode was opened by a tool call and stays open.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_length
from mesocosm.hosting.pool import EpisodePool


def resident_mib() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="canvas_arrange_exam")
    parser.add_argument("--length", default="64k")
    parser.add_argument("--episodes", type=int, default=1000)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        family = load_family(options.task)
        instance = build_instance(family, 0, root / "instance", target=parse_length(options.length))
        pool = EpisodePool(root / "state", max_open=options.episodes)
        first = pool.adopt(instance.path, family)
        episode = pool.get(first).episode
        episode.world.call("email", "get_emails", {})
        forks, copies = [], []
        for number in range(20):
            started = time.perf_counter()
            pool.fork(episode)
            forks.append((time.perf_counter() - started) * 1e3)
            started = time.perf_counter()
            shutil.copytree(episode.path / "world", root / f"copy-{number}")
            copies.append((time.perf_counter() - started) * 1e3)
        size = sum(path.stat().st_size for path in (episode.path / "world").rglob("*")) / 2**20
        fork, copy = statistics.median(forks), statistics.median(copies)
        print(
            f"fork of a {options.length} episode ({size:.1f} MiB): {fork:.1f} ms; "
            f"copying it: {copy:.1f} ms; ratio {fork / copy:.2f}"
        )
        before = resident_mib()
        for _ in range(options.episodes - 1):
            id_ = pool.adopt(instance.path, family)
            world = pool.get(id_).episode.world
            for service, tool in (("email", "get_emails"), ("canvas", "canvas_list_courses")):
                assert world.call(service, tool, {}).status == "ok"
        after = resident_mib()
        print(
            f"{len(pool._open)} episodes open in one process: {after:.0f} MiB resident, "
            f"{(after - before) / options.episodes * 1024:.0f} KiB each"
        )
        pool.close()


if __name__ == "__main__":
    main()
