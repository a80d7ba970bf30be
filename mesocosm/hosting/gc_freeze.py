"""Garbage collection of a process that serves: what it has loaded stays, and is not gone through again.

A full collection holds up everybody while it looks at every object, and the modules of all services have a
quarter of a million of them: that takes a sixth of a second, whenever an agent's call makes enough new ones.
"""

from __future__ import annotations

import gc
import sys

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
