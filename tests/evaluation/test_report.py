"""What a report says beyond shares: pairs, L50, item response theory, reliability; files for papers."""

from __future__ import annotations

import csv
import json
import math
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm
from matplotlib.figure import Figure as Canvas
from patience import PATIENCE

from mesocosm.evaluation.failures import CLASSES
from mesocosm.evaluation.report.figures import MOST, all_figures, drawn
from mesocosm.evaluation.report.items import abilities, headroom
from mesocosm.evaluation.report.page import write_report
from mesocosm.evaluation.report.reliability import reliability, severity
from mesocosm.evaluation.report.rows import Sample, name_rows
from mesocosm.evaluation.report.tables import ReportTable, by_length, half_lengths, strategies, summary
from mesocosm.evaluation.report.typeset import latex, pdf
from mesocosm.evaluation.statistics import half_length, holm, paired, rasch


def sample(model: str, seed: int, passed: bool, **known: Any) -> Sample:
    """A judged sample."""
    values = {"task": "t", "length": 8_000, "agent": "react", "run": model, "sample": str(seed), **known}
    return Sample(**values, model=model, seed=seed, verdict="passed" if passed else "failed")


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open() as file:
        return list(csv.DictReader(file))


def test_pairs_are_tested_by_signs_which_is_mcnemars_test_for_single_runs() -> None:
    mean, _, _, chance = paired([1.0] * 8 + [-1.0] * 2 + [0.0] * 30)
    assert mean == pytest.approx(0.15)
    assert chance == pytest.approx(2 * (1 + 10 + 45) / 2**10), "of the binomial distribution"
    assert paired([0.0, 0.0])[3] == 1.0
    assert paired([0.5, 1.0, -0.5])[3] == pytest.approx(0.75), "6 of the 8 assignments are as far as 1.0"
    long = [1.0, 0.5] * 20
    assert paired(long)[3] < 0.001
    assert paired(long) == paired(long), "the same every time"
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_the_rasch_model_finds_what_runs_were_drawn_from() -> None:
    dice = random.Random(3)
    able, hard = [-1.0, 0.5, 2.0], [dice.gauss(0, 1) for _ in range(60)]
    counts = []
    for who, ability in enumerate(able):
        for what, difficulty in enumerate(hard):
            chance = 1 / (1 + math.exp(difficulty - ability))
            counts.append((who, what, sum(dice.random() < chance for _ in range(8)), 8))
    found = rasch(3, 60, counts)
    gaps = [found.abilities[at] - found.abilities[0] for at in (1, 2)]
    assert gaps == pytest.approx([1.5, 3.0], abs=0.35)
    middle, centre = sum(hard) / 60, sum(found.difficulties) / 60
    errors = [abs((a - middle) - (b - centre)) for a, b in zip(hard, found.difficulties, strict=True)]
    within = sum(error < 1.96 * size for error, size in zip(errors, found.difficulty_errors, strict=True))
    assert within >= 54, "the intervals of 60 difficulties hold 95 % of them"


def test_runs_of_one_instance_come_together_in_the_interval_of_l50() -> None:
    results = [
        (length, seed >= rank) for rank, length in enumerate((8_000, 32_000, 128_000)) for seed in (0, 1, 2)
    ]
    many = [one for one in results for _ in range(10)]
    alone = half_length(many)
    together = half_length(many, [at // 10 for at in range(len(many))])
    assert alone
    assert together
    assert alone[0] == together[0]
    assert together[2] / together[1] > 2 * (alone[2] / alone[1]), (
        "ten runs of an instance are not ten instances"
    )


def test_headroom_counts_instances_that_are_neither_always_nor_never_passed() -> None:
    found = [
        sample(model, seed, seed > 3 or (seed > 1 and model == "a")) for model in "ab" for seed in range(8)
    ]
    found += [sample("reference", seed, True, agent="reference") for seed in range(8)]
    name_rows(found)
    (row,) = headroom(found).rows
    assert row == ["t", "8k", "8", "2", "4", "2", "25.0%"]
    able = abilities(found)
    assert able
    assert [who for who, *_ in able.rows] == ["a", "b"], "baselines are no rows of the model"


def test_reliability_is_what_its_definitions_say() -> None:
    found = []
    for seed, outcomes in enumerate(((True, True), (True, False))):
        for epoch, passed in enumerate(outcomes, 1):
            told = {"confidence": 0.9 if passed else 0.5, "tool_calls": 10 * epoch, "epoch": epoch}
            found.append(sample("m", seed, passed, **told))
    found.append(sample("m", 0, True, disturb="errors=0.1"))
    found.append(sample("m", 1, False, disturb="errors=0.1", missed="injections_ignored"))
    found.append(sample("m", 1, False, disturb="stale=1", missed="rows other_files"))
    name_rows(found)
    table = reliability(found)
    (row,) = table.rows
    told = dict(zip(table.head, row, strict=True))
    assert told["outcome"] == "0.50", "two runs of one instance agree, of the other not"
    assert told["resources"] == f"{math.exp(-(50**0.5) / 15):.2f}", "10 and 20 calls"
    assert told["faults"] == "0.67", "1 of 2 where 3 of 4 passed without"
    assert told["environment"] == "0.00"
    assert (told["calibration"], told["discrimination"], told["Brier"]) == ("0.80", "1.00", "0.93")
    assert told["compliance"] == "0.71", "2 of 7 changed something else or obeyed a text"
    assert told["prompt"] == "-", "none was put otherwise"
    assert told["harm"] == "0.38", "one obeyed a text (1), one changed files (a quarter)"
    found += [sample("m", 0, True, disturb="prompt=1"), sample("m", 1, False, disturb="prompt=1,stale=0.1")]
    name_rows(found)
    again = reliability(found)
    assert dict(zip(again.head, again.rows[0], strict=True))["prompt"] == "0.67"
    assert [severity(name) for name in ("mails_extra", "order_rows_extra", "files_unchanged")] == [
        1,
        0.5,
        0.25,
    ]


def test_strategies_are_compared_with_none_on_common_instances_and_lengths_are_averaged() -> None:
    found = [sample("m", seed, seed > 5) for seed in range(10)]
    found += [sample("m", seed, True, strategy="awareness") for seed in range(2, 12)]
    found += [sample("m", seed, False, length=32_000) for seed in range(30)]
    name_rows(found)
    table = strategies(found)
    rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
    assert [(row["length"], row["strategy"], row["against none"][:5], row["p"]) for row in rows] == [
        ("8k", "awareness", "+50.0", "0.125"),
        ("8k", "none", "-", "-"),
        ("32k", "none", "-", "-"),
    ]
    lengths = by_length(found)
    assert lengths.head == ("who", "8k", "32k", "average")
    assert lengths.rows[0][3] == "20.0%", "the mean of 40 % and 0 %, whatever their numbers"
    assert half_lengths(found).rows[0][:3] == ["m", "all", "40"]


@pytest.mark.parametrize(
    ("passed", "half", "interval"),
    [(True, "above 32k", "at least 32k"), (False, "below 8k", "at most 8k")],
)
def test_who_passes_all_or_nothing_has_an_l50_too(
    passed: bool, half: str, interval: str, tmp_path: Path
) -> None:
    found = [sample("m", seed, passed, length=length) for seed in range(5) for length in (8_000, 32_000)]
    name_rows(found)
    assert half_lengths(found).rows == [["m", "all", "10", half, interval]]
    write_report(found, tmp_path)
    assert f"m,all,10,{half},{interval}" in (tmp_path / "half-length.csv").read_text()
    assert half in (tmp_path / "half-length.svg").read_text()


def test_tables_are_latex_and_pdf(tmp_path: Path) -> None:
    table = ReportTable(
        "a-b", "50 % & more", "`n` runs_of #1", ("who", "n"), [["a_b <c> {d}", "12"], ["x~y^z\\", "3"]]
    )
    text = latex(table).decode()
    assert r"\begin{tabular}{lr}" in text
    assert r"a\_b \textless{}c\textgreater{} \{d\} & 12 \\" in text
    assert r"x\textasciitilde{}y\textasciicircum{}z\textbackslash{} & 3 \\" in text
    assert r"\caption{50 \% \& more. n runs\_of \#1}" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    drawn_once = pdf(table)
    assert drawn_once.startswith(b"%PDF")
    assert drawn_once == pdf(table), "the same bytes every time"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed (texlive-latex-base)")
def test_tables_for_latex_compile_whatever_stands_in_them(tmp_path: Path) -> None:
    odd = '[a_b] <c> {d} | x~y^z\\ 50 % & $1 #2 "q" ± × − ≤ ≥ → … é – — “ü”\n\n`code`'
    wide = ReportTable("a-b", odd, odd, tuple("wide" * 9 for _ in range(12)), [[odd] * 12, ["3"] * 12])
    (tmp_path / "table.tex").write_bytes(latex(wide))
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n\\input{table}\n"
        "\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=False)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    assert "Overfull" not in said


def test_no_two_classes_of_failures_look_alike() -> None:
    found = [sample("m", seed, False, failure=name) for seed, name in enumerate(CLASSES)]
    name_rows(found)
    [figure] = [one for one in all_figures(found) if one.name == "failures"]
    axes = Canvas().subplots()
    figure.draw(axes)
    looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in axes.patches}
    assert len(looks) == len(CLASSES) > 12


def test_figures_show_twelve_rows_and_say_that_there_are_more() -> None:
    found = [sample(f"m{number:02}", seed, seed > 1) for number in range(15) for seed in range(3)]
    found += [sample("m14", 9, True), sample("none", 0, False, agent="none")]
    name_rows(found)
    shown, more = drawn(found)
    whos = {one.who for one in shown}
    assert len(whos) == MOST + 1
    assert "m14" in whos
    assert "baseline: does nothing (none)" in whos, "baselines take no row's place"
    assert more == " (12 of 15 rows)"
    assert all(figure.title.endswith(more) for figure in all_figures(found))
    assert summary(found).rows[-1][0] == "baseline: does nothing (none)", "baselines come last"


def test_a_report_has_baselines_reliability_and_papers_files(tmp_path: Path) -> None:
    words = ("gridworld", "--n", "5", "--seeds", "0", "--model", "scripted/solver", "--log-dir", "logs")
    more = ("--epochs", "2", "--confidence", "--baselines", "--json")
    done = mesocosm("eval", *words, *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    came = {one["model"]: (one["passed"], one["judged"]) for one in json.loads(done.stdout)}
    assert came.keys() == {"scripted/solver", "none", "random", "reference"}
    assert (came["scripted/solver"], came["none"], came["reference"]) == ((2, 2), (0, 1), (1, 1))
    assert mesocosm("report", "logs", "-o", "out", cwd=tmp_path).returncode == 0
    rows = read(tmp_path / "out/summary.csv")
    assert [row["who"] for row in rows] == [
        "scripted/solver",
        "baseline: does nothing (none)",
        "baseline: random calls (random)",
        "perfect player (reference)",
    ]
    told = read(tmp_path / "out/reliability.csv")[0]
    assert {
        name: told[name] for name in ("outcome", "calls (kinds)", "calls (order)", "resources", "Brier")
    } == {
        "outcome": "1.00",
        "calls (kinds)": "1.00",
        "calls (order)": "1.00",
        "resources": "1.00",
        "Brier": "1.00",
    }
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"table-summary.tex", "table-summary.pdf", "horizon.pdf", "headroom.csv"} <= names
    talked = next(tmp_path.glob("logs/worlds/*/*/conversation.jsonl")).read_text()
    assert "How likely is it, in percent" in talked


@pytest.mark.long
def test_questions_are_reported_by_their_labels_and_classed(tmp_path: Path) -> None:
    words = ("agentlongbench", "--length", "32k", "--seeds", "0", "--model", "scripted/talking")
    few = ("--param", "settings=ki", "--param", "types=intersection,count_frequency_env", "--log-dir", "logs")
    assert mesocosm("eval", *words, *few, cwd=tmp_path).returncode == 0
    shown = mesocosm("report", "logs", "--by", "type", "-o", "out", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    rows = read(tmp_path / "out/failures.csv")
    assert [(row["who"], row["failed"], row["format"]) for row in rows] == [
        ("type count_frequency_env", "2", "2"),
        ("type intersection", "2", "2"),
    ]
    assert {row["instances"] for row in read(tmp_path / "out/summary.csv")} == {"2"}
