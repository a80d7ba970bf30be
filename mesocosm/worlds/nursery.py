"""Processes forked from one that has loaded everything: begun in milliseconds, sharing its memory."""

# A process that loads its libraries itself takes 0.1 to 0.4 s of a processor (decision 107).

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mesocosm.worlds.places import processor_seconds
from mesocosm.worlds.process_worker import END, FORK

_LEAVING = 5.0
"""Seconds in which processes end that are told to."""


_AHEAD = 2
"""Processes of each kind that are begun before they are asked for."""


_PATIENCE, _RANK = 0.1, 10
"""Seconds of a processor after which a process gives way to whoever else has something to be done, by this
niceness."""


class ForkedProcess:
    """A process by its id, and the line to it. The id is its own until ``end``."""

    def __init__(self, nursery: Nursery, order: bytes) -> None:
        self._nursery = nursery
        self.id, self.line = nursery.fork(order)
        self.gives_way = False
        self._before = 0.0

    def begin(self) -> None:
        """Count what it works from here on."""
        self._before = processor_seconds(self.id)

    def worked(self) -> float:
        """Seconds of a processor that it has had since it began."""
        return max(0.0, processor_seconds(self.id) - self._before)

    def give_way(self) -> None:
        """Compute behind all others from here on: its rank cannot be raised again."""
        if not self.gives_way:
            with suppress(OSError):  # it has ended, or the machine forbids it
                os.setpriority(os.PRIO_PROCESS, self.id, _RANK)
            self.gives_way = True

    def give_way_if_long(self) -> None:
        """Give way after so much work that others should not wait for it, also if none is known of."""
        if not self.gives_way and self.worked() > _PATIENCE:
            self.give_way()

    def kill(self) -> None:
        """Kill it; the line to it ends."""
        with suppress(ProcessLookupError):
            os.kill(self.id, signal.SIGKILL)

    def end(self) -> None:
        """Kill it and let go of it, without waiting for its end."""
        self.line.close()
        self.kill()
        self._nursery.bury(self.id)


@dataclass(eq=False)
class _Ordered:
    """A process that was ordered."""

    order: bytes
    line: socket.socket
    id: int = 0
    """0 until the nursery has said it."""


class Nursery:
    """A process that forks others on request (``process_worker.fork_on_request``), begun by the first one.

    Some are ordered ahead: on a busy machine a fork may wait for long, for locks of the kernel that processes
    of a low priority hold while they end.
    """

    def __init__(self, program: Sequence[str], environment: Mapping[str, str]) -> None:
        """Begin nothing yet.

        Args:
            program: A program of Python with its arguments.
            environment: Variables, besides the path of modules.
        """
        self.program, self._environment = program, environment
        self._lock = threading.Lock()
        self._ended: deque[int] = deque()
        self._ordered: list[_Ordered] = []
        self._line: socket.socket | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def fork(self, order: bytes) -> tuple[int, socket.socket]:
        """Fork a process for an order; return its id, reserved until it is buried, and its line."""
        with self._lock:
            try:
                return self._taken(order)
            except OSError:  # it has been ended, as by a kernel that was short of memory
                self._leave()
                return self._taken(order)

    def bury(self, process: int) -> None:
        """Mark an ended process. Its id is released at the next fork, so that nobody waits for another
        fork.
        """
        self._ended.append(process)

    def close(self) -> None:
        """End it, and all that it has begun."""
        with self._lock:
            self._leave()

    def _taken(self, order: bytes) -> tuple[int, socket.socket]:
        if self._line is None:
            self._line = self._begun()
        while self._ended:
            self._line.sendall(END + struct.pack("!q", self._ended.popleft()))
        while sum(one.order == order for one in self._ordered) <= _AHEAD:
            self._ask(self._line, order)
        chosen = next(one for one in self._ordered if one.order == order)
        for one in self._ordered:  # it answers one after the other
            if one.id == 0:
                answer = self._line.recv(8)
                if not answer:
                    raise ConnectionResetError
                (one.id,) = struct.unpack("!q", answer)
            if one is chosen:
                break
        self._ordered.remove(chosen)
        return chosen.id, chosen.line

    def _ask(self, line: socket.socket, order: bytes) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._ordered.append(_Ordered(order, ours))
            socket.send_fds(line, [FORK + order], [theirs.fileno()])

    def _begun(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", *self.program, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={
                    **self._environment,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    # No threads, which are not there any more in what is forked.
                    "OPENBLAS_NUM_THREADS": "1",
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return ours

    def _leave(self) -> None:
        if self._line is not None and self.process is not None:
            self._line.close()  # at which it ends what it has begun
            try:
                self.process.wait(_LEAVING)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for one in self._ordered:
            one.line.close()
        self._line = self.process = None
        self._ordered.clear()
        self._ended.clear()
