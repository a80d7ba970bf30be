"""LORE's Figures 1, 3, 4 and 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from mesocosm.errors import UsageError
from mesocosm.evaluation.failures import CLASSES
from mesocosm.evaluation.papers.plates import Curve, Plate, Share, bars_plate, curves_plate, slug
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.reports import bins_of
from mesocosm.kits.weaving.datasets import STANDARD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 12
_DOMAINS = ("documents", "multimodal", "code")
_FIGURES = {STANDARD: 3, "hard": 4, "expert": 4}
_CHANCE = (
    "Chance: 0 %. An answer is eight letters (documents, multimodal), or a number of up to three digits with "
    "its sign (code)."
)
_LAPSES = ("halted_early", "lead_lost", "reasoned_wrongly")


def plates(samples: Sequence[Sample]) -> list[Plate]:
    """Accuracy against operations and tree height by domain and variant, and why attempts failed."""
    woven = [one for one in samples if one.task.startswith("lore_") and one.judged]
    if not woven:
        raise UsageError("there are no samples of lore_documents, lore_multimodal or lore_code among these")
    found: list[Plate] = [_steps(woven)]
    for variant in _FIGURES:
        for domain in _DOMAINS:
            of = [one for one in woven if _of(one.task) == (domain, variant)]
            for measure, across in (("horizon", "operations (N)"), ("height", "tree height")):
                if of and all(getattr(one, measure) is not None for one in of):
                    name = f"figure-{_FIGURES[variant]}-{domain}-{variant}-{slug(across.partition(' (')[0])}"
                    title = f"Figure {_FIGURES[variant]}: {domain} ({variant}), accuracy by {across}"
                    curves = _curves(of, measure)
                    found.append(curves_plate(name, title, curves, across=across, note=_CHANCE))
    return [*found, _failures(woven)]


def _of(task: str) -> tuple[str, str]:
    _, domain, *variant = task.split("_")
    return domain, "_".join(variant) or STANDARD


def _steps(samples: Sequence[Sample]) -> Plate:
    """Figure 1, on the left: how many steps succeed, and how many an episode takes that succeeds."""
    lines: list[tuple[str, list[tuple[float, float]]]] = []
    rows = []
    for who, task in dict.fromkeys((one.who, one.task) for one in samples):
        mine = [one for one in samples if (one.who, one.task) == (who, task) and one.horizon]
        points = []
        for low, high in bins_of({one.horizon or 0 for one in mine}, _BINS) if mine else ():
            of = [one for one in mine if low <= (one.horizon or 0) <= high]
            right = [(one.step_accuracy or 0) * (one.tool_calls or 0) for one in of]
            at = fmean(one.horizon or 0 for one in of)
            points.append((at, fmean(right)))
            rows.append((f"{task}, {who}", f"{at:g}", f"{fmean(right):,.1f}", str(len(of))))
        lines.append((f"{task}, {who}", points))

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        for label, points in lines:
            axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=label)
        axes.set(xlabel="operations (N)", ylabel="successful steps")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")
        axes.set_title("Figure 1: successful steps by operations", fontsize="small")

    head = ("series", "operations (N)", "successful steps", "number")
    note = "A step is successful that is one of the best calls of its moment."
    return Plate("figure-1-steps", "Figure 1 (left): successful steps by operations", head, rows, note, fill)


def _curves(samples: Sequence[Sample], measure: str) -> list[Curve]:
    edges = bins_of({int(getattr(one, measure)) for one in samples}, _BINS)
    curves = []
    for who in dict.fromkeys(one.who for one in samples):
        points = []
        for low, high in edges:
            of = [one for one in samples if one.who == who and low <= getattr(one, measure) <= high]
            if share := Share.of(one.verdict == "passed" for one in of):
                points.append((sum(getattr(one, measure) for one in of) / len(of), share))
        curves.append(Curve(who, points))
    return curves


def _failures(samples: Sequence[Sample]) -> Plate:
    """Figure 5 as numbers: what share of the failed attempts each failure has."""
    groups = {}
    for who in dict.fromkeys(one.who for one in samples):
        failed = [one for one in samples if one.who == who and one.verdict == "failed"]
        counted = Counter(one.failure for one in failed)
        names = [*_LAPSES, *(name for name in CLASSES if name not in _LAPSES and counted[name])]
        groups[who] = {name: Share.of(one.failure == name for one in failed) for name in names}
    note = "; ".join(f"`{name}`: {CLASSES[name]}" for name in _LAPSES) + "."
    return bars_plate(
        "figure-5-failures",
        "Figure 5: why attempts failed, as shares of those that did",
        groups,
        what="series",
        up="share of failures (%)",
        note=note,
    )
