"""DuckDB, which computes statements: in memory, without files, settings or extensions, within time and
memory."""

from __future__ import annotations

import atexit
import heapq
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from time import perf_counter
from typing import Any

import duckdb

from mesocosm.errors import Invalid
from mesocosm.services.queries import allowlist
from mesocosm.services.queries.catalogue import Field, Result
from mesocosm.services.queries.tables import quoted
from mesocosm.worlds import deadlines
from mesocosm.worlds.limits import settings

_LOCKED = (
    "SET python_enable_replacements=false",
    "SET enable_external_access=false",
    "SET TimeZone='UTC'",
    # It doubles the time of a page of a small table; Arrow tables, which the large ones are, have none of it.
    "SET disabled_optimizers='late_materialization'",
    "SET lock_configuration=true",
)
_INTERVAL = re.compile(r'(?<!")\bINTERVAL\b(?!")')
_POSITION = re.compile(r"\n+LINE \d+:.*", re.DOTALL)


_SPENT = (duckdb.OutOfMemoryException, duckdb.FatalException, duckdb.InternalException)
"""Errors after which an instance is not used again."""


_SMALL, _MOST_KEPT = 4 * 2**20, 32 * 2**20
"""Bytes of a table that an instance keeps for the next query, and of all of these."""
_MOST_IDLE = 32
"""Instances that wait for the next statement of their world."""


class Failed(Exception):
    """DuckDB does not compute a statement; a dialect says it in its vendor's words.

    ``kind`` is DuckDB's class of the error: ``Binder``, ``Conversion``, ``Catalog``, ``Out of Memory`` ...
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True)
class Table:
    """An Arrow table that a query names."""

    arrow: Any
    lasting: bool = False
    """Whether its name stands for these rows and no others, so that it may stay for the next query."""


class _Instance:
    """One instance of DuckDB, and the tables that it has kept."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._kept: OrderedDict[str, int] = OrderedDict()

    @contextmanager
    def holding(self, tables: Mapping[str, Table]) -> Iterator[None]:
        """While these tables are there. Small ones stay, as tables of DuckDB: to make one known takes longer
        than a query on it."""
        registered = []
        try:
            for name, table in tables.items():
                if name in self._kept:
                    self._kept.move_to_end(name)
                elif table.lasting and table.arrow.nbytes <= _SMALL:
                    self._keep(name, table.arrow)
                else:
                    self.connection.register(name, table.arrow)
                    registered.append(name)
            yield
        except BaseException:
            self.connection.abort()  # of a result that was not read to its end
            raise
        finally:
            for name in registered:
                self.connection.unregister(name)

    def _keep(self, name: str, arrow: Any) -> None:
        while self._kept and sum(self._kept.values()) + arrow.nbytes > _MOST_KEPT:
            oldest, _ = self._kept.popitem(last=False)
            self.connection.execute(f"DROP TABLE IF EXISTS {quoted(oldest)}")
        self.connection.register("arriving", arrow)
        try:
            self.connection.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS SELECT * FROM arriving")
        finally:
            self.connection.unregister("arriving")
        self._kept[name] = arrow.nbytes


class Engine:
    """The instances of DuckDB in this process; no world ever meets what another's statements have left.

    Each statement has an instance for itself, which its world has had before or nobody, and nothing that it
    does stays.
    """

    def __init__(self) -> None:
        self._idle: OrderedDict[int, tuple[str, _Instance]] = OrderedDict()
        """By a number, with the world that it is of; what has waited longest comes first."""
        self._numbers = count()
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(settings().query_jobs)
        self._watch = _Watch()

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

        ``world``: whose instance it is run in. ``known``: whether it has passed the wall (``allowlist``)
        before, with other numbers or names of tables. ``seed``: between -1 and 1, what random functions
        follow. ``counters``: next number and step of what ``nextval`` counts with; the result says which
        number is next after it. Raises ``Failed``, and ``Barred`` for what does not pass.
        """
        with self._instance(world) as instance, instance.holding(tables), _undone(instance.connection):
            connection = instance.connection
            columns = {name.lower() for table in tables.values() for name in table.arrow.column_names}
            query = sql if known else allowlist.passed(sql, tables, connection, counters or (), columns)
            if seed is not None:
                connection.execute("SELECT setseed(?)", [seed]).fetchall()
            if counters:
                return _counting(connection, query, counters)
            connection.execute(query)
            fields = tuple(Field(name, str(kind)) for name, kind, *_ in connection.description or ())
            if any(_INTERVAL.search(one.kind) for one in fields):
                connection.abort()
                if seed is not None:
                    connection.execute("SELECT setseed(?)", [seed]).fetchall()
                again = _with_texts(sql, fields)
                connection.execute(allowlist.passed(again, tables, connection, (), columns))
            while skip > 0 and (passed := connection.fetchmany(min(skip, 10_000))):
                skip -= len(passed)
            if limit is None:
                return Result(fields, connection.fetchall())
            rows = connection.fetchmany(limit + 1)
            if rows and (len(rows) > limit or connection.fetchmany(1)):
                connection.abort()  # the rest of the result
            return Result(fields, rows[:limit], len(rows) > limit)

    def passes(self, sql: str, tables: Iterable[str], world: str) -> bool:
        """Whether a query of these tables passes the wall (``allowlist``)."""
        try:
            with self._instance(world) as instance:
                allowlist.passed(sql, tables, instance.connection)
        except (allowlist.Barred, Failed):
            return False
        return True

    def cast(self, raw: Any, kinds: Sequence[tuple[str, str]], world: str) -> Any:
        """An Arrow table whose columns, named in their order, are cast."""
        names = ", ".join(f"{_cast(name, kind)} AS {quoted(name)}" for name, kind in kinds)
        with self._instance(world) as instance, instance.holding({"raw": Table(raw)}):
            query = allowlist.passed(f"SELECT {names} FROM raw", ["raw"], instance.connection)
            return instance.connection.sql(query.query).to_arrow_table()

    @contextmanager
    def _instance(self, world: str) -> Iterator[_Instance]:
        self._wait()
        try:
            instance = self._taken(world) or _Instance(_connect())
            watched = self._watch.add(instance.connection)
            try:
                yield instance
            except duckdb.Error as error:
                self._watch.remove(watched)
                if isinstance(error, _SPENT):
                    instance.connection.close()
                else:
                    self._return(world, instance)
                raise _failed(error) from error
            except BaseException:
                self._watch.remove(watched)
                instance.connection.close()
                raise
            self._watch.remove(watched)
            self._return(world, instance)
        finally:
            self._places.release()

    def _wait(self) -> None:
        until = deadlines.moment()
        left = None if until is None else min(max(0.0, until - perf_counter()), threading.TIMEOUT_MAX)
        if not self._places.acquire(timeout=left):
            raise deadlines.Overdue

    def close(self) -> None:
        """Let go of all instances that are idle."""
        with self._lock:
            while self._idle:
                self._idle.popitem()[1][1].connection.close()
        self._watch.end()

    def _taken(self, world: str) -> _Instance | None:
        with self._lock:
            of_it = next((at for at, (owner, _) in reversed(self._idle.items()) if owner == world), None)
            return None if of_it is None else self._idle.pop(of_it)[1]

    def _return(self, world: str, instance: _Instance) -> None:
        spare = None
        with self._lock:
            self._idle[next(self._numbers)] = world, instance
            if len(self._idle) > _MOST_IDLE:
                _, (_, spare) = self._idle.popitem(last=False)
        if spare is not None:
            spare.connection.close()


@contextmanager
def _undone(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """A transaction that ends with nothing changed."""
    connection.begin()
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # it has ended by itself with an error
            connection.rollback()


def _with_texts(sql: str, fields: Sequence[Field]) -> str:
    """The query with its intervals as text: Python has none with months."""
    names = [f"c{place}" for place in range(len(fields))]
    shown = (
        f"CAST({name} AS {_INTERVAL.sub('VARCHAR', one.kind)})" if _INTERVAL.search(one.kind) else name
        for name, one in zip(names, fields, strict=True)
    )
    return f"SELECT {', '.join(shown)} FROM ({sql}) AS shown({', '.join(names)})"


def _counting(
    instance: duckdb.DuckDBPyConnection,
    query: str | duckdb.Statement,
    counters: Mapping[str, tuple[int, int]],
) -> Result:
    for name, (start, step) in counters.items():
        bounds = "MINVALUE -9223372036854775808" if step < 0 else "MINVALUE -9223372036854775807"
        instance.execute(f"CREATE TEMP SEQUENCE {quoted(name)} {bounds} START {start} INCREMENT {step}")
    instance.execute(query)
    fields = tuple(Field(name, str(kind)) for name, kind, *_ in instance.description or ())
    rows = instance.fetchall()
    # One more than the last: that number is the next one.
    after = {name: int(instance.execute("SELECT nextval(?)", [name]).fetchall()[0][0]) for name in counters}
    return Result(fields, rows, counted=after)


def _cast(name: str, kind: str) -> str:
    if kind.startswith(("STRUCT", "MAP")) or kind.endswith("]"):
        # TRY: a struct may have been given fields since its rows were written; they are NULL there.
        return f"TRY_CAST(CAST({quoted(name)} AS JSON) AS {kind})"
    return f"CAST({quoted(name)} AS {kind})"


def _failed(error: duckdb.Error) -> BaseException:
    if isinstance(error, duckdb.InterruptException) or deadlines.overdue():
        return deadlines.Overdue()
    if isinstance(error, duckdb.OutOfMemoryException):
        return Invalid(
            f"The statement needs more than the {settings().query_memory // 2**20} MB of memory that one may"
            " take. Aggregate or filter before joining and sorting."
        )
    kind, _, message = str(error).partition(" Error: ")
    if isinstance(error, duckdb.InternalException | duckdb.FatalException):
        return Failed("Internal", message or kind)
    return Failed(kind, _POSITION.sub("", message or kind).strip())


def _connect() -> duckdb.DuckDBPyConnection:
    instance = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{settings().query_memory // 2**20}MiB",
            "threads": "1",  # so that rows come in one order
            "temp_directory": "",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        },
    )
    for statement in _LOCKED:
        instance.execute(statement)
    return instance


class _Watch:
    """Interrupts statements at the deadlines of their calls, in a thread of its own."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, duckdb.DuckDBPyConnection]] = []
        self._live: set[int] = set()
        self._numbers = count()
        self._changed = threading.Condition()
        self._wake = float("inf")
        self._thread: threading.Thread | None = None

    def add(self, instance: duckdb.DuckDBPyConnection) -> int | None:
        """Watch over a statement that is about to start."""
        until = deadlines.moment()
        if until is None or until == float("inf"):
            return None
        with self._changed:
            number = next(self._numbers)
            self._live.add(number)
            heapq.heappush(self._due, (until, number, instance))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="deadlines of queries", daemon=True)
                self._thread.start()
            elif until < self._wake:
                self._changed.notify()
        return number

    def remove(self, number: int | None) -> None:
        """The statement is finished: from here on nobody interrupts it."""
        if number is not None:
            with self._changed:
                self._live.discard(number)

    def end(self) -> None:
        """Nobody is watched any more, and nobody watches."""
        with self._changed:
            self._due.clear()
            self._live.clear()
            thread, self._thread = self._thread, None
            self._changed.notify()
        if thread is not None:
            thread.join(1)

    def _run(self) -> None:
        with self._changed:
            while self._thread is threading.current_thread():
                while self._due and (self._due[0][1] not in self._live or self._due[0][0] <= perf_counter()):
                    _, number, instance = heapq.heappop(self._due)
                    if number in self._live:
                        self._live.discard(number)
                        instance.interrupt()
                    del instance  # or it would be kept for as long as this waits
                self._wake = self._due[0][0] if self._due else float("inf")
                self._changed.wait(None if not self._due else max(0.0, self._wake - perf_counter()))


@cache
def engine() -> Engine:
    """The engine of this process."""
    made = Engine()
    atexit.register(_leave, made)
    return made


def _leave(engine: Engine) -> None:
    """The end of the process: nothing is asked any more.

    In one that has served calls something keeps the modules of DuckDB until after the interpreter is gone,
    and for each type that they name its bindings complain on the screen. So they name none from here on.
    """
    engine.close()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("duckdb", "_duckdb")]:
        vars(sys.modules[name]).clear()
