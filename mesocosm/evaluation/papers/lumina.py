"""LUMINA's Figures 3 to 6."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from mesocosm.errors import UsageError
from mesocosm.evaluation.papers.plates import (
    NONE,
    Curve,
    Plate,
    Share,
    bars_plate,
    curves_plate,
)
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.reports import wide_bins
from mesocosm.evaluation.samples import WORLDS

CONFIGURATIONS = {
    "none": "none",
    "oracle:give=S": "S",
    "oracle:give=P": "P",
    "oracle:give=SP": "S+P",
    "oracle": "S+P",
    "oracle:give=SH": "S+H",
    "oracle:give=SPH": "S+P+H",
}
"""The paper's name of each strategy. In older logs ``oracle`` alone is ``SP``."""
_PAIRS = {
    "planning (P)": (("none", "P"), ("S", "S+P"), ("S+H", "S+P+H")),
    "state (S)": (("none", "S"), ("P", "S+P")),
    "history (H)": (("S", "S+H"), ("S+P", "S+P+H")),
}
"""Configurations that differ in one intervention."""
_LEVEL = {"listworld": 0.3, "treeworld": 0.3, "gridworld": 0.75}
"""The success without help at which models are compared."""
_BINS = 12
_CHANCE = (
    "Chance: who ends at once never succeeds; a random player's success is below 1 % from ten calls on "
    "(`report lumina --calibrate WORLD --p 0`)."
)


def plates(samples: Sequence[Sample]) -> list[Plate]:
    """Success and step accuracy by horizon, by oracle configuration, and what each intervention changes."""
    found = [one for one in samples if one.task in WORLDS and one.judged]
    if not found:
        raise UsageError(f"there are no samples of {', '.join(WORLDS)} among these")
    worlds = [world for world in WORLDS if any(one.task == world for one in found)]
    return [
        *(_by_horizon(world, found) for world in worlds),
        *(_by_configuration(world, found) for world in worlds),
        _change("6a-model", "6 (a): change by intervention and model", found, lambda one: one.model),
        _change("6b-environment", "6 (b): change by intervention and world", found, lambda one: one.task),
    ]


def configuration(one: Sample) -> str:
    """The paper's name of a sample's configuration."""
    return CONFIGURATIONS.get(one.strategy, one.strategy)


def _step(samples: Iterable[Sample]) -> float | None:
    known = [one.step_accuracy for one in samples if one.step_accuracy is not None]
    return fmean(known) if known else None


def _by_horizon(world: str, samples: Sequence[Sample]) -> Plate:
    of = [one for one in samples if one.task == world and configuration(one) == "none"]
    edges = wide_bins({one.horizon or 0 for one in of}, _BINS) if of else []
    curves = []
    for model in dict.fromkeys(one.model for one in of):
        points, steps = [], []
        for low, high in edges:
            some = [one for one in of if one.model == model and low <= (one.horizon or 0) <= high]
            if share := Share.of(one.verdict == "passed" for one in some):
                at = fmean(one.horizon or 0 for one in some)
                points.append((at, share))
                if (step := _step(some)) is not None:
                    steps.append((at, step))
        curves.append(Curve(model, points, steps))
    return curves_plate(
        f"figure-3-{world}",
        f"Figure 3: {world}, success by horizon",
        curves,
        across="horizon (calls of an optimal policy)",
        up="success (%)",
        dashed="step accuracy",
        note=_CHANCE,
        log=len(edges) > 1,
    )


def _by_configuration(world: str, samples: Sequence[Sample]) -> Plate:
    """Averaged over horizons: each counts the same."""
    of = [one for one in samples if one.task == world]
    groups = {}
    for model in dict.fromkeys(one.model for one in of):
        mine = [one for one in of if one.model == model]
        groups[model] = {
            name: Share.of(one.verdict == "passed" for one in mine if configuration(one) == name)
            for name in dict.fromkeys(CONFIGURATIONS.values())
            if any(configuration(one) == name for one in mine)
        }
    plate = bars_plate(
        f"figure-4-{world}",
        f"Figures 4 and 5: {world}, success by oracle configuration, over all horizons",
        groups,
        what="model",
        note=_CHANCE,
    )
    steps = [
        _shown(_step(one for one in of if one.model == model and configuration(one) == name))
        for model, bars in groups.items()
        for name in bars
    ]
    labels = [f"{model}, {name}" for model, bars in groups.items() for name in bars]
    told = "; ".join(f"{label}: {step}" for label, step in zip(labels, steps, strict=True))
    return Plate(
        plate.name, plate.title, plate.head, plate.rows, f"{plate.note}\n\nStep accuracy: {told}.", plate.draw
    )


def _levelled(samples: Sequence[Sample]) -> list[Sample]:
    """Of each model and world the samples of that horizon at which its success without help is nearest to the
    level."""
    kept: list[Sample] = []
    for model, world in dict.fromkeys((one.model, one.task) for one in samples):
        of = [one for one in samples if (one.model, one.task) == (model, world)]
        edges = wide_bins({one.horizon or 0 for one in of}, _BINS)
        told = []
        for low, high in edges:
            some = [one for one in of if low <= (one.horizon or 0) <= high]
            plain = [one.verdict == "passed" for one in some if configuration(one) == "none"]
            if plain:
                told.append((abs(fmean(plain) - _LEVEL[world]), low, some))
        kept += min(told, key=lambda one: one[:2])[2] if told else []
    return kept


def _change(name: str, title: str, samples: Sequence[Sample], by: Callable[[Sample], str]) -> Plate:
    levelled = _levelled(samples)
    rows = []
    for group in dict.fromkeys(by(one) for one in levelled):
        of = [one for one in levelled if by(one) == group]
        plain = [one for one in of if configuration(one) == "none"]
        gap = _step(plain)
        success = fmean(one.verdict == "passed" for one in plain) if plain else None
        rows.append(
            (
                group,
                *(_difference(of, pairs) for pairs in _PAIRS.values()),
                NONE if gap is None or success is None else f"{100 * (gap - success):+.1f}",
            )
        )
    head = ("group", *(f"{one}, points" for one in _PAIRS), "step accuracy less success, points")
    note = (
        "Mean change of the success when one intervention is added and the others stay, at the horizon at "
        "which success without help is nearest to 30 % (gridworld: 75 %); in brackets the number of samples."
    )
    return Plate(f"figure-{name}", f"Figure {title}", head, rows, note)


def _difference(samples: Sequence[Sample], pairs: Sequence[tuple[str, str]]) -> str:
    """Over models, worlds and pairs of configurations, each of which counts the same."""
    changes, number = [], 0
    for model, world in dict.fromkeys((one.model, one.task) for one in samples):
        of = [one for one in samples if (one.model, one.task) == (model, world)]
        for without, with_ in pairs:
            before, after = (
                [one.verdict == "passed" for one in of if configuration(one) == name]
                for name in (without, with_)
            )
            if before and after:
                changes.append(fmean(after) - fmean(before))
                number += len(before) + len(after)
    return f"{100 * fmean(changes):+.1f} ({number})" if changes else NONE


def _shown(value: float | None) -> str:
    return NONE if value is None else f"{value:.1%}"
