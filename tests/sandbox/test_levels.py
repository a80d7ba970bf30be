"""Which level is used, what doctor says of it, and what belongs to every sandbox."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from confinement import needs_sandbox
from typer.testing import CliRunner

from mesocosm.cli.application import app
from mesocosm.errors import UsageError
from mesocosm.sandbox import bubblewrap, levels, runtime, seccomp
from mesocosm.sandbox.jobs import Captured, Job, Limits, SandboxFailed
from mesocosm.sandbox.sharing import tidy


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
    monkeypatch.setattr(bubblewrap, "trial", lambda: "bwrap is not installed")
    with caplog.at_level(logging.WARNING), pytest.raises(levels.Unavailable, match="not available"):
        levels.active()
    assert "bwrap is not installed" in caplog.text


def test_a_plain_subprocess_is_used_only_by_name_and_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "subprocess")
    with caplog.at_level(logging.WARNING):
        sandbox = levels.active()
    assert "NOT isolated" in caplog.text
    job = Job((runtime.PYTHON, "/run/code/s.py"), tmp_path, Limits(), {"s.py": b"open('x', 'w'); print(1)"})
    assert sandbox.run(job).stdout.text() == "1\n"
    assert (tmp_path / "x").exists()


def test_a_subprocess_too_ends_in_time_with_all_it_started(tmp_path: Path) -> None:
    job = Job(("bash", "-c", "sleep 60 & echo $!; sleep 60"), tmp_path, Limits(seconds=1))
    ended = levels.Subprocess().run(job)
    assert ended.reached == "time"
    child = Path(f"/proc/{int(ended.stdout.text())}/stat")
    assert not child.exists() or child.read_text().split()[2] == "Z"


def test_an_unknown_level_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "chroot")
    with pytest.raises(UsageError, match="must be one of auto, bubblewrap"):
        levels.active()


@pytest.mark.parametrize("value", ["x", "-1", "1", "²"])
def test_a_limit_that_is_none_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX_MEMORY", value)
    with pytest.raises(UsageError, match="MESOCOSM_SANDBOX_MEMORY"):
        Limits.configured(1)


@needs_sandbox
def test_a_sandbox_that_does_not_come_up_is_a_fault_and_no_result(tmp_path: Path) -> None:
    with pytest.raises(SandboxFailed):
        bubblewrap.Bubblewrap().run(Job(("true",), tmp_path, Limits(), {"no/such/../\0": b""}))


@needs_sandbox
def test_doctor_finds_a_sound_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "auto")
    result = CliRunner().invoke(app, ["doctor", "--json"])
    found = json.loads(result.stdout)
    assert found["active"] == "bubblewrap"
    assert [check for check in found["checks"] if not check["passed"]] == []
    assert result.exit_code == (0 if found["sound"] else 1)


def test_doctor_finds_a_plain_subprocess_wanting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "subprocess")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "FAIL Mesocosm cannot be imported" in result.stdout


def test_doctor_says_that_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "none")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "none: the tools that run code refuse" in result.stdout


def test_only_the_data_libraries_are_shown() -> None:
    names = {Path(mount.target).name.split("-")[0] for mount in runtime.library_mounts()}
    assert {"openpyxl", "dateutil"} <= names
    assert not names & {"mesocosm", "sqlalchemy", "mcp", "pip", "pytest"}
    assert not any(mount.target.endswith(".pth") for mount in runtime.library_mounts())


def test_the_filter_of_system_calls_is_a_whole_program() -> None:
    program = seccomp.program()
    if program is None:
        pytest.skip("libseccomp is not installed")
    assert len(program) > 400
    assert len(program) % 8 == 0


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
