"""Places for work that may take long, shared fairly among the episodes that it is done for.

There are so many at a time, since each takes memory. Work is long when a processor has worked on it for more
than a moment, or when it is of an episode that has used much; what has to wait for a processor is not long
for that. Three of four places may be held by long work; the rest is for what is short, or has just begun.
While somebody waits, long work gives way to all other. When more of it is held than may be, and something
waits that has not begun yet, some of it is ended, to be begun anew when there is a place for long work: so
everything has its first moment soon, also of episodes of which nothing is known. When somebody waits who has
used much less than another one that holds a place, the work of whoever has used most is ended. So any number
of episodes that ask for endless things keep nobody waiting who asks for little.
"""

# Work shows only by being done whether it is long, as in schedulers with feedback (decision 107).

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import clock_gettime, perf_counter
from typing import Protocol

from mesocosm.worlds import deadlines

MOMENT = 0.02
"""Seconds of a processor after which work is long."""
_LITTLE, _SOME = 0.5, 0.15
"""Seconds that an episode may have used whose work begins among what is short; the latter, if it has used
half of what any other one has that is here."""
_TWICE, _MARGIN = 2, 1.0
"""Factor and margin in seconds by which a worker must have used more than a waiting one to lose its place;
the margin is smaller if the waiting one used little."""
_AT_REST = 0.05
"""Weight of a second without processor use."""
_HALF = 10.0
"""Seconds after which half of what an episode has used is forgotten."""
_OF_A_PROCESS = 2
"""Bits that turn an inverted process id into its clock's number (as clock_getcpuclockid does)."""
_KNOWN = 1_000
"""Episodes whose use is remembered; of more, those that used most."""
_LONGEST = 60.0
"""Seconds after which who waits looks whether it still should, though nobody said anything."""

whoever_waits: ContextVar[Callable[[int], None]] = ContextVar("whoever_waits", default=lambda more: None)
"""Told by a thread that begins to wait for a place (1), and that has ended to (-1)."""


def processor_seconds(process: int) -> float:
    """Seconds of a processor that a process has had."""
    try:
        return clock_gettime(~process << 3 | _OF_A_PROCESS)
    except OSError:  # it has ended
        return 0.0


class TakenBack(Exception):
    """Another worker got the place; the work has to be repeated."""


class Worker(Protocol):
    """Process that does the work of a place."""

    def worked(self) -> float:
        """Seconds of a processor that the work has taken."""
        ...

    def give_way(self) -> None:
        """Have all others computed first from here on."""
        ...

    def kill(self) -> None:
        """End the work at once."""
        ...


@dataclass(eq=False)
class Place:
    """One that is held."""

    whom: str
    is_long: bool
    since: float
    is_behind: bool = False
    """True if others have work that comes first, from the start."""
    worker: Worker | None = None
    """The process that does the work; without one it is never ended for others."""
    taken_back: bool = False

    _used: float = 0.0

    def used(self, now: float) -> float:
        """Return what it counts for: seconds of a processor, and a little for a place held without."""
        if self.worker is not None:
            # A process that has ended may not tell any more.
            self._used = max(self._used, self.worker.worked(), _AT_REST * (now - self.since))
        return self._used


@dataclass(eq=False)
class _Waiter:
    whom: str
    since: float
    is_long: bool
    """True if its work was ended for others, once it was long."""
    place: Place | None = None
    called: threading.Event = field(default_factory=threading.Event)
    """Set when it has a place, or is the one that looks for all."""


@contextmanager
def _waiting() -> Iterator[None]:
    tell = whoever_waits.get()
    tell(1)
    try:
        yield
    finally:
        tell(-1)


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

        ``again``: for work that was ended for others.
        """
        return self._taken(_Waiter(whom, perf_counter(), again))

    def finish(self, place: Place) -> bool:
        """From here on the work is not ended for others; whether it was not ended before."""
        with self._lock:
            place.used(perf_counter())
            place.worker = None
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
            if waiter.place is None:
                with _waiting():
                    return self._waited(waiter)
            return waiter.place
        except BaseException:
            with self._lock:
                if waiter.place is None:
                    self._leave(waiter)
            if waiter.place is not None:
                self.release(waiter.place)
            raise

    def _waited(self, waiter: _Waiter) -> Place:
        while waiter.place is None:
            # Nobody waits where everybody would.
            deadlines.check()
            left = min(_LONGEST, (deadlines.moment() or float("inf")) - perf_counter())
            with self._lock:
                # One looks for all, since hundreds may wait.
                looks = self._waiting[-1:] == [waiter]
            waiter.called.wait(min(left, self._moment / 2) if looks else left)
            with self._lock:
                waiter.called.clear()
                if looks:
                    self._serve()
        return waiter.place

    def _leave(self, waiter: _Waiter) -> None:
        self._waiting.remove(waiter)
        if self._waiting:
            self._waiting[-1].called.set()

    def _serve(self) -> None:
        """Give free places to those waiting who used least, and keep one place free."""
        if not self._waiting:
            return
        now = perf_counter()
        here = {one.whom for one in self._held} | {one.whom for one in self._waiting}
        uses = {whom: self._use(whom, now) for whom in sorted(here)}
        little = min(_LITTLE, max(_SOME, max(uses.values()) / 2))
        while self._waiting:
            # What was ended is a matter of the kernel, whenever that comes to it.
            held = [one for one in self._held if not one.taken_back]
            long = [one for one in held if one.is_long or one.used(now) > self._moment]
            light = [one for one in self._waiting if not one.is_long and uses[one.whom] <= little]
            if len(held) < self._most and len(self._held) < 2 * self._most:
                fit = light or (self._waiting if len(long) < self._for_long else [])
                if fit:
                    chosen = min(fit, key=lambda one: uses[one.whom])
                    is_crowded = len(held) + len(self._waiting) > self._for_long
                    self._give(chosen, now, is_long=not light, is_crowded=is_crowded)
                    continue
            ended = self._to_end(held, long, light, uses, now)
            if ended is None or len(self._held) >= 2 * self._most:
                for one in long:
                    if one.worker is not None:
                        one.worker.give_way()
                return
            assert ended.worker
            ended.taken_back = True
            ended.worker.kill()

    def _give(self, waiter: _Waiter, now: float, *, is_long: bool, is_crowded: bool) -> None:
        self._leave(waiter)
        waiter.place = Place(waiter.whom, is_long, now, is_behind=is_long and is_crowded)
        self._held.append(waiter.place)
        waiter.called.set()

    def _to_end(
        self,
        held: list[Place],
        long: list[Place],
        light: list[_Waiter],
        uses: dict[str, float],
        now: float,
    ) -> Place | None:
        """The work to end for somebody who waits, if any.

        That of the heaviest user, if somebody waits who used much less: for work that has just begun, while
        there is more long work than may be, and for whoever has waited for more than a moment. Else, of more
        long work than may be, what has worked least: it is begun again behind the rest.
        """
        able = [one for one in held if one.worker is not None]
        over = [one for one in long if one.worker is not None] if len(long) > self._for_long else []
        asking = light if light and over else [one for one in self._waiting if now - one.since > self._moment]
        if not able or not asking:
            return None
        greatest = max(able, key=lambda one: uses[one.whom])
        least = min(asking, key=lambda one: uses[one.whom])
        margin = _SOME if least in light else _MARGIN
        if uses[greatest.whom] > _TWICE * uses[least.whom] + margin:
            return greatest
        return min(over, key=lambda one: one.used(now), default=None) if light else None

    def _past_use(self, whom: str, now: float) -> float:
        seconds, then = self._used.get(whom, (0.0, now))
        return seconds * math.exp2((then - now) / _HALF)

    def _use(self, whom: str, now: float) -> float:
        return self._past_use(whom, now) + sum(one.used(now) for one in self._held if one.whom == whom)
