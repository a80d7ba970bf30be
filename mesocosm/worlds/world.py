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
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import inf
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Literal, Protocol, Self, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from mesocosm.errors import Conflict, Invalid, Refusal, UsageError
from mesocosm.services.service import (
    Image,
    Operation,
    Page,
    Reply,
    Service,
    Store,
    Tool,
    load_operations,
    load_service,
)
from mesocosm.worlds import database, deadlines
from mesocosm.worlds.changes import Changes, compare
from mesocosm.worlds.copies import copy_world
from mesocosm.worlds.declining import declined
from mesocosm.worlds.journal import Entry, Journal
from mesocosm.worlds.kept_reads import RecentReads
from mesocosm.worlds.limits import settings
from mesocosm.worlds.randomness import Dice
from mesocosm.worlds.workspace import Workspace, replace_file
from mesocosm.worlds.writing_down import written_down

S = TypeVar("S", bound=Store)

FORMAT = 1
"""Version of the layout of a world's directory."""
DEFAULT_START = datetime(2025, 1, 15, 9, 0, tzinfo=UTC)
_LONG = 1_000_000
"""Characters of what is as large as an agent likes."""
FAULT_TEXT = "Internal error: a fault of the environment, not of this call. It has been recorded."


class Length(BaseModel):
    """A world's environment description length, in tokens."""

    model_config = ConfigDict(extra="forbid")

    target: int | None
    measured: int
    tokenizer: str
    by_service: dict[str, int]
    adequate: int
    """Tokens of the survey's results that hold evidence: the adequate context length."""
    evidence: int | None = None
    """Tokens of the items of these results that hold it; ``None`` in worlds that were built before it was
    measured."""
    calls: int
    """Number of calls in the survey."""


class Manifest(BaseModel):
    """What ``world.json`` says."""

    model_config = ConfigDict(extra="forbid")

    format: int = FORMAT
    family: str = ""
    version: int = 1
    seed: int = 0
    parameters: dict[str, Any] = {}
    services: dict[str, list[str] | None]
    """The services of the world, each with the tools that are offered (``None``: all)."""
    start: datetime = DEFAULT_START
    tick_seconds: int = 1
    """How far the clock moves with every tool call."""
    length: Length | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of one tool call."""

    status: Literal["ok", "refused", "fault"]
    blocks: tuple[str | Image, ...] = field(default=())
    reply: Reply | None = None
    """What an HTTP client is answered, where it asked; then there are no blocks."""
    refusal: Refusal | None = None

    @property
    def is_error(self) -> bool:
        """Whether the caller is told that the call failed."""
        return self.status != "ok"

    @property
    def text(self) -> str:
        """All text that the agent reads."""
        if self.reply is not None:
            return self.reply.text
        return "\n".join(block for block in self.blocks if isinstance(block, str))


class Adviser(Protocol):
    """Who knows more of an episode than lies in its world; part of the control plane."""

    def told_state(self) -> str:
        """What is known so far, for the agent."""

    def told_plan(self) -> str:
        """What to do next, for the agent."""


class UnknownTool(Exception):
    """The world offers no tool of that name; a protocol error, not a tool result."""


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
        self.base = base
        self.read_only = read_only
        self.manifest = _read_manifest(path)
        self._offer = offer
        self._workspace = Workspace(path / "workspace", linked=read_only)
        self._reads = RecentReads()
        self._looked_further = False
        """Whether the call being made asked for more than its service's tables."""
        self._dice = Dice(self.manifest.family, self.manifest.seed)
        self._stores: dict[str, Store] = {}
        self._services: dict[str, Service[Any]] = {}
        self._call_rng: random.Random | None = None
        self._building: tuple[datetime, random.Random] | None = None
        self._ended_now = False
        self.adviser: Adviser | None = None
        """Whom the service ``oracle`` asks; nobody where the world is opened for itself."""
        self._inside: int | None = None
        """The call that is being made, when its tool makes further calls."""
        self.order_inside: Sequence[Entry] = ()
        """While replaying: the calls that code of the agent made inside the next call, in their order."""

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
        _write_manifest(path, manifest)
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
        _write_manifest(self.path, self.manifest)
        self._building = None

    def record_length(self, length: Length) -> None:
        """Write down what the survey of the finished world measured."""
        self.manifest = self.manifest.model_copy(update={"length": length})
        _write_manifest(self.path, self.manifest)

    def set_now(self, moment: datetime) -> None:
        """Set the clock of a world that is being built."""
        assert self._building, "the clock of a finished world moves by tool calls only"
        self._building = (moment.astimezone(UTC), self._building[1])

    # -- what stores see --------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The world's clock, in UTC; one tick per call that was made."""
        self._looked_further = True
        if self._building:
            return self._building[0]
        return self.manifest.start + timedelta(seconds=self.manifest.tick_seconds * self.journal.last)

    def turns(self, service: str) -> int:
        """How many calls of a service were answered before the one that is being made, refused ones too."""
        self._looked_further = True
        return 0 if self._building else self.journal.answered(service)

    @property
    def rng(self) -> random.Random:
        """The one source of randomness: a stream while building, then one per call, both from the seed."""
        self._looked_further = True
        if self._building:
            return self._building[1]
        if self._call_rng is None:
            self._call_rng = self.stream(str(self.journal.last))
        return self._call_rng

    @property
    def workspace(self) -> Workspace:
        """The folder in which the agent's files live."""
        self._looked_further = True
        return self._workspace

    def stream(self, name: str) -> random.Random:
        """A source of randomness of its own, from the seed: drawing from it does not disturb the others."""
        return self._dice.stream(name)

    def store(self, kind: type[S]) -> S:
        """The store of that kind over this world's tables."""
        store = self._store(kind.service)
        assert isinstance(store, kind)
        return store

    # -- acting -----------------------------------------------------------------------------------------

    @cached_property
    def journal(self) -> Journal:
        """The calls that were made; opening it settles a call that a crash cut off."""
        journal = Journal(self.path / "journal.db")
        for entry in journal.with_status("begun"):
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

    @cached_property
    def _ending_tools(self) -> list[tuple[str, str]]:
        return [(s.name, t.name) for s in self.services.values() for t in s.tools.values() if t.ends_episode]

    @cached_property
    def _ended_before(self) -> bool:
        return self.end is not None

    @property
    def ended(self) -> bool:
        """Whether the agent has said that it is done."""
        return self._ended_now or self._ended_before

    @property
    def end(self) -> int | None:
        """Number of the call with which the agent said that it is done: what it does later does not count."""
        found = [self.journal.first_success(*tool) for tool in self._ending_tools]
        return min((seq for seq in found if seq is not None), default=None)

    @property
    def counted(self) -> int:
        """How many calls were made until then."""
        return self.journal.last if self.end is None else self.end

    def tool(self, service: str, name: str) -> Tool:
        """A tool that this world offers, else ``UnknownTool``."""
        if service not in self.services:
            raise UnknownTool(f"Unknown service {service!r}")
        tools = self.services[service].tools
        if name not in tools:
            raise UnknownTool(f"Unknown tool {name!r}")
        return tools[name]

    def call(
        self,
        service: str,
        name: str,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        patience: float | None = None,
    ) -> Outcome:
        """Make one tool call: validate, run as one transaction, journal.

        A tool that keeps nothing in tables may make further calls meanwhile, for code of the agent; the
        journal says of these inside which call they were made. Raises ``UnknownTool``; every other failure
        is an ``Outcome``.

        ``patience``: seconds after which the call is given up without a trace, by raising ``Overdue``, so
        that it can be made where it keeps nobody waiting. A call without ends at its deadline, refused.
        """
        return self._make(service, self.tool(service, name), arguments, idempotency_key, patience)

    def operation(self, service: str, name: str) -> Operation:
        """What a client of another protocol asks for, else ``UnknownTool``."""
        operation = load_operations(service).get(name) if self.is_open(service) else None
        if operation is None:
            raise UnknownTool(f"Unknown operation {name!r} of {service!r}")
        return operation

    def is_open(self, service: str) -> bool:
        """Whether clients of other protocols may use a service: its API would get round a task that offers
        only some of the tools."""
        return service in self.manifest.services and self.manifest.services[service] is None

    def request(
        self,
        service: str,
        name: str,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        patience: float | None = None,
    ) -> Outcome:
        """Do for a client of another protocol than MCP what it asks: in all else like ``call``."""
        return self._make(service, self.operation(service, name), arguments, idempotency_key, patience)

    def repeat(self, entry: Entry) -> Outcome:
        """Make a journalled call again."""
        tools = self.services[entry.service].tools if entry.service in self.services else {}
        make = self.call if entry.tool in tools else self.request
        return make(entry.service, entry.tool, entry.arguments, idempotency_key=entry.idempotency_key)

    def _make(
        self,
        service: str,
        tool: Tool | Operation,
        arguments: Mapping[str, Any],
        key: str | None,
        patience: float | None,
    ) -> Outcome:
        started = perf_counter_ns()
        self._call_rng = None
        # Code of agents has limits of its own; the calls that it makes have deadlines again.
        runs_code = isinstance(tool, Tool) and load_service(service).runs_code
        with deadlines.within(inf if runs_code else patience):
            try:
                raw = written_down(arguments)
            except (RecursionError, UnicodeEncodeError) as error:
                outcome, fault = _failed(error, _LONG)
                self._record(service, tool, "{}", outcome, fault, started)
                return outcome
            bound, unbound, fault = self._bind(tool, arguments, raw, key)
            if unbound is None:
                return self._run_bound(service, tool, arguments, raw, bound, key, patience, started)
        self._record(service, tool, raw, unbound, fault, started)
        return unbound

    def _bind(
        self, tool: Tool | Operation, arguments: Mapping[str, Any], raw: str, key: str | None
    ) -> tuple[dict[str, Any], Outcome | None, str | None]:
        """What the tool's function is given, or why it is given nothing."""
        try:
            bound = tool.bind(arguments)
            retried = tool.writes and key is not None and self.journal.find_key(key)
            if tool.writes and self.ended and not retried:
                raise Conflict("The task has been declared done; no further changes are accepted.")
        except Exception as error:  # noqa: BLE001 - the tool boundary: what is wrong is said or recorded
            return {}, *_failed(error, len(raw))
        return bound, None, None

    def _run_bound(
        self,
        service: str,
        tool: Tool | Operation,
        arguments: Mapping[str, Any],
        raw: str,
        bound: dict[str, Any],
        key: str | None,
        patience: float | None,
        started: int,
    ) -> Outcome:
        if not tool.writes:
            return self._read(service, tool, raw, bound, patience, started)
        retried = self.journal.find_key(key) if key is not None else None
        if retried:
            if (retried.service, retried.tool, retried.arguments) != (service, tool.name, dict(arguments)):
                return Outcome("refused", (f"Idempotency key {key!r} was used for another call.",))
            return Outcome("ok", (retried.result or "",))
        outer = self._inside
        seq = self._inside = self.journal.begin(service, tool.name, raw, key, outer)
        try:
            outcome, error = self._run_write(service, tool, bound, seq, len(raw))
        except deadlines.Overdue:
            if patience is not None:
                self.journal.withdraw(seq)
                raise
            outcome, error = _too_long(), None
        finally:
            self._inside = outer
        self.journal.finish(seq, outcome.status, outcome.text, error, _since(started))
        self._ended_now |= tool.ends_episode and not outcome.is_error
        return outcome

    def _read(
        self,
        service: str,
        tool: Tool | Operation,
        raw: str,
        bound: dict[str, Any],
        patience: float | None,
        started: int,
    ) -> Outcome:
        key = (service, tool.name, raw)
        error = None
        outcome = self._reads.get(key)
        if outcome is None:
            self._looked_further = False
            try:
                outcome, error = self._run_read(service, tool, bound, len(raw))
            except deadlines.Overdue:
                if patience is not None:
                    raise
                outcome = _too_long()
            if outcome.status == "ok" and not self._looked_further and service in self._databases:
                self._reads.keep(key, outcome)
        self._record(service, tool, raw, outcome, error, started)
        return outcome

    def _record(
        self,
        service: str,
        tool: Tool | Operation,
        raw: str,
        outcome: Outcome,
        error: str | None,
        started: int,
    ) -> None:
        """Journal a call that changed nothing."""
        self.journal.record(
            service, tool.name, raw, outcome.status, outcome.text, error, _since(started), self._inside
        )

    def peek(self, service: str, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Make a reading call that leaves no trace, not even in the journal; also of a tool that is not
        offered to the agent."""
        tool = load_service(service).tools[name]
        assert not tool.writes, f"{service}.{name} writes"
        outcome, error = self._run_read(service, tool, tool.signature.bind(arguments), 0)
        if error:
            raise RuntimeError(f"{service}.{name} failed:\n{error}")
        return outcome

    def _run_read(
        self, service: str, tool: Tool | Operation, bound: dict[str, Any], size: int
    ) -> tuple[Outcome, str | None]:
        try:
            store = self._store(service)
        except DBAPIError:
            return _fault()
        session = store.session
        if session.bind is None:
            return self._run(store, tool, bound, size)
        database.begin(session, read_only=True)
        try:
            return self._run(store, tool, bound, size)
        finally:
            database.rollback(session)
            session.expunge_all()

    def _run_write(
        self, service: str, tool: Tool | Operation, bound: dict[str, Any], seq: int, size: int
    ) -> tuple[Outcome, str | None]:
        self._reads.clear()
        try:
            store = self._store(service)
        except DBAPIError:
            return _fault()
        session = store.session
        if session.bind is None:
            return self._run(store, tool, bound, size)
        database.begin(session, read_only=False)
        try:
            outcome, error = self._run(store, tool, bound, size)
            if outcome.is_error:
                database.rollback(session)
            else:
                session.flush()
                # Part of the transaction: tells after a crash whether this call was applied.
                database.connection_of(session).exec_driver_sql(f"PRAGMA user_version={seq}")
                database.commit(session)
        except deadlines.Overdue:
            database.rollback(session)
            raise
        except Exception as problem:  # noqa: BLE001 - the tool boundary: a flush that fails is no other matter
            database.rollback(session)
            return _failed(problem, size)
        finally:
            session.expunge_all()
        return outcome, error

    def _run(
        self, store: Store, tool: Tool | Operation, bound: dict[str, Any], size: int
    ) -> tuple[Outcome, str | None]:
        try:
            result = tool.function(store, **bound)
            if isinstance(result, Reply):
                return Outcome("ok", reply=result), None
            return Outcome("ok", _blocks(result)), None
        except Exception as error:  # noqa: BLE001 - the tool boundary: whatever is no refusal is our fault
            # Files are input, too, of whatever size the agent gave them.
            return _failed(error, _LONG if self._looked_further else size)

    # -- files ------------------------------------------------------------------------------------------

    @cached_property
    def _databases(self) -> frozenset[str]:
        return frozenset(n for n in self.manifest.services if load_service(n).metadata is not None)

    def _store(self, service: str) -> Store:
        if service not in self._stores:
            self._stores[service] = load_service(service).store(self, self._session(service))
        return self._stores[service]

    def _session(self, service: str) -> Session:
        if service in self._stores:
            return self._stores[service].session
        if service not in self.manifest.services:
            raise UsageError(
                f"the world has no service {service!r}; it has {', '.join(self.manifest.services)}"
            )
        if load_service(service).metadata is None:
            return Session()
        session = database.open_session(
            self.path / f"{service}.db", read_only=self.read_only, filling=self._building is not None
        )
        self._stores[service] = load_service(service).store(self, session)
        return session

    def _applied(self, service: str) -> int | None:
        if service not in self._databases:
            return None
        row = database.driver_connection(self._session(service)).execute("PRAGMA user_version").fetchone()
        return int(row[0])

    def revision(self, service: str) -> int | None:
        """Number of the last call that changed a service's tables; 0 if none did."""
        return self._applied(service)

    def changes(self) -> Changes:
        """What changed since the world was built; needs ``base``."""
        assert self.base is not None, "this world was opened without its base"
        return compare(self.path, self.base)

    @contextmanager
    def editing(self) -> Iterator[World]:
        """Change the world from outside its tools (mutants, debugging): commits what the stores were told."""
        self._reads.clear()
        for store in self._stores.values():
            if store.session.bind is not None:
                # A reading call leaves its connection refusing to write.
                database.begin(store.session, read_only=False)
        for store in self._stores.values():
            if store.session.bind is not None:
                database.allow_writes(store.session, True)
        yield self
        self._commit_stores()

    def _commit_stores(self) -> None:
        for store in self._stores.values():
            if store.session.bind is not None:
                database.commit(store.session)
                store.session.expunge_all()

    def copy_to(self, target: Path) -> None:
        """Copy the whole world, as it is between two calls, to a directory that does not exist yet."""
        copy_world(self.path, target)

    def close(self) -> None:
        """Close all files; the world can be opened again from its directory."""
        for store in self._stores.values():
            if store.session.bind is not None:
                database.close_session(store.session)
        self._stores.clear()
        if "journal" in self.__dict__:
            self.journal.close()
            del self.__dict__["journal"]


def add_services(path: Path, names: Sequence[str]) -> None:
    """Offer further services in a world that nobody has open; those that it has stay as they are."""
    manifest = _read_manifest(path)
    offered = dict(manifest.services)
    for name in names:
        service = load_service(name)
        if name not in offered and service.metadata is not None:
            database.create_file(path / f"{name}.db", service.metadata)
        offered.setdefault(name, None)
    _write_manifest(path, manifest.model_copy(update={"services": offered}))


def _failed(error: Exception, size: int) -> tuple[Outcome, str | None]:
    """What an exception amounts to, which is being handled: a refusal, or a fault of ours.

    ``size``: characters of what the call was given to read.
    """
    if deadlines.overdue():
        # A statement that was interrupted, or what somebody made of it.
        raise deadlines.Overdue from error
    refusal = declined(error, size)
    if refusal is None:
        return _fault()
    return Outcome("refused", (refusal.message,), refusal=refusal), None


def _too_long() -> Outcome:
    refusal = Invalid(
        f"This call took longer than {settings().call_timeout} seconds and was given up; nothing was "
        "changed. Ask for less at once."
    )
    return Outcome("refused", (refusal.message,), refusal=refusal)


def _fault() -> tuple[Outcome, str]:
    """The outcome of the exception being handled: the agent learns that it happened, the journal what."""
    return Outcome("fault", (FAULT_TEXT,)), traceback.format_exc()


def _blocks(result: Any) -> tuple[str | Image, ...]:
    """A tool's result as content blocks: text as it is, data as compact JSON, images as images."""
    if isinstance(result, str):
        return (result,)
    if isinstance(result, Image):
        return (result,)
    if isinstance(result, tuple):
        return tuple(block for part in result for block in _blocks(part))
    if isinstance(result, Page):
        items = orjson.dumps(list(result.items)).decode()
        if result.next_page is None:
            return (items,)
        return (items, orjson.dumps({"next_page": result.next_page, "total": result.total}).decode())
    if isinstance(result, Mapping | Sequence):
        return (orjson.dumps(result).decode(),)
    raise TypeError(f"a tool returned {type(result).__name__}; expected text, data, Image or Page")


def _since(started: int) -> int:
    return (perf_counter_ns() - started) // 1000


def _read_manifest(path: Path) -> Manifest:
    try:
        return Manifest.model_validate_json((path / "world.json").read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{path} is not a world: it has no world.json") from None
    except ValueError as error:
        raise UsageError(f"{path}/world.json is damaged: {error}") from None


def _write_manifest(path: Path, manifest: Manifest) -> None:
    data = orjson.dumps(manifest.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n"
    replace_file(path / "world.json", data)
