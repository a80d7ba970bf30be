"""Runs a program whose asyncio clock jumps from one wake-up to the next instead of waiting.

As a script, which needs nothing of Mesocosm: ``python virtual_time.py FOLDER`` runs ``FOLDER/main.py``.
"""

from __future__ import annotations

import asyncio
import runpy
import sys


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits; for programs that wait for nothing but time."""

    def __init__(self) -> None:
        super().__init__()
        self._moment = 0.0

    def time(self) -> float:
        """Seconds since the loop was made, as far as the program can tell."""
        return self._moment

    def _run_once(self) -> None:
        # What asyncio does once for all that is ready; before that, time passes if nothing is.
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self._moment = max(self._moment, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


class VirtualTimePolicy(asyncio.DefaultEventLoopPolicy):
    """Makes ``asyncio.run`` use that loop."""

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """A loop at moment 0."""
        return VirtualTimeLoop()


if __name__ == "__main__":
    asyncio.set_event_loop_policy(VirtualTimePolicy())
    sys.path.insert(0, sys.argv[1])
    runpy.run_path(f"{sys.argv[1]}/main.py", run_name="__main__")
