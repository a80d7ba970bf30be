"""Bounded processes for work that may take much time or memory: a few permanent ones, and more while all are
busy, so that long work delays nobody else. A process is identified by the state it holds, and later questions
on that state go to it.
"""

# Parsers of hostile files need memory limits, which only a process can have (decision 070).

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mesocosm.worlds import deadlines
from mesocosm.worlds.descriptors import readable, writable
from mesocosm.worlds.places import Place, Places, TakenBack, processor_seconds
from mesocosm.worlds.plain_values import Damaged
from mesocosm.worlds.process_worker import SIZE, Kind

T = TypeVar("T")

_MOST, _RESTING = 8, max(2, min(4, os.cpu_count() or 2))
"""Processes at a time, and those that stay when they are not used."""
_SLOW = 0.2
"""Seconds that a process needs to start or to take in what it is asked about: too long where everybody
waits."""
_PATIENCE, _RANK = 0.1, 10
"""Seconds of a processor after which it gives way to whoever else has something to be done, by this
niceness."""
_KINDS = frozenset(Kind)


@dataclass(frozen=True)
class ProcessQuestion:
    """Something to be done with a state."""

    before: str
    """The name of the state that it is about."""
    after: str
    """The name of the state that is held when it is done."""
    known: bytes
    """Question for a process that holds the state."""
    whole: Callable[[], bytes]
    """Called for what another one is asked."""
    largest: int
    """Bytes of an answer."""


@dataclass(frozen=True)
class ProcessAnswer:
    """Reply of a process."""

    kind: Kind
    data: bytes
    is_whole: bool
    """True if it was asked with the whole state."""


class ProcessGone(Exception):
    """The process ended, because of its memory limit or an error."""


class _Process:
    def __init__(self, program: Sequence[str]) -> None:
        self._program = program
        self.start()

    def start(self) -> None:
        """Begin with nothing held."""
        self.popen = subprocess.Popen(
            [sys.executable, "-c", *self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RUST_BACKTRACE": "0"},
        )
        assert self.popen.stdin
        os.set_blocking(self.popen.stdin.fileno(), False)
        self.whom = ""
        """For whom it worked last."""
        self.states: set[str] = set()
        self.gives_way = False
        self.used = False
        """True if something was asked of it."""
        self._found = bytearray()
        """Of the answer that is being read."""
        self.is_asked = False
        """True if an answer is still to come."""
        self._before = 0.0

    def ask(self, request: bytes, largest: int) -> tuple[Kind, bytes]:
        """The answer to a request. Raises ``ProcessGone``, or ``Overdue`` when the call's time is up."""
        assert self.popen.stdout
        if readable(self.popen.stdout.fileno(), 0):
            self._more()
            raise Damaged("an answer before the question")
        self.is_asked = True
        self._send(SIZE.pack(len(request)))
        self._send(request)
        self._before = processor_seconds(self.popen.pid)
        answer = self._answer(largest)
        self.is_asked = False
        return answer

    def _send(self, data: bytes) -> None:
        """Write to a process that may have stopped to read."""
        assert self.popen.stdin
        descriptor, left = self.popen.stdin.fileno(), memoryview(data)
        while left:
            try:
                left = left[os.write(descriptor, left) :]
            except BlockingIOError:
                self._wait(writable, descriptor)
            except OSError:
                raise ProcessGone from None

    def _answer(self, largest: int) -> tuple[Kind, bytes]:
        found, whole = self._found, SIZE.size + 1
        while len(found) < whole:
            found += self._more()
            if len(found) >= SIZE.size:
                whole = SIZE.size + 1 + SIZE.unpack_from(found)[0]
            if not len(found) <= whole <= SIZE.size + 1 + largest:
                raise Damaged(f"an answer of {whole:,} bytes, of which {len(found):,} are there")
        self._found = bytearray()
        if found[SIZE.size] not in _KINDS:
            raise Damaged(f"an answer of no kind: {found[SIZE.size]}")
        return Kind(found[SIZE.size]), bytes(memoryview(found)[SIZE.size + 1 :])

    def _more(self) -> bytes:
        assert self.popen.stdout
        descriptor = self.popen.stdout.fileno()
        self._wait(readable, descriptor)
        part = os.read(descriptor, 1 << 20)
        if not part:
            raise ProcessGone
        return part

    def _wait(self, ready: Callable[[int, float], bool], descriptor: int) -> None:
        deadlines.check()
        while not ready(descriptor, 0.02 if self.gives_way else 0.005):
            deadlines.check()
            if not self.gives_way and self.worked() > _PATIENCE:
                self.give_way()

    def worked(self) -> float:
        """Seconds of a processor that it has had for what it was asked last."""
        return max(0.0, processor_seconds(self.popen.pid) - self._before)

    def give_way(self) -> None:
        """Compute behind all others from here on: its rank cannot be raised again."""
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self.popen.pid, _RANK)
        self.gives_way = True

    def kill(self) -> None:
        """Kill it; pending questions fail."""
        self.popen.kill()

    def end(self) -> None:
        self.popen.kill()
        self.popen.wait()
        for stream in (self.popen.stdin, self.popen.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()


class HelperProcesses:
    """Those of one server; each is used by one call at a time."""

    def __init__(self, program: Sequence[str], *, keeps_slow: bool = False) -> None:
        """Start none yet.

        Args:
            program: A program of Python with its arguments, that ``answering.serve``s.
            keeps_slow: Whether a process that took long stays for the episode that it worked for.
        """
        self._program, self._keeps_slow = program, keeps_slow
        self._begin()
        atexit.register(self.close)

    def _begin(self) -> None:
        self._places = Places(_MOST, _SLOW)
        self._free: list[_Process] = []
        self._count = 0
        self._lock = threading.Lock()
        self._process_id = os.getpid()

    def ask(self, whom: str, question: ProcessQuestion, read: Callable[[ProcessAnswer], T]) -> T:
        """Send an episode's question to a process and return what ``read`` makes of the reply.

        The process has read what agents made, so its reply is trusted to be nothing but bytes. Where ``read``
        raises ``Damaged`` the process is ended. Raises ``ProcessGone``, ``Overdue`` and ``Damaged``.
        """
        if self._process_id != os.getpid():  # a fork has the processes of its parent, which it must not use
            self._begin()
        while True:
            place = self._places.take(whom)
            try:
                return self._asked(place, question, read)
            except TakenBack:
                continue
            finally:
                self._places.release(place)

    def _asked(self, place: Place, question: ProcessQuestion, read: Callable[[ProcessAnswer], T]) -> T:
        process = self._taken(place, question)
        process.whom = place.whom
        before = processor_seconds(process.popen.pid)
        place.worked = lambda: max(0.0, processor_seconds(process.popen.pid) - before)
        place.end = process.kill
        try:
            kind, found = self._answered_once_more(place, process, question, read)
        except ProcessGone:
            self._drop(process)
            if place.taken_back:
                raise TakenBack from None
            raise
        except deadlines.Overdue:
            self._drop(process) if process.is_asked else self._give_back(place, process)
            raise
        except BaseException:
            self._drop(process)
            raise
        if kind is Kind.KEPT:
            process.states.add(question.after)
        self._give_back(place, process)
        return found

    def _answered_once_more(
        self, place: Place, process: _Process, question: ProcessQuestion, read: Callable[[ProcessAnswer], T]
    ) -> tuple[Kind, T]:
        """The answer; from a process begun anew where one ends that had been asked for other things before,
        or answers what cannot be read.

        What it held for others, or what another call did not wait for, may have been what ended it.
        """
        if process.used:
            with contextlib.suppress(ProcessGone, Damaged):
                return self._answered(process, question, read)
            if place.taken_back:
                raise ProcessGone
            process.end()
            process.start()
        process.used = True
        return self._answered(process, question, read)

    def _answered(
        self, process: _Process, question: ProcessQuestion, read: Callable[[ProcessAnswer], T]
    ) -> tuple[Kind, T]:
        if question.before in process.states:
            kind, data = process.ask(question.known, question.largest)
            process.states.discard(question.before)
            if kind is not Kind.MISSING:
                return kind, read(ProcessAnswer(kind, data, is_whole=False))
        deadlines.expect(_SLOW)
        kind, data = process.ask(question.whole(), question.largest)
        return kind, read(ProcessAnswer(kind, data, is_whole=True))

    def _taken(self, place: Place, question: ProcessQuestion) -> _Process:
        """A process that nobody uses: best one that holds the state, or gives way because of the same
        episode; a new one for work that is to give way."""
        with self._lock:
            for fits in (
                lambda one: question.before in one.states,
                lambda one: one.gives_way and one.whom == place.whom,
                lambda one: not (one.gives_way or place.gives_way),
            ):
                for process in filter(fits, self._free):
                    self._free.remove(process)
                    return process
            deadlines.expect(_SLOW)
            if self._count >= _MOST and self._free:
                # All that nobody uses rest behind all others.
                self._free.pop(0).end()
                self._count -= 1
            self._count += 1
        try:
            return _Process(self._program)
        except BaseException:
            with self._lock:
                self._count -= 1
            raise

    def _give_back(self, place: Place, process: _Process) -> None:
        if self._places.finish(place) and (self._keeps_slow or not process.gives_way):
            with self._lock:
                alike = [one for one in self._free if one.gives_way == process.gives_way]
                if len(alike) < _RESTING:
                    self._free.append(process)
                    return
        self._drop(process)

    def _drop(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._count -= 1

    def close(self) -> None:
        """End those that nobody uses."""
        with self._lock:
            free, self._free = self._free, []
            self._count -= len(free)
        if self._process_id == os.getpid():
            for process in free:
                process.end()
