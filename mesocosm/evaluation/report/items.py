"""Instances as the items of a test: which tell rows apart, how hard each is, and how able each row is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.report.tables import ReportTable, grouped, percent
from mesocosm.evaluation.statistics import Rasch, rasch
from mesocosm.families.quantities import show_length

MOST = 400
"""Instances that the table names, the ones nearest to the middle first."""
_LEAST_ROWS = 2


def shares_of(samples: Sequence[Sample]) -> dict[tuple[object, ...], dict[str, tuple[int, int]]]:
    """For each instance how often each row passed, of how many runs; of rows that are no baselines."""
    found: dict[tuple[object, ...], dict[str, tuple[int, int]]] = {}
    for one in samples:
        if one.judged and not one.baseline:
            passed, runs = found.setdefault(one.instance, {}).get(one.who, (0, 0))
            found[one.instance][one.who] = passed + (one.verdict == "passed"), runs + 1
    return found


def headroom(samples: Sequence[Sample]) -> ReportTable:
    """Count the instances that discriminate: neither always passed nor never."""
    results = shares_of(samples)
    rows = []
    groups = grouped(
        (one for one in samples if one.instance in results), lambda one: (one.task, one.length or 0)
    )
    for (task, length), group in groups.items():
        totals = [_total(results[instance]) for instance in dict.fromkeys(one.instance for one in group)]
        never = sum(passed == 0 for passed, _ in totals)
        always = sum(passed == runs for passed, runs in totals)
        between = len(totals) - never - always
        shown = show_length(length) if length else "custom"
        counts = map(str, (len(totals), never, always, between))
        rows.append([task, shown, *counts, percent(between / len(totals))])
    note = (
        "Over all rows but the baselines. Headroom is the share of instances that are neither always nor "
        "never passed: only these tell rows apart."
    )
    head = ("task", "length", "instances", "never passed", "always passed", "between", "headroom")
    return ReportTable("headroom", "Headroom", note, head, rows)


def _total(runs: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    return sum(passed for passed, _ in runs.values()), sum(number for _, number in runs.values())


def fitted(samples: Sequence[Sample]) -> tuple[list[str], list[tuple[object, ...]], Rasch] | None:
    """Rows, instances and the model of them; ``None`` for fewer than two rows or instances."""
    results = shares_of(samples)
    rows = sorted({who for runs in results.values() for who in runs})
    instances = list(results)
    if len(rows) < _LEAST_ROWS or len(instances) < _LEAST_ROWS:
        return None
    counts = [
        (rows.index(who), at, passed, runs)
        for at, instance in enumerate(instances)
        for who, (passed, runs) in results[instance].items()
    ]
    return rows, instances, rasch(len(rows), len(instances), counts)


def abilities(samples: Sequence[Sample]) -> ReportTable | None:
    """Estimate the ability of each row, across different instances."""
    if (found := fitted(samples)) is None:
        return None
    whos, instances, model = found
    order = sorted(range(len(whos)), key=lambda at: -model.abilities[at])
    rows = [
        [whos[at], f"{model.abilities[at]:+.2f}", f"{1.96 * model.ability_errors[at]:.2f}"] for at in order
    ]
    note = (
        "A Rasch model (item response theory, one parameter): the logarithm of the odds that a row passes "
        "an instance is its ability less the instance's difficulty; both have a normal prior. "
        f"{len(instances)} instances. Rows that were run on different instances can be compared by it, as "
        "far as the model holds."
    )
    return ReportTable(
        "abilities", "Ability (item response theory)", note, ("who", "ability", "± 95 %"), rows
    )


def difficulties(samples: Sequence[Sample]) -> ReportTable | None:
    """Estimate the difficulty of each instance."""
    if (found := fitted(samples)) is None:
        return None
    _, instances, model = found
    results = shares_of(samples)
    order = sorted(range(len(instances)), key=lambda at: abs(model.difficulties[at]))[:MOST]
    rows = []
    for at in sorted(order, key=lambda at: -model.difficulties[at]):
        task, length, seed, _, given = instances[at]
        passed, runs = _total(results[instances[at]])
        shown = show_length(length) if isinstance(length, int) else "custom"
        name = " ".join(filter(None, (str(task), shown, f"seed {seed}", str(given))))
        error = f"{1.96 * model.difficulty_errors[at]:.2f}"
        rows.append([name, str(runs), percent(passed / runs), f"{model.difficulties[at]:+.2f}", error])
    more = f" The {MOST} nearest to 0 of {len(instances)}." if len(instances) > MOST else ""
    note = f"Difficulties of the same model: at 0, a row of mean ability passes every second run.{more}"
    head = ("instance", "runs", "passed", "difficulty", "± 95 %")
    return ReportTable("difficulties", "Difficulty of instances (item response theory)", note, head, rows)
