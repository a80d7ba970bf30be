"""A job in the code runner: prepared, run, and informed while it runs."""

from __future__ import annotations

import base64
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from mesocosm.sandbox.blobs import Blobs
from mesocosm.sandbox.frames import BadFrame, encode
from mesocosm.sandbox.jobs import Job, JobEnded, JobLimits
from mesocosm.sandbox.transfer import Receiver, changes, look, scan
from mesocosm.sandbox.workspace_handover import WorkspaceQuota

Send = Callable[[bytes], None]
_ANY = 1 << 62
_WAITING = 1 << 20
"""Bytes of answers that may wait for the job."""


class JobRoom(Protocol):
    """A place for one job."""

    @property
    def workspace(self) -> Path:
        """Its folder."""

    @property
    def user(self) -> int | None:
        """To whom the files in it belong, where that is not the runner's own user."""

    def run(self, job: Job) -> JobEnded:
        """Run one job and wait for its end."""


class JobRooms(Protocol):
    """Places for jobs, none of which can reach another."""

    name: ClassVar[str]

    def room(self) -> AbstractContextManager[JobRoom]:
        """A place for one job, empty."""

    def trial(self) -> str | None:
        """Try a job and return why it fails; ``None`` if it works."""


class JobOrder(BaseModel):
    """A job as it is sent."""

    model_config = ConfigDict(extra="forbid")

    command: tuple[str, ...]
    limits: JobLimits
    files: dict[str, str]
    """Base64, by name."""
    environment: dict[str, str]
    moment: datetime | None
    talks: bool
    """True if the job has a conversation with the server."""
    whom: str
    """The episode whose job it is, under a name that tells nothing: places go to episodes in turn."""
    parent: str | None
    """The run of the program that waits for this job, and with which it ends."""
    modified: int
    """When the workspace itself was changed, in nanoseconds."""
    tree: list[dict[str, Any]]
    """The workspace; of files the ``sha256``."""

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> Self:
        """The order in the first frame."""
        try:
            order = cls.model_validate(header.get("order"))
        except ValidationError as error:
            raise BadFrame(f"not a job: {error}") from None
        if header["kind"] != "job" or any("/" in name or name in (".", "..") for name in order.files):
            raise BadFrame("not a job")
        return order

    @classmethod
    def made(cls, job: Job, limits: JobLimits, *, parent: str | None, tree: list[dict[str, Any]]) -> Self:
        """Prepare a job for sending."""
        return cls(
            command=job.command,
            limits=limits,
            files={name: base64.b64encode(data).decode() for name, data in job.files.items()},
            environment=dict(job.environment),
            moment=job.moment,
            talks=job.conversation is not None,
            whom=hashlib.sha256(os.fsencode(job.workspace.absolute())).hexdigest(),
            parent=parent,
            modified=job.workspace.stat().st_mtime_ns,
            tree=tree,
        )

    @property
    def digests(self) -> set[str]:
        """The files that have to be here."""
        return {str(item["sha256"]) for item in self.tree if item.get("is") == "file"}


class Run:
    """A job that is run: to its sandbox it is the other end of the conversation."""

    broken = False
    over = False

    def __init__(
        self, order: JobOrder, room: JobRoom, blobs: Blobs, send: Send, gone: threading.Event
    ) -> None:
        self._order, self._room, self._send, self._gone = order, room, send, gone
        self._limits = order.limits
        self._lock = threading.Lock()
        self._replies = bytearray()
        self._family = threading.Lock()
        self._children: list[threading.Event] | None = []
        self._fill(blobs)
        self._quota = WorkspaceQuota(room.workspace, self._limits)
        self._seen: dict[str, Any] = scan(room.workspace, self._limits.workspace_depth)
        self.awake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK) if order.talks else None

    def _fill(self, blobs: Blobs) -> None:
        receiver = self._receiver()
        for item in self._order.tree:
            data = blobs.get(str(item["sha256"])) if item.get("is") == "file" else b""
            receiver.take({"kind": "put", **item}, data)
        receiver.finish()
        os.utime(self._room.workspace, ns=(self._order.modified, self._order.modified))

    def _receiver(self) -> Receiver:
        """Make a receiver without limits: the server is trusted, and has its own."""
        return Receiver(self._room.workspace, self._limits.workspace_depth, _ANY, _ANY, self._room.user)

    def carry_out(self) -> None:
        """Run it, and send what it has changed and how it ended."""
        order = self._order
        job = Job(
            order.command,
            self._room.workspace,
            self._limits,
            {name: base64.b64decode(data) for name, data in order.files.items()},
            order.environment,
            order.moment,
            self if order.talks else None,
            self._gone.is_set,
        )
        try:
            ended = self._room.run(job)
        finally:
            with self._lock:
                descriptor, self.awake = self.awake, None
                if descriptor is not None:
                    os.close(descriptor)
            with self._family:
                children, self._children = self._children or [], None
            for gone in children:
                gone.set()
        remarks = list(ended.remarks)
        if ended.reached == "workspace":
            # What does not fit here does not fit there.
            remarks = ["Discarded: what this run wrote after its last tool call."]
        else:
            self._send_changes()
        for name, stream in (("stdout", ended.stdout), ("stderr", ended.stderr)):
            self._send(encode(name, stream.kept(), total=stream.total))
        self._send(encode("ended", status=ended.status, reached=ended.reached, remarks=remarks))

    def adopt(self, gone: threading.Event) -> None:
        """End a job that is run for this one, by its event, when this one ends."""
        with self._family:
            if self._children is None:
                gone.set()
            else:
                self._children.append(gone)

    def _send_changes(self) -> None:
        with self._lock:
            now = scan(self._room.workspace, self._limits.workspace_depth)
            before, self._seen = self._seen, dict(now)
        # Not while locked: the server may be waiting for ``told`` to end before it reads on.
        for frame in changes(self._room.workspace, before, now, self._limits.file_bytes):
            self._send(frame)

    # -- the conversation -------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Forward the job's output; before a tool call, the server gets the current files."""
        if b"\n" in data:
            if self._quota.exceeded(0):
                return  # the next look will end it
            self._send_changes()
        self._send(encode("talk", data))

    def replies(self) -> bytes:
        """Take the server's replies since the last call."""
        with self._lock:
            data = bytes(self._replies)
            self._replies.clear()
        return data

    @property
    def is_full(self) -> bool:
        """True if the job must read earlier replies first."""
        return len(self._replies) > _WAITING

    def told(self, frames: Iterable[tuple[Mapping[str, Any], bytes]]) -> None:
        """Take in the server's frames: files changed by its tools, then the tools' results."""
        with self._lock:
            receiver = self._receiver()
            for header, payload in frames:
                if header["kind"] == "talk":
                    self._replies += payload
                elif header["kind"] == "broken":
                    self.broken = True
                elif header["kind"] == "over":
                    self.over = True
                else:
                    with suppress(OSError):  # the job is at work there as well
                        receiver.take(header, payload)
                    for path in header.get("paths") or [header["path"]]:
                        self._note(path)
            receiver.finish()
            if self.awake is not None:
                os.eventfd_write(self.awake, 1)

    def _note(self, path: str) -> None:
        """The server knows of this one."""
        item = look(self._room.workspace, path)
        if item is None:
            self._seen.pop(path, None)
        else:
            self._seen[path] = item
