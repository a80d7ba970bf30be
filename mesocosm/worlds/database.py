"""SQLite files of a world, opened through one SQLAlchemy engine for the whole process.

An engine for each world would compile every statement again for each; one engine whose connections come
from the file in ``_path`` shares the compiled statements and still isolates worlds by connection.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

import orjson
from sqlalchemy import JSON, Connection, Engine, Executable, MetaData, Select, Table, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import OrderedSet

from mesocosm.errors import OtherVersion
from mesocosm.worlds import deadlines

_path: ContextVar[tuple[Path, bool, int]] = ContextVar("path")
_CACHE, _FILLING_CACHE = 512, 65_536
"""KiB of a database's pages that are kept in memory: of one among thousands, and of one that is filled."""


def file_uri(path: Path, options: str) -> str:
    """The URI of a database file, whatever characters its path has."""
    return f"file:{quote(path.absolute().as_posix())}?{options}"


def _connect() -> sqlite3.Connection:
    path, read_only, cache = _path.get()
    uri = file_uri(path, "mode=ro&immutable=1" if read_only else "mode=rwc")
    # Transactions are begun by the event below: the driver's own begin comes too late to cover reads.
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    # DELETE keeps one file and no memory map per database, so thousands can be open and each can be copied as
    # it lies between two calls; a journal that has a second name (a step) outlives its transaction. OFF gives
    # up only what a failing machine would lose.
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute(f"PRAGMA cache_size=-{cache}")
    connection.execute("PRAGMA foreign_keys=ON")
    # A statement that is still at work when the time of its call is up is interrupted.
    connection.set_progress_handler(deadlines.overdue, _STEPS)
    return connection


_STEPS = 50_000
"""Of SQLite's machine, which makes them in about a millisecond, between two looks at the clock."""


class OutOfTime(Exception):
    """The time is up; for SQLAlchemy, which gives a connection up for what is no ``Exception``."""


MADE_WITH = "made-with.json"
"""The file of a run that says which versions of what made it."""
_AROUND = 4
"""Folders around a database up to the one that has it, at most."""
_OTHER_TABLES = re.compile(r"no such (column|table): |table \w+ has no column named ")
"""SQLite's errors for tables unlike those of our code."""


@cache
def _engine() -> Engine:
    engine = create_engine("sqlite://", creator=_connect, poolclass=NullPool)

    @event.listens_for(engine, "before_cursor_execute")
    def before(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if deadlines.overdue() and not statement.startswith("ROLLBACK"):  # that is, to a savepoint
            raise OutOfTime

    @event.listens_for(engine, "handle_error")
    def other_tables(failure: ExceptionContext) -> None:
        said, connection = str(failure.original_exception), failure.connection
        if _OTHER_TABLES.match(said) and connection is not None:
            [(_, _, file), *_] = connection.connection.execute("PRAGMA database_list").fetchall()
            raise _other_version(Path(file), said)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        if not driver.in_transaction:
            driver.execute("BEGIN")

    return engine


def _other_version(file: Path, said: str) -> OtherVersion:
    return OtherVersion(
        f"{file}: its tables are those of another version of Mesocosm ({said}), {_maker(file)}: read it with "
        "that one"
    )


def check_tables(file: Path, metadata: MetaData) -> None:
    """Raise ``OtherVersion`` where a database lacks tables or columns that our code has.

    A damaged file passes: whoever reads it says so.
    """
    try:
        with closing(sqlite3.connect(file_uri(file, "mode=ro"), uri=True)) as db:
            _check_tables(db, file, metadata)
    except sqlite3.DatabaseError:
        return


def _check_tables(db: sqlite3.Connection, file: Path, metadata: MetaData) -> None:
    known = hash(tuple(db.execute("SELECT name, sql FROM sqlite_master")))
    if _fitting.get(metadata) == known:
        return
    for table in metadata.sorted_tables:
        there = {row[1] for row in db.execute(f'PRAGMA table_info("{table.name}")')}
        if missing := [column.name for column in table.columns if column.name not in there]:
            raise _other_version(file, f"no such column: {table.name}.{missing[0]}")
    _fitting[metadata] = known


_fitting: dict[MetaData, int] = {}
"""Fingerprints of files with all tables, by our code's metadata: most files of a process are alike."""


def _maker(file: Path) -> str:
    """Describe the versions that made the world of a file, if they were recorded beside it."""
    for folder in file.parents[:_AROUND]:
        if (noted := folder / MADE_WITH).is_file():
            parts = orjson.loads(noted.read_bytes())
            return f"{parts['mesocosm']} with the code {parts['the code of mesocosm'][:12]} ({noted})"
    return "which is not noted beside it (a log's metadata have `made_with`)"


def open_session(path: Path, *, read_only: bool = False, filling: bool = False) -> Session:
    """A session on one SQLite file; closing its connection is the caller's, with ``close_session``.

    ``read_only`` promises that nobody writes the file meanwhile; ``filling`` that much will be written.
    """
    token = _path.set((path, read_only, _FILLING_CACHE if filling else _CACHE))
    try:
        connection = _engine().connect()
    finally:
        _path.reset(token)
    info = {"driver": connection.connection.driver_connection}
    return Session(bind=connection, expire_on_commit=False, autoflush=True, info=info)


def connection_of(session: Session) -> Connection:
    """The connection that the session was opened on."""
    connection = session.bind
    assert isinstance(connection, Connection)
    return connection


def driver_connection(session: Session) -> sqlite3.Connection:
    """The ``sqlite3`` connection below a session, for pragmas."""
    driver: sqlite3.Connection = session.info["driver"]
    return driver


def size(session: Session) -> int:
    """Bytes that what a database keeps takes, with what the present transaction has written."""
    one = driver_connection(session).execute
    ((pages,), (free,), (each,)) = (
        one(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * each)


Row = dict[str, Any]


@dataclass(frozen=True)
class _Prepared:
    """A statement as the driver takes it."""

    sql: str
    parameters: tuple[str, ...]
    """Names of the values that the caller has to give."""
    fixed: dict[str, Any]
    """Values that the statement itself holds."""
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    """Parameters that are lists, for IN: each with the names of its elements in the statement."""
    columns: tuple[str, ...]
    convert: tuple[tuple[str, Callable[[Any], Any]], ...]
    """Columns whose stored value is not what Python code expects (booleans, JSON)."""


_Lengths = tuple[tuple[str, int], ...]
_seen: WeakKeyDictionary[Select[Any], dict[_Lengths, _Prepared | None]] = WeakKeyDictionary()
_dialect = sqlite.dialect(paramstyle="named")
_MAX_ELEMENTS = 512
"""Longest list for IN whose statement is kept."""


def fetch(session: Session, statement: Executable, parameters: dict[str, Any]) -> list[Row]:
    """Rows of a statement that selects columns, as dictionaries.

    A statement object that is executed again (one built at import) goes to the driver directly: SQLAlchemy's
    own execution takes several times as long as SQLite's for the small reads that most tool calls are.
    """
    deadlines.check()
    if isinstance(statement, Select):
        known = _seen.get(statement)
        if known is None:
            _seen[statement] = {}
        elif (prepared := _variant(known, statement, parameters)) is not None:
            return _run_prepared(driver_connection(session), prepared, parameters)
    result = session.connection().execute(statement, parameters)
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result]


def _variant(
    known: dict[_Lengths, _Prepared | None], statement: Select[Any], parameters: dict[str, Any]
) -> _Prepared | None:
    """The statement for lists of these lengths, which its SQL depends on; ``None`` for very long ones."""
    lengths: _Lengths = ()
    for name, value in parameters.items():
        if isinstance(value, (list, tuple)):
            if len(value) > _MAX_ELEMENTS:
                return None
            lengths = (*lengths, (name, _padded(len(value))))
    if lengths not in known:
        known[lengths] = _prepare(statement, parameters, dict(lengths))
    return known[lengths]


def _padded(length: int) -> int:
    """A list is filled up to a power of two with its last element, so that there are few statements."""
    return 1 << (length - 1).bit_length() if length else 0


def _prepare(statement: Select[Any], parameters: dict[str, Any], lengths: dict[str, int]) -> _Prepared | None:
    compiled = statement.compile(dialect=_dialect)
    if compiled.literal_execute_params:
        return None
    missing = [name for name, value in compiled.params.items() if value is None and name not in parameters]
    if missing:
        raise TypeError(f"no value for the parameter {missing[0]!r}")
    example = {name: [None] * lengths[name] if name in lengths else None for name in parameters}
    expanded = compiled.construct_expanded_state({**example})
    elements = {name: tuple(expanded.parameter_expansion.get(name, ())) for name in lengths}
    given = {*parameters, *(element for names in elements.values() for element in names)}
    columns = tuple(column.key or "" for column in statement.selected_columns)
    kinds = (column.type for column in statement.selected_columns)
    converters = ((name, _converter(kind)) for name, kind in zip(columns, kinds, strict=True))
    return _Prepared(
        sql=expanded.statement,
        parameters=tuple(name for name in compiled.params if name in parameters),
        fixed={name: value for name, value in expanded.parameters.items() if name not in given},
        lists=tuple(elements.items()),
        columns=columns,
        convert=tuple((name, convert) for name, convert in converters if convert),
    )


def _run_prepared(driver: sqlite3.Connection, prepared: _Prepared, parameters: dict[str, Any]) -> list[Row]:
    for name in prepared.parameters:
        if name not in parameters:
            raise TypeError(f"no value for the parameter {name!r}")
    values = {**prepared.fixed, **parameters}
    for name, elements in prepared.lists:
        given = values.pop(name)
        values.update(zip(elements, chain(given, repeat(given[-1] if given else None)), strict=False))
    columns = prepared.columns
    rows = [dict(zip(columns, row)) for row in driver.execute(prepared.sql, values)]  # noqa: B905 - as many
    for name, convert in prepared.convert:
        for row in rows:
            row[name] = convert(row[name])
    return rows


def add_row(session: Session, table: Table, values: dict[str, Any]) -> int:
    """Insert one row with a value for each column but the primary key; returns its number.

    The quick way for what each call adds. It does not flush: neither what is pending in the session nor what
    was loaded knows of it.
    """
    deadlines.check()
    sql, columns = _insertion(table)
    row = [convert(values[name]) if convert else values[name] for name, convert in columns]
    return driver_connection(session).execute(sql, row).lastrowid or 0


@cache
def _insertion(table: Table) -> tuple[str, list[tuple[str, Callable[[Any], Any] | None]]]:
    columns = [column for column in table.columns if not column.primary_key]
    names = ", ".join(_dialect.identifier_preparer.quote(column.name) for column in columns)
    sql = f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(columns))})"
    kinds = [(column.name, column.type.dialect_impl(_dialect)) for column in columns]
    return sql, [(name, kind.bind_processor(_dialect)) for name, kind in kinds]


def _converter(kind: TypeEngine[Any]) -> Callable[[Any], Any] | None:
    if isinstance(kind, JSON):
        return _from_json
    return kind.dialect_impl(_dialect).result_processor(_dialect, None)


def _from_json(kept: Any) -> Any:
    """Decode a JSON column. SQLite stores a bare number as a number, and null as NULL."""
    if not isinstance(kept, str):
        return kept
    try:
        return orjson.loads(kept)
    except orjson.JSONDecodeError:  # such as NaN, which the standard library writes and reads
        return json.loads(kept)


def begin(session: Session, *, read_only: bool) -> None:
    """Begin a transaction, of which whatever follows through session, connection or ``fetch`` is part."""
    allow_writes(session, not read_only)
    driver_connection(session).execute("BEGIN")


def allow_writes(session: Session, allowed: bool) -> None:
    """Allow or forbid statements that write the file."""
    if session.info.get("writes") is not allowed:
        session.info["writes"] = allowed
        driver_connection(session).execute(f"PRAGMA query_only={'OFF' if allowed else 'ON'}")


def may_write(session: Session) -> bool:
    """True if statements may write the file."""
    return bool(session.info.get("writes", True))


def commit(session: Session) -> None:
    """Commit everything since ``begin``, or since the last commit."""
    session.commit()
    connection = connection_of(session)
    if connection.in_transaction():
        connection.commit()
    driver_connection(session).commit()


def rollback(session: Session) -> None:
    """Undo everything since ``begin``, or since the last commit."""
    session.rollback()
    connection = connection_of(session)
    if connection.in_transaction():
        connection.rollback()
    driver_connection(session).rollback()


def close_session(session: Session) -> None:
    """Give up an open transaction and close the file."""
    session.close()
    connection_of(session).close()


def create_file(path: Path, metadata: MetaData) -> None:
    """A new file with the tables and whatever their models attach to them (triggers, first rows ...)."""
    path.write_bytes(_empty_file(metadata))


@cache
def _empty_file(metadata: MetaData) -> bytes:
    """The file as it is before a generator fills it: to create fifty tables takes as long as to fill them."""
    for table in metadata.tables.values():
        # SQLAlchemy keeps them in a set, whose order differs between processes, and so would the files.
        table.indexes = OrderedSet(sorted(table.indexes, key=lambda index: str(index.name)))
    with tempfile.TemporaryDirectory(prefix="mesocosm-tables-") as folder:
        path = Path(folder) / "empty.db"
        session = open_session(path)
        metadata.create_all(connection_of(session))
        connection_of(session).commit()
        close_session(session)
        return path.read_bytes()
