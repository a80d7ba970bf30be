"""How building an instance grows with its length: seconds and peak memory, calibration included.

    python benchmarks/building.py [TASK ...] [--lengths 8k,64k,256k,1m,4m] [--seed 0] [--against TASK]

Each instance is built by a process of its own, so the peak memory is that of one build; the start of the
process is not counted in the seconds. The last column is time per token against the 64K instance: 1.0 at
every length is linear growth. With ``--against`` another task is built first at each length, and CPU time is
compared with its: of tasks in YAML with a family in Python, say.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from mesocosm.families.family import family_names
from mesocosm.families.quantities import parse_lengths, show_length

BUILD = """
import json, resource, sys, time
from pathlib import Path
from mesocosm.families.family import load_family
from mesocosm.families.building import build_instance
from mesocosm.worlds import tokens
tokens.count("warm")
task, length, seed, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
family = load_family(task)
family.params()
started, busy = time.perf_counter(), time.process_time()
built = build_instance(family, seed, out, target=length)
print(json.dumps({"seconds": time.perf_counter() - started, "cpu": time.process_time() - busy,
                  "edl": built.survey.tokens,
                  "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def main() -> None:
    """Build and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=family_names())
    parser.add_argument("--lengths", default="8k,64k,256k,1m,4m")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--against", help="A task whose CPU time at the same length is 1.")
    options = parser.parse_args()
    bases: dict[int, float] = {}
    print(
        f"{'task':30} {'length':>7} {'EDL':>10} {'error':>8} {'seconds':>8} {'CPU s':>8} {'peak MiB':>9} "
        f"{'per token':>9}" + (f" {'against':>9}" if options.against else "")
    )
    for task in [*([options.against] if options.against else []), *options.tasks]:
        rows = []
        for length in parse_lengths(options.lengths):
            with tempfile.TemporaryDirectory() as folder:
                arguments = [task, str(length), str(options.seed), str(Path(folder) / "instance")]
                built = subprocess.run(
                    [sys.executable, "-c", BUILD, *arguments], capture_output=True, check=True
                )
            rows.append({"length": length, **json.loads(built.stdout)})
            base = next((row for row in rows if row["length"] >= 64_000), rows[-1])
            row = rows[-1]
            against = row["cpu"] / bases.setdefault(length, row["cpu"])
            growth = (row["seconds"] / row["edl"]) / (base["seconds"] / base["edl"])
            print(
                f"{task:30} {show_length(length):>7} {row['edl']:10,} {row['edl'] / length - 1:+8.2%} "
                f"{row['seconds']:8.2f} {row['cpu']:8.2f} {row['peak']:9.0f} {growth:9.2f}"
                + (f" {against:9.2f}" if options.against else ""),
                flush=True,
            )


if __name__ == "__main__":
    main()
