"""Cost of `mesocosm lint` for a task file of 300 lines or more, as a process: wall time and CPU time.

    python benchmarks/linting.py [--lines 300] [--runs 9]

The file is the task `visit_calendar`, with another sort of visit (entity, evidence, goal and step)
until it has so many lines.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mesocosm.families.family import task_path

_SECTION = re.compile(r"(?m)^(?=\w+:)")
_ITEMS = {
    "entities": re.compile(r"(?m)^  visit:\n(?:    .*\n)+"),
    **dict.fromkeys(("evidence", "goal", "solution"), re.compile(r"(?m)^  - for: visit\n(?:    .*\n)+")),
}


def longer(text: str, lines: int) -> str:
    """The task file with further sorts of visits until it has so many lines."""
    parts = _SECTION.split(text)
    copies = 1
    while sum(part.count("\n") for part in parts) < lines:
        copies += 1
        for index, part in enumerate(_SECTION.split(text)):
            for item in _ITEMS.get(part.partition(":")[0], re.compile("$^")).findall(part):
                item = item.replace("visit", f"visit{copies}", 1)
                for anchor in re.findall(r"&(\w+)", item):
                    item = re.sub(rf"([&*]){anchor}\b", rf"\g<1>{anchor}{copies}", item)
                parts[index] = parts[index].rstrip() + "\n" + item
    return "".join(part.rstrip() + "\n\n" for part in parts)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.yaml"
        text = longer(task_path("visit_calendar").read_text(encoding="utf-8"), options.lines)
        path.write_text(text, encoding="utf-8")
        walls, busy = [], []
        for _ in range(options.runs):
            started, before = time.perf_counter(), os.times()
            subprocess.run([sys.executable, "-m", "mesocosm", "lint", str(path)], check=True)
            after = os.times()
            walls.append(time.perf_counter() - started)
            busy.append(
                after.children_user + after.children_system - before.children_user - before.children_system
            )
    lines = text.count("\n")
    print(
        f"lint of {lines} lines, {options.runs} runs: wall {statistics.median(walls):.2f} s "
        f"(least {min(walls):.2f}),"
    )
    print(f"CPU {statistics.median(busy):.2f} s (least {min(busy):.2f}), the start of the process included")


if __name__ == "__main__":
    main()
