"""Which sandbox this server uses: the best that works here, never a worse one than was asked for."""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import ClassVar, Protocol

from mesocosm.errors import Refusal, UsageError
from mesocosm.sandbox import bubblewrap
from mesocosm.sandbox.jobs import Ended, Job
from mesocosm.sandbox.unconfined import Subprocess

VARIABLE = "MESOCOSM_SANDBOX"
CHOICES = ("auto", "bubblewrap", "subprocess", "none")


class Sandbox(Protocol):
    """A way to run jobs."""

    name: ClassVar[str]
    isolated: ClassVar[bool]
    """Whether the kernel keeps the code away from everything but its workspace."""

    def run(self, job: Job) -> Ended:
        """Run one job and wait for its end; ``SandboxFailed`` if the fault is not the code's."""

    def share(self, job: Job) -> None:
        """Let a running job change what the server has written into its workspace meanwhile."""


class Unavailable(Refusal):
    """This server runs no code."""

    status = 503


def chosen() -> str:
    """What the operator asked for."""
    choice = os.environ.get(VARIABLE) or "auto"
    if choice not in CHOICES:
        raise UsageError(f"{VARIABLE} must be one of {', '.join(CHOICES)}, got {choice!r}")
    return choice


def active() -> Sandbox:
    """The sandbox to use; ``Unavailable`` where there is none."""
    sandbox = _active(chosen())
    if sandbox is None:
        raise Unavailable("Code execution is not available on this server.")
    return sandbox


@cache
def _active(choice: str) -> Sandbox | None:
    log = logging.getLogger("mesocosm.sandbox")
    if choice == "subprocess":
        log.warning(
            "code of agents runs as a plain subprocess, as %s=subprocess asks: it is NOT isolated", VARIABLE
        )
        return Subprocess()
    if choice == "none":
        return None
    if problem := bubblewrap.trial():
        log.warning("code of agents cannot be run here: %s (see: mesocosm doctor)", problem)
        return None
    return bubblewrap.Bubblewrap()
