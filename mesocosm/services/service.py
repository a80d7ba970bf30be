"""Services: one mock product each, as a store of rules and a set of typed tools.

A service is a folder ``servers/<name>/`` whose ``tools.py`` holds one ``Service`` named ``server``; it is
registered by existing. A tool is a plain function whose first parameter is the service's store::

    server = Service("email", EmailStore, instructions="A mailbox.")

    @server.reads
    def read_email(store: EmailStore, email_id: str) -> dict[str, Any]:
        '''Read one message in full.

        Args:
            email_id: The id that the listing tools return.
        '''
        return store.message(email_id)
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import random
import typing
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property, wraps
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    ParamSpec,
    Self,
    TypeVar,
    overload,
)

from sqlalchemy import Executable, MetaData
from sqlalchemy.orm import Session

from mesocosm.errors import Invalid, UsageError
from mesocosm.services.content import find_module, service_names, service_of
from mesocosm.services.schema import About, Depends, Signature, description_of, resolved, signature_of
from mesocosm.worlds import database

if TYPE_CHECKING:
    from mesocosm.services.world import World
    from mesocosm.worlds.workspace import Workspace

Row = Mapping[str, Any]
"""One row of a result: column to value."""


def same(row: Row, *names: str) -> dict[str, Any]:
    """Return the attributes of a row under their own names, in this order."""
    # Answers name the attributes that they take from a row, because most are the row's own (decision 087).
    return {name: row[name] for name in names}


P = ParamSpec("P")
R = TypeVar("R")

LONG = "A result can be longer than 25,000 tokens, which some clients cut: ask for less at a time."
"""End of the description of tools with very long results (``benchmarks/long_results.py``)."""


class Rules:
    """State that the rules of a service use: tables, files and clock of one world.

    Rules keep no state of their own: everything is in the tables, so a refused call can be rolled back.
    """

    def __init__(self, world: World, session: Session) -> None:
        self.world = world
        self.session = session

    def fetch(self, statement: Executable, **parameters: Any) -> Sequence[Row]:
        """Rows of a statement that selects columns: the quick way for reads.

        Quickest for statements that are built once, at import. It does not flush: in a tool that writes, call
        ``session.flush()`` before it.
        """
        return database.fetch(self.session, statement, parameters)

    @property
    def now(self) -> datetime:
        """The world's clock (UTC)."""
        return self.world.now

    @property
    def rng(self) -> random.Random:
        """The world's one source of randomness."""
        return self.world.rng

    @property
    def workspace(self) -> Workspace:
        """The folder in which the agent's files live."""
        return self.world.workspace


class Store(Rules):
    """The rules of one service over its tables in one world; knows nothing of MCP or HTTP.

    A store of many rules is composed of parts, one for each topic: ``store.quizzes``.
    """

    service: ClassVar[str]
    """Name of the service, which is also the name of its database file."""
    metadata: ClassVar[MetaData | None] = None
    """The tables; ``None`` for services that keep nothing but files in the workspace."""

    def __init_subclass__(cls) -> None:
        # servers/<name>/store is where a service's rules are, so the module says whose they are.
        if service := service_of(cls.__module__):
            cls.service = service


T = TypeVar("T")


class Topic(Generic[T]):
    """A part of a store, made of it when it is first asked for: ``quizzes = Topic(Quizzes)``."""

    def __init__(self, part: Callable[[Any], T]) -> None:
        self._part = part

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, store: Any, owner: type[Any]) -> T:
        made = self._part(store)
        store.__dict__[self._name] = made  # so that it is found before this the next time
        return made


S = TypeVar("S", bound=Store)


@dataclass(frozen=True)
class Image:
    """A picture in a tool's result."""

    data: bytes
    media_type: str = "image/png"


@dataclass(frozen=True)
class Page:
    """One page of a list whose vendor shape is a bare array.

    The array is the first text block. When more follows, a second block says so (``next_page``, ``total``),
    which a REST client would have read from the headers. The description of every tool that returns pages
    ends with ``remark``.
    """

    remark: ClassVar[str] = (
        'A page at a time: while more follows, a second text block says {"next_page": N, "total": M}; call'
        " again with page=N for the rest."
    )

    items: Sequence[Any]
    page: int
    per_page: int
    total: int

    @property
    def next_page(self) -> int | None:
        """The number of the page after this one, if there is one."""
        return self.page + 1 if self.page * self.per_page < self.total else None

    def of(self, shown: Callable[[Any], Any]) -> Self:
        """The same page of what ``shown`` makes of its items."""
        return self.holding(map(shown, self.items))

    def holding(self, items: Iterable[Any]) -> Self:
        """The same page of other items."""
        return replace(self, items=list(items))


class Paging(NamedTuple):
    """The page of a list that is asked for, and how many entries a page has."""

    page: int
    per_page: int


def paged(things: str, usual: int = 10) -> Depends:
    """The parameters ``page`` and ``per_page`` of a list of these things, as a ``Paging``."""

    def paging(store: Store, page: int = 1, per_page: int = usual) -> Paging:
        return Paging(page, per_page)

    paging.__annotations__ |= {
        "page": Annotated[int, About("Page number, from 1.")],
        "per_page": Annotated[int, About(f"{things} per page, 1 to 100.")],
    }
    return Depends(paging)


@dataclass(frozen=True)
class Reply:
    """An answer over HTTP, where a service is also spoken to in its vendor's own way."""

    repeatable: ClassVar[bool] = True
    """True if the same answer may be given again while nothing was written."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"

    @property
    def text(self) -> str:
        """The body as the journal keeps it: bytes that are no text by their hash only."""
        try:
            return self.body.decode()
        except UnicodeDecodeError:
            return f"{len(self.body)} bytes, SHA-256 {hashlib.sha256(self.body).hexdigest()}"


class UnknownTool(Exception):
    """The world offers no tool of that name; a protocol error, not a tool result."""


@dataclass(frozen=True, kw_only=True)
class Action(ABC):
    """An operation of a service over any protocol; it runs as one call on a world."""

    name: str
    """As the journal calls it."""
    function: Callable[..., Any]
    writes: bool
    ends_episode: bool = False
    runs_code: bool = False
    """Run it in a thread of those that wait for sandboxes: it may take minutes."""

    @abstractmethod
    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """From the arguments that the journal keeps (data) to the function's; may refuse."""


@dataclass(frozen=True, kw_only=True)
class Operation(Action):
    """An operation of another protocol than MCP, such as ``GET /api/v1/courses/{id}`` or ``IMAP STORE``."""

    bound_by: Callable[[Mapping[str, Any]], dict[str, Any]] = dict

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The function's arguments, as the protocol's door finds them in a request."""
        return self.bound_by(arguments)


class Operations(dict[str, Operation]):
    """The operations of one protocol, each registered by its function."""

    def reads(self, name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Register an operation that changes nothing."""
        return self._register(name, writes=False)

    def writes(self, name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Register an operation that changes the world."""
        return self._register(name, writes=True)

    def _register(self, name: str, *, writes: bool) -> Callable[[Callable[P, R]], Callable[P, R]]:
        if name in self:
            raise TypeError(f"the operation {name!r} is defined twice")

        def register(function: Callable[P, R]) -> Callable[P, R]:
            self[name] = Operation(name=name, function=function, writes=writes)
            return function

        return register


@dataclass(frozen=True, kw_only=True)
class Tool(Action):
    """One tool of a service: a function, its schema, and what it may do to the world."""

    description: str
    signature: Signature
    destructive: bool
    idempotent: bool
    title: str = ""

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert arguments for the function; ``Invalid`` names the wrong ones."""
        return self.signature.bind(arguments, lenient=True, drop_nulls=True)

    @property
    def annotations(self) -> dict[str, Any]:
        """The MCP tool annotations (hints for clients)."""
        return {
            "title": self.title or self.name.replace("_", " ").capitalize(),
            "readOnlyHint": not self.writes,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent or not self.writes,
            "openWorldHint": False,
        }

    @cached_property
    def gives_object(self) -> bool:
        """True if the annotated result is an object."""
        returned = typing.get_type_hints(self.function).get("return")
        origin = typing.get_origin(returned) or returned
        return isinstance(origin, type) and issubclass(origin, Mapping)

    @property
    def listing(self) -> dict[str, Any]:
        """The tool as an MCP server lists it.

        Parameters whose names begin with an underscore are taken, but not shown: clients that make a model of
        the schema with Pydantic (CrewAI, AutoGen, LlamaIndex) fail on them, and lose all tools of the server.
        """
        schema = self.signature.schema
        shown = {name: one for name, one in schema["properties"].items() if not name.startswith("_")}
        return {
            "name": self.name,
            "title": self.annotations["title"],
            "description": self.description,
            "inputSchema": {**schema, "properties": shown},
            "annotations": self.annotations,
        }


@dataclass
class Service(Generic[S]):
    """One mock product: its name, its store and its tools."""

    name: str
    store: type[S]
    instructions: str = ""
    """Text for an MCP client about the server as a whole."""
    runs_code: bool = False
    """Run them in threads of their own, as many as there may be sandboxes: they may take minutes."""
    extra: str | None = None
    """The part of the dependencies without which its tools cannot do what they are for."""
    tools: dict[str, Tool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.store.service != self.name:
            raise TypeError(f"the store of {self.name!r} lies in servers/{self.store.service}")

    @overload
    def reads(self, function: Callable[P, R], /) -> Callable[P, R]: ...
    @overload
    def reads(self, *, long: bool = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def reads(self, function: Callable[..., Any] | None = None, *, long: bool = False) -> Any:
        """Register a read-only tool; an attempted write inside it is an internal error.

        ``long``: a result can have 25,000 tokens and more, and the description says so.
        """

        def register(function: Callable[P, R]) -> Callable[P, R]:
            return self._register(function, writes=False, long=long)

        return register(function) if function else register

    @overload
    def writes(self, function: Callable[P, R], /) -> Callable[P, R]: ...
    @overload
    def writes(
        self, *, destructive: bool = ..., idempotent: bool = ..., ends_episode: bool = ..., long: bool = ...
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def writes(
        self,
        function: Callable[..., Any] | None = None,
        *,
        destructive: bool = False,
        idempotent: bool = False,
        ends_episode: bool = False,
        long: bool = False,
    ) -> Any:
        """Register a tool that changes the world.

        ``destructive``: it can remove or overwrite what was there. ``idempotent``: calling it twice with the
        same arguments is the same as once. ``ends_episode``: no call is accepted after it. ``long``: as of
        ``reads``.
        """

        def register(function: Callable[P, R]) -> Callable[P, R]:
            return self._register(
                function,
                writes=True,
                destructive=destructive,
                idempotent=idempotent,
                ends_episode=ends_episode,
                long=long,
            )

        return register(function) if function else register

    def _register(
        self,
        function: Callable[P, R],
        *,
        writes: bool,
        destructive: bool = False,
        idempotent: bool = False,
        ends_episode: bool = False,
        long: bool = False,
    ) -> Callable[P, R]:
        name = function.__name__
        if name in self.tools:
            raise TypeError(f"{self.name}: the tool {name!r} is defined twice")
        self.tools[name] = Tool(
            name=name,
            description=_described(function, long),
            signature=(signature := signature_of(function)),
            function=_in_its_words(resolved(function), signature.schema["properties"]),
            writes=writes,
            destructive=destructive,
            idempotent=idempotent,
            ends_episode=ends_episode,
            runs_code=self.runs_code,
        )
        return function

    @property
    def metadata(self) -> MetaData | None:
        """The tables of the service."""
        return self.store.metadata

    def select(self, patterns: Sequence[str] | None) -> Self:
        """This service with only the named tools; all of them for ``None``."""
        if patterns is None:
            return self
        unknown = [name for name in patterns if name not in self.tools]
        if unknown:
            raise UsageError(
                f"service {self.name!r} has no tool {unknown[0]!r}; it has {', '.join(self.tools)}"
            )
        chosen = {name: tool for name, tool in self.tools.items() if name in patterns}
        return replace(self, tools=chosen)


def _in_its_words(function: Callable[P, R], parameters: Collection[str]) -> Callable[P, R]:
    """Wrap a function so that its refusals use the tool's names of arguments (``perPage``), not the rules'
    (``per_page``).
    """
    spelled = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): name for name in parameters}
    names = {other: name for other, name in spelled.items() if other not in parameters}

    @wraps(function)
    def speak(*args: P.args, **values: P.kwargs) -> R:
        try:
            return function(*args, **values)
        except Invalid as refusal:
            refusal.rename(names)
            raise

    return speak if names else function


def _described(function: Callable[..., Any], long: bool) -> str:
    """Return the description of a tool for agents; of a paged one also how to fetch the rest."""
    is_paged = typing.get_type_hints(function).get("return") is Page
    remarks = [*([Page.remark] if is_paged else []), *([LONG] if long else [])]
    return "\n\n".join([description_of(function), *remarks])


@cache
def load_service(name: str) -> Service[Any]:
    """The service of that name; ``UsageError`` if there is none."""
    if name not in service_names():
        raise UsageError(f"unknown service {name!r}; there are {', '.join(service_names())}")
    module = find_module("servers", name, "tools")
    assert module, name
    service = importlib.import_module(module).server
    if not isinstance(service, Service) or service.name != name:
        raise TypeError(f"servers/{name}/tools.py: `server` must be a Service named {name!r}")
    return service


def offered_tool(services: Mapping[str, Service[Any]], service: str, name: str) -> Tool:
    """A tool of those that are offered, else ``UnknownTool``."""
    if service not in services:
        raise UnknownTool(f"Unknown service {service!r}")
    tools = services[service].tools
    if name not in tools:
        raise UnknownTool(f"Unknown tool {name!r}")
    return tools[name]


@cache
def combined_names(services: tuple[str, ...]) -> Mapping[tuple[str, str], str]:
    """Return the names of the tools of several services in one endpoint, by service and tool.

    A tool keeps its own name; where several of the services have one of that name, each of these bears its
    service before it. All tools count, whether they are offered or not, so a choice of tools renames none.
    """
    tools = [(name, tool) for name in services for tool in load_service(name).tools]
    bearers = Counter(tool for _, tool in tools)
    names = {(name, tool): f"{name}_{tool}" if bearers[tool] > 1 else tool for name, tool in tools}
    if len(set(names.values())) < len(names):
        twice = next(name for name, count in Counter(names.values()).items() if count > 1)
        raise TypeError(f"two tools of {', '.join(services)} would be called {twice!r}")
    return names


def ending_tools(services: Iterable[str]) -> frozenset[str]:
    """Tools that end an episode with these services, by their names in the endpoint of all services."""
    return _ending_tools(tuple(services))


@cache
def _ending_tools(services: tuple[str, ...]) -> frozenset[str]:
    return frozenset(
        combined
        for (name, tool), combined in combined_names(services).items()
        if load_service(name).tools[tool].ends_episode
    )


_DOORS = ("rest", "mail", "resources")
"""Modules of a service for clients that speak another protocol than MCP."""


@cache
def load_operations(name: str) -> Mapping[str, Operation]:
    """Load the operations of a service for other protocols than MCP, by name."""
    found: dict[str, Operation] = {}
    for door in _DOORS:
        if module := find_module("servers", name, door):
            found |= importlib.import_module(module).operations
    return found


@cache
def load_resources(name: str) -> Mapping[str, Operation]:
    """Load the MCP resources of a service by URI: ``servers/<name>/resources.py``."""
    module = find_module("servers", name, "resources")
    return importlib.import_module(module).operations if module else {}


def load_services() -> Mapping[str, Service[Any]]:
    """All services by name."""
    return {name: load_service(name) for name in service_names()}
