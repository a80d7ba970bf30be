"""The command line as a process that is forked from one that has loaded Mesocosm already.

What it does is what ``python -m mesocosm`` does, with a process, a folder, an environment and streams of its
own; it only saves the second or two in which a fresh interpreter loads everything. Tests that are about
that (other hash seeds, what a process shows of itself, what is installed) start interpreters.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Self

LOADED = (
    "mesocosm.cli.commands",
    "mesocosm.evaluation.runs",
    "mesocosm.families.instances",
    "mesocosm.families.proofs",
    "mesocosm.kits.organisations.campus",
    "mesocosm.kits.organisations.questions",
    "mesocosm.kits.yaml_tasks.written",
    "mesocosm.hosting.server",
    "mesocosm.kits.mailbox",
    "mesocosm.servers.canvas.tools",
    "mesocosm.servers.codehost.tools",
    "mesocosm.servers.documents.tools",
    "mesocosm.servers.email.tools",
    "mesocosm.servers.excel.tools",
    "mesocosm.servers.filesystem.tools",
)
EVALUATE = ("contamination", "eval", "report")
LOADED_FOR_EVALUATION = ("acp", "anthropic", "inspect_ai.log", "matplotlib.figure", "openai")
"""Libraries that are loaded at the first command of ``EVALUATE``."""


def mesocosm(
    *words: object, cwd: Path | None = None, timeout: float = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What ``mesocosm WORDS`` ends with and writes; it reads nothing from its standard input."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [os.path.join(folder, name) for name in ("out", "err")]
        asked = _asked(words, cwd, environment, streams)
        status = _parent().ask({**asked, "timeout": timeout})
        out, err = (Path(stream).read_text(encoding="utf-8") for stream in streams)
    if status is None:
        raise subprocess.TimeoutExpired(asked["arguments"], timeout, out, err)
    return subprocess.CompletedProcess(asked["arguments"], status, out, err)


class Started:
    """A running ``mesocosm WORDS``, such as ``serve``; used as ``subprocess.Popen`` is."""

    def __init__(self, *words: object, **environment: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            streams = [os.path.join(folder, name) for name in ("out", "err")]
            for stream in streams:
                os.mkfifo(stream)
            self.pid: int = _parent().ask(_asked(words, None, environment, streams))
            self.stdout, self.stderr = (open(stream, encoding="utf-8") for stream in streams)  # noqa: SIM115
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()
        self.communicate()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        return self._status(0)

    def wait(self, timeout: float = 300) -> int:
        if self._status(timeout) is None:
            raise subprocess.TimeoutExpired("mesocosm", timeout)
        assert self.returncode is not None
        return self.returncode

    def communicate(self, timeout: float = 300) -> tuple[str, str]:
        self.wait(timeout)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()

    def _status(self, seconds: float) -> int | None:
        if self.returncode is None:
            self.returncode = _parent().ask({"wait": self.pid, "seconds": seconds})
        return self.returncode


def _asked(
    words: Sequence[object], cwd: Path | None, environment: Mapping[str, str], streams: Sequence[str]
) -> dict[str, Any]:
    return {
        "arguments": [str(word) for word in words],
        "cwd": str(cwd or Path.cwd()),
        "environment": {**os.environ, **environment},
        "streams": streams,
    }


class _Parent:
    """The process that commands are forked from; it ends with the tests, when its socket is closed."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, __file__, str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()
        self._stream = ours.makefile("rwb", buffering=0)
        atexit.register(self._end)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, asked: dict[str, Any]) -> Any:
        """The exit status of a command, or nothing if its time was up; the number of one that is started."""
        self._stream.write(json.dumps(asked).encode() + b"\n")
        answer = self._stream.readline()
        assert answer, "the process that commands are forked from has ended"
        return json.loads(answer)


@cache
def _parent() -> _Parent:
    return _Parent()


def _serve(stream: Any) -> dict[str, Any] | None:
    """Fork what is asked for until the tests are over; what is to be done, in a process that was forked."""
    for line in stream:
        asked: dict[str, Any] = json.loads(line)
        if "wait" in asked:
            answer = _status(asked["wait"], asked["seconds"])
        else:
            if asked["arguments"][0] in EVALUATE:
                _load(*LOADED_FOR_EVALUATION)
            assert threading.active_count() == 1, "a fork has no threads"
            child = os.fork()
            if not child:
                return asked
            answer = _ended(child, asked["timeout"]) if "timeout" in asked else child
        stream.write(json.dumps(answer).encode() + b"\n")
    return None


def _status(child: int, seconds: float) -> int | None:
    """The exit status of a process that was started; nothing if it still runs after so many seconds."""
    until = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended or time.monotonic() >= until:
            return os.waitstatus_to_exitcode(status) if ended else None
        time.sleep(0.01)


def _ended(child: int, seconds: float) -> int | None:
    """The exit status of a process; nothing if it had to be killed after so many seconds."""
    late: list[int] = []

    def kill(number: int, frame: object) -> None:
        late.append(number)
        os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.setitimer(signal.ITIMER_REAL, 0)
    return None if late else status


def _become(asked: dict[str, Any]) -> None:
    """Take on the folder, environment, arguments and streams of a command."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv[:] = [str(import_module("mesocosm.__main__").__file__), *asked["arguments"]]
    for number, name in enumerate((os.devnull, *asked["streams"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)


def _load(*names: str) -> None:
    for name in names:
        import_module(name)
    gc.freeze()  # or each fork looks through all that is loaded when it ends


def _main() -> None:
    sys.path[0] = ""  # as of ``python -m``; what lies beside this file are tests
    _load(*LOADED)
    import_module("mesocosm.worlds.tokens").count("")  # loads the tokenizer
    with socket.socket(fileno=int(sys.argv[1])) as channel, channel.makefile("rwb", buffering=0) as stream:
        asked = _serve(stream)
    if asked is not None:
        _become(asked)
        import_module("mesocosm.__main__").main()


if __name__ == "__main__":
    _main()
