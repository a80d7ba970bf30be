"""Contradictions in the mailboxes of campus worlds, whoever they concern: what their receiver would notice.

    python benchmarks/consistency.py [TASK ...] [--length 64k] [--seeds 6] [--difficulty hard]

Each message is read in order of time, and every event of every course is followed (see
mesocosm/kits/organisations/campus/consistency.py). Prints each contradiction, and their numbers by kind.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_length
from mesocosm.kits.organisations.campus.consistency import contradictions
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.questions import QuestionTask
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice

TASKS = ("course_assistant", "oral_exams", "canvas_arrange_exam")


def letters_of(name: str, length: str, seed: int, difficulty: str) -> list[Letter]:
    """The messages of an instance."""
    family = load_family(name)
    with tempfile.TemporaryDirectory() as folder:
        target, given = parse_length(length), {"difficulty": difficulty}
        built = build_instance(family, seed, Path(folder) / "x", target=target, parameters=given)
        filled = Manifest.read(built.path / "world").parameters
    written = family._written
    assert isinstance(written, QuestionTask)
    return written.told(Dice(name, seed).stream, family.params_type(**filled))[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--length", default="64k")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--difficulty", default="hard")
    options = parser.parse_args()
    for task in options.tasks:
        kinds: Counter[str] = Counter()
        messages = 0
        for seed in range(options.seeds):
            letters = letters_of(task, options.length, seed, options.difficulty)
            messages += len(letters)
            for one in contradictions(letters):
                kinds[one.kind] += 1
                print(f"  seed {seed}, {one}")
        print(f"{task}: {kinds.total()} in {messages} messages of {options.seeds} worlds {dict(kinds)}")


if __name__ == "__main__":
    main()
