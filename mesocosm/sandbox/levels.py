"""Choice of the sandbox: the best that works here, never a weaker one than requested."""

# A weaker sandbox than the requested one is never used silently (decision 020).

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from mesocosm.errors import UsageError
from mesocosm.sandbox import bubblewrap
from mesocosm.sandbox.jobs import Job, JobEnded
from mesocosm.sandbox.unconfined import Subprocess

if TYPE_CHECKING:
    from mesocosm.sandbox.remote import RemoteSandbox

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
