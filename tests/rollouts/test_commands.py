"""The commands: writing, loading, scoring, reporting, asking; and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm

from mesocosm.errors import UsageError
from mesocosm.evaluation.question_sets.agentlongbench import questions as question_set
from mesocosm.evaluation.rollouts import compare, read_scores
from mesocosm.families.instances import fingerprint
from mesocosm.families.workers.processes import Processes
from mesocosm.kits.rollouts.answers import answer_to
from mesocosm.kits.rollouts.dataset import DatasetPlan
from mesocosm.kits.rollouts.dataset_files import load, read_questions, samples, upstream_answer, write_dataset
from mesocosm.kits.rollouts.options import read_lengths, read_plan
from mesocosm.kits.rollouts.predictions import judge, read_predictions

WORDS = ("--lengths", "16k", "--per-type", "2", "--items", "200", "--formats", "v", "--upstream", "full")
PLAN = DatasetPlan(lengths=(16_000,), per_type=2, items=200, formats=("v",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("written") / "rollouts"
    list(write_dataset(PLAN, path, Processes(1), upstream="full"))
    return path


def predictions(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_command_writes_the_same_bytes_in_another_process(folder: Path, tmp_path: Path) -> None:
    done = mesocosm(
        "dataset", "agentlongbench", *WORDS, "--json", "--out", str(tmp_path / "again"), PYTHONHASHSEED="99"
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["trajectories"], summary["questions"]) == (4, 32)
    assert len(summary["evidence"]) == 16
    assert fingerprint(tmp_path / "again") == fingerprint(folder)


def test_every_trajectory_is_written_once_and_every_question_names_one(folder: Path) -> None:
    rows = read_questions(folder)
    lines = [line for file in (folder / "trajectories").iterdir() for line in file.read_bytes().splitlines()]
    ids = [json.loads(line)["id"] for line in lines]
    assert len(set(ids)) == len(ids) == 4
    assert {row.trajectory for row in rows} == set(ids)
    assert len({row.id for row in rows}) == len(rows)


def test_golds_are_right_and_nothing_is_worth_nothing(folder: Path, tmp_path: Path) -> None:
    rows = read_questions(folder)
    told = [{"id": row.id, "pred_answer": upstream_answer(row)} for row in rows]
    given = read_predictions(predictions(tmp_path / "gold.jsonl", *told), rows)
    assert {one.score for one in judge(rows, given, "gold")} == {1.0}
    silent = judge(rows, {}, "silent")
    assert {one.score for one in silent} == {0.0}
    assert all(one.missing for one in silent)


def test_rows_of_upstream_have_its_fields_and_its_place(folder: Path) -> None:
    files = sorted((folder / "upstream").rglob("*.jsonl"))
    assert len(files) == 16
    file = folder / "upstream" / "kf-v" / "16k" / "tool_response" / "find_duplicates_tool.jsonl"
    row = json.loads(file.read_text().splitlines()[0])
    assert row["question_type"] == "Find Duplicates(Tool)"
    assert isinstance(row["answer"], bool)
    assert row["i_round"] < row["j_round"]
    assert [message["role"] for message in row["messages"][:5]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_hugging_face_datasets_loads_the_folder(folder: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    found = datasets.load_dataset(str(folder), "questions", cache_dir=str(tmp_path), split="train")
    assert sorted(found["id"]) == sorted(row.id for row in read_questions(folder))
    first = next(iter(load(folder)))
    assert first["messages"][-1]["content"].startswith(first["question"])
    assert first == next(samples(folder))


def test_scores_and_reports(folder: Path, tmp_path: Path) -> None:
    rows = read_questions(folder)
    replies = [{"id": row.id, "reply": f"<answer>{', '.join(row.answer)}</answer>"} for row in rows[8:]]
    file = predictions(tmp_path / "replies.jsonl", *replies)
    scores = tmp_path / "scores.jsonl"
    done = mesocosm("score", "agentlongbench", str(folder), str(file), "--model", "m", "--out", str(scores))
    assert done.returncode == 0, done.stderr
    assert "without an answer: 8 of 32" in done.stderr
    done = mesocosm(
        "report", "agentlongbench", str(scores), "--by", "setting", "--json", "--out", str(tmp_path / "r")
    )
    cells = {cell["setting"]: cell for cell in json.loads(done.stdout)["cells"]}
    assert (cells["kf"]["accuracy"], cells["ki"]["accuracy"]) == (0.5, 1.0)
    assert cells["kf"]["lower"] < 0.5 < cells["kf"]["upper"] < 1
    assert {path.name for path in (tmp_path / "r").iterdir()} == {
        "accuracy.csv",
        "accuracy.md",
        "accuracy.json",
    }


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"id": "nobody", "reply": "x"}], "no question 'nobody'"),
        ([{"id": "FIRST", "reply": "x"}, {"id": "FIRST", "reply": "y"}], "line 2: .* a second time"),
        ([{"reply": "x"}], "a text `id`"),
        ([{"id": "FIRST"}], "either `reply` or `pred_answer`"),
        ([{"id": "FIRST", "reply": 5}], "`reply` is a text, not int"),
    ],
)
def test_predictions_that_are_not_in_order_are_refused(
    folder: Path, tmp_path: Path, lines: list[dict[str, Any]], said: str
) -> None:
    rows = read_questions(folder)
    named = [{**line, **({"id": rows[0].id} if line.get("id") == "FIRST" else {})} for line in lines]
    with pytest.raises(UsageError, match=said):
        read_predictions(predictions(tmp_path / "p.jsonl", *named), rows)


def test_predictions_that_are_no_json_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("id,answer\n")
    with pytest.raises(UsageError, match="line 1: not JSON"):
        read_predictions(tmp_path / "p.jsonl", read_questions(folder))


def test_lengths_are_buckets_between_two_or_a_list() -> None:
    assert read_lengths("32k-4m") == [
        32_000,
        64_000,
        128_000,
        256_000,
        512_000,
        1_000_000,
        2_000_000,
        4_000_000,
    ]
    assert read_lengths("100k,20k") == [20_000, 100_000]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"lengths": "8k"}, "at least 16k"),
        ({"lengths": "33k-63k"}, "no bucket"),
        ({"settings": "kx"}, "none of ki, kf"),
        ({"formats": ""}, "none of c, v"),
        ({"behaviour": {"epsilon": 2}}, "epsilon: .*less than or equal to 1"),
        ({"behaviour": {"epsilom": 2}}, "epsilom: there is no such parameter; there are history_window"),
        ({"items": 5}, "items: .*greater than or equal to 20"),
    ],
)
def test_plans_that_cannot_be_are_refused(wrong: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"lengths": "32k", "settings": "ki", "formats": "c", "behaviour": {}}
    with pytest.raises(UsageError, match=said):
        read_plan(**{**given, **wrong})


def test_the_questions_of_an_evaluation_are_those_of_the_dataset(folder: Path) -> None:
    options = question_set.options(lengths="16k", seeds="0-1", formats="v", items=200)
    asked = {question.id: question for question in question_set.questions(options)}
    rows = {row.id: row for row in read_questions(folder)}
    assert asked.keys() == rows.keys()
    for id_, question in asked.items():
        row = rows[id_]
        assert row.question in question.prompt
        right = f"<answer>{', '.join(row.answer)}</answer>"
        assert question_set.judge(question, right).verdict == "passed"
        assert (
            question_set.judge(question, f"<answer>{answer_to(question.prompt)}</answer>").verdict == "passed"
        )
        assert question_set.judge(question, "<answer>nobody</answer>").verdict == "failed"


def test_prompt_and_tools_are_compared_over_the_questions_that_were_asked_both_ways(folder: Path) -> None:
    rows = [row for row in read_questions(folder) if row.setting == "ki"]
    right = {row.id: ", ".join(row.answer) for row in rows}
    prompt = judge(rows, right, "m")
    half = judge(rows, dict(list(right.items())[:4]), "m")
    tools = [one.model_copy(update={"how": "tools"}) for one in half[:8]]
    (found,) = compare([*prompt, *tools], ["how"])
    assert (found.prompt.questions, found.tools.questions, found.pairs) == (16, 8, 8)
    assert (found.prompt.accuracy, found.tools.accuracy, found.difference) == (1.0, 0.5, -0.5)
    assert found.lower is not None
    assert found.upper is not None
    assert -1 < found.lower < -0.5 < found.upper < 0
    assert compare(prompt) == []


def test_scores_that_count_twice_are_refused(folder: Path, tmp_path: Path) -> None:
    (first, *_) = judge(read_questions(folder), {}, "m")
    line = first.model_dump_json() + "\n"
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    once.write_text(line)
    twice.write_text(line * 2)
    with pytest.raises(UsageError, match=r"line 2: .* a second time"):
        read_scores([twice])
    with pytest.raises(UsageError, match="a second time, for the same model 'm'"):
        read_scores([once, once])


def logged(path: Path, task: str, samples: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> Path:
    """A log of an evaluation: samples with their own metadata and that of their scores."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.scorer import Score

    created, dataset, config = "2026-01-01T00:00:00+00:00", EvalDataset(), EvalConfig()
    spec = EvalSpec(created=created, task=task, model="m", dataset=dataset, config=config)
    made = [
        EvalSample(
            id=id_,
            epoch=1,
            input="",
            target="",
            metadata=order,
            scores={"judged": Score(value=0, metadata=told)},
        )
        for id_, (order, told) in samples.items()
    ]
    write_eval_log(EvalLog(eval=spec, samples=made), str(path))
    return path


def test_logs_of_both_ways_are_read_as_the_same_questions(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    labels = {"setting": "kf", "format": "v", "type": "find_target_offsets_tool", "evidence_tokens": 70}
    told: dict[str, Any] = {f"label_{name}": value for name, value in labels.items()}
    found = [{"name": "answered", "passed": True, "detail": ""}]
    found += [
        {"name": "answer", "passed": False, "detail": "score 0.500: answered 'A'; the answer is 'A, B'"}
    ]
    id_ = "kf-v-16k-001-find_target_offsets_tool"
    prompt = {id_: ({"question": {}}, told | {"length": 16_000, "agent": "answer", "findings": found})}
    logged(tmp_path / "logs" / "prompt.eval", "mesocosm/agentlongbench", prompt)
    world = tmp_path / "logs" / "worlds" / "w"
    world.mkdir(parents=True)
    (world / "run.json").write_text('{"measures": {"evidence_tokens": 70}}')
    order = {"task": "puzzle_history", "length": None, "seed": 10}
    order |= {"parameters": {"bucket": "16k", "setting": "kf", "format": "v"}}
    silent = [{"name": "submitted", "passed": False, "detail": "0 answers"}]
    judged = {"task": "puzzle_history", "agent": "react", "world": "worlds/w", "findings": silent}
    logged(
        tmp_path / "logs" / "tools.eval", "mesocosm/puzzle-history", {"puzzle_history-s10": (order, judged)}
    )
    scores = {one.how: one for one in read_scores([tmp_path / "logs"])}
    assert {one.id for one in scores.values()} == {id_}
    assert {(one.type, one.length, one.evidence_tokens) for one in scores.values()} == {
        (labels["type"], 16_000, 70)
    }
    assert (scores["prompt"].score, scores["prompt"].missing) == (0.5, False)
    assert (scores["tools"].score, scores["tools"].missing) == (0, True)
    (comparison,) = compare(list(scores.values()))
    assert comparison.difference == -0.5
