"""Tables of a report. Each share carries its interval and the number of samples that it is of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf
from pathlib import Path
from typing import TypeVar

from mesocosm.evaluation.failures import CLASSES
from mesocosm.evaluation.report.rows import BASELINES, Sample
from mesocosm.evaluation.reports import wide_bins
from mesocosm.evaluation.statistics import (
    HalfLength,
    bootstrap,
    detectable,
    half_length,
    holm,
    paired,
    pass_at,
    pass_hat,
    wilson,
)
from mesocosm.evaluation.table_files import as_csv, markdown
from mesocosm.families.disturbances import FINDING
from mesocosm.families.quantities import show_length

K = TypeVar("K", bound=Hashable)
FAILED_SHOWN = 200


@dataclass(frozen=True)
class Cell:
    """Aggregate of some samples."""

    samples: int
    """Judged ones."""
    passed: int
    errored: int
    cancelled: int
    low: float
    high: float
    """The Wilson interval of the accuracy, at 95 %."""
    instances: tuple[float, float]
    """The bootstrap interval over instances."""

    @property
    def accuracy(self) -> float | None:
        """``None`` where nothing was judged."""
        return self.passed / self.samples if self.samples else None


@dataclass(frozen=True)
class ReportTable:
    """A table for people and for programs."""

    name: str
    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    links: Mapping[str, str] = field(default_factory=dict)
    """Pages that cells lead to, relative to the report's, by the cells' text."""

    def markdown(self) -> str:
        head, *rows = ([cell.replace("|", "/") for cell in cells] for cells in (self.head, *self.rows))
        return f"## {self.title}\n\n{self.note}\n\n{markdown(head, rows)}"

    def csv(self) -> bytes:
        return as_csv(self.head, self.rows)


def grouped(samples: Iterable[Sample], key: Callable[[Sample], K]) -> dict[K, list[Sample]]:
    """Samples by a key, in the order of the keys."""
    groups: dict[K, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(key(sample), []).append(sample)
    return dict(sorted(groups.items(), key=lambda item: _order(item[0])))


def _order(key: object) -> list[str]:
    """Numbers by their size and all else as text, whatever is missing."""
    parts = key if isinstance(key, tuple) else (key,)
    return [f"{part:015d}" if isinstance(part, int) else _last(str(part)) for part in parts]


def _last(text: str) -> str:
    """Baselines behind all others."""
    return f"\uffff{text}" if text.startswith(tuple(BASELINES.values())) else text


def judge(samples: Sequence[Sample]) -> Cell:
    """Aggregate samples. Those without a verdict are counted as errors or interruptions."""
    judged = [sample for sample in samples if sample.judged]
    cancelled = sum(sample.verdict == "cancelled" for sample in samples)
    passed = sum(sample.verdict == "passed" for sample in judged)
    by_instance = grouped(judged, lambda sample: sample.instance)
    interval = bootstrap([[one.verdict == "passed" for one in group] for group in by_instance.values()])
    errored = len(samples) - len(judged) - cancelled
    return Cell(len(judged), passed, errored, cancelled, *wilson(passed, len(judged)), interval)


def lengths_of(samples: Iterable[Sample]) -> list[int]:
    return sorted({sample.length for sample in samples if sample.length})


def summary(samples: Sequence[Sample]) -> ReportTable:
    """One line for each model and strategy."""
    rows = []
    for who, group in grouped(samples, lambda sample: sample.who).items():
        cell = judge(group)
        show = detectable(cell.samples, cell.accuracy or 0)
        rows.append(
            [
                who,
                str(cell.samples),
                str(len({one.instance for one in group if one.judged})),
                str(cell.errored),
                str(cell.cancelled),
                percent(cell.accuracy),
                interval(cell.low, cell.high) if cell.samples else "-",
                interval(*cell.instances) if cell.samples else "-",
                percent(show),
                percent(mean(sample.score for sample in group if sample.judged)),
            ]
        )
    head = (
        "who",
        "n",
        "instances",
        "errored",
        "cancelled",
        "accuracy",
        "95 % (Wilson)",
        "95 % (instances)",
        "detectable",
        "findings",
    )
    note = (
        "Accuracy is the share of judged samples that passed. Its first interval is Wilson's, the second a "
        "bootstrap over instances. `detectable` is the smallest difference between two groups of this size "
        "that shows with a chance of 80 %. `findings` is the share of findings that passed. No share counts "
        "what `errored` (for a fault that is not the model's) or was `cancelled` (by an interruption)."
    )
    if unlike(samples):
        note += " " + UNLIKE
    return ReportTable("summary", "Models", note, head, rows)


def by_length(samples: Sequence[Sample]) -> ReportTable:
    """Accuracy against the description length."""
    lengths = lengths_of(samples)
    rows = []
    for who, group in grouped(samples, lambda sample: sample.who).items():
        cells = [judge([one for one in group if one.length == length]) for length in lengths]
        known = [cell.accuracy for cell in cells if cell.accuracy is not None]
        rows.append([who, *map(share, cells), percent(mean(known)) if len(known) == len(cells) else "-"])
    note = "Accuracy, its 95 % interval, n; `average`: the mean over the lengths, each of the same weight."
    head = ("who", *map(show_length, lengths), "average")
    return ReportTable("by-length", "Accuracy against length", note, head, rows)


UNLIKE = (
    "THE ROWS WERE RUN ON DIFFERENT INSTANCES: their shares cannot be compared; the table `pairs` compares "
    "them on those that both have."
)


def unlike(samples: Sequence[Sample]) -> bool:
    """True if rows were run on different instances."""
    groups = grouped((one for one in samples if one.judged and not one.baseline), lambda sample: sample.who)
    return len({frozenset(one.instance for one in group) for group in groups.values()}) > 1


def pairs(samples: Sequence[Sample]) -> ReportTable:
    """Every two rows against each other, on the instances that both were judged on."""
    judged = [one for one in samples if one.judged and not one.baseline]
    groups = grouped(judged, lambda sample: sample.who)
    shares = {who: shares_by_instance(group) for who, group in groups.items()}
    found = []
    for one, other in combinations(shares, 2):
        common = [instance for instance in shares[one] if instance in shares[other]]
        if common:
            apart = [shares[one][instance] - shares[other][instance] for instance in common]
            found.append((one, other, len(common), *paired(apart)))
    corrected = holm([p for *_, p in found])
    rows = [
        [
            *(one, other, str(n)),
            f"{len(shares[one]) - n} / {len(shares[other]) - n}",
            f"{100 * gap:+.1f}",
            f"{100 * low:+.1f} to {100 * high:+.1f}",
            *map(p_value, (p, whole)),
        ]
        for (one, other, n, gap, low, high, p), whole in zip(found, corrected, strict=True)
    ]
    note = (
        "The difference of the accuracies of A and B, in points, on the instances that both were judged on "
        "(`n`; `left out`: instances of one alone), with its interval at 95 % by bootstrap over instances. "
        "`p`: how often signs by lot give as large a difference (with one run of each instance that is "
        "McNemar's exact test); the last column is corrected for the number of pairs by Holm's method."
    )
    head = ("A", "B", "n", "left out", "difference", "95 %", "p", "p (Holm)")
    return ReportTable("pairs", "Rows against each other, on common instances", note, head, rows)


def shares_by_instance(judged: Sequence[Sample]) -> dict[tuple[object, ...], float]:
    """Return the pass rate of each instance."""
    groups = grouped(judged, lambda sample: sample.instance)
    return {
        instance: sum(one.verdict == "passed" for one in runs) / len(runs)
        for instance, runs in groups.items()
    }


def p_value(p: float) -> str:
    """A probability as it is written."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def halves_of(samples: Sequence[Sample]) -> Iterator[tuple[str, str, int, HalfLength]]:
    """Yield L50 of each row, over all its tasks (``all``) and of each: who, task, judged samples, value."""
    for who, group in grouped(samples, lambda sample: sample.who).items():
        tasks = grouped(group, lambda sample: sample.task)
        parts = {"all": group} | (dict(tasks) if len(tasks) > 1 else {})
        for task, some in parts.items():
            judged = [one for one in some if one.length and one.judged]
            if (half := half_of(judged)) is not None:
                yield who, task, len(judged), half


def half_lengths(samples: Sequence[Sample]) -> ReportTable:
    """L50 of each model and strategy, over all tasks and of each task."""
    rows = [
        [who, task, str(runs), half_shown(half), interval_shown(half)]
        for who, task, runs, half in halves_of(samples)
    ]
    note = (
        "The description length at which half of the episodes are still passed: a logistic fit over the "
        "logarithm of the length, its interval by bootstrap. `above`: half of them still pass at the longest "
        "length that was run; `below`: less than half pass at the shortest. Where all pass, or all fail, the "
        "interval has one end, by a sign test over five instances or more."
    )
    return ReportTable("half-length", "L50", note, ("who", "task", "n", "L50", "95 %"), rows)


def half_of(judged: Sequence[Sample]) -> HalfLength | None:
    """L50 of judged samples that have a length."""
    told = [(one.length or 0, one.verdict == "passed") for one in judged]
    return half_length(told, [one.instance for one in judged])


def half_shown(half: HalfLength) -> str:
    """L50, or on which side of the lengths that were run it lies."""
    if half.value == inf:
        return f"above {show_length(half.longest)}"
    return tokens(half.value) if half.value else f"below {show_length(half.shortest)}"


def interval_shown(half: HalfLength) -> str:
    """The interval of L50, of which an end may be open."""
    if half.low == 0 and half.high == inf:
        return "-"
    if half.high == inf:
        return f"at least {tokens(half.low)}" if half.low < inf else f"above {show_length(half.longest)}"
    if half.low == 0:
        return f"at most {tokens(half.high)}" if half.high else f"below {show_length(half.shortest)}"
    return f"{tokens(half.low)} to {tokens(half.high)}"


def tokens(length: float) -> str:
    """A length that was fitted."""
    return show_length(int(round(length, -2 if length < 1_000_000 else -5)))


_EFFORT: dict[str, Callable[[Sample], float | None]] = {
    "turns": lambda one: one.turns,
    "tool calls": lambda one: one.tool_calls,
    "tool-output tokens": lambda one: one.delivered_tokens,
    "trajectory": lambda one: one.trajectory_length,
    "completion tokens": lambda one: one.output_tokens,
    "coverage": lambda one: one.coverage,
    "re-reads": lambda one: one.re_reads,
    "seconds": lambda one: one.seconds,
    "cost ($)": lambda one: one.cost,
}


def effort(samples: Sequence[Sample]) -> ReportTable:
    """Table of average effort: calls, tokens, time."""
    rows = []
    for (who, length), group in grouped(samples, lambda sample: (sample.who, sample.length or 0)).items():
        judged = [sample for sample in group if sample.judged]
        cells = [
            number(mean(get(sample) for sample in judged), share_of=name == "coverage")
            for name, get in _EFFORT.items()
        ]
        rows.append([who, show_length(length) if length else "custom", str(len(judged)), *cells])
    rows.sort(key=lambda row: row[0])
    note = (
        "Means over judged samples. `trajectory` is the largest context of any turn and all that strategies "
        "took away; `coverage` the share of the evidence that was delivered."
    )
    return ReportTable("effort", "What it took", note, ("who", "length", "n", *_EFFORT), rows)


def strategies(samples: Sequence[Sample]) -> ReportTable:
    """Strategies against each other, at each length."""
    rows = []
    key: Callable[[Sample], tuple[str, int, str]] = lambda one: (one.named, one.length or 0, one.plan)  # noqa: E731
    groups = grouped((one for one in samples if not one.baseline), key)
    for (model, length, strategy), group in groups.items():
        judged = [sample for sample in group if sample.judged]
        removed = mean(sample.removed_tokens for sample in judged)
        trajectory = mean(sample.trajectory_length for sample in judged)
        shown = show_length(length) if length else "custom"
        gain, chance = "-", "-"
        if strategy != "none" and (apart := _against(groups.get((model, length, "none"), []), judged)):
            gap, low, high, p = paired(apart)
            gain, chance = f"{100 * gap:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})", p_value(p)
        cells = (share(judge(group)), gain, chance, number(trajectory), number(removed))
        rows.append([model, shown, strategy, *cells])
    head = ("model", "length", "strategy", "accuracy", "against none", "p", "trajectory", "removed tokens")
    note = (
        "Accuracy, its 95 % interval, n; means. `against none`: the difference to the same model without a "
        "strategy, in points, on the instances that both have, with its interval and p as in the table of "
        "pairs."
    )
    return ReportTable("strategies", "Strategies", note, head, rows)


def _against(before: Sequence[Sample], after: Sequence[Sample]) -> list[float]:
    """Return the differences in pass rate, one for each common instance."""
    old, new = (shares_by_instance([one for one in some if one.judged]) for some in (before, after))
    return [new[instance] - old[instance] for instance in new if instance in old]


HORIZON_BINS = 8


def robustness(samples: Sequence[Sample]) -> ReportTable:
    """Table of the cost of disturbances: each model and strategy against its undisturbed self, on the same
    instances.
    """
    calm = grouped((one for one in samples if not one.disturb), _counterpart)
    disturbed = grouped((one for one in samples if one.disturb), lambda one: (one.undisturbed, one.disturb))
    rows = []
    for (who, disturb), group in disturbed.items():
        shared = [one for one in group if _counterpart(one) in calm]
        beside = [one for key in dict.fromkeys(map(_counterpart, shared)) for one in calm[key]]
        here, before = judge(shared), judge(beside)
        known = here.samples and before.samples
        cost = (here.accuracy or 0) - (before.accuracy or 0) if known else None
        obeyed = sum(FINDING in one.missed.split() for one in group)
        rows.append(
            [who, disturb, str(len(group)), share(judge(group)), share(before), percent(cost), str(obeyed)]
        )
    note = (
        "Disturbed on purpose (`--disturb`). Undisturbed: the same model and strategy on the instances that "
        "both have; the difference is of these alone. Obeyed: samples that did what a text told them."
    )
    head = ("who", "disturbed", "n", "accuracy", "undisturbed", "difference", "obeyed")
    return ReportTable("robustness", "Robustness", note, head, rows)


def _counterpart(sample: Sample) -> tuple[object, ...]:
    return (sample.undisturbed, *sample.instance)


def horizons_of(samples: Sequence[Sample]) -> list[tuple[tuple[int, int], list[Sample]]]:
    """Samples whose best calls are known, in bins of how many calls an optimal policy needs."""
    known = [one for one in samples if one.horizon is not None and one.steps is not None]
    edges = wide_bins({one.horizon for one in known if one.horizon is not None}, HORIZON_BINS)
    return [(edge, [one for one in known if edge[0] <= (one.horizon or 0) <= edge[1]]) for edge in edges]


def by_world(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    """Group samples by actor, and by task if there are several, because horizons are not comparable."""
    known = [one for one in samples if one.horizon is not None and one.steps is not None]
    several = len({one.task for one in known}) > 1
    return grouped(known, lambda one: f"{one.who}, {one.task}" if several else one.who)


def by_horizon(samples: Sequence[Sample]) -> ReportTable:
    """Success beside step accuracy, against the calls that an optimal policy needs."""
    rows = []
    for who, group in by_world(samples).items():
        for (low, high), part in horizons_of(group):
            cell = judge(part)
            steps = mean(one.step_accuracy for one in part if one.judged)
            shown = str(low) if low == high else f"{low} to {high}"
            rows.append([who, shown, str(cell.samples), share(cell), percent(steps)])
    note = (
        "The horizon is the number of calls of an optimal policy. `step accuracy` is the share of calls that "
        "were among the best when they were made, a mean over judged samples."
    )
    head = ("who", "horizon", "n", "accuracy", "step accuracy")
    return ReportTable("by-horizon", "Success and step accuracy against horizon", note, head, rows)


def repeated(samples: Sequence[Sample]) -> ReportTable:
    """pass@k and pass^k, where instances were run several times."""
    rows = []
    for who, group in grouped(samples, lambda sample: sample.who).items():
        judged = [sample for sample in group if sample.judged]
        results: dict[object, Sequence[bool]] = {
            instance: [one.verdict == "passed" for one in runs]
            for instance, runs in grouped(judged, lambda sample: sample.instance).items()
        }
        most = max(map(len, results.values()), default=0)
        for k in range(1, most + 1):
            counted = sum(len(runs) >= k for runs in results.values())
            rows.append(
                [who, str(k), str(counted), percent(pass_at(k, results)), percent(pass_hat(k, results))]
            )
    head = ("who", "k", "instances", "pass@k", "pass^k")
    note = "The chance that one, and that all, of k runs of an instance pass."
    return ReportTable("repeated", "Runs of the same instance", note, head, rows)


def failures(samples: Sequence[Sample]) -> ReportTable:
    rows = []
    for who, group in grouped(samples, lambda sample: sample.who).items():
        failed = [sample for sample in group if sample.verdict == "failed"]
        counts = [sum(sample.failure == name for sample in failed) for name in CLASSES]
        rows.append([who, str(len(failed)), *map(str, counts)])
    note = "; ".join(f"`{name}`: {meaning}" for name, meaning in CLASSES.items()) + "."
    return ReportTable("failures", "Why it failed", note, ("who", "failed", *CLASSES), rows)


def families(samples: Sequence[Sample]) -> ReportTable:
    """A line for each task, a column for each model and strategy."""
    whos = list(grouped(samples, lambda sample: sample.who))
    rows = [
        [task, show_length(length) if length else "custom"]
        + [share(judge([sample for sample in group if sample.who == who])) for who in whos]
        for (task, length), group in sorted(
            grouped(samples, lambda sample: (sample.task, sample.length or 0)).items()
        )
    ]
    return ReportTable("tasks", "Tasks", "Accuracy, its 95 % interval, n.", ("task", "length", *whos), rows)


def failed(samples: Sequence[Sample], links: Mapping[str, str]) -> ReportTable:
    found = [sample for sample in samples if sample.verdict == "failed"]
    rows = [
        [one.who, one.sample, str(one.epoch), one.failure, one.missed, place(one)]
        for one in found[:FAILED_SHOWN]
    ]
    more = f" The first {FAILED_SHOWN} of {len(found)}." if len(found) > FAILED_SHOWN else ""
    note = f"`mesocosm view FOLDER` shows what happened in a world.{more}"
    head = ("who", "sample", "epoch", "class", "findings that did not pass", "folder")
    return ReportTable("failed", "Failed samples", note, head, rows, links)


def place(sample: Sample) -> str:
    """The folder in which a sample's episode is kept, or nothing."""
    return str(Path(sample.log).parent / sample.world) if sample.world else ""


def errors(samples: Sequence[Sample]) -> ReportTable:
    """Table of errors that are not the model's fault."""
    found = grouped((one for one in samples if one.verdict == "errored"), lambda one: (one.who, one.error))
    rows = [[who, str(len(group)), error] for (who, error), group in found.items()]
    note = "Samples that could not be judged for a fault that is not the model's; no share counts them."
    return ReportTable("errors", "Errors", note, ("who", "n", "error"), rows)


# -- how numbers are written ----------------------------------------------------------------------------


def mean(values: Iterable[float | int | None]) -> float | None:
    """The mean of what is known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def percent(value: float | None) -> str:
    """A share."""
    return "-" if value is None else f"{value:.1%}"


def interval(low: float, high: float) -> str:
    """An interval of shares."""
    return f"{low:.1%} to {high:.1%}"


def share(cell: Cell) -> str:
    """Format a share with its interval and denominator."""
    if not cell.samples:
        return "-"
    return f"{percent(cell.accuracy)} ({interval(cell.low, cell.high)}; n {cell.samples})"


def number(value: float | None, *, share_of: bool = False) -> str:
    """A mean."""
    if value is None:
        return "-"
    if share_of:
        return percent(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
