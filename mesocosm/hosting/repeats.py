"""Requests that are sent again under the same key: answered, not done again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio

from mesocosm.errors import UsageError

R = TypeVar("R")

_KEPT = 10_000
"""Keys that are remembered; the oldest are forgotten first."""


@dataclass
class _Request:
    """A request that bore a key."""

    asked: object
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: Any = None
    succeeded: bool = False


class Repeats:
    """Replies to requests with an idempotency key, for the lifetime of this process."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, _Request] = OrderedDict()

    async def once(self, key: str | None, asked: object, act: Callable[[], Awaitable[R]]) -> R:
        """Return the result of ``act``, or the earlier one for the same key.

        One that failed is done again. Raises ``UsageError`` for a key under which something else was asked.
        """
        if key is None:
            return await act()
        while found := self._requests.get(key):
            if found.asked != asked:
                raise UsageError(f"the Idempotency-Key {key!r} was used for another request")
            await found.done.wait()
            if found.succeeded:
                answer: R = found.answer
                return answer
        return await self._first(key, _Request(asked), act)

    async def _first(self, key: str, request: _Request, act: Callable[[], Awaitable[R]]) -> R:
        self._requests[key] = request
        try:
            answer = request.answer = await act()
            request.succeeded = True
            return answer
        finally:
            if not request.succeeded:
                del self._requests[key]
            request.done.set()
            self._forget()

    def _forget(self) -> None:
        while len(self._requests) > _KEPT:
            self._requests.popitem(last=False)
