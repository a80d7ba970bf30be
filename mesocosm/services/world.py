"""Worlds: the whole state of one episode, in one directory.

::

    world/
      world.json       what the world is (family, parameters, seed, measured length); nothing of the answer
      <service>.db     one SQLite file per service that has tables
      workspace/       the agent's files
      journal.db       the calls that were made
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from sqlalchemy.orm import Session

from mesocosm.errors import UsageError
from mesocosm.services.calls import Calls, Disturber, Outcome
from mesocosm.services.service import (
    Operation,
    Service,
    Store,
    Tool,
    UnknownTool,
    load_operations,
    load_service,
    offered_tool,
)
from mesocosm.worlds import database
from mesocosm.worlds.changes import Changes, compare
from mesocosm.worlds.copies import SHARED, copy_world, own_files
from mesocosm.worlds.journal import Journal
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice
from mesocosm.worlds.steps import Steps
from mesocosm.worlds.workspace import Workspace

JOURNAL = "journal.db"
_OPENED = count()
S = TypeVar("S", bound=Store)


class Adviser(Protocol):
    """A source of advice that knows more than the world holds; part of the control plane."""

    def told_state(self) -> str:
        """Return the knowledge so far, for the agent."""

    def told_plan(self) -> str:
        """Return a recommendation for the agent's next step."""


class _Opened(dict[str, Store]):
    def __init__(self, open_: Callable[[str], Store]) -> None:
        self._open = open_

    def __missing__(self, service: str) -> Store:
        store = self[service] = self._open(service)
        return store


class World:
    """An open world. Its calls are made one after the other; the owner serialises them.

    Args:
        path: The world's directory.
        base: The same world as it was built, for ``changes``; ``None`` where nobody judges.
        offer: Of the services, those of which tools are offered to whoever acts, each with the tools
            (``None``: all); by default as the manifest says.
    """

    def __init__(
        self,
        path: Path,
        *,
        base: Path | None = None,
        read_only: bool = False,
        offer: Mapping[str, Sequence[str] | None] | None = None,
    ) -> None:
        self.path = path
        self.owner = str(path), next(_OPENED)
        """Its folder, and a number that no other world of this process has that lies there, or has lain."""
        self.base = base
        self.besides: frozenset[str] = frozenset()
        """Services that somebody added to those of the task, and that nobody judges."""
        self.read_only = read_only
        self.manifest = Manifest.read(path)
        self._offer = offer
        self._shares_files = (path / SHARED).exists()
        """True while its files may have further names in other worlds: see ``copy_world``."""
        self._workspace = Workspace(path / "workspace", linked=read_only or self._shares_files)
        self.settled = False
        """True while nobody changes the world: its changes are worked out once."""
        self._changes: Changes | None = None
        self.looked_further = False
        """True if the current call read more than its service's tables."""
        self._dice = Dice(self.manifest.family, self.manifest.seed)
        self.stores: dict[str, Store] = _Opened(self._open_store)
        """By service; opened when they are first asked for."""
        self._services: dict[str, Service[Any]] = {}
        self.call_rng: random.Random | None = None
        """Randomness of the current call, once it has drawn."""
        self._building: tuple[datetime, random.Random] | None = None
        self.adviser: Adviser | None = None
        """The adviser that the service ``oracle`` asks; none where the world is opened for itself."""
        self.disturber: Disturber | None = None
        """Disturber of the episode; ``None`` outside of one."""
        self.calls = Calls(self)
        self.steps = None if read_only else Steps.of(path)
        if self.steps:
            self._workspace.about_to_change = self._keep_files
            if self.steps.unfinished is not None:
                self._put_back(self.steps, self.steps.unfinished)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- making -----------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> World:
        """An empty world to be filled by a generator; ``finish_building`` makes it ready to act on."""
        path.mkdir(parents=True)
        (path / "workspace").mkdir()
        manifest.write(path)
        world = cls(path)
        world._building = (manifest.start, world._dice.rng)
        for name in manifest.services:
            service = load_service(name)
            if service.metadata is not None:
                database.create_file(path / f"{name}.db", service.metadata)
        return world

    def finish_building(self) -> None:
        """Commit what the generator wrote; from here on only tool calls change the world."""
        self._commit_stores()
        self.manifest = self.manifest.model_copy(update={"start": self.now})
        self.manifest.write(self.path)
        self._building = None

    def set_now(self, moment: datetime) -> None:
        """Set the clock of a world that is being built."""
        assert self._building, "the clock of a finished world moves by tool calls only"
        self._building = (moment.astimezone(UTC), self._building[1])

    # -- what stores see --------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The world's clock, in UTC; one tick per call that was made."""
        self.looked_further = True
        if self._building:
            return self._building[0]
        return self.manifest.start + timedelta(seconds=self.manifest.tick_seconds * self.journal.last)

    @property
    def moment(self) -> datetime:
        """The same without a trace: where no call was made, ``now`` begins the journal's file."""
        if self._building or "journal" in self.__dict__ or (self.path / JOURNAL).exists():
            return self.now
        self.looked_further = True
        return self.manifest.start

    def turns(self, service: str) -> int:
        """Count the answered calls of a service before the current one, refused ones included."""
        self.looked_further = True
        return 0 if self._building else self.journal.answered(service)

    def done_before(self, service: str, tool: str) -> Iterator[dict[str, Any]]:
        """The arguments of the calls of a tool that succeeded before the one that is being made."""
        self.looked_further = True
        for entry in () if self._building else self.journal.entries():
            if (entry.service, entry.tool, entry.status) == (service, tool, "ok"):
                yield entry.arguments

    @property
    def rng(self) -> random.Random:
        """The one source of randomness: a stream while building, then one per call, both from the seed."""
        self.looked_further = True
        if self._building:
            return self._building[1]
        if self.call_rng is None:
            # By the number of the call: a replayed call draws what it drew, whatever the calls before it
            # drew.
            self.call_rng = self.stream(str(self.journal.last))
        return self.call_rng

    @property
    def workspace(self) -> Workspace:
        """The folder in which the agent's files live."""
        self.looked_further = True
        return self._workspace

    def stream(self, name: str) -> random.Random:
        """A source of randomness of its own, from the seed: drawing from it does not disturb the others."""
        return self._dice.stream(name)

    def store(self, kind: type[S]) -> S:
        """The store of that kind over this world's tables."""
        store = self.stores[kind.service]
        assert isinstance(store, kind)
        return store

    # -- acting -----------------------------------------------------------------------------------------

    @cached_property
    def journal(self) -> Journal:
        """The calls that were made; opening it settles a call that a crash cut off."""
        journal = Journal(self.path / JOURNAL)
        for entry in journal.with_status("begun") if journal.last else ():
            # The number was written into the service's file within the transaction, so the file itself says
            # whether it was committed before the crash.
            applied = self._applied(entry.service) == entry.seq
            journal.settle(entry.seq, "ok" if applied else "interrupted")
        return journal

    @property
    def services(self) -> dict[str, Service[Any]]:
        """The services of this world with the tools that it offers."""
        if not self._services:
            offered = self.manifest.services if self._offer is None else self._offer
            self._services = {name: load_service(name).select(tools) for name, tools in offered.items()}
        return self._services

    @property
    def all_services(self) -> tuple[str, ...]:
        """The services of this world, whether it offers tools of them or not."""
        return tuple(self.manifest.services)

    def tool(self, service: str, name: str) -> Tool:
        """A tool that this world offers, else ``UnknownTool``."""
        return offered_tool(self.services, service, name)

    def call(
        self,
        service: str,
        name: str,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Make one call of a tool that the world offers, else ``UnknownTool``: see ``Calls.make``."""
        tool = self.tool(service, name)
        # Our own writers replace files and never write into them; code of agents may, and would change other
        # worlds.
        if self._shares_files and tool.runs_code:
            own_files(self.path)
            self._workspace.linked = self._shares_files = False
        return self.calls.make(service, tool, arguments, idempotency_key=idempotency_key)

    def operation(self, service: str, name: str) -> Operation:
        """Return an operation of another protocol; raises ``UnknownTool``."""
        operation = load_operations(service).get(name) if self.is_open(service) else None
        if operation is None:
            raise UnknownTool(f"Unknown operation {name!r} of {service!r}")
        return operation

    def is_open(self, service: str) -> bool:
        """True if clients of other protocols may use a service. Its API would bypass a task that offers only
        some tools.
        """
        return service in self.manifest.services and self.manifest.services[service] is None

    # -- files ------------------------------------------------------------------------------------------

    def check_tables(self) -> None:
        """Raise ``OtherVersion`` where its tables are not those of this version of our code."""
        for name in sorted(self.databases):
            metadata = load_service(name).metadata
            assert metadata is not None
            file = f"{name}.db"
            database.check_tables(self.path / file, metadata, self.base and self.base / file)

    @cached_property
    def databases(self) -> frozenset[str]:
        """The services that have tables."""
        return frozenset(n for n in self.manifest.services if load_service(n).metadata is not None)

    def _open_store(self, name: str) -> Store:
        if name not in self.manifest.services:
            raise UsageError(f"the world has no service {name!r}; it has {', '.join(self.manifest.services)}")
        service: Service[Store] = load_service(name)
        if service.metadata is None:
            return service.store(self, Session())
        session = database.open_session(
            self.path / f"{name}.db", read_only=self.read_only, filling=self._building is not None
        )
        return service.store(self, session)

    def _applied(self, service: str) -> int | None:
        if service not in self.databases:
            return None
        row = (
            database.driver_connection(self.stores[service].session).execute("PRAGMA user_version").fetchone()
        )
        return int(row[0])

    def revision(self, service: str) -> int | None:
        """Number of the last call that changed a service's tables; 0 if none did."""
        return self._applied(service)

    def changes(self) -> Changes:
        """Compare with the original world, except in the services ``besides``; needs ``base``."""
        assert self.base is not None, "this world was opened without its base"
        if self._changes is None or not self.settled:
            found = compare(self.path, self.base)
            tables = {key: those for key, those in found.tables.items() if key[0] not in self.besides}
            self._changes = replace(found, tables=tables)
        return self._changes

    @contextmanager
    def editing(self) -> Iterator[World]:
        """Change the world outside its tools (mutants, debugging); commits the stores' changes."""
        self.calls.forget()
        if self.steps:
            self.steps.forget(self.journal.last)
        for store in self.stores.values():
            if store.session.bind is not None:
                # A reading call leaves its connection refusing to write.
                database.begin(store.session, read_only=False)
        for store in self.stores.values():
            if store.session.bind is not None:
                database.allow_writes(store.session, True)
        yield self
        self._commit_stores()

    def _commit_stores(self) -> None:
        for store in self.stores.values():
            if store.session.bind is not None:
                database.commit(store.session)
                store.session.expunge_all()

    # -- going back -------------------------------------------------------------------------------------

    def _keep_files(self) -> None:
        self.keep_step(lambda steps: steps.keep_files(self.calls.number))

    def keep_step(self, keep: Callable[[Steps], None]) -> None:
        """Store the state before a change. Failure is harmless: where it cannot be stored (full disk), going
        back repeats the calls.
        """
        if self.steps is not None:
            try:
                keep(self.steps)
            except OSError:
                self.steps.give_up()
                self.steps = None

    def go_back(self, call: int) -> None:
        """Make the world what it was when a call was answered, which must not have been made inside another;
        0: before the first. Later calls are forgotten.

        Raises ``UsageError`` where too much has happened since.
        """
        if self.steps is None or call < self.steps.first:
            raise UsageError(f"what the world was like after call {call} is not kept any more")
        self.steps.begin(end := self.journal.end_of(call))
        self._put_back(self.steps, end)

    def _put_back(self, steps: Steps, end: int) -> None:
        for service in steps.changed(end):
            if service in self.stores:
                database.close_session(self.stores.pop(service).session)
        steps.put_back(end)
        self.journal.cut(end)
        steps.end(end)
        self.calls = Calls(self)

    def copy_to(self, target: Path) -> None:
        """Copy the whole world, as it is between two calls, to a directory that does not exist yet."""
        copy_world(self.path, target)

    def close(self) -> None:
        """Close all files; the world can be opened again from its directory."""
        for store in self.stores.values():
            if store.session.bind is not None:
                database.close_session(store.session)
        self.stores.clear()
        if "journal" in self.__dict__:
            self.journal.close()
            del self.__dict__["journal"]


def add_services(path: Path, names: Sequence[str]) -> None:
    """Add services to a closed world; existing ones stay as they are."""
    manifest = Manifest.read(path)
    offered = dict(manifest.services)
    for name in names:
        service = load_service(name)
        if name not in offered and service.metadata is not None:
            database.create_file(path / f"{name}.db", service.metadata)
        offered.setdefault(name, None)
    manifest.model_copy(update={"services": offered}).write(path)
