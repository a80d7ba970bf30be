"""Each paper's experiment from one command and its figures from another, small, with scripted models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm
from later import Later
from samples import sampled

from mesocosm.errors import UsageError
from mesocosm.evaluation.papers.plate_data import plates_of
from mesocosm.evaluation.papers.plates import Plate, Share, bars_plate, write_plates
from mesocosm.evaluation.papers.presets import ORACLES, Paper, evaluations, loca_tasks
from mesocosm.kits.rollouts.options import BUCKETS

files = Later("inspect_ai.log")

SMALL: dict[Paper, tuple[str, ...]] = {
    "lore": (
        "lore_documents,lore_code,lore_code_hard",
        "--model", "scripted/slipping:rate=10", "--n", "1,3", "--seeds", "0",
    ),
    "lumina": (
        "listworld", "--model", "scripted/obedient", "--n", "3", "--seeds", "0",
        "--strategy", "none", "--strategy", "oracle:give=SP",
    ),
    "agentlongbench": ("--model", "scripted/solver", "--length", "32k", "--seeds", "0"),
    "longproc": (
        "--model", "scripted/solver", "--length", "0.5k,2k,8k", "--seeds", "0",
        "--param", "procedures=path_traversal,html_to_tsv,countdown",
    ),
    "loca": ("canvas_list_test", "--agent", "reference", "--length", "8k", "--seeds", "42"),
}  # fmt: skip
EXPECTED: dict[Paper, set[str]] = {
    "lore": {
        "figure-1-steps", "figure-4-code-hard-operations", "figure-4-code-hard-tree-height",
        "figure-3-documents-standard-operations", "figure-3-documents-standard-tree-height",
        "figure-3-code-standard-operations", "figure-3-code-standard-tree-height", "figure-5-failures",
    },
    "lumina": {
        "figure-3-listworld", "figure-4-listworld", "figure-6a-model", "figure-6b-environment",
    },
    "agentlongbench": {
        "figure-3-ki-c", "figure-4-kf-c", "figure-5-ki-v", "figure-6-kf-v", "figure-7-average", "table-2-acl",
        "table-3-ki-c", "table-4-ki-v", "table-5-kf-c", "table-6-kf-v",
    },
    "longproc": {
        "table-2-sizes", "table-3-averages", "figure-3-tasks", "figure-4-segments", "figure-5-procedure",
        "figure-6-length", "table-5-termination", "table-8-filtering", "table-9-tasks", "table-10-tasks",
        "table-11-tasks",
    },
    "loca": {
        "table-1-accuracy", "figure-1-accuracy", "table-2-strategies", "table-4-trajectory", "table-5-calls",
        "table-6-output", "figures-4-to-7-failures",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("papers")


def ran(paper: Paper, logs: Path) -> list[dict[str, Any]]:
    words = ("eval", "--paper", paper, *SMALL[paper], "--log-dir", logs / paper, "--json")
    done = mesocosm(*words, cwd=logs)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("paper", sampled(SMALL, ("loca", "lumina")))
def test_a_papers_figures_are_drawn_of_a_small_run(paper: Paper, logs: Path, tmp_path: Path) -> None:
    for outcome in ran(paper, logs):
        assert outcome["errored"] == 0, outcome
    if paper not in ("loca", "lore"):
        plates = {plate.name: plate for plate in plates_of(paper, [logs / paper])}
        written = {path.name for path in write_plates(paper, list(plates.values()), tmp_path)}
    else:
        done = mesocosm("report", "--paper", paper, logs / paper, "--out", tmp_path, "--json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        plates = {one["name"]: Plate(**one) for one in told["plates"]}
        written = {Path(path).name for path in told["files"]}
    assert EXPECTED[paper] <= plates.keys()
    for plate in plates.values():
        assert all(len(row) == len(plate.head) for row in plate.rows), plate.name
    assert {"index.md", *(f"{name}.csv" for name in EXPECTED[paper])} <= written
    tables = {f"table-{name}.{kind}" for name in EXPECTED[paper] for kind in ("tex", "pdf")}
    assert tables <= written
    assert any("Chance" in plate.note for plate in plates.values())
    if paper == "lumina":
        [(_, alone, helped)] = plates["figure-4-listworld"].rows
        assert alone.startswith("0.0%")
        assert helped.startswith("100.0%"), "who does as it is told succeeds with an oracle, and only then"
        [file] = sorted((logs / paper).glob("*.eval"))[:1]
        done = mesocosm("report", "lumina", file, "--json")
        assert len(json.loads(done.stdout)["points"]) == 1, "a log is read by its episodes"
        log = files.read_eval_log(files.list_eval_logs(str(logs / paper))[0].name)
        assert (log.plan.config.temperature, log.plan.config.parallel_tool_calls) == (0.7, False)


def test_settings_are_the_papers() -> None:
    standard, hard = evaluations("lore", [], {})
    assert (standard.n, standard.temperature, standard.window, standard.max_failed_rounds) == (
        "1-350",
        0,
        "none",
        3,
    )
    assert hard.tasks == ["lore_multimodal_hard", "lore_code_hard"]
    [lumina] = evaluations("lumina", [], {})
    assert (lumina.strategies, lumina.temperature, lumina.parallel) == (ORACLES, 0.7, False)
    asked = evaluations("agentlongbench", [], {})
    assert len(asked) == len(BUCKETS)
    assert {one.temperature for one in asked} == {0.7}
    longproc = evaluations("longproc", [], {})
    assert {one.temperature for one in longproc} == {0}
    assert {one.parameters.get("prompting") for one in longproc} == {None, "segments", "pairs"}
    loca = evaluations("loca", [], {})
    assert (loca[0].tasks, loca[0].seeds, loca[0].max_calls) == (loca_tasks(), "42,123,456,789,2024", 500)
    with pytest.raises(UsageError, match="--paper lumina has no task 'puzzle'"):
        evaluations("lumina", ["puzzle"], {})
    with pytest.raises(UsageError, match="--paper loca has nothing of that; its lengths are 8k, 16k"):
        evaluations("loca", [], {"length": "1m"})


def test_what_is_given_counts_more() -> None:
    [half] = evaluations("longproc", [], {"length": "0.5k", "parameters": {"procedures": "tom_tracking"}})
    assert (half.length, half.parameters["procedures"], half.parameters["rule"]) == (
        "0.5k",
        "beliefs",
        "paper",
    )
    eight = evaluations("longproc", [], {"length": "8k", "parameters": {"procedures": "path_traversal"}})
    assert [one.parameters.get("prompting") for one in eight] == [None, "segments"]
    [code] = evaluations("lore", ["lore_code"], {"n": "5", "temperature": 0.5})
    assert (code.n, code.temperature, code.window) == ("5", 0.5, "none")


def test_bars_of_shares_at_the_end_of_their_interval_are_drawn() -> None:
    """Some of these lie outside it, by rounding."""
    from matplotlib.figure import Figure

    groups = {
        f"{number}": {"all": Share.of([1.0] * number), "none": Share.of([0.0] * number)}
        for number in range(1, 40)
    }
    draw = bars_plate("name", "title", groups, what="samples").draw
    assert draw is not None
    draw(Figure())
