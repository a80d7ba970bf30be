"""Figures and tables of a paper: the numbers behind each, for reading, as CSV, and drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from mesocosm.evaluation.report.tables import ReportTable
from mesocosm.evaluation.report.typeset import latex, pdf
from mesocosm.evaluation.statistics import wilson
from mesocosm.evaluation.table_files import draw_shares, markdown, write_files
from mesocosm.families.figures import render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NONE = "-"
"""Marker of unknown values."""


@dataclass(frozen=True)
class Share:
    """A mean of results from 0 to 1, with its Wilson interval at 95 %."""

    value: float
    number: int
    lower: float
    upper: float

    @classmethod
    def of(cls, results: Iterable[float]) -> Share | None:
        """The share of some results; ``None`` where there are none."""
        found = list(results)
        if not found:
            return None
        mean = fmean(found)
        return cls(mean, len(found), *wilson(mean * len(found), len(found)))

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.lower:.1%} to {self.upper:.1%}, {self.number})"


@dataclass(frozen=True)
class Curve:
    """Points of one series: where each is, and what it shows."""

    label: str
    points: Sequence[tuple[float, Share]]
    dashed: Sequence[tuple[float, float]] = ()
    """A second line of the same series, such as step accuracy."""


@dataclass(frozen=True)
class Plate:
    """One figure or table of a paper."""

    name: str
    """As its file is called: ``figure-3-documents-operations``."""
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """Chance level, and differences from the paper."""
    draw: Callable[[Figure], None] | None = field(default=None, compare=False)
    size: tuple[float, float] = (7.2, 4.2)


def shown(share: Share | None) -> str:
    """A share for a table."""
    return NONE if share is None else str(share)


def curves_plate(
    name: str,
    title: str,
    curves: Sequence[Curve],
    *,
    across: str,
    up: str = "accuracy (%)",
    dashed: str = "",
    note: str = "",
    log: bool = False,
) -> Plate:
    """A figure of curves with their intervals."""
    rows = [
        (
            curve.label,
            f"{at:g}",
            shown(share),
            *([f"{dict(curve.dashed)[at]:.1%}" if at in dict(curve.dashed) else NONE] if dashed else []),
        )
        for curve in curves
        for at, share in curve.points
    ]

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        for curve in curves:
            _draw_curve(axes, curve)
        axes.set(xlabel=across, ylabel=up, ylim=(-3, 103), **({"xscale": "log"} if log else {}))
        axes.grid(alpha=0.3)
        axes.set_title(title + (f"; dashed: {dashed}" if dashed else ""), fontsize="small")
        if curves:
            axes.legend(fontsize="small")

    head = ("series", across, f"{up.removesuffix(' (%)')} (95 % interval, number)")
    return Plate(name, title, (*head, *([dashed] if dashed else [])), rows, note, fill)


def _draw_curve(axes: Axes, curve: Curve) -> None:
    at = [place for place, _ in curve.points]
    shares = [share for _, share in curve.points]
    intervals = [(share.lower, share.upper) for share in shares]
    line = draw_shares(axes, at, [share.value for share in shares], intervals, curve.label)
    if curve.dashed:
        axes.plot(
            [place for place, _ in curve.dashed],
            [100 * value for _, value in curve.dashed],
            "--",
            color=line.get_color(),
            linewidth=1,
        )


def bars_plate(
    name: str,
    title: str,
    groups: Mapping[str, Mapping[str, Share | None]],
    *,
    what: str,
    up: str = "success (%)",
    note: str = "",
) -> Plate:
    """A figure of bars: for each group one bar a label, with its interval."""
    labels = list(dict.fromkeys(label for bars in groups.values() for label in bars))
    rows = [(group, *(shown(bars.get(label)) for label in labels)) for group, bars in groups.items()]

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        width = 0.8 / max(1, len(labels))
        for place, label in enumerate(labels):
            known = [(at, bars[label]) for at, bars in enumerate(groups.values()) if bars.get(label)]
            drawn = [(at, share) for at, share in known if share]
            axes.bar(
                [at + place * width for at, _ in drawn],
                [100 * share.value for _, share in drawn],
                width,
                label=label,
                # Rounding may leave a share of 1 a hair above its interval.
                yerr=[
                    [max(0.0, 100 * (share.value - share.lower)) for _, share in drawn],
                    [max(0.0, 100 * (share.upper - share.value)) for _, share in drawn],
                ],
                error_kw={"linewidth": 0.8},
            )
        axes.set_xticks([at + 0.4 - width / 2 for at in range(len(groups))], list(groups), fontsize="small")
        axes.set(ylabel=up, ylim=(0, 103))
        axes.set_title(title, fontsize="small")
        if labels:
            axes.legend(fontsize="small", ncols=3)

    return Plate(name, title, (what, *labels), rows, note, fill)


def heat_plate(
    name: str, title: str, cells: Mapping[tuple[str, str], Share | None], *, what: str, note: str = ""
) -> Plate:
    """A heat map: rows by columns."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    table = [(row, *(shown(cells.get((row, column))) for column in columns)) for row in rows]

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        found = [[cells.get((row, column)) for column in columns] for row in rows]
        values = [[share.value if share else float("nan") for share in line] for line in found]
        axes.imshow(values, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
        for y, line in enumerate(found):
            for x, share in enumerate(line):
                if share:
                    axes.text(x, y, f"{100 * share.value:.0f}", ha="center", va="center", fontsize="x-small")
        axes.set_xticks(range(len(columns)), columns, fontsize="x-small")
        axes.set_yticks(range(len(rows)), rows, fontsize="x-small")
        axes.set_title(title, fontsize="small")

    size = (2.8 + 0.75 * len(columns), 1.4 + 0.26 * len(rows))
    return Plate(name, title, (what, *columns), table, note, fill, size)


# -- writing -----------------------------------------------------------------------------------------------


def write_plates(title: str, plates: Sequence[Plate], folder: Path) -> list[Path]:
    """Write every plate (CSV, LaTeX and PDF; figures as SVG, PNG and PDF) and one page of all (Markdown);
    what is there is replaced."""
    written: dict[str, bytes] = {}
    parts = [f"# {title}\n"]
    for plate in plates:
        table = ReportTable(plate.name, plate.title, plate.note, plate.head, plate.rows)
        written[f"{plate.name}.csv"] = table.csv()
        written |= {f"table-{plate.name}.tex": latex(table), f"table-{plate.name}.pdf": pdf(table)}
        part = f"## {plate.title}\n\n{markdown(plate.head, plate.rows)}"
        part += f"\n{plate.note}\n" if plate.note else ""
        if plate.draw:
            for kind in ("svg", "png", "pdf"):
                written[f"{plate.name}.{kind}"] = render(plate.draw, kind, size=plate.size)
            part += f"\n![{plate.title}]({plate.name}.svg)\n"
        parts.append(part)
    written["index.md"] = "\n".join(parts).encode()
    return write_files(folder, written)


def slug(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
