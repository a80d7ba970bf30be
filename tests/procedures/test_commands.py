"""dataset, score and report longproc, as processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm


def said(*arguments: object, status: int = 0) -> Any:
    done = mesocosm(*arguments)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("longproc") / "rows.jsonl"
    chosen = ("--procedure", "routes,countdown", "--level", "0.5k", "--seeds", "0-1", "--workers", "1")
    said("dataset", "longproc", *chosen, "--out", path)
    return path


def test_answers_are_scored_and_reported(data: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"{n}-500-s{s}" for n in ("routes", "countdown") for s in (0, 1)]
    answers = [{"id": row["id"], "answer": row["gold"] if row["seed"] else row["gold"][:300]} for row in rows]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    said("score", "longproc", data, tmp_path / "answers.jsonl", "--out", tmp_path / "scores.jsonl")
    made = said("report", "longproc", tmp_path / "scores.jsonl", "--out", tmp_path / "report", "--json")
    cells = {cell["procedure"]: cell for cell in json.loads(made)["cells"]}
    assert {name: cell["value"] for name, cell in cells.items()} == {
        "routes": 0.5,
        "countdown": 0.5,
        "all": 0.5,
    }
    assert 0 < cells["routes"]["partial"] < 1
    names = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"procedures.md", "procedures.csv", "survival.csv", "survival.svg", "survival.png"} <= names
    survival = json.loads(made)["survival"]
    assert [point["share"] for point in survival if point["procedure"] == "routes"] == [1.0, 0.5, 0.5]


def test_rows_without_an_answer_are_wrong_and_termination_is_reported(data: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    kept = [one for one in rows if one["procedure"] == "routes" or one["seed"]]
    answers = [{"id": one["id"], "answer": one["gold"], "model": "a"} for one in kept]
    answers[0]["answer"] = answers[0]["answer"].removesuffix("</Route>")
    answers[1]["terminated"] = False
    answers.append({"id": rows[0]["id"], "answer": rows[0]["gold"], "model": "b"})
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    made = json.loads(said("score", "longproc", data, tmp_path / "answers.jsonl", "--json"))
    cells = {(cell["model"], cell["procedure"]): cell for cell in made["cells"]}
    told = ("answers", "value", "missing", "terminated", "value_terminated")
    assert {key: tuple(cell[name] for name in told) for key, cell in cells.items() if key[1] != "all"} == {
        ("a", "routes"): (2, 0.5, 0, 0.0, None),
        ("a", "countdown"): (2, 0.5, 1, 0.5, 1.0),
        ("b", "routes"): (2, 0.5, 1, 0.5, 1.0),
        ("b", "countdown"): (2, 0.0, 2, 0.0, None),
    }


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ('{"id": "routes-500-s0"}', "line 1: not a line of answers: answer"),
        ("{", "line 1"),
        ('{"id": "x", "answer": ""}', "'x', which is no row"),
        ('{"id": "routes-500-s0", "answer": ""}\n' * 2, "two answers to 'routes-500-s0'"),
    ],
)
def test_bad_answers_are_refused(data: Path, tmp_path: Path, answers: str, message: str) -> None:
    (tmp_path / "answers.jsonl").write_text(answers)
    assert message in " ".join(said("score", "longproc", data, tmp_path / "answers.jsonl", status=2).split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--procedure", "sorting"), "there is no procedure 'sorting'"),
        (("--procedure", "routes", "--level", "10"), "nearest level is 60"),
        (("--procedure", "routes", "--level", "1m"), "levels go up to"),
        (("--procedure", "programs", "--format", "upstream"), "programs has no upstream format"),
        (
            ("--procedure", "routes,travel", "--level", "0.3k,0.6k", "--format", "upstream"),
            "it would read 600 with 300 as one level",
        ),
    ],
)
def test_bad_datasets_are_refused(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    refusal = said("dataset", "longproc", "--out", tmp_path / "x", "--seeds", "0", *arguments, status=2)
    assert message in " ".join(refusal.split())
    assert not (tmp_path / "x").exists()


def test_all_procedures_go_to_upstreams_folders_at_the_levels_that_it_reads(tmp_path: Path) -> None:
    words = ("--level", "0.3k,0.6k", "--seeds", "0", "--format", "upstream", "--out", tmp_path / "up")
    told = " ".join(said("dataset", "longproc", *words).split())
    assert "without travel at 300: its loader has no such level" in told
    trips = json.loads((tmp_path / "up/travel_planning/travel_planning_all.json").read_bytes())
    assert len(trips) == 1
    for name in ("html_to_tsv", "path_traversal", "tom_tracking", "countdown", "pseudo_to_code"):
        found = sorted(path.name for path in (tmp_path / "up" / name).glob("*.json"))
        assert found == [f"{name}_0.3k.json", f"{name}_0.6k.json"]
