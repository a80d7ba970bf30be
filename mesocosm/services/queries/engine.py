"""Where statements are computed: by DuckDB, in processes (``computer``), within time and memory.

What a process may allocate is bounded by the kernel, its time by being ended, and a result by its bytes
before any of it is an object of Python here.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import Any

import duckdb
import pyarrow as pa

from mesocosm.errors import Invalid
from mesocosm.services.queries.allowlist import Barred
from mesocosm.services.queries.catalogue import Field, Result
from mesocosm.services.queries.computer import WORLDS, Request, connected, receive, send
from mesocosm.services.queries.failures import Failed, failure
from mesocosm.services.queries.tables import quoted
from mesocosm.worlds import deadlines
from mesocosm.worlds.limits import settings

_LARGE = 2**20
"""Bytes of a table from which on it is shared with the processes as a file in memory."""
_HELD, _MAPPED = 32 * 2**20, 16
"""Bytes of small tables that a process keeps, and the number of large ones that it has open."""
_SHARED = 16
"""Large tables of which files are kept."""
_ALL_ROWS, _MOST_VALUES = 16, 5_000_000
"""How many times as many bytes a result may have that is not shown, but put into a table; and how many values
any may have: each is an object of Python here."""


_SPENT = ("OutOfMemoryException", "FatalException", "InternalException")
"""Errors after which a process is not used again."""


@dataclass(frozen=True)
class Table:
    """An Arrow table that a query names."""

    arrow: Any
    lasting: bool = False
    """Whether its name stands for these rows and no others, so that it may stay for the next query."""


class _Files:
    """Large tables as files in memory, which processes read without a copy of their own."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, name: str, arrow: Any) -> Iterator[tuple[int, int]]:
        """Descriptor and length of a table's file."""
        with self._lock:
            found = self._open.get(name)
            if found is None:
                found = self._open[name] = _written(arrow)
                while len(self._open) > _SHARED:
                    os.close(self._open.popitem(last=False)[1][0])
            self._open.move_to_end(name)
            descriptor = os.dup(found[0])
        try:
            yield descriptor, found[1]
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            while self._open:
                os.close(self._open.popitem()[1][0])


def _written(arrow: Any) -> tuple[int, int]:
    descriptor = os.memfd_create("table", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(descriptor), "wb") as file, pa.ipc.new_stream(file, arrow.schema) as stream:
        stream.write_table(arrow)
    return descriptor, os.fstat(descriptor).st_size


def _stream(arrow: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, arrow.schema) as stream:
        stream.write_table(arrow)
    return bytes(sink.getvalue())


class _Process:
    """A process that computes, as it is seen from here."""

    def __init__(self, memory: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "mesocosm.services.queries.computer"]
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno()), str(memory)],
                pass_fds=[theirs.fileno()],
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self._line = ours
        self.memory = memory
        self.worlds: OrderedDict[str, None] = OrderedDict()
        """Those of which it keeps instances."""
        self.at_rest = True
        """Whether it has answered all that it was asked."""
        self._held: OrderedDict[str, int] = OrderedDict()
        """Names and bytes of the small tables that it keeps; of large ones, none."""

    def run(self, request: Request, tables: Mapping[str, Table], files: _Files) -> Iterator[tuple[Any, ...]]:
        """What it answers."""
        self.at_rest = False
        self.worlds.pop(request.world, None)
        self.worlds[request.world] = None
        if len(self.worlds) > WORLDS:
            self.worlds.popitem(last=False)
        contents, shared = self._contents(tables)
        dropped = self._forgotten(tables)
        with _all_of(files, shared, tables) as descriptors:
            sent = tuple(
                (name, descriptors[name][1] if name in descriptors else content, tables[name].lasting)
                for name, content in contents.items()
            )
            self._patience()
            send(self._line, replace(request, tables=sent, dropped=dropped))
            for name in contents:
                if name in descriptors:
                    socket.send_fds(self._line, [b"f"], [descriptors[name][0]])
        while True:
            self._patience()
            answer, _ = receive(self._line)
            self.at_rest = answer[0] not in ("fields", "rows")
            yield answer
            if self.at_rest:
                return

    def _patience(self) -> None:
        until = deadlines.moment()
        left = None if until is None or until == float("inf") else until - perf_counter()
        if left is not None and left <= 0:
            raise TimeoutError
        self._line.settimeout(left)

    def _contents(self, tables: Mapping[str, Table]) -> tuple[dict[str, bytes | None], list[str]]:
        """What is to be sent of each table, and which are to be shared as files."""
        contents: dict[str, bytes | None] = {}
        shared = []
        for name, table in tables.items():
            contents[name] = None
            if name in self._held:
                self._held.move_to_end(name)
            elif table.lasting and table.arrow.nbytes > _LARGE:
                shared.append(name)
                self._held[name] = 0
            else:
                contents[name] = _stream(table.arrow)
                if table.lasting:
                    self._held[name] = table.arrow.nbytes
        return contents, shared

    def _forgotten(self, tables: Mapping[str, Table]) -> tuple[str, ...]:
        """Tables that it keeps no longer, so that there is room."""
        gone = []
        for name in list(self._held):
            large = sum(size == 0 for size in self._held.values())
            if sum(self._held.values()) <= _HELD and large <= _MAPPED:
                break
            if name not in tables:
                gone.append(name)
                del self._held[name]
        return tuple(gone)

    def end(self) -> None:
        """End it, whatever it is doing."""
        self._line.close()
        self._process.kill()
        self._process.wait()


@contextmanager
def _all_of(
    files: _Files, names: Sequence[str], tables: Mapping[str, Table]
) -> Iterator[dict[str, tuple[int, int]]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(files.of(name, tables[name].arrow)) for name in names}


class Engine:
    """The processes that compute for this one. Each works on one statement at a time, in an instance of the
    world that it is of, and no statement meets what another one has left."""

    def __init__(self) -> None:
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(settings().query_jobs)
        self._files = _Files()
        self._caster: duckdb.DuckDBPyConnection | None = None
        self._casting = threading.Lock()

    def run(
        self,
        sql: str,
        tables: Mapping[str, Table],
        *,
        world: str,
        known: bool = False,
        limit: int | None = None,
        skip: int = 0,
        seed: float | None = None,
        counters: Mapping[str, tuple[int, int]] | None = None,
    ) -> Result:
        """Rows of a query over Arrow tables by their names, from the row ``skip`` on and at most ``limit``.

        ``world``: for whom. ``known``: whether it has passed the wall (``allowlist``) before, with other
        numbers or names of tables. ``seed``: between -1 and 1, what random functions follow. ``counters``:
        next number and step of what ``nextval`` counts with; the result says which number is next after it.
        Raises ``Failed``, and ``Barred`` for what does not pass.
        """
        request = self._request(world, sql, known=known, limit=limit, skip=skip, seed=seed, counters=counters)
        fields: tuple[Field, ...] = ()
        rows: list[tuple[Any, ...]] = []
        for kind, *said in self._answers(request, tables):
            if kind == "fields":
                fields = tuple(Field(name, type_) for name, type_ in said[0])
            elif kind == "rows":
                rows += said[0]
                if len(rows) * len(fields) > _MOST_VALUES:
                    raise Invalid(
                        f"The statement gives more than {_MOST_VALUES:,} values: filter, or do it in parts."
                    )
            else:
                return Result(fields, rows, said[0], counted=said[1])
        raise AssertionError("an answer without an end")

    def passes(self, sql: str, tables: Iterable[str], world: str) -> bool:
        """Whether a query of these tables passes the wall (``allowlist``)."""
        empty = {name: Table(pa.table({})) for name in tables}
        try:
            list(self._answers(self._request(world, sql, only_check=True), empty))
        except (Barred, Failed):
            return False
        return True

    def parquet(self, data: bytes, world: str) -> Any:
        """The rows of a Parquet file as an Arrow table. Raises ``Failed`` for what is none."""
        request = self._request(world, "", parquet=data)
        for _, stream in self._answers(request, {}):
            return pa.ipc.open_stream(stream).read_all()
        raise AssertionError("an answer without an end")

    def cast(self, raw: Any, kinds: Sequence[tuple[str, str]]) -> Any:
        """An Arrow table whose columns, named in their order, are cast. Nothing in it is of a statement."""
        names = ", ".join(f"{_cast(name, kind)} AS {quoted(name)}" for name, kind in kinds)
        with self._casting:
            if self._caster is None:
                self._caster = connected(settings().query_copies)
            self._caster.register("raw", raw)
            try:
                return self._caster.sql(f"SELECT {names} FROM raw").to_arrow_table()
            except duckdb.Error as error:
                raise failure(type(error).__name__, str(error)) from None
            finally:
                self._caster.unregister("raw")

    def _request(self, world: str, sql: str, **more: Any) -> Request:
        said = settings()
        largest = said.query_result * (_ALL_ROWS if more.get("limit") is None else 1)
        until = deadlines.moment()
        # A second later than here, where who waits is told.
        left = None if until is None or until == float("inf") else max(0.0, until - perf_counter()) + 1
        return Request(world, sql, (), (), said.query_memory, largest, left, **more)

    def _answers(self, request: Request, tables: Mapping[str, Table]) -> Iterator[tuple[Any, ...]]:
        with self._process(request) as process:
            try:
                for answer in process.run(request, tables, self._files):
                    match answer:
                        case ("failed", name, text):
                            process.at_rest = name not in _SPENT
                            raise failure(name, text)
                        case ("barred", what, function):
                            raise Barred(what, function)
                        case ("large",):
                            process.at_rest = False  # what it has freed, it may still count as its own
                            raise Invalid(
                                f"The result is larger than {request.largest // 2**20} MB: select less, or"
                                " aggregate."
                            )
                    yield answer
            except TimeoutError:
                raise _Lost(deadlines.Overdue()) from None
            except (EOFError, OSError):
                # It was ended by the kernel, or could go no further.
                spent = deadlines.Overdue() if deadlines.overdue() else failure("OutOfMemoryException", "")
                raise _Lost(spent) from None

    @contextmanager
    def _process(self, request: Request) -> Iterator[_Process]:
        self._wait()
        try:
            process = self._taken(request) or _Process(request.memory)
            try:
                yield process
            except _Lost as lost:
                raise lost.reason from None
            finally:
                if process.at_rest:
                    with self._lock:
                        self._idle.append(process)
                else:
                    process.end()
        finally:
            self._places.release()

    def _taken(self, request: Request) -> _Process | None:
        """An idle process: one that has worked for the world, or the one that has rested longest."""
        with self._lock:
            fit = [one for one in self._idle if one.memory == request.memory]
            own = next((one for one in reversed(fit) if request.world in one.worlds), None)
            found = own or next(iter(fit), None)
            if found is not None:
                self._idle.remove(found)
            return found

    def _wait(self) -> None:
        until = deadlines.moment()
        left = None if until is None else min(max(0.0, until - perf_counter()), threading.TIMEOUT_MAX)
        if not self._places.acquire(timeout=left):
            raise deadlines.Overdue

    def close(self) -> None:
        """End all processes that are idle."""
        with self._lock:
            while self._idle:
                self._idle.pop().end()
        self._files.close()


class _Lost(Exception):
    """A process is no longer of use."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__()
        self.reason = reason


def _cast(name: str, kind: str) -> str:
    if kind.startswith(("STRUCT", "MAP")) or kind.endswith("]"):
        # TRY: a struct may have been given fields since its rows were written; they are NULL there.
        return f"TRY_CAST(CAST({quoted(name)} AS JSON) AS {kind})"
    return f"CAST({quoted(name)} AS {kind})"


def engine() -> Engine:
    """The engine of this process."""
    return _engine_of(os.getpid())


@cache
def _engine_of(process: int) -> Engine:
    made = Engine()
    atexit.register(_leave, made, process)
    return made


def _leave(engine: Engine, process: int) -> None:
    """The end of the process: nothing is asked any more."""
    if os.getpid() != process:
        return
    with suppress(OSError):
        engine.close()
    # In one that has served calls something keeps the modules of DuckDB until after the interpreter is gone,
    # and for each type that they name its bindings complain on the screen. So they name none from here on.
    for name in [name for name in sys.modules if name.partition(".")[0] in ("duckdb", "_duckdb")]:
        vars(sys.modules[name]).clear()
