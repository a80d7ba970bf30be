"""The other side of ``processes`` and ``nursery``: forks of a process that has loaded everything, each of
which is asked one thing after the other over its line.

A fork may reach nothing but its line (``walls``), so all that it may need is loaded before.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum

from mesocosm.worlds.walls import close_in


class Kind(IntEnum):
    """Reply about a file that the process may hold already."""

    MISSING = 0
    """It is not here; all of it has to be sent."""
    KEPT = 1
    """It is held for the next time."""
    REFUSED = 2
    """It is not held."""


SIZE = struct.Struct("!Q")
FORK, END = b"f", b"e"
"""What messages to the forking process begin with: an order, with the line of the new process as a
descriptor; and the id of a process that has ended, and may be reused."""
_LONGEST = 1000
"""Bytes of such a message."""


def bound_memory(size: int) -> None:
    """Limit this process's address space, where the system allows it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def serve(line: socket.socket, answer: Callable[[bytes], tuple[Kind, bytes]]) -> None:
    """Answer requests until the line ends."""
    with line.makefile("rwb") as stream:
        while len(head := stream.read(SIZE.size)) == SIZE.size:
            kind, data = answer(stream.read(*SIZE.unpack(head)))
            stream.write(SIZE.pack(len(data)) + bytes([kind]))
            stream.write(data)
            stream.flush()


def load_all(name: str) -> None:
    """Load a package and all that lies in it, as far as this system has what it needs."""
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(package.__path__, f"{name}."):
        with suppress(ImportError, RuntimeError):
            if module.ispkg:
                load_all(module.name)
            else:
                importlib.import_module(module.name)


def fork_on_request(
    prepared: Callable[[bytes], Callable[[socket.socket], None]], *, walled: bool = True
) -> None:
    """Fork processes until the line ends whose descriptor is the last argument of the program.

    ``prepared``: called with each order before the fork; what it returns is done in the new process.
    ``walled``: whether that can reach nothing but its line.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_all("encodings")  # which are loaded by name, when a text in one is met
    with socket.socket(fileno=int(sys.argv[-1])) as line:
        _Forks(line, prepared, walled).serve()


class _Forks:
    def __init__(
        self, line: socket.socket, prepared: Callable[[bytes], Callable[[socket.socket], None]], walled: bool
    ) -> None:
        self._line, self._prepared, self._walled = line, prepared, walled
        self._alive: set[int] = set()
        self._ended: set[int] = set()
        """Those that nobody knows any more."""

    def serve(self) -> None:
        """Fork on request, until the line closes; then end all that is alive."""
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # who ordered is gone
                while True:
                    message, descriptors, _, _ = socket.recv_fds(self._line, _LONGEST, 1)
                    if not message:
                        break
                    if message[:1] == FORK:
                        process = self._forked(descriptors[0], message[1:])
                        self._line.sendall(struct.pack("!q", process))
                    else:
                        self._ended.add(*struct.unpack("!q", message[1:]))
                    self._bury()
        finally:
            for process in self._alive:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def _forked(self, descriptor: int, order: bytes) -> int:
        work = self._prepared(order)
        gc.freeze()  # so that what is loaded stays shared
        process = os.fork()
        if not process:
            self._line.close()
            try:
                with suppress(BrokenPipeError, ConnectionResetError, MemoryError):  # who asked is gone
                    own = socket.socket(fileno=descriptor)
                    if self._walled:
                        close_in()
                    work(own)
            finally:
                os._exit(0)
        os.close(descriptor)
        self._alive.add(process)
        return process

    def _bury(self) -> None:
        """Reap a process only when told: until then its id may be used to kill it."""
        for process in [one for one in self._ended if os.waitpid(one, os.WNOHANG)[0]]:
            self._ended.remove(process)
            self._alive.remove(process)
