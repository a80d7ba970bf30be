"""Reports: what the logs of runs say about accuracy, as tables and plots."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from commands import mesocosm
from PIL import Image

from mesocosm.errors import UsageError
from mesocosm.evaluation.reports import Bar, faults_among, measure, read_results, row, write_report
from mesocosm.evaluation.runs import Actor, RunResult, WantedRun, run_task
from mesocosm.evaluation.statistics import wilson
from mesocosm.families.family import load_family
from mesocosm.families.faults import faults_of

TASK = load_family("lore_documents")
SIZES = (2, 4, 8)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: the reference solver and nobody, at several N."""
    folder = tmp_path_factory.mktemp("runs")
    for operations in SIZES:
        for agent in ("reference", "none"):
            out = folder / f"{agent}-{operations}"
            parameters = {"operations": operations}
            run_task(TASK, WantedRun(parameters=parameters), Actor(agent), out)  # type: ignore[arg-type]
    return folder


def made(run: RunResult, operations: int, verdict: str, height: int = 1) -> RunResult:
    """A result like that of a run, of another N and verdict."""
    measures = {"operations": operations, "height": height}
    return run.model_copy(update={"measures": measures, "verdict": verdict})


def test_the_logs_of_runs_become_a_table_and_plots(runs: Path, tmp_path: Path) -> None:
    done = mesocosm("report", "lore", runs, "--out", tmp_path / "report", "--json")
    assert done.returncode == 0, done.stderr
    bars = [Bar.model_validate(bar) for bar in json.loads(done.stdout)["bars"]]
    by_n = {(bar.series, bar.low): bar for bar in bars if bar.by == "operations"}
    for operations in SIZES:
        for agent, accuracy in (("reference", 1), ("none", 0)):
            bar = by_n[f"{agent}, documents (standard)", operations]
            assert (bar.runs, bar.accuracy, bar.high, bar.errored) == (1, accuracy, operations, 0)
    results = read_results([runs])
    heights = {result.measures["height"] for result in results}
    assert {bar.low for bar in bars if bar.by == "height"} == heights
    folder = tmp_path / "report"
    rows = list(csv.DictReader((folder / "accuracy.csv").read_text().splitlines()))
    assert [float(row["accuracy"]) for row in rows] == [bar.accuracy for bar in bars]
    assert (folder / "accuracy.md").read_text().count("\n") == len(bars) + 2
    for by in ("operations", "height"):
        drawing = (folder / f"accuracy-by-{by}.svg").read_text()
        assert drawing.startswith("<?xml")
        with Image.open(folder / f"accuracy-by-{by}.png") as picture:
            assert picture.size == (1080, 630)
            assert len(picture.convert("RGB").getcolors(10**6) or []) > 50


def test_the_same_runs_give_the_same_files(runs: Path, tmp_path: Path) -> None:
    bars = measure(read_results([runs]), "operations", 12)
    one, other = write_report(bars, tmp_path / "one"), write_report(bars, tmp_path / "other")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]


def test_results_are_read_from_folders_and_files(runs: Path, tmp_path: Path) -> None:
    results = read_results([runs])
    assert len(results) == 2 * len(SIZES)
    assert read_results([runs / "none-4"]) == [
        result for result in results if result.agent == "none" and result.measures["operations"] == 4
    ]
    (tmp_path / "all.jsonl").write_text("\n".join(result.model_dump_json() for result in results))
    (tmp_path / "all.json").write_text(json.dumps([result.model_dump() for result in results]))
    assert read_results([tmp_path / "all.jsonl"]) == read_results([tmp_path / "all.json"]) == results


@pytest.mark.parametrize("content", ["", "{}", "no", '{"verdict": "passed"}'])
def test_what_is_no_result_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(UsageError):
        read_results([tmp_path / "run.json"])
    with pytest.raises(UsageError):
        read_results([tmp_path / "missing"])


def test_many_values_fall_into_few_bins(runs: Path) -> None:
    (run, *_) = read_results([runs / "none-4"])
    results = [made(run, n, "passed" if n <= 50 else "failed") for n in range(1, 101)]
    bars = measure(results, "operations", 4)
    assert [(bar.low, bar.high, bar.runs, bar.passed) for bar in bars] == [
        (1, 25, 25, 25),
        (26, 50, 25, 25),
        (51, 75, 25, 0),
        (76, 100, 25, 0),
    ]
    assert [bar.centre for bar in bars] == [13, 38, 63, 88]


def test_errored_runs_count_for_nothing_and_are_told(runs: Path) -> None:
    (run, *_) = read_results([runs / "none-4"])
    (bar,) = measure([made(run, 4, one) for one in ("passed", "failed", "errored")], "operations", 5)
    assert (bar.runs, bar.passed, bar.accuracy, bar.errored) == (2, 1, 0.5, 1)
    (alone,) = measure([made(run, 4, "errored")], "operations", 5)
    assert (alone.runs, alone.accuracy, alone.errored) == (0, None, 1)
    assert row(alone)[6:] == ("-", "-", "1")


def test_an_unknown_measure_names_the_known_ones(runs: Path) -> None:
    with pytest.raises(UsageError, match="height, operations"):
        measure(read_results([runs]), "depth", 5)


@pytest.mark.parametrize(
    ("passed", "runs", "interval"),
    [(0, 10, (0, 0.2775)), (10, 10, (0.7225, 1)), (5, 10, (0.2366, 0.7634)), (81, 263, (0.2553, 0.3662))],
)
def test_the_interval_is_that_of_wilson(passed: int, runs: int, interval: tuple[float, float]) -> None:
    assert wilson(passed, runs) == pytest.approx(interval, abs=1e-4)


def test_faults_are_told_by_kind_among_all_runs() -> None:
    met = faults_of([("call 1", "KeyError: 'a'"), ("call 2", "KeyError: 'b'"), ("call 3", "IndexError")])
    runs = [RunResult.model_construct(faults=faults) for faults in (met, met[:1])]
    assert [(fault.exception, fault.count) for fault in faults_among(runs)] == [
        ("KeyError", 4),
        ("IndexError", 1),
    ]
