"""Running a sandbox's process: its output, its clock, its memory, its workspace, and what it asks for."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from time import monotonic

from mesocosm.sandbox.jobs import Captured, Job, JobConversation, JobEnded, Reached, SandboxFailed
from mesocosm.sandbox.workspace_handover import WorkspaceQuota
from mesocosm.worlds.descriptors import readable

TICK = 0.1
"""Seconds between two looks at what the kernel does not limit by itself."""
GRACE = 10.0
"""Seconds in which a killed process has to be gone."""
_CHUNK = 1 << 16
_AWAKE = object()
_WAITING = 1 << 20
"""Bytes of answers that may wait for a program to read them."""
_SOCKET_BYTES = 208 * 1024
"""Size of a socket's buffer in the kernel, which code cannot enlarge."""
_NODE_BYTES = 2048
STDOUT_SHOWN = (30_000, 10_000)
STDERR_SHOWN = (4_000, 6_000)
"""Bytes of the beginning and of the end that are kept."""


@dataclass(frozen=True)
class _Program:
    """The program whose tool call is being answered."""

    deadline: float
    """When it must have ended."""
    ended: Callable[[], bool]


_NONE = _Program(inf, lambda: False)
_program: ContextVar[_Program] = ContextVar("program", default=_NONE)


@dataclass(frozen=True)
class Launch:
    """Way to start a job's process."""

    command: Sequence[str]
    environment: Mapping[str, str]
    descriptors: Sequence[int] = ()
    """Open files that the process is given."""
    status: int | None = None
    """Reading end of a pipe on which bubblewrap reports."""
    folder: str | None = None
    kill: Callable[[int], None] | None = None
    """Way to end the process and its children; by default they die with it."""
    members: Callable[[int], list[int]] | None = None
    """The processes whose memory and files are counted; by default the process and all it started."""
    scratch: Path | None = None
    """The private ``/tmp``, where no file system of its own limits its size."""


@contextmanager
def ending_with(deadline: float, ended: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Whatever code is started in here, on behalf of a program, ends no later than that program."""
    outer = _program.get()
    token = _program.set(_Program(min(deadline, outer.deadline), lambda: ended() or outer.ended()))
    try:
        yield
    finally:
        _program.reset(token)


def time_left() -> float:
    """Seconds left to the program for which code is being started; infinite if there is none."""
    return max(0.0, _program.get().deadline - monotonic())


def socket_pair(job: Job, stack: ExitStack) -> tuple[socket.socket, socket.socket] | None:
    """The two ends of the conversation, if there is one: the server's and the job's."""
    if job.conversation is None:
        return None
    ours, theirs = socket.socketpair()
    stack.callback(ours.close)
    stack.callback(theirs.close)
    ours.setblocking(False)
    return ours, theirs


class Supervisor:
    """One running job."""

    def __init__(self, job: Job, launch: Launch, ours: socket.socket | None) -> None:
        self._job = job
        self._launch = launch
        self._socket = ours
        self._stdout, self._stderr = Captured(*STDOUT_SHOWN), Captured(*STDERR_SHOWN)
        self._outgoing = bytearray()
        self._reached: Reached | None = None
        self._reaching = threading.Lock()
        self._exited = -1
        self._deadline = monotonic() + min(job.limits.seconds, time_left())
        self._asked_by = _program.get()

    def run(self) -> JobEnded:
        """Start, watch and end the process; all that it started is gone afterwards."""
        quotas: dict[Reached, WorkspaceQuota] = {
            "workspace": WorkspaceQuota(self._job.workspace, self._job.limits)
        }
        if self._launch.scratch:
            room = replace(self._job.limits, workspace_bytes=self._job.limits.scratch_bytes)
            quotas["scratch"] = WorkspaceQuota(self._launch.scratch, room)
        process = subprocess.Popen(
            self._launch.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(self._launch.environment),
            cwd=self._launch.folder,
            pass_fds=tuple(self._launch.descriptors),
            start_new_session=True,
        )
        with process, selectors.DefaultSelector() as selector, ExitStack() as stack:
            stack.callback(self._kill, process)
            _prefer_for_the_kernel_to_kill(process.pid)
            look = partial(self._look, process, quotas)
            if self._job.conversation:
                # A tool that the program calls may take long; somebody has to look meanwhile.
                stack.enter_context(_repeating(look))
                stack.enter_context(ending_with(self._deadline, lambda: not self._is_running()))
            self._watch(process, selector, look, stack)
        return JobEnded(self._status(process), self._stdout, self._stderr, self._reached)

    def _watch(
        self,
        process: subprocess.Popen[bytes],
        selector: selectors.BaseSelector,
        check: Callable[[], None],
        stack: ExitStack,
    ) -> None:
        assert process.stdout
        assert process.stderr
        for stream, kept in ((process.stdout, self._stdout), (process.stderr, self._stderr)):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, kept)
        if self._socket:
            selector.register(self._socket, selectors.EVENT_READ, self._job.conversation)
            if self._conversation.awake is not None:
                selector.register(self._conversation.awake, selectors.EVENT_READ, _AWAKE)
        self._exited = exited = os.pidfd_open(process.pid)
        stack.callback(os.close, exited)
        selector.register(exited, selectors.EVENT_READ, None)
        look = monotonic() + TICK
        while True:
            ready = selector.select(max(0.0, min(self._deadline, look) - monotonic()))
            for key, _ in ready:
                self._serve(selector, key)
            self._send(selector)
            if any(key.data is None for key, _ in ready):
                break
            if monotonic() >= min(look, self._deadline):
                check()
                look = monotonic() + TICK
            if self._stdout.total + self._stderr.total > self._job.limits.output_bytes:
                self._reach("output")
            if self._reached:
                self._kill(process)
                break
        self._drain(selector)

    def _serve(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        if key.data is _AWAKE:
            os.read(key.fd, 8)
        elif isinstance(key.data, Captured):
            if printed := os.read(key.fd, _CHUNK):
                key.data.add(printed)
            else:
                selector.unregister(key.fileobj)
        elif key.data is not None and self._socket:
            data = _heard(self._socket)
            if data:
                self._conversation.receive(data)
            if data == b"" or self._conversation.broken:
                self._hang_up(selector, self._socket)

    def _hang_up(self, selector: selectors.BaseSelector, open_: socket.socket) -> None:
        selector.unregister(open_)
        open_.close()
        self._socket = None

    @property
    def _conversation(self) -> JobConversation:
        assert self._job.conversation
        return self._job.conversation

    def _send(self, selector: selectors.BaseSelector) -> None:
        if not self._socket:
            return
        # A program that does not read what it is answered is answered no more, nor is one that has ended.
        while len(self._outgoing) < _WAITING and self._is_running():
            answer = self._conversation.replies()
            if not answer or self._conversation.over:  # who declared the task done is told nothing more
                break
            self._outgoing += answer
            self._push()
        if self._conversation.over:
            self._reach("done")
            return
        if self._conversation.broken:
            self._hang_up(selector, self._socket)
            return
        self._push()
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outgoing else 0)
        if selector.get_key(self._socket).events != events:
            selector.modify(self._socket, events, self._job.conversation)

    def _push(self) -> None:
        assert self._socket
        with suppress(OSError):
            while self._outgoing:
                sent = self._socket.send(self._outgoing[:_CHUNK])
                del self._outgoing[:sent]

    def _is_running(self) -> bool:
        return not self._reached and not readable(self._exited, 0)

    def _look(self, process: subprocess.Popen[bytes], quotas: Mapping[Reached, WorkspaceQuota]) -> None:
        """End the job if it exceeds limits that the kernel does not enforce."""
        if self._reached or process.poll() is not None:
            return
        if reached := self._beyond(process, quotas):
            self._reach(reached)
            self._kill(process)

    def _beyond(
        self, process: subprocess.Popen[bytes], quotas: Mapping[Reached, WorkspaceQuota]
    ) -> Reached | None:
        if monotonic() >= self._deadline or self._job.unwanted() or self._asked_by.ended():
            return "time"
        pids = (self._launch.members or tree)(process.pid)
        hidden = unseen(pids, in_memory=self._launch.status is not None)
        if hidden.memory + memory_of(pids) > self._job.limits.memory_bytes:
            return "memory"
        return next((kind for kind, quota in quotas.items() if quota.exceeded(hidden.disk)), None)

    def _reach(self, what: Reached) -> None:
        """End the job for a reason; the first one holds, whichever thread has found it."""
        with self._reaching:
            self._reached = self._reached or what

    def _drain(self, selector: selectors.BaseSelector) -> None:
        """Read the rest of pipes and socket, without waiting for other holders."""
        for key in [key for key in selector.get_map().values() if isinstance(key.data, Captured)]:
            with suppress(BlockingIOError):
                while (printed := os.read(key.fd, _CHUNK)) and self._room():
                    key.data.add(printed)
        if not self._room():
            self._reach("output")
        left = _WAITING  # more than the kernel lets wait
        while self._socket and left > 0 and not self._conversation.broken and (data := _heard(self._socket)):
            self._conversation.receive(data)
            left -= len(data)

    def _room(self) -> bool:
        return self._stdout.total + self._stderr.total <= self._job.limits.output_bytes

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """End the process and all it started, and be sure of it."""
        if process.poll() is not None:
            return
        if self._launch.kill:
            self._launch.kill(process.pid)
        kill_with_namespace(process)

    def _status(self, process: subprocess.Popen[bytes]) -> int:
        if self._reached:
            return 0 if self._reached == "done" else 128 + 9
        if self._launch.status is None:
            return process.returncode if process.returncode >= 0 else 128 - process.returncode
        os.set_blocking(self._launch.status, False)
        with suppress(BlockingIOError):
            for line in os.read(self._launch.status, _CHUNK).splitlines():
                report = json.loads(line)
                if "exit-code" in report:
                    return int(report["exit-code"])
        raise SandboxFailed(f"the sandbox did not run the command: {self._stderr.text()[:1000].strip()}")


def _heard(open_: socket.socket) -> bytes | None:
    """Read the next bytes of a job: empty if it hung up, ``None`` if there are none yet."""
    try:
        return open_.recv(_CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def kill_with_namespace(process: subprocess.Popen[bytes]) -> None:
    """End a bubblewrap and all that runs in it, and be sure of it."""
    with _first_child(process.pid) as init:
        process.kill()
        if init is not None:
            # The first process of the namespace: it is gone only when all others in it are.
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(init, signal.SIGKILL)
            if not readable(init, GRACE):
                raise SandboxFailed("the sandbox could not be killed")
    process.wait(GRACE)


@contextmanager
def _first_child(pid: int) -> Iterator[int | None]:
    """A descriptor of a process's first child."""
    for child in tree(pid)[1:2]:
        with suppress(ProcessLookupError):
            opened = os.pidfd_open(child)
            try:
                # A child that is still there was there all the time: its number was not given to another.
                yield opened if child in tree(pid)[1:2] else None
            finally:
                os.close(opened)
            return
    yield None


def _prefer_for_the_kernel_to_kill(pid: int) -> None:
    """Should the machine run out of memory, then code of an agent goes before the server."""
    with suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


@contextmanager
def _repeating(look: Callable[[], None]) -> Iterator[None]:
    """Look ten times a second, in a thread."""
    over = threading.Event()
    failures: list[Exception] = []

    def watch() -> None:
        try:
            while not over.wait(TICK):
                look()
        except Exception as failure:  # noqa: BLE001 - raised where the job is waited for
            failures.append(failure)

    thread = threading.Thread(target=watch, name="sandbox-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failures:
        raise failures[0]


def memory_of(pids: Sequence[int]) -> int:
    """Bytes of memory that processes have for themselves."""
    rough = sum(_field(f"/proc/{p}/status", ("RssAnon", "RssShmem")) for p in pids)
    if rough < 256 * 1024 * 1024:
        return rough
    # Pages that several processes share were counted for each of them; this count is right but slow.
    exact = [_field(f"/proc/{p}/smaps_rollup", ("Pss_Anon", "Pss_Shmem")) for p in pids]
    return sum(exact) if all(exact[1:]) else rough


@dataclass(frozen=True)
class Unseen:
    """Bytes that no list of files and no account of a process shows."""

    disk: int
    """Of files that processes have open but that were removed."""
    memory: int
    """Memory in sockets, and of files in the private ``/tmp`` and ``/dev/shm``."""


def unseen(pids: Sequence[int], *, in_memory: bool) -> Unseen:
    """Measure what processes hold besides their memory and listed files.

    ``in_memory`` says that they have a ``/tmp`` of their own that is kept in memory.
    """
    found: dict[tuple[int, int], int] = {}
    sockets = set()
    for process in pids:
        with suppress(OSError):
            for number in os.listdir(f"/proc/{process}/fd"):
                with suppress(OSError):
                    path = f"/proc/{process}/fd/{number}"
                    status = os.stat(path)
                    if stat.S_ISSOCK(status.st_mode):
                        sockets.add(status.st_ino)
                    # Files in memory are the ones that bubblewrap is given; code cannot make any.
                    if (
                        status.st_nlink == 0
                        and stat.S_ISREG(status.st_mode)
                        and not os.readlink(path).startswith("/memfd:")
                    ):
                        found[status.st_dev, status.st_ino] = status.st_blocks * 512
    kept = len(sockets) * _SOCKET_BYTES + (_files_in_memory(pids[-1]) if in_memory else 0) * _NODE_BYTES
    return Unseen(sum(found.values()), kept)


def _files_in_memory(pid: int) -> int:
    """Files and folders, whatever is in them, in the file systems that a sandbox has in memory."""
    count = 0
    for folder in ("tmp", "dev/shm"):
        with suppress(OSError):
            path = f"/proc/{pid}/root/{folder}"
            if os.stat(path).st_dev != os.stat("/tmp").st_dev:
                system = os.statvfs(path)
                count += system.f_files - system.f_ffree
    return count


def tree(pid: int) -> list[int]:
    """A process and all that it started and that was not orphaned."""
    found = [pid]
    for current in found:
        with suppress(OSError):
            for task in os.listdir(f"/proc/{current}/task"):
                with open(f"/proc/{current}/task/{task}/children", encoding="ascii") as file:
                    found += [int(child) for child in file.read().split()]
    return found


def _field(path: str, names: tuple[str, ...]) -> int:
    total = 0
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in names:
                total += int(value.split()[0]) * 1024
    return total
