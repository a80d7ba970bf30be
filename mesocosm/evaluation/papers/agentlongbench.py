"""AgentLongBench's Figures 3 to 7 and Tables 2 to 6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from mesocosm.evaluation.papers.plates import NONE, Curve, Plate, Share, curves_plate, heat_plate, shown
from mesocosm.evaluation.rollouts import CATEGORIES
from mesocosm.families.quantities import show_length
from mesocosm.kits.rollouts.predictions import ScoredQuestion, chances
from mesocosm.kits.rollouts.questions import TYPES

_SETTINGS = (("ki", "c", 3), ("kf", "c", 4), ("ki", "v", 5), ("kf", "v", 6))
_WORDS = {"ki": "knowledge-intensive", "kf": "knowledge-free", "c": "concise", "v": "verbose"}
_AT = 128_000


def plates(scores: Sequence[ScoredQuestion]) -> list[Plate]:
    """Heat maps by setting and format, the mean by length, evidence and accuracy by what is asked about."""
    asked = [one for one in scores if one.how == "prompt"] or list(scores)
    found = [
        _heat(number, setting, format, of)
        for setting, format, number in _SETTINGS
        if (of := [one for one in asked if (one.setting, one.format) == (setting, format)])
    ]
    return [*found, _by_length(asked), _table_2(asked), *_counts(asked)]


def _chance_note(scores: Sequence[ScoredQuestion]) -> str:
    known = chances(scores)
    told = ", ".join(f"{type} {share:.0%}" for (type, _), share in sorted(known.items()) if share)
    return (
        "Chance: what the best constant answer is worth on these questions, and for duplicates what reading "
        f"one of the two results is worth: {told or 'not known'}; 0 % for the others."
    )


def _heat(number: int, setting: str, format: str, scores: Sequence[ScoredQuestion]) -> Plate:
    lengths = sorted({one.length for one in scores})
    cells = {}
    for model in dict.fromkeys(one.model for one in scores):
        mine = [one for one in scores if one.model == model]
        groups: list[tuple[str, list[ScoredQuestion]]] = [
            (type, [o for o in mine if o.type == type]) for type in TYPES
        ]
        for category in dict.fromkeys(CATEGORIES.values()):
            groups.append((f"all of {category}", [one for one in mine if CATEGORIES[one.type] == category]))
        for name, of in groups:
            for length in lengths:
                share = Share.of(one.score for one in of if one.length == length)
                cells[f"{name}, {model}", show_length(length)] = share
    return heat_plate(
        f"figure-{number}-{setting}-{format}",
        f"Figure {number}: {_WORDS[setting]}, {_WORDS[format]}",
        cells,
        what="type and model",
        note=_chance_note(scores),
    )


def _by_length(scores: Sequence[ScoredQuestion]) -> Plate:
    """Every type counts the same, as every panel of the heat maps does."""
    curves = []
    for model in dict.fromkeys(one.model for one in scores):
        points = []
        for length in sorted({one.length for one in scores}):
            of = [one for one in scores if one.model == model and one.length == length]
            if share := Share.of(one.score for one in of):
                mean = fmean(_type_means(of))
                points.append((length, Share(mean, share.number, *_around(mean, share))))
        curves.append(Curve(model, points))
    return curves_plate(
        "figure-7-average",
        "Figure 7: mean score over types by length",
        curves,
        across="tokens",
        up="score (%)",
        log=len({one.length for one in scores}) > 1,
        note=_chance_note(scores),
    )


def _type_means(scores: Iterable[ScoredQuestion]) -> list[float]:
    grouped: dict[str, list[float]] = {}
    for one in scores:
        grouped.setdefault(one.type, []).append(one.score)
    return [fmean(found) for found in grouped.values()]


def _around(mean: float, share: Share) -> tuple[float, float]:
    half = (share.upper - share.lower) / 2
    return max(0.0, mean - half), min(1.0, mean + half)


def _table_2(scores: Sequence[ScoredQuestion]) -> Plate:
    lengths = sorted({one.length for one in scores})
    at = _AT if _AT in lengths else lengths[-1]
    rows = []
    for model in dict.fromkeys(one.model for one in scores):
        for format in ("c", "v"):
            for category in ("environment response", "tool response"):
                of = [
                    one
                    for one in scores
                    if (one.model, one.format, one.length) == (model, format, at)
                    and CATEGORIES[one.type] == category
                ]
                if of:
                    tokens = f"{fmean(one.evidence_tokens for one in of):,.1f}"
                    rows.append(
                        (model, _WORDS[format], category, tokens, shown(Share.of(o.score for o in of)))
                    )
    head = ("model", "format", "query target", "ACL (tokens)", f"accuracy ({show_length(at)})")
    return Plate(
        "table-2-acl", f"Table 2: adequate context length and accuracy at {show_length(at)}", head, rows
    )


def _counts(scores: Sequence[ScoredQuestion]) -> list[Plate]:
    found = []
    model = scores[0].model
    for number, (setting, format) in enumerate((("ki", "c"), ("ki", "v"), ("kf", "c"), ("kf", "v")), 3):
        of = [one for one in scores if (one.model, one.setting, one.format) == (model, setting, format)]
        if not of:
            continue
        lengths = sorted({one.length for one in of})
        counted = Counter((one.type, one.length) for one in of)
        rows = [(type, *(str(counted[type, length] or NONE) for length in lengths)) for type in TYPES]
        head = ("type", *map(show_length, lengths))
        title = f"Table {number}: questions asked, {_WORDS[setting]}, {_WORDS[format]}"
        found.append(Plate(f"table-{number}-{setting}-{format}", title, head, rows))
    return found
