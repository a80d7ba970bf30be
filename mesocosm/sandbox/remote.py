"""The level between: jobs are run by a code runner, a process in a container that holds no worlds.

The workspace is sent with each job, of files only those that the runner does not have yet. While a program
makes tool calls, the files that it has changed come before each call, and those that the tools change go back
with the result. What the runner sends is not trusted: it can change the job's workspace within its limits.
"""

from __future__ import annotations

import errno
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from tempfile import SpooledTemporaryFile
from time import monotonic, sleep
from typing import Any, ClassVar, cast, get_args

import httpx2
from pydantic import BaseModel, ValidationError

from mesocosm.errors import CutOff, UsageError
from mesocosm.sandbox.frames import MAX_HEADER_BYTES, BadFrame, Decoder, TooMuch, encode
from mesocosm.sandbox.job_run import JobOrder
from mesocosm.sandbox.jobs import Captured, Job, JobEnded, Reached, SandboxFailed
from mesocosm.sandbox.supervisor import STDERR_SHOWN, STDOUT_SHOWN, ending_with, time_left
from mesocosm.sandbox.transfer import Receiver, TransferItem, changes, digest, read, scan
from mesocosm.sandbox.workspace_handover import tidy

AFTER = 120.0
"""Seconds after the end of its time in which a job has to have told what it did."""
SILENCE = 30.0
"""Seconds without a word after which a runner is given up; it says something every second."""
PATIENCE = 60.0
"""Seconds in which a runner has to be there again that cannot be reached, or ended amid a job."""
_PAUSE = 0.25
_LOSSES = 3
"""Restarts of a job whose runner ended; the job may be what ends it."""
_IN_MEMORY = 8 * 2**20
"""Bytes that are held of what a job has done; more lie in a file."""
_caller: ContextVar[str | None] = ContextVar("caller", default=None)
"""The run whose tool call is being answered: what that starts ends with it."""
_CROSSED = frozenset({errno.ENOTDIR, errno.EISDIR, errno.ENOTEMPTY, errno.ENOENT, errno.EEXIST, errno.ELOOP})
_ID = re.compile(r"[0-9a-f]{1,64}")
_STARTING = 3
"""Attempts to send a job, as the runner may forget files between being asked and being sent it."""


class RunnerEnded(SandboxFailed, CutOff):
    """The code runner ended amid a job that had called tools."""


class Status(BaseModel):
    """Status report of a code runner."""

    version: str
    walls: str
    python: str
    missing_libraries: list[str]
    missing_commands: list[str]
    jobs: int


class RemoteSandbox:
    """Has jobs run by the code runner at a URL, or at ``unix:PATH``."""

    name: ClassVar[str] = "code-runner"
    isolated: ClassVar[bool] = True

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        path = url.removeprefix("unix:") if url.startswith("unix:") else None
        if path is None and not url.startswith(("http://", "https://")):
            raise UsageError(f"a code runner is at http://HOST:PORT or unix:PATH, not {url!r}")
        self._client = httpx2.Client(
            base_url="http://code-runner" if path else url,
            transport=httpx2.HTTPTransport(
                uds=path, limits=httpx2.Limits(max_connections=None), trust_env=False
            ),
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx2.Timeout(SILENCE, connect=5.0),
            trust_env=False,
        )

    def run(self, job: Job) -> JobEnded:
        """Run one job and wait for its end; the workspace is then as the job left it."""
        since, losses, end = None, 0, monotonic() + time_left()
        try:
            while True:
                session = _Session(self._client, job)
                try:
                    return session.run()
                except httpx2.TransportError as error:
                    # One that is restarted is there again in a moment, and has no part of the job.
                    if session.has_effects:
                        raise RunnerEnded(f"the code runner at {self.url} ended amid a job") from error
                    now, losses = monotonic(), losses + session.was_begun
                    if since is None or session.was_begun:
                        since = now
                    if losses > _LOSSES or now > min(since + PATIENCE, end):
                        raise
                sleep(_PAUSE)
        except httpx2.HTTPError as error:
            raise SandboxFailed(
                f"the code runner at {self.url} failed: {error or type(error).__name__}"
            ) from error
        except (BadFrame, OSError) as error:
            raise SandboxFailed(f"the code runner at {self.url} sent an invalid answer: {error}") from error

    def share(self, job: Job) -> None:
        """Do nothing: files changed by tools go to the runner with their results."""

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def status(self) -> Status:
        """Ask the runner for its status; raises ``SandboxFailed`` if it does not answer."""
        try:
            answer = self._client.get("/status")
            answer.raise_for_status()
            return Status.model_validate_json(answer.content)
        except (httpx2.HTTPError, ValidationError) as error:
            raise SandboxFailed(f"{self.url}: {error or type(error).__name__}") from None


class _Session:
    """One job."""

    def __init__(self, client: httpx2.Client, job: Job) -> None:
        self._client, self._job = client, job
        left = time_left()
        self._limits = replace(job.limits, seconds=max(1, math.ceil(min(job.limits.seconds, left))))
        self.has_effects = self.was_begun = False
        """True once it has changed the workspace or called a tool, or the runner had accepted it."""
        self._held: SpooledTemporaryFile[bytes] | None = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        """Changes to the workspace, buffered until the job ends or calls a tool, because a half-changed one
        could not be restarted."""
        self._id = ""
        self._deadline = math.inf
        self._seen: dict[str, TransferItem] = {}
        self._allowed = 0
        self._receiver = self._new_receiver()
        self._lost: list[str] = []
        self._unread = False
        self._streams: dict[str, Captured] = {}
        self._ended: tuple[int, Reached | None, tuple[str, ...]] | None = None

    def run(self) -> JobEnded:
        self._look()
        self._allowed = max(self._total(), self._limits.workspace_bytes)
        self._receiver = self._new_receiver()
        try:
            self._follow()
            self._let_go()
            self._settle()
        except TooMuch:
            # It has outrun the runner, which looks ten times a second.
            self._ended = 128 + 9, "workspace", ("Discarded: a part of what this run wrote.",)
        finally:
            if self._held is not None:
                self._held.close()
        if self._ended is None:
            raise BadFrame("a job without an end")
        status, reached, remarks = self._ended
        remarks += (
            *self._lost[:10],
            *tidy(self._job.workspace, self._job.moment, self._limits.workspace_depth),
        )
        stdout, stderr = (
            self._streams.get(name) or Captured(*shown)
            for name, shown in (("stdout", STDOUT_SHOWN), ("stderr", STDERR_SHOWN))
        )
        return JobEnded(status, stdout, stderr, reached, remarks)

    def _follow(self) -> None:
        with self._sent() as response:
            decoder = self._decoder()
            try:
                for chunk in response.iter_raw():
                    if monotonic() > self._deadline + AFTER:
                        raise BadFrame("the job did not end with its time")
                    for header, payload in decoder.feed(chunk):
                        self._take(header, payload)
                    self._answer()
            except httpx2.TransportError:
                if self._ended is None:
                    raise

    def _decoder(self) -> Decoder:
        return Decoder(max(self._limits.file_bytes, sum(STDOUT_SHOWN), 1 << 20))

    # -- sending ----------------------------------------------------------------------------------------

    @contextmanager
    def _sent(self) -> Iterator[httpx2.Response]:
        root, digests = self._job.workspace, {}
        for path, item in self._seen.items():
            if item.kind == "file":
                digests[path] = digest(root, path, item)
        tree = [
            item.header(path) | ({"sha256": digests[path]} if path in digests else {})
            for path, item in self._seen.items()
        ]
        order = JobOrder.made(self._job, self._limits, parent=_caller.get(), tree=tree)
        first = encode("job", order=order.model_dump(mode="json"))
        by_digest = {value: path for path, value in digests.items()}
        missing = self._missing(sorted(by_digest))
        for _ in range(_STARTING):
            with self._client.stream(
                "POST", "/runs", content=self._body(first, missing, by_digest)
            ) as response:
                if response.status_code == 200:
                    yield response
                    return
                answer = _read(response)
                if response.status_code != 409:
                    raise BadFrame(f"{response.status_code} {answer[:500].decode(errors='replace')}")
                missing = _listed(answer, by_digest)
        raise BadFrame("the runner keeps forgetting files")

    def _missing(self, digests: list[str]) -> list[str]:
        if not digests:
            return []
        with self._client.stream("POST", "/missing", json=digests) as response:
            response.raise_for_status()
            return _listed(_read(response), set(digests))

    def _body(self, first: bytes, missing: list[str], paths: Mapping[str, str]) -> Iterator[bytes]:
        yield first
        for one in missing:
            data = read(self._job.workspace, paths[one], 1 << 62)
            if data is not None:
                yield encode("blob", data)

    # -- receiving --------------------------------------------------------------------------------------

    def _take(self, header: Mapping[str, Any], payload: bytes) -> None:
        match header["kind"]:
            case "started":
                self.was_begun = True
                self._id = str(header.get("id"))
                if not _ID.fullmatch(self._id):
                    raise BadFrame("a run without an id")
                self._deadline = min(self._deadline, monotonic() + self._limits.seconds)
            case "put" | "gone":
                if not self._hold(header, payload):
                    self._receive(header, payload)
            case "talk" if self._job.conversation:
                self._let_go()
                self._settle()
                self._job.conversation.receive(payload)
                if self._job.conversation.broken:
                    self._tell(encode("broken"))
            case "stdout" | "stderr" as name:
                shown = STDOUT_SHOWN if name == "stdout" else STDERR_SHOWN
                self._streams[name] = Captured.restored(*shown, _whole(header, "total"), payload)
            case "ended":
                self._ended = _end(header)
            case "failed":
                raise SandboxFailed(f"the code runner: {str(header.get('reason'))[:1000]}")
            case "beat":
                pass
            case other:
                raise BadFrame(f"a frame of the kind {other[:100]!r}")

    def _hold(self, header: Mapping[str, Any], payload: bytes) -> bool:
        """Buffer a job's changes; false if they exceed the workspace's limit."""
        if self._held is None:
            return False
        line = json.dumps(header).encode() + b"\n"
        if self._held.tell() + len(line) + len(payload) > self._allowed + MAX_HEADER_BYTES:
            self._let_go()
            return False
        self._held.write(line + payload)
        return True

    def _let_go(self) -> None:
        """From now on, what a job does is done to the workspace."""
        self.has_effects = True
        if self._held is None:
            return
        held, self._held = self._held, None
        with held:
            held.seek(0)
            decoder = self._decoder()
            for data in iter(partial(held.read, 1 << 20), b""):
                for header, payload in decoder.feed(data):
                    self._receive(header, payload)

    def _receive(self, header: Mapping[str, Any], payload: bytes) -> None:
        try:
            self._receiver.take(header, payload)
        except OSError as error:
            if error.errno not in _CROSSED:
                raise
            # A tool has changed the same path meanwhile.
            self._lost.append(f"Not kept: {str(header.get('path', ''))[:200]} ({error.strerror})")

    def _answer(self) -> None:
        """Make the calls that the program has asked for, and send their results with what they changed."""
        if not self._job.conversation or self._ended:
            return
        if self._unread:
            self._tell(b"")
        while not self._unread and not self._job.conversation.over and self._answer_next():
            pass

    def _answer_next(self) -> bool:
        assert self._job.conversation
        token = _caller.set(self._id)
        try:
            with ending_with(self._deadline):
                data = self._job.conversation.replies()
        finally:
            _caller.reset(token)
        if self._job.conversation.over:
            self._tell(encode("over"))
        elif data:
            before = self._seen
            self._look()
            root = self._job.workspace
            frames = [*changes(root, before, self._seen, self._limits.file_bytes), encode("talk", data)]
            self._tell(b"".join(frames))
        return bool(data)

    def _tell(self, data: bytes) -> None:
        answer = self._client.post(f"/runs/{self._id}", content=data)
        # It takes them, but its program does not read them; or it has ended meanwhile.
        self._unread = answer.status_code in (202, 404)
        if answer.status_code != 404:
            answer.raise_for_status()

    def _settle(self) -> None:
        """Check the received files against the size limit of the workspace."""
        self._receiver.finish()
        self._receiver = self._new_receiver()
        self._look()
        if self._total() > self._allowed:
            raise TooMuch("more than the workspace may hold")

    def _look(self) -> None:
        self._seen = scan(self._job.workspace, self._limits.workspace_depth)

    def _total(self) -> int:
        return sum(item.size for item in self._seen.values())

    def _new_receiver(self) -> Receiver:
        of = self._limits
        # Twice, because removed and new ones are counted alike.
        entries, room = 2 * of.workspace_entries, max(self._allowed, of.workspace_bytes)
        return Receiver(self._job.workspace, of.workspace_depth, entries, room)


def _whole(header: Mapping[str, Any], name: str) -> int:
    value = header.get(name)
    if type(value) is not int or value < 0:
        raise BadFrame(f"{name} is {value!r}"[:200])
    return value


def _read(response: httpx2.Response) -> bytes:
    """Read a body up to a limit, uncompressed, since a compressed one could expand."""
    data = bytearray()
    for chunk in response.iter_raw():
        data += chunk
        if len(data) > MAX_HEADER_BYTES:
            raise BadFrame("an answer without end")
    return bytes(data)


def _listed(answer: bytes, known: Collection[str]) -> list[str]:
    """Those of a list of digests that are known here."""
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, list):
        raise BadFrame("no list of files")
    return [one for one in said if isinstance(one, str) and one in known]


def _end(header: Mapping[str, Any]) -> tuple[int, Reached | None, tuple[str, ...]]:
    reached, remarks = header.get("reached"), header.get("remarks")
    if reached not in (None, *get_args(Reached)) or not isinstance(remarks, list):
        raise BadFrame("an end that makes no sense")
    return (
        _whole(header, "status"),
        cast("Reached | None", reached),
        tuple(str(one)[:1000] for one in remarks[:50]),
    )
