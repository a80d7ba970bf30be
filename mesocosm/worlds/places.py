"""Places for work that may take long, shared fairly among the episodes that it is done for.

There are so many at a time, since each takes memory. Three of four may be held by work that has lasted longer
than a moment; the rest is for work that is short, or has just begun. When somebody waits for one of those and
all are taken, the work of whoever has used most is ended, to be begun anew when there is a place for long
work; these, too, are taken from who has used much more than the one that waits. So any number of episodes
that ask for endless things keep nobody waiting who asks for little.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import clock_gettime, perf_counter

from mesocosm.worlds import deadlines

MOMENT = 0.1
"""Seconds after which work is long."""
_SHARE = 3.0
"""How many times as long as a processor worked for it work counts at most."""
_LITTLE = 0.5
"""Seconds that an episode may have used whose work is begun anew among what is short."""
_MUCH = 5.0
"""Seconds by which the double has to be exceeded to count as much more."""
_HALF = 10.0
"""Seconds after which half of what an episode has used is forgotten."""
_OF_A_PROCESS = 2
"""With the id of a process above it, inverted, the number of its clock (as of clock_getcpuclockid)."""
_KNOWN = 1_000
"""Episodes whose use is remembered; of more, those that used most."""


def processor_seconds(process: int) -> float:
    """Seconds of a processor that a process has had."""
    try:
        return clock_gettime(~process << 3 | _OF_A_PROCESS)
    except OSError:  # it has ended
        return 0.0


class TakenBack(Exception):
    """The place went to somebody who waited; what was done there is to be done again."""


@dataclass(eq=False)
class Place:
    """One that is held."""

    whom: str
    is_long: bool
    since: float
    end: Callable[[], None] | None = None
    """How to end the work at once; without, it is not ended for others."""
    worked: Callable[[], float] | None = None
    """Seconds of a processor that the work has taken."""
    taken_back: bool = False

    _used: float = 0.0

    def used(self, now: float) -> float:
        """What it counts for: the seconds that have passed, but for those when it waited for a processor."""
        passed = now - self.since
        # A process that has ended may not tell any more.
        self._used = max(self._used, min(passed, _SHARE * self.worked()) if self.worked else passed)
        return self._used


@dataclass(eq=False)
class _Waiter:
    whom: str
    is_long: bool
    place: Place | None = None
    served: threading.Event = field(default_factory=threading.Event)


class Places:
    """So many places, for threads of this process."""

    def __init__(self, most: int, moment: float = MOMENT) -> None:
        self._most, self._moment = most, moment
        self._for_long = max(1, most - max(1, most // 4))
        self._lock = threading.Lock()
        self._held: list[Place] = []
        self._waiting: list[_Waiter] = []
        self._used: dict[str, tuple[float, float]] = {}
        """Seconds, and as of when."""

    def take(self, whom: str, *, again: bool = False) -> Place:
        """A place for an episode, as soon as there is one; raises ``Overdue``.

        ``again``: for work that was ended for the sake of others.
        """
        with self._lock:
            is_long = again and self._use(whom, perf_counter()) > _LITTLE
        return self._taken(_Waiter(whom, is_long))

    def finish(self, place: Place) -> bool:
        """From here on the work is not ended for others; whether it was not ended before."""
        with self._lock:
            place.end = None
            place.used(perf_counter())
            return not place.taken_back

    def release(self, place: Place) -> None:
        """Give a place back."""
        with self._lock:
            now = perf_counter()
            self._held.remove(place)
            self._used[place.whom] = (self._past_use(place.whom, now) + place.used(now), now)
            if len(self._used) > 2 * _KNOWN:
                most = sorted(self._used, key=lambda whom: self._past_use(whom, now), reverse=True)
                self._used = {whom: self._used[whom] for whom in most[:_KNOWN]}
            self._serve()

    def _taken(self, waiter: _Waiter) -> Place:
        with self._lock:
            self._waiting.append(waiter)
            self._serve()
        try:
            while waiter.place is None:
                # Nobody waits where everybody would.
                deadlines.expect(deadlines.QUICK)
                left = (deadlines.moment() or float("inf")) - perf_counter()
                waiter.served.wait(min(left, 1.0 if waiter.is_long else self._moment / 4))
                with self._lock:
                    self._serve()
        except BaseException:
            with self._lock:
                if waiter.place is None:
                    self._waiting.remove(waiter)
            if waiter.place is not None:
                self.release(waiter.place)
            raise
        return waiter.place

    def _serve(self) -> None:
        """Give the free places to those who wait and have used least; and see that there is a free one."""
        now = perf_counter()
        while self._waiting:
            long = [one for one in self._held if one.is_long or now - one.since > self._moment]
            if len(self._held) < self._most:
                room = len(long) < self._for_long
                fit = [one for one in self._waiting if room or not one.is_long]
                if fit:
                    self._give(min(fit, key=lambda one: self._use(one.whom, now)), now)
                    continue
            self._make_room(long, now)
            return

    def _give(self, waiter: _Waiter, now: float) -> None:
        self._waiting.remove(waiter)
        waiter.place = Place(waiter.whom, waiter.is_long, now)
        self._held.append(waiter.place)
        waiter.served.set()

    def _make_room(self, long: list[Place], now: float) -> None:
        """End what has used most, where it keeps short work waiting, or long work that has used much less."""
        able = [one for one in long if one.end is not None and not one.taken_back]
        leaving = sum(one.taken_back for one in self._held)
        if not able:
            return
        greatest = max(able, key=lambda one: self._use(one.whom, now))
        again = [self._use(one.whom, now) for one in self._waiting if one.is_long]
        begins = len(self._waiting) - len(again)
        is_full = len(self._held) >= self._most and len(long) > self._for_long
        is_greedy = bool(again) and self._use(greatest.whom, now) > 2 * min(again) + _MUCH
        if (is_full and leaving < begins) or (is_greedy and not leaving):
            greatest.taken_back = True
            assert greatest.end
            greatest.end()

    def _past_use(self, whom: str, now: float) -> float:
        seconds, then = self._used.get(whom, (0.0, now))
        return seconds * math.exp2((then - now) / _HALF)

    def _use(self, whom: str, now: float) -> float:
        return self._past_use(whom, now) + sum(one.used(now) for one in self._held if one.whom == whom)
