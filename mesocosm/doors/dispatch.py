"""Dispatch of calls to threads: the event loop reads requests and writes answers, a thread makes the call.

Calls are ordinary blocking code (SQLite, files, parsers), so none of them runs on the event loop, which
serves every connection. An episode has one call at a time (its lock is the caller's), different episodes
have theirs at once. A call that has a thread ends at its deadline (``worlds/deadlines.py``), and one that
computes for long lets the event loop go first (``worlds/deadlines.py``).

A call that waits for one of the places for statements, formulas or large files does not count as one of the
``MAX_THREADS``: however many episodes wait there, those who ask for something else are served.

Code of agents runs in sandboxes, for minutes if need be, and has threads of its own, as many as there may
be sandboxes; ``worlds/shares.py`` says whose turn it is. So nobody who only reads mail waits for a sandbox.

Until decision 103 a call was made on the event loop for 20 ms, undone if it had not ended, and made once
more in a thread, which saved short calls some 0.1 ms for the thread. What to measure:
``benchmarks/tool_call.py`` and ``benchmarks/hostile_neighbours.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from mesocosm.services.calls import Outcome
from mesocosm.services.service import Action
from mesocosm.services.world import World
from mesocosm.worlds.limits import settings
from mesocosm.worlds.places import whoever_waits
from mesocosm.worlds.shares import Shares

T = TypeVar("T")

MAX_THREADS = 256
"""Calls that may be at work in threads, beside code and those that wait for places: an episode has one, so
this many episodes."""


async def take_turn(
    world: World, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
) -> Outcome:
    """Make a call on a world while holding its turn."""
    call = partial(world.calls.make, service, action, arguments, idempotency_key=key)
    # Not cancellable: a call that has begun is finished and journalled even if the client has gone.
    if action.runs_code:
        async with code_places().place(str(world.path)):
            return await anyio.to_thread.run_sync(call, limiter=_code_threads.get())
    threads, loop = _calls.get(), asyncio.get_running_loop()

    def wait(more: int) -> None:
        """Lend another call the thread of one that waits for a place, until it goes on."""
        with suppress(RuntimeError):  # the loop has ended, and the server with it
            loop.call_soon_threadsafe(_lend, threads, more)

    token = whoever_waits.set(wait)
    try:
        return await anyio.to_thread.run_sync(call, limiter=threads)
    finally:
        whoever_waits.reset(token)


def _lend(threads: anyio.CapacityLimiter, more: int) -> None:
    threads.total_tokens += more


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
    """Return the threads of calls that run no code."""
    return _calls.get()


def code_places() -> Shares:
    """Places of calls that run code, by episodes in turn."""
    return _code.get()


_calls = _OfLoop("call_limiter", lambda: anyio.CapacityLimiter(MAX_THREADS))
_code = _OfLoop("code_places", lambda: Shares(settings().sandbox_jobs))
_code_threads = _OfLoop("code_threads", lambda: anyio.CapacityLimiter(settings().sandbox_jobs))
