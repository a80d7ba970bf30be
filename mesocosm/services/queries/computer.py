"""The process in which DuckDB computes, one statement at a time. ``engine`` starts it, and replaces it when
it exceeds memory or time. It is forked from one that has loaded everything.

Nothing of mesocosm but the wall (``allowlist``), functions of Python (``computed``), the readers of files
(``files``) and the form of messages is loaded here. The process has no environment, may allocate a stated
number of bytes, and is ended by the kernel when its time is up, whatever it is doing. Each world has an
instance of DuckDB of its own, in which nothing stays that a statement does.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from mmap import ACCESS_READ, mmap
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import SPECIAL

from mesocosm.services.queries import allowlist, computed, files
from mesocosm.worlds.plain_values import Damaged, pack, unpack
from mesocosm.worlds.process_worker import fork_on_request

_LOCKED = (
    "SET python_enable_replacements=false",
    "SET enable_external_access=false",
    "SET TimeZone='UTC'",
    # It doubles the time of a page of a small table; Arrow tables, which the large ones are, have none of it.
    "SET disabled_optimizers='late_materialization'",
    "SET lock_configuration=true",
)
WORLDS = 8
"""Worlds of which a process keeps the instances of DuckDB."""
_SMALL, _MOST_KEPT = 4 * 2**20, 16 * 2**20
"""Bytes of a table that an instance keeps for the next query, and of all of these."""
_FRAME = 500
"""Rows that are sent at a time, unless they are long."""
_SPARE = 512 * 2**20
"""Bytes that the process may allocate besides DuckDB's: of the libraries, of what instances keep, and of
vectors."""
_STOCK = 4
"""Instances that each process has from the start."""


@dataclass(frozen=True)
class ComputeRequest:
    """A statement to be computed."""

    world: str
    sql: str
    tables: tuple[tuple[str, bytes | int | None, bool], ...]
    """Name, bytes of an Arrow stream (the length of a file that follows as a descriptor; ``None`` for one
    that is here already), and whether the name stands for these rows and no others."""
    dropped: tuple[str, ...]
    """Tables that will not be asked for again."""
    memory: int
    largest: int
    """Bytes of a result."""
    seconds: float | None
    unchecked: bool = False
    limit: int | None = None
    skip: int = 0
    seed: float | None = None
    counters: Mapping[str, tuple[int, int]] | None = None
    file: tuple[bytes, files.Form] | None = None
    """File to read in place of a statement, equally untrusted."""

    def plain(self) -> dict[str, Any]:
        """Return what is sent of it."""
        return vars(self) | {"file": self.file and (self.file[0], vars(self.file[1]))}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> ComputeRequest:
        """Return what was sent."""
        file = plain["file"] and (plain["file"][0], files.Form(**plain["file"][1]))
        return cls(**plain | {"file": file})


class ResultTooLarge(Exception):
    """A result has more bytes than it may."""


def send(line: socket.socket, message: object) -> int:
    """Send a message, which the other side reads with ``receive``. Returns how many bytes it has."""
    return send_packed(line, pack(message))


def send_packed(line: socket.socket, data: bytes) -> int:
    """Send a message that is packed already."""
    line.sendall(struct.pack("!Q", len(data)) + data)
    return len(data)


def receive(line: socket.socket, most: int) -> tuple[Any, int]:
    """Read a message, and how many bytes it has.

    Raises ``EOFError`` when there is nobody any more, and ``Damaged`` where it is none, or has more than
    ``most`` bytes.
    """
    (size,) = struct.unpack("!Q", _exactly(line, 8))
    if size > most:
        raise Damaged(f"a message of {size:,} bytes")
    return unpack(_exactly(line, size)), size


def _exactly(line: socket.socket, size: int) -> bytearray:
    found = bytearray(size)
    view = memoryview(found)
    while view:
        got = line.recv_into(view)
        if not got:
            raise EOFError
        view = view[got:]
    return found


def connected(memory: int) -> duckdb.DuckDBPyConnection:
    """DuckDB in so many bytes of memory: without files, settings or extensions."""
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{memory // 2**20}MiB",
            "threads": "1",  # so that rows come in one order
            "async_threads": "0",  # there are no files to wait for
            "temp_directory": "",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        },
    )
    for statement in _LOCKED:
        connection.execute(statement)
    return connection


class _Instance:
    """An instance of DuckDB, and the tables that it has kept."""

    def __init__(self, memory: int) -> None:
        self.connection = connected(memory)
        self._kept: OrderedDict[str, int] = OrderedDict()
        self._computes = False

    def compute(self) -> None:
        """Make known the functions of Python, which few statements call."""
        if not self._computes:
            for name, (function, arguments, result) in computed.FUNCTIONS.items():
                self.connection.create_function(
                    name,
                    computed.guarded(function),
                    [*arguments],
                    result,
                    null_handling=SPECIAL,
                )
            self._computes = True

    @contextmanager
    def holding(self, tables: Mapping[str, tuple[Any, bool]]) -> Iterator[None]:
        """While these tables are there, in a transaction that ends with nothing changed. Small ones stay, as
        tables of DuckDB: to make one known takes longer than a query on it."""
        registered = []
        try:
            for name, (arrow, lasting) in tables.items():
                if name in self._kept:
                    self._kept.move_to_end(name)
                elif lasting and arrow.nbytes <= _SMALL:
                    self._keep(name, arrow)
                else:
                    self.connection.register(name, arrow)
                    registered.append(name)
            self.connection.begin()
            try:
                yield
            finally:
                self.connection.abort()  # of a result that was not read to its end
                with suppress(duckdb.Error):  # the transaction has ended by itself with an error
                    self.connection.rollback()
        finally:
            for name in registered:
                self.connection.unregister(name)

    def _keep(self, name: str, arrow: Any) -> None:
        while self._kept and sum(self._kept.values()) + arrow.nbytes > _MOST_KEPT:
            oldest, _ = self._kept.popitem(last=False)
            self.connection.execute(f"DROP TABLE IF EXISTS {_quoted(oldest)}")
        self.connection.register("arriving", arrow)
        try:
            self.connection.execute(f"CREATE OR REPLACE TABLE {_quoted(name)} AS SELECT * FROM arriving")
        finally:
            self.connection.unregister("arriving")
        self._kept[name] = arrow.nbytes


class Computer:
    """The computing process's side."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._instances: OrderedDict[str, _Instance] = OrderedDict()
        """By the worlds that they are of; the one that was asked last comes last."""
        self._arrow: dict[str, Any] = {}

    def serve(self) -> None:
        """Compute until nobody asks any more."""
        while True:
            try:
                request = ComputeRequest.of(receive(self._line, sys.maxsize)[0])
            except EOFError:
                return
            signal.setitimer(signal.ITIMER_REAL, request.seconds or 0)
            answer: tuple[Any, ...]
            try:
                if request.file is not None:
                    answer = self._read(request.file[0], request.file[1], request.largest)
                else:
                    answer = self._answer(request, self._tables(request))
            except duckdb.Error as error:
                answer = ("failed", type(error).__name__, str(error))
            except allowlist.Barred as barred:
                answer = ("barred", str(barred), barred.function)
            except ResultTooLarge:
                answer = ("large",)
            except files.UnreadableFile as found:
                answer = ("unreadable", found.why, found.line, found.words)
            except pa.ArrowException as error:
                answer = ("failed", "InvalidInputException", f"Invalid Input Error: {error}")
            except (OverflowError, ValueError) as error:
                answer = ("failed", "OutOfRangeException", f"Out of Range Error: out of range: {error}")
            signal.setitimer(signal.ITIMER_REAL, 0)
            send(self._line, answer)

    def _read(self, data: bytes, form: files.Form, largest: int) -> tuple[Any, ...]:
        """Send the rows of a file."""
        size = 0
        for part in files.parts(data, form):
            message = pack(
                ["schema", part] if isinstance(part, bytes) else ["rows", [[*pair] for pair in part]]
            )
            size += len(message)
            if size > largest:
                raise ResultTooLarge
            send_packed(self._line, message)
        return ("end", False, {})

    def _tables(self, request: ComputeRequest) -> dict[str, tuple[Any, bool]]:
        for name in request.dropped:
            self._arrow.pop(name, None)
        found = {}
        for name, content, lasting in request.tables:
            if content is None:
                arrow = self._arrow[name]
            elif isinstance(content, int):
                _, (descriptor, *_), _, _ = socket.recv_fds(self._line, 1, 1)
                arrow = pa.ipc.open_stream(
                    pa.py_buffer(mmap(descriptor, content, access=ACCESS_READ))
                ).read_all()
                os.close(descriptor)
            else:
                arrow = pa.ipc.open_stream(content).read_all()
            if lasting:
                self._arrow[name] = arrow
            found[name] = arrow, lasting
        return found

    def _instance(self, request: ComputeRequest) -> _Instance:
        found = self._instances.pop(request.world, None)
        if found is None:
            stock = _stock.get(request.memory)
            found = stock.pop() if stock else _Instance(request.memory)
        self._instances[request.world] = found
        if len(self._instances) > WORLDS:
            self._instances.popitem(last=False)[1].connection.close()
        return found

    def _answer(self, request: ComputeRequest, tables: Mapping[str, tuple[Any, bool]]) -> tuple[Any, ...]:
        instance = self._instance(request)
        columns = {name.lower() for arrow, _ in tables.values() for name in arrow.column_names}
        connection = instance.connection
        names, counters = list(tables), request.counters or {}
        if computed.PREFIX in request.sql:
            instance.compute()
        with instance.holding(tables):
            query: Any = request.sql
            if not request.unchecked:
                query = allowlist.passed(request.sql, names, connection, counters, columns)
            if request.seed is not None:
                connection.execute("SELECT setseed(?)", [request.seed]).fetchall()
            for name, (start, step) in counters.items():
                bounds = f"MINVALUE -922337203685477580{8 if step < 0 else 7}"
                connection.execute(
                    f"CREATE TEMP SEQUENCE {_quoted(name)} {bounds} START {start} INCREMENT {step}"
                )
            connection.execute(query)
            fields = _fields(connection)
            if any(allowlist.has_interval(kind) for _, kind in fields):
                connection.abort()
                if request.seed is not None:
                    connection.execute("SELECT setseed(?)", [request.seed]).fetchall()
                again = allowlist.with_texts(request.sql, fields)
                connection.execute(allowlist.passed(again, names, connection, counters, columns))
            send(self._line, ("fields", fields))
            more = self._rows(connection, request)
            # One more than the last: that number is the next one.
            counted = {
                name: int(connection.execute("SELECT nextval(?)", [name]).fetchall()[0][0])
                for name in counters
            }
            return ("end", more, counted)

    def _rows(self, connection: duckdb.DuckDBPyConnection, request: ComputeRequest) -> bool:
        """Send the rows that are asked for; whether there are more."""
        skip, left, size = request.skip, request.limit, 0
        while skip > 0 and (passed := connection.fetchmany(min(skip, 10_000))):
            skip -= len(passed)
        while left is None or left > 0:
            rows = connection.fetchmany(_FRAME if left is None else min(_FRAME, left))
            if not rows:
                return False
            data = pack(["rows", [*map(list, rows)]])  # a list is packed faster than a tuple
            size += len(data)
            if size > request.largest:
                raise ResultTooLarge
            send_packed(self._line, data)
            left = None if left is None else left - len(rows)
        more = bool(connection.fetchmany(1))
        connection.abort()  # the rest of the result
        return more


def _fields(connection: duckdb.DuckDBPyConnection) -> Sequence[tuple[str, str]]:
    return [(name, str(kind)) for name, kind, *_ in connection.description or ()]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_stock: dict[int, list[_Instance]] = {}
"""Instances by their memory, made before the fork: one takes as long as several statements."""


def _prepared(order: bytes) -> Callable[[socket.socket], None]:
    """Return the work of a new process, which may take as many bytes of memory as the order says."""
    memory = int(order)
    if memory not in _stock:
        _stock.clear()
        _stock[memory] = [_Instance(memory) for _ in range(_STOCK)]
    return partial(_compute, memory=memory)


def _compute(line: socket.socket, memory: int) -> None:
    """Compute the requests from a line, within ``memory`` bytes."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory + _SPARE, memory + _SPARE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with line:
        Computer(line).serve()


def main() -> None:
    """Load what the first statement, the columns of its result and the first table need, and serve forks."""
    with connected(_SPARE) as connection:
        connection.register("first", pa.table({"a": [1]}))
        _fields(connection.execute("SELECT * FROM first"))
        connection.fetchmany(1)
    fork_on_request(_prepared, walled=False)
