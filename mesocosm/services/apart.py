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
import pickle
import signal
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from pathlib import Path
from traceback import format_exception
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from mesocosm.errors import Invalid, Refusal
from mesocosm.services.service import Store
from mesocosm.worlds import deadlines
from mesocosm.worlds.process_worker import Kind, bound_memory, serve
from mesocosm.worlds.processes import Gone, Processes, Question
from mesocosm.worlds.workspace import Content

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
_START = "from mesocosm.services.apart import main; main()"

Identity = tuple[int, ...]
S = TypeVar("S", bound=Store)
A = TypeVar("A", str, Sequence[str])
P = ParamSpec("P")
R = TypeVar("R")

_processes = Processes([_START], keeps_slow=True)
_long: OrderedDict[Identity, None] = OrderedDict()


def apart(
    is_small: Callable[[bytes], bool],
) -> Callable[[Callable[Concatenate[S, A, P], R]], Callable[Concatenate[S, A, P], R]]:
    """Do what a method does with files in a process with bounds, unless all are small and it is soon done."""

    def marked(method: Callable[Concatenate[S, A, P], R]) -> Callable[Concatenate[S, A, P], R]:
        @wraps(method)
        def done(store: S, paths: A, /, *arguments: P.args, **named: P.kwargs) -> R:
            if isinstance(store.workspace, _Given):
                return method(store, paths, *arguments, **named)
            names = [paths] if isinstance(paths, str) else list(paths)
            if _are_small(store, names, is_small):
                try:
                    with deadlines.at_most(_HERE):
                        return method(store, paths, *arguments, **named)
                except deadlines.Overdue:
                    deadlines.check()
                    _remember(store, names)
            call = _Call(
                type(store).__module__, type(store).__name__, method.__name__, paths, arguments, named
            )
            while True:
                try:
                    return cast("R", _done_apart(store, names, call))
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


@dataclass(frozen=True)
class _Call:
    module: str
    store: str
    method: str
    paths: str | Sequence[str]
    arguments: Sequence[Any]
    named: Mapping[str, Any]

    def made(self, world: _World) -> Any:
        store = getattr(importlib.import_module(self.module), self.store)(world, None)
        return getattr(store, self.method)(self.paths, *self.arguments, **self.named)


@dataclass(frozen=True)
class _Request:
    call: _Call
    identities: Mapping[str, Identity]
    contents: Mapping[str, bytes] | None
    """Those of all files, or ``None`` where the process has them."""
    now: datetime
    seconds: float


def _done_apart(store: Store, names: Sequence[str], call: _Call) -> Any:
    identities = {name: store.workspace.identity(name) for name in names}
    left = deadlines.left()
    seconds = 0.0 if left is None else max(left, 0.0) + 1  # whoever asks gives up before

    def request(contents: Mapping[str, bytes] | None) -> bytes:
        asked = _Request(call, identities, contents, store.now, seconds)
        return pickle.dumps(asked, pickle.HIGHEST_PROTOCOL)

    def whole() -> bytes:
        contents = {name: store.workspace.content(name) for name in identities}
        if any(contents[name].identity != identity for name, identity in identities.items()):
            raise _Changed
        return request({name: content.data for name, content in contents.items()})

    state = repr(sorted(identities.values()))
    try:
        answer = _processes.ask(str(store.world.path), Question(state, state, request(None), whole))
    except Gone:
        deadlines.check()
        raise Invalid(f"{names[0]} takes too much memory to read.") from None
    found, written = pickle.loads(answer.data)
    if isinstance(found, BaseException):
        raise found
    for name, data in written.items():
        store.workspace.write(name, data, store.now)
    return found


class _Given:
    """Stands in a process for the workspace: the files that were sent."""

    def __init__(self, identities: Mapping[str, Identity], held: Mapping[Identity, bytes]) -> None:
        self._identities, self._held = identities, held
        self.written: dict[str, bytes] = {}

    def identity(self, name: str) -> Identity:
        return self._identities[name]

    def content(self, name: str) -> Content:
        return Content(self.read(name), self._identities[name])

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
        request: _Request = pickle.loads(data)
        del data
        if request.contents is None and not set(request.identities.values()) <= self._held.keys():
            return Kind.MISSING, b""
        for name, content in (request.contents or {}).items():
            self._held[request.identities[name]] = content
        for identity in request.identities.values():
            self._held.move_to_end(identity)
        signal.setitimer(signal.ITIMER_REAL, request.seconds)
        given = _Given(request.identities, self._held)
        found: Any
        try:
            found = request.call.made(_World(given, request.now))
        except Refusal as refusal:
            found = refusal
        except MemoryError:
            raise SystemExit(1) from None
        except Exception as error:  # noqa: BLE001 - a fault of ours, recorded by whoever asked
            found = RuntimeError("".join(format_exception(error)))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        while len(self._held) > len(request.identities) and sum(map(len, self._held.values())) > _HELD:
            self._held.popitem(last=False)
        return Kind.KEPT, pickle.dumps((found, given.written), pickle.HIGHEST_PROTOCOL)


def main() -> None:
    """Serve until the standard input ends."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    bound_memory(MEMORY)
    serve(_Worker().answer)
