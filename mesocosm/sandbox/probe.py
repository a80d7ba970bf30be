"""Tests inside the sandbox of what must work and what must not. Runs there, not in the server."""

from __future__ import annotations

import errno
import importlib
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any


def refused(action: Callable[[], object]) -> tuple[bool, str]:
    """Try an action that must fail. Returns whether it did, and how."""
    try:
        return False, f"succeeded: {action()!r}"[:200]
    except (OSError, ImportError) as error:
        return True, type(error).__name__


def works(action: Callable[[], object]) -> tuple[bool, str]:
    """Try an action that must succeed. Returns whether it did, and how."""
    try:
        action()
    except (OSError, ImportError, MemoryError) as error:
        return False, f"{type(error).__name__}: {error}"[:200]
    return True, ""


def import_libraries(names: list[str]) -> None:
    """Import the data libraries by the names of their distributions."""
    for name in names:
        importlib.import_module({"python-dateutil": "dateutil"}.get(name, name))


def has_no_network() -> tuple[bool, str]:
    """True if the kernel has no route to any address."""
    try:
        socket.create_connection(("192.0.2.1", 80), 2).close()
    except OSError as error:
        return error.errno in (errno.ENETUNREACH, errno.EAFNOSUPPORT), error.strerror or str(error)
    return False, "connected"


def write(path: str) -> None:
    """Write a file and remove it again."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("x")
    os.unlink(path)


def main() -> None:
    """Print what was found as JSON."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    secrets = [name for name in os.environ if "MESOCOSM" in name or "TOKEN" in name or "KEY" in name]
    results = {
        "the workspace can be written": works(lambda: write(".probe")),
        "the data libraries can be imported": works(lambda: import_libraries(asked["libraries"])),
        "Mesocosm cannot be imported": refused(lambda: importlib.import_module("mesocosm")),
        "the source cannot be seen": refused(lambda: os.listdir(asked["source"])),
        "no process of the machine can be seen": refused(lambda: os.listdir("/proc/self")),
        "there is no network": has_no_network(),
        "nothing else can be written": refused(lambda: write("/usr/.probe")),
        "the server's environment cannot be seen": (not secrets, ", ".join(secrets)),
        "code is not root": (os.getuid() != 0, f"uid {os.getuid()}"),
    }
    print(json.dumps([{"name": n, "passed": ok, "detail": why} for n, (ok, why) in results.items()]))


if __name__ == "__main__":
    main()
