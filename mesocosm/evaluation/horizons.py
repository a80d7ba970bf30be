"""Success and step accuracy against the horizon, with the expected values of noisy players."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.evaluation.report.figures import plain_numbers
from mesocosm.evaluation.reports import wide_bins
from mesocosm.evaluation.runs import RunResult
from mesocosm.evaluation.statistics import wilson
from mesocosm.evaluation.table_files import draw_shares, markdown, models_as_csv, models_as_json, write_files
from mesocosm.families.figures import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HORIZON = "horizon"


class Point(BaseModel):
    """The runs of one series whose horizon lies in one bin."""

    series: str
    low: int
    high: int
    horizon: float
    """The mean of the runs' horizons."""
    runs: int
    passed: int
    success: float
    lower: float
    upper: float
    """The Wilson interval of the success, at 95 %."""
    step_accuracy: float | None
    """The mean over the runs."""
    theory: float | None
    """Expected success of a noisy player: exact in the list world, elsewhere a lower bound."""


def points(results: Sequence[RunResult], bins: int) -> list[Point]:
    """The curves of all series; ``UsageError`` where no run has a horizon."""
    known = [result for result in results if HORIZON in result.measures and result.verdict != "errored"]
    if not known:
        raise UsageError("there are no runs with a horizon (listworld, treeworld, gridworld) among these")
    edges = wide_bins({result.measures[HORIZON] for result in known}, bins)
    grouped: dict[tuple[str, tuple[int, int]], list[RunResult]] = {}
    for result in known:
        edge = next(edge for edge in edges if result.measures[HORIZON] <= edge[1])
        grouped.setdefault((_series(result), edge), []).append(result)
    return [_point(series, edge, grouped[series, edge]) for series, edge in sorted(grouped)]


def _series(result: RunResult) -> str:
    talk = result.conversation
    if talk is None:
        return f"{result.task}, {result.agent}"
    strategy = getattr(talk, "strategy", "none")
    return f"{result.task}, {talk.model}" + (f", {strategy}" if strategy != "none" else "")


def _point(series: str, edge: tuple[int, int], results: Sequence[RunResult]) -> Point:
    passed = sum(result.verdict == "passed" for result in results)
    lower, upper = wilson(passed, len(results))
    shares = [result.step_accuracy for result in results if result.step_accuracy is not None]
    theories = [theory for result in results if (theory := expected_success(result)) is not None]
    return Point(
        series=series,
        low=edge[0],
        high=edge[1],
        horizon=sum(result.measures[HORIZON] for result in results) / len(results),
        runs=len(results),
        passed=passed,
        success=passed / len(results),
        lower=lower,
        upper=upper,
        step_accuracy=sum(shares) / len(shares) if shares else None,
        theory=sum(theories) / len(theories) if theories else None,
    )


def expected_success(result: RunResult) -> float | None:
    """Return the pass rate of a noisy player on instances of this size; ``None`` for other actors.

    It passes surely when every call is a best one. In the list world it passes only then; a random call is a
    best one in one of as many cases as there are calls, which are one more than the elements that are left
    (taken as evenly spread).
    """
    found = re.fullmatch(r"noisy p=(\d.*)", result.agent)
    if not found:
        return None
    p, horizon = float(found[1]), result.measures[HORIZON]
    if result.task != "listworld":
        return float(p**horizon)
    elements = result.measures["elements"]
    chances = (p + (1 - p) / (1 + elements * (1 - step / horizon)) for step in range(horizon))
    return exp(sum(log(chance) for chance in chances)) if p else 0.0


# -- writing -----------------------------------------------------------------------------------------------

HEAD = ("series", "horizon", "runs", "success", "95 % interval", "theory", "step accuracy")


def row(point: Point) -> tuple[str, ...]:
    return (
        point.series,
        f"{point.horizon:.0f}",
        str(point.runs),
        f"{point.success:.1%}",
        f"{point.lower:.1%} to {point.upper:.1%}",
        "-" if point.theory is None else f"{point.theory:.1%}",
        "-" if point.step_accuracy is None else f"{point.step_accuracy:.1%}",
    )


def write_report(found: Sequence[Point], folder: Path) -> list[Path]:
    """Write the table (CSV, Markdown, JSON) and the plot (SVG, PNG); what is there is replaced."""
    written = {
        "success.csv": models_as_csv(Point, found),
        "success.md": markdown(HEAD, map(row, found)).encode(),
        "success.json": models_as_json(found),
        "success-by-horizon.svg": draw(found, "svg"),
        "success-by-horizon.png": draw(found, "png"),
    }
    return write_files(folder, written)


def draw(found: Sequence[Point], kind: str) -> bytes:
    """Success (lines), step accuracy (dashed) and theory (dotted) against the horizon."""

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        for series in dict.fromkeys(point.series for point in found):
            mine = [point for point in found if point.series == series]
            at = [point.horizon for point in mine]
            intervals = [(point.lower, point.upper) for point in mine]
            line = draw_shares(axes, at, [point.success for point in mine], intervals, series)
            for style, values in (
                ("--", [point.step_accuracy for point in mine]),
                (":", [point.theory for point in mine]),
            ):
                known = [(x, 100 * y) for x, y in zip(at, values, strict=True) if y is not None]
                if known:
                    axes.plot(*zip(*known, strict=True), style, color=line.get_color(), linewidth=1)
        axes.set(xlabel="horizon (calls of an optimal policy)", ylabel="%", ylim=(-3, 103), xscale="log")
        plain_numbers(axes)
        axes.set_title("success, step accuracy (dashed), theory (dotted)", fontsize="small")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")

    return render(fill, kind)
