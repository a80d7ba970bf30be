"""Threads that compute rest while others are served."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable

from mesocosm.worlds import cpu_yield, deadlines


def _rests(work: Callable[[], object]) -> int:
    """How often a thread gives its processor away while it works for a tenth of a second: the least of five
    times, for a thread that has to wait for others gives it away, too."""
    return min(_given_away(work) for _ in range(5))


def _given_away(work: Callable[[], object]) -> int:
    counted: list[int] = []

    def run() -> None:
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        end = time.perf_counter() + 0.1
        while time.perf_counter() < end:
            work()
        counted.append(resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return counted[0]


def _asked() -> None:
    deadlines.check()


def test_who_computes_rests_only_while_requests_come_in_and_never_at_the_door() -> None:
    def busy() -> None:
        # As if the thread that answers had been asked a moment ago.
        cpu_yield._Door.ident, cpu_yield._Door.last = 0, time.perf_counter()
        _asked()

    def at_the_door() -> None:
        cpu_yield.request_came()
        _asked()

    cpu_yield._Door.last = float("-inf")
    idle = _rests(_asked)
    assert _rests(busy) > idle + 2
    assert _rests(at_the_door) <= idle + 2
