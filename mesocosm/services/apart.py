"""Work on files of agents: done at once where that takes little, and else in a process with bounds.

A file is small and unfolds, or is large: to read it takes many seconds of a processor and much memory, and in
a thread of the server it would hold up everybody. So the rules of a store that read files are marked::

    @apart(is_small)
    def pages(self, path: str, first: int, last: int) -> ...

They may use the files that their first argument names (one, or several), write files, and know the time;
they have no tables. What is written is written when all is done.
"""

from __future__ import annotations

import importlib
import inspect
import signal
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, wraps
from pathlib import Path
from socket import socket
from traceback import format_exception
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast, get_type_hints

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from mesocosm.errors import Conflict, Denied, Invalid, NotFound, Refusal
from mesocosm.services.service import Store
from mesocosm.worlds import deadlines
from mesocosm.worlds.limits import setting
from mesocosm.worlds.plain_values import Damaged, pack, unpack
from mesocosm.worlds.process_worker import Kind, bound_memory, fork_on_request, load_all, serve
from mesocosm.worlds.processes import HelperProcesses, ProcessAnswer, ProcessGone, ProcessQuestion
from mesocosm.worlds.workspace import FileContent

MEMORY = 3 * 2**29
"""Bytes of addresses that a process may have."""
MOST_HERE = 256 * 1024
"""Bytes of files that may be small; whether they are, their service says."""
_HERE = 0.2
"""Seconds after which what seemed to be little is done in a process."""
_HELD = 128 * 2**20
"""Bytes of files that a process holds."""
_REMEMBERED = 4_000
"""Files of which it is remembered that they take long."""
_SAID = 64 * 2**20
"""Bytes of an answer besides the files that were written."""
_START = "from mesocosm.services.apart import main; main()"

_READERS = ("mesocosm.servers.excel.store", "mesocosm.servers.pdf_tools.store", "openpyxl", "pypdf")
"""Packages of which every module is loaded before any file is read: a fork opens none."""

Identity = tuple[int, ...]
S = TypeVar("S", bound=Store)
A = TypeVar("A", str, Sequence[str])
P = ParamSpec("P")
R = TypeVar("R")

_processes = HelperProcesses([_START])
_long: OrderedDict[Identity, None] = OrderedDict()
_marked: list[Callable[..., Any]] = []


def apart(
    is_small: Callable[[bytes], bool],
) -> Callable[[Callable[Concatenate[S, A, P], R]], Callable[Concatenate[S, A, P], R]]:
    """Run a method on files in a bounded process, unless all are small and it is quick."""

    def marked(method: Callable[Concatenate[S, A, P], R]) -> Callable[Concatenate[S, A, P], R]:
        _marked.append(method)

        @wraps(method)
        def done(store: S, paths: A, /, *arguments: P.args, **named: P.kwargs) -> R:
            # In the process already: a method that calls another one goes straight on.
            if isinstance(store.workspace, _Given):
                return method(store, paths, *arguments, **named)
            names = [paths] if isinstance(paths, str) else list(paths)
            if _are_small(store, names, is_small):
                try:
                    with deadlines.at_most(_HERE):
                        return method(store, paths, *arguments, **named)
                except deadlines.Overdue:
                    # Overdue by ``at_most`` alone is no refusal: it is done again, apart. By the call's own
                    # deadline it ends.
                    deadlines.check()
                    _remember(store, names)
            while True:
                try:
                    return cast("R", _done_apart(store, names, method, paths, *arguments, **named))
                except _Changed:
                    continue

        return done

    return marked


class _Changed(Exception):
    """A file is another one than it was a moment ago."""


def _are_small(store: Store, names: Sequence[str], is_small: Callable[[bytes], bool]) -> bool:
    size = 0
    try:
        for name in names:
            identity = store.workspace.identity(name)
            size += store.workspace.details(name).size
            if identity in _long or size > MOST_HERE or not is_small(store.workspace.content(name).data):
                return False
    except Refusal:
        pass  # whoever asks for the file is told
    return True


def _remember(store: Store, names: Sequence[str]) -> None:
    for name in names:
        _long[store.workspace.identity(name)] = None
    while len(_long) > _REMEMBERED:
        _long.popitem(last=False)


@cache
def _forms(method: Callable[..., Any]) -> Mapping[str, TypeAdapter[Any]]:
    """Return the types of a method's arguments by name, and of its result as ``return``."""
    return {name: TypeAdapter(hint) for name, hint in get_type_hints(method).items()}


def _done_apart(
    store: Store, names: Sequence[str], method: Callable[..., Any], /, *arguments: Any, **named: Any
) -> Any:
    forms = _forms(method)
    given = inspect.signature(method).bind(store, *arguments, **named).arguments
    called = {name: forms[name].dump_python(given[name]) for name in given if name in forms}
    # By what the system knows of a file: a process that holds it from before is not sent its bytes again.
    identities = {name: store.workspace.identity(name) for name in names}
    left = deadlines.left()
    seconds = 0.0 if left is None else max(left, 0.0) + 1  # whoever asks gives up before

    def request(contents: Mapping[str, bytes] | None) -> bytes:
        where = [type(store).__module__, type(store).__name__, method.__name__]
        # Asking for the time leaves the journal's file, and whether a file is read here or apart is up to the
        # machine: an instance that is measured must not tell.
        return pack([where, called, dict(identities), contents, store.world.moment, seconds])

    def whole() -> bytes:
        contents = {name: store.workspace.content(name) for name in identities}
        if any(contents[name].identity != identity for name, identity in identities.items()):
            raise _Changed
        return request({name: content.data for name, content in contents.items()})

    def read(answer: ProcessAnswer) -> tuple[Any, Mapping[str, bytes]]:
        if answer.kind is not Kind.KEPT:
            raise Damaged("it has no answer")
        try:
            said = _SAYING.validate_python(unpack(answer.data), strict=True)
            if said[0] != "found":
                return _raised(said), {}
            # What is written is a file that the call named.
            if not {*said[2]} <= {*names, *(text for text in called.values() if isinstance(text, str))}:
                raise Damaged("it writes a file that nobody named")
            return forms["return"].validate_python(said[1]), said[2]
        except ValidationError as error:
            raise Damaged(str(error)[:300]) from None

    state = repr(sorted(identities.values()))
    largest = setting("workspace_file_size") + _SAID
    try:
        question = ProcessQuestion(state, state, request(None), whole, largest)
        found, written = _processes.ask(store.world.owner, question, read)
    except ProcessGone:
        deadlines.check()
        raise Invalid(f"{names[0]} takes too much memory to read.") from None
    if isinstance(found, BaseException):
        raise found
    for name, data in written.items():
        store.workspace.write(name, data, store.now)
    return found


# -- what a process says --------------------------------------------------------------------------------

_Said = (
    tuple[Literal["found"], Any, dict[str, bytes]]
    | tuple[Literal["Invalid", "Denied", "NotFound", "Conflict"], str, str | None, str | None, str]
    | tuple[Literal["fault"], str]
)
_SAYING: TypeAdapter[Any] = TypeAdapter(_Said)
_REFUSALS: Mapping[str, type[Refusal]] = {one.__name__: one for one in (Invalid, Denied, NotFound, Conflict)}


def _saying(refusal: Refusal) -> tuple[Any, ...]:
    kind = next(name for one in type(refusal).__mro__ for name, known in _REFUSALS.items() if known is one)
    parameter = getattr(refusal, "parameter", None)
    return kind, refusal.message, refusal.code, parameter, getattr(refusal, "detail", "")


def _raised(said: tuple[Any, ...]) -> Exception:
    if said[0] == "fault":
        return RuntimeError(said[1])
    kind, message, code, parameter, detail = said
    if kind == "Invalid":
        return Invalid(message, code=code, parameter=parameter, detail=detail)
    return _REFUSALS[kind](message, code=code)


# -- in the other process -------------------------------------------------------------------------------


class _Given:
    """Stands in a process for the workspace: the files that were sent."""

    def __init__(self, identities: Mapping[str, Identity], held: Mapping[Identity, bytes]) -> None:
        self._identities, self._held = identities, held
        self.written: dict[str, bytes] = {}

    def identity(self, name: str) -> Identity:
        return self._identities[name]

    def content(self, name: str) -> FileContent:
        return FileContent(self.read(name), self._identities[name])

    def read(self, name: str) -> bytes:
        return self._held[self._identities[name]]

    def write(self, name: str, data: bytes, _: datetime) -> None:
        self.written[name] = data


@dataclass
class _World:
    """Stands in a process for the world."""

    workspace: _Given
    now: datetime
    path: Path = field(default_factory=Path)


class _Worker:
    """The worker process's side."""

    def __init__(self) -> None:
        self._held: OrderedDict[Identity, bytes] = OrderedDict()

    def answer(self, data: bytes) -> tuple[Kind, bytes]:
        """Do what is asked, unless files are missing. The kernel ends it when the time is up."""
        where, called, identities, contents, now, seconds = unpack(data)
        del data
        if contents is None and not set(identities.values()) <= self._held.keys():
            return Kind.MISSING, b""
        for name, content in (contents or {}).items():
            self._held[identities[name]] = content
        for identity in identities.values():
            self._held.move_to_end(identity)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            said = _done(_World(_Given(identities, self._held), now), where, called)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        while len(self._held) > len(identities) and sum(map(len, self._held.values())) > _HELD:
            self._held.popitem(last=False)
        return Kind.KEPT, said


def _done(world: _World, where: Sequence[str], called: Mapping[str, Any]) -> bytes:
    module, name, method = where
    store = getattr(importlib.import_module(module), name)(world, None)
    function = inspect.unwrap(getattr(type(store), method))
    forms = _forms(function)
    given = {argument: forms[argument].validate_python(value) for argument, value in called.items()}
    try:
        found = forms["return"].dump_python(function(store, **given))
        return pack(("found", found, world.workspace.written))
    except Refusal as refusal:
        return pack(_saying(refusal))
    except MemoryError:
        raise SystemExit(1) from None
    except Exception as error:  # noqa: BLE001 - a fault of ours, recorded by whoever asked
        return pack(("fault", "".join(format_exception(error))))


def _served(line: socket) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    bound_memory(MEMORY)
    serve(line, _Worker().answer)


def main() -> None:
    """Load what reads files, and fork processes on request."""
    for name in _READERS:
        load_all(name)
    for method in _marked:
        _forms(method)
    Image.init()
    fork_on_request(lambda _: _served)
