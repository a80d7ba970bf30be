"""Threads that compute rest while others are served."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from mesocosm.worlds import deadlines


@pytest.fixture
def rests_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], int]:
    """Count the rests of a thread that works for a fiftieth of a second of a processor."""
    rests: list[tuple[int, float]] = []

    def sleep(seconds: float) -> None:
        rests.append((threading.get_ident(), seconds))
        time.sleep(seconds)

    monkeypatch.setattr(deadlines, "sleep", sleep)

    def rests_of(work: Callable[[], object]) -> int:
        counted: list[int] = []

        def run() -> None:
            end = time.thread_time() + 0.02
            while time.thread_time() < end:
                work()
            own = [seconds for ident, seconds in rests if ident == threading.get_ident()]
            assert all(0 < seconds <= 0.02 for seconds in own)
            counted.append(len(own))

        rests.clear()
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return counted[0]

    return rests_of


def _asked() -> None:
    deadlines.check()


def test_who_computes_rests_only_while_requests_come_in_and_never_at_the_door(
    rests_of: Callable[[Callable[[], object]], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines._Door, "ident", None)
    monkeypatch.setattr(deadlines._Door, "last", float("-inf"))

    def busy() -> None:
        # As if the thread that answers had been asked a moment ago.
        deadlines._Door.ident, deadlines._Door.last = 0, time.perf_counter()
        _asked()

    def at_the_door() -> None:
        deadlines.request_came()
        _asked()

    assert rests_of(_asked) == 0
    assert rests_of(busy) > 2
    assert rests_of(at_the_door) == 0


def test_what_waited_in_one_event_loop_does_not_bar_the_next() -> None:
    """Connections of a server that has ended may still be known when another one begins."""
    kept: list[deadlines.Pauses] = []

    async def several() -> None:
        async def one() -> None:
            pauses = deadlines.Pauses(deadlines.lane_of("strangers"))
            kept.append(pauses)
            for _ in range(3):
                end = time.perf_counter() + 0.002
                while time.perf_counter() < end:
                    pass
                await pauses.take()

        # Only who has to wait for another's turn binds it to the loop.
        await asyncio.gather(one(), one(), one())

    asyncio.run(several())
    asyncio.run(several())
    assert kept[0].lane is kept[1].lane is not kept[3].lane
