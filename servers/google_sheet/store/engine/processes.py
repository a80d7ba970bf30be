"""The processes that compute formulas, started when there are formulas to compute: a few that stay, and more
while all are busy, so that who computes for long is waited for by nobody else."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from mesocosm.errors import Invalid, MissingExtra
from mesocosm.worlds import deadlines
from mesocosm.worlds.places import Place, Places, TakenBack, processor_seconds

_MOST, _RESTING = 8, max(2, min(4, os.cpu_count() or 2))
"""Processes at a time, and those that stay when they are not used."""
_SLOW = 0.2
"""Seconds that a process needs to start or to take in a spreadsheet: too long where everybody waits."""
_PATIENCE, _RANK = 0.1, 10
"""Seconds of a processor after which it gives way to whoever else has something to compute, by this
niceness."""
_PACKAGE = "mesocosm.servers.google_sheet.store"
# The package of the store is put in place without its content: of the tables the process needs nothing, and
# what they import takes longer than all the rest.
_START = f"""
import sys, types
package = types.ModuleType({_PACKAGE!r})
package.__path__ = [sys.argv[1]]
sys.modules[{_PACKAGE!r}] = package
from {_PACKAGE}.engine.worker import main
main()
"""


class Gone(Exception):
    """The process ended, by a formula that wanted more memory than there is, or by a fault of its own."""


class _Process:
    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin with nothing held."""
        folder = Path(__file__).parents[1]
        self.popen = subprocess.Popen(
            [sys.executable, "-c", _START, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RUST_BACKTRACE": "0"},
        )
        self.states: set[str] = set()
        self.gives_way = False
        self.used = False
        """Whether something was asked of it."""
        self.owed = b""
        """The request whose answer is still to come, and nobody waits for it any more."""
        self.asked_at = self._before = 0.0

    def ask(self, request: bytes) -> Any:
        """The answer to a request. Raises ``Gone``, and ``Overdue`` when the time of the call is up."""
        if self.owed:
            line, owed, self.owed = self._line(), self.owed, b""
            if owed == request:
                return orjson.loads(line)
        assert self.popen.stdin
        try:
            self.popen.stdin.write(request + b"\n")
            self.popen.stdin.flush()
        except OSError:
            raise Gone from None
        self.owed, self.asked_at, self._before = request, perf_counter(), processor_seconds(self.popen.pid)
        line = self._line()
        self.owed = b""
        return orjson.loads(line)

    def _line(self) -> bytes:
        assert self.popen.stdout
        descriptor = self.popen.stdout.fileno()
        parts: list[bytes] = []
        while True:
            deadlines.check()
            ready, _, _ = select.select([descriptor], [], [], 0.005)
            if not ready:
                if not self.gives_way and self.worked() > _PATIENCE:
                    self.give_way()
                continue
            part = os.read(descriptor, 1 << 20)
            if not part:
                raise Gone
            parts.append(part)
            if part.endswith(b"\n"):
                return b"".join(parts)

    def worked(self) -> float:
        """Seconds of a processor that it has had for what it was asked last."""
        return max(0.0, processor_seconds(self.popen.pid) - self._before)

    def give_way(self) -> None:
        """Compute behind all others from here on: its rank cannot be raised again."""
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self.popen.pid, _RANK)
        self.gives_way = True

    def kill(self) -> None:
        """End what it does; who waits for its answer is told."""
        self.popen.kill()

    def end(self) -> None:
        """End the process."""
        self.popen.kill()
        self.popen.wait()
        for stream in (self.popen.stdin, self.popen.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()


class Processes:
    """Those of one server; each is used by one call at a time."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._places = Places(_MOST, _SLOW)
        self._free: list[_Process] = []
        self._count = 0
        self._lock = threading.Lock()
        self._process_id = os.getpid()

    def compute(
        self, whom: str, request: dict[str, Any], whole: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """What a spreadsheet's formulas are after edits.

        ``changed`` are cells with values, ``gone`` those that hold none any more; ``whole`` says whether the
        former are all that there are.

        Args:
            whom: The episode.
            request: ``before`` and ``after`` (states), ``edits``, ``now``, ``seed``.
            whole: Called for the spreadsheet's content (after the edits), where no process has it.
        """
        if importlib.util.find_spec("formualizer") is None:
            raise MissingExtra("Formulas in spreadsheets", "sheets")
        if self._process_id != os.getpid():  # a fork has the processes of its parent, which it must not use
            self._begin()
        while True:
            place = self._places.take(whom)
            try:
                return self._computed(place, request, whole)
            except TakenBack:
                continue
            finally:
                self._places.release(place)

    def _computed(
        self, place: Place, request: dict[str, Any], whole: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        process = self._taken(request, fresh=place.gives_way)
        before = processor_seconds(process.popen.pid)
        place.worked = lambda: max(0.0, processor_seconds(process.popen.pid) - before)
        place.end = process.kill
        try:
            answer = self._answered_once_more(place, process, request, whole)
        except Gone:
            self._drop(process)
            if place.taken_back:
                raise TakenBack from None
            raise Invalid(
                "The formulas of the spreadsheet need more memory than they may have; nothing was changed.",
                code="INVALID_ARGUMENT",
            ) from None
        except deadlines.Overdue:
            # The same call is made again where it may take longer.
            keep = not process.owed or perf_counter() - process.asked_at < 1
            self._give_back(place, process) if keep else self._drop(process)
            raise
        except BaseException:
            self._drop(process)
            raise
        if "refused" not in answer:
            process.states.add(request["after"])
        self._give_back(place, process)
        if "refused" in answer:
            raise Invalid(
                "The formulas of the spreadsheet take more computing than they may; nothing was changed.",
                code="INVALID_ARGUMENT",
            )
        return answer

    def _answered_once_more(
        self,
        place: Place,
        process: _Process,
        request: dict[str, Any],
        whole: Callable[[], dict[str, Any]],
    ) -> dict[str, Any]:
        """The answer; from a process begun anew where one ends that had been asked for other things before.

        What it held for others, or what another call did not wait for, may have been what ended it.
        """
        if process.used:
            with contextlib.suppress(Gone):
                return self._answered(process, request, whole)
            if place.taken_back:
                raise Gone
            process.end()
            process.start()
        process.used = True
        return self._answered(process, request, whole)

    def _answered(
        self, process: _Process, request: dict[str, Any], whole: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        if request["before"] in process.states:
            answer = process.ask(orjson.dumps(request))
            process.states.discard(request["before"])
            if "missing" not in answer:
                return {**answer, "whole": False}
        deadlines.expect(_SLOW)
        return {**process.ask(orjson.dumps({**request, **whole(), "edits": []})), "whole": True}

    def _taken(self, request: dict[str, Any], *, fresh: bool) -> _Process:
        """A process that nobody uses, best one that is at work on the same request, or holds the state; if a
        ``fresh`` one is wanted, no other."""
        state, after = request["before"], b'"after":%b' % orjson.dumps(request["after"])
        with self._lock:
            for fits in (
                lambda one: after in one.owed,
                lambda one: state in one.states and not one.owed,
                lambda one: not one.owed and not fresh,
            ):
                for process in filter(fits, self._free):
                    self._free.remove(process)
                    return process
            deadlines.expect(_SLOW)
            if self._count >= _MOST:
                # All that nobody uses are at work on what nobody waits for.
                self._free.pop(0).end()
                self._count -= 1
            self._count += 1
        try:
            return _Process()
        except BaseException:
            with self._lock:
                self._count -= 1
            raise

    def _give_back(self, place: Place, process: _Process) -> None:
        if self._places.finish(place) and not process.gives_way:
            with self._lock:
                # One that owes an answer is busy, though nobody waits for it.
                if process.owed or sum(not one.owed for one in self._free) < _RESTING:
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


processes = Processes()
atexit.register(processes.close)
