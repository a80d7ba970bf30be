"""Exposure: how much of a description a filter may skip that was trained on other instances of the family.

The survey's results are taken apart into *items* (a mail, a document, a row of a list). A filter learns from
other seeds which items hold evidence: from their text (words and pairs of words), and from everything but the
text (length, place, hour, flags, the form of addresses, what is set and what is not). It is then applied to
this instance. The *skippable share* is the share of tokens in items that it may drop while it keeps 99 % of
those that hold evidence: near 0 where length is difficulty, near 1 where length is padding.
"""

# A filter is trained on other seeds: what it learned on the same one could be luck (decision 037).

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any, TypeVar

from pydantic import BaseModel, computed_field

from mesocosm.errors import MissingExtra
from mesocosm.families.exposure import filters
from mesocosm.families.exposure.items import DescriptionItem, items_of
from mesocosm.families.exposure.sentences import SentenceExposure, measure_all_sentences, measure_sentences
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import memory_for
from mesocosm.families.workers.workers import Workers

TRAINING_SEEDS = 6
BOUND_SKIPPABLE, BOUND_AUC = 0.4, 0.6
"""Targets for worlds."""

Report = Callable[[str], None]
T = TypeVar("T")


class Feature(BaseModel):
    """One thing that is not text, and how well it alone tells evidence from the rest."""

    name: str
    auc: float


class Exposure(BaseModel):
    """Output of ``mesocosm describe --exposure``."""

    items: int
    evidence_items: int
    evidence_tokens: int
    """Tokens of the items that hold evidence, which is less than those of the results that do."""
    skippable: float
    skippable_alike: float
    """The same among the items of kinds that hold evidence at all: which tools give none is no secret."""
    auc_text: float | None
    """``None`` where all items hold evidence, or none does."""
    auc_without_text: float | None
    worst: Feature | None
    """The single feature that tells most."""
    sentences: SentenceExposure | None = None
    """The same by sentence, of families that know what each tells."""
    curves: dict[str, list[tuple[float, float]]] = {}
    """Of each filter: shares of the tokens that it drops, and of the evidence items that it still keeps."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def beyond(self) -> list[str]:
        """Figures outside the targets for worlds; empty if all are within."""
        worst = self.worst.auc if self.worst else None
        figures = (
            ("skippable share", self.skippable, BOUND_SKIPPABLE),
            ("AUC of everything but the text", self.auc_without_text, BOUND_AUC),
            (f"AUC of {self.worst.name if self.worst else ''} alone", worst, BOUND_AUC),
        )
        return [
            f"{name} {figure:.2f}, at most {bound:.2f} is aimed at"
            for name, figure, bound in figures
            if figure is not None and round(figure, 2) > bound
        ]


class ExposureEstimate(BaseModel):
    """Estimate of a family's exposure from several instances."""

    mean: float
    error: float | None
    """Half the interval that has the family's own figure in 95 of 100 cases; ``None`` of one."""


class FamilyExposure(BaseModel):
    """The exposure of a family at a length: that of several instances, each by what others taught."""

    instances: int
    skippable: ExposureEstimate
    skippable_alike: ExposureEstimate
    """The same among the items of kinds that hold evidence at all."""
    auc_text: ExposureEstimate | None
    auc_without_text: ExposureEstimate | None
    worst: Feature | None
    """The single feature that tells most on average, as the other instances say it points."""
    worst_error: float | None
    sentences: SentenceExposure | None = None
    """Means of the instances, of families that know what each sentence tells."""


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
    training: list[DescriptionItem] = []
    for number, other in enumerate(others, 1):
        report(f"reading another instance: {number} of {len(others)}")
        training += items_of(family, other, target, parameters)
    report("reading this instance")
    items = items_of(family, seed, target, parameters)
    report("filtering")
    found = judge(training, items)
    found.sentences = measure_sentences(
        family, seed, others, target=target, parameters=parameters, report=report
    )
    return found


def measure_family(
    family: Family,
    seeds: Sequence[int],
    *,
    target: int | None,
    parameters: Mapping[str, Any] | None = None,
    report: Report = lambda _: None,
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
        read.append(items_of(family, seed, target, parameters))
    found = judge_family(read, report)
    places = range(len(seeds))
    found.sentences = measure_all_sentences(
        family,
        seeds,
        lambda number: _others(places, number),
        target=target,
        parameters=parameters,
        report=report,
    )
    return found


def _others(all_of_them: Sequence[T], number: int) -> list[T]:
    """Those from which one learns: at most six of the others, first those that come after it."""
    return [*all_of_them[number + 1 :], *all_of_them[:number]][:TRAINING_SEEDS]


Job = tuple[str, int, tuple[int, ...]]
"""A task, a length, and the seeds of the instances."""


def measure_families(
    jobs: Sequence[Job], workers: Workers, parameters: Mapping[str, Any] | None = None
) -> Iterator[tuple[Job, FamilyExposure]]:
    """The exposure of each task at each length, as they are done; long ones are begun first."""
    ordered = sorted(jobs, key=lambda job: -job[1])
    return workers.done(partial(_measure_job, parameters=parameters), ordered, lambda job: memory_for(job[1]))


def _measure_job(job: Job, parameters: Mapping[str, Any] | None) -> FamilyExposure:
    task, length, seeds = job
    return measure_family(load_family(task), seeds, target=length, parameters=parameters)


def judge_family(
    read: Sequence[Sequence[DescriptionItem]], report: Report = lambda _: None
) -> FamilyExposure:
    """Measure filters on each of several instances, trained on those after it."""
    found = []
    for number, items in enumerate(read):
        report(f"filtering instance {number + 1} of {len(read)}")
        found.append(_judge([item for other in _others(read, number) for item in other], items))
    worst, worst_error = _worst_of(read)
    return FamilyExposure(
        instances=len(read),
        skippable=_estimate([one.skippable for one in found]),
        skippable_alike=_estimate([one.skippable_alike for one in found]),
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


def _estimate(figures: Sequence[float]) -> ExposureEstimate:
    from scipy.stats import t

    number = len(figures)
    error = None
    if number > 1:
        error = float(t.ppf(0.975, number - 1)) * statistics.stdev(figures) / number**0.5
    return ExposureEstimate(mean=round(statistics.fmean(figures), 3), error=error and round(error, 3))


def _estimate_of_known(figures: Sequence[float | None]) -> ExposureEstimate | None:
    known = [figure for figure in figures if figure is not None]
    return _estimate(known) if known else None


def _worst_of(read: Sequence[Sequence[DescriptionItem]]) -> tuple[Feature | None, float | None]:
    """The fact that tells most on average, and how sure that is."""
    told: dict[str, list[float]] = {}
    for items in read:
        for name in sorted(filters.fact_names(items)):
            auc = filters.area(items, [filters.fact(item, name) for item in items])
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


def judge(training: Sequence[DescriptionItem], items: Sequence[DescriptionItem]) -> Exposure:
    """Measure on ``items`` a filter trained on ``training``."""
    found = _judge(training, items)
    return (
        found if found.auc_text is None else found.model_copy(update={"worst": _worst_fact(training, items)})
    )


def _judge(training: Sequence[DescriptionItem], items: Sequence[DescriptionItem]) -> Exposure:
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
        return Exposure(
            **counts, skippable=0, skippable_alike=0, auc_text=None, auc_without_text=None, worst=None
        )
    # One thread: the data is small, and threads that wait for each other cost more than they bring.
    # So it does not matter that a machine without lscpu does not tell how many cores it has.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Could not find the number of physical cores", UserWarning)
        by_text, by_facts = filters.score_texts(training, items), filters.score_facts(training, items)
    by_filter = {
        "text": by_text,
        "everything but the text": by_facts,
        "both": [one + other for one, other in zip(by_text, by_facts, strict=True)],
    }
    kinds = {item.kind for item in held}
    alike = [item.kind in kinds for item in items]
    those = list(compress(items, alike))
    return Exposure(
        **counts,
        skippable=round(max(filters.skippable(items, scores) for scores in by_filter.values()), 3),
        skippable_alike=round(
            max(filters.skippable(those, list(compress(scores, alike))) for scores in by_filter.values()), 3
        ),
        auc_text=filters.area(items, by_text),
        auc_without_text=filters.area(items, by_facts),
        worst=None,
        curves={name: filters.curve(items, scores) for name, scores in by_filter.items()},
    )


def _worst_fact(training: Sequence[DescriptionItem], items: Sequence[DescriptionItem]) -> Feature | None:
    """Return the fact with the most information, with the direction learned on other instances."""
    best: Feature | None = None
    for name in sorted(filters.fact_names(training) & filters.fact_names(items)):
        before = filters.area(training, [filters.fact(item, name) for item in training])
        now = filters.area(items, [filters.fact(item, name) for item in items])
        if before is None or now is None:
            continue
        auc = round(now if before >= 0.5 else 1 - now, 3)
        if best is None or auc > best.auc:
            best = Feature(name=name, auc=auc)
    return best
