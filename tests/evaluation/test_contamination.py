"""Contamination: what is a sign that a model knew an instance, and what is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import mesocosm

from mesocosm.families.canaries import canary


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that passes though nothing is read: that of a solver which is told the truth."""
    path = tmp_path_factory.mktemp("runs") / "run"
    given = ("refund_list", "--length", "8k", "--seed", "1", "--agent", "reference", "--out", path)
    assert mesocosm("run", *given).returncode == 0
    return path


def found(run: Path, *more: str) -> tuple[int, dict]:  # type: ignore[type-arg]
    done = mesocosm("contamination", run, "--json", *more)
    return done.returncode, json.loads(done.stdout)


def test_the_reference_solver_is_no_suspect(run: Path) -> None:
    assert found(run) == (0, {"samples": 0, "passed": 0, "judged": 0, "signs": []})


def test_right_without_reading_is_a_sign_and_so_is_a_canary(run: Path) -> None:
    result = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**result, "agent": "command"}))
    status, told = found(run)
    assert (status, [sign["kind"] for sign in told["signs"]]) == (1, ["unread"])
    assert "none of" in told["signs"][0]["detail"]
    mark = canary(["an instance"])
    with (run / "trajectory.jsonl").open("a") as file:
        file.write(json.dumps({"tool": "x", "arguments": {"text": f"as in {mark}"}, "result": ""}) + "\n")
        file.write(json.dumps({"tool": "x", "arguments": {}, "result": canary(["told"])}) + "\n")
    status, told = found(run, "--canary", "as in")
    assert [sign["detail"] for sign in told["signs"] if sign["kind"] == "canary"] == [
        "wrote as in",
        f"wrote {mark}",
    ]
    (run / "run.json").write_text(json.dumps({**result, "agent": "command", "verdict": "failed"}))
    assert [sign["kind"] for sign in found(run)[1]["signs"]] == ["canary"]
    assert mesocosm("contamination", run / "nothing").returncode == 2
