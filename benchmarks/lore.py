"""Speed of making dependency-tree tasks, by N.

    python benchmarks/lore.py [--tasks lore_documents,lore_code] [--instances 1000] [--operations 100]

First, for each task, so many instances of that N are written as a dataset on all cores (the start of the
processes is counted). Then instances of growing N are made in this process, and their CPU seconds per
operation are put beside those of the target N: 1.0 at every N is linear growth. Where others use the machine
too, the CPU seconds say more than the seconds. Exit code 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from mesocosm.families.family import Family, family_names, load_family
from mesocosm.families.workers.processes import Processes
from mesocosm.kits.weaving.datasets import make_record, write_dataset

SECONDS = {"lore_documents": 30.0, "lore_code": 30.0, "lore_multimodal": 180.0}
"""Targets for a thousand instances of N = 100 on two cores, by generator."""
GROWTH = 1.3
"""How much an operation may cost at any N, beside what it costs at N = 100."""
SIZES = (25, 50, 100, 200, 400, 800, 1600)


def cpu_seconds() -> float:
    """CPU time of this process and of those it waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def throughput(family: Family, operations: int, instances: int) -> bool:
    """Write a dataset; returns whether it took no longer than it may."""
    with tempfile.TemporaryDirectory() as folder:
        started, used = perf_counter(), cpu_seconds()
        path = Path(folder) / "out.jsonl"
        sizes = list(write_dataset(family, [operations], range(instances), {}, path, Processes()))
        seconds, used = perf_counter() - started, cpu_seconds() - used
    target = SECONDS[family.task.family] * instances / 1000 * operations / 100
    print(
        f"{family.name}: {instances:,} instances of N = {operations} in {seconds:.1f} s "
        f"({used:.1f} CPU seconds on {os.cpu_count()} cores, {sum(sizes) / 1e6:.1f} MB); "
        f"target {target:.0f} s{'' if seconds <= target else '  SLOW'}"
    )
    return seconds <= target


def cost(family: Family, operations: int) -> float:
    """CPU seconds per operation: the least of three rounds over different seeds."""
    rounds = []
    for number in range(3):
        seeds = range(number * 100, number * 100 + max(1, 800 // operations))
        started = process_time()
        for seed in seeds:
            make_record(family, seed, {"operations": operations})
        rounds.append((process_time() - started) / len(seeds) / operations)
    return min(rounds)


def linearity(family: Family) -> bool:
    """Print how the cost of an operation grows; returns whether it does not."""
    make_record(family, 0, {"operations": 5})
    costs = {operations: cost(family, operations) for operations in SIZES}
    print(f"{'N':>6} {'ms':>9} {'ms per N':>9} {'ratio':>6}")
    for operations, each in costs.items():
        print(f"{operations:>6} {each * operations * 1e3:>9.1f} {each * 1e3:>9.3f} {each / costs[100]:>6.2f}")
    return all(each <= GROWTH * costs[100] for operations, each in costs.items() if operations > 100)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", default=",".join(name for name in family_names() if name in SECONDS))
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--operations", type=int, default=100)
    options = parser.parse_args()
    met = []
    for name in options.tasks.split(","):
        family = load_family(name)
        met += [throughput(family, options.operations, options.instances), linearity(family)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
