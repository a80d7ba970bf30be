"""Sets the clock of Python in the sandbox to the world's time. Runs there, at the start of every interpreter.

The same program in the same state is to see the same times, whenever and however fast it runs. So its clock
starts at the world's time and goes by what the program does: a microsecond for each look at it, and the
length of each sleep. What measures durations (``time.monotonic``, ``time.perf_counter``) stays as it is.
"""

from __future__ import annotations

import gc
import os
import time
from typing import Any

_MICROSECOND = 1_000


def install(start: int) -> None:
    """Make ``start``, in seconds since 1970, the present."""
    import _datetime  # type: ignore[import-not-found]  # without the module above it, which takes time

    now = [start * 1_000_000_000]
    began = time.time()  # noqa: TID251 - the machine's clock is what is replaced here
    machine_localtime, machine_gmtime, machine_sleep = time.localtime, time.gmtime, time.sleep
    machine_strftime, machine_asctime = time.strftime, time.asctime

    def time_ns() -> int:
        now[0] += _MICROSECOND
        return now[0]

    def seconds() -> float:
        return time_ns() / 1e9

    def sleep(length: Any) -> None:
        machine_sleep(length)
        now[0] += int(length * 1e9)

    def shown(moment: Any) -> Any:
        if moment is None:
            return seconds()
        # A file that the program has just written bears the machine's time; archives keep it.
        return now[0] / 1e9 if began - 1 <= moment < began + 86_400 else moment

    time.time, time.time_ns, time.sleep = seconds, time_ns, sleep  # noqa: TID251
    time.localtime = lambda moment=None: machine_localtime(shown(moment))
    time.gmtime = lambda moment=None: machine_gmtime(shown(moment))
    time.ctime = lambda moment=None: machine_asctime(time.localtime(moment))
    time.asctime = lambda parts=None: machine_asctime(time.localtime() if parts is None else parts)
    time.strftime = lambda text, parts=None: machine_strftime(
        text, time.localtime() if parts is None else parts
    )

    def from_now(cls: Any, tz: Any = None) -> Any:
        return cls.fromtimestamp(seconds(), tz)

    def utc_from_now(cls: Any) -> Any:
        return cls.fromtimestamp(seconds(), _datetime.timezone.utc).replace(tzinfo=None)

    # The type itself stays the same one, for whoever compares types or uses it from C.
    [attributes] = gc.get_referents(_datetime.datetime.__dict__)
    attributes["now"] = classmethod(from_now)
    attributes["utcnow"] = classmethod(utc_from_now)


if "WORLD_TIME" in os.environ:
    install(int(os.environ["WORLD_TIME"]))
