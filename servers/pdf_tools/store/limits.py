"""Keeping hostile files from taking the server's time and memory."""

from __future__ import annotations

import ctypes
import logging
import os
import struct
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from time import monotonic, perf_counter, sleep
from types import FrameType
from typing import Any

import pypdf
from pypdf import filters
from pypdf.errors import DependencyError, LimitReachedError, PyPdfError
from pypdf.generic import DictionaryObject

from mesocosm.errors import Invalid
from mesocosm.worlds import deadlines

SECONDS = 30.0
"""Time limit for reading without a call's deadline, as during judging."""

# Remarks about damaged files are of no use on the console of a server.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

_MOST_GROUPS = 2_000_000
"""Of four bytes that a stream in ASCII85 may hold, for each of which Python makes an object."""


_ASCII85 = filters.ASCII85Decode


class _BoundedASCII85(_ASCII85):
    """The one filter of text that pypdf does not bound, though a letter of it may stand for four bytes."""

    @staticmethod
    def decode(data: str | bytes, decode_parms: DictionaryObject | None = None, **kwargs: Any) -> bytes:
        """As pypdf does."""
        given = data.encode() if isinstance(data, str) else data
        if given.count(b"z") + len(given) // 5 > _MOST_GROUPS:
            raise LimitReachedError("a stream in ASCII85 is too long")
        return _ASCII85.decode(given, decode_parms, **kwargs)


filters.ASCII85Decode = _BoundedASCII85  # type: ignore[misc]  # for the whole process: nobody reads more

_LIMITS = pypdf.Configuration().with_overwrites(
    maximum_declared_stream_length=32_000_000,
    array_based_stream_maximum_output_length=16_000_000,
    jbig2_maximum_output_length=16_000_000,
    lzw_maximum_output_length=16_000_000,
    run_length_maximum_output_length=16_000_000,
    zlib_maximum_output_length=32_000_000,
    stream_decoding_work_maximum_length=64_000_000,
    stream_parsing_work_maximum_count=1_000_000,
    page_tree_maximum_entries=20_000,
    jbig2dec_binary=None,
)

_PARSE_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    DependencyError,
    EOFError,
    LookupError,
    PyPdfError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""Exceptions of pypdf over a damaged or hostile file."""


class _TimeIsUp(BaseException):
    """Raised into the thread that took too long; not an ``Exception``, which pypdf would swallow."""


@contextmanager
def reading(name: str, seconds: float = SECONDS) -> Iterator[None]:
    """Refuse a file that cannot be read, or that takes more time or memory than a file may.

    Ends at the deadline of a call, which may read many pages of many files.
    """
    deadlines.check()
    until = deadlines.moment()
    left = inf if until is None else until - perf_counter()
    try:
        with pypdf.apply_configuration(_LIMITS), _time_limit(min(seconds, left)):
            yield
    except _TimeIsUp:
        deadlines.check()
        raise Invalid(f"{name} takes too long to read: more than {seconds:g} seconds.") from None
    except MemoryError:
        raise Invalid(f"{name} takes too much memory to read.") from None
    except _PARSE_ERRORS:
        raise Invalid(
            f"{name} is not a valid PDF file, or it is damaged, encrypted or too complex."
        ) from None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt this thread's Python code when the time is up, again and again until it gives in."""
    timed = _Timed(threading.get_ident(), monotonic() + seconds)
    _WATCH.add(timed)
    try:
        yield
    finally:
        with suppress(_TimeIsUp):  # which may come while it waits for the lock
            _WATCH.remove(timed)
        timed.over = True
        if timed.raised:
            _take_what_is_left()


@dataclass(eq=False)
class _Timed:
    """A thread that reads, and until when."""

    thread: int
    until: float
    raised: bool = False
    over: bool = False
    """True once it has ended in any way."""

    delays: int = 0
    """Number of extensions because it was outside of pypdf's own code."""

    def interrupt(self) -> None:
        """Raise into the thread; retry shortly if it is in code that must not be interrupted.

        The garbage collector may run anybody's finalizers in the thread that reads. What is raised there
        is swallowed, and leaves open what they would have closed.
        """
        frames = list(_frames(self.thread))
        inside = bool(frames) and frames[0].f_globals.get("__name__", "").partition(".")[0] == "pypdf"
        if inside or (
            self.delays >= _MOST_DELAYS and all(frame.f_code.co_name != "__del__" for frame in frames)
        ):
            self.until, self.delays, self.raised = monotonic() + 1, 0, True
            _raise(self.thread, _TimeIsUp)
        else:
            self.until, self.delays = monotonic() + _DELAY, self.delays + 1


class _Watch:
    """One thread that looks after all that read: to start one for each takes longer than most files do."""

    def __init__(self) -> None:
        self._reading: set[_Timed] = set()
        self._changed = threading.Condition()
        self._process = 0

    def add(self, timed: _Timed) -> None:
        with self._changed:
            if self._process != os.getpid():  # a fork has no threads but the one that made it
                self._process, self._reading = os.getpid(), set()
                threading.Thread(target=self._run, name="pdf time limit", daemon=True).start()
            self._reading.add(timed)
            if len(self._reading) == 1:
                self._changed.notify()

    def remove(self, timed: _Timed) -> None:
        with self._changed:
            self._reading.discard(timed)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._reading = {one for one in self._reading if not one.over}
                while not self._reading:
                    self._changed.wait()
                first = min(self._reading, key=lambda one: one.until)
                left = first.until - monotonic()
                if left <= 0:
                    first.interrupt()
            sleep(min(max(left, 0.0), _LOOKS))


_LOOKS = 0.05
"""Seconds between two looks at who reads."""
_DELAY = 0.005
"""Seconds until a thread is looked at again that was not in pypdf's own code when its time was up."""
_MOST_DELAYS = 100
"""After so many it is interrupted there too, as where a file keeps one of pypdf's libraries busy."""
_WATCH = _Watch()


def _frames(thread: int) -> Iterator[FrameType]:
    """Those of a thread, from where it is outwards."""
    frame = sys._current_frames().get(thread)
    while frame:
        yield frame
        frame = frame.f_back


def _raise(thread: int, what: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(what))


def _take_what_is_left() -> None:
    """Let this thread be interrupted once more, so that nothing raised too late hits whatever comes next.

    To take it back (``None`` in its place) would leave the interpreter looking for something to raise, at
    every jump and call of all threads, for as long as it lives; with a trace function, Python 3.11 does not
    get beyond the first.
    """
    with suppress(_TimeIsUp):
        _raise(threading.get_ident(), _TimeIsUp)
        while True:
            pass
