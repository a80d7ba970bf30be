"""Dispatch of calls: on the event loop while that delays nobody, else in a thread."""

# Most calls are quicker than handing them to a thread, so they are tried on the event loop first (decisions
# 030 and 103).

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from mesocosm.services.outcomes import Outcome
from mesocosm.services.service import Action
from mesocosm.services.world import World
from mesocosm.worlds.deadlines import QUICK, Overdue
from mesocosm.worlds.limits import settings
from mesocosm.worlds.shares import Shares

T = TypeVar("T")

MAX_THREADS = 256
"""Calls that may be at work in threads, beside code: an episode has one, so this many episodes."""
_LARGE = 100_000
"""Characters of arguments that take a while to look at."""
_MANY = 4_000
"""Values in arguments that take a while to look at, however they are nested."""


async def take_turn(
    world: World, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
) -> Outcome:
    """Make a call on a world while holding its turn.

    Most take less than a thread would cost. One that takes longer is undone and made again in a thread.
    """
    call = partial(world.calls.make, service, action, arguments, idempotency_key=key)
    if not (action.threaded or action.runs_code or _is_large(arguments)):
        try:
            return call(patience=QUICK)
        except Overdue:
            pass
    # Not cancellable: a call that has begun is finished and journalled even if the client has gone.
    if action.runs_code:
        async with code_places().place(str(world.path)):
            return await anyio.to_thread.run_sync(call, limiter=_code_threads.get())
    return await anyio.to_thread.run_sync(call, limiter=_calls.get())


def _is_large(arguments: Mapping[str, Any]) -> bool:
    """True if even parsing the arguments takes long. Cheap for small ones."""
    values, characters = list(arguments.values()), 0
    # The list grows while it is walked through: a structure may be nested deeper than functions may call.
    for value in values:
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, list):
            characters += len(value)
            values.extend(value[: _MANY + 1])
        elif isinstance(value, dict):
            characters += len(value)
            values.extend(value if len(value) > _MANY else value.values())
        if characters > _LARGE or len(values) > _MANY:
            return True
    return False


class _OfLoop(Generic[T]):
    """A value per event loop."""

    def __init__(self, name: str, make: Callable[[], T]) -> None:
        self._kept: RunVar[T] = RunVar(name)
        self._make = make

    def get(self) -> T:
        """Return the running event loop's value."""
        try:
            return self._kept.get()
        except LookupError:
            self._kept.set(self._make())
            return self._kept.get()


def call_threads() -> anyio.CapacityLimiter:
    """Of calls that take longer."""
    return _calls.get()


def code_places() -> Shares:
    """Places of calls that run code, by episodes in turn."""
    return _code.get()


_calls = _OfLoop("call_limiter", lambda: anyio.CapacityLimiter(MAX_THREADS))
_code = _OfLoop("code_places", lambda: Shares(settings().sandbox_jobs))
_code_threads = _OfLoop("code_threads", lambda: anyio.CapacityLimiter(settings().sandbox_jobs))
