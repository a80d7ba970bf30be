"""Start-up time of the command line until it has printed its help: CPU seconds, median of several starts.

python benchmarks/starting.py [--starts 10]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

WORDS = (["--help"], ["run", "--help"], ["list", "tasks"], ["lint", "--help"])


def taken(words: list[str]) -> float:
    """Seconds of a processor of one start."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "mesocosm", *words], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=10)
    starts = parser.parse_args().starts
    for words in WORDS:
        print(f"mesocosm {' '.join(words):<14}{statistics.median(taken(words) for _ in range(starts)):.2f} s")


if __name__ == "__main__":
    main()
