"""Doing many independent jobs: what is common to processes of this machine and to a cluster.

A job is a function of one argument that can be imported, and its argument; both are sent to the worker, and
what the function returns is sent back. So results depend on the jobs alone, not on who does them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from mesocosm.errors import UsageError

J = TypeVar("J")
R = TypeVar("R")
TRIES = 3
"""Times that a job is begun whose worker is lost: a process that was killed, a node that is gone."""


class WorkersLost(UsageError):
    """A job was begun on several workers, and all of them were lost."""


class Workers(ABC):
    """Workers for jobs, available while the context is entered."""

    lost: ClassVar[tuple[type[BaseException], ...]]
    """Exceptions of a future whose worker was lost; any other is the function's own."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Forget what has not been done yet."""

    @property
    @abstractmethod
    def ahead(self) -> int:
        """Jobs that may be begun and not yet taken back: enough to keep all workers busy."""

    @abstractmethod
    def begin(self, function: Callable[[J], R], job: J, memory: int) -> Future[R]:
        """Have a job done that needs so many bytes of memory."""

    @abstractmethod
    def room(self, memory: int) -> bool:
        """True if jobs that need so much memory together may start here. A cluster keeps count itself."""

    def done(
        self, function: Callable[[J], R], jobs: Iterable[J], memory: Callable[[J], int] = lambda _: 0
    ) -> Iterator[tuple[J, R]]:
        """Each job with its result, as they are done.

        Args:
            function: Done to each job; its errors are raised here.
            jobs: Begun in this order.
            memory: Bytes that a job needs. A job that needs more than there is, is begun alone.
        """
        waiting = deque(jobs)
        running: dict[Future[R], _Attempt[J, R]] = {}
        while waiting or running:
            while waiting and self._may_begin(running.values(), memory(waiting[0])):
                begun = _Attempt(self, function, waiting.popleft(), memory)
                running[begun.future] = begun
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                attempt = running.pop(future)
                if attempt.begun_again():
                    running[attempt.future] = attempt
                else:
                    yield attempt.job, future.result()

    def _may_begin(self, running: Iterable[_Attempt[J, R]], memory: int) -> bool:
        needs = [attempt.memory for attempt in running]
        return not needs or (len(needs) < self.ahead and self.room(sum(needs) + memory))

    def ordered(self, function: Callable[[J], R], jobs: Iterable[J]) -> Iterator[R]:
        """The results in the order of the jobs; no more are made ahead of who takes them than are useful."""
        running: deque[_Attempt[J, R]] = deque()
        for job in jobs:
            running.append(_Attempt(self, function, job))
            if len(running) >= self.ahead:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()

    def folders(
        self,
        function: Callable[[J, Path], R],
        jobs: Iterable[tuple[J, Path]],
        memory: Callable[[tuple[J, Path]], int] = lambda _: 0,
    ) -> Iterator[tuple[J, R]]:
        """As ``done``, for jobs that each make a folder: afterwards it is at its path on this machine.

        A function that makes none leaves none.
        """
        for (job, _), result in self.done(partial(_in_place, function), jobs, memory):
            yield job, result

    def reading(self, function: Callable[[Path], R], folders: Iterable[Path]) -> Iterator[R]:
        """As ``ordered``, for jobs that each read a folder of this machine."""
        return self.ordered(function, folders)


def _in_place(function: Callable[[J, Path], R], job: tuple[J, Path]) -> R:
    job[1].parent.mkdir(parents=True, exist_ok=True)
    return function(*job)


class _Attempt(Generic[J, R]):
    """A job that was begun, perhaps not for the first time."""

    def __init__(
        self, workers: Workers, function: Callable[[J], R], job: J, memory: Callable[[J], int] = lambda _: 0
    ) -> None:
        self.job, self.memory = job, memory(job)
        self._workers, self._begin = workers, partial(workers.begin, function, job, self.memory)
        self._tries = 1
        self.future: Future[Any] = self._begin()

    def begun_again(self) -> bool:
        """True if the worker was lost and the job restarted elsewhere. Waits for an outcome."""
        error = self.future.exception()
        if not isinstance(error, self._workers.lost):
            return False
        if self._tries == TRIES:
            raise WorkersLost(
                f"the worker was lost {TRIES} times that did this job: {self.job!r}; it may have needed more "
                f"memory than there is: {error}"
            )
        self._tries += 1
        self.future = self._begin()
        return True

    def result(self) -> R:
        while self.begun_again():
            pass
        found: R = self.future.result()
        return found
