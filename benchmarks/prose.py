"""Speed of writing background text, against zlib reading it.

    python benchmarks/prose.py [--messages 3000]

Prints megabytes of text per CPU second by topic (a world of 4M tokens has about 16 MB of it) and, in the last
column, the CPU time of writing it over that of compressing it with zlib. Then the CPU seconds that importing
``mesocosm.kits.prose`` takes in a new process.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import zlib
from time import process_time

from mesocosm.kits.prose import TOPICS, Prose

IMPORT = "import time; t = time.process_time(); import mesocosm.kits.prose; print(time.process_time() - t)"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=3000)
    messages = parser.parse_args().messages
    prose = Prose(random.Random(5))
    for topic in TOPICS:
        prose.message(topic)  # what is prepared once per topic
    print(f"{'topic':<24}{'MB/CPU-s':>10}{'/ zlib':>8}")
    for topic in TOPICS:
        started = process_time()
        text = "".join(prose.message(topic, 200).body for _ in range(messages // len(TOPICS)))
        wrote = process_time() - started
        started = process_time()
        zlib.compress(text.encode())
        print(f"{topic:<24}{len(text) / wrote / 1e6:>10.2f}{wrote / (process_time() - started):>8.1f}")
    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True) for _ in range(5)]
    print(f"import: {min(float(run.stdout) for run in runs):.3f} CPU seconds")


if __name__ == "__main__":
    main()
