"""SQLite files of a world, opened through one SQLAlchemy engine for the whole process.

An engine for each world would compile every statement again for each; one engine whose connections come
from the file in ``_path`` shares the compiled statements and still isolates worlds by connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Executable, MetaData, Select, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool
from sqlalchemy.util import OrderedSet

_path: ContextVar[tuple[Path, bool]] = ContextVar("path")


def file_uri(path: Path, options: str) -> str:
    """The URI of a database file, whatever characters its path has."""
    return f"file:{quote(path.absolute().as_posix())}?{options}"


def _connect() -> sqlite3.Connection:
    path, read_only = _path.get()
    uri = file_uri(path, "mode=ro&immutable=1" if read_only else "mode=rwc")
    # Transactions are begun by the event below: the driver's own begin comes too late to cover reads.
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    # TRUNCATE keeps one file and no memory map per database, so thousands can be open and each can be
    # copied as it lies between two calls; OFF gives up only what a failing machine would lose.
    connection.execute("PRAGMA journal_mode=TRUNCATE")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA cache_size=-512")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


@cache
def _engine() -> Engine:
    engine = create_engine("sqlite://", creator=_connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        if not driver.in_transaction:
            driver.execute("BEGIN")

    return engine


def open_session(path: Path, *, read_only: bool = False) -> Session:
    """A session on one SQLite file; closing its connection is the caller's, with ``close_session``.

    ``read_only`` promises that nobody writes the file meanwhile.
    """
    token = _path.set((path, read_only))
    try:
        connection = _engine().connect()
    finally:
        _path.reset(token)
    return Session(bind=connection, expire_on_commit=False, autoflush=True)


def connection_of(session: Session) -> Connection:
    """The connection that the session was opened on."""
    connection = session.bind
    assert isinstance(connection, Connection)
    return connection


def driver_connection(session: Session) -> sqlite3.Connection:
    """The ``sqlite3`` connection below a session, for pragmas."""
    connection = connection_of(session).connection.driver_connection
    assert isinstance(connection, sqlite3.Connection)
    return connection


Row = dict[str, Any]


@dataclass(frozen=True)
class _Prepared:
    """A statement as the driver takes it."""

    sql: str
    parameters: tuple[str, ...]
    fixed: dict[str, Any]
    """Values that the statement itself holds."""
    columns: tuple[str, ...]
    convert: tuple[tuple[str, Callable[[Any], Any]], ...]
    """Columns whose stored value is not what Python code expects (booleans, JSON)."""


_seen: WeakKeyDictionary[Select[Any], _Prepared | Literal["once", "never"]] = WeakKeyDictionary()
_dialect = sqlite.dialect(paramstyle="named")


def fetch(session: Session, statement: Executable, parameters: dict[str, Any]) -> list[Row]:
    """Rows of a statement that selects columns, as dictionaries.

    A statement object that is executed again (one built at import) goes to the driver directly: SQLAlchemy's
    own execution takes several times as long as SQLite's for the small reads that most tool calls are.
    """
    if isinstance(statement, Select):
        known = _seen.get(statement)
        if known is None:
            _seen[statement] = "once"
        elif known == "once":
            known = _seen[statement] = _prepare(statement)
        if isinstance(known, _Prepared):
            return _run_prepared(driver_connection(session), known, parameters)
    return [dict(row) for row in session.connection().execute(statement, parameters).mappings()]


def _prepare(statement: Select[Any]) -> _Prepared | Literal["never"]:
    compiled = statement.compile(dialect=_dialect)
    if compiled.post_compile_params or compiled.literal_execute_params:
        return "never"  # such as a list for IN, whose SQL depends on its length
    columns = tuple(column.key or "" for column in statement.selected_columns)
    types = (column.type.dialect_impl(_dialect) for column in statement.selected_columns)
    processors = (kind.result_processor(_dialect, None) for kind in types)
    convert = tuple((name, make) for name, make in zip(columns, processors, strict=True) if make)
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    return _Prepared(str(compiled), tuple(compiled.params), fixed, columns, convert)


def _run_prepared(driver: sqlite3.Connection, prepared: _Prepared, parameters: dict[str, Any]) -> list[Row]:
    missing = [name for name in prepared.parameters if name not in parameters and name not in prepared.fixed]
    if missing:
        raise TypeError(f"no value for the parameter {missing[0]!r}")
    values = {**prepared.fixed, **parameters}
    rows = [dict(zip(prepared.columns, row, strict=True)) for row in driver.execute(prepared.sql, values)]
    for name, convert in prepared.convert:
        for row in rows:
            row[name] = convert(row[name])
    return rows


def begin(session: Session, *, read_only: bool) -> None:
    """Begin a transaction, of which whatever follows through session, connection or ``fetch`` is part."""
    allow_writes(session, not read_only)
    driver_connection(session).execute("BEGIN")


def allow_writes(session: Session, allowed: bool) -> None:
    """Whether statements may change the file."""
    if session.info.get("writes") is not allowed:
        session.info["writes"] = allowed
        driver_connection(session).execute(f"PRAGMA query_only={'OFF' if allowed else 'ON'}")


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


def create_tables(session: Session, metadata: MetaData) -> None:
    """Create the tables and whatever their models attach to them (indexes, triggers, FTS tables)."""
    for table in metadata.tables.values():
        # SQLAlchemy keeps them in a set, whose order differs between processes, and so would the files.
        table.indexes = OrderedSet(sorted(table.indexes, key=lambda index: str(index.name)))
    metadata.create_all(connection_of(session))
    connection_of(session).commit()
