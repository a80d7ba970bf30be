"""Exposure: how much of a description a filter may skip that was trained on other instances of the family.

The survey's results are taken apart into *items* (a mail, a document, a row of a list). A filter learns from
other seeds which items hold evidence: from their text (words and pairs of words), and from everything but the
text (length, place, hour, flags, the form of addresses, what is set and what is not). It is then applied to
this instance. The *skippable share* is the share of tokens in items that it may drop while it keeps 99 % of
those that hold evidence: near 0 where length is difficulty, near 1 where length is padding.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from mesocosm.errors import MissingExtra
from mesocosm.families.building import build_instance
from mesocosm.families.family import Evidence, Family
from mesocosm.families.items import items_of_text, written
from mesocosm.families.length import EvidenceFinder, Survey
from mesocosm.services.service import Image
from mesocosm.services.world import World
from mesocosm.worlds import tokens

KEPT = 0.99
"""The share of evidence items that a filter has to keep."""
TRAINING_SEEDS = 6
_ADDRESS = re.compile(r"([\w.+-]+)@([\w.-]+\.\w+)")
_FEW_VALUES = 30

Report = Callable[[str], None]


@dataclass(frozen=True)
class Item:
    """One thing that a reader would look at or pass over."""

    kind: str
    """The tool that delivered it, and what of its result it is (of a workbook: of which sheet): only items of
    one kind are compared."""
    tokens: int
    evidence: bool
    text: str
    facts: Mapping[str, float | str]
    """Everything about it but its text."""


class Feature(BaseModel):
    """One thing that is not text, and how well it alone tells evidence from the rest."""

    name: str
    auc: float


class Exposure(BaseModel):
    """What ``mesocosm describe --exposure`` adds."""

    items: int
    evidence_items: int
    evidence_tokens: int
    """Tokens of the items that hold evidence, which is less than those of the results that do."""
    skippable: float
    auc_text: float | None
    """``None`` where all items hold evidence, or none does."""
    auc_without_text: float | None
    worst: Feature | None
    """The single feature that tells most."""


class Estimate(BaseModel):
    """What several instances say of a family."""

    mean: float
    error: float | None
    """Half the interval that has the family's own figure in 95 of 100 cases; ``None`` of one."""


class FamilyExposure(BaseModel):
    """The exposure of a family at a length: that of several instances, each by what others taught."""

    instances: int
    skippable: Estimate
    auc_text: Estimate | None
    auc_without_text: Estimate | None
    worst: Feature | None
    """The single feature that tells most on average, as the other instances say it points."""
    worst_error: float | None


def measure_exposure(
    family: Family,
    seed: int,
    *,
    target: int | None,
    parameters: Mapping[str, Any] | None = None,
    report: Report = lambda _: None,
) -> Exposure:
    """Train a filter on other seeds of the family and apply it to this one."""
    _need_sklearn()
    others = [seed + 1000 + number for number in range(TRAINING_SEEDS)]
    training: list[Item] = []
    for number, other in enumerate(others, 1):
        report(f"reading another instance: {number} of {len(others)}")
        training += _items_of(family, other, target, parameters)
    report("reading this instance")
    items = _items_of(family, seed, target, parameters)
    report("filtering")
    return judge(training, items)


def measure_family(
    family: Family, seeds: Sequence[int], *, target: int | None, report: Report = lambda _: None
) -> FamilyExposure:
    """Apply to the instance of every seed a filter that learned from (at most six) others of them.

    One instance says little where what counts is drawn in lumps (whole columns of a sheet, all orders of a
    day): its items are not independent of each other. Instances are, so their spread is the honest measure of
    how sure a figure is.
    """
    _need_sklearn()
    read = []
    for number, seed in enumerate(seeds, 1):
        report(f"reading instance {number} of {len(seeds)}")
        read.append(_items_of(family, seed, target, None))
    return judge_family(read, report)


def judge_family(read: Sequence[Sequence[Item]], report: Report = lambda _: None) -> FamilyExposure:
    """What filters may skip in each of several instances that learned from those that come after it."""
    found = []
    for number, items in enumerate(read):
        report(f"filtering instance {number + 1} of {len(read)}")
        others = [*read[number + 1 :], *read[:number]][:TRAINING_SEEDS]
        found.append(_judge([item for other in others for item in other], items))
    worst, worst_error = _worst_of(read)
    return FamilyExposure(
        instances=len(read),
        skippable=_estimate([one.skippable for one in found]),
        auc_text=_estimate_of_known([one.auc_text for one in found]),
        auc_without_text=_estimate_of_known([one.auc_without_text for one in found]),
        worst=worst,
        worst_error=worst_error,
    )


def _need_sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra("exposure", "exposure") from None


def _estimate(figures: Sequence[float]) -> Estimate:
    from scipy.stats import t

    number = len(figures)
    error = None
    if number > 1:
        error = float(t.ppf(0.975, number - 1)) * statistics.stdev(figures) / number**0.5
    return Estimate(mean=round(statistics.fmean(figures), 3), error=error and round(error, 3))


def _estimate_of_known(figures: Sequence[float | None]) -> Estimate | None:
    known = [figure for figure in figures if figure is not None]
    return _estimate(known) if known else None


def _worst_of(read: Sequence[Sequence[Item]]) -> tuple[Feature | None, float | None]:
    """The fact that tells most on average, and how sure that is."""
    told: dict[str, list[float]] = {}
    for items in read:
        for name in sorted(_fact_names(items)):
            auc = _auc(items, [_fact(item, name) for item in items])
            if auc is not None:
                told.setdefault(name, []).append(auc)
    best: Feature | None = None
    error = None
    for name, figures in told.items():
        # What only a few instances have says nothing about the family.
        if len(figures) < max(2, len(read) / 2):
            continue
        others = [(sum(figures) - own) / (len(figures) - 1) for own in figures]
        pointed = [own if other >= 0.5 else 1 - own for own, other in zip(figures, others, strict=True)]
        estimate = _estimate(pointed)
        if best is None or estimate.mean > best.auc:
            best, error = Feature(name=name, auc=estimate.mean), estimate.error
    return best, error


def judge(training: Sequence[Item], items: Sequence[Item]) -> Exposure:
    """What a filter that learned from ``training`` may skip among ``items``."""
    found = _judge(training, items)
    return (
        found if found.auc_text is None else found.model_copy(update={"worst": _worst_fact(training, items)})
    )


def _judge(training: Sequence[Item], items: Sequence[Item]) -> Exposure:
    """All but the worst single feature."""
    from threadpoolctl import threadpool_limits

    truth = [item.evidence for item in items]
    held = [item for item in items if item.evidence]
    counts = {
        "items": len(items),
        "evidence_items": len(held),
        "evidence_tokens": sum(item.tokens for item in held),
    }
    if len(set(truth)) < 2 or len({item.evidence for item in training}) < 2:
        return Exposure(**counts, skippable=0, auc_text=None, auc_without_text=None, worst=None)
    # One thread: the data is small, and threads that wait for each other cost more than they bring.
    # So it does not matter that a machine without lscpu does not tell how many cores it has.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Could not find the number of physical cores", UserWarning)
        by_text, by_facts = _score_texts(training, items), _score_facts(training, items)
    together = [one + other for one, other in zip(by_text, by_facts, strict=True)]
    return Exposure(
        **counts,
        skippable=round(max(_skippable(items, scores) for scores in (by_text, by_facts, together)), 3),
        auc_text=_auc(items, by_text),
        auc_without_text=_auc(items, by_facts),
        worst=None,
    )


def _auc(items: Sequence[Item], scores: Sequence[float]) -> float | None:
    """How often an item with evidence scores above one of its kind without; ``None`` without such pairs.

    Items of different kinds are no pair: which tool delivers what is no secret, and the prompt says it.
    """
    from scipy.stats import rankdata

    kinds: dict[str, tuple[list[bool], list[float]]] = {}
    for item, score in zip(items, scores, strict=True):
        truth, scored = kinds.setdefault(item.kind, ([], []))
        truth.append(item.evidence)
        scored.append(score)
    right = pairs = 0.0
    for truth, scored in kinds.values():
        held = sum(truth)
        if 0 < held < len(truth):
            # The Mann-Whitney statistic; ties are half right.
            ranks = rankdata(scored).compress(truth)
            right += float(ranks.sum()) - held * (held + 1) / 2
            pairs += held * (len(truth) - held)
    return round(right / pairs, 3) if pairs else None


def _skippable(items: Sequence[Item], scores: Sequence[float]) -> float:
    """The share of tokens in items that score below all but the last hundredth of the evidence."""
    held = sorted(score for item, score in zip(items, scores, strict=True) if item.evidence)
    bar = held[int(len(held) * (1 - KEPT))]
    dropped = sum(item.tokens for item, score in zip(items, scores, strict=True) if score < bar)
    return dropped / sum(item.tokens for item in items)


# -- filters --------------------------------------------------------------------------------------------


def _score_texts(training: Sequence[Item], items: Sequence[Item]) -> list[float]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_features=60_000, sublinear_tf=True)
    try:
        known = words.fit_transform(f"{item.kind} {item.text}" for item in training)
    except ValueError:  # nothing that is a word
        return [0.0] * len(items)
    model = LogisticRegression(C=10, max_iter=300, class_weight="balanced")
    model.fit(known, [item.evidence for item in training])
    scores = model.decision_function(words.transform(f"{item.kind} {item.text}" for item in items))
    return _standard([float(score) for score in scores])


def _score_facts(training: Sequence[Item], items: Sequence[Item]) -> list[float]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction import DictVectorizer

    columns = DictVectorizer(sparse=False)
    known = columns.fit_transform([_categories(item) for item in training])
    model = HistGradientBoostingClassifier(max_iter=120, random_state=0)
    # A tree parts no column of which fewer rows than a leaf has differ: leaving them out changes nothing, and
    # most columns are such (each subject and each code is one).
    apart = [_differing(column) >= model.min_samples_leaf for column in known.T]
    model.fit(known[:, apart], [item.evidence for item in training])
    asked = columns.transform([_categories(item) for item in items])[:, apart]
    return _standard([float(chance) for chance in model.predict_proba(asked)[:, 1]])


def _differing(column: Iterable[float]) -> int:
    """How many of some values are not the most frequent one."""
    counts = Counter(column)
    return counts.total() - max(counts.values())


def _categories(item: Item) -> dict[str, float | str]:
    return {"kind": item.kind, **item.facts}


def _standard(scores: list[float]) -> list[float]:
    mean = sum(scores) / len(scores)
    spread = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    return [(score - mean) / (spread or 1) for score in scores]


def _worst_fact(training: Sequence[Item], items: Sequence[Item]) -> Feature | None:
    """The fact that tells most by itself, the way it points learned elsewhere."""
    best: Feature | None = None
    for name in sorted(_fact_names(training) & _fact_names(items)):
        before = _auc(training, [_fact(item, name) for item in training])
        now = _auc(items, [_fact(item, name) for item in items])
        if before is None or now is None:
            continue
        auc = round(now if before >= 0.5 else 1 - now, 3)
        if best is None or auc > best.auc:
            best = Feature(name=name, auc=auc)
    return best


def _fact_names(items: Sequence[Item]) -> set[str]:
    names = Counter(name for item in items for name in _single(item))
    return {name for name, number in names.items() if number > 3}


def _single(item: Item) -> Iterator[str]:
    for name, value in item.facts.items():
        yield f"{name}={value}" if isinstance(value, str) else name


def _fact(item: Item, name: str) -> float:
    key, is_text, wanted = name.partition("=")
    value = item.facts.get(key)
    if is_text:
        return float(value == wanted)
    return float(value) if isinstance(value, int | float) else -1.0


# -- items ----------------------------------------------------------------------------------------------


@dataclass
class _Reading(Survey):
    """A survey that keeps what it reads, item by item."""

    items: list[Item] = field(default_factory=list)

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """Make one call; its text blocks are taken apart."""
        blocks = super().look(service, tool, arguments)
        finder = self.finders.get(service)
        for block in blocks:
            if isinstance(block, str):
                parts = list(items_of_text(block))
                for place, (kind, part) in enumerate(parts):
                    sheet = arguments.get("sheet_name") or arguments.get("sheet") or ""
                    name = f"{service}.{tool}{kind}{sheet}"
                    self.items.append(_item(name, part, place, len(parts), arguments, finder))
        return blocks


def _items_of(
    family: Family, seed: int, target: int | None, parameters: Mapping[str, Any] | None
) -> list[Item]:
    with tempfile.TemporaryDirectory(prefix="mesocosm-exposure-") as folder:
        built = build_instance(family, seed, Path(folder) / "x", target=target, parameters=parameters)
        with World(built.path / "world", read_only=True) as world:
            reading = _Reading(world, list[Evidence](built.expected.evidence))
            family.survey(reading, built.expected)
    return _with_frequencies(reading.items)


def _item(
    kind: str, part: Any, place: int, among: int, arguments: Mapping[str, Any], finder: EvidenceFinder | None
) -> Item:
    text = written(part)
    facts: dict[str, float | str] = {
        "tokens": tokens.count(text),
        "place": place / among,
        "last": float(place == among - 1),
    }
    for name, value in arguments.items():
        if isinstance(value, str) and len(value) <= 40:
            facts[f"call.{name}"] = value
    texts: list[str] = []
    _take_apart("", part, facts, texts)
    held = bool(finder and finder.held_by(text))
    return Item(kind, int(facts["tokens"]), held, "\n".join(texts), facts)


def _take_apart(path: str, value: Any, facts: dict[str, float | str], texts: list[str]) -> None:
    """Sort what an item holds into text and everything but text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _take_apart(f"{path}.{key}", inner, facts, texts)
    elif isinstance(value, list):
        facts[f"{path}.count"] = len(value)
        texts += [orjson.dumps(value).decode()] if value else []
    elif value is None or isinstance(value, bool):
        facts[path] = str(value)
    elif isinstance(value, int | float):
        facts[path] = float(value)
    else:
        _take_text_apart(path, value, facts, texts)


def _take_text_apart(path: str, value: str, facts: dict[str, float | str], texts: list[str]) -> None:
    facts[f"{path}.length"] = len(value)
    if moment := _moment(value):
        facts[f"{path}.hour"] = moment.hour + moment.minute / 60
        facts[f"{path}.weekday"] = moment.weekday()
        facts[f"{path}.minute"] = moment.minute
        return
    if (address := _ADDRESS.search(value)) and len(value) < 120:
        facts[f"{path}.digits"] = sum(letter.isdigit() for letter in address[1])
        facts[f"{path}.dots"] = address[1].count(".")
        facts[f"{path}.address"] = len(address[0])
        facts[f"{path}.who"] = address[0]
        facts[f"{path}.domain"] = address[2]
        return
    facts[f"{path}.lines"] = value.count("\n")
    facts[f"{path}.html"] = float("</" in value)
    facts[f"{path}.quoted"] = float("\n>" in value)
    if " " in value.strip():
        texts.append(value)
    else:
        facts[path] = value


def _moment(value: str) -> datetime | None:
    if not (10 <= len(value) <= 40 and value[:2].isdigit()):
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def _with_frequencies(items: list[Item]) -> list[Item]:
    """Items whose addresses, names and codes are told by how often they occur, unless they are few."""
    values: dict[str, Counter[str]] = {}
    for item in items:
        for name, value in item.facts.items():
            if isinstance(value, str):
                values.setdefault(f"{item.kind}{name}", Counter())[value] += 1
    for item in items:
        facts = dict(item.facts)
        for name, value in item.facts.items():
            counts = values.get(f"{item.kind}{name}")
            if counts is not None and isinstance(value, str):
                facts[f"{name}.times"] = counts[value]
                if len(counts) > _FEW_VALUES:
                    del facts[name]
        object.__setattr__(item, "facts", facts)
    return items
