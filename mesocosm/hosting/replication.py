"""Keeping the episodes of a process elsewhere, too: soon after each change, or before it is answered."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from mesocosm.errors import NotNow
from mesocosm.families.leases import HeldElsewhere, Leases
from mesocosm.families.store import EpisodeStore, NotPacked, StoreFailed, Superseded
from mesocosm.hosting.background import Background

KEEP_EVERY = 5.0
"""Seconds until a change is kept."""
_AT_ONCE = 4
_NOT_HELD = -1
_KEEPING = "keeping episodes"

_log = logging.getLogger("mesocosm.hosting")


class Keepable(Protocol):
    """An open episode."""

    id: str
    turn: anyio.Lock

    @property
    def name(self) -> str:
        """Of its folder."""

    def keep(self, store: EpisodeStore, fence: int) -> None:
        """Store the episode unless unchanged; no call may be in progress."""


class Keeping:
    """Replication of a process's episodes to a store.

    Args:
        store: Where; ``None``: nowhere, and then nothing is done.
        server: Name of the server that this process is of.
        listed: Whether ids are written down there, too, so that all processes know them.
        every: Seconds; 0: before a change is answered.
    """

    def __init__(
        self, store: EpisodeStore | None, every: float, server: str, *, listed: bool = False
    ) -> None:
        self.store = store
        self._listed: set[str] | None = set() if listed else None
        """The ids that were written down by this process."""
        self._leases = Leases(store, server) if store else None
        self._fences: dict[str, tuple[int, int]] = {}
        """Of the episodes that are held: their fences, and how old the leases were then."""
        self.failed: str | None = None
        """Why the last attempt failed."""
        self._every = every
        self._waiting: dict[str, Keepable] = {}
        self._not_kept: set[str] = set()
        """Those of them that could not be kept, for a reason of their own."""
        self._coming: defaultdict[Path, anyio.Lock] = defaultdict(anyio.Lock)
        self._awaited: set[str] = set()
        """Those in the midst of a call, which are kept when it has ended."""

    @property
    def not_kept(self) -> int:
        """Number of episodes that could not be stored, each for its own reason."""
        return len(self._not_kept)

    def __len__(self) -> int:
        """Number of episodes that wait to be stored."""
        return len(self._waiting)

    def __contains__(self, id_: str) -> bool:
        """True if an episode waits to be stored."""
        return id_ in self._waiting

    async def touched(self, episode: Keepable) -> None:
        """Note that an episode in its turn may have changed. Raises ``StoreFailed`` if it has to be stored at
        once and cannot be: the change stays, and is stored with the next.
        """
        if self.store is None:
            return
        self._waiting[episode.id] = episode
        if not self._every:
            await self._keep(episode)

    async def before_closing(self, episode: Keepable) -> None:
        """Store pending changes of an episode that closes in this turn."""
        if episode.id in self._waiting:
            await self._keep(episode)

    def holds(self, id_: str) -> bool:
        """True if no other server serves an episode."""
        if self._leases is None:
            return True
        # Where signs of life were late once, the age has moved on: what was held before that may have been
        # served by somebody else meanwhile, so it has to be claimed anew.
        return not self._leases.lapsed and self._fences.get(id_, (0, 0))[1] == self._leases.age

    async def bring(self, id_: str, folder: Path, close: Callable[[str], Awaitable[None]]) -> None:
        """Claim an episode, and fetch its latest stored copy into its folder.

        ``close`` is called before that if somebody else had it since it was held last, or has it.
        """
        assert self.store is not None
        async with self._coming[folder]:
            if not self.holds(id_) and await anyio.to_thread.run_sync(self._is_there, folder):
                before = self._fences.get(id_, (0, 0))[0]
                try:
                    fence, age = await anyio.to_thread.run_sync(self._hold, id_, folder.name)
                except NotNow as error:
                    if not isinstance(error, StoreFailed):
                        await self._give_up(id_, close)
                    raise
                # The same fence: nobody else had the episode since, so the folder here is the latest copy.
                # Another one: somebody may have changed it, and what is open here is old.
                if fence != before:
                    # Closed first: files that are open must not be replaced under their readers.
                    if before:
                        await self._give_up(id_, close)
                        self._fences[id_] = (fence, age)
                    await anyio.to_thread.run_sync(self.store.bring, folder)
        self._coming.pop(folder, None)

    def _is_there(self, folder: Path) -> bool:
        assert self.store
        return folder.is_dir() or self.store.has(folder.name)

    async def _give_up(self, id_: str, close: Callable[[str], Awaitable[None]]) -> None:
        # Not stored on the way: its fence is no longer ours, and a newer copy must not be overwritten.
        self._dismiss(id_)
        await close(id_)
        self._fences.pop(id_, None)

    def _hold(self, id_: str, name: str) -> tuple[int, int]:
        assert self._leases
        age = self._leases.age
        held = self._fences[id_] = (self._leases.hold(name), age)
        return held

    def release(self, id_: str) -> None:
        """An episode is served elsewhere from now on."""
        self._fences.pop(id_, None)

    async def forget(self, id_: str, name: str) -> None:
        """An episode is there no more."""
        self._dismiss(id_)
        self._fences.pop(id_, None)
        if self.store is not None:
            if self._listed is not None:
                self._listed.discard(id_)
                await anyio.to_thread.run_sync(self.store.remove, f"ids/{id_}")
            await anyio.to_thread.run_sync(self.store.forget, name)

    def listed(self) -> list[str]:
        """The ids that are written down in the store."""
        return [] if self._listed is None or self.store is None else self.store.names("ids")

    def rest(self) -> None:
        """Store everything pending and release all claims, before the process ends."""
        for id_, episode in list(self._waiting.items()):
            try:
                self._keep_now(episode)
                del self._waiting[id_]
            except NotNow as error:
                _log.error("an episode was not kept: %s", error)
            except Exception:  # noqa: BLE001 - each is kept that can be
                _log.exception("an episode was not kept")
        if self._leases is not None:
            with suppress(StoreFailed):
                self._leases.end()

    def _keep_now(self, episode: Keepable) -> None:
        assert self.store is not None
        fence, _ = self._fences.get(episode.id) or self._hold(episode.id, episode.name)
        try:
            episode.keep(self.store, fence)
            # Only after the episode itself: an id that is listed can always be fetched.
            if self._listed is not None and episode.id not in self._listed:
                self.store.write(f"ids/{episode.id}", b"")
                self._listed.add(episode.id)
        except Superseded:
            # The fence stays: what is open here must not be kept under a new one.
            self._fences[episode.id] = (fence, _NOT_HELD)
            raise

    @asynccontextmanager
    async def running(self, background: Background) -> AsyncIterator[None]:
        """Keep what changes, every so often."""
        async with anyio.create_task_group() as group:
            if self._leases is not None:
                group.start_soon(background.every, self._leases.every, "the sign of life", self._renew)
            if self.store is not None:
                # What is to be kept at once and could not be is kept in the end, too.
                every = self._every or KEEP_EVERY
                keep_all = partial(self._keep_all, group, partial(background.goes_on, _KEEPING))
                group.start_soon(background.every, every, _KEEPING, keep_all)
            yield
            # The rounds never end by themselves; what still waits is stored by ``rest``.
            group.cancel_scope.cancel()

    async def _renew(self) -> None:
        assert self._leases
        await anyio.to_thread.run_sync(self._leases.renew)

    async def _keep_all(self, beside: TaskGroup, gone_on: Callable[[], None]) -> None:
        left = iter(list(self._waiting.values()))
        async with anyio.create_task_group() as group:
            for _ in range(_AT_ONCE):
                group.start_soon(self._keep_each, left, beside, gone_on)
        if not self._waiting:
            self.failed = None

    async def _keep_each(
        self, episodes: Iterator[Keepable], beside: TaskGroup, gone_on: Callable[[], None]
    ) -> None:
        for episode in episodes:
            # Between two calls at once; within a call nobody may read its files, as the transaction is half
            # done.
            if not episode.turn.locked():
                await self._keep_in_turn(episode)
            elif episode.id not in self._awaited:
                # Its call may take minutes, for which the others do not wait.
                self._awaited.add(episode.id)
                beside.start_soon(self._keep_in_turn, episode)
            gone_on()

    async def _keep_in_turn(self, episode: Keepable) -> None:
        try:
            async with episode.turn:
                # A call that waited for the store itself (``every`` is 0) may have stored it meanwhile.
                if episode.id in self._waiting:
                    with suppress(NotNow):
                        await self._keep(episode)
        finally:
            self._awaited.discard(episode.id)

    async def _keep(self, episode: Keepable) -> None:
        try:
            await anyio.to_thread.run_sync(self._keep_now, episode)
        except StoreFailed as error:
            if self.failed is None:
                _log.warning("%s", error)
            self.failed = str(error)
            raise
        except (Superseded, HeldElsewhere):
            self._dismiss(episode.id)
            raise
        except Exception as error:
            # Its own trouble: it goes on waiting, and everybody else is kept.
            if episode.id not in self._not_kept:
                self._not_kept.add(episode.id)
                known = isinstance(error, NotNow)
                _log.error("the episode %s cannot be kept: %s", episode.name[:12], error, exc_info=not known)
            if isinstance(error, NotNow):
                raise
            raise NotPacked("the episode cannot be kept at present") from error
        self.failed = None
        self._dismiss(episode.id)

    def _dismiss(self, id_: str) -> None:
        """An episode is not to be kept any more, for now."""
        self._waiting.pop(id_, None)
        self._not_kept.discard(id_)
