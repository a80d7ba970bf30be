"""Keeping the episodes of a process elsewhere, too: soon after each change, or before it is answered."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from mesocosm.families.storing import Store, StoreFailed

KEEP_EVERY = 5.0
"""Seconds until a change is kept."""
_AT_ONCE = 4

_log = logging.getLogger("mesocosm.hosting")


class Keepable(Protocol):
    """An open episode."""

    id: str
    turn: anyio.Lock

    def keep(self, store: Store) -> None:
        """Keep it as it is, unless it was kept so before; nobody may be inside a call on it."""


class Keeping:
    """What is to be kept of a process's episodes, and when.

    Args:
        store: Where; ``None``: nowhere, and then nothing is done.
        every: Seconds; 0: before a change is answered.
    """

    def __init__(self, store: Store | None, every: float) -> None:
        self.store = store
        self.failed: str | None = None
        """Why the last attempt failed."""
        self._every = every
        self._waiting: dict[str, Keepable] = {}
        self._coming: defaultdict[Path, anyio.Lock] = defaultdict(anyio.Lock)

    def __contains__(self, id_: str) -> bool:
        """Whether an episode is to be kept."""
        return id_ in self._waiting

    async def touched(self, episode: Keepable) -> None:
        """An episode, whose turn it is, may have changed. Raises ``StoreFailed`` where it is to be kept at
        once and cannot be: the change is there, and is kept with the next."""
        if self.store is None:
            return
        self._waiting[episode.id] = episode
        if not self._every:
            await self._keep(episode)

    async def before_closing(self, episode: Keepable) -> None:
        """It is closed in this turn of its; what of it is to be kept is."""
        if episode.id in self._waiting:
            await self._keep(episode)

    async def bring(self, folder: Path) -> None:
        """Have what lies in a folder there as it was kept last."""
        assert self.store is not None
        async with self._coming[folder]:
            await anyio.to_thread.run_sync(self.store.bring, folder)
        self._coming.pop(folder, None)

    async def forget(self, id_: str, name: str) -> None:
        """An episode is there no more."""
        self._waiting.pop(id_, None)
        if self.store is not None:
            await anyio.to_thread.run_sync(self.store.forget, name)

    def rest(self) -> None:
        """Keep what is left, before the process ends."""
        for id_, episode in list(self._waiting.items()):
            try:
                assert self.store is not None
                episode.keep(self.store)
                del self._waiting[id_]
            except StoreFailed as error:
                _log.error("an episode was not kept: %s", error)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep what changes, every so often."""
        async with anyio.create_task_group() as group:
            if self.store is not None and self._every:
                group.start_soon(self._go_on)
            yield
            group.cancel_scope.cancel()

    async def _go_on(self) -> None:
        while True:
            await anyio.sleep(self._every)
            left = iter(list(self._waiting.values()))
            async with anyio.create_task_group() as group:
                for _ in range(_AT_ONCE):
                    group.start_soon(self._keep_each, left)

    async def _keep_each(self, episodes: Iterator[Keepable]) -> None:
        for episode in episodes:
            async with episode.turn:
                if episode.id in self._waiting:
                    with suppress(StoreFailed):
                        await self._keep(episode)

    async def _keep(self, episode: Keepable) -> None:
        assert self.store is not None
        try:
            await anyio.to_thread.run_sync(episode.keep, self.store)
        except StoreFailed as error:
            if self.failed is None:
                _log.warning("%s", error)
            self.failed = str(error)
            raise
        self.failed = None
        self._waiting.pop(episode.id, None)
