"""Garbage collection of our processes: imports create a million objects that all stay, so collecting then is
waste.
"""

from __future__ import annotations

import atexit
import gc

_YOUNG = 10_000
"""So many new objects (Python: 700) are looked through at a time."""


def look_rarely() -> None:
    """For a process of our own, before it loads the rest.

    What is there at its end goes with it: to look through it once more took a third of the time of a short
    command.
    """
    gc.set_threshold(_YOUNG, 10, 10)
    atexit.register(gc.freeze)
