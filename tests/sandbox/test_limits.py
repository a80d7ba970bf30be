"""What an operator may set, and that it is kept and named wherever it is reached."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from commands import mesocosm, stand_in
from confinement import needs_sandbox
from typer.testing import CliRunner

from mesocosm.cli.commands import app
from mesocosm.doors.mcp import McpTools, WorldCaller
from mesocosm.errors import UsageError
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World
from mesocosm.worlds.limits import Settings, override, settings, variable
from mesocosm.worlds.manifest import Manifest

ROOT = Path(__file__).parents[2]
OpenTools = Callable[..., Any]


def test_sizes_may_carry_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "2GiB")
    monkeypatch.setenv("MESOCOSM_SANDBOX_TIMEOUT", "5")
    assert (settings().workspace_size, settings().sandbox_timeout) == (2 << 30, 5)
    monkeypatch.delenv("MESOCOSM_WORKSPACE_SIZE")
    assert settings().workspace_size == 1 << 30


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workspace_size", "much"),
        ("workspace_depth", "0"),
        ("sandbox_memory", "1MiB"),
        ("sandbox_jobs", "-1"),
    ],
)
def test_a_value_that_is_none_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(variable(name), value)
    with pytest.raises(UsageError, match=variable(name)):
        settings()


@pytest.mark.parametrize("assignment", ["workspace_size", "nothing=1", "=1"])
def test_an_assignment_that_is_none_names_the_settings(assignment: str) -> None:
    with pytest.raises(UsageError, match="workspace_size, workspace_entries"):
        override(assignment)


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs/guides/limits.md").read_text(encoding="utf-8")
    assert [name for name in Settings.model_fields if f"| `{name}` |" not in text] == []


def test_doctor_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "none")
    monkeypatch.setenv("MESOCOSM_SANDBOX_PROCESSES", "7")
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert found["settings"]["sandbox_processes"] == 7
    assert "sandbox_processes    7" in CliRunner().invoke(app, ["doctor"]).stdout


def test_a_server_keeps_the_limits_that_it_is_started_with(tmp_path: Path) -> None:
    with World.create(
        tmp_path / "world", Manifest(services=dict.fromkeys(["filesystem", "terminal"]))
    ) as world:
        world.finish_building()
    command = [*stand_in(), "serve", "--stdio", "all", "--world", str(tmp_path / "world")]
    limits = ["workspace_file_size=100", "workspace_size=150", "workspace_entries=3", "workspace_depth=1"]
    with McpTools([*command, *(word for limit in limits for word in ("--limit", limit))]) as tools:

        def refused(path: str, size: int) -> str:
            with pytest.raises(ToolError) as raised:
                tools.call("filesystem", "write_file", path=path, content="x" * size)
            return str(raised.value)

        assert "100 bytes (setting workspace_file_size)" in refused("a", 101)
        tools.call("filesystem", "write_file", path="a", content="x" * 100)
        assert "150 bytes together (setting workspace_size)" in refused("b", 51)
        tools.call("filesystem", "write_file", path="b", content="")
        tools.call("filesystem", "write_file", path="c", content="")
        assert "3 files and folders (setting workspace_entries)" in refused("d", 0)
        assert "Workspace: 150 bytes in 3 files" in tools.call("terminal", "show_security_rules")


@needs_sandbox
def test_code_waits_for_its_turn_and_takes_no_thread_of_others(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "bubblewrap")
    monkeypatch.setenv("MESOCOSM_SANDBOX_JOBS", "1")
    callers = [WorldCaller(make_world(None, "python_execute")) for _ in range(3)]
    spans: list[list[float]] = []
    taken: list[int] = []
    code = "import time\na = time.monotonic(); time.sleep(0.3); print([a, time.monotonic()])"

    async def call(caller: WorldCaller) -> None:
        outcome = await caller.make(
            "python_execute", caller.services["python_execute"].tools["python_execute"], {"code": code}, None
        )
        taken.append(anyio.to_thread.current_default_thread_limiter().borrowed_tokens)
        spans.append(json.loads(outcome.text.split("\n")[1]))

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for caller in callers:
                tasks.start_soon(call, caller)

    anyio.run(all_at_once)
    assert taken == [0, 0, 0]
    assert all(one[1] <= other[0] for one, other in pairwise(sorted(spans)))


def test_a_wrong_limit_is_wrong_usage(tmp_path: Path) -> None:
    ran = mesocosm("serve", "--state", tmp_path, "--limit", "workspace_size=x")
    assert ran.returncode == 2
    assert "MESOCOSM_WORKSPACE_SIZE" in ran.stderr


def test_folders_may_be_nested_as_deeply_as_is_set(
    open_tools: OpenTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_DEPTH", "2")
    tools = open_tools(None, "filesystem")
    tools.call("filesystem", "write_file", path="a.txt", content="")
    tools.call("filesystem", "create_directory", path="1/2")
    with pytest.raises(ToolError, match=r"nested 2 deep \(setting workspace_depth\)"):
        tools.call("filesystem", "create_directory", path="1/2/3/4")


@needs_sandbox
@pytest.mark.parametrize(
    ("name", "value", "code", "said"),
    [
        ("sandbox_max_timeout", "1", "import time; time.sleep(9)", "timed out after 1 seconds"),
        (
            "sandbox_memory",
            "300MiB",
            "x = bytearray(400 << 20)",
            "300 MiB of memory (setting sandbox_memory)",
        ),
        (
            "sandbox_processes",
            "5",
            "import os\nfor _ in range(9): os.fork()",
            "At most 5 processes and threads",
        ),
        (
            "sandbox_output",
            "4KiB",
            "print('x' * 9999, flush=True)",
            "4,096 bytes of output (setting sandbox_output)",
        ),
        ("sandbox_scratch", "1MiB", "open('/tmp/x', 'wb').write(bytes(2 << 20))", "/tmp may hold 1 MiB"),
        ("workspace_file_size", "1MiB", "open('x', 'wb').write(bytes(2 << 20))", "at most 1 MiB"),
        ("workspace_depth", "3", "import os; os.makedirs('1/2/3/4/5')", "nested"),
    ],
)
def test_code_meets_the_limits_that_are_set(
    open_tools: OpenTools, monkeypatch: pytest.MonkeyPatch, name: str, value: str, code: str, said: str
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "bubblewrap")
    monkeypatch.setenv(variable(name), value)
    tools = open_tools(None, "python_execute")
    assert said in tools.call("python_execute", "python_execute", code=code)


@needs_sandbox
def test_files_without_content_are_counted_where_they_are_memory(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "bubblewrap")
    monkeypatch.setenv("MESOCOSM_SANDBOX_MEMORY", "64MiB")
    world = make_world(None, "terminal")
    command = "cd /tmp; i=0; while :; do eval 'mkdir -p '$i'/{a..z}/{a..z}/{a..p}' || exit; i=$((i+1)); done"
    text = world.call("terminal", "run_command", {"command": command}).text
    assert "all processes together may use 64 MiB" in text


@needs_sandbox
def test_code_runs_in_a_server_with_thousands_of_descriptors(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every episode that is open has some, and what waits for one must take any number: select does not.
    monkeypatch.setenv("MESOCOSM_SANDBOX", "bubblewrap")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
    held = [os.dup(1) for _ in range(1100)]
    try:
        world = make_world(None, "python_execute")
        outcome = world.call("python_execute", "python_execute", {"code": "print(6 * 7)"})
        assert (outcome.status, "42" in outcome.text) == ("ok", True)
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
