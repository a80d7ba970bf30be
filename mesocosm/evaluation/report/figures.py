"""Figures of a report, drawn once and written as SVG and PNG; the same samples give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from mesocosm.evaluation.failures import CLASSES
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.report.tables import by_world, grouped, horizons_of, judge, lengths_of, mean
from mesocosm.families.drawing import render
from mesocosm.families.quantities import show_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Point = tuple[float, float, float, float]
"""Where it lies, its value, and from where to where its interval reaches."""
_MARKS = "osD^vPX*"
_STYLE = {"axes.spines.top": False, "axes.spines.right": False}


@dataclass(frozen=True)
class Figure:
    """One figure."""

    name: str
    title: str
    draw: Callable[[Axes], None]
    height: float = 3.8

    def render(self, kind: str) -> bytes:
        """As ``svg`` or ``png``."""

        def fill(canvas: Canvas) -> None:
            self.draw(canvas.subplots())

        style = {**_STYLE, "svg.fonttype": "none" if kind == "svg" else "path"}
        size = (7.2, self.height)
        return render(fill, kind, size=size, dpi=130, style=style, transparent=kind == "svg")

    def inline(self) -> str:
        """As SVG inside a page: in the colour of its text, light or dark."""
        svg = self.render("svg").decode()
        svg = svg[svg.index("<svg") :].replace("#000000", "currentColor")
        svg = re.sub(r"font: ([^;\"]*)'DejaVu Sans'[^;\"]*", r"font: \1sans-serif", svg)
        svg = re.sub(r'<svg([^>]*?) width="[^"]*"', r"<svg\1", svg, count=1)
        svg = re.sub(r'<svg([^>]*?) height="[^"]*"', r"<svg\1", svg, count=1)
        # Ids are the figure's own: a page holds several.
        svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{self.name}-", svg)
        return svg.replace("<text ", '<text fill="currentColor" ')


def all_figures(samples: Sequence[Sample]) -> list[Figure]:
    """Every figure that these samples can fill."""
    found = []
    if lengths_of(samples):
        found.append(Figure("accuracy", "Accuracy against description length", _accuracy(samples)))
        for name, title, get in _MEASURES:
            if any(get(sample) is not None for sample in samples):
                found.append(
                    Figure(
                        name, f"{_begun(title)} against description length", _measured(samples, title, get)
                    )
                )
    if len({(sample.strategy, sample.services) for sample in samples}) > 1:
        found.append(
            Figure("strategies", "Strategies", _strategies(samples), 1.4 + 0.5 * len(_judged(samples)))
        )
    if len({round(sample.density, 2) for sample in samples if sample.density}) > 1:
        found.append(Figure("density", "Accuracy against density of evidence", _density(samples)))
    if horizons_of(samples):
        title = "Success, and step accuracy (dashed), against horizon"
        found.append(Figure("horizon", title, _horizon(samples)))
    if any(sample.failure for sample in samples):
        height = 1.6 + 0.35 * len(_judged(samples))
        found.append(Figure("failures", "Why it failed", _failures(samples), height))
    return found


def _judged(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    """By who acted; nobody of whom there are errors alone, who has no line either."""
    groups = grouped(samples, lambda sample: sample.who)
    return {who: group for who, group in groups.items() if judge(group).accuracy is not None}


_MEASURES: list[tuple[str, str, Callable[[Sample], float | None]]] = [
    ("trajectory", "trajectory length (tokens)", lambda one: one.trajectory_length),
    ("tool-calls", "tool calls", lambda one: one.tool_calls),
    ("tool-output", "tool-output tokens", lambda one: one.delivered_tokens),
]


def _accuracy(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        for who, group in grouped(samples, lambda sample: sample.who).items():
            points = []
            for length in lengths_of(group):
                cell = judge([sample for sample in group if sample.length == length])
                if cell.accuracy is not None:
                    points.append((float(length), 100 * cell.accuracy, 100 * cell.low, 100 * cell.high))
            _line(axes, who, points)
        axes.set(ylabel="accuracy (%)", ylim=(-3, 103))
        _lengths(axes, samples)

    return draw


def _measured(
    samples: Sequence[Sample], title: str, get: Callable[[Sample], float | None]
) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        for who, group in grouped(samples, lambda sample: sample.who).items():
            points = []
            for length in lengths_of(group):
                values = [get(one) for one in group if one.length == length and one.judged]
                known = [float(value) for value in values if value is not None]
                if known:
                    points.append((float(length), *_mean(known)))
            _line(axes, who, points)
        axes.set(ylabel=title)
        axes.set_ylim(bottom=0)
        _lengths(axes, samples)

    return draw


def _mean(values: Sequence[float]) -> tuple[float, float, float]:
    """A mean and its interval at 95 %, by the normal distribution."""
    middle = sum(values) / len(values)
    if len(values) < 2:
        return middle, middle, middle
    spread = sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1) / len(values))
    return middle, middle - 1.96 * spread, middle + 1.96 * spread


def _begun(title: str) -> str:
    return title[0].upper() + title[1:].partition(" (")[0]


def _line(axes: Axes, who: str, points: Sequence[Point]) -> None:
    if not points:
        return
    at, values, low, high = zip(*points, strict=True)
    # Lines that lie on each other are told apart by their marks, which get smaller.
    number = len(axes.lines)
    marker, size = _MARKS[number % len(_MARKS)], max(3.0, 9.0 - 1.5 * number)
    (line,) = axes.plot(at, values, marker=marker, markersize=size, label=who)
    axes.fill_between(at, low, high, alpha=0.15, color=line.get_color(), linewidth=0)


def _lengths(axes: Axes, samples: Sequence[Sample]) -> None:
    lengths = lengths_of(samples)
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, labels=[show_length(length) for length in lengths])
    axes.minorticks_off()
    axes.set_xlabel("environment description length (tokens)")
    axes.grid(alpha=0.3)
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Below the axes, where it hides nothing; thousands are written with their comma."""
    if axes.get_ylim()[1] > 1_000:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    figure = axes.figure
    assert figure is not None
    widest = max((len(line.get_label()) for line in axes.lines), default=0)  # type: ignore[arg-type]
    columns = 1 if widest > 45 else 2 if widest > 24 else 3
    if axes.get_legend_handles_labels()[0]:
        figure.legend(fontsize="small", frameon=False, ncols=columns, loc="outside lower center")


def _strategies(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        groups = _judged(samples)
        for place, (who, group) in enumerate(reversed(groups.items())):
            cell = judge(group)
            assert cell.accuracy is not None
            middle = 100 * cell.accuracy
            errors = [[max(0.0, middle - 100 * cell.low)], [max(0.0, 100 * cell.high - middle)]]
            colour = f"C{(len(groups) - 1 - place) % 10}"  # as in the other figures
            axes.errorbar([middle], [place], xerr=errors, marker="o", capsize=3, color=colour)
            axes.annotate(
                f"{who} (n {cell.samples})", (0, place), xytext=(2, 6), textcoords="offset points", fontsize=8
            )
        axes.set(xlabel="accuracy (%), all lengths", xlim=(-3, 103), ylim=(-0.6, len(groups) - 0.2))
        axes.set_yticks([])
        axes.grid(alpha=0.3, axis="x")

    return draw


def _density(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        for who, group in grouped(samples, lambda sample: sample.who).items():
            bins = grouped((one for one in group if one.density), lambda one: int(10 * (one.density or 0)))
            points = []
            for part in bins.values():
                cell = judge(part)
                if cell.accuracy is not None:
                    middle = sum(one.density or 0 for one in part) / len(part)
                    points.append((100 * middle, 100 * cell.accuracy, 100 * cell.low, 100 * cell.high))
            _line(axes, who, sorted(points))
        axes.set(
            xlabel="share of the description that holds evidence (%)", ylabel="accuracy (%)", ylim=(-3, 103)
        )
        axes.grid(alpha=0.3)
        _legend(axes)

    return draw


def _horizon(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        for who, group in by_world(samples).items():
            points, steps = [], []
            for _, part in horizons_of(group):
                cell, judged = judge(part), [one for one in part if one.judged]
                at = mean(one.horizon for one in judged)
                if at is None or cell.accuracy is None:
                    continue
                points.append((at, 100 * cell.accuracy, 100 * cell.low, 100 * cell.high))
                if (right := mean(one.step_accuracy for one in judged)) is not None:
                    steps.append((at, 100 * right))
            _line(axes, who, points)
            if steps:
                axes.plot(*zip(*steps, strict=True), "--", color=axes.lines[-1].get_color(), linewidth=1)
        axes.set(xlabel="horizon (calls of an optimal policy)", ylabel="%", ylim=(-3, 103), xscale="log")
        plain_numbers(axes)
        axes.grid(alpha=0.3)
        _legend(axes)

    return draw


def plain_numbers(axes: Axes) -> None:
    """Label a logarithmic axis with 1, 2, 5, 10, 20 ... as far as they lie on it."""
    low, high = axes.get_xlim()
    marks = [one * 10**power for power in range(10) for one in (1, 2, 5)]
    shown = [mark for mark in marks if low <= mark <= high]
    if shown:
        axes.set_xticks(shown, labels=[f"{mark:,}" for mark in shown])
    axes.minorticks_off()


def _failures(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        groups = dict(reversed(_judged(samples).items()))
        left = [0.0] * len(groups)
        for name in CLASSES:
            shares = [
                100 * sum(one.failure == name for one in group) / max(1, judge(group).samples)
                for group in groups.values()
            ]
            if any(shares):
                axes.barh(range(len(groups)), shares, left=left, height=0.5, label=name.replace("_", " "))
            left = [one + two for one, two in zip(left, shares, strict=True)]
        for place, who in enumerate(groups):
            axes.annotate(who, (0, place + 0.28), xytext=(2, 2), textcoords="offset points", fontsize=8)
        axes.set(xlabel="share of judged samples (%)", xlim=(0, 100), ylim=(-0.5, len(groups) - 0.1))
        axes.set_yticks([])
        figure = axes.figure
        assert figure is not None
        figure.legend(fontsize="small", frameon=False, ncols=4, loc="outside lower center")

    return draw
