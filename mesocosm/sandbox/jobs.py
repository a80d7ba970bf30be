"""What is asked of a sandbox, and what came of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, Self

from mesocosm.errors import UsageError
from mesocosm.workspace import MAX_FILE_BYTES

CODE = "/run/code"
"""Where a job's files lie inside the sandbox; read-only."""
WORKSPACE = "/workspace"
MIB = 1024 * 1024

Reached = Literal["time", "memory", "output", "workspace"]
"""A limit for which the supervisor ended the job; the kernel enforces the others by itself."""


class SandboxFailed(Exception):
    """The sandbox did not come up, or broke: a fault of ours or of the machine, not of the code."""


@dataclass(frozen=True)
class Limits:
    """How much a job may use."""

    seconds: int = 30
    """By the clock on the wall; processor time is limited to the same."""
    memory_bytes: int = 1024 * MIB
    """Of each process (kernel) and of all together (supervisor)."""
    processes: int = 64
    open_files: int = 256
    file_bytes: int = MAX_FILE_BYTES
    scratch_bytes: int = 256 * MIB
    """Size of the private ``/tmp``."""
    output_bytes: int = 16 * MIB
    """A job that prints more than this is ended; far less is shown."""

    @classmethod
    def configured(cls, seconds: int) -> Self:
        """The limits with what the operator set in the environment."""
        return replace(
            cls(seconds=seconds),
            memory_bytes=_number("MESOCOSM_SANDBOX_MEMORY_MIB", 1024, least=64) * MIB,
            processes=_number("MESOCOSM_SANDBOX_PROCESSES", 64, least=4),
        )


def _number(variable: str, default: int, least: int) -> int:
    text = os.environ.get(variable, str(default))
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise UsageError(f"{variable} must be a whole number of at least {least}, got {text!r}")
    return int(text)


class Conversation(Protocol):
    """The server's side of the socket over which a job may ask for something."""

    broken: bool
    """Whether the job sent what makes no sense; the socket is then closed."""

    def receive(self, data: bytes) -> None:
        """Bytes that the job sent."""

    def replies(self) -> bytes:
        """Bytes to send; asked for after every ``receive`` and several times a second."""


@dataclass(frozen=True)
class Job:
    """A command to run in a workspace."""

    command: tuple[str, ...]
    workspace: Path
    limits: Limits
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files that appear in ``CODE``, by name."""
    environment: Mapping[str, str] = field(default_factory=dict)
    moment: datetime | None = None
    """The time that the files it writes bear afterwards: the world's instead of the machine's."""
    conversation: Conversation | None = None
    """If there is one, the number of the socket's descriptor is in the environment as ``SESSION_FD``."""


@dataclass(frozen=True)
class Ended:
    """What came of a job."""

    status: int
    """Exit status; 128 + n where signal n ended it."""
    stdout: Captured
    stderr: Captured
    reached: Reached | None = None
    removed: tuple[str, ...] = ()
    """What was taken out of the workspace afterwards, and why."""


class Captured:
    """The beginning and the end of a stream, however long it is."""

    def __init__(self, head: int, tail: int) -> None:
        self.total = 0
        self._head, self._tail = head, tail
        self._first = bytearray()
        self._last = bytearray()

    def add(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.total += len(data)
        room = self._head - len(self._first)
        self._first += data[:room]
        self._last += data[room:] if room > 0 else data
        if len(self._last) > 2 * self._tail:
            del self._last[: -self._tail]

    def text(self, *, cut_off: bool = False) -> str:
        """The stream as text; what was left out is said in its place.

        ``cut_off`` says that the stream was ended at some moment by the supervisor: then its end and its
        length are chance, and are not shown.
        """
        first = self._first.decode("utf-8", "replace")
        left_out = self.total - self._head - self._tail
        if left_out <= 0 and not (cut_off and self._last):
            return (self._first + self._last).decode("utf-8", "replace")
        if cut_off:
            return f"{first}\n[... output truncated ...]"
        last = bytes(self._last[-self._tail :]).decode("utf-8", "replace")
        return f"{first}\n[... output truncated: {left_out:,} bytes left out ...]\n{last}"
