"""Choice of the sandbox: the best that works here, never a weaker one than requested."""

# A weaker sandbox than the requested one is never used silently (decision 020).

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from mesocosm.errors import UsageError
from mesocosm.sandbox import bubblewrap, runtime
from mesocosm.sandbox.jobs import CODE, WORKSPACE, Job, JobEnded
from mesocosm.sandbox.supervisor import Launch, Supervisor, socket_pair
from mesocosm.sandbox.workspace_handover import tidy

if TYPE_CHECKING:
    from mesocosm.sandbox.remote import RemoteSandbox


# The level that is only used when the operator asks for it by name: a plain process with limits.
#
# It protects the server from mistakes (endless loops, too much memory or output), not from intent: the code
# sees and may change whatever the server's user may.


class Subprocess:
    """Runs jobs as ordinary processes of the server's user."""

    name: ClassVar[str] = "subprocess"
    isolated: ClassVar[bool] = False

    def run(self, job: Job) -> JobEnded:
        """Run one job and wait for its end."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mesocosm-job-")))
            for name, data in job.files.items():
                (folder / name).write_bytes(data)
            pair = socket_pair(job, stack)
            launch = _launch(job, folder, pair[1].fileno() if pair else None)
            ended = Supervisor(job, launch, pair[0] if pair else None).run()
        return replace(ended, remarks=tidy(job.workspace, job.moment, job.limits.workspace_depth))

    def share(self, job: Job) -> None:
        """Nothing to do: the code runs as the server's user."""


def _launch(job: Job, folder: Path, descriptor: int | None) -> Launch:
    workspace = str(job.workspace.absolute())

    def located(text: str) -> str:
        text = text.replace(CODE, str(folder)).replace(runtime.PYTHON, sys.executable)
        return text.replace(WORKSPACE, workspace) if text == WORKSPACE else text

    environment = runtime.environment(job)
    del environment["LD_LIBRARY_PATH"]
    environment |= {
        "PATH": f"{os.path.dirname(sys.executable)}:{runtime.image()}/usr/bin",
        "PYTHONPATH": ":".join(map(located, environment.get("PYTHONPATH", "").split(":"))),
    }
    if descriptor is not None:
        environment["SESSION_FD"] = str(descriptor)
    limits = job.limits
    # No limit on processes: it would count all of the server's user.
    command = [
        "prlimit", f"--as={limits.memory_bytes}", "--core=0", f"--nofile={limits.open_files}",
        f"--fsize={limits.written_bytes}", f"--cpu={limits.seconds + 1}", "--", *map(located, job.command),
    ]  # fmt: skip
    descriptors = [] if descriptor is None else [descriptor]
    return Launch(command, environment, descriptors, folder=workspace, kill=_kill_group)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


VARIABLE = "MESOCOSM_SANDBOX"
CHOICES = ("auto", "bubblewrap", "code-runner", "subprocess", "none")
RUNNER = "MESOCOSM_CODE_RUNNER"
TOKEN = "MESOCOSM_CODE_RUNNER_TOKEN"


class Sandbox(Protocol):
    """A way to run jobs."""

    name: ClassVar[str]
    isolated: ClassVar[bool]
    """True if the kernel isolates the code from all but its workspace."""

    def run(self, job: Job) -> JobEnded:
        """Run one job and wait for its end; ``SandboxFailed`` if the fault is not the code's."""

    def share(self, job: Job) -> None:
        """Let a running job change files that the server has meanwhile written into its workspace."""


class Unavailable(Exception):
    """This server runs no code: a fault of ours or of the machine, so that no agent loses by it."""


def chosen() -> str:
    """Return the operator's choice."""
    choice = os.environ.get(VARIABLE) or "auto"
    if choice not in CHOICES:
        raise UsageError(f"{VARIABLE} must be one of {', '.join(CHOICES)}, got {choice!r}")
    return choice


def active() -> Sandbox:
    """The sandbox to use; ``Unavailable`` where there is none."""
    sandbox = _active(chosen(), os.environ.get(RUNNER, ""), runner_token() if os.environ.get(RUNNER) else "")
    if isinstance(sandbox, str):
        raise Unavailable(f"code of agents cannot be run here: {sandbox} (see: mesocosm doctor)")
    return sandbox


def remote() -> RemoteSandbox | None:
    """The code runner, where one is used."""
    if not os.environ.get(RUNNER) or chosen() not in ("auto", "code-runner"):
        return None
    from mesocosm.sandbox.remote import RemoteSandbox

    sandbox = active()
    return sandbox if isinstance(sandbox, RemoteSandbox) else None


def announce(services: Sequence[str]) -> None:
    """Say in the log, before an episode with services that run code, if they cannot do so here."""
    if not services:
        return
    try:
        active()
    except Unavailable as problem:
        logging.getLogger("mesocosm.sandbox").warning(
            "%s; %s cannot do anything, and an episode that needs it will be errored",
            problem,
            ", ".join(services),
        )


def runner_token(path: str | None = None) -> str:
    """The token of the code runner, from the environment or from a file."""
    path = path or os.environ.get(f"{TOKEN}_FILE")
    try:
        token = Path(path).read_text(encoding="utf-8").strip() if path else os.environ.get(TOKEN, "")
    except OSError as error:
        raise UsageError(f"the token of the code runner cannot be read: {error}") from None
    if not token:
        raise UsageError(f"a code runner needs a token: set {TOKEN} or {TOKEN}_FILE")
    return token


@cache
def _active(choice: str, runner: str, token: str) -> Sandbox | str:
    """The sandbox, or why there is none."""
    if choice == "subprocess":
        logging.getLogger("mesocosm.sandbox").warning(
            "code of agents runs as a plain subprocess, as %s=subprocess asks: it is NOT isolated", VARIABLE
        )
        return Subprocess()
    if choice == "none":
        return f"{VARIABLE}=none"
    if choice == "code-runner" and not runner:
        raise UsageError(f"{VARIABLE}=code-runner needs {RUNNER}=http://HOST:PORT or unix:PATH")
    if runner and choice in ("auto", "code-runner"):
        from mesocosm.sandbox.remote import RemoteSandbox  # with a client for HTTP, which few need

        # That it answers is not tried: it may come up later, and if it does not, the fault is ours.
        sandbox = RemoteSandbox(runner, token)
        atexit.register(sandbox.close)
        return sandbox
    return bubblewrap.trial() or bubblewrap.Bubblewrap()
