"""Share of a campus world that can be skipped unread, sentence by sentence, over several seeds.

    python benchmarks/sentences.py [TASK ...] [--lengths 64k 256k] [--seeds 6] [--difficulties medium hard]

The figures are those of `mesocosm describe TASK --exposure` (see docs/guides/exposure.md): each seed of the
split `test`, judged by filters that learned from as many worlds of the split `train`; with least and most,
and the processor time of building.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from time import process_time

from mesocosm.families.exposure.sentences import judge_sentences
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_length

TASKS = ("course_assistant", "oral_exams", "canvas_arrange_exam")


def measure(task: str, length: str, seeds: int, difficulty: str) -> dict[str, list[float]]:
    """The figures of each seed, by their names."""
    family, target = load_family(task), parse_length(length)
    read = family.hook("messages")
    assert read is not None
    training = {"difficulty": difficulty, "split": "train"}
    learned = [one for seed in range(seeds) for one in read(family, 100 + seed, target, training).sentences]
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        given = {"difficulty": difficulty, "split": "test"}
        began = process_time()
        with tempfile.TemporaryDirectory() as folder:
            build_instance(family, seed, Path(folder) / "x", target=target, parameters=given)
        seconds = process_time() - began
        judged = judge_sentences(learned, read(family, seed, target, given))
        row: dict[str, float] = judged.model_dump(exclude={"rules"}) | {"CPU s": seconds}
        for rule, (drop, lose) in judged.rules.items():
            row |= {f"{rule}: drop": drop, f"{rule}: lose": lose}
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--lengths", nargs="+", default=["64k", "256k"])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--difficulties", nargs="+", default=["medium", "hard"])
    options = parser.parse_args()
    for task in options.tasks:
        for length in options.lengths:
            for difficulty in options.difficulties:
                print(f"{task} {length} {difficulty}, {options.seeds} seeds", flush=True)
                for name, values in measure(task, length, options.seeds, difficulty).items():
                    mean, least, most = statistics.mean(values), min(values), max(values)
                    print(f"  {name:28} {mean:10.3f}  ({least:.3f} to {most:.3f})")


if __name__ == "__main__":
    main()
