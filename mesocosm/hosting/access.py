"""Access to an episode that this process serves, for those who may know more than the agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio.to_thread

from mesocosm.families.episode import Episode
from mesocosm.hosting.pool import EpisodePool

R = TypeVar("R")


@dataclass(frozen=True)
class Access:
    """An episode that is served by this process."""

    pool: EpisodePool
    id: str

    async def do(self, action: Callable[[Episode], R]) -> R:
        """Run something on the episode between two calls."""
        return await anyio.to_thread.run_sync(self.now, action)

    def now(self, action: Callable[[Episode], R]) -> R:
        """The same from a thread that may wait."""

        async def act() -> R:
            result: R = await self.pool.get(self.id).do(action)
            return result

        return self.pool.call(act)
