"""Evaluations from the command line: samples on episodes of their own, logs, what is kept, resuming."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm
from later import Later

from mesocosm.errors import UsageError
from mesocosm.evaluation.evaluation import Evaluation, run_evaluation
from mesocosm.evaluation.regrade import logs_in, regrade
from mesocosm.evaluation.report.figures import all_figures
from mesocosm.evaluation.report.rows import read_samples
from mesocosm.evaluation.report.tables import by_horizon
from mesocosm.families.episode import Episode

files, resuming = Later("inspect_ai.log"), Later("mesocosm.evaluation.resume")
WORDS = ("lore_documents", "--param", "operations=2", "--seeds", "0-1", "--agent", "reference")


SAME = Evaluation(
    tasks=["lore_documents"],
    models=[],
    seeds="0-1",
    agent="reference",
    parameters={"operations": 2},
    services="memory_tool,python_execute",
)
"""The request that these words make."""


def evaluated(cwd: Path) -> list[dict[str, Any]]:
    words = (*WORDS, "--with", "memory_tool,python_execute", "--log-dir", "logs", "--json")
    done = mesocosm("eval", *words, cwd=cwd)
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the reference agent was evaluated, with services added to the task."""
    folder = tmp_path_factory.mktemp("evaluation")
    [outcome] = evaluated(folder)
    assert (outcome["judged"], outcome["passed"], outcome["errored"]) == (2, 2, 0)
    assert outcome["step_accuracy"] == 1, "the reference solver makes the best calls alone"
    return folder


def test_each_sample_keeps_its_world_beside_the_log(finished: Path) -> None:
    kept = sorted(path.parent for path in finished.glob("logs/worlds/*/*/run.json"))
    assert len(kept) == 2
    for folder in kept:
        episode = Episode(folder / "episode")
        assert {"memory_tool", "python_execute"} <= episode.world.services.keys(), "--with added them"
        assert episode.grade().verdict == "passed"
        episode.close()
    assert not list(finished.glob("logs/worlds/.acting-*")), "nothing is left of the server"


def test_success_and_step_accuracy_are_reported_against_the_horizon(finished: Path) -> None:
    samples = read_samples([finished / "logs"])
    assert {(one.horizon, one.step_accuracy) for one in samples} == {(2, 1.0)}
    ((who, horizon, number, accuracy, steps),) = by_horizon(samples).rows
    assert (horizon, number, accuracy[:6], steps) == ("2", "2", "100.0%", "100.0%")
    figure = next(one for one in all_figures(samples) if one.name == "horizon")
    assert b"optimal policy" in figure.render("svg")
    assert "reference" in who


def test_what_is_finished_is_not_run_again(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.glob("logs/*.eval")}
    monkeypatch.chdir(finished)
    [outcome] = run_evaluation(SAME, finished / "logs", quiet=True)
    assert outcome.passed == 2
    assert {path: path.stat().st_mtime_ns for path in finished.glob("logs/*.eval")} == before


def test_a_judged_episode_that_no_log_knows_is_taken_up_by_the_next_log(finished: Path) -> None:
    worlds = finished / "logs/worlds"
    [log] = worlds.glob("20*")
    [(run, result)] = [
        resuming.left_behind(worlds, f"later_{log.name.rpartition('_')[2]}", "lore_documents-custom-s1-1")
    ]
    assert run.name.startswith("lore_documents-custom-s1-1-")
    assert result.verdict == "passed"
    assert [message.role for message in resuming.conversation_of(run)] == ["user"]
    for name, sample in (
        (log.name, "lore_documents-custom-s1-1"),
        ("later_other", "lore_documents-custom-s1-1"),
    ):
        assert resuming.left_behind(worlds, name, sample) is None
    assert (
        resuming.left_behind(worlds, f"later_{log.name.rpartition('_')[2]}", "lore_documents-custom-s1-2")
        is None
    )


def test_a_log_is_judged_again_from_the_worlds_beside_it(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "logs", tmp_path / "logs")
    [log] = logs_in(tmp_path / "logs")
    assert [(one.before, one.now, one.changed) for one in regrade(log)] == [("passed", "passed", False)] * 2
    for database in tmp_path.glob("logs/worlds/*/*-s1-*/episode/world/submit_answer.db"):
        with sqlite3.connect(database) as db:
            [(table,)] = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1").fetchall()
            db.execute(f"DELETE FROM {table}")
        db.close()
    assert [(one.now, one.changed) for one in regrade(log, write=True)] == [
        ("passed", False),
        ("failed", True),
    ]
    assert [sample.verdict for sample in read_samples([log])] == ["passed", "failed"]
    shutil.rmtree(tmp_path / "logs/worlds")
    assert [one.now for one in regrade(log)] == ["missing"] * 2


def test_a_log_of_another_version_is_refused(finished: Path, tmp_path: Path) -> None:
    [path] = finished.glob("logs/*.eval")
    log = files.read_eval_log(str(path))
    for sample in log.samples or []:
        for score in (sample.scores or {}).values():
            score.metadata = {**(score.metadata or {}), "verdict": "excellent"}
    files.write_eval_log(log, str(tmp_path / "other.eval"))
    with pytest.raises(UsageError, match="written by another version of Mesocosm: look at verdict"):
        read_samples([tmp_path / "other.eval"])
    (tmp_path / "none.eval").write_bytes(b"no log")
    with pytest.raises(UsageError, match="no log that inspect_ai can read"):
        read_samples([tmp_path / "none.eval"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tasks": ["no_such_task"]}, "unknown task 'no_such_task'"),
        ({"agent": "react"}, "give a model"),
        ({"agent": "react", "models": ["nobody/nothing"]}, "'nobody/nothing' cannot be used"),
        ({"strategies": ["magic"]}, "unknown strategy 'magic'"),
        ({"agent": "command:claude"}, "unknown agent 'command:claude'"),
        ({"agent": "no/such.py::agent"}, "no/such.py"),
        (
            {"agent": "react", "models": ["scripted/solver"], "strategies": ["anthropic_clear_thinking"]},
            "Anthropic's own",
        ),
        ({"agent": "react", "models": ["openai/gpt-5"]}, "OPENAI_API_KEY"),
        ({"agent": "react", "models": ["local"]}, "pip install 'mesocosm[local]'"),
        ({"strategies": ["memory:depth=1"]}, "its parameters: threshold"),
        ({"strategies": ["compaction+summarise"]}, "cannot be combined with summarise"),
        ({"strategies": ["awareness+awareness"]}, "given twice"),
        ({"window": "1k", "max_tokens": 2000}, "no room"),
        ({"window": "wide"}, "not a number of tokens"),
        ({"agent": "command"}, "--agent-command"),
        ({"length": "8 feet"}, "not a length"),
        ({"services": "no_such_service"}, "no_such_service"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], said: str
) -> None:
    for key in ("OPENAI_API_KEY", "AZUREAI_OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setattr("mesocosm.agents.local.find_spec", lambda _: None)
    asked = Evaluation(**{"tasks": ["lore_documents"], "models": [], "agent": "none", **settings})
    with pytest.raises(UsageError, match=re.escape(said)):
        run_evaluation(asked, tmp_path / "logs")
    assert not (tmp_path / "logs").exists()
