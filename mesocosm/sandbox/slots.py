"""Slots, for machines without namespaces: each is a root folder and a user of its own, for one job at a time.

Only the code runner uses them, as root of a container that holds nothing worth seeing. The kernel's old
means keep a job in: ``chroot`` into a folder with Python, the data libraries and the commands; a user who
owns nothing but the job's workspace; a filter of system calls that allows no socket; limits. When the job is
over, all processes of that user are killed at once, and what they wrote is removed.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import ClassVar

from mesocosm.sandbox import runtime, seccomp
from mesocosm.sandbox.jobs import CODE, WORKSPACE, Job, JobEnded, JobLimits, SandboxFailed
from mesocosm.sandbox.supervisor import GRACE, Launch, Supervisor, socket_pair
from mesocosm.sandbox.workspace_handover import hand_over, tidy

_USERS = range(65_300, 65_500)
"""Users that belong to slots; no system gives them to anybody."""
_DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9)}
_SET_CHILD_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of ``linux/prctl.h``."""
_LEFT_OUT = shutil.ignore_patterns(
    "site-packages", "test", "tests", "idlelib", "ensurepip", "config-*", "lib2to3", "*.opt-[12].pyc"
)


class Slot:
    """A place for one job at a time."""

    name: ClassVar[str] = "slots"

    def __init__(self, root: Path) -> None:
        self.user, self._claim = _claim_user()
        self._root = root
        self.workspace = root / WORKSPACE[1:]

    def prepare(self) -> None:
        """Make the folders that a job writes to, empty; its workspace is to be filled next."""
        self.clear()
        for folder in (WORKSPACE, "/tmp", CODE):
            (self._root / folder[1:]).mkdir()
        for folder in (WORKSPACE, "/tmp"):
            os.chown(self._root / folder[1:], self.user, self.user)
        os.utime(self._root, (runtime.EVEN_TIME, runtime.EVEN_TIME))

    def clear(self) -> None:
        """End whatever runs in here and remove what it wrote."""
        self._end_all()
        self._bury()
        written = [str(self._root / folder[1:]) for folder in (WORKSPACE, "/tmp", CODE)]
        subprocess.run(["rm", "-rf", "--", *written], check=True)

    def run(self, job: Job) -> JobEnded:
        """Run one job in ``workspace`` and wait for its end."""
        for name, data in job.files.items():
            (self._root / CODE[1:] / name).write_bytes(data)
        hand_over(self.workspace, self.user)
        with ExitStack() as stack:
            pair = socket_pair(job, stack)
            launch = self._launch(job, pair[1].fileno() if pair else None)
            try:
                ended = Supervisor(job, launch, pair[0] if pair else None).run()
            finally:
                self._end_all()
        return replace(ended, remarks=tidy(self.workspace, job.moment, job.limits.workspace_depth))

    def _launch(self, job: Job, descriptor: int | None) -> Launch:
        environment = runtime.environment(job)
        if descriptor is not None:
            environment["SESSION_FD"] = str(descriptor)
        asked = {
            "root": str(self._root), "folder": WORKSPACE, "user": self.user, "environment": environment,
            "limits": _resources(job.limits), "filter": (seccomp.program() or b"").hex(),
        }  # fmt: skip
        confine = str(Path(__file__).with_name("confine.py"))
        return Launch(
            [sys.executable, "-I", "-S", confine, json.dumps(asked), *job.command],
            {"PATH": "/usr/bin:/bin"},
            [] if descriptor is None else [descriptor],
            kill=lambda _: self._end_all(),
            members=lambda pid: [pid, *self._processes()],
            scratch=self._root / "tmp",
        )

    def _processes(self) -> list[int]:
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    if os.stat(f"/proc/{name}").st_uid == self.user and not _is_dead(name):
                        found.append(int(name))
        return found

    def _end_all(self) -> None:
        """Kill all processes of the user in one step of the kernel, which nothing they do can outrun.

        It is done once whatever a look at the processes says: of those that fork and end all the time, a look
        that takes a while may find none.
        """
        deadline = monotonic() + GRACE
        while True:
            subprocess.run(
                ["/bin/sh", "-c", "kill -9 -1"], user=self.user, group=self.user, extra_groups=(),
                check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            if not self._processes():
                return
            if monotonic() > deadline:
                raise SandboxFailed(f"processes of user {self.user} could not be killed")
            sleep(0.002)

    def _bury(self) -> None:
        """Take the status of the orphans that were left to this process: the dead count as the user's, too.

        Not while a job runs: the status of its first process is asked for elsewhere.
        """
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    if os.stat(f"/proc/{name}").st_uid == self.user:
                        os.waitpid(int(name), os.WNOHANG)


class Slots:
    """All slots; each is made when it is first needed."""

    name: ClassVar[str] = Slot.name

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._free: list[Slot] = []
        self._made = 0
        self._lock = threading.Lock()
        self._image: Path | None = None

    @contextmanager
    def room(self) -> Iterator[Slot]:
        """A slot for one job."""
        with self._lock:
            slot = self._free.pop() if self._free else self._make()
        slot.prepare()
        try:
            yield slot
        finally:
            # One that cannot be cleared is not used again.
            slot.clear()
            with self._lock:
                self._free.append(slot)

    def trial(self) -> str | None:
        """Try a job and return why it fails; ``None`` if it works."""
        if os.geteuid() != 0:
            return "slots need root (of a container)"
        if seccomp.program() is None:
            return f"no filter of system calls is known for {os.uname().machine}"
        command = ("bash", "-c", "echo > /dev/null && python3 -c 'import json, math, zlib'")
        try:
            with self.room() as slot:
                ended = slot.run(Job(command, slot.workspace, JobLimits(seconds=30)))
        except (SandboxFailed, OSError, subprocess.CalledProcessError) as error:
            return str(error)
        return (
            None if ended.status == 0 else f"a trial ended with status {ended.status}: {ended.stderr.text()}"
        )

    def _make(self) -> Slot:
        if self._image is None:
            _adopt_orphans()  # only where slots are used: nobody buries what other walls leave
            self._image = self._folder / "image"
            _fill(self._image)
        root = self._folder / f"slot-{self._made}"
        # Hard links: a second slot costs hardly any room.
        subprocess.run(["cp", "-al", "--", str(self._image), str(root)], check=True)
        slot = Slot(root)
        for name, text in runtime.accounts(slot.user).items():
            (root / "etc" / name).unlink()
            (root / "etc" / name).write_text(text, encoding="ascii")
        self._made += 1
        return slot


def _claim_user() -> tuple[int, socket.socket]:
    """A user that no other runner uses, as each would kill the jobs of the other; held with the claim."""
    for user in _USERS:
        claim = socket.socket(socket.AF_UNIX)
        try:
            # A name without a file: it is free again when the process ends, however that happens.
            claim.bind(f"\0mesocosm-slot-{user}")
        except OSError:
            claim.close()
        else:
            return user, claim
    raise SandboxFailed("all users for slots are taken by other runners")


def _resources(limits: JobLimits) -> dict[str, int]:
    return {
        "RLIMIT_AS": limits.memory_bytes, "RLIMIT_NPROC": limits.processes,
        "RLIMIT_NOFILE": limits.open_files, "RLIMIT_FSIZE": limits.written_bytes,
        "RLIMIT_CPU": limits.seconds + 1, "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0, "RLIMIT_MSGQUEUE": 0,
    }  # fmt: skip


def _adopt_orphans() -> None:
    """Become the parent of processes whose own has ended, as the first process of a container is."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _is_dead(pid: str) -> bool:
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] in "ZX"


# -- the root folder ------------------------------------------------------------------------------------


def _fill(image: Path) -> None:
    """Make the root folder of all slots: what the other sandbox mounts, copied."""
    shutil.copytree(runtime.image(), image, symlinks=True)
    copies: dict[str, str] = {}
    for mount in runtime.python_mounts():
        target = f"{image}{mount.target}"
        if (copied := copies.setdefault(mount.source, target)) == target:
            _copy(mount.source, target)
        else:  # a library under its second name
            os.unlink(target)
            os.link(copied, target)
    shutil.copytree(f"{image}{runtime.SITE_IMAGE}", f"{image}{runtime.SITE_PACKAGES}", dirs_exist_ok=True)
    for mount in runtime.library_mounts():
        _copy(mount.source, f"{image}{mount.target}")
    for path in ("/usr/share/zoneinfo", "/usr/lib/locale/C.utf8", "/etc/ld.so.cache"):
        if os.path.exists(path):
            _copy(path, f"{image}{path}")
    for library in _shared_libraries(image):
        _copy(library, f"{image}{library}")
    for name, numbers in _DEVICES.items():
        os.mknod(image / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(*numbers))
        os.chmod(image / "dev" / name, 0o666)
    os.symlink("../tmp", image / "dev/shm")
    for folder in ("tmp", CODE[1:], WORKSPACE[1:]):
        os.rmdir(image / folder)
    for folder, _, _ in os.walk(image):
        os.chmod(folder, 0o755)


def _copy(source: str, target: str) -> None:
    # No second names for the machine's files: a run of `--agent command` beside it would take them for
    # exchanged, as the link changes what is noted of a file.
    if os.path.isdir(source):
        shutil.copytree(
            source, target, symlinks=True, ignore=_LEFT_OUT, dirs_exist_ok=True, copy_function=shutil.copy
        )
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


def _shared_libraries(image: Path) -> list[str]:
    """Libraries of the machine that what was copied is linked with."""
    programs = [path for path in _files(image) if _is_program(path)]
    ran = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False, env=_finding(image))
    found = set()
    for line in ran.stdout.splitlines():
        words = line.split()
        path = next((word for word in words if word.startswith("/") and not word.endswith(":")), "")
        if path and not path.startswith(str(image)):
            found.add(path)
    return sorted(found)


def _finding(image: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": f"{image}{runtime.PYTHON_HOME}/lib"}


def _files(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(parent, name)


def _is_program(path: str) -> bool:
    if os.path.islink(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"
