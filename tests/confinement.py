"""For tests that run code of an agent: what of it this machine can do, and a code runner to do it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TypeVar

import pytest
from commands import stand_in
from patience import PATIENCE

from mesocosm.sandbox import bubblewrap, seccomp
from mesocosm.sandbox.jobs import SandboxFailed
from mesocosm.sandbox.remote import RemoteSandbox

_problem = bubblewrap.trial()
needs_sandbox = pytest.mark.skipif(_problem is not None, reason=f"no sandbox: {_problem}")
SLOTS_WORK = os.geteuid() == 0 and seccomp.program() is not None
RUNNER_TOKEN = "token-of-the-tests"
T = TypeVar("T")


def with_time_to_begin(run: Callable[[int], T], has_begun: Callable[[T], object]) -> T:
    """What a program comes to whose time is short, but long enough to begin: more on a busy machine."""
    for seconds in (2, 8, 30):
        found = run(seconds)
        if has_begun(found):
            return found
    return run(120)


@contextmanager
def running_code_runner(walls: str, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """A code runner as a process of its own; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*stand_in(), "code-runner", "--listen", f"127.0.0.1:{port}"]
    given = {**os.environ, "MESOCOSM_CODE_RUNNER_TOKEN": RUNNER_TOKEN, **(environment or {})}
    process = subprocess.Popen([*command, "--walls", walls], env=given)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url)
        yield url
    finally:
        process.terminate()
        try:
            # It removes what it made, which takes a slow disk long.
            assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        finally:
            process.kill()


def wait_for(url: str, token: str = RUNNER_TOKEN) -> None:
    """Until the code runner there answers."""
    deadline = time.monotonic() + PATIENCE
    with closing(RemoteSandbox(url, token)) as sandbox:
        while True:
            try:
                sandbox.status()
            except SandboxFailed:
                assert time.monotonic() < deadline, "the code runner did not come up"
                time.sleep(0.05)
            else:
                return
