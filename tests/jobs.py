"""Jobs for tests of workers: functions that another process can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def squared(number: int) -> int:
    """A job that comes to something; small numbers take longest."""
    time.sleep(0.02 / (1 + number))
    return number * number


def killed_once(mark: Path) -> str:
    """A job whose worker is killed, as by want of memory, unless one was before."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark.name


def killed(_: object) -> None:
    """A job whose worker is always killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def refused(number: int) -> None:
    """A job that goes wrong."""
    raise ZeroDivisionError(f"job {number}")
