"""What code can do in a process that reads what agents made: nothing but compute and answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mesocosm.worlds.nursery import ForkedProcess, Nursery

TRYING = """
import ctypes, fcntl, os, resource, socket, sys, threading
from mesocosm.worlds.process_worker import fork_on_request

server = os.getppid()
libc = ctypes.CDLL(None, use_errno=True)


def call(number, *values):
    if libc.syscall(number, *values) < 0:
        raise OSError(ctypes.get_errno(), "refused")


ACTS = {
    "reads a file": lambda: open(sys.argv[1], "rb").read(),
    "writes a file": lambda: open(f"{sys.argv[1]}.new", "w"),
    "lists a folder": lambda: os.listdir("/"),
    "removes a file": lambda: os.unlink(sys.argv[1]),
    "looks for a file": lambda: os.stat(sys.argv[1]),
    "makes a socket": lambda: socket.socket(),
    "makes a pair of sockets": lambda: socket.socketpair(),
    "signals the server": lambda: os.kill(server, 0),
    "has the server signalled": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, server),
    "forks": lambda: os.fork() or os._exit(0),
    "starts a program": lambda: os.execv("/bin/true", ["true"]),
    "starts a thread": lambda: threading.Thread(target=int).start(),
    "limits the server": lambda: resource.prlimit(server, resource.RLIMIT_NOFILE, (9, 9)),
    "reads the server's memory": lambda: call(310, server, 0, 0, 0, 0, 0),
    "takes the server's descriptors": lambda: call(438, 0, 0, 0),
    "computes": lambda: sum(range(1000)),
}


def work(line):
    done = []
    for name, act in ACTS.items():
        try:
            act()
            done.append(name)
        except (OSError, RuntimeError, ZeroDivisionError, ImportError):
            pass
    line.sendall(",".join(done).encode() + b".")
    line.close()


fork_on_request(lambda _: work)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are none")
def test_code_that_has_taken_a_process_over_reaches_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "expected.json"
    secret.write_text("the answer")
    nursery = Nursery([TRYING, str(secret)], {})
    try:
        process = ForkedProcess(nursery, b"")
        with process.line.makefile("rb") as stream:
            assert stream.read() == b"starts a thread,computes."
        process.end()
    finally:
        nursery.close()
    assert [path.name for path in tmp_path.iterdir()] == ["expected.json"]
