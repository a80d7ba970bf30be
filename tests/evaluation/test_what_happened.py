"""An evaluation says what happened: through the command line, as a process, with scripted models."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm

from mesocosm.evaluation.reasons import explain, reason_of
from mesocosm.evaluation.report.rows import Sample, name_rows
from mesocosm.evaluation.report.tables import pairs, unlike

WORLD = ("gridworld", "--n", "5", "--seeds", "0-1")


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command wrote, without its line breaks."""
    assert "Traceback" not in done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("canvas_arrange_exam", "--length", "1k", "--seeds", "0"), "is below the minimum of this task"),
        (("gridworld", "--param", "colour=red"), "colour: Extra inputs are not permitted"),
        (("gridworld", "--agent", "command", "--agent-command", "no_such_agent --now"), "'no_such_agent'"),
        (("gridworld", "--agent", "react", "--model", "scripted/nobody"), "no model 'nobody'"),
    ],
)
def test_wrong_usage_ends_with_2_before_anything_is_run(
    tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    done = mesocosm("eval", "--agent", "none", *words, "--log-dir", "logs", cwd=tmp_path)
    assert done.returncode == 2
    assert reason in said(done)
    assert not (tmp_path / "logs").exists()


def test_a_program_that_ends_with_an_error_is_errored_and_its_last_lines_are_shown(tmp_path: Path) -> None:
    words = ("--agent", "command", "--agent-command", "echo first; echo it broke >&2; exit 3")
    done = mesocosm("eval", *WORLD, *words, "--log-dir", "logs", cwd=tmp_path)
    assert done.returncode == 3
    assert "ended with exit code 3; its last lines: | first | it broke" in said(done)
    report = mesocosm("report", "logs", "--json", cwd=tmp_path)
    assert [one["verdict"] for one in json.loads(report.stdout)["samples"]] == ["errored"] * 2
    run = mesocosm("run", "gridworld", "--param", "size=4", *words, "--out", "run", cwd=tmp_path)
    assert run.returncode == 3
    assert "ended with exit code 3; its last lines: | first | it broke" in said(run)


def test_an_interrupted_evaluation_ends_with_130_and_is_counted_apart(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mesocosm", "eval", *WORLD, "--log-dir", "logs"]
    command += ["--model", "scripted/solver:delay=30"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("logs/worlds/*/*/conversation.jsonl")):
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        written, _ = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert "interrupted; cut off: gridworld-custom-n5-s" in written
    assert "--log-dir logs goes on from there" in written
    shown = mesocosm("report", "logs", "--json", cwd=tmp_path)
    samples = json.loads(shown.stdout)["samples"]
    assert samples
    assert {one["verdict"] for one in samples} == {"cancelled"}


def test_settings_make_rows_of_their_own(tmp_path: Path) -> None:
    model = ("--model", "scripted/solver", "--log-dir")
    for number, words in enumerate((("--temperature", "0"), ("--max-turns", "1"), ())):
        assert mesocosm("eval", *WORLD, *model, f"logs/{number}", *words, cwd=tmp_path).returncode == 0
    shown = mesocosm("report", "logs", cwd=tmp_path)
    told = [line.split("│") for line in shown.stdout.splitlines() if line.startswith("│ scripted")]
    rows = {cells[1].strip(): cells[2].strip() + " of " + cells[6].strip() for cells in told[:3]}
    assert rows == {
        "scripted/solver, temperature 0.0, max_turns default": "2 of 100.0%",
        "scripted/solver, temperature 1.0, max_turns 1": "2 of 0.0%",
        "scripted/solver, temperature 1.0, max_turns default": "2 of 100.0%",
    }
    by = mesocosm("report", "logs", "--by", "max_turns,size", cwd=tmp_path)
    assert "max_turns default, size 4 │ 4" in by.stdout
    assert "max_turns 1, size 4 " in by.stdout
    wrong = mesocosm("report", "logs", "--by", "colour", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "--by colour: no sample has that; there are: agent" in said(wrong)


def sample(model: str, seed: int, passed: bool, **known: Any) -> Sample:
    """A judged sample."""
    values = {"task": "t", "length": 8_000, "agent": "react", "run": model, "sample": str(seed), **known}
    return Sample(**values, model=model, seed=seed, verdict="passed" if passed else "failed")


def test_rows_are_compared_on_the_instances_that_they_share() -> None:
    found = [sample("a", seed, passed=True) for seed in range(12)]
    found += [sample("b", seed, passed=seed >= 14) for seed in range(4, 16)]
    name_rows(found)
    assert unlike(found)
    ((one, other, n, left, gap, _, p, corrected),) = pairs(found).rows
    assert (one, other, n, left, gap) == ("a", "b", "8", "4 / 4", "+100.0")
    assert p == corrected == "0.008", "two of the 256 assignments of signs are as far"


def test_a_setting_of_a_model_is_none_of_an_agent_without_one() -> None:
    found = [
        sample("m", 0, True, settings={"window": 16_000}),
        sample("m", 1, True, settings={"window": None}),
    ]
    found += [sample("reference", 0, True, settings={})]
    name_rows(found)
    assert [one.who for one in found] == ["m, window 16k", "m, window none", "reference"]


def test_reasons_are_one_line_and_say_what_to_do() -> None:
    class APIConnectionError(Exception):
        pass

    tried = RuntimeError("it was tried five times")
    tried.__cause__ = APIConnectionError("Connection error.")
    assert "cannot be reached: check --base-url" in explain(tried)
    assert "make room" in explain(OSError(28, "No space left on device"))
    assert reason_of("UsageError('too short:\\n  really')") == "too short: | really"
    assert (
        reason_of('Traceback (most recent call last):\n  File "x"\nmesocosm.errors.Denied: no')
        == "Denied: no"
    )
