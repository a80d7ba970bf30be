"""Long procedures: how long 1,000 instances take to make, and 1,000 answers to score.

    python benchmarks/longproc.py [--count 1000] [--level 8000] [--procedures routes,tables] [--workers 2]

Programs are made, and scored for what is not running them; `--run 20` runs so many of them in the sandbox.
Times are of processors (all processes together) and of the clock.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from mesocosm.kits.procedures import procedure_names
from mesocosm.kits.procedures.rows import ProcedureRow, rows


def spent() -> float:
    """Seconds of processor time of this process and of those that have ended."""
    return sum(
        resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


@contextmanager
def timed(what: str, count: int) -> Iterator[None]:
    """Prints what a block took, for 1,000 of what it did."""
    began, wall = spent(), time.perf_counter()
    yield
    scale = 1_000 / count
    cpu, clock = (spent() - began) * scale, (time.perf_counter() - wall) * scale
    print(f"{what:<28} {cpu:8.1f} s of processors, {clock:8.1f} s by the clock, for 1,000", flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--level", type=int, default=8_000)
    parser.add_argument("--procedures", default=",".join(procedure_names()))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--run", type=int, default=0)
    given = parser.parse_args()
    for name in given.procedures.split(","):
        code = name.startswith("programs")
        count = max(1, given.count // 20) if code else given.count
        with timed(f"{name}: making", count):
            made = [
                ProcedureRow.model_validate(orjson.loads(line))
                for line in rows([name], [given.level], range(count), workers=given.workers)
            ]
        if not code:
            with timed(f"{name}: scoring", count):
                for row in made:
                    # Right up to the middle of the last line: the longest way to a deviation.
                    score = row.score("Let me think.\n" + row.gold[:-30])
                    assert not score.exact
        elif given.run:
            with timed(f"{name}: scoring, run", min(given.run, count)):
                for row in made[: given.run]:
                    assert row.score(row.gold).exact


if __name__ == "__main__":
    main()
