"""What a filter could skip: a table of tasks, with how well evidence is told from the rest.

    python benchmarks/exposure.py [TASK...] [--lengths 64k] [--seeds 0-7] [--plot exposure.svg]

Each line is of a task at a length: the mean of the instances of these seeds, each measured by a filter that
learned from the others (at most six), and the half width of a 95 % interval of that mean. A single instance
is measured by ``mesocosm describe TASK --exposure``. Without tasks: the fourteen office families that the
guide's table has. The table is Markdown; the plot has a bar for each line and the two bounds that worlds are
made to keep (skippable .40, AUC .60).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mesocosm.families.exposure import Estimate, FamilyExposure, measure_family
from mesocosm.families.family import load_family
from mesocosm.families.quantities import parse_lengths, parse_seeds, show_length

OFFICE = (
    "apply_phd_email", "canvas_arrange_exam", "canvas_list_test", "course_assistant", "excel_market_research",
    "filter_low_selling_products", "recall_campaign", "set_conf_cr_ddl",
    "bug_triage", "oral_exams", "price_notices", "refund_list", "stock_take", "visit_calendar",
)  # fmt: skip
SKIPPABLE, AUC = 0.4, 0.6
"""Bounds that worlds are made to keep."""


@dataclass(frozen=True)
class Line:
    """The exposure of a task at a length."""

    task: str
    length: int
    exposure: FamilyExposure

    @property
    def name(self) -> str:
        """Task and length."""
        return f"{self.task} {show_length(self.length)}"

    def markdown(self) -> str:
        """As a row of the table."""
        one = self.exposure
        worst = ""
        if one.worst:
            worst = f"{_shown(Estimate(mean=one.worst.auc, error=one.worst_error))} `{one.worst.name}`"
        figures = (_shown(one.skippable), _shown(one.auc_text), _shown(one.auc_without_text), worst)
        return f"| {self.task} | {show_length(self.length)} | {one.instances} | {' | '.join(figures)} |"


def _shown(figure: Estimate | None) -> str:
    if figure is None:
        return ""
    return f"{figure.mean:.2f}" + ("" if figure.error is None else f" ± {figure.error:.2f}")


def plot(lines: Sequence[Line], path: Path) -> None:
    """Skippable share and AUC without text, side by side."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(1, 2, sharey=True, figsize=(10, 1.5 + 0.3 * len(lines)))
    names = [line.name for line in lines]
    chance = Estimate(mean=0.5, error=None)
    for axes, title, bound, figures in (
        (places[0], "skippable share", SKIPPABLE, [line.exposure.skippable for line in lines]),
        (places[1], "AUC without text", AUC, [line.exposure.auc_without_text or chance for line in lines]),
    ):
        values, errors = [one.mean for one in figures], [one.error or 0 for one in figures]
        colours = ["tab:red" if value > bound else "tab:blue" for value in values]
        axes.barh(names, values, xerr=errors, color=colours)
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
    parser.add_argument("--seeds", default="0-7")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    print("| task | length | instances | skippable | AUC text | AUC without text | worst single fact |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    lines = []
    for task in given.tasks:
        for length in parse_lengths(given.lengths):
            found = measure_family(load_family(task), parse_seeds(given.seeds), target=length)
            lines.append(Line(task, length, found))
            print(lines[-1].markdown(), flush=True)
    if given.plot:
        plot(lines, given.plot)


if __name__ == "__main__":
    main()
