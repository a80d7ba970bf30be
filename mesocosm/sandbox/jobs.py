"""Jobs of a sandbox, and their outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, Self

from mesocosm.worlds.limits import Settings, settings

CODE = "/run/code"
"""Where a job's files lie inside the sandbox; read-only."""
WORKSPACE = "/workspace"
MIB = 1024 * 1024

Reached = Literal["time", "memory", "output", "workspace", "scratch", "done"]
"""A limit for which the supervisor ended the job (the kernel enforces the others by itself), or ``done``: the
other side of its conversation wanted no more of it, and it is no failure."""


class SandboxFailed(Exception):
    """The sandbox did not come up, or broke: a fault of ours or of the machine, not of the code."""


@dataclass(frozen=True)
class JobLimits:
    """Resource limits of a job."""

    seconds: int = 30
    """By the clock on the wall; processor time is limited to the same."""
    memory_bytes: int = 1024 * MIB
    """Of each process (kernel) and of all together (supervisor)."""
    processes: int = 64
    open_files: int = 256
    file_bytes: int = 64 * MIB
    scratch_bytes: int = 256 * MIB
    """Size of the private ``/tmp``."""
    output_bytes: int = 16 * MIB
    """A job that prints more than this is ended; far less is shown."""
    workspace_bytes: int = 1024 * MIB
    workspace_entries: int = 100_000
    workspace_depth: int = 64
    full: bool = False
    """True if no file may be written any more, only removed."""

    @property
    def written_bytes(self) -> int:
        """Maximum size to which a file may grow by writing."""
        return 0 if self.full else self.file_bytes

    @classmethod
    def configured(cls, seconds: int, given: Settings | None = None) -> Self:
        """The limits that the operator has set."""
        of = given or settings()
        return cls(
            seconds,
            of.sandbox_memory,
            of.sandbox_processes,
            of.sandbox_open_files,
            of.workspace_file_size,
            of.sandbox_scratch,
            of.sandbox_output,
            of.workspace_size,
            of.workspace_entries,
            of.workspace_depth,
        )


class JobConversation(Protocol):
    """The server's side of the socket over which a job may ask for something."""

    broken: bool
    """True if the job sent nonsense; the socket is then closed."""
    over: bool
    """True if the job has to end, without an answer to its last question."""
    awake: int | None
    """A descriptor that becomes readable when there are replies, where they come at any time."""

    def receive(self, data: bytes) -> None:
        """Bytes that the job sent."""

    def replies(self) -> bytes:
        """The next bytes to send, of which there may be more; asked for after every ``receive`` and several
        times a second, but not while many wait to be sent."""


@dataclass(frozen=True)
class Job:
    """A command to run in a workspace."""

    command: tuple[str, ...]
    workspace: Path
    limits: JobLimits
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files that appear in ``CODE``, by name."""
    environment: Mapping[str, str] = field(default_factory=dict)
    moment: datetime | None = None
    """The time that the files it writes bear afterwards: the world's instead of the machine's."""
    conversation: JobConversation | None = None
    """If there is one, the number of the socket's descriptor is in the environment as ``SESSION_FD``."""
    unwanted: Callable[[], bool] = lambda: False
    """Asked ten times a second: whether nobody waits for the result any more."""


@dataclass(frozen=True)
class JobEnded:
    """Outcome of a job."""

    status: int
    """Exit status; 128 + n where signal n ended it."""
    stdout: Captured
    stderr: Captured
    reached: Reached | None = None
    remarks: tuple[str, ...] = ()
    """Sentences on files that were removed or renamed afterwards, with the reason."""


class Captured:
    """The beginning and the end of a stream, however long it is."""

    def __init__(self, head: int, tail: int) -> None:
        self.total = 0
        self._head, self._tail = head, tail
        self._first = bytearray()
        self._last = bytearray()

    def kept(self) -> bytes:
        """The bytes that are kept: with ``total``, all that another needs to show the same."""
        return bytes(self._first + self._last[-self._tail :])

    @classmethod
    def restored(cls, head: int, tail: int, total: int, kept: bytes) -> Self:
        """A stream from what another kept of it."""
        captured = cls(head, tail)
        captured.add(kept)
        captured.total = max(total, captured.total)
        return captured

    def add(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.total += len(data)
        room = self._head - len(self._first)
        self._first += data[:room]
        self._last += data[room:] if room > 0 else data
        if len(self._last) > 2 * self._tail:
            del self._last[: -self._tail]

    def text(self, *, cut_off: bool = False) -> str:
        """Return the stream as text, with a note where it was cut.

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
