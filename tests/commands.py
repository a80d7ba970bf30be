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
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

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
    arguments = [str(word) for word in words]
    with tempfile.TemporaryDirectory() as folder:
        streams = [os.path.join(folder, name) for name in ("out", "err")]
        asked = {
            "arguments": arguments,
            "cwd": str(cwd or Path.cwd()),
            "environment": {**os.environ, **environment},
            "streams": streams,
            "timeout": timeout,
        }
        status = _parent().ask(asked)
        out, err = (Path(stream).read_text(encoding="utf-8") for stream in streams)
    if status is None:
        raise subprocess.TimeoutExpired(arguments, timeout, out, err)
    return subprocess.CompletedProcess(arguments, status, out, err)


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

    def ask(self, asked: dict[str, Any]) -> int | None:
        """The exit status of a command, or nothing if its time was up."""
        self._stream.write(json.dumps(asked).encode() + b"\n")
        answer = self._stream.readline()
        assert answer, "the process that commands are forked from has ended"
        status: int | None = json.loads(answer)
        return status


@cache
def _parent() -> _Parent:
    return _Parent()


def _serve(stream: Any) -> dict[str, Any] | None:
    """Fork what is asked for until the tests are over; what is to be done, in a process that was forked."""
    for line in stream:
        asked: dict[str, Any] = json.loads(line)
        if asked["arguments"][0] in EVALUATE:
            _load(*LOADED_FOR_EVALUATION)
        assert threading.active_count() == 1, "a fork has no threads"
        child = os.fork()
        if not child:
            return asked
        status = _ended(child, asked["timeout"])
        stream.write(json.dumps(status).encode() + b"\n")
    return None


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
