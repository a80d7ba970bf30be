"""SQLite files of a world: how they are opened, and the two ways in which statements are executed.

**One engine for all files.** A process serves thousands of worlds with a file per service. SQLAlchemy keeps
compiled statements with its engine, so an engine per file would compile each statement again for each
world. Here is one engine for the process. Its ``creator`` connects to whatever file the context variable
``_path`` names at that moment; ``open_session`` sets it, connects, and keeps the connection as long as the
world is open. Worlds stay apart because nothing but the cache of statements is shared.

**Two ways to execute.** Rules change rows with the ORM (``session.add``, ``insert``, ``update``) and read
them with ``fetch``::

    _UNREAD = select(Message.id).where(Message.folder == bindparam("folder"))     # built once, at import
    rows = self.fetch(_UNREAD, folder="INBOX")                                    # [{"id": 3}, ...]

For SQLite such a read is 5 to 20 microseconds of work. SQLAlchemy's ``execute`` takes 60 to 90 around it:
cache key, execution context, events, result object. A tool call has 2 to 8 such reads. So ``fetch`` keeps
the compiled form of a statement (by the object itself, weakly) and hands its text and values to the
``sqlite3`` connection:

1. The first time that it sees a ``SELECT``, it executes it by SQLAlchemy and notes the object. A statement
   that is put together within a call is never seen twice; it always goes this way, and SQLAlchemy's own
   cache, which compares what statements look like, finds its compiled form.
2. The second time it has SQLAlchemy compile it, and notes its columns and their types (``_Prepared``).
3. From then on ``construct_params`` fills in the values, or ``construct_expanded_state`` where the SQL
   depends on them (lists for ``IN``). The driver executes, and rows become dictionaries. Booleans and JSON
   are converted by the types' own result processors.

Both ways give the same rows; most tests take both. What ``fetch`` does *not* do: flush what is pending in
the session (call ``session.flush()`` first in a tool that writes), and convert parameters (give what SQLite
takes: text, numbers, bytes). If that is dropped one day, by ``session.connection().execute(...)`` for all,
a read call over HTTP takes a tenth to two thirds more of a processor: measure with
``benchmarks/tool_call.py`` and ``benchmarks/services.py``. Decision 103 has the numbers, and what else was
tried.

**Transactions** are begun by us: see ``begin`` and ``_connect``. ``deadlines`` are looked at before
statements and, by SQLite's progress handler, during them.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

import orjson
from sqlalchemy import JSON, Connection, Engine, Executable, MetaData, Select, create_engine, event
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


def check_tables(file: Path, metadata: MetaData, base: Path | None = None) -> None:
    """Raise ``OtherVersion`` where a database lacks tables or columns that our code has.

    ``base``: the file that it is a copy of and that nobody writes, which many may share: one that was found
    to fit is not opened again, nor are copies whose tables are still those. A damaged file passes: whoever
    reads it says so.
    """
    try:
        known = _identity(base) if base and _schema_cookie(file) == _schema_cookie(base) else None
        if known is not None and _fitting_bases.get(known) is metadata:
            return
        with closing(sqlite3.connect(file_uri(file, "mode=ro"), uri=True)) as db:
            _check_tables(db, file, metadata)
    except (sqlite3.DatabaseError, FileNotFoundError):
        return
    if known is not None:
        if len(_fitting_bases) >= _MOST_BASES:
            _fitting_bases.clear()
        _fitting_bases[known] = metadata


def _schema_cookie(file: Path) -> bytes:
    """Return the number that SQLite counts up in a file's header whenever its tables change."""
    with open(file, "rb", buffering=0) as header:
        return header.read(44)[40:]


def _identity(file: Path) -> tuple[int, ...]:
    status = file.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


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
_MOST_BASES = 4096
_fitting_bases: dict[tuple[int, ...], MetaData] = {}
"""Files that nobody writes and that have all tables of our code's metadata."""


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
    """Return the size of a database in bytes, including uncommitted writes."""
    one = driver_connection(session).execute
    ((pages,), (free,), (each,)) = (
        one(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * each)


Row = dict[str, Any]


class _Prepared:
    """A SELECT, compiled once, and what its columns are."""

    def __init__(self, statement: Select[Any]) -> None:
        columns = statement.selected_columns
        self.compiled = statement.compile(dialect=_dialect)
        self.columns = tuple(column.key or "" for column in columns)
        self.converters = [(c.key or "", convert) for c in columns if (convert := _converter(c.type))]
        """Columns whose stored value is not what Python code expects (booleans, JSON)."""


_dialect = sqlite.dialect(paramstyle="named")
_seen: WeakKeyDictionary[Select[Any], _Prepared | None] = WeakKeyDictionary()
"""Statements that were executed: ``None`` after the first time."""


def fetch(session: Session, statement: Executable, parameters: dict[str, Any]) -> list[Row]:
    """Rows of a statement that selects columns, as dictionaries.

    A statement object that is executed again (one built at import) goes to the driver directly: see above.
    """
    deadlines.check()
    if isinstance(statement, Select):
        prepared = _seen.get(statement)
        if prepared is None and statement in _seen:
            prepared = _seen[statement] = _Prepared(statement)
        if prepared is not None:
            return _fetch_prepared(driver_connection(session), prepared, parameters)
        _seen[statement] = None
    result = session.connection().execute(statement, parameters)
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result]


def _fetch_prepared(driver: sqlite3.Connection, prepared: _Prepared, parameters: dict[str, Any]) -> list[Row]:
    compiled = prepared.compiled
    if compiled.post_compile_params or compiled.literal_execute_params:  # such as lists for IN
        expanded = compiled.construct_expanded_state(parameters)
        found = driver.execute(expanded.statement, expanded.parameters)
    else:
        found = driver.execute(compiled.string, compiled.construct_params(parameters))
    rows = [dict(zip(prepared.columns, row, strict=True)) for row in found]
    for name, convert in prepared.converters:
        for row in rows:
            row[name] = convert(row[name])
    return rows


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
