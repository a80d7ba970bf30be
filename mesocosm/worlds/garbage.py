"""When a process of ours looks for garbage: loading it makes a million objects, which all stay."""

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
