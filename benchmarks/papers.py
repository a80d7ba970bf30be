"""Results of the papers' settings beside the papers' numbers: the tables of docs/papers.md.

python benchmarks/papers.py [lore] [lumina] [agentlongbench] [longproc]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from mesocosm.evaluation.rollouts import CATEGORIES
from mesocosm.evaluation.samples import sized
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import show_length
from mesocosm.kits.procedures import procedure
from mesocosm.kits.procedures.rows import make_row
from mesocosm.kits.rollouts.dataset import DatasetPlan, make
from mesocosm.kits.rollouts.transcript import FORMATS, Format
from mesocosm.kits.weaving.composition import Composition
from mesocosm.worlds.randomness import Dice

_SIZES = (1, 12, 60, 120, 200, 350)
_SEEDS = range(5)
_TRAJECTORIES = 12


def lore() -> None:
    """Tree heights and documents by operations."""
    print("| task | N | tree height | documents or modules that have to be read |\n| --- | --- | --- | --- |")
    for task in ("lore_documents", "lore_code"):
        family = load_family(task)
        compose: Callable[..., Composition] | None = family.hook("compose")
        assert compose
        for n in _SIZES:
            made = [compose(Dice(task, seed), family.params(operations=n)) for seed in _SEEDS]
            height = fmean(one.height for one in made)
            nodes = fmean(len(list(one.tree.nodes())) for one in made)
            print(f"| `{task}` | {n} | {height:.0f} | {nodes:.0f} |")


def lumina() -> None:
    """Horizons and budgets of the worlds."""
    print("| world | `--n` | T* | budget |\n| --- | --- | --- | --- |")
    with TemporaryDirectory() as name:
        for world in ("listworld", "treeworld", "gridworld"):
            family = load_family(world)
            for n in (10, 30, 100):
                built = [
                    build_instance(
                        family, seed, Path(name) / f"{world}{n}-{seed}", parameters=sized(world, n)
                    )
                    for seed in _SEEDS
                ]
                optimum = fmean(one.expected.measures["horizon"] for one in built)
                budget = fmean(int(one.expected.public["budget"]) for one in built)
                print(f"| `{world}` | {n} | {optimum:.0f} | {budget:.0f} |")


def agentlongbench() -> None:
    """Rounds and adequate context length at 128K, weighted as the paper's Table 2 asks."""
    print("| format | rounds | query target | ACL (tokens) |\n| --- | --- | --- | --- |")
    for format in FORMATS:
        _reach(format, 128_000)


def _reach(format: Format, length: int) -> None:
    plan = DatasetPlan(settings=("ki",), formats=(format,), lengths=(length,), counts="paper")
    rounds, reach = [], dict[str, list[tuple[int, int]]]()
    for number in range(_TRAJECTORIES):
        [(trajectory, rows)] = make(plan, (format, length, number))
        rounds.append(trajectory.rounds)
        for row in rows:
            weight = plan.count(row.type, format, length)
            reach.setdefault(CATEGORIES[row.type], []).append((row.evidence.tokens, weight))
    for target in ("environment response", "tool response"):
        total = sum(weight for _, weight in reach[target])
        tokens = sum(tokens * weight for tokens, weight in reach[target]) / total
        print(f"| {format} | {fmean(rounds):.0f} | {target} | {tokens:,.0f} |")


def longproc() -> None:
    """Tokens in and out."""
    print("| task | level | in | out |\n| --- | --- | --- | --- |")
    for name in ("tables", "programs_cpp", "routes", "beliefs", "countdown", "travel"):
        for level in (500, 2_000, 8_000):
            rows = [make_row(name, level, seed) for seed in _SEEDS]
            given, made = fmean(row.input_tokens for row in rows), fmean(row.output_tokens for row in rows)
            print(f"| `{procedure(name).UPSTREAM}` | {show_length(level)} | {given:,.0f} | {made:,.0f} |")


if __name__ == "__main__":
    known = {one.__name__: one for one in (lore, lumina, agentlongbench, longproc)}
    for asked in sys.argv[1:] or known:
        print(f"\n{asked}\n")
        known[asked]()
