"""SQLite files of a world, opened through one SQLAlchemy engine for the whole process.

An engine for each world would compile every statement again for each; one engine whose connections come
from the file in ``_path`` shares the compiled statements and still isolates worlds by connection.
"""

from __future__ import annotations

import sqlite3
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, MetaData, create_engine, event
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

_path: ContextVar[tuple[Path, bool]] = ContextVar("path")


def _connect() -> sqlite3.Connection:
    path, read_only = _path.get()
    uri = f"file:{path.absolute().as_posix().replace('?', '%3f').replace('#', '%23')}"
    uri += "?mode=ro&immutable=1" if read_only else "?mode=rwc"
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
        connection.exec_driver_sql("BEGIN")

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


def close_session(session: Session) -> None:
    """Give up an open transaction and close the file."""
    session.close()
    connection_of(session).close()


def create_tables(session: Session, metadata: MetaData) -> None:
    """Create the tables and whatever their models attach to them (indexes, triggers, FTS tables)."""
    metadata.create_all(connection_of(session))
    connection_of(session).commit()
