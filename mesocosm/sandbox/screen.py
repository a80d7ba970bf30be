"""Hides folders from an agent program that otherwise sees the machine, and makes others read-only.

Such an agent needs its home, its programs and the network, so the walls around code of agents would be too
narrow for it. It gets namespaces in which it is alone (no other process can be seen, nor looked into) and in
which the hidden folders are empty. They cannot be uncovered: it has no capability, and none can be had in a
namespace that it makes itself, where what was mounted before stays mounted. Files of the kernel that belong
to root are not within its reach either, for a namespace does not keep root from them.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mesocosm.sandbox import bubblewrap
from mesocosm.sandbox.jobs import SandboxFailed

_DUMPABLE = 4


_KERNEL_FOLDERS = ("/proc/sys", "/proc/fs", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi")
_SHARED = ("--bind-try", "/dev/shm", "/dev/shm")
"""Files in memory: programs and folders for temporary files may lie there."""
_KERNEL_FILES = ("/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/timer_list", "/proc/sched_debug")
_PROBE = 'for path; do if test -w "$path"; then echo "$path could be written" >&2; exit 1; fi; done'


def screen(hidden: Iterable[Path], fixed: Iterable[Path]) -> list[str]:
    """The beginning of a command line that hides folders from the command after it, and lets it read others.

    ``SandboxFailed`` where this machine cannot do it, from having tried.
    """
    binary, problem = bubblewrap.chosen()
    if binary is None:
        raise SandboxFailed(problem)
    covered = sorted({str(path.resolve()) for path in hidden if path.exists()})
    read_only = sorted({str(path.resolve()) for path in fixed})
    command = [
        binary.path, "--unshare-user", "--uid", str(os.getuid()), "--gid", str(os.getgid()), "--unshare-pid",
        "--unshare-ipc", "--cap-drop", "ALL", "--die-with-parent",
        "--bind", "/", "/", "--dev", "/dev", *_SHARED, "--proc", "/proc", "--ro-bind", "/sys", "/sys",
    ]  # fmt: skip
    for path in read_only:
        command += ["--ro-bind", path, path]
    for folder in filter(os.path.isdir, _KERNEL_FOLDERS):
        command += ["--tmpfs", folder, "--remount-ro", folder]
    for file in filter(os.path.exists, _KERNEL_FILES):
        command += ["--ro-bind", os.devnull, file]
    for path in covered:
        if not any(path.startswith(f"{other}/") for other in covered):
            empty = ["--tmpfs", path, "--remount-ro", path]
            command += empty if os.path.isdir(path) else ["--ro-bind", os.devnull, path]
    command.append("--")
    probe = [*command, "/bin/sh", "-c", _PROBE, "sh", *read_only, "/sys/kernel", *_KERNEL_FOLDERS]
    tried = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=20)
    if tried.returncode != 0:
        raise SandboxFailed(tried.stderr.strip() or f"a trial ended with status {tried.returncode}")
    return command


@contextmanager
def closed_to_others() -> Iterator[None]:
    """This process cannot be looked into by others of its user (those of root can nevertheless)."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_DUMPABLE, 1, 0, 0, 0)
