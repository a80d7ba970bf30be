"""Scheduling of threads that answer requests."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def take_turns() -> None:
    """Let this thread wait for its turn where all processors are at work, in place of pushing others aside.

    Until then more requests have come, and are answered together. Woken for each of them alone, it finds the
    processor's caches full of what others do, which costs more than the request. What it starts is as usual.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH | os.SCHED_RESET_ON_FORK, os.sched_param(0))
