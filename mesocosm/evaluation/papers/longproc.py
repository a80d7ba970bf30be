"""LongProc's Tables 2, 3, 5, 8 and 9 to 11, and its Figures 3 to 6."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log10
from statistics import fmean
from typing import TYPE_CHECKING

from mesocosm.evaluation.papers.plates import NONE, Plate, Share, bars_plate, heat_plate, shown
from mesocosm.evaluation.procedures import ALL, tabulate
from mesocosm.families.quantities import show_length
from mesocosm.kits.procedures import procedure
from mesocosm.kits.procedures.prompts import PAIRS, SEGMENTED, SEGMENTS
from mesocosm.kits.procedures.rows import Scored

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHANCE = "Chance: 0 %. No output of hundreds of tokens is right by accident."
_TABLES = {500: 9, 2_000: 10, 8_000: 11}
"""Table of the paper for each level."""
_PREDICTED_FROM = 2
"""So many of the shortest levels give the trend of Figure 6."""


def plates(scores: Sequence[Scored]) -> list[Plate]:
    """Every figure and table of which there are answers."""
    full = [one for one in scores if not one.variant and not one.unjudged]
    found = [
        _averages(full),
        *_tasks(full),
        _by_task(full),
        _termination(full),
        _filtering(full),
        _trend(full),
    ]
    found += [_segments(scores), _without_procedure(scores), _sizes(full)]
    return [plate for plate in found if plate.rows]


def _name(one: Scored) -> str:
    return procedure(one.procedure).UPSTREAM


def _models(scores: Iterable[Scored]) -> list[str]:
    return list(dict.fromkeys(one.model for one in scores))


def _levels(scores: Iterable[Scored]) -> list[int]:
    return sorted({one.level for one in scores})


def _averages(scores: Sequence[Scored]) -> Plate:
    cells = {(cell.model, cell.level): cell for cell in tabulate(scores) if cell.procedure == ALL}
    levels = _levels(scores)
    models = list(dict.fromkeys(model for model, _ in cells))
    rows = []
    for model in models:
        values = [cells.get((model, level)) for level in levels]
        rows.append(
            (model, *(f"{c.value:.1%} ({c.lower:.1%} to {c.upper:.1%})" if c else NONE for c in values))
        )
    head = ("model", *map(show_length, levels))
    title = "Table 3: mean over tasks by level"
    return Plate("table-3-averages", title, head, rows, _CHANCE)


def _tasks(scores: Sequence[Scored]) -> list[Plate]:
    """Tables 9 to 11: a row per model and a column per task, for each level."""
    found = []
    for level in _levels(scores):
        of = [one for one in scores if one.level == level]
        names = list(dict.fromkeys(map(_name, of)))
        rows = [
            (
                model,
                *(shown(_share(o for o in of if o.model == model and _name(o) == name)) for name in names),
            )
            for model in _models(of)
        ]
        number = _TABLES.get(level)
        title = f"{f'Table {number}: ' if number else ''}all tasks at {show_length(level)}"
        name = f"table-{number}-tasks" if number else f"tasks-{level}"
        found.append(Plate(name, title, ("model", *names), rows, _CHANCE))
    return found


def _share(scores: Iterable[Scored]) -> Share | None:
    return Share.of(one.value for one in scores)


def _by_task(scores: Sequence[Scored]) -> Plate:
    cells = {}
    for name in dict.fromkeys(map(_name, scores)):
        for model in _models(scores):
            for level in _levels(scores):
                of = (one for one in scores if (one.model, _name(one), one.level) == (model, name, level))
                cells[f"{name}, {model}", show_length(level)] = _share(of)
    return heat_plate("figure-3-tasks", "Figure 3: tasks by output length", cells, what="task", note=_CHANCE)


def _termination(scores: Sequence[Scored]) -> Plate:
    rows = []
    for model in _models(scores):
        for name in dict.fromkeys(_name(one) for one in scores if one.procedure in PAIRS):
            for level in _levels(scores):
                of = [one for one in scores if (one.model, _name(one), one.level) == (model, name, level)]
                if of:
                    ended = [one for one in of if one.terminated]
                    term = Share.of(float(one.terminated) for one in of)
                    task = f"{name} ({show_length(level)})"
                    rows.append((model, task, shown(_share(of)), shown(term), shown(_share(ended))))
    head = ("model", "task", "acc", "term", "acc/term")
    return Plate("table-5-termination", "Table 5: accuracy and termination", head, rows)


def _filtering(scores: Sequence[Scored]) -> Plate:
    tables = [one for one in scores if one.filtered is not None]
    rows = []
    for model in _models(tables):
        for level in _levels(tables):
            of = [one for one in tables if (one.model, one.level) == (model, level)]
            all_, some = (_share(one for one in of if one.filtered is kept) for kept in (False, True))
            rows.append((model, show_length(level), shown(all_), shown(some)))
    head = ("model", "level", "extract all (no filter)", "filtering")
    return Plate("table-8-filtering", "Table 8: HTML to TSV with and without a filter", head, rows, _CHANCE)


def _trend(scores: Sequence[Scored]) -> Plate:
    """Figure 6: log accuracy against length, and what a constant error rate per entry would give."""
    lines: list[tuple[str, list[tuple[int, float]], list[tuple[int, float]]]] = []
    rows = []
    for model in _models(scores):
        for name in dict.fromkeys(map(_name, scores)):
            of = [one for one in scores if one.model == model and _name(one) == name]
            known = [(level, fmean(o.value for o in of if o.level == level)) for level in _levels(of)]
            known = [(level, value) for level, value in known if value > 0]
            if len(known) < _PREDICTED_FROM:
                continue
            rate = fmean(log10(value) / level for level, value in known[:_PREDICTED_FROM])
            expected = [(level, 10 ** (rate * level)) for level, _ in known]
            lines.append((f"{name}, {model}", known, expected))
            rows += [
                (f"{name}, {model}", show_length(level), f"{value:.1%}", f"{should:.1%}")
                for (level, value), (_, should) in zip(known, expected, strict=True)
            ]

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        for label, known, expected in lines:
            (line,) = axes.plot(*zip(*known, strict=True), marker="o", markersize=4, label=label)
            axes.plot(*zip(*expected, strict=True), "--", color=line.get_color(), linewidth=1)
        axes.set(xlabel="output tokens", ylabel="accuracy", yscale="log")
        axes.set_title("accuracy; dashed: a constant error rate per entry", fontsize="small")
        axes.grid(alpha=0.3)
        if lines:
            axes.legend(fontsize="x-small")

    head = ("task and model", "level", "accuracy", "at a constant error rate")
    title = "Figure 6: accuracy by generation length, on a logarithmic scale"
    note = f"The trend is drawn through the {_PREDICTED_FROM} shortest levels."
    return Plate("figure-6-length", title, head, rows, note, fill)


def _segments(scores: Sequence[Scored]) -> Plate:
    of = [one for one in scores if one.variant.startswith("segment")]
    groups = {
        f"{procedure(name).UPSTREAM}, {model} ({show_length(level)})": {
            f"segment {number}": _share(
                one
                for one in of
                if (one.model, one.procedure, one.level, one.variant)
                == (model, name, level, f"segment {number}")
            )
            for number in range(1, SEGMENTS + 1)
        }
        for model in _models(of)
        for name in SEGMENTED
        for level in _levels(one for one in of if one.procedure == name)
    }
    return bars_plate(
        "figure-4-segments",
        "Figure 4: accuracy of each quarter of the output, all before it given",
        groups,
        what="task and model",
        up="accuracy (%)",
        note=_CHANCE,
    )


def _without_procedure(scores: Sequence[Scored]) -> Plate:
    of = [one for one in scores if one.procedure in PAIRS and one.variant in ("", "pairs")]
    levels = _levels(one for one in of if one.variant == "pairs")
    groups = {
        f"{procedure(name).UPSTREAM}, {model} ({show_length(level)})": {
            label: _share(
                one
                for one in of
                if (one.model, one.procedure, one.level, one.variant) == (model, name, level, variant)
            )
            for label, variant in (("ICL", "pairs"), ("ICL with procedure", ""))
        }
        for model in _models(of)
        for name in PAIRS
        for level in levels
    }
    return bars_plate(
        "figure-5-procedure",
        "Figure 5: with the procedure in the prompt, and without",
        groups,
        what="task and model",
        up="accuracy (%)",
        note=_CHANCE,
    )


def _sizes(scores: Sequence[Scored]) -> Plate:
    model = scores[0].model if scores else ""
    of = [one for one in scores if one.model == model]
    rows = []
    for name in dict.fromkeys(map(_name, of)):
        for level in _levels(of):
            some = [one for one in of if _name(one) == name and one.level == level]
            if some:
                given = fmean(one.input_tokens for one in some)
                made = fmean(one.output_tokens for one in some)
                rows.append((name, show_length(level), str(len(some)), f"{given:,.0f}", f"{made:,.0f}"))
    return Plate(
        "table-2-sizes", "Table 2: tasks, tokens in and out", ("task", "level", "N", "in", "out"), rows
    )
