"""Code of the agent as an attacker: each attempt fails cleanly, and the world stays usable."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confinement import RUNNER_TOKEN, SLOTS_WORK, needs_sandbox, running_code_runner, with_time_to_begin
from patience import PATIENCE

import mesocosm
from mesocosm.sandbox import workspace_handover
from mesocosm.services.world import World

pytestmark = needs_sandbox
MakeWorld = Callable[..., World]


LEVELS = ("bubblewrap", "code-runner")


@pytest.fixture(scope="module")
def runner() -> Iterator[str]:
    """A code runner, a process of its own, that keeps jobs apart without namespaces where it can."""
    with running_code_runner("slots" if SLOTS_WORK else "bubblewrap") as url:
        yield url


@pytest.fixture(autouse=True, params=LEVELS)
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whatever the developer's environment says: these programs must not run anywhere else."""
    name = str(request.param)
    monkeypatch.setenv("MESOCOSM_SANDBOX", name)
    if name == "code-runner":
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER", request.getfixturevalue("runner"))
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", RUNNER_TOKEN)
    return name


@pytest.fixture
def world(make_world: MakeWorld) -> Iterator[World]:
    """A world on which, after the attack, code still runs and nothing was our fault."""
    world = make_world(None, "python_execute", "terminal", "memory")
    yield world
    assert run(world, "print('healthy')").startswith("=== STDOUT ===\nhealthy\n")
    assert not world.journal.with_status("fault")


def run(world: World, code: str, timeout: int = 120) -> str:
    outcome = world.call("python_execute", "python_execute", {"code": code, "timeout": timeout})
    assert outcome.status == "ok", world.journal.with_status("fault")
    return outcome.text


def facts(world: World, code: str) -> Any:
    """What a program prints, as JSON."""
    text = run(world, code)
    assert "=== STDERR ===" not in text, text
    return json.loads(text.split("\n")[1])


def everything_visible() -> str:
    return """
import os
found = []
for folder, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if not os.path.islink(os.path.join(folder, f))]
    found += [os.path.join(folder, name) for name in folders + files]
"""


# -- seeing ---------------------------------------------------------------------------------------------


def test_neither_databases_nor_journal_nor_answers_can_be_found(world: World) -> None:
    world.call("memory", "read_graph", {})
    names = {"expected.json", *(path.name for path in world.path.iterdir() if path.is_file())}
    assert {"journal.db", "memory.db", "world.json"} < names
    code = everything_visible() + (
        f"import json\nprint(json.dumps([f for f in found if os.path.basename(f) in {names!r}]))"
    )
    assert facts(world, code) == []


def test_no_source_of_the_project_can_be_found_or_imported(world: World) -> None:
    code = everything_visible() + (
        "import json, importlib.util as u\n"
        "print(json.dumps([[f for f in found if 'mesocosm' in f.lower() and '/dev' not in f], "
        "[n for n in ('mesocosm', 'sqlalchemy', 'mcp', 'orjson') if u.find_spec(n)]]))"
    )
    assert facts(world, code) == [[], []]


def test_folders_of_the_server_do_not_exist_inside(world: World) -> None:
    paths = [str(path) for path in (Path(mesocosm.__file__).parents[1], Path(sys.prefix), Path.home())]
    code = f"import os, json; print(json.dumps([path for path in {paths} if os.path.exists(path)]))"
    assert facts(world, code) == []


def test_the_path_of_the_world_is_told_nowhere(world: World) -> None:
    code = """
import glob, json, os
texts = [repr(os.environ), os.getcwd(), os.path.realpath("/workspace")]
for name in glob.glob("/proc/*/*") + glob.glob("/proc/self/*") + glob.glob("/run/**", recursive=True):
    try:
        texts.append(open(name, errors="replace").read(100000))
    except OSError:
        pass
print(json.dumps(texts))
"""
    told = "\n".join(facts(world, code))
    assert str(world.path.parent) not in told
    assert "pytest" not in told


def test_processes_of_the_server_are_neither_visible_nor_reachable(world: World) -> None:
    code = f"""
import json, os
try:
    os.kill({os.getpid()}, 0)
    reached = True
except OSError:
    reached = False
print(json.dumps([reached, os.path.exists("/proc/{os.getpid()}")]))
"""
    assert facts(world, code) == [False, False]


def test_the_environment_of_the_server_is_not_passed_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    text = world.call("terminal", "run_command", {"command": "env; cat /proc/1/environ"}).text
    assert "secret-key" not in text
    assert "MESOCOSM" not in text


def test_no_file_of_the_server_is_open_inside(world: World) -> None:
    code = """
import json, os
opened = []
for number in range(3, 1024):
    try:
        opened.append([number, os.fstat(number).st_mode])
    except OSError:
        pass
print(json.dumps(opened))
"""
    assert facts(world, code) == []


# -- reaching other episodes ----------------------------------------------------------------------------


def test_links_out_of_the_workspace_are_useless_inside_and_gone_afterwards(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/secret.txt").write_text("secret")
    text = run(
        world,
        f"""
import os
targets = ["{tmp_path}/other/secret.txt", "../world-1", "/etc/passwd", "..", "a/../../x"]
for number, target in enumerate(targets):
    os.symlink(target, f"link-{{number}}")
    try:
        print(open(f"link-{{number}}").read())
    except OSError as error:
        print(type(error).__name__)
""",
    )
    assert "secret\n" not in text
    assert "link-0 (link that leaves the workspace)" in text
    assert list(world.workspace.root.iterdir()) == []


def test_hard_links_cannot_be_made(world: World) -> None:
    code = 'import os\nopen("a","w").close()\ntry: os.link("a", "b")\nexcept OSError as e: print(e.errno)'
    assert run(world, code).startswith("=== STDOUT ===\n1\n")


def test_a_hard_link_that_is_there_nevertheless_is_removed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "workspace").mkdir()
    os.link(tmp_path / "secret", tmp_path / "workspace/stolen")
    removed = workspace_handover.tidy(tmp_path / "workspace")
    assert removed == ("Removed from the workspace: stolen (hard link)",)
    assert (tmp_path / "secret").read_text() == "secret"
    assert not (tmp_path / "workspace/stolen").exists()


def test_the_workspace_itself_cannot_be_replaced(world: World) -> None:
    text = world.call(
        "terminal",
        "run_command",
        {"command": "rmdir /workspace; mv /workspace /tmp/x; ln -s / /workspace/../w"},
    ).text
    assert text.count("cannot") + text.count("failed") >= 3
    assert world.workspace.root.is_dir()


def test_swapping_folders_for_links_while_tools_write_leads_nowhere(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    world = make_world(None, "filesystem", "programmatic_tool_calling")
    outside = tmp_path / "outside"
    outside.mkdir()
    code = f"""
import os, threading
os.makedirs("d"); done = False
def swap():
    while not done:
        try:
            os.rename("d", "e"); os.symlink("{outside}", "d"); os.unlink("d"); os.rename("e", "d")
        except OSError:
            pass
thread = threading.Thread(target=swap); thread.start()
for number in range(60):
    try:
        tools.write_file(path="d/x.txt", content="stolen")
    except ToolError:
        pass
done = True; thread.join()
"""
    outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code})
    assert json.loads(outcome.text)["tool_calls"] == 60
    assert list(outside.iterdir()) == []
    assert not world.journal.with_status("fault")


# -- using up -------------------------------------------------------------------------------------------


def test_a_fork_bomb_stops_at_the_limit(world: World) -> None:
    code = """
import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60); os._exit(0)
        count += 1
except OSError:
    print(count)
"""
    count = int(run(world, code).split("\n")[1])
    assert 10 < count < 64


def test_a_shell_fork_bomb_dies_with_its_time(world: World) -> None:
    # A shell that cannot fork ends, and in the end all of them may have: the program itself stays.
    code = "import os, time; os.system('f() { f | f & }; f; sleep 60'); time.sleep(60)"
    outcome = run(world, code, timeout=2)
    assert "timed out after 2 seconds" in outcome


def test_one_process_cannot_take_more_memory_than_it_may(world: World) -> None:
    assert "Limit: A process may use 1,024 MiB of memory" in run(world, "x = bytearray(2 << 30)")


def test_many_processes_cannot_take_more_memory_together(world: World) -> None:
    code = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        x = bytearray(b"x") * (400 << 20)
        time.sleep(60)
time.sleep(60)
"""
    assert "all processes together may use 1,024 MiB" in run(world, code)


def test_gigabytes_of_output_are_cut_off(world: World) -> None:
    text = run(world, "import os\nwhile True: os.write(1, b'x' * 65536)")
    assert "more than 16 MiB of output" in text
    assert len(text) < 51_000


def test_sleeping_past_the_limit_is_stopped_with_what_was_printed(world: World) -> None:
    code = "import time, signal\nsignal.signal(15, lambda *_: 0)\nprint('so far')\ntime.sleep(300)"
    text = with_time_to_begin(lambda seconds: run(world, code, seconds), lambda text: "so far" in text)
    assert "so far" in text
    assert re.search(r"timed out after \d+ seconds", text)


def test_the_disk_cannot_be_filled(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "8MiB")
    code = "import time\nfor i in range(99): open(f'f{i}', 'wb').truncate(60 << 20)\ntime.sleep(60)"
    assert "Stopped: the workspace may hold" in run(world, code)
    world.call("terminal", "run_command", {"command": "rm f*"})


def test_neither_can_its_list_of_files(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_ENTRIES", "1000")
    code = "import os, time\nfor i in range(5_000): os.mkdir(f'{i}')\ntime.sleep(60)"
    assert "Stopped: the workspace may hold" in run(world, code)
    world.call("terminal", "run_command", {"command": "rm -r -- *"})


@pytest.mark.parametrize(
    "hide",
    ["os.unlink(name)", "os.chmod('.', 0)", "os.mkdir('d'); os.rename(name, 'd/' + name); os.chmod('d', 0)"],
)
def test_files_cannot_be_hidden_from_the_count(
    world: World, monkeypatch: pytest.MonkeyPatch, hide: str
) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "8MiB")
    code = f"""
import os, time
name = "x"
with open(name, "wb") as file:
    {hide}
    file.write(bytes(20 << 20)); file.flush()
    time.sleep(60)
"""
    assert "Stopped: the workspace may hold" in run(world, code)
    world.call("terminal", "run_command", {"command": "rm -r *"})


@pytest.mark.parametrize("path", ["/tmp/x", "/dev/shm/x", "big"])
def test_no_place_takes_more_than_its_share(world: World, path: str) -> None:
    code = f"with open({path!r}, 'wb') as f:\n  for _ in range(600): f.write(bytes(1 << 20))"
    text = run(world, code)
    assert "No space left on device" in text or "File too large" in text


def test_memory_that_no_limit_would_count_is_not_to_be_had(world: World) -> None:
    code = "import os\ntry: os.memfd_create('x')\nexcept OSError as e: print(e.errno)"
    assert run(world, code).startswith("=== STDOUT ===\n1\n")


def test_a_program_cannot_fill_the_disk_while_a_tool_answers(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "8MiB")
    world = make_world(None, "python_execute", "programmatic_tool_calling")
    code = """
import threading
def fill():
    for number in range(40): open(f"f{number}", "wb").write(bytes(1 << 20))
threading.Thread(target=fill).start()
python_execute(code="import time; time.sleep(250)", timeout=280)
"""
    monkeypatch.setenv("MESOCOSM_SANDBOX_MAX_TIMEOUT", "300")
    started = time.perf_counter()
    outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code, "timeout": 300})
    assert time.perf_counter() - started < 200
    assert "the workspace may hold 8 MiB" in json.loads(outcome.text)["error"]
    assert not world.journal.with_status("fault")


@pytest.mark.parametrize("end", ["os._exit(0)", "open('f', 'wb').write(bytes(20 << 20))"])
def test_a_program_that_has_ended_leaves_no_tool_running(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "8MiB")
    world = make_world(None, "python_execute", "programmatic_tool_calling")
    code = f"""
import os, threading, time
def leave():
    for _ in range(150):  # so long that it has started, where that cannot be seen
        os.path.exists("started") or time.sleep(0.02)
    {end}
threading.Thread(target=leave).start()
python_execute(code="open('started', 'w'); import time; time.sleep(250)", timeout=280)
"""
    monkeypatch.setenv("MESOCOSM_SANDBOX_MAX_TIMEOUT", "300")
    started = time.perf_counter()
    world.call("programmatic_tool_calling", "code_execution", {"code": code, "timeout": 300})
    assert time.perf_counter() - started < 200
    assert not world.journal.with_status("fault")


def test_a_program_ends_in_time_whatever_it_has_called(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX_MAX_TIMEOUT", "300")
    world = make_world(None, "python_execute", "programmatic_tool_calling")
    # It goes on after the call, which ends when its own time does: who of the two is first is chance.
    code = "import time\npython_execute(code='import time; time.sleep(250)', timeout=300)\ntime.sleep(250)"
    started = time.perf_counter()
    outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code, "timeout": 1})
    assert time.perf_counter() - started < 200
    assert json.loads(outcome.text)["error"].startswith("Execution timed out after 1 seconds")


# -- staying --------------------------------------------------------------------------------------------


def test_daemons_do_not_outlive_the_call(world: World) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3): os.close(fd)
        while True:
            open("alive", "a").write("x"); time.sleep(0.02)
    os._exit(0)
while not os.path.exists("alive") or not os.path.getsize("alive"): time.sleep(0.02)
"""
    run(world, code)
    size = (world.workspace.root / "alive").stat().st_size
    time.sleep(0.3)
    assert (world.workspace.root / "alive").stat().st_size == size > 0


def test_killing_all_it_can_reach_kills_only_itself(world: World) -> None:
    text = run(world, "import os\nos.kill(os.getppid(), 9)\nos.kill(1, 9)\nos.kill(-1, 9)")
    assert "Return code:" in text


def test_code_dies_with_the_server(tmp_path: Path) -> None:
    program = f"""
import sys; sys.path[:] = {sys.path!r}
from pathlib import Path
from mesocosm.sandbox import bubblewrap, runtime
from mesocosm.sandbox.jobs import Job, JobLimits
code = "import time\\nwhile True: open('alive', 'a').write('x'); time.sleep(0.02)"
bubblewrap.Bubblewrap().run(Job((runtime.PYTHON, "-c", code), Path({str(tmp_path)!r}), JobLimits()))
"""
    server = subprocess.Popen([sys.executable, "-c", program])
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "alive").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server.send_signal(signal.SIGKILL)
    server.wait()
    size = -1
    while size != (size := (tmp_path / "alive").stat().st_size):
        assert time.monotonic() < deadline
        time.sleep(0.5)


# -- breaking out ---------------------------------------------------------------------------------------


def test_there_is_no_network(world: World) -> None:
    code = """
import socket, json
found = {}
for address in ("1.1.1.1", "127.0.0.1", "169.254.169.254"):
    try:
        socket.create_connection((address, 80), 2); found[address] = "connected"
    except OSError as error:
        found[address] = type(error).__name__
print(json.dumps(found))
"""
    found = facts(world, code)
    assert len(found) == 3
    assert set(found.values()) <= {"OSError", "ConnectionRefusedError"}, found


def test_sockets_to_the_kernel_and_to_the_host_are_refused(world: World) -> None:
    code = """
import socket, json
found = {}
for family in (16, 17, 38, 40):
    try: socket.socket(family, 3); found[family] = 0
    except OSError as error: found[family] = error.errno
print(json.dumps(found))
"""
    assert facts(world, code) == {"16": 97, "17": 97, "38": 97, "40": 97}


def test_nothing_outside_the_workspace_can_be_written(world: World) -> None:
    code = """
import json
paths, written = ["/x", "/usr/bin/x", "/etc/x", "/dev/x", "/run/code/x", "/opt/python/x"], []
for path in paths:
    try: open(path, "w"); written.append(path)
    except OSError: pass
print(json.dumps([len(paths), written]))
"""
    assert facts(world, code) == [6, []]


def test_no_folder_and_no_file_but_the_own_ones_can_be_written(world: World) -> None:
    code = (
        everything_visible()
        + """
import json
own = ("/workspace", "/tmp", "/dev/", "/proc/")
writable = [path for path in ["/", *found] if os.access(path, os.W_OK) and not os.path.islink(path)]
print(json.dumps([path for path in writable if not path.startswith(own)]))
"""
    )
    assert facts(world, code) == []


def test_the_means_of_breaking_out_are_refused(world: World) -> None:
    calls = [
        "libc.unshare(0x10000000)",  # a user namespace
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.ptrace(16, os.getppid(), 0, 0)",
        "libc.syscall(321, 0, 0, 0)",  # bpf
        "libc.syscall(425, 1, 0)",  # io_uring
        "libc.setuid(0)",
        "libc.chroot(b'/tmp')",
    ]
    code = f"""
import ctypes, json, os
libc = ctypes.CDLL(None, use_errno=True)
print(json.dumps({{call: eval(call) for call in {calls}}}))
"""
    assert facts(world, code) == dict.fromkeys(calls, -1)


def test_a_user_of_its_own_without_any_capability(world: World) -> None:
    text = world.call("terminal", "run_command", {"command": "id; ls -ld /etc /workspace"}).text
    assert re.match(r"uid=[1-9]\d+\(agent\) gid=[1-9]\d+\(agent\)", text)


# -- leaving traps --------------------------------------------------------------------------------------


def test_a_folder_of_any_depth_is_cut_down(world: World) -> None:
    code = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
    text = run(world, code)
    assert "nested at most 64 deep" in text or "nested more than 64 folders deep" in text
    deepest = max(len(Path(folder).parts) for folder, _, _ in os.walk(world.workspace.root))
    assert deepest <= len(world.workspace.root.parts) + 64


def test_what_code_made_unreadable_can_be_read_afterwards(world: World) -> None:
    code = "import os\nos.mkdir('d'); open('d/f','w')\nfor name in ('d/f', 'd', '.'): os.chmod(name, 0)"
    run(world, code)
    assert oct((world.workspace.root / "d").stat().st_mode)[-3] == "7"
    assert oct((world.workspace.root / "d/f").stat().st_mode)[-3] == "6"


def test_a_workspace_of_hostile_names_can_be_copied_and_compared(world: World, tmp_path: Path) -> None:
    code = r"""
import os
for name in [b"\xff\xfe", b"-rf", b"a\nb", b"\x1b[2J", b"x" * 255, "\u202egnp.exe".encode(), b" ", b"$(id)"]:
    open(name, "wb").close()
"""
    text = run(world, code)
    assert "Renamed in the workspace: " in text
    world.copy_to(tmp_path / "copy")
    assert len(os.listdir(tmp_path / "copy/workspace")) == 8
    assert {name for name, _ in world.workspace.files()} >= {"%FF%FE", "-rf", "a\nb"}


def test_pipes_that_a_crash_left_behind_break_neither_copies_nor_listings(
    world: World, tmp_path: Path
) -> None:
    os.mkfifo(world.workspace.root / "pipe")
    (world.workspace.root / "file").write_text("x")
    world.copy_to(tmp_path / "copy")
    assert os.listdir(tmp_path / "copy/workspace") == ["file"]
    assert [entry.kind for entry in world.workspace.entries()] == ["file", "other"]
    assert "pipe (not a regular file)" in run(world, "pass") or not (world.workspace.root / "pipe").exists()


def test_names_that_are_not_text_break_no_tool_meanwhile(make_world: MakeWorld) -> None:
    world = make_world(None, "filesystem", "programmatic_tool_calling")
    code = r"""
import os
for name in [b"\xff", b"%FF", b"d\xe9/"]:
    os.mkdir(name) if name.endswith(b"/") else open(name, "wb").close()
print(list_directory(path="."))
directory_tree(path="."); search_files(path=".", pattern="*")
list_directory_with_sizes(path=".")
"""
    outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code})
    result = json.loads(outcome.text)
    assert "[FILE] %FF" in result["stdout"]
    assert result["tool_calls"] == 4
    assert len(result["remarks"]) == 2
    assert sorted(entry.path for entry in world.workspace.walk()) == ["%FF", "%FF-2", "d%E9"]
    assert not world.journal.with_status("fault")


def test_nothing_is_written_after_the_episode_was_ended(make_world: MakeWorld) -> None:
    world = make_world(None, "claim_done", "programmatic_tool_calling")
    code = """
open("before.txt", "w").write("kept")
try: tools.claim_done()
finally: open("after.txt", "w").write("too late")
"""
    outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code})
    assert json.loads(outcome.text)["success"]
    assert world.calls.ended
    assert [entry.path for entry in world.workspace.walk()] == ["before.txt"]


def test_a_look_that_takes_long_does_not_forget_that_the_episode_was_ended(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that looks after the limits was at it when the task was declared done."""
    exceeded = workspace_handover.WorkspaceQuota.exceeded

    def slow(*arguments: Any) -> bool:
        result = exceeded(*arguments)
        if threading.current_thread().name == "sandbox-watch":
            time.sleep(1)
        return result

    monkeypatch.setattr(workspace_handover.WorkspaceQuota, "exceeded", slow)
    world = make_world(None, "claim_done", "programmatic_tool_calling")
    code = "import time; time.sleep(0.3); tools.claim_done()"
    outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code})
    assert outcome.status == "ok", outcome.text


def test_a_program_that_garbles_the_conversation_harms_itself_only(make_world: MakeWorld) -> None:
    world = make_world(None, "memory", "programmatic_tool_calling")
    for sent in (
        "b'{}' + b'\\n'",
        "b'x' * (20 << 20)",
        "b'[' * 10**6 + b'\\n'",
        'b\'{"id":1,"service":2}\\n\'',
    ):
        code = f"""
import os, socket
for fd in range(3, 9999):
    try:
        if os.fstat(fd).st_mode >> 12 == 12: os.write(fd, {sent})
    except OSError: pass
try: tools.read_graph()
except BaseException as error: print(type(error).__name__)
"""
        outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code, "timeout": 5})
        assert outcome.status == "ok"
        assert json.loads(outcome.text)["tool_calls"] == 0
    assert world.call("memory", "read_graph", {}).status == "ok"
