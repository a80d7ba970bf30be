"""LOCA-bench's Tables 1, 2 and 4 to 6, and its Figure 3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from mesocosm.errors import UsageError
from mesocosm.evaluation.failures import CLASSES
from mesocosm.evaluation.papers.plates import NONE, Curve, Plate, Share, bars_plate, curves_plate, shown
from mesocosm.evaluation.papers.presets import loca_tasks
from mesocosm.evaluation.report.rows import Sample
from mesocosm.families.quantities import show_length

_AT = 128_000
_CHANCE = "Chance: 0 %. Who does nothing fails every task."
_MEASURES = (
    ("table-4-trajectory", "Table 4, Figure 3 (a): trajectory length (tokens)", "trajectory_length"),
    ("table-5-calls", "Table 5, Figure 3 (b): tool calls", "tool_calls"),
    ("table-6-output", "Table 6, Figure 3 (c): tool output (tokens)", "delivered_tokens"),
)


def plates(samples: Sequence[Sample]) -> list[Plate]:
    """Accuracy by length and by context strategy, and what was spent."""
    tasks = loca_tasks()
    of = [one for one in samples if one.task in tasks and one.length and one.judged]
    if not of:
        raise UsageError("there are no samples of LOCA-bench's tasks at a length among these")
    plain = [one for one in of if one.strategy == "none"] or of
    found = [_accuracy(plain), _curves(plain), _strategies(of)]
    found += [_spent(plain, *measure) for measure in _MEASURES]
    return [*found, _failures(plain)]


def _lengths(samples: Sequence[Sample]) -> list[int]:
    return sorted({one.length or 0 for one in samples})


def _passed(samples: Iterable[Sample]) -> Share | None:
    return Share.of(one.verdict == "passed" for one in samples)


def _accuracy(samples: Sequence[Sample]) -> Plate:
    lengths = _lengths(samples)
    rows = []
    for model in dict.fromkeys(one.model for one in samples):
        mine = [one for one in samples if one.model == model]
        shares = [_passed(one for one in mine if one.length == length) for length in lengths]
        known = [share.value for share in shares if share]
        rows.append((model, *map(shown, shares), f"{fmean(known):.1%}" if known else NONE))
    head = ("model", *map(show_length, lengths), "mean of lengths")
    return Plate("table-1-accuracy", "Table 1: accuracy by description length", head, rows, _CHANCE)


def _curves(samples: Sequence[Sample]) -> Plate:
    curves = []
    for model in dict.fromkeys(one.model for one in samples):
        points = [
            (float(length), share)
            for length in _lengths(samples)
            if (
                share := Share.of(
                    o.verdict == "passed" for o in samples if (o.model, o.length) == (model, length)
                )
            )
        ]
        curves.append(Curve(model, points))
    return curves_plate(
        "figure-1-accuracy", "Figure 1: accuracy by description length", curves,
        across="description length (tokens)", note=_CHANCE, log=len(_lengths(samples)) > 1,
    )  # fmt: skip


def _strategies(samples: Sequence[Sample]) -> Plate:
    at = _AT if any(one.length == _AT for one in samples) else _lengths(samples)[-1]
    of = [one for one in samples if one.length == at]
    rows = []
    for model, strategy in dict.fromkeys((one.model, one.strategy) for one in of):
        some = [one for one in of if (one.model, one.strategy) == (model, strategy)]
        spent = [one.trajectory_length for one in some if one.trajectory_length is not None]
        accuracy = shown(_passed(some))
        rows.append((model, strategy, accuracy, f"{fmean(spent) / 1000:,.0f}" if spent else NONE))
    head = ("model", "context strategy", "accuracy", "trajectory length (K)")
    return Plate(
        "table-2-strategies", f"Table 2: context strategies at {show_length(at)}", head, rows, _CHANCE
    )


def _spent(samples: Sequence[Sample], name: str, title: str, measure: str) -> Plate:
    lengths = _lengths(samples)
    rows = []
    for model in dict.fromkeys(one.model for one in samples):
        means = []
        for length in lengths:
            of = [one for one in samples if (one.model, one.length) == (model, length)]
            known = [getattr(one, measure) for one in of if getattr(one, measure) is not None]
            means.append(f"{fmean(known):,.1f}" if known else NONE)
        rows.append((model, *means))
    return Plate(name, title, ("model", *map(show_length, lengths)), rows)


def _failures(samples: Sequence[Sample]) -> Plate:
    groups = {}
    for model in dict.fromkeys(one.model for one in samples):
        failed = [one for one in samples if one.model == model and one.verdict == "failed"]
        classes = [name for name in CLASSES if any(one.failure == name for one in failed)]
        groups[model] = {name: Share.of(one.failure == name for one in failed) for name in classes}
    return bars_plate(
        "figures-4-to-7-failures", "Figures 4 to 7: why tasks failed, as shares of those that did", groups,
        what="model", up="share of failures (%)",
    )  # fmt: skip
