"""Bounded processes for work that may take much time or memory, so that long work delays nobody else. A
process is one episode's, since what has read an agent's file may lie from then on; it is identified by the
state it holds, and later questions on that state go to it.
"""

# Parsers of hostile files need memory limits, which only a process can have (decision 070).

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mesocosm.worlds import deadlines
from mesocosm.worlds.descriptors import readable, writable
from mesocosm.worlds.nursery import ForkedProcess, Nursery
from mesocosm.worlds.places import Place, Places, TakenBack
from mesocosm.worlds.plain_values import Damaged
from mesocosm.worlds.process_worker import SIZE, Kind

T = TypeVar("T")
Owner = tuple[str, int]
"""The folder of an episode's world, and which of the worlds it is that have lain there."""

_MOST = 8
"""Processes at a time, those included that rest."""
_SLOW = 0.2
"""Seconds that a process needs to start or to take in what it is asked about: too long where everybody
waits."""
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
    order: bytes = b""
    """Order with which a process is forked, if one is begun for the question."""


@dataclass(frozen=True)
class ProcessAnswer:
    """Reply of a process."""

    kind: Kind
    data: bytes
    is_whole: bool
    """True if it was asked with the whole state."""


class ProcessGone(Exception):
    """The process ended, because of its memory limit or an error."""


class _Process(ForkedProcess):
    def __init__(self, nursery: Nursery, order: bytes, whom: Owner) -> None:
        super().__init__(nursery, order)
        self.line.setblocking(False)
        self.whom = whom
        self.states: set[str] = set()
        self.used = False
        """True if something was asked of it."""
        self._found = bytearray()
        """Of the answer that is being read."""
        self.is_asked = False
        """True if an answer is still to come."""

    def ask(self, request: bytes, largest: int) -> tuple[Kind, bytes]:
        """The answer to a request. Raises ``ProcessGone``, or ``Overdue`` when the call's time is up."""
        if readable(self.line.fileno(), 0):
            self._more()
            raise Damaged("an answer before the question")
        self.is_asked = True
        self._send(SIZE.pack(len(request)))
        self._send(request)
        answer = self._answer(largest)
        self.is_asked = False
        return answer

    def _send(self, data: bytes) -> None:
        """Write to a process that may have stopped to read."""
        left = memoryview(data)
        while left:
            try:
                left = left[self.line.send(left) :]
            except BlockingIOError:
                self._wait(writable)
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
        self._wait(readable)
        try:
            part = self.line.recv(1 << 20)
        except OSError:
            raise ProcessGone from None
        if not part:
            raise ProcessGone
        return part

    def _wait(self, ready: Callable[[int, float], bool]) -> None:
        deadlines.check()
        while not ready(self.line.fileno(), 0.02 if self.gives_way else 0.005):
            deadlines.check()
            self.give_way_if_long()


class HelperProcesses:
    """Those of one server; each is one episode's, and is used by one call at a time."""

    def __init__(self, program: Sequence[str]) -> None:
        """Start none yet.

        Args:
            program: A program of Python with its arguments, that calls ``process_worker.fork_on_request``.
        """
        self._program = program
        self._begin()
        atexit.register(self.close)

    def _begin(self) -> None:
        self._places = Places(_MOST)
        # Nothing of the environment, which may hold tokens: what a file takes over may tell all it has.
        self.nursery = Nursery(self._program, {"RUST_BACKTRACE": "0"})
        self._free: list[_Process] = []
        self._count = 0
        self._lock = threading.Lock()
        self._process_id = os.getpid()

    def ask(self, whom: Owner, question: ProcessQuestion, read: Callable[[ProcessAnswer], T]) -> T:
        """Send an episode's question to a process and return what ``read`` makes of the reply.

        The process has read what agents made, so its reply is trusted to be nothing but bytes. Where ``read``
        raises ``Damaged`` the process is ended. Raises ``ProcessGone``, ``Overdue`` and ``Damaged``.
        """
        if self._process_id != os.getpid():  # a fork has the processes of its parent, which it must not use
            self._begin()
        again = False
        while True:
            place = self._places.take(whom[0], again=again)
            try:
                return self._asked(place, whom, question, read)
            except TakenBack:
                again = True
            finally:
                self._places.release(place)

    def _asked(
        self, place: Place, whom: Owner, question: ProcessQuestion, read: Callable[[ProcessAnswer], T]
    ) -> T:
        """Ask a process; another one where it was asked for other things before, and ends or answers what
        cannot be read: what it held, or what a call did not wait for, may have been the reason."""
        process = self._taken(whom, question)
        while True:
            was_used, process.used = process.used, True
            try:
                kind, found = self._answered(place, process, question, read)
                break
            except (ProcessGone, Damaged):
                self._drop(process)
                if place.taken_back:
                    raise TakenBack from None
                if not was_used:
                    raise
                process = self._begun(whom, question)
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

    def _answered(
        self, place: Place, process: _Process, question: ProcessQuestion, read: Callable[[ProcessAnswer], T]
    ) -> tuple[Kind, T]:
        process.begin()
        place.worker = process
        if question.before in process.states:
            kind, data = process.ask(question.known, question.largest)
            process.states.discard(question.before)
            if kind is not Kind.MISSING:
                return kind, read(ProcessAnswer(kind, data, is_whole=False))
        deadlines.expect(_SLOW)
        kind, data = process.ask(question.whole(), question.largest)
        return kind, read(ProcessAnswer(kind, data, is_whole=True))

    def _taken(self, whom: Owner, question: ProcessQuestion) -> _Process:
        """A process of the episode that no call uses, best one that holds the state; or a new one."""
        with self._lock:
            own = [one for one in self._free if one.whom == whom]
            if own:
                process = next((one for one in own if question.before in one.states), own[-1])
                self._free.remove(process)
                return process
        return self._begun(whom, question)

    def _begun(self, whom: Owner, question: ProcessQuestion) -> _Process:
        deadlines.expect(_SLOW)
        with self._lock:
            if self._count >= _MOST and self._free:
                self._free.pop(0).end()
                self._count -= 1
            self._count += 1
        try:
            return _Process(self.nursery, question.order, whom)
        except BaseException:
            with self._lock:
                self._count -= 1
            raise

    def _give_back(self, place: Place, process: _Process) -> None:
        if self._places.finish(place):
            with self._lock:
                self._free.append(process)
        else:
            self._drop(process)

    def _drop(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._count -= 1

    def close(self) -> None:
        """End those that nobody uses, and the one that all are forked from."""
        with self._lock:
            free, self._free = self._free, []
            self._count -= len(free)
        if self._process_id == os.getpid():
            for process in free:
                process.end()
            self.nursery.close()
