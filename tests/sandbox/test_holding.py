"""What programs could take beyond their limits, run by run or where nobody looks: on every level."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confinement import RUNNER_TOKEN, SLOTS_WORK, needs_sandbox, running_code_runner, with_time_to_begin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from mesocosm.sandbox import runtime
from mesocosm.sandbox.jobs import MIB
from mesocosm.sandbox.runtime import COMMANDS
from mesocosm.servers.programmatic_tool_calling.store import calls
from mesocosm.services.world import World

pytestmark = needs_sandbox
MakeWorld = Callable[..., World]
FULL = "files can only be removed"


@pytest.fixture(scope="module")
def runner() -> Iterator[str]:
    with running_code_runner("slots" if SLOTS_WORK else "bubblewrap") as url:
        yield url


@pytest.fixture(autouse=True, params=["bubblewrap", "code-runner"])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    monkeypatch.setenv("MESOCOSM_SANDBOX", name)
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "8MiB")
    if name == "code-runner":
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER", request.getfixturevalue("runner"))
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", RUNNER_TOKEN)
    return name


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world(None, "python_execute", "terminal")


def run(world: World, code: str, timeout: int = 120) -> str:
    outcome = world.call("python_execute", "python_execute", {"code": code, "timeout": timeout})
    assert outcome.status == "ok", world.journal.with_status("fault")
    return outcome.text


def taken(folder: Path) -> int:
    """Bytes on the disk, or that files claim to have, whichever is more."""
    found = [path.lstat() for path in folder.rglob("*")]
    return sum(max(status.st_blocks * 512, status.st_size) for status in found)


GROW = (
    "for n in range({0}, {0} + 12): open(f'f{{n}}', 'wb').write(bytes(1 << 20))\nimport time; time.sleep(60)"
)


def test_a_workspace_does_not_grow_run_by_run(world: World, level: str) -> None:
    if level == "code-runner":
        (world.workspace.root / "f0").write_bytes(bytes(10 << 20))  # what does not fit is not brought back
    else:
        assert "the workspace may hold 8 MiB" in run(world, GROW.format(0))
    before = taken(world.workspace.root)
    assert before > 8 * MIB
    for start in (100, 200):
        assert FULL in run(world, GROW.format(start))
        assert taken(world.workspace.root) <= before + 64 * 1024
    text = world.call("terminal", "run_command", {"command": "echo x > new"}).text
    assert FULL in text or "File too large" in text
    world.call("terminal", "run_command", {"command": "rm f*"})
    assert "kept" in run(world, "open('new', 'w').write('x'); print('kept')")


def test_room_is_not_had_beyond_the_end_of_a_file(world: World) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
file = os.open("x", os.O_CREAT | os.O_WRONLY)
print(libc.fallocate(file, 1, 0, ctypes.c_long(30 << 20)), os.fstat(file).st_blocks)
"""
    assert run(world, code).split("\n")[1] == "-1 0"


STEPS = some.lists(
    some.tuples(
        some.sampled_from(["write", "sparse", "holes", "append", "rename", "unlink", "hold", "folder"]),
        some.integers(0, 3),
        some.integers(0, 3),
    ),
    min_size=3,
    max_size=10,
)
PLAY = """
import os, time
held = []
for what, name, size in {steps}:
    path, size = f"f{{name}}", size << 20
    try:
        if what == "write": open(path, "wb").write(bytes(size))
        elif what == "sparse": open(path, "wb").truncate(size)
        elif what == "holes":
            with open(path, "wb") as file:
                for at in range(0, size, 65536): file.seek(at); file.write(b"x")
        elif what == "append": open(path, "ab").write(bytes(size))
        elif what == "rename": os.rename(path, f"g{{size}}")
        elif what == "unlink": os.unlink(path)
        elif what == "hold": held.append(open(path, "ab")); held[-1].write(bytes(size)); os.unlink(path)
        else: os.makedirs(f"d{{name}}/{{size}}", exist_ok=True)
    except OSError:
        pass
time.sleep(0.25)
"""


@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,  # some draws keep the library busy for minutes
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(runs=some.lists(STEPS, min_size=2, max_size=3))
def test_whatever_runs_write_they_stay_within_one_overshoot(world: World, runs: list[list[object]]) -> None:
    most = max(taken(world.workspace.root), 8 * MIB)
    for steps in runs:
        run(world, PLAY.format(steps=steps))
        # A run may overshoot by what it writes between two looks: here all that it writes, 3 MiB a step.
        assert taken(world.workspace.root) <= most + 30 * MIB
        if taken(world.workspace.root) > 8 * MIB:
            most = min(most, taken(world.workspace.root))
            run(world, PLAY.format(steps=[("write", 9, 3)]))
            assert (
                not (world.workspace.root / "f9").exists()
                or (world.workspace.root / "f9").stat().st_size == 0
            )
    run(world, "import os\nfor f in os.listdir(): os.path.isdir(f) or os.unlink(f)")


def test_there_are_no_sockets(world: World) -> None:
    code = """
import socket
for family in (1, 2, 10):
    try: socket.socket(family); print(0)
    except OSError as error: print(error.errno)
"""
    assert run(world, code).split("\n")[1:4] == ["97", "97", "97"]


def test_what_waits_in_pairs_of_sockets_is_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX_MEMORY", "256MiB")
    code = """
import os, socket, time
a, b = socket.socketpair()
try: a.setsockopt(1, 7, 1 << 20); print("larger")
except OSError: print("as it is")
for _ in range(8):
    if os.fork() == 0:
        pairs = []
        try:
            while True: pairs.append(socket.socketpair())
        except OSError: pass
        for pair in pairs:
            for one in pair:
                one.setblocking(False)
                try:
                    while True: one.send(bytes(65536))
                except OSError: pass
        time.sleep(60)
time.sleep(60)
"""
    text = run(world, code)
    assert "as it is" in text
    assert "all processes together may use 256 MiB" in text


def test_no_other_program_than_the_commands_is_there(world: World) -> None:
    code = """
import json, os
found = []
for folder, _, names in os.walk("/"):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK) and ".so" not in name:
            found.append(path)
print(json.dumps(found))
"""
    found = json.loads(run(world, code).split("\n")[1])
    allowed = {f"/usr/bin/{name}" for name in (*COMMANDS, "prlimit")} | {"/usr/libexec/date"}
    others = [
        path for path in found if path.replace("/bin/", "/usr/bin/", path.startswith("/bin/")) not in allowed
    ]
    assert [path for path in others if not path.startswith("/opt/")] == []


def test_programs_among_the_libraries_of_the_machine_are_covered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, mode in (("libx.so.1", 0o755), ("helper-mechanism", 0o755), ("data", 0o644)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    monkeypatch.setattr(runtime, "system_mounts", lambda: (runtime.Mount(str(tmp_path), "/lib"),))
    assert runtime.program_files.__wrapped__() == (str(tmp_path / "helper-mechanism"),)


def test_a_program_that_reads_no_answer_is_answered_little_and_not_at_all_when_it_is_over(
    make_world: MakeWorld,
) -> None:
    world = make_world(None, "filesystem", "programmatic_tool_calling")
    world.workspace.write("big.txt", b"x\n" * 45_000)
    code = """
import json, os, time
for number in range(200):
    request = {"id": number, "service": "filesystem", "tool": "read_text_file", "arguments": {}}
    request["arguments"]["path"] = "big.txt"
    os.write(9, json.dumps(request).encode() + b"\\n")
time.sleep(60)
"""
    before = 0

    def calls(seconds: int) -> int:
        nonlocal before
        world.call("programmatic_tool_calling", "code_execution", {"code": code, "timeout": seconds})
        before, made = world.journal.last, world.journal.last - before
        return made

    assert 1 < with_time_to_begin(calls, lambda made: made > 1) < 60
    made = world.journal.last
    time.sleep(0.3)
    assert world.journal.last == made
    assert not world.journal.with_status("fault")


def test_calls_that_nobody_can_be_waiting_for_end_the_conversation(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "MAX_CALLS", 200)
    world = make_world(None, "filesystem", "programmatic_tool_calling")
    code = """
import json, os
request = {"id": 1, "service": "filesystem", "tool": "list_allowed_directories", "arguments": {}}
line = json.dumps(request).encode() + b"\\n"
data = line * 100_000
try:
    while data: data = data[os.write(9, data):]
except OSError as error: print("closed")
"""
    text = world.call("programmatic_tool_calling", "code_execution", {"code": code, "timeout": 5}).text
    assert json.loads(text)["tool_calls"] <= 200
    assert os.path.isdir(world.path)
