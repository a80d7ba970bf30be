"""Best starting point of the search for a length: ``filler`` and ``yields`` in ``growth`` of task files.

    python benchmarks/growth.py [TASK ...] [--lengths 8k,32k,64k,128k,256k,1m] [--seeds 0-2] [--write]

An instance is built at each length and seed. Its share of filler is where a search should have begun: the
middle one of the seeds is what counts. How many tokens of the description a token of filler becomes is
``yields``, from a second world with less of it. ``built`` is how many worlds a length took: one where the
guess was right within 0.4 %, two where it was not, more where ``yields`` is wrong as well. With ``--write``
the figures are put into the task files. That changes the bytes of their worlds: raise the versions.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mesocosm.families.family import Family, family_names, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_lengths, parse_seeds, show_length
from mesocosm.worlds.manifest import Manifest

FILLER = "filler_tokens"
_LESS = 0.7
"""The filler of the second world, as a share of that of the first."""
_TELLS = 0.02
"""Filler that is a smaller share of the length than this says nothing of what it yields."""


@dataclass(frozen=True)
class Found:
    """Result of reaching one length."""

    share: float
    yields: float | None
    built: int


def look(family: Family, target: int, seed: int) -> Found:
    """Build an instance, and a second world with less filler."""
    attempts: list[str] = []
    with tempfile.TemporaryDirectory(prefix="mesocosm-growth-") as folder:
        met = build_instance(family, seed, Path(folder) / "met", target=target, progress=attempts.append)
        given = dict(Manifest.read(met.path / "world").parameters)
        filler = given[FILLER]
        yields = None
        if filler > _TELLS * target:
            given[FILLER] = round(_LESS * filler)
            less = build_instance(family, seed, Path(folder) / "less", parameters=given)
            yields = (met.survey.tokens - less.survey.tokens) / (filler - given[FILLER])
    return Found(filler / target, yields, len(attempts))


def measure(task: str, wanted: list[int], seeds: list[int]) -> tuple[dict[int, float], float]:
    """The share of filler at each length, and what filler yields; a line is printed for each length."""
    shares, yields = {}, []
    for target in wanted:
        found = [look(load_family(task), target, seed) for seed in seeds]
        shares[target] = round(statistics.median(one.share for one in found), 3)
        yields += [one.yields for one in found if one.yields is not None]
        built = "/".join(str(one.built) for one in found)
        low, high = min(one.share for one in found), max(one.share for one in found)
        print(f"{task:<30}{show_length(target):>6}{low:>8.3f}{high:>8.3f}   built {built}", flush=True)
    return shares, round(min(2.0, max(0.5, statistics.median(yields or [1]))), 2)


def lines(shares: dict[int, float], yields: float) -> str:
    """The two lines of a task file."""
    points = ", ".join(f"{show_length(length)}: {share:g}" for length, share in shares.items())
    return f"  filler: {{{points}}}\n  yields: {yields:g}\n"


def write(task: str, text: str) -> None:
    """Put the lines into the task file, in place of those that it has."""
    path = load_family(task).path
    given = path.read_text()
    start = given.index("\ngrowth:\n") + 1
    end = start + re.match(r"growth:\n(?: .*\n)+", given[start:]).end()  # type: ignore[union-attr]
    kept = re.sub(r"(?m)^  (?:filler|yields):.*\n", "", given[start:end])
    path.write_text(given[:start] + re.sub(r"(?m)^(  parameter:.*\n)", rf"\1{text}", kept) + given[end:])


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--lengths", default="8k,32k,64k,128k,256k,1m")
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--write", action="store_true", help="put the figures into the task files")
    given = parser.parse_args()
    for task in given.tasks or family_names():
        text = lines(*measure(task, parse_lengths(given.lengths), parse_seeds(given.seeds)))
        print(text, end="", flush=True)
        if given.write:
            write(task, text)


if __name__ == "__main__":
    main()
