"""Growth of an instance's build with its length: seconds and peak memory, calibration included.

    python benchmarks/building.py [TASK ...] [--lengths 8k,64k,256k,1m,4m] [--seed 0] [--against TASK]
    python benchmarks/building.py [TASK ...] --preset loca [--lengths 8k,256k] [--seed 42]

Each instance is built by a process of its own, so the peak memory is that of one build; the start of the
process is not counted in the seconds. ``error`` is what the length misses its label by (1 % is allowed; with
a preset its numbers win), ``built`` how many worlds were built on the way to it. The last column is time per
token against the 64K instance: 1.0 at every length is linear growth. With ``--against`` another task is built
first at each length, and CPU time is compared with its: of tasks in YAML with a family in Python, say. With
``--preset`` tasks and lengths are by default those that the released configuration has.

``--digests FILE`` keeps what each instance's bytes hash to, and says which are others than FILE has: the same
seed makes the same bytes before and after a change that is meant to be of speed alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mesocosm.families.configurations import PRESET, configuration
from mesocosm.families.family import family_names
from mesocosm.families.quantities import parse_lengths, show_length

BUILD = """
import json, resource, sys, time
from pathlib import Path
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance, fingerprint
from mesocosm.worlds import tokens
tokens.count("warm")
task, length, seed, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
parameters = json.loads(sys.argv[5])
family = load_family(task)
family.params()
attempts = []
started, busy = time.perf_counter(), time.process_time()
built = build_instance(family, seed, out, target=length, parameters=parameters, progress=attempts.append)
print(json.dumps({"seconds": time.perf_counter() - started, "cpu": time.process_time() - busy,
                  "edl": built.survey.tokens, "built": len(attempts),
                  "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                  "digest": fingerprint(out)}))
"""


def main() -> None:
    """Build and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--lengths")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--against", help="A task whose CPU time at the same length is 1.")
    parser.add_argument("--preset", help="A released configuration: loca.")
    parser.add_argument("--digests", type=Path, help="A file of digests to compare with, and to add to.")
    options = parser.parse_args()
    bases: dict[int, float] = {}
    print(
        f"{'task':30} {'length':>7} {'EDL':>10} {'error':>8} {'built':>5} {'seconds':>8} {'CPU s':>8} "
        f"{'peak MiB':>9} {'per token':>9}" + (f" {'against':>9}" if options.against else "")
    )
    released = configuration(options.preset).tasks if options.preset else {}
    every: list[dict[str, Any]] = []
    for task in [
        *([options.against] if options.against else []),
        *(options.tasks or released or family_names()),
    ]:
        lengths = parse_lengths(options.lengths or "8k,64k,256k,1m,4m")
        if options.preset and not options.lengths:
            lengths = list(released[task].lengths)
        rows: list[dict[str, Any]] = []
        for length in lengths:
            rows.append(_built(task, length, options.seed, options.preset))
            every.append({"instance": f"{task} {show_length(length)} {options.seed}", **rows[-1]})
            base = next((row for row in rows if row["length"] >= 64_000), rows[-1])
            row = rows[-1]
            against = row["cpu"] / bases.setdefault(length, row["cpu"])
            growth = (row["seconds"] / row["edl"]) / (base["seconds"] / base["edl"])
            print(
                f"{task:30} {show_length(length):>7} {row['edl']:10,} {row['edl'] / length - 1:+8.2%} "
                f"{row['built']:5} {row['seconds']:8.2f} {row['cpu']:8.2f} {row['peak']:9.0f} {growth:9.2f}"
                + (f" {against:9.2f}" if options.against else ""),
                flush=True,
            )
    together, most = sum(row["cpu"] for row in every), max(row["peak"] for row in every)
    print(
        f"{len(every)} instances: {together:.1f} CPU s, {together / len(every):.2f} each, peak {most:.0f} MiB"
    )
    if options.digests:
        _compare(options.digests, {row["instance"]: row["digest"] for row in every})


def _compare(kept: Path, found: dict[str, str]) -> None:
    """Say which instances have other bytes than were kept, and keep those that are new."""
    known = json.loads(kept.read_text()) if kept.exists() else {}
    others = [name for name in found if known.get(name, found[name]) != found[name]]
    print(f"{len(found.keys() & known.keys())} compared, other bytes: {', '.join(others) or 'none'}")
    kept.write_text(json.dumps({**found, **known}, indent=1) + "\n")


def _built(task: str, length: int, seed: int, preset: str | None) -> dict[str, Any]:
    """An instance built by a process of its own: what it took."""
    with tempfile.TemporaryDirectory() as folder:
        parameters = json.dumps({PRESET: preset} if preset else {})
        arguments = [task, str(length), str(seed), str(Path(folder) / "instance"), parameters]
        built = subprocess.run([sys.executable, "-c", BUILD, *arguments], capture_output=True, check=True)
    return {"length": length, **json.loads(built.stdout)}


if __name__ == "__main__":
    main()
