"""The other side of ``processes``: a process that is asked one thing after the other over its standard input.

Nothing else of mesocosm is loaded here, so that such a process begins quickly.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from enum import IntEnum


class Kind(IntEnum):
    """Reply about a file that the process may hold already."""

    MISSING = 0
    """It is not here; all of it has to be sent."""
    KEPT = 1
    """It is held for the next time."""
    REFUSED = 2
    """It is not held."""


SIZE = struct.Struct("!Q")


def bound_memory(size: int) -> None:
    """Limit this process's address space, where the system allows it."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass


def serve(answer: Callable[[bytes], tuple[Kind, bytes]]) -> None:
    """Answer requests until the standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever prints (libraries' reports of their own failures) must not stand among the answers.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    requests = sys.stdin.buffer
    while len(head := requests.read(SIZE.size)) == SIZE.size:
        kind, data = answer(requests.read(*SIZE.unpack(head)))
        answers.write(SIZE.pack(len(data)) + bytes([kind]))
        answers.write(data)
        answers.flush()
