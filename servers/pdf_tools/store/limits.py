"""Keeping hostile files from taking the server's time and memory."""

from __future__ import annotations

import ctypes
import logging
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pypdf
from pypdf.errors import DependencyError, PyPdfError

from mesocosm.errors import Invalid

SECONDS = 30.0
"""What one call may take."""

# Remarks about damaged files are of no use on the console of a server.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

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
"""What reading a damaged or hostile file may raise in pypdf."""


class _TimeIsUp(BaseException):
    """Raised into the thread that took too long; not an ``Exception``, which pypdf would swallow."""


@contextmanager
def reading(name: str, seconds: float = SECONDS) -> Iterator[None]:
    """Refuse a file that cannot be read, or that takes more time or memory than a file may."""
    try:
        with pypdf.apply_configuration(_LIMITS), _time_limit(seconds):
            yield
    except _TimeIsUp:
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
    thread = ctypes.c_ulong(threading.get_ident())
    finished, raised = threading.Event(), threading.Event()
    raising = threading.Lock()

    def watch() -> None:
        wait = seconds
        while not finished.wait(wait):
            with raising:
                if not finished.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_TimeIsUp))
                    raised.set()
            wait = 1.0

    watcher = threading.Thread(target=watch, name="pdf time limit", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with raising:
            finished.set()
        # What was raised too late must not hit whatever comes next. To take back what was never raised would
        # let the interpreter look for it from then on, at every jump and call.
        if raised.is_set():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)
