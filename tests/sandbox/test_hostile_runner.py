"""A code runner that an agent has taken over: whatever it answers, the server goes on, and is not filled."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from mesocosm.sandbox import remote
from mesocosm.sandbox.frames import encode
from mesocosm.sandbox.jobs import Job, JobLimits, SandboxFailed
from mesocosm.sandbox.remote import RemoteSandbox
from mesocosm.services.world import World

MIB = 1 << 20
STARTED = encode("started", id="0" * 32)
END = encode("ended", status=0, reached=None, remarks=[])


def put(path: str, payload: bytes = b"x", **more: Any) -> bytes:
    given = {"path": path, "is": "file", "mode": 0o644, "modified": 0, **more}
    return encode("put", payload, **given)


Frames = Callable[[], Iterator[bytes]]
FRAMES: dict[str, Frames] = {
    "nothing": lambda: iter([]),
    "no header": lambda: iter([b"\0" * MIB] * 100),
    "too large": lambda: iter([b'{"kind": "put", "size": 99999999999}\n']),
    "size below nothing": lambda: iter([b'{"kind": "put", "size": -1}\n']),
    "size as text": lambda: iter([b'{"kind": "put", "size": "1"}\n']),
    "no kind": lambda: iter([b'{"kind": ["put"], "size": 0}\n']),
    "a list": lambda: iter([b'["kind", "size"]\n']),
    "deep": lambda: iter([b'{"kind": "put", "size": 0, "path": ' + b"[" * MIB + b"\n"]),
    "long number": lambda: iter([b'{"kind": "put", "size": ' + b"9" * MIB + b"}\n"]),
    "cut off in a header": lambda: iter([STARTED, put("a")[:20]]),
    "cut off in a payload": lambda: iter([STARTED, put("a", b"x" * 100)[:-50]]),
    "frames in each other": lambda: iter([STARTED, put("a", END)[:-10], put("b", END), END]),
    "another kind": lambda: iter([STARTED, encode("exec", command="id"), END]),
    "talk without a conversation": lambda: iter([STARTED, encode("talk", b"{}\n"), END]),
    "a path that leads out": lambda: iter([STARTED, put("../out"), END]),
    "a path of half a letter": lambda: iter([STARTED, put("\ud800"), END]),
    "a folder that is a file": lambda: iter([STARTED, put("a"), put("a/b"), put("a/b/c"), END]),
    "an end twice": lambda: iter([STARTED, encode("ended", status="x", reached="x", remarks=7), END]),
    "an end of a thousand": lambda: iter([STARTED, encode("ended", status=0, reached=[1], remarks=[])]),
    "an id that is a path": lambda: iter([encode("started", id="../x\r\n"), END]),
    "a failure of megabytes": lambda: iter([encode("failed", reason="x" * 20 * MIB)]),
    "headers without end": lambda: iter([STARTED, *repeat(put("a", rubbish="x" * MIB), 200), END]),
    "files without end": lambda: iter([STARTED, *(put(f"f{n}", b"x" * MIB) for n in range(80)), END]),
    "names without end": lambda: iter([STARTED, *(put(f"f{n}", b"") for n in range(3_000)), END]),
    "removals without end": lambda: iter([STARTED, encode("gone", paths=["a"] * 300_000), END]),
}


@contextmanager
def runner(frames: Frames, missing: bytes = b"[]", encoding: str = "") -> Iterator[str]:
    """Answers a job with these frames, whoever asks."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if "chunked" in self.headers.get("Transfer-Encoding", ""):
                while size := int(self.rfile.readline(), 16):
                    self.rfile.read(size + 2)
                self.rfile.readline()
            else:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with suppress(OSError):
                self.send_response(200)
                if self.path == "/missing" and encoding:
                    self.send_header("Content-Encoding", encoding)
                self.end_headers()
                for data in [missing] if self.path == "/missing" else frames():
                    self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def job(workspace: Path) -> Job:
    limits = JobLimits(
        2, file_bytes=2 * MIB, workspace_bytes=8 * MIB, workspace_entries=1_000, workspace_depth=8
    )
    return Job(("true",), workspace, limits)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    (tmp_path / "w/kept.txt").write_text("kept")
    (tmp_path / "outside").write_text("outside")
    return tmp_path / "w"


def run(url: str, workspace: Path) -> str | None:
    """Why the job failed, or what limit it reached."""
    with closing(RemoteSandbox(url, "t")) as sandbox:
        try:
            return sandbox.run(job(workspace)).reached
        except SandboxFailed as failed:
            return str(failed)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_no_sense_end_the_job_and_nothing_else(
    kind: str, workspace: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(remote, "PATIENCE", 0.1)
    monkeypatch.setattr(remote, "_IN_MEMORY", MIB)
    with runner(FRAMES[kind]) as url:
        why = run(url, workspace)
    assert len(why or "") < 2_000
    assert why or kind in ("a folder that is a file", "headers without end")
    assert (workspace.parent / "outside").read_text() == "outside"
    assert {path.name for path in workspace.parent.iterdir()} == {"w", "outside"}
    assert (workspace / "kept.txt").read_text() == "kept"
    assert sum(path.stat().st_size for path in workspace.rglob("*") if path.is_file()) < 20 * MIB


def beat() -> bytes:
    time.sleep(0.05)
    return encode("beat")


def test_a_job_that_does_not_end_is_given_up(workspace: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(remote, "AFTER", 0.3)
    monkeypatch.setattr(remote, "PATIENCE", 0.1)
    with runner(lambda: chain([STARTED], iter(beat, b""))) as url:
        assert "did not end" in str(run(url, workspace))


@pytest.mark.parametrize(
    ("said", "encoding"),
    [
        (lambda: gzip.compress(b"[" + b" " * 200 * MIB + b"]", 1), "gzip"),
        (lambda: b"[" + b" " * 80 * MIB + b"]", ""),
        (lambda: b'[["x"], {"y": 1}, 7]', ""),
        (lambda: b"[" * 100_000, ""),
        (lambda: b'{"x": 1}', ""),
        (lambda: b"no JSON", ""),
    ],
    ids=["packed", "long", "no digests", "deep", "object", "text"],
)
def test_what_is_said_to_be_missing_is_not_believed(
    workspace: Path, monkeypatch: Any, said: Callable[[], bytes], encoding: str
) -> None:
    monkeypatch.setattr(remote, "PATIENCE", 0.1)
    answer = said()
    with runner(lambda: iter([STARTED, END]), answer, encoding) as url:
        why = run(url, workspace)
    assert why is None if b'"x"]' in answer else why


def test_a_hostile_runner_is_a_fault_of_ours_and_the_episode_goes_on(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "code-runner")
    monkeypatch.setenv("MESOCOSM_CODE_RUNNER_TOKEN", "t")
    with runner(lambda: iter([STARTED, b"\0" * 70 * MIB])) as url:
        monkeypatch.setenv("MESOCOSM_CODE_RUNNER", url)
        world = make_world(None, "python_execute", "filesystem")
        assert world.call("python_execute", "python_execute", {"code": "1"}).status == "fault"
    assert world.call("filesystem", "write_file", {"path": "a.txt", "content": "x"}).status == "ok"
    assert json.dumps(world.journal.faults()[-1][1]).count("\\u0000") < 1_000
