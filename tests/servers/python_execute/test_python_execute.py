"""python_execute: programs run in the workspace, and every way of ending is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confinement import needs_sandbox

from mesocosm.sandbox.scripts import MAX_CODE_BYTES
from mesocosm.services.calling import ToolError

OpenTools = Callable[..., Any]
pytestmark = needs_sandbox


@pytest.fixture
def run(open_tools: OpenTools) -> Callable[..., str]:
    tools = open_tools(lambda world: world.workspace.write("data.csv", b"a,b\n1,2\n3,4\n"), "python_execute")

    def call(code: str, **arguments: Any) -> str:
        return str(tools.call("python_execute", "python_execute", code=code, **arguments))

    call.tools = tools  # type: ignore[attr-defined]
    return call


def test_a_program_runs_and_its_output_comes_back(run: Any) -> None:
    assert run("print(1)") == (
        "=== STDOUT ===\n1\n=== EXECUTION INFO ===\nReturn code: 0\nTimeout limit: 30 seconds"
    )


def test_the_data_libraries_read_the_workspace(run: Any) -> None:
    text = run("import pandas, numpy, openpyxl, dateutil\nprint(pandas.read_csv('data.csv').b.sum())")
    assert text.startswith("=== STDOUT ===\n6\n")


def test_files_are_written_with_the_time_of_the_world(run: Any) -> None:
    run("import os; os.makedirs('out'); open('/workspace/out/x.txt', 'w').write('hi')")
    workspace = run.tools.world.workspace
    assert workspace.read("out/x.txt") == b"hi"
    assert workspace.details("out/x.txt").modified.year == 2025
    assert workspace.details("out").modified.year == 2025


def test_nothing_is_left_behind_but_what_the_program_wrote(run: Any) -> None:
    run("print(1)", filename="analysis.py")
    assert [entry.path for entry in run.tools.world.workspace.walk()] == ["data.csv"]


def test_modules_of_the_workspace_can_be_imported(run: Any) -> None:
    run("open('helpers.py', 'w').write('VALUE = 42')")
    assert run("import helpers; print(helpers.VALUE)").startswith("=== STDOUT ===\n42\n")


def test_an_error_shows_its_traceback_under_the_given_name(run: Any) -> None:
    text = run("1/0", filename="division")
    assert 'File "/run/code/division.py", line 1' in text
    assert "ZeroDivisionError: division by zero\n=== EXECUTION INFO ===\nReturn code: 1" in text


def test_a_silent_program_is_said_to_be_silent(run: Any) -> None:
    assert run("pass").startswith("No console output produced.\n=== EXECUTION INFO ===\nReturn code: 0")


def test_long_output_keeps_its_beginning_and_its_end(run: Any) -> None:
    text = run("print('first' + 'x' * 100_000 + 'last')")
    assert text.startswith("=== STDOUT ===\nfirst")
    assert "[... output truncated: 60,010 bytes left out ...]" in text
    assert "last\n" in text
    assert len(text) < 41_000


@pytest.mark.parametrize(("given", "used"), [(None, 30), (5, 5), (120, 120), (500, 120)])
def test_the_time_limit_has_a_default_and_a_maximum(run: Any, given: int | None, used: int) -> None:
    assert f"Timeout limit: {used} seconds" in run("print(1)", timeout=given)


def test_a_process_that_ends_by_a_signal_says_so(run: Any) -> None:
    assert "Return code: 139" in run("import os; os.kill(os.getpid(), 11)")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"code": " "}, "'code'"),
        ({"code": "a\0b"}, "'code'"),
        ({"code": "#" * (MAX_CODE_BYTES + 1)}, "'code'"),
        ({"code": "1", "timeout": 0}, "'timeout'"),
        ({"code": "1", "timeout": -(2**63)}, "'timeout'"),
        *[
            ({"code": "1", "filename": name}, "'filename'")
            for name in ["../x.py", "a/b.py", "", ".x", "a;touch b", "a\nb", "x" * 200, "-c"]
        ],
    ],
)
def test_bad_arguments_are_refused_and_nothing_runs(run: Any, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ToolError, match=named):
        run(**arguments)
    [entry] = run.tools.world.journal.entries()
    assert entry.status == "refused"


def test_without_a_sandbox_it_is_a_fault_instead_of_running_unprotected(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "none")
    with pytest.raises(ToolError, match="fault of the environment"):
        run("open('/workspace/x', 'w')")
    [fault] = run.tools.world.journal.with_status("fault")
    assert "code of agents cannot be run here: MESOCOSM_SANDBOX=none" in fault.error
    assert not run.tools.world.workspace.exists("x")
