"""The code runner: a process of its own that runs code for servers, whichever way it keeps jobs apart."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from commands import Started, stand_in
from confinement import RUNNER_TOKEN, SLOTS_WORK, needs_sandbox, running_code_runner, wait_for
from patience import PATIENCE
from typer.testing import CliRunner

from mesocosm.cli.commands import app
from mesocosm.errors import UsageError
from mesocosm.sandbox import levels, runtime, slots
from mesocosm.sandbox.frames import BadFrame, Decoder, encode
from mesocosm.sandbox.jobs import Job, JobLimits, SandboxFailed
from mesocosm.sandbox.remote import RemoteSandbox
from mesocosm.sandbox.transfer import Receiver, changes, scan
from mesocosm.services.world import World
from mesocosm.worlds.steps import Steps

MakeWorld = Callable[..., World]
WALLS = [
    pytest.param("bubblewrap", marks=needs_sandbox),
    pytest.param("slots", marks=pytest.mark.skipif(not SLOTS_WORK, reason="slots need root")),
]
SERVICES = ("python_execute", "terminal", "filesystem", "memory", "programmatic_tool_calling")
MIB = 1 << 20


@pytest.fixture(scope="module", params=WALLS)
def runner(request: pytest.FixtureRequest) -> Iterator[str]:
    with running_code_runner(request.param, {"MESOCOSM_SANDBOX_JOBS": "2"}) as url:
        yield url


@pytest.fixture
def used(runner: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("MESOCOSM_SANDBOX", raising=False)
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER", runner)
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", RUNNER_TOKEN)
    return runner


@pytest.fixture
def world(used: str, make_world: MakeWorld) -> Iterator[World]:
    world = make_world(
        lambda world: world.workspace.fill([("d/a.txt", b"kept"), ("b.txt", b"old")], world.now), *SERVICES
    )
    yield world
    assert not world.journal.with_status("fault")


def run(world: World, code: str, **arguments: Any) -> str:
    outcome = world.call("python_execute", "python_execute", {"code": code, **arguments})
    assert outcome.status == "ok", world.journal.with_status("fault")
    return outcome.text


def test_what_a_job_left_running_takes_no_process_from_the_next(world: World) -> None:
    """The dead count as well, until somebody asks for their status."""
    leave = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
"""
    count = """
import os
for _ in range(50):
    if os.fork() == 0:
        import time; time.sleep(60)
        os._exit(0)
print("all")
"""
    for _ in range(3):
        assert "Return code: 0" in run(world, leave)
    assert "\nall\n" in run(world, count)


@pytest.mark.skipif(not SLOTS_WORK, reason="slots need root")
def test_a_runner_gives_no_file_of_the_machine_a_second_name(tmp_path: Path) -> None:
    """Else a run of ``--agent command`` beside it would say that code was exchanged."""
    source = tmp_path / "library"
    source.mkdir()
    (source / "a.py").write_text("a = 1")
    slots._copy(str(source), str(tmp_path / "image/library"))
    slots._copy(str(source / "a.py"), str(tmp_path / "image/b.py"))
    assert (tmp_path / "image/b.py").read_text() == (tmp_path / "image/library/a.py").read_text() == "a = 1"
    assert (source / "a.py").stat().st_nlink == 1


def program(world: World, code: str, **arguments: Any) -> dict[str, Any]:
    outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code, **arguments})
    assert outcome.status == "ok", world.journal.with_status("fault")
    result = json.loads(outcome.text)
    assert isinstance(result, dict)
    return result


def files(world: World) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in world.workspace.files()}


# -- the workspace --------------------------------------------------------------------------------------


def test_code_finds_the_workspace_and_its_changes_come_back(world: World) -> None:
    code = """
import os, shutil
print(open("/workspace/d/a.txt").read(), os.getcwd())
open("b.txt", "w").write("new"); open("d/c.txt", "w").write("c"); os.symlink("c.txt", "d/link")
os.rename("d/a.txt", "a.txt"); os.makedirs("e/f")
for name in ("a.txt", "e"): os.utime(name, (-1000, -1000))
"""
    assert run(world, code).startswith("=== STDOUT ===\nkept /workspace\n")
    assert files(world) == {"b.txt": b"new", "a.txt": b"kept", "d/c.txt": b"c"}
    assert os.readlink(world.workspace.root / "d/link") == "c.txt"
    assert world.workspace.is_folder("e/f")
    assert (
        world.workspace.details("d/c.txt").modified == world.workspace.details("b.txt").modified is not None
    )


def test_a_file_may_become_a_folder_and_a_folder_a_file(world: World) -> None:
    run(world, "import os, shutil\nos.remove('b.txt'); os.mkdir('b.txt'); shutil.rmtree('d'); open('d', 'w')")
    assert world.workspace.is_folder("b.txt")
    assert files(world) == {"d": b""}


def test_listings_are_those_of_the_sandbox_in_the_same_process(
    world: World, make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = [
        "echo x > n; mkdir -p e; rm b.txt",
        "stat -c '%n %Y %a %F' . * d/* /; date; date -d tomorrow +%F",
    ]
    there = [world.call("terminal", "run_command", {"command": c}).text for c in commands]
    monkeypatch.delenv("MESOCOSM_CODE_RUNNER")
    other = make_world(
        lambda world: world.workspace.fill([("d/a.txt", b"kept"), ("b.txt", b"old")], world.now), *SERVICES
    )
    here = [other.call("terminal", "run_command", {"command": c}).text for c in commands]
    assert there == here
    assert "Jan 15 09:00:02 UTC 2025\n2025-01-16" in here[1]


def test_what_does_not_fit_is_discarded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_WORKSPACE_SIZE", "1MiB")
    text = run(world, "open('big', 'wb').write(bytes(3 << 20))\nimport time; time.sleep(20)")
    assert "the workspace may hold 1 MiB" in text
    assert "Discarded" in text
    assert files(world) == {"b.txt": b"old", "d/a.txt": b"kept"}


def test_a_file_is_sent_once(world: World, runner: str) -> None:
    data = os.urandom(2 * MIB)
    world.workspace.write("big", data, world.now)
    [before] = [run(world, "import hashlib; print(hashlib.md5(open('big','rb').read()).hexdigest())")]
    import hashlib

    headers = {"Authorization": f"Bearer {RUNNER_TOKEN}"}
    answer = httpx2.post(
        f"{runner}/missing",
        json=[hashlib.sha256(data).hexdigest(), "0" * 64],
        headers=headers,
        timeout=PATIENCE,
    )
    assert answer.json() == ["0" * 64]
    assert hashlib.md5(data).hexdigest() in before


# -- tool calls -----------------------------------------------------------------------------------------


def test_programs_and_the_tools_that_they_call_see_the_same_files(world: World) -> None:
    code = """
open("n.txt", "w").write("from code")
seen = read_file(path="n.txt")
write_file(path="m.txt", content="from tool")
inner = python_execute(code="open('m.txt', 'a').write('!'); print(open('n.txt').read())")
print(seen, open("m.txt").read(), inner.split("\\n")[1])
"""
    assert program(world, code)["stdout"] == "from code from tool! from code\n"
    assert files(world)["m.txt"] == b"from tool!"


def test_programs_inside_of_programs_do_not_wait_for_each_other(world: World, make_world: MakeWorld) -> None:
    """As many programs as there are places, each of which needs another place to go on."""
    others = [world, *(make_world(None, *SERVICES) for _ in range(3))]
    code = "import time; time.sleep(0.3); print(python_execute(code='print(41 + 1)'))"
    results: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=lambda w=w: results.append(program(w, code, timeout=120))) for w in others
    ]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["42" in result["stdout"] for result in results] == [True] * 4


# -- keeping jobs apart ---------------------------------------------------------------------------------


def test_jobs_at_the_same_time_do_not_see_each_other(world: World, make_world: MakeWorld) -> None:
    other = make_world(None, *SERVICES)
    waiting = """
import time, os
open("/tmp/secret", "w").write("x"); open("secret", "w").write("x")
time.sleep(2)
"""
    thread = threading.Thread(target=run, args=(world, waiting))
    thread.start()
    looking = """
import os, time, signal
time.sleep(0.5)
found = []
for folder, folders, names in os.walk("/"):
    folders[:] = [f for f in folders if not os.path.islink(os.path.join(folder, f))]
    found += [os.path.join(folder, n) for n in names if n == "secret"]
killed = 0
for pid in range(2, 40_000):
    if pid != os.getpid() and pid != os.getppid():
        try: os.kill(pid, 0); killed += 1
        except OSError: pass
print(found, killed)
"""
    assert run(other, looking).startswith("=== STDOUT ===\n[] 0\n")
    thread.join()
    assert "secret" in files(world)


def test_nothing_of_a_job_is_there_for_the_next(world: World) -> None:
    run(world, "open('/tmp/left', 'w')\nimport os\nos.fork() or os.setsid() or __import__('time').sleep(60)")
    assert run(world, "import os; print(os.listdir('/tmp'))").startswith("=== STDOUT ===\n[]\n")


def test_a_job_dies_with_the_server_that_sent_it(used: str, tmp_path: Path) -> None:
    """Seen from a file in memory that nobody holds any more: the runner's places are free again."""
    program = f"""
import sys; sys.path[:] = {sys.path!r}
from pathlib import Path
from mesocosm.sandbox import levels, runtime, slots
from mesocosm.sandbox.jobs import Job, JobLimits
print("sent", flush=True)
job = Job((runtime.PYTHON, "-c", "import time; time.sleep(100)"), Path({str(tmp_path)!r}), JobLimits(100))
levels.active().run(job)
"""
    servers = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(2)]
    for server in servers:
        assert server.stdout
        server.stdout.readline()
    time.sleep(1.5)
    for server in servers:
        server.send_signal(signal.SIGKILL)
        server.communicate()
    ended = levels.active().run(Job(("true",), tmp_path, JobLimits(10)))
    assert ended.status == 0


# -- who may use it, and who is believed ----------------------------------------------------------------


@pytest.mark.parametrize("path", ["/status", "/missing", "/runs", "/runs/x"])
def test_nobody_comes_in_without_the_token(runner: str, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert httpx2.post(f"{runner}{path}", json=[], headers=headers, timeout=PATIENCE).status_code == 401


def test_what_is_no_job_is_refused(runner: str) -> None:
    headers = {"Authorization": f"Bearer {RUNNER_TOKEN}"}
    bad = [
        b"",
        b"x\n",
        encode("job"),
        encode("job", order={"command": ["true"]}),
        b'{"kind":"job","size":-1}\n',
    ]
    assert [
        httpx2.post(f"{runner}/runs", content=body, headers=headers, timeout=PATIENCE).status_code
        for body in bad
    ] == [400] * 5


def test_a_runner_that_is_gone_is_a_fault_and_no_result(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MESOCOSM_SANDBOX", raising=False)
    monkeypatch.setattr("mesocosm.sandbox.remote.PATIENCE", 0.5)
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER", "http://127.0.0.1:9")
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", "t")
    world = make_world(None, "python_execute")
    assert world.call("python_execute", "python_execute", {"code": "1"}).status == "fault"


def test_a_runner_that_is_restarted_is_waited_for(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.sandbox.remote.PATIENCE", 120.0)
    world = make_world(None, "python_execute")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("MESOCOSM_SANDBOX", "code-runner")
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", RUNNER_TOKEN)
    code = {"code": "open('n', 'a').write('x'); import time; time.sleep(1); print(open('n').read())"}
    command = ("code-runner", "--listen", f"127.0.0.1:{port}")
    with ThreadPoolExecutor(1) as pool:
        called = pool.submit(world.call, "python_execute", "python_execute", code)
        with Started(*command):
            wait_for(f"http://127.0.0.1:{port}")
            # It is killed with the job, or before it.
        with Started(*command) as second:
            outcome = called.result()
            second.terminate()
            second.wait()
    assert outcome.status == "ok"
    assert outcome.text.startswith("=== STDOUT ===\nx\n")


@contextmanager
def cutting(port: int, at: bytes, times: int = 1) -> Iterator[int]:
    """A way to a runner that breaks so often, where it passes on some bytes of an answer."""
    left = list(range(times))

    def carry(source: socket.socket, target: socket.socket, looks: bool) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65_536):
                if looks and at in data and left:
                    left.pop()
                    target.sendall(data[: data.index(at) + len(at)])
                    for end in (source, target):
                        end.shutdown(socket.SHUT_RDWR)
                    return
                target.sendall(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", port))
                for way in ((near.dup(), far.dup(), False), (far, near, True)):
                    threading.Thread(target=carry, args=way, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        assert not left


@pytest.mark.parametrize("at", [b'"put"', b'"ended"', b'"stdout"'])
def test_a_job_whose_runner_ends_amid_it_is_begun_anew(
    runner: str, make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, at: bytes
) -> None:
    monkeypatch.setattr("mesocosm.sandbox.remote.PATIENCE", 0.5)  # counted from the end, not the beginning
    monkeypatch.setenv("MESOCOSM_SANDBOX", "code-runner")
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", RUNNER_TOKEN)
    code = "for n in 'ab': open(n, 'a').write('x')\nimport time; time.sleep(.6); print(open('a').read())"
    with cutting(int(runner.rpartition(":")[2]), at) as port:
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER", f"http://127.0.0.1:{port}")
        world = make_world(None, "python_execute")
        assert run(world, code).startswith("=== STDOUT ===\nx\n")
    assert files(world) == {"a": b"x", "b": b"x"}


@pytest.mark.parametrize(
    ("times", "status"), [(1, "ok"), (2, "ok"), (3, "fault")], ids=["once", "twice", "each_time"]
)
def test_a_program_that_had_called_tools_is_undone_and_begun_anew(
    runner: str, make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, times: int, status: str
) -> None:
    """What it did was told to nobody: rows, files and calls are as if only its last run had been."""
    monkeypatch.setenv("MESOCOSM_SANDBOX", "code-runner")
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", RUNNER_TOKEN)
    code = (
        "open('n', 'a').write('x')\n"
        "create_entities(entities=[{'name': 'a', 'entityType': 't', 'observations': ['o']}])\n"
        "write_file(path='t', content=open('n').read())\n"
        "print(read_text_file(path='t'))"
    )
    made = make_world(lambda world: world.workspace.fill([("n", b"0")], world.now), *SERVICES)
    made.close()
    Steps.start(made.path)
    with cutting(int(runner.rpartition(":")[2]), b"read_text_file", times) as port, World(made.path) as world:
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER", f"http://127.0.0.1:{port}")
        before = world.call("filesystem", "write_file", {"path": "before", "content": "b"})
        outcome = world.call(
            "programmatic_tool_calling", "code_execution", {"code": code}, idempotency_key="k"
        )
        assert (before.status, outcome.status) == ("ok", status)
        calls = [(entry.tool, entry.status, entry.parent) for entry in world.journal.entries()]
        assert calls[:4] == [
            ("write_file", "ok", None),
            ("code_execution", status, None),
            ("create_entities", "ok", 2),
            ("write_file", "ok", 2),
        ]
        graph = json.loads(world.call("memory", "read_graph", {}).text)
        assert [entity["observations"] for entity in graph["entities"]] == [["o"]]
        assert files(world) == {"n": b"0x", "t": b"0x", "before": b"b"}
        if status == "ok":
            assert json.loads(outcome.text)["stdout"] == "0x\n"
            assert len(calls) == 5
        # What comes later starts with as many tries.
        assert world.call("filesystem", "read_text_file", {"path": "before"}).text == "b"


def test_a_world_that_cannot_go_back_says_that_a_program_was_cut_off(
    runner: str, make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "code-runner")
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", RUNNER_TOKEN)
    world = make_world(None, *SERVICES)
    code = {"code": "write_file(path='t', content='x')\nread_text_file(path='t')"}
    with cutting(int(runner.rpartition(":")[2]), b"read_text_file") as port:
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER", f"http://127.0.0.1:{port}")
        assert world.call("programmatic_tool_calling", "code_execution", code).status == "fault"
    assert "ended amid a job" in world.journal.faults()[0][1]


@pytest.mark.parametrize("seconds", ["2**40", "-2**40", "2**33 * 100", "-1"])
def test_a_file_may_bear_a_time_that_has_no_date(world: World, seconds: str) -> None:
    code = "import os\nopen('f', 'w')\nos.makedirs('d', exist_ok=True)\n"
    code += f"for n in 'fd': os.utime(n, ({seconds},) * 2)"
    for _ in range(2):
        assert "Return code: 0" in run(world, code)
    outcome = world.call("filesystem", "get_file_info", {"path": "f"})
    assert outcome.status == "ok", outcome.text
    assert not world.journal.with_status("fault")


@pytest.mark.parametrize(
    "frame",
    [
        {"kind": "put", "path": "../x", "is": "file", "mode": 0o644, "modified": 0},
        {"kind": "put", "path": "/x", "is": "file", "mode": 0o644, "modified": 0},
        {"kind": "put", "path": "a//x", "is": "file", "mode": 0o644, "modified": 0},
        {"kind": "put", "path": "x", "is": "device", "mode": 0o644, "modified": 0},
        {"kind": "put", "path": "x", "is": "file", "mode": "rw", "modified": 0},
        {"kind": "put", "path": "a/" * 70 + "x", "is": "folder", "mode": 0o755, "modified": 0},
        {"kind": "gone", "paths": ["../x"]},
        {"kind": "gone", "paths": "x"},
    ],
)
def test_what_a_hostile_runner_sends_does_not_leave_the_workspace(
    tmp_path: Path, frame: dict[str, Any]
) -> None:
    (tmp_path / "x").write_text("outside")
    (tmp_path / "w").mkdir()
    with pytest.raises(BadFrame):
        Receiver(tmp_path / "w", 64, 10, 100).take(frame, b"stolen")
    assert (tmp_path / "x").read_text() == "outside"
    assert list((tmp_path / "w").iterdir()) == []


def test_links_are_neither_made_to_lead_out_nor_followed(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    receiver = Receiver(workspace, 64, 10, 100)
    receiver.take({"kind": "put", "path": "l", "is": "link", "target": "..", "mode": 0, "modified": 0}, b"")
    assert not (workspace / "l").is_symlink()
    (workspace / "l").symlink_to(tmp_path)
    with pytest.raises(OSError, match="Not a directory"):
        receiver.take({"kind": "put", "path": "l/x", "is": "file", "mode": 0o644, "modified": 0}, b"x")
    assert not (tmp_path / "x").exists()


def test_more_than_may_come_is_refused(tmp_path: Path) -> None:
    def put(path: str) -> dict[str, Any]:
        return {"kind": "put", "path": path, "is": "file", "mode": 0o644, "modified": 0}

    receiver = Receiver(tmp_path, 64, 3, 10)
    receiver.take(put("a"), b"12345678")
    with pytest.raises(BadFrame, match="more than"):
        receiver.take(put("b"), b"123")
    receiver = Receiver(tmp_path, 64, 1, 10)
    receiver.take(put("a"), b"")
    with pytest.raises(BadFrame, match="more than"):
        receiver.take(put("b"), b"")


def test_changes_make_one_workspace_out_of_the_other(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        (folder / "d/e").mkdir(parents=True)
        (folder / "d/x").write_text("x")
        (folder / "y").write_text("y")
    before = scan(one, 64)
    (one / "d/x").unlink()
    (one / "d/e").rmdir()
    (one / "d/e").write_text("now a file")
    (one / "y").chmod(0o600)
    os.mkfifo(one / "pipe")
    decoder, receiver = Decoder(MIB), Receiver(other, 64, 100, MIB)
    for frame in changes(one, before, scan(one, 64), MIB):
        for header, payload in decoder.feed(frame):
            receiver.take(header, payload)
    assert sorted(path.name for path in other.rglob("*")) == ["d", "e", "y"]
    assert (other / "d/e").read_text() == "now a file"
    assert (other / "y").stat().st_mode & 0o777 == 0o600


def test_frames_may_arrive_in_any_pieces() -> None:
    sent = [("put", b"x" * 100), ("put", b"\n{}\n"), ("end", b""), ("talk", b"\n" * 70), ("talk", b"x" * 300)]
    data = b"".join(encode(kind, payload) for kind, payload in sent)
    for step in (1, 2, 7, 100, 129, len(data)):
        decoder = Decoder(1000)
        frames = [f for at in range(0, len(data), step) for f in decoder.feed(data[at : at + step])]
        assert [(header["kind"], payload) for header, payload in frames] == sent
    with pytest.raises(BadFrame):
        list(Decoder(10).feed(encode("put", b"x" * 11)))


# -- the command line -----------------------------------------------------------------------------------


def test_doctor_says_how_the_runner_keeps_jobs_apart(used: str) -> None:
    levels._active.cache_clear()
    result = CliRunner().invoke(app, ["doctor", "--json"])
    found = json.loads(result.stdout)
    assert found["active"] == "code-runner"
    level = next(level for level in found["levels"] if level["active"])
    assert level["name"] in ("code-runner (bubblewrap)", "code-runner (slots)")
    assert level["works"]
    assert [check for check in found["checks"] if not check["passed"]] == []


def test_a_token_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MESOCOSM_CODE_RUNNER_TOKEN", raising=False)
    result = CliRunner().invoke(app, ["code-runner", "--listen", "127.0.0.1:0"])
    assert isinstance(result.exception, UsageError)
    assert "MESOCOSM_CODE_RUNNER_TOKEN" in str(result.exception)


@needs_sandbox
def test_it_can_listen_on_a_socket_in_the_file_system(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from a file\n")
    place = f"unix:{tmp_path / 'socket'}"
    command = [*stand_in(), "code-runner", "--listen", place]
    process = subprocess.Popen([*command, "--token-file", str(tmp_path / "token"), "--walls", "bubblewrap"])
    (tmp_path / "w").mkdir()
    try:
        while not (tmp_path / "socket").exists():
            assert process.poll() is None
            time.sleep(0.05)
        wait_for(place, "from a file")
        with closing(RemoteSandbox(place, "from a file")) as sandbox:
            ended = sandbox.run(Job((runtime.PYTHON, "-c", "print(1)"), tmp_path / "w", JobLimits()))
            assert ended.stdout.text() == "1\n"
        with closing(RemoteSandbox(place, "wrong")) as sandbox, pytest.raises(SandboxFailed):
            sandbox.run(Job(("true",), tmp_path / "w", JobLimits()))
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.mark.parametrize(
    "place", ["nowhere", "127.0.0.1:x", "127.0.0.1:99999", "unix:/no/such/folder/socket"]
)
def test_a_place_that_cannot_be_had_is_wrong_usage(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", "t")
    result = CliRunner().invoke(app, ["code-runner", "--listen", place])
    assert isinstance(result.exception, UsageError)


def test_a_taken_port_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", "t")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = CliRunner().invoke(app, ["code-runner", "--listen", f"127.0.0.1:{taken.getsockname()[1]}"])
    assert isinstance(result.exception, UsageError)
