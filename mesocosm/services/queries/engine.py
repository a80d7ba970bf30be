"""The query engine: DuckDB in separate processes (``computer``), with limits of time and memory.

What a process may allocate is bounded by the kernel, its time by being ended, and a result by its bytes
before any of it is an object of Python here.
"""

# Statements run in processes, because DuckDB can be stopped neither in time nor in memory from within
# (decision 070).

from __future__ import annotations

import atexit
import os
import select
import socket
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import Any, TypeVar, get_args

import duckdb
import pyarrow as pa

from mesocosm.errors import Invalid
from mesocosm.services.queries.allowlist import Barred
from mesocosm.services.queries.catalogue import QueryResult, ResultField
from mesocosm.services.queries.computer import WORLDS, ComputeRequest, connected, receive, send
from mesocosm.services.queries.failures import Failed, failure
from mesocosm.services.queries.files import MOST_VALUES, Form, UnreadableFile, Why
from mesocosm.services.queries.tables import quoted
from mesocosm.worlds import deadlines
from mesocosm.worlds.limits import settings
from mesocosm.worlds.nursery import ForkedProcess, Nursery
from mesocosm.worlds.places import Place, Places, TakenBack
from mesocosm.worlds.plain_values import Damaged

T = TypeVar("T")

_LARGE = 2**20
"""Bytes of a table from which on it is shared with the processes as a file in memory."""
_HELD, _MAPPED = 32 * 2**20, 16
"""Bytes of small tables that a process keeps, and the number of large ones that it has open."""
_SHARED = 16
"""Large tables of which files are kept."""
_SAID = 4 * 2**20
"""Bytes of a message of a process besides rows."""
_ALL_ROWS = 16
"""Factor on the byte limit for a result that goes into a table instead of to the agent."""
_NURSERY = "from mesocosm.services.queries.computer import main; main()"
_ENVIRONMENT = {
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    # Arrow's own would take a gigabyte of addresses ahead, which count as memory.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
_LOOK = 0.1
"""Seconds after which it is looked at how much a statement has worked."""
_SPENT = ("OutOfMemoryException", "FatalException", "InternalException")
"""Errors after which a process is not used again."""


@dataclass(frozen=True)
class EngineTable:
    """An Arrow table that a query names."""

    arrow: Any
    lasting: bool = False
    """True if the name always means these rows, so that the table can stay for the next query."""


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


class _Process(ForkedProcess):
    """A process that computes, as it is seen from here."""

    def __init__(self, memory: int, nursery: Nursery) -> None:
        super().__init__(nursery, b"%d" % memory)
        self.memory = memory
        self.worlds: OrderedDict[str, None] = OrderedDict()
        """Those of which it keeps instances."""
        self.at_rest = True
        """True if it has answered everything and can be asked again."""
        self._held: OrderedDict[str, int] = OrderedDict()
        """Names and bytes of the small tables that it keeps; of large ones, none."""

    def ask(self, request: ComputeRequest, tables: Mapping[str, EngineTable], files: _Files) -> None:
        """Begin what it then answers."""
        self._patience()
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
            send(self.line, replace(request, tables=sent, dropped=dropped).plain())
            for name in contents:
                if name in descriptors:
                    socket.send_fds(self.line, [b"f"], [descriptors[name][0]])

    def answers(self, largest: int) -> Iterator[tuple[Any, ...]]:
        """Yield its replies, of which so many bytes are rows. Raises ``Damaged`` where one makes no sense."""
        self._wait()
        fields: Sequence[Any] | None = None
        left = largest
        while True:
            self._patience()
            said, size = receive(self.line, left + _SAID)
            answer = _answer_of(said, fields)
            if answer[0] == "fields":
                fields = answer[1]
            elif answer[0] in ("schema", "rows"):
                left -= size
                if left < 0:
                    raise Damaged("more rows than it may send")
            ended = answer[0] not in ("fields", "schema", "rows")
            self.at_rest = ended and not self.gives_way
            yield answer
            if ended:
                return

    def _wait(self) -> None:
        """Wait for the first of an answer. What takes long gives way to all others; a process that has done
        so is not asked again, since its rank cannot be raised."""
        waiting = select.poll()
        waiting.register(self.line, select.POLLIN)
        while not waiting.poll(1000 * min(self._patience(), _LOOK)):
            self.give_way_if_long()

    def _patience(self) -> float:
        """Seconds that are left, and that the line is waited for."""
        until = deadlines.moment()
        left = float("inf") if until is None else until - perf_counter()
        if left <= 0:
            raise TimeoutError
        self.line.settimeout(None if left == float("inf") else left)
        return left

    def _contents(self, tables: Mapping[str, EngineTable]) -> tuple[dict[str, bytes | None], list[str]]:
        """Return the bytes to send for each table, and the tables to share as files."""
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

    def _forgotten(self, tables: Mapping[str, EngineTable]) -> tuple[str, ...]:
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


def _answer_of(said: Any, fields: Sequence[Any] | None) -> tuple[Any, ...]:
    """Check what a process says, which has read what agents made."""
    match said:
        case ["rows", [*rows]] if fields is None and all(map(_is_numbered, rows)):
            return "rows", [*map(tuple, rows)]
        case ["rows", [*rows]] if fields and all(
            type(row) is list and len(row) == len(fields) for row in rows
        ):
            return "rows", [*map(tuple, rows)]
        case ["fields", [*pairs]] if all(map(_is_field, pairs)):
            pass
        case ["end", bool(), {**counted}] if all(map(_is_counter, counted.items())):
            pass
        case ["schema", bytes(schema)]:
            try:
                return "schema", pa.ipc.read_schema(pa.py_buffer(schema))
            except (pa.ArrowException, OSError) as error:
                raise Damaged(str(error)[:200]) from None
        case ["unreadable", str(why), None | int(), str()] if why in get_args(Why):
            pass
        case ["failed", str(), str()] | ["barred", str(), str()] | ["large"]:
            pass
        case _:
            raise Damaged("an answer of no kind")
    return tuple(said)


def _is_field(pair: Any) -> bool:
    return isinstance(pair, (list, tuple)) and [*map(type, pair)] == [str, str]


def _is_counter(pair: Any) -> bool:
    return [*map(type, pair)] == [str, int]


def _is_numbered(row: Any) -> bool:
    return type(row) is list and len(row) == 2 and type(row[0]) is int


@contextmanager
def _all_of(
    files: _Files, names: Sequence[str], tables: Mapping[str, EngineTable]
) -> Iterator[dict[str, tuple[int, int]]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(files.of(name, tables[name].arrow)) for name in names}


@dataclass(eq=False)
class _Work:
    """A request, where it is worked on."""

    request: ComputeRequest
    place: Place
    process: _Process


class Engine:
    """The computing processes of this one. Each handles one statement at a time, in an instance of its world,
    and leaves nothing for the next.
    """

    def __init__(self) -> None:
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self._places = Places(settings().query_jobs)
        self._nursery = Nursery([_NURSERY], _ENVIRONMENT)
        self._files = _Files()
        self._caster: duckdb.DuckDBPyConnection | None = None
        self._casting = threading.Lock()

    def run(
        self,
        sql: str,
        tables: Mapping[str, EngineTable],
        *,
        world: str,
        unchecked: bool = False,
        limit: int | None = None,
        skip: int = 0,
        seed: float | None = None,
        counters: Mapping[str, tuple[int, int]] | None = None,
    ) -> QueryResult:
        """Rows of a query over Arrow tables by their names, from the row ``skip`` on and at most ``limit``.

        ``world``: for whom. ``unchecked``: past the wall (``allowlist``), for tests of what lies behind it.
        ``seed``: between -1 and 1, what random functions follow. ``counters``: next number and step of what
        ``nextval`` counts with; the result says which number is next after it. Raises ``Failed``, and
        ``Barred`` for what does not pass.
        """
        more = {"limit": limit, "skip": skip, "seed": seed, "counters": counters}
        request = self._request(world, sql, unchecked=unchecked, **more)
        return self._computed(request, tables, _result)

    def read(self, data: bytes, form: Form, world: str) -> tuple[Any, list[tuple[int, Any]]]:
        """The Arrow schema that a file says itself, if any, and its rows with the numbers of their lines.
        Raises ``UnreadableFile``."""
        try:
            return self._computed(self._request(world, "", file=(data, form)), {}, _rows_of)
        except Failed as failed:
            raise UnreadableFile("syntax", None, failed.message) from None
        except Invalid:  # it took all the memory that there is for it
            raise UnreadableFile("bytes", None, "the file needs too much memory: load it in parts") from None

    def cast(self, raw: Any, kinds: Sequence[tuple[str, str]]) -> Any:
        """Cast the columns of an Arrow table. The cast involves nothing from a statement."""
        names = ", ".join(f"{_cast(name, kind)} AS {quoted(name)}" for name, kind in kinds)
        with self._casting:
            if self._caster is None:
                self._caster = connected(settings().query_copies)
            # Of its own, so that nobody waits for the cast of a longer table.
            caster = self._caster.cursor()
        try:
            caster.register("raw", raw)
            return caster.sql(f"SELECT {names} FROM raw").to_arrow_table()
        except duckdb.Error as error:
            raise failure(type(error).__name__, str(error)) from None
        finally:
            caster.close()

    def _request(self, world: str, sql: str, **more: Any) -> ComputeRequest:
        said = settings()
        # Plain numbers, for what is said to a process that knows no settings.
        memory = int(said.query_memory)
        largest = int(said.query_result) * (_ALL_ROWS if more.get("limit") is None else 1)
        until = deadlines.moment()
        if until is None or until == float("inf"):
            return ComputeRequest(world, sql, (), (), memory, largest, None, **more)
        # A second later than here, where who waits is told.
        left = max(0.0, until - perf_counter())
        return ComputeRequest(world, sql, (), (), memory, largest, left + 1, **more)

    def _computed(
        self,
        request: ComputeRequest,
        tables: Mapping[str, EngineTable],
        gather: Callable[[Iterable[tuple[Any, ...]]], T],
    ) -> T:
        """Gather the replies to a request. Starts again from the first one if the process was taken away."""
        again = False
        while True:
            work = self._begun(request, again)
            try:
                return gather(self._answers(work, tables))
            except TakenBack:
                again = work.place.taken_back
            finally:
                self._end(work)

    def _begun(self, request: ComputeRequest, again: bool) -> _Work:
        place = self._places.take(os.path.dirname(request.world), again=again)
        try:
            # One that serves others well is not to be lost to what gives way.
            process = None if place.is_behind else self._taken(request)
            if process is None:
                deadlines.check()
                process = _Process(request.memory, self._nursery)
        except BaseException:
            self._places.release(place)
            raise
        if place.is_behind:
            process.give_way()
        process.begin()
        place.worker = process
        return _Work(request, place, process)

    def _end(self, work: _Work) -> None:
        # In this order: one that is idle is not killed for the sake of others.
        ended: _Process | None = work.process
        if self._places.finish(work.place) and work.process.at_rest:
            with self._lock:
                self._idle.append(work.process)
                ended = self._idle.pop(0) if len(self._idle) > settings().query_jobs else None
        if ended is not None:
            ended.kill()
        self._places.release(work.place)
        if ended is not None:
            ended.end()

    def _answers(self, work: _Work, tables: Mapping[str, EngineTable]) -> Iterator[tuple[Any, ...]]:
        process = work.process
        try:
            process.ask(work.request, tables, self._files)
            for answer in process.answers(work.request.largest):
                match answer:
                    case ("failed", name, text):
                        process.at_rest &= name not in _SPENT
                        raise failure(name, text)
                    case ("barred", what, function):
                        raise Barred(what, function)
                    case ("unreadable", why, line, words):
                        raise UnreadableFile(why, line, words)
                    case ("large",):
                        process.at_rest = False  # what it has freed, it may still count as its own
                        raise Invalid(
                            f"The result is larger than {work.request.largest // 2**20} MB: select less, or"
                            " aggregate."
                        )
                yield answer
        except TimeoutError:
            raise deadlines.Overdue from None
        except Damaged:
            if len(process.worlds) > 1:  # it may be by what another one has made
                raise TakenBack from None
            raise
        except (EOFError, OSError):
            if work.place.taken_back:
                raise TakenBack from None
            # It was ended by the kernel, or could go no further.
            if deadlines.overdue():
                raise deadlines.Overdue from None
            raise failure("OutOfMemoryException", "") from None

    def _taken(self, request: ComputeRequest) -> _Process | None:
        """Choose an idle process: one with the world, or with room for it, or the longest idle one."""
        with self._lock:
            fit = [one for one in self._idle if one.memory == request.memory]
            found = next((one for one in reversed(fit) if request.world in one.worlds), None)
            if found is None and fit:
                found = min(fit, key=lambda one: len(one.worlds) // WORLDS)
                if len(found.worlds) >= WORLDS and len(self._idle) < settings().query_jobs:
                    return None
            if found is not None:
                self._idle.remove(found)
            return found

    def close(self) -> None:
        """End all processes that are idle."""
        with self._lock:
            while self._idle:
                self._idle.pop().end()
        self._nursery.close()
        self._files.close()


def _result(answers: Iterable[tuple[Any, ...]]) -> QueryResult:
    fields: tuple[ResultField, ...] = ()
    rows: list[tuple[Any, ...]] = []
    for kind, *said in answers:
        if kind == "fields":
            fields = tuple(ResultField(name, type_) for name, type_ in said[0])
        elif kind == "rows":
            rows += said[0]
            if len(rows) * len(fields) > MOST_VALUES:  # each is an object of Python here
                raise Invalid(
                    f"The statement gives more than {MOST_VALUES:,} values: filter, or do it in parts."
                )
        else:
            return QueryResult(fields, rows, said[0], counted=said[1])
    raise AssertionError("an answer without an end")


def _rows_of(answers: Iterable[tuple[Any, ...]]) -> tuple[Any, list[tuple[int, Any]]]:
    schema, rows = None, []
    for kind, *said in answers:
        if kind == "schema":
            schema = said[0]
        elif kind == "rows":
            rows += said[0]
            deadlines.check()
    return schema, rows


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
