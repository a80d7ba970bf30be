"""Time limits of agents, without the time spent waiting for the provider."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from inspect_ai.util import working_limit


async def in_time(seconds: float, do: Callable[[], Awaitable[object]]) -> bool:
    """Run a function with a time limit; true if it finished, false if it was stopped.

    The clock stands still while a free connection is waited for, or the next try of a request that the
    provider refused, cut off or broke down over.
    """
    broken: list[Exception] = []
    ended = False
    with working_limit(None) as clock:
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (left := seconds - clock.usage) > 0:
                    await anyio.sleep(left)
                group.cancel_scope.cancel()

            group.start_soon(watch)
            try:
                await do()
                ended = True
            except Exception as error:  # noqa: BLE001 - raised again, out of the group, which would wrap it
                broken.append(error)
            group.cancel_scope.cancel()
    if broken:
        raise broken[0]
    return ended
