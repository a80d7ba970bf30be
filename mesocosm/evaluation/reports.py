"""Reports: accuracy against what the difficulty of instances is measured by, from the logs of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel, ValidationError

from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import RunResult
from mesocosm.evaluation.statistics import wilson
from mesocosm.evaluation.table_files import draw_shares, markdown, models_as_csv, models_as_json, write_files
from mesocosm.families.family import load_family
from mesocosm.families.faults import Fault
from mesocosm.families.figures import render
from mesocosm.kits.weaving.datasets import domain_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORLDS = "worlds"
"""Folder beside the logs of evaluations in which their episodes are kept, by the log's name."""
_LABELS = {"operations": "operations (N)", "height": "tree height"}


class Bar(BaseModel):
    """The runs of one series whose measure lies in one bin."""

    series: str
    by: str
    """The measure: operations or height."""
    low: int
    high: int
    """The least and the greatest value of the bin, both in it."""
    centre: float
    """The mean of the runs' values."""
    runs: int
    """Judged runs; errored ones are left out."""
    passed: int
    accuracy: float | None
    """``None`` where no run was judged."""
    lower: float
    upper: float
    """The Wilson interval of the accuracy, at 95 %."""
    errored: int
    """Runs that could not be judged for a fault that is not the agent's."""


def read_results(paths: Iterable[Path]) -> list[RunResult]:
    """Read results of runs: run directories, folders of runs or logs, logs, or output of ``run --json``."""
    results = [result for path in paths for result in _read(path)]
    if not results:
        raise UsageError("there are no results of runs")
    return results


def _read(path: Path) -> Iterator[RunResult]:
    if path.suffix == ".eval" and path.is_file():
        files = sorted((path.parent / WORLDS / path.stem).glob("*/run.json"))
        if not files:
            raise UsageError(f"the episodes of {path} are not beside it: there is no {WORLDS}/{path.stem}")
    elif path.is_dir():
        files = [path / "run.json"] if (path / "run.json").is_file() else sorted(path.rglob("run.json"))
        if not files:
            raise UsageError(f"{path} holds no run.json")
    elif path.is_file():
        files = [path]
    else:
        raise UsageError(f"there is no {path}")
    for file in files:
        try:
            for value in _documents(file.read_bytes()):
                yield RunResult.model_validate(value)
        except ValidationError as error:
            missing = ".".join(str(part) for part in error.errors()[0]["loc"]) or "what it begins with"
            raise UsageError(f"{file} is no result of `mesocosm run --json`: look at {missing}") from None
        except (orjson.JSONDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} is no result of a run: {error}") from None


def _documents(data: bytes) -> list[Any]:
    """The values of a JSON document (an array is several), or of JSON lines."""
    try:
        whole = orjson.loads(data)
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in data.splitlines() if line.strip()]
    return whole if isinstance(whole, list) else [whole]


def faults_among(results: Iterable[RunResult]) -> list[Fault]:
    """The kinds of faults of ours that were met in runs, whatever their verdicts; the most frequent first."""
    found: dict[str, Fault] = {}
    for result in results:
        for fault in result.faults:
            known = found.get(fault.fingerprint)
            count = fault.count + (known.count if known else 0)
            found[fault.fingerprint] = (known or fault).model_copy(update={"count": count})
    return sorted(found.values(), key=lambda fault: (-fault.count, fault.fingerprint))


def series_of(result: RunResult) -> str:
    """Name a series: actor, domain and variant."""
    who = result.conversation.model if result.conversation else result.agent
    try:
        domain, variant = domain_of(load_family(result.task))
    except UsageError:  # a task that is gone
        return f"{who}, {result.task}"
    return f"{who}, {domain} ({variant})"


def measure(results: Sequence[RunResult], by: str, bins: int) -> list[Bar]:
    """Accuracy per series over the values of a measure, in at most so many bins of equal width."""
    measured = [result for result in results if by in result.measures]
    if not measured:
        known = sorted({name for result in results for name in result.measures})
        raise UsageError(f"no run is measured by {by!r}; they are by {', '.join(known) or 'nothing'}")
    edges = bins_of({result.measures[by] for result in measured}, bins)
    grouped: dict[tuple[str, tuple[int, int]], list[RunResult]] = {}
    for result in measured:
        edge = next(edge for edge in edges if result.measures[by] <= edge[1])
        grouped.setdefault((series_of(result), edge), []).append(result)
    return [_bar(series, by, edge, grouped[series, edge]) for series, edge in sorted(grouped)]


def bins_of(values: set[int], bins: int) -> list[tuple[int, int]]:
    """At most so many bins of equal width, each by its least and its greatest value."""
    if len(values) <= bins:
        return [(value, value) for value in sorted(values)]
    low, width = min(values), -(-(max(values) - min(values) + 1) // bins)
    return [(start, start + width - 1) for start in range(low, max(values) + 1, width)]


def wide_bins(values: set[int], bins: int) -> list[tuple[int, int]]:
    """At most so many bins that grow as their values do, each by its least and its greatest value."""
    if len(values) <= bins:
        return [(value, value) for value in sorted(values)]
    low = max(1, min(values))
    factor = (max(values) / low) ** (1 / bins)
    grouped: dict[int, list[int]] = {}
    for value in sorted(values):
        place = int(log(max(low, value) / low) / log(factor) + 1e-9)
        grouped.setdefault(min(bins - 1, place), []).append(value)
    return [(group[0], group[-1]) for group in grouped.values()]


def _bar(series: str, by: str, edge: tuple[int, int], results: Sequence[RunResult]) -> Bar:
    judged = [result for result in results if result.verdict != "errored"]
    passed = sum(result.verdict == "passed" for result in judged)
    lower, upper = wilson(passed, len(judged))
    return Bar(
        series=series,
        by=by,
        low=edge[0],
        high=edge[1],
        centre=round(sum(result.measures[by] for result in results) / len(results), 3),
        runs=len(judged),
        passed=passed,
        accuracy=passed / len(judged) if judged else None,
        lower=lower,
        upper=upper,
        errored=len(results) - len(judged),
    )


# -- writing -----------------------------------------------------------------------------------------------


HEAD = ("series", "by", "from", "to", "runs", "passed", "accuracy", "95 % interval", "errored")


def row(bar: Bar) -> Sequence[str]:
    judged = ("-", "-")
    if bar.accuracy is not None:
        judged = (f"{bar.accuracy:.1%}", f"{bar.lower:.1%} to {bar.upper:.1%}")
    counts = map(str, (bar.low, bar.high, bar.runs, bar.passed))
    return (bar.series, bar.by, *counts, *judged, str(bar.errored))


def write_report(bars: Sequence[Bar], folder: Path) -> list[Path]:
    """Write the table (CSV, Markdown, JSON) and a plot per measure (SVG, PNG); what is there is replaced."""
    written = {
        "accuracy.csv": models_as_csv(Bar, bars),
        "accuracy.md": markdown(HEAD, map(row, bars)).encode(),
        "accuracy.json": models_as_json(bars),
    }
    for by in dict.fromkeys(bar.by for bar in bars):
        for kind in ("svg", "png"):
            written[f"accuracy-by-{by}.{kind}"] = draw([bar for bar in bars if bar.by == by], kind)
    return write_files(folder, written)


def draw(bars: Sequence[Bar], kind: str) -> bytes:
    """A plot of accuracy with its intervals against one measure, as ``svg`` or ``png``; the same bytes for
    the same bars."""

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        for series in dict.fromkeys(bar.series for bar in bars):
            drawn = [bar for bar in bars if bar.series == series and bar.runs]
            at, shares = [bar.centre for bar in drawn], [bar.passed / bar.runs for bar in drawn]
            draw_shares(axes, at, shares, [(bar.lower, bar.upper) for bar in drawn], series)
        axes.set(xlabel=_LABELS.get(bars[0].by, bars[0].by), ylabel="accuracy (%)", ylim=(-3, 103))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")

    return render(fill, kind)
