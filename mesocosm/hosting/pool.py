"""The episodes of one process: opened when they are called, closed when too many are open."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import resource
import secrets
import shutil
import sqlite3
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_process
import anyio.to_thread
from anyio.from_thread import BlockingPortal

from mesocosm.doors import connections
from mesocosm.doors.admission import call_threads, code_places, take_turn
from mesocosm.doors.connections import most_connections
from mesocosm.doors.episodes import UnknownEpisode
from mesocosm.doors.gateway import load_api
from mesocosm.errors import InUse, NotNow, UsageError
from mesocosm.families.cache import InstanceCache
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family
from mesocosm.families.leases import IN_USE, server_of
from mesocosm.families.store import EpisodeStore, mark
from mesocosm.families.task import Offer
from mesocosm.hosting.background import Background
from mesocosm.hosting.expiry import (
    MIN_ABANDONED,
    abandoned_episodes,
    old_episodes,
    old_instances,
    remove_instance,
)
from mesocosm.hosting.health import disk_trouble
from mesocosm.hosting.hosts.placement import is_id
from mesocosm.hosting.metrics import Metrics, RequestLog
from mesocosm.hosting.replication import KEEP_EVERY, Keeping
from mesocosm.sandbox.levels import announce
from mesocosm.services.calls import Outcome
from mesocosm.services.service import Action, Operation, Service, load_service
from mesocosm.worlds.garbage import leave_modules_out
from mesocosm.worlds.removal import remove
from mesocosm.worlds.workspace import keep_for_owner

R = TypeVar("R")
_log = logging.getLogger("mesocosm.hosting")

FILES_PER_EPISODE = 8
"""File descriptors that an open episode needs at most, about."""
_PATIENCE = 8.0
"""Seconds in which another process has to give a world up: a host that is told to end has five."""
_EXPIRED_EVERY = 300.0
_FAULTS_TOLD = 3
"""Faults of ours in an episode that the log has: an agent may meet one again and again."""
_ASKED = 8.0
"""Seconds in which requests about an episode have to be answered before it is let go."""


class HostedEpisode:
    """An episode that is being served: its calls come one after the other."""

    def __init__(self, pool: EpisodePool, id_: str, path: Path) -> None:
        self.id = id_
        self.episode = Episode(path)
        self.turn = anyio.Lock(fast_acquire=True)
        self._pool = pool
        self._closed = False
        self._owned = self._fits = False
        self._faults_told = 0
        self.asked = 0
        """Requests about it that are being answered."""
        self._kept: tuple[Any, ...] = ()
        """State of the world when it was last stored."""

    @cached_property
    def services(self) -> Mapping[str, Service[Any]]:
        """The services of its world with the tools that it offers, which nothing changes."""
        return self.episode.world.services

    @cached_property
    def all_services(self) -> tuple[str, ...]:
        """The services of its world, whether it offers tools of them or not."""
        return self.episode.world.all_services

    async def make(
        self, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
    ) -> Outcome:
        """Make one call when its turn has come."""

        async def make(episode: Episode) -> Outcome:
            began = time.perf_counter()
            episode.world.journal.request = connections.current_request.get()
            outcome = await take_turn(episode.world, service, action, arguments, key)
            self._pool.metrics.calls.labels(service, outcome.status).observe(time.perf_counter() - began)
            if outcome.status == "fault" and self._faults_told < _FAULTS_TOLD:
                self._faults_told += 1
                _tell_fault(episode)
            return outcome

        return await self._in_turn(make)

    async def do(self, action: Callable[[Episode], R]) -> R:
        """Something longer between two calls, such as a fork; in a thread, so that others are served."""

        async def do(episode: Episode) -> R:
            return await anyio.to_thread.run_sync(action, episode)

        return await self._in_turn(do)

    async def look(self, at: Callable[[Episode], R]) -> R:
        """Read something short between two calls, on the event loop: a thread would cost more.

        Like any action, it has a new episode stored: the first view of one comes right after its creation.
        """

        async def look(episode: Episode) -> R:
            return at(episode)

        return await self._in_turn(look)

    async def revision(self, service: str) -> int | None:
        """Number of the last call that changed a service, between two calls."""

        async def look(episode: Episode) -> int | None:
            return episode.world.revision(service)

        return await self._in_turn(look, changes=False)

    async def _in_turn(self, what: Callable[[Episode], Awaitable[R]], *, changes: bool = True) -> R:
        """Do something in the episode's turn, and tell watchers what may have changed."""
        async with self.turn:
            # Whoever waited for the turn may get it after the episode was closed: asked again below, where
            # the object that is open now answers.
            if not self._closed:
                self._pool.used.note(self.id)
                await self._lock()
                result = await what(self.episode)
                if changes:
                    self._pool.notify(self.id)
                    if self._pool.keeping.store is not None:
                        await self._pool.keeping.touched(self)
                return result
        # Closed as surplus or deleted while this was on its way here: no two may have a world open.
        return await self._pool.get(self.id)._in_turn(what, changes=changes)

    async def own(self) -> None:
        """Own its world before anything is asked of it. Raises ``InUse``."""
        if not self._owned:
            async with self.turn:
                if not self._closed:
                    await self._lock()
                    self._owned = True

    async def fit(self) -> None:
        """Find out whether this version can go on with it, before a call would end in a fault for that.

        Raises ``OtherVersion``.
        """
        if not self._fits:
            await self.do(lambda episode: episode.world.check_tables())
            self._fits = True

    async def _lock(self) -> None:
        """Own the world between two calls. A process that is ending may still have it: others are served
        while this one waits.

        Raises ``InUse`` where that does not end.
        """
        until = anyio.current_time() + _PATIENCE
        # The lock of a world is a file lock on its journal, so opening that is the question.
        while True:
            try:
                _ = self.episode.world.journal
            except InUse:
                if anyio.current_time() > until:
                    raise
                await anyio.sleep(_PATIENCE / 100)
            except (sqlite3.DatabaseError, UsageError, OSError):
                return  # damaged: what is asked for says so if it has to do with that
            else:
                return

    @property
    def mail_ports(self) -> dict[str, int]:
        """Ports of the mail protocols that are served beside."""
        return self._pool.mail_ports

    @property
    def apis(self) -> list[str]:
        """The services whose vendors' own APIs it offers."""
        return [name for name in self.all_services if load_api(name) and self.is_open(name)]

    def operation(self, service: str, name: str) -> Operation:
        """Return the named operation of another protocol; raises ``UnknownTool``."""
        return self.episode.world.operation(service, name)

    def is_open(self, service: str) -> bool:
        """True if clients of the service's own protocols may use it."""
        return self.episode.world.is_open(service)

    @property
    def name(self) -> str:
        return self.episode.path.name

    def keep(self, store: EpisodeStore, fence: int) -> None:
        """Store the episode unless unchanged; no call may be in progress."""
        if self._closed:
            return
        now = (self.episode.world.journal.last, *mark(self.episode.path))
        if now != self._kept:
            store.keep(self.episode.path, fence)
            self._kept = now

    def close(self) -> None:
        """Close its files for good; whoever still holds this object is led to the one opened next."""
        self._closed = True
        self.episode.close()


def _tell_fault(episode: Episode) -> None:
    """Log an internal error that was written to a journal, for the operator."""
    faults = episode.world.journal.with_status("fault")
    if faults:
        last = faults[-1]
        _log.error(
            "a fault of ours: episode %s, call %d, %s.%s, request %s\n%s",
            episode.path.name[:12],
            last.seq,
            last.service,
            last.tool,
            last.request,
            last.error,
        )


_ID = "id"
"""The file that says under which id an episode is served."""


def public_number(id_: str) -> str:
    """Return the public number of an episode for logs: the beginning of its folder's name."""
    return folder_of(id_)[:12]


def folder_of(id_: str) -> str:
    """The name of an episode's folder. Where a file lies can be seen by others on the machine, such as in the
    tables of mounts of sandboxes; the id, which opens the episode, cannot be found out from it."""
    # One way: the id is the password, and names of folders turn up in logs and in /proc/mounts.
    return hashlib.sha256(id_.encode()).hexdigest()[:32]


def _random_id() -> str:
    return secrets.token_hex(16)


def _take_into_use(root: Path) -> int:
    """Mark a directory of episodes as in use, and remove half-made leftovers.

    Whoever is alone there when it begins knows that the drafts of episodes are nobody's any more: a process
    that was killed left them. Returns the descriptor that says so.
    """
    # A lock and no file with a process id: the kernel gives it up however the process ends. Exclusive where
    # nobody else is there, then shared, so that several hosts may use one directory.
    use = os.open(root / IN_USE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for draft in (root / "episodes").glob(".*"):
            if draft.is_dir():
                remove(draft)
            else:
                draft.unlink(missing_ok=True)
    except BlockingIOError:
        pass
    fcntl.flock(use, fcntl.LOCK_SH)
    return use


_MOST = 100_000
"""Episodes of which it is remembered when something was asked of them."""


class LastUsed:
    """Time of the last request to each episode."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}

    def note(self, id_: str) -> None:
        """Something is asked of it now."""
        self._at.pop(id_, None)
        self._at[id_] = time.monotonic()
        if len(self._at) > _MOST:
            del self._at[next(iter(self._at))]

    def forget(self, id_: str) -> None:
        """It is gone, or another process has it."""
        self._at.pop(id_, None)

    def within(self, seconds: float) -> int:
        """Of how many something was asked within so many seconds."""
        since = time.monotonic() - seconds
        return sum(at >= since for at in self._at.values())


def count_in(root: Path) -> int:
    """Count the episodes in a directory."""
    folder = root / "episodes"
    return sum(entry.name.isalnum() for entry in os.scandir(folder)) if folder.is_dir() else 0


class EpisodePool:
    """All episodes below a directory; the least recently used are closed when too many are open."""

    def __init__(
        self,
        root: Path,
        max_open: int | None = None,
        new_id: Callable[[], str] | None = None,
        store: EpisodeStore | None = None,
        keep_every: float = KEEP_EVERY,
        server: str | None = None,
        alone: bool = False,
        expire_after: float | None = None,
        expire_abandoned: bool = True,
    ) -> None:
        self.root = root
        self._expire_after, self._expire_abandoned = expire_after, expire_abandoned
        self._alone = alone
        """True if the directory is this process's own while the episodes are shared: released ones are
        removed."""
        self._new_id = new_id or _random_id
        self._open: OrderedDict[str, HostedEpisode] = OrderedDict()
        self._is_ours: Callable[[str], bool] = lambda _: True
        # Descriptors are shared by connections, open episodes (a file per service) and 200 for the rest.
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._max_open = max_open or max(
            16, min(2000, (files - 200 - most_connections()) // FILES_PER_EPISODE)
        )
        for folder in ("episodes", "instances"):
            (root / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        self._use: int | None = _take_into_use(root)
        self.instances = InstanceCache(root / "instances", store.url if store else None)
        self.keeping = Keeping(store, keep_every, server or (server_of(root) if store else ""), listed=alone)
        self.background = Background()
        self.metrics = Metrics()
        self.used = LastUsed()
        self._watch()
        self.mail_ports: dict[str, int] = {}
        """Ports of the mail protocols (``imap``, ``smtp``) that are served beside."""
        self.portal: BlockingPortal | None = None
        """The way into the event loop of a running server, for other threads of its process."""
        self._watchers: dict[str, list[Callable[[], None]]] = {}

    def _watch(self) -> None:
        """Update the gauges."""
        gauge, keeping, instances = self.metrics.gauge, self.keeping, self.instances
        gauge("mesocosm_open_episodes", "Episodes whose files are open", lambda: len(self._open))
        gauge(
            "mesocosm_not_ready", "Whether /ready says that something is amiss", lambda: bool(self.trouble())
        )
        gauge("mesocosm_builds_waiting", "Instances that wait to be built", lambda: instances.waiting)
        gauge("mesocosm_builds_running", "Instances that are being built", lambda: instances.running)
        gauge("mesocosm_build_recent_seconds", "What a build takes, of late", lambda: instances.takes)
        for name, what, running, waiting in (
            (
                "calls",
                "Calls",
                lambda: call_threads().borrowed_tokens,
                lambda: call_threads().statistics().tasks_waiting,
            ),
            ("code", "Jobs of code", lambda: code_places().running, lambda: code_places().waiting),
        ):
            gauge(f"mesocosm_{name}_running", f"{what} that are at work in threads", running)
            gauge(f"mesocosm_{name}_waiting", f"{what} that wait for a thread", waiting)
        self._expired = self.metrics.counter(
            "mesocosm_episodes_expired", "Episodes that nobody used any more"
        )
        if keeping.store is not None:
            text = "Episodes that cannot be kept, each for a reason of its own"
            gauge("mesocosm_episodes_not_kept", text, lambda: keeping.not_kept)
            gauge(
                "mesocosm_episodes_to_keep",
                "Episodes that changed since they were kept",
                lambda: len(keeping),
            )
            gauge(
                "mesocosm_store_failing",
                "Whether the store did not take what was to be kept last",
                lambda: keeping.failed is not None,
            )
            store = keeping.store
            gauge(
                "mesocosm_store_waiting", "Requests of the store that are not answered", lambda: store.waiting
            )

    def trouble(self) -> str | None:
        """Return what prevents the pool from working, or ``None``."""
        return disk_trouble(self.root) or self.keeping.failed or self.background.trouble

    @asynccontextmanager
    async def expiring(self) -> AsyncIterator[None]:
        """Remove unused episodes and instances periodically, if configured."""
        async with anyio.create_task_group() as group:
            if self._expire_after is not None:
                every = min(self._expire_after / 4, _EXPIRED_EVERY)
                group.start_soon(self.background.every, every, "removing what is old", self._expire_old)
            if self._expire_abandoned:
                what = "removing what was abandoned"
                group.start_soon(self.background.every, MIN_ABANDONED, what, self._expire_abandoned_ones)
            yield
            group.cancel_scope.cancel()

    async def _expire_old(self) -> None:
        assert self._expire_after
        await self._expire(partial(old_episodes, self.root, self._expire_after))
        if not self._alone:
            await anyio.to_thread.run_sync(self._expire_instances, self._expire_after)

    async def _expire_abandoned_ones(self) -> None:
        await self._expire(partial(abandoned_episodes, self.root))

    async def _expire(self, found: Callable[[], list[Path]]) -> None:
        for folder in await anyio.to_thread.run_sync(found):
            try:
                id_ = (folder / _ID).read_text()
                hosted = self._open.get(id_)
                if self._is_ours(id_) and not (hosted and hosted.asked):
                    await self.delete(id_)
                    self._expired()
            except (NotNow, UsageError, FileNotFoundError):
                continue  # another process has it, or has removed it

    def _expire_instances(self, seconds: float) -> None:
        for path in old_instances(self.root, seconds):
            with suppress(FileNotFoundError):
                remove_instance(path)

    @contextmanager
    def watching(self, id_: str, tell: Callable[[], None]) -> Iterator[None]:
        """``tell`` is called after every call on an episode."""
        watchers = self._watchers.setdefault(id_, [])
        watchers.append(tell)
        try:
            yield
        finally:
            watchers.remove(tell)
            if not watchers:
                self._watchers.pop(id_, None)

    def notify(self, id_: str) -> None:
        """Something may have changed in an episode."""
        for tell in self._watchers.get(id_, ()):
            tell()

    def path(self, id_: str) -> Path:
        if not is_id(id_):
            raise UnknownEpisode("unknown episode")
        return self.root / "episodes" / folder_of(id_)

    def has(self, id_: str) -> bool:
        try:
            return self.path(id_).is_dir()
        except UnknownEpisode:
            return False

    def get(self, id_: str) -> HostedEpisode:
        """A hosted episode, opened if need be. Raises ``InUse`` where another host is to open it."""
        hosted = self._open.get(id_)
        if hosted is None:
            path = self.path(id_)
            if not self._is_ours(id_):
                raise InUse("the episode is on another host")
            if not path.is_dir():
                raise UnknownEpisode("unknown episode")
            # No file is opened yet: an episode that is damaged is refused by whoever reads it, not here.
            hosted = self._open[id_] = HostedEpisode(self, id_, path)
            # By now the modules of earlier episodes' services are loaded; never while a call is answered.
            self._close_surplus(id_)
            leave_modules_out()
        # Least recently used first: these are closed when too many are open.
        self._open.move_to_end(id_)
        return hosted

    async def bring(self, id_: str) -> None:
        """Fetch an episode from the store if needed, and claim it.

        Raises ``NotNow`` where somebody else does, or that cannot be found out, and ``InUse`` where it is
        another process of this server.
        """
        if self.keeping.store is not None and not self.keeping.holds(id_):
            await self.keeping.bring(id_, self.path(id_), self._give_up)
        if not self._is_ours(id_):
            raise InUse("the episode is on another host")
        try:
            hosted = self.get(id_)
        except UsageError:
            return  # unknown or damaged, as whoever asks for it is told
        await hosted.own()

    @contextmanager
    def asking(self, id_: str) -> Iterator[None]:
        """Keep an episode here while a request about it is answered."""
        if (hosted := self._open.get(id_)) is None:
            yield
            return
        hosted.asked += 1
        try:
            yield
        finally:
            hosted.asked -= 1

    async def _give_up(self, id_: str) -> None:
        """Close an episode that somebody else has."""
        if hosted := self._open.get(id_):
            async with hosted.turn:
                if self._open.get(id_) is hosted:
                    hosted.close()
                    del self._open[id_]

    def _close_surplus(self, wanted: str) -> None:
        for id_, hosted in list(self._open.items()):
            if len(self._open) <= self._max_open:
                return
            if id_ != wanted and not hosted.turn.statistics().locked and id_ not in self.keeping:
                hosted.close()
                del self._open[id_]

    def count(self) -> int:
        return count_in(self.root)

    def ids(self) -> list[str]:
        """Ids of all episodes, in a stable order."""
        ids = set(self.keeping.listed())
        for path in (self.root / "episodes").iterdir():
            if path.name.isalnum():
                with suppress(FileNotFoundError):  # another request, or expiry, removed it meanwhile
                    ids.add((path / _ID).read_text())
        return sorted(ids)

    def new_id(self) -> str:
        """An id that nobody can guess. It names the episode and never enters its world."""
        return self._new_id()

    def create(
        self,
        family: Family,
        seed: int,
        target: int | None,
        parameters: Mapping[str, Any],
        tools: Offer = "all",
        services: Sequence[str] = (),
        disturb: str = "",
        abandoned_after: int | None = None,
    ) -> str:
        """A new episode, with further services if any are named; the instance is built unless one of the
        kind was built before."""
        instance = self.instances.get(family, seed, target, parameters)
        return self.adopt(instance, family, tools, services, disturb, abandoned_after)

    def adopt(
        self,
        instance: Path,
        family: Family,
        tools: Offer = "all",
        services: Sequence[str] = (),
        disturb: str = "",
        abandoned_after: int | None = None,
    ) -> str:
        """A new episode on an instance that was built elsewhere."""
        offered = [*family.task.servers, *services]
        announce([name for name in offered if load_service(name).runs_code])
        make = partial(Episode.create, abandoned_after=abandoned_after)
        return self._place(lambda draft: make(draft, instance, family, tools, services, disturb))

    def fork(self, episode: Episode) -> str:
        """A new episode that goes on from the present state of another."""
        return self._place(episode.fork)

    def _place(self, make: Callable[[Path], Episode]) -> str:
        """Episodes appear whole or not at all: a crash leaves a draft that no id leads to."""
        id_ = self.new_id()
        draft = self.root / "episodes" / f".{folder_of(id_)}"
        try:
            make(draft).close()
            keep_for_owner(draft / _ID, id_.encode())
            draft.rename(self.path(id_))
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return id_

    async def let_go(self, is_ours: Callable[[str], bool]) -> int:
        """Close the episodes that are to be opened elsewhere, and open none of these from now on; how many
        were closed."""
        self._is_ours = is_ours
        foreign = [hosted for id_, hosted in self._open.items() if not is_ours(id_)]
        async with anyio.create_task_group() as group:
            for hosted in foreign:
                group.start_soon(self._part_with, hosted)
        return len(foreign)

    async def _part_with(self, hosted: HostedEpisode) -> None:
        """Close an episode after its requests are answered."""
        until = anyio.current_time() + _ASKED
        while hosted.asked and anyio.current_time() < until:
            await anyio.sleep(0.02)
        while self._open.get(hosted.id) is hosted and not self._is_ours(hosted.id):
            async with hosted.turn:
                try:
                    await self.keeping.before_closing(hosted)
                except NotNow:
                    await anyio.sleep(1)  # what was acknowledged is not given up
                    continue
                hosted.close()
                self.used.forget(hosted.id)
                if self._open.get(hosted.id) is hosted:
                    del self._open[hosted.id]
                self.keeping.release(hosted.id)
                if self._alone:
                    await anyio.to_thread.run_sync(remove, hosted.episode.path)

    async def delete(self, id_: str) -> None:
        """Remove an episode and all that belongs to it."""
        path = self.path(id_)
        doomed = path.with_name(f".{path.name}")
        await self.bring(id_)
        await self.take_out(id_, doomed)
        await self.keeping.forget(id_, path.name)
        await anyio.to_thread.run_sync(remove, doomed)

    async def take_out(self, id_: str, target: Path) -> None:
        """Move an episode to a place outside the pool; from then on its id leads nowhere."""
        path = self.path(id_)
        self.used.forget(id_)
        while hosted := self._open.get(id_):
            async with hosted.turn:
                if self._open.get(id_) is hosted:
                    hosted.close()
                    del self._open[id_]
                    break
        # It is gone at once; nobody waits between here and the closing above.
        try:
            path.rename(target)
        except FileNotFoundError:
            raise UnknownEpisode("unknown episode") from None

    def call(self, what: Callable[..., Awaitable[R]], *arguments: Any) -> R:
        """Run a coroutine function where the episodes are served, from another thread, and wait for it."""
        if self.portal is None:
            raise RuntimeError("the episodes are not being served")
        return self.portal.call(what, *arguments)

    def close(self) -> None:
        """Close every open episode."""
        self.keeping.rest()
        for hosted in self._open.values():
            hosted.close()
        self._open.clear()
        if self._use is not None:
            os.close(self._use)
            self._use = None


_ID_IN_PATH = re.compile("[0-9A-Za-z]{32}")


def kind_of(path: str) -> str:
    """Classify a path: a call over ``mcp``, of a vendor's ``api``, or of the ``control`` plane."""
    if path.startswith("/e/"):
        return "mcp" if path.endswith("/mcp") else "api"
    return "control" if path.startswith(("/episodes", "/grade")) else "other"


def log_request(
    log: RequestLog,
    method: str,
    path: str,
    headers: Mapping[str, str],
    token: str | None,
    status: int,
    seconds: float,
    sent: int,
    host: int | None = None,
) -> None:
    """Write down that a request was answered: which episode it was about by its public number alone.

    ``token``: the name of the one that it bore. Of a call over MCP, newer clients say in headers what it is.
    """
    _, room, *rest = [*path.split("/"), ""]
    named = (headers.get("mcp-method"), headers.get("mcp-name"))
    log.write(
        request=connections.accepted_id(headers.get(connections.REQUEST_ID.lower())),
        token=token,
        method=method,
        path=_ID_IN_PATH.sub("{id}", path)[:200],
        kind=kind_of(path),
        episode=public_number(rest[0]) if room in ("e", "episodes") and len(rest[0]) == 32 else None,
        service=rest[1] if room == "e" and len(rest) > 2 and rest[1] not in ("", "mcp") else None,
        operation=" ".join(one for one in named if one)[:200] or None,
        status=status,
        ms=round(seconds * 1e3, 3),
        sent=sent,
        host=host,
    )
