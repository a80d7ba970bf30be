"""Figures of a report, drawn once and written as SVG and PNG; the same samples give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from mesocosm.evaluation.failures import CLASSES
from mesocosm.evaluation.report.items import fitted
from mesocosm.evaluation.report.rows import BASELINES, Sample
from mesocosm.evaluation.report.tables import (
    by_world,
    grouped,
    half_shown,
    halves_of,
    horizons_of,
    judge,
    lengths_of,
    mean,
)
from mesocosm.evaluation.statistics import HalfLength, Rasch
from mesocosm.families.figures import TRANSPARENT, render_all
from mesocosm.families.quantities import show_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Point = tuple[float, float, float, float]
"""Position, value, and interval of the value."""
MOST = 12
"""Series of a figure, at most; of more, those with the most samples are drawn."""
_MARKS = "osD^vPX*<>hd"
_LINES = ("-", "--", "-.")
# Twelve colours that differ in lightness, too (after Paul Tol's and the ten of matplotlib).
_COLOURS = (
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf",
    "#8c564b", "#e377c2", "#117733", "#332288", "#bcbd22", "#882255",
)  # fmt: skip
_HATCHES = ("", "///", "...")
_PARTS = 24
"""L50s of a figure up to which those of tasks are shown, too."""
_BANDS = 4
"""Series up to which intervals are bands."""
_GREY = "#777777"
"""Of baselines."""
_STYLE = {"axes.spines.top": False, "axes.spines.right": False}


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    draw: Callable[[Axes], None]
    height: float = 3.8

    @cached_property
    def written(self) -> dict[str, bytes]:
        """As ``svg``, ``png`` and ``pdf``."""

        def fill(canvas: Canvas) -> None:
            self.draw(canvas.subplots())

        kinds: dict[str, dict[str, Any]] = {
            "svg": {"svg.fonttype": "none", TRANSPARENT: True},
            "png": {},
            "pdf": {"pdf.fonttype": 42},
        }
        return render_all(fill, kinds, size=(7.2, self.height), dpi=130, style=_STYLE)

    def render(self, kind: str) -> bytes:
        """In one of these formats."""
        return self.written[kind]

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


def drawn(samples: Sequence[Sample]) -> tuple[list[Sample], str]:
    """Select the samples of as many rows as a figure can show, with a note on the others."""
    groups = grouped((one for one in samples if not one.baseline), lambda sample: sample.who)
    if len(groups) <= MOST:
        return list(samples), ""
    kept = set(sorted(groups, key=lambda who: -len(groups[who]))[:MOST])
    shown = [one for one in samples if one.baseline or one.who in kept]
    return shown, f" ({MOST} of {len(groups)} rows)"


def all_figures(samples: Sequence[Sample]) -> list[Figure]:
    """Every figure that these samples can fill."""
    samples, more = drawn(samples)
    return [
        Figure(one.name, one.title + more, one.draw, one.height + _legend_height(samples, one))
        for one in _figures(samples)
    ]


def _legend_height(samples: Sequence[Sample], figure: Figure) -> float:
    """Inches that the legend needs beyond three lines."""
    if figure.name in ("strategies", "failures", "half-length", "abilities"):
        return 0.0
    whos = {sample.who for sample in samples}
    lines = -(-len(whos) // _columns(max(map(len, whos), default=0)))
    return max(0.0, 0.2 * (lines - 3))


def _columns(widest: int) -> int:
    """Of a legend, by its widest text."""
    return 1 if widest > 45 else 2 if widest > 24 else 3


def _figures(samples: Sequence[Sample]) -> list[Figure]:
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
    if halves := _halves(samples):
        height = 1.4 + 0.42 * len(halves)
        found.append(Figure("half-length", "L50: half of the episodes pass", _half_lengths(halves), height))
    if (model := fitted(samples)) is not None:
        title = "Ability (item response theory)"
        found.append(Figure("abilities", title, _abilities(*model), 1.4 + 0.42 * len(model[0])))
    if len({(sample.strategy, sample.services) for sample in samples if not sample.baseline}) > 1:
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
    """Group judged samples by actor; actors with errors only are left out, as they have no line."""
    groups = grouped(samples, lambda sample: sample.who)
    return {who: group for who, group in groups.items() if judge(group).accuracy is not None}


_MEASURES: list[tuple[str, str, Callable[[Sample], float | None]]] = [
    ("trajectory", "trajectory length (tokens)", lambda one: one.trajectory_length),
    ("tool-calls", "tool calls", lambda one: one.tool_calls),
    ("tool-output", "tool-output tokens", lambda one: one.delivered_tokens),
]


def _accuracy(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        groups = grouped(samples, lambda sample: sample.who)
        for who, group in groups.items():
            points = []
            for length in lengths_of(group):
                cell = judge([sample for sample in group if sample.length == length])
                if cell.accuracy is not None:
                    points.append((float(length), 100 * cell.accuracy, 100 * cell.low, 100 * cell.high))
            _line(axes, who, points, len(groups))
        axes.set(ylabel="accuracy (%)", ylim=(-3, 103))
        _lengths(axes, samples)

    return draw


def _measured(
    samples: Sequence[Sample], title: str, get: Callable[[Sample], float | None]
) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        groups = grouped(samples, lambda sample: sample.who)
        for who, group in groups.items():
            points = []
            for length in lengths_of(group):
                values = [get(one) for one in group if one.length == length and one.judged]
                known = [float(value) for value in values if value is not None]
                if known:
                    points.append((float(length), *_mean(known)))
            _line(axes, who, points, len(groups))
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


def _line(axes: Axes, who: str, points: Sequence[Point], of: int) -> None:
    """Draw one of several series: with a band, or with bars side by side if there are many."""
    if not points:
        return
    at, values, low, high = zip(*points, strict=True)
    # Lines that lie on each other are told apart by their marks, which get smaller.
    number = sum(line.get_label()[:1] != "_" for line in axes.lines)  # type: ignore[index]
    grey = who.startswith(tuple(BASELINES.values()))
    style: dict[str, Any] = {
        "color": _GREY if grey else _COLOURS[number % len(_COLOURS)],
        "linestyle": ":" if grey else _LINES[number // 6 % len(_LINES)],
        "marker": _MARKS[number % len(_MARKS)],
        "markersize": max(4.0, 9.0 - 1.5 * number),
    }
    axes.plot(at, values, label=who, **style)
    if grey:
        return
    if of <= _BANDS:
        axes.fill_between(at, low, high, alpha=0.15, color=style["color"], linewidth=0)
        return
    aside = [one * 1.025 ** (number - of / 2) for one in at]
    axes.vlines(aside, low, high, color=style["color"], linewidth=1, alpha=0.45)


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
    columns = _columns(widest)
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
            colour = _COLOURS[(len(groups) - 1 - place) % len(_COLOURS)]  # as in the other figures
            axes.errorbar([middle], [place], xerr=errors, marker="o", capsize=3, color=colour)
            axes.annotate(
                f"{who} (n {cell.samples})", (0, place), xytext=(2, 6), textcoords="offset points", fontsize=8
            )
        axes.set(xlabel="accuracy (%), all lengths", xlim=(-3, 103), ylim=(-0.6, len(groups) - 0.2))
        axes.set_yticks([])
        axes.grid(alpha=0.3, axis="x")

    return draw


def _halves(samples: Sequence[Sample]) -> list[tuple[str, HalfLength]]:
    """L50 of each row, and of each of its tasks; none where no row's lies among the lengths that were run."""
    found = [
        (who if task == "all" else f"{who}: {task}", half)
        for who, task, _, half in halves_of([one for one in samples if not one.baseline])
    ]
    if all(half.shortest == half.longest for _, half in found):
        return []
    if len(found) > _PARTS:
        found = [(name, half) for name, half in found if name in {one.who for one in samples}]
    return found


def _half_lengths(
    halves: Sequence[tuple[str, HalfLength]],
) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        known = [value for _, half in halves for value in half if 0 < value < inf]
        least, most = min(known) / 2, max(known) * 2
        for place, (name, half) in enumerate(reversed(halves)):
            # An end that is open goes to the edge; an arrow says that the value lies beyond what was run.
            mark, at = (
                (">", half.longest)
                if half.value == inf
                else ("o", half.value)
                if half.value
                else ("<", half.shortest)
            )
            left, right = max(min(half.low, at), least), min(max(half.high, at), most)
            axes.plot([left, right], [place, place], color=_COLOURS[0], linewidth=1.5)
            axes.plot([at], [place], mark, color=_COLOURS[0])
            axes.annotate(
                f"{name}: {half_shown(half)}",
                (least, place),
                xytext=(2, 6),
                textcoords="offset points",
                fontsize=8,
            )
        axes.set(xscale="log", xlim=(least, most), ylim=(-0.6, len(halves) - 0.2), yticks=[])
        axes.set_xlabel("description length (tokens) at which half of the episodes pass, 95 %")
        lengths = [8_000 * 2**power for power in range(-4, 12) if least <= 8_000 * 2**power <= most]
        axes.set_xticks(lengths, labels=[show_length(length) for length in lengths])
        axes.minorticks_off()
        axes.grid(alpha=0.3, axis="x")

    return draw


def _abilities(whos: Sequence[str], instances: Sequence[object], model: Rasch) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        order = sorted(range(len(whos)), key=lambda at: model.abilities[at])
        for place, at in enumerate(order):
            error = 1.96 * model.ability_errors[at]
            axes.errorbar(
                [model.abilities[at]],
                [place],
                xerr=[[error], [error]],
                marker="o",
                capsize=3,
                color=_COLOURS[0],
            )
            axes.annotate(
                whos[at],
                (model.abilities[at], place),
                xytext=(0, 7),
                textcoords="offset points",
                fontsize=8,
                ha="center",
            )
        axes.plot(model.difficulties, [-0.75] * len(instances), "|", color=_GREY, markersize=8)
        axes.set(ylim=(-1.1, len(whos) - 0.2), yticks=[])
        axes.set_xlabel("ability of rows, 95 %, and difficulty of instances (marks below), in logits")
        axes.grid(alpha=0.3, axis="x")

    return draw


def _density(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        groups = grouped(samples, lambda sample: sample.who)
        for who, group in groups.items():
            bins = grouped((one for one in group if one.density), lambda one: int(10 * (one.density or 0)))
            points = []
            for part in bins.values():
                cell = judge(part)
                if cell.accuracy is not None:
                    middle = sum(one.density or 0 for one in part) / len(part)
                    points.append((100 * middle, 100 * cell.accuracy, 100 * cell.low, 100 * cell.high))
            _line(axes, who, sorted(points), len(groups))
        axes.set(
            xlabel="share of the description that holds evidence (%)", ylabel="accuracy (%)", ylim=(-3, 103)
        )
        axes.grid(alpha=0.3)
        _legend(axes)

    return draw


def _horizon(samples: Sequence[Sample]) -> Callable[[Axes], None]:
    def draw(axes: Axes) -> None:
        groups = by_world(samples)
        for who, group in groups.items():
            points, steps = [], []
            for _, part in horizons_of(group):
                cell, judged = judge(part), [one for one in part if one.judged]
                at = mean(one.horizon for one in judged)
                if at is None or cell.accuracy is None:
                    continue
                points.append((at, 100 * cell.accuracy, 100 * cell.low, 100 * cell.high))
                if (right := mean(one.step_accuracy for one in judged)) is not None:
                    steps.append((at, 100 * right))
            _line(axes, who, points, len(groups))
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
        for number, name in enumerate(CLASSES):
            shares = [
                100 * sum(one.failure == name for one in group) / max(1, judge(group).samples)
                for group in groups.values()
            ]
            if any(shares):
                axes.barh(
                    range(len(groups)),
                    shares,
                    left=left,
                    height=0.5,
                    label=name.replace("_", " "),
                    # A class looks the same in every report, and no two are alike.
                    color=_COLOURS[number % len(_COLOURS)],
                    hatch=_HATCHES[number // len(_COLOURS)],
                    edgecolor="white",
                    linewidth=0,
                )
            left = [one + two for one, two in zip(left, shares, strict=True)]
        for place, who in enumerate(groups):
            axes.annotate(who, (0, place + 0.28), xytext=(2, 2), textcoords="offset points", fontsize=8)
        axes.set(xlabel="share of judged samples (%)", xlim=(0, 100), ylim=(-0.5, len(groups) - 0.1))
        axes.set_yticks([])
        figure = axes.figure
        assert figure is not None
        figure.legend(fontsize="small", frameon=False, ncols=4, loc="outside lower center")

    return draw
