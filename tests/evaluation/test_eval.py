"""Evaluations from the command line: samples on episodes of their own, logs, what is kept, resuming."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mesocosm.errors import UsageError
from mesocosm.evaluation.evaluating import Evaluation, run_evaluation
from mesocosm.evaluation.report.figures import all_figures
from mesocosm.evaluation.report.rows import read_samples
from mesocosm.evaluation.report.tables import by_horizon
from mesocosm.families.episode import Episode


def mesocosm(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mesocosm", *words],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


WORDS = ("lore_documents", "--param", "operations=2", "--seeds", "0-1", "--agent", "reference")


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


def test_what_is_finished_is_not_run_again(finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.glob("logs/*.eval")}
    [outcome] = evaluated(finished)
    assert outcome["passed"] == 2
    assert {path: path.stat().st_mtime_ns for path in finished.glob("logs/*.eval")} == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tasks": ["no_such_task"]}, "unknown task 'no_such_task'"),
        ({"agent": "react"}, "give a model"),
        ({"agent": "react", "models": ["nobody/nothing"]}, "'nobody/nothing' cannot be used"),
        ({"strategies": ["magic"]}, "unknown strategy 'magic'"),
        ({"strategies": ["memory:depth=1"]}, "its parameters: threshold"),
        ({"strategies": ["compaction+summarise"]}, "cannot go with summarise"),
        ({"strategies": ["awareness+awareness"]}, "given twice"),
        ({"window": "1k", "max_tokens": 2000}, "no room"),
        ({"window": "wide"}, "not a number of tokens"),
        ({"agent": "command"}, "--agent-command"),
        ({"length": "8 feet"}, "not a length"),
        ({"services": "no_such_service"}, "no_such_service"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_built(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    asked = Evaluation(**{"tasks": ["lore_documents"], "models": [], "agent": "none", **settings})
    with pytest.raises(UsageError, match=re.escape(said)):
        run_evaluation(asked, tmp_path / "logs")
    assert not (tmp_path / "logs").exists()
