"""Hides folders from a process that otherwise sees the machine as it is: an agent that somebody else wrote.

Such an agent needs its home, its programs and the network, so the walls around code of agents would be too
narrow for it. It gets namespaces in which it is alone (no other process can be seen, nor looked into) and in
which the hidden folders are empty. They cannot be uncovered: it has no capability, and none can be had in a
namespace that it makes itself, where what was mounted before stays mounted.
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


def screen(hidden: Iterable[Path]) -> list[str]:
    """The beginning of a command line that hides folders from the command after it.

    ``SandboxFailed`` where this machine cannot do it, from having tried.
    """
    binary, problem = bubblewrap.chosen()
    if binary is None:
        raise SandboxFailed(problem)
    covered = sorted({str(path.resolve()) for path in hidden if path.is_dir()})
    command = [
        binary.path, "--unshare-user", "--uid", str(os.getuid()), "--gid", str(os.getgid()), "--unshare-pid",
        "--unshare-ipc", "--cap-drop", "ALL", "--die-with-parent",
        "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip
    for folder in covered:
        if not any(folder.startswith(f"{other}/") for other in covered):
            command += ["--tmpfs", folder, "--remount-ro", folder]
    command.append("--")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False, timeout=20)
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
