"""All that a report holds, by what its samples can fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mesocosm.evaluation.report import items, reliability
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.report.tables import (
    ReportTable,
    by_horizon,
    by_length,
    effort,
    errors,
    failed,
    failures,
    families,
    grouped,
    half_lengths,
    horizons_of,
    lengths_of,
    pairs,
    repeated,
    robustness,
    strategies,
    summary,
)


def all_tables(samples: Sequence[Sample], links: Mapping[str, str] | None = None) -> list[ReportTable]:
    """Every table that these samples can fill; ``links`` are pages of episodes, by their folders."""
    own = [sample for sample in samples if not sample.baseline]
    tables = [summary(samples)]
    if lengths_of(samples):
        tables.append(by_length(samples))
    if len({sample.who for sample in own}) > 1:
        tables.append(pairs(samples))
    if (halves := half_lengths(samples)).rows:
        tables.append(halves)
    tables.append(effort(samples))
    if len({sample.plan for sample in own}) > 1:
        tables.append(strategies(samples))
    if any(sample.disturb for sample in samples):
        tables.append(robustness(samples))
    if any(len(group) > 1 for group in grouped(samples, lambda one: (one.who, one.instance)).values()):
        tables.append(repeated(samples))
    if reliability.applies(samples):
        tables.append(reliability.reliability(samples))
    if horizons_of(samples):
        tables.append(by_horizon(samples))
    tables += [failures(samples), families(samples)]
    if items.shares_of(samples):
        tables.append(items.headroom(samples))
    tables += filter(None, (items.abilities(samples), items.difficulties(samples)))
    if any(sample.verdict == "failed" for sample in samples):
        tables.append(failed(samples, links or {}))
    if any(sample.verdict == "errored" for sample in samples):
        tables.append(errors(samples))
    return tables
