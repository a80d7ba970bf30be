"""Jobs in processes of this machine."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType

from mesocosm.families.workers.workers import J, R, Workers
from mesocosm.worlds.garbage import look_rarely


class Processes(Workers):
    """Processes, started when the first job is; with one, jobs are done by this process itself.

    Args:
        count: How many (default: one per core).
        most: Jobs there will be; more processes than that are not needed.
    """

    lost = (BrokenProcessPool,)

    def __init__(self, count: int | None = None, most: int | None = None) -> None:
        cores = count or os.cpu_count() or 1
        self._count = max(1, cores if most is None else min(cores, most))
        self._pool: ProcessPoolExecutor | None = None
        self._memory = _available()

    @property
    def ahead(self) -> int:
        # This process does a job when it is begun, and should tell of it before it begins the next.
        return 1 if self._count == 1 else 2 * self._count

    def room(self, memory: int) -> bool:
        return memory <= self._memory

    def begin(self, function: Callable[[J], R], job: J, memory: int) -> Future[R]:
        if self._count == 1:
            return _done_here(function, job)
        if self._pool:
            try:
                return self._pool.submit(function, job)
            except BrokenProcessPool:
                self._pool.shutdown()
        self._pool = ProcessPoolExecutor(self._count, mp_context=get_context("spawn"), initializer=_begin)
        return self._pool.submit(function, job)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _begin() -> None:
    """Make a process ready for jobs. Ctrl-C at the terminal is sent to it, too, and ends it without a word:
    who started it says what was cut off.
    """
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    look_rarely()


def _done_here(function: Callable[[J], R], job: J) -> Future[R]:
    future: Future[R] = Future()
    future.set_result(function(job))
    return future


def _available() -> int:
    """Bytes of memory that processes can have before others must give some up."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    amounts = dict(line.split(":", 1) for line in lines)
    return int(amounts["MemAvailable"].split()[0]) * 1024
