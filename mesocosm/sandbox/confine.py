"""Puts itself into a slot of the code runner and becomes the job's command. Runs as root, alone, before it.

Arguments: the job's identity and limits as JSON, then the command. Nothing here may be imported that an
isolated interpreter without ``site`` does not have.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _PARENT_DEATH = 38, 22, 2, 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def main() -> None:
    """Give up everything, in the order in which it can be given up, and start the command."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    filter_ = bytes.fromhex(asked["filter"])
    os.chroot(asked["root"])
    os.chdir(asked["folder"])
    os.umask(0o022)
    for name, value in asked["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    os.setgroups([])
    os.setresgid(asked["user"], asked["user"], asked["user"])
    os.setresuid(asked["user"], asked["user"], asked["user"])
    _prctl(libc, _PARENT_DEATH, signal.SIGKILL, 0)
    _prctl(libc, _NO_NEW_PRIVILEGES, 1, 0)
    _prctl(libc, _SECCOMP, _FILTER, ctypes.byref(_Program(len(filter_) // 8, filter_)))
    command = sys.argv[2:]
    os.execvpe(command[0], command, asked["environment"])


def _prctl(libc: ctypes.CDLL, option: int, first: int, second: Any) -> None:
    if libc.prctl(option, ctypes.c_ulong(first), second, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option} failed")


if __name__ == "__main__":
    main()
