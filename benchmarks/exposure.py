"""What a filter could skip: a table of tasks, with how well evidence is told from the rest.

    python benchmarks/exposure.py [TASK...] [--lengths 64k] [--seeds 0] [--plot exposure.svg]

Each line is ``mesocosm describe TASK --exposure`` of one instance, and so takes seven builds of its length.
Without tasks: the eight office families. The table is Markdown; the plot has a bar for each line and the two
bounds that worlds are made to keep (skippable .40, AUC .60).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mesocosm.families.exposure import Exposure, measure_exposure
from mesocosm.families.family import load_family
from mesocosm.families.quantities import parse_lengths, parse_seeds, show_length

OFFICE = (
    "apply_phd_email", "canvas_arrange_exam", "canvas_list_test", "course_assistant", "excel_market_research",
    "filter_low_selling_products", "recall_campaign", "set_conf_cr_ddl",
)  # fmt: skip
SKIPPABLE, AUC = 0.4, 0.6
"""Bounds that worlds are made to keep."""


@dataclass(frozen=True)
class Line:
    """The exposure of one instance."""

    task: str
    length: int
    seed: int
    exposure: Exposure

    @property
    def name(self) -> str:
        """Task, length and seed."""
        return f"{self.task} {show_length(self.length)} ({self.seed})"

    def markdown(self) -> str:
        """As a row of the table."""
        one = self.exposure
        worst = f"{one.worst.auc:.2f} `{one.worst.name}`" if one.worst else ""
        figures = (_shown(one.skippable), _shown(one.auc_text), _shown(one.auc_without_text), worst)
        return f"| {self.task} | {show_length(self.length)} | {self.seed} | {' | '.join(figures)} |"


def _shown(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.2f}"


def plot(lines: Sequence[Line], path: Path) -> None:
    """Skippable share and AUC without text, side by side."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(1, 2, sharey=True, figsize=(10, 1.5 + 0.3 * len(lines)))
    names = [line.name for line in lines]
    for axes, title, bound, values in (
        (places[0], "skippable share", SKIPPABLE, [line.exposure.skippable for line in lines]),
        (places[1], "AUC without text", AUC, [line.exposure.auc_without_text or 0.5 for line in lines]),
    ):
        axes.barh(names, values, color=["tab:red" if value > bound else "tab:blue" for value in values])
        axes.axvline(bound, color="black", linewidth=0.8)
        axes.set(title=title, xlim=(0, 1))
    places[0].invert_yaxis()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK", default=OFFICE)
    parser.add_argument("--lengths", default="64k")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    print("| task | length | seed | skippable | AUC text | AUC without text | worst single fact |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    lines = []
    for task in given.tasks:
        for length in parse_lengths(given.lengths):
            for seed in parse_seeds(given.seeds):
                measured = measure_exposure(load_family(task), seed, target=length)
                lines.append(Line(task, length, seed, measured))
                print(lines[-1].markdown(), flush=True)
    if given.plot:
        plot(lines, given.plot)


if __name__ == "__main__":
    main()
