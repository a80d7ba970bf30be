"""Garbage collection of our processes: imports create a million objects that all stay, so collecting then is
waste.
"""

from __future__ import annotations

import atexit
import gc
import sys

_YOUNG = 10_000
"""So many new objects (Python: 700) are looked through at a time."""


def look_rarely() -> None:
    """For a process of our own, before it loads the rest.

    What is there at its end goes with it: to look through it once more took a third of the time of a short
    command.
    """
    gc.set_threshold(_YOUNG, 10, 10)
    atexit.register(gc.freeze)


# Garbage collection of a process that serves: what it has loaded stays, and is not gone through again.
#
# A full collection holds up everybody while it looks at every object, and the modules of all services have
# a quarter of a million of them: that takes a sixth of a second, whenever a call makes enough new ones.

_loaded = 0
_MANY = 100
"""So many modules are worth it; what agents send loads single ones, such as a mail in a rare charset."""


def leave_modules_out() -> None:
    """Leave out of collections whatever has been loaded since this was last asked for."""
    global _loaded
    if len(sys.modules) >= _loaded + _MANY:
        _loaded = len(sys.modules)
        gc.collect()
        gc.freeze()
