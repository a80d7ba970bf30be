"""The journal of a world: every tool call with its arguments, outcome, result and duration.

It is a SQLite file of its own, so that reading never changes the graded state. A call that writes is
journalled before it runs (``begun``) and completed after its transaction; what a crash left ``begun`` is
settled when the world is next opened.

A long text is kept once, however often it was given or answered: an agent may read the same again and again.
"""

# A text is stored once, by its digest: agents read the same mails again and again, and the journal grew to
# many times the world (decision 031).

from __future__ import annotations

import errno
import fcntl
import json
import os
import sqlite3
import struct
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cache, cached_property
from hashlib import blake2b
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Literal

import orjson

from mesocosm.errors import InUse
from mesocosm.worlds import tokens

Status = Literal["begun", "ok", "refused", "fault", "interrupted", "disturbed"]
"""``disturbed``: on purpose; the call was not made."""

_SCHEMA = """
CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    service TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL,
    result TEXT,
    error TEXT,
    tokens INTEGER,
    duration_us INTEGER,
    idempotency_key TEXT,
    parent INTEGER,
    request TEXT
);
CREATE UNIQUE INDEX calls_by_key ON calls (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX calls_by_status ON calls (status) WHERE status != 'ok';
CREATE INDEX calls_by_parent ON calls (parent) WHERE parent IS NOT NULL;
"""

_ADDED = {"parent": "INTEGER", "request": "TEXT"}
"""Columns that came later. Earlier versions name those that they read and write, so they go on with them."""
_TEXTS = "CREATE TABLE texts (digest BLOB NOT NULL UNIQUE, text TEXT NOT NULL, tokens INTEGER)"
_BEYOND = 2**60
"""A byte of the file that SQLite locks never."""
_LOCKS = hasattr(fcntl, "F_OFD_SETLK")
"""True if this system has locks of open file descriptions; elsewhere there is SQLite's lock alone."""
_PAGE = 4096
"""Bytes of a page of the file: what is written of it is written whole."""
_LONG = 400
"""Characters from which a text is kept by its digest, which stands in its place as bytes."""
_PIECE = 65_536
"""Characters of a text that are looked at at once."""
_REMEMBERED = 4096
"""Digests of texts that are known to be kept."""


def _whole(column: str) -> str:
    kept = f"SELECT text FROM texts WHERE digest = {column}"
    return f"CASE typeof({column}) WHEN 'blob' THEN ({kept}) ELSE {column} END"


_COLUMNS = (
    f"seq, service, tool, {_whole('arguments')}, status, {_whole('result')}, error, tokens, duration_us, "
    "idempotency_key, parent, request"
)


@dataclass(frozen=True)
class Entry:
    """One journalled call."""

    seq: int
    service: str
    tool: str
    arguments: dict[str, Any]
    status: Status
    result: str | None
    error: str | None
    """The traceback of a fault of ours; never shown to the agent."""
    tokens: int | None
    duration_us: int | None
    idempotency_key: str | None
    parent: int | None
    """The call inside which this one was made, by code of the agent; its result went to that code."""
    request: str | None = None
    """The id of the request that it came with."""

    def shown(self) -> dict[str, Any]:
        """The call as users see it: without the text of our own faults."""
        hidden = ("error", "idempotency_key")
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in hidden}


class Journal:
    """The calls of one world, in order. ``seq`` counts from 1 and also drives the world's clock."""

    def __init__(self, path: Path) -> None:
        # Given up with the connection, also where that is left to the garbage collector.
        self._path = path
        owned = _own(path)
        self._owned = weakref.finalize(self, os.close, owned)
        self._kept: OrderedDict[bytes, None] = OrderedDict()
        self.request: str | None = None
        """The id of the request whose calls are written down next."""
        self.last = 0
        try:
            _fill(owned)
            if not (_LOCKS and _is_empty(owned, path)):
                sql = "SELECT coalesce(max(seq), 0) FROM calls"
                self.last = int(self._db.execute(sql).fetchone()[0])
        except BaseException:
            self.close()
            raise

    @cached_property
    def _db(self) -> sqlite3.Connection:
        """The open file: of many a world nobody asks for more than that no call was made."""
        if not self._owned.alive:
            raise sqlite3.ProgrammingError("the journal is closed")
        # Nobody waits here for another process: it may be the event loop that asks.
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=0)
        try:
            self._prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        # One process owns an open world, so the lock is taken once. A write-ahead log survives the end of the
        # process at any point; the machine is trusted not to fail, so nothing waits for the disk.
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        try:
            db.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise InUse(f"{self._path.parent} is in use by another process") from None
            raise
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA cache_size=-256")
        tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        # As earlier versions wrote it, or left it when they were ended.
        if "calls" not in tables:
            db.executescript(_SCHEMA)
        for column, kind in _ADDED.items():
            if f"{column} {kind}" not in tables.get("calls", _SCHEMA):
                db.execute(f"ALTER TABLE calls ADD COLUMN {column} {kind}")
        if "texts" not in tables:
            db.execute(_TEXTS)

    def begin(
        self, service: str, tool: str, arguments: str, key: str | None, parent: int | None = None
    ) -> int:
        """Record that a writing call starts; returns its number."""
        seq = self.last + 1
        self._db.execute(
            "INSERT INTO calls (seq, service, tool, arguments, status, idempotency_key, parent, request)"
            " VALUES (?, ?, ?, ?, 'begun', ?, ?, ?)",
            (seq, service, tool, self._keep(arguments), key, parent, self.request),
        )
        self.last = seq
        return seq

    def finish(self, seq: int, status: Status, result: str, error: str | None, duration_us: int) -> None:
        """Complete a call that ``begin`` recorded. A call without effect gives its key free again."""
        self._db.execute(
            "UPDATE calls SET status = ?, result = ?, error = ?, duration_us = ?,"
            " idempotency_key = CASE WHEN ? = 'ok' THEN idempotency_key END WHERE seq = ?",
            (status, self._keep(result), error, duration_us, status, seq),
        )

    def _keep(self, text: str) -> str | bytes:
        """Return the stored form of a text: itself, or its digest if it is long."""
        if len(text) < _LONG:
            return text
        digest = _digest(text)
        if digest not in self._kept:
            self._db.execute("INSERT OR IGNORE INTO texts (digest, text) VALUES (?, ?)", (digest, text))
            self._kept[digest] = None
            if len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return digest

    def cut(self, seq: int) -> None:
        """Forget all calls after one. Their long texts stay, for they are likely to be met again."""
        self._db.execute("DELETE FROM calls WHERE seq > ?", (seq,))
        self.last = seq

    def record(
        self,
        service: str,
        tool: str,
        arguments: str,
        status: Status,
        result: str,
        error: str | None,
        duration_us: int,
        parent: int | None = None,
    ) -> int:
        """Record a whole call that changed nothing."""
        seq = self.last + 1
        self._db.execute(
            "INSERT INTO calls (seq, service, tool, arguments, status, result, error, duration_us, parent,"
            " request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                seq,
                service,
                tool,
                self._keep(arguments),
                status,
                self._keep(result),
                error,
                duration_us,
                parent,
                self.request,
            ),
        )
        self.last = seq
        return seq

    def settle(self, seq: int, status: Status) -> None:
        """Settle a call that a crash left ``begun``. If it had no effect, its key is free again."""
        self._db.execute(
            "UPDATE calls SET status = ?, idempotency_key = CASE WHEN ? = 'ok' THEN idempotency_key END"
            " WHERE seq = ?",
            (status, status, seq),
        )

    def find_key(self, key: str) -> Entry | None:
        """The call that was made with this idempotency key."""
        row = self._db.execute(f"SELECT {_COLUMNS} FROM calls WHERE idempotency_key = ?", (key,)).fetchone()
        return _entry(row) if row else None

    def with_status(self, status: Status) -> list[Entry]:
        """All calls of one outcome."""
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM calls WHERE status = ? ORDER BY seq", (status,))
        return [_entry(row) for row in rows.fetchall()]

    def faults(self, end: int | None = None) -> list[tuple[str, str]]:
        """Return the call and traceback of each internal error up to the call ``end``."""
        if not self.last:
            return []
        sql = "SELECT seq, service, tool, error FROM calls WHERE status = 'fault' AND seq <= ? ORDER BY seq"
        rows = self._db.execute(sql, (self.last if end is None else end,))
        return [(f"call {seq}, {service}.{tool}", error or "") for seq, service, tool, error in rows]

    def first_success(self, service: str, tool: str) -> int | None:
        """Number of the first call of a tool that succeeded, if one did."""
        if not self.last:
            return None
        sql = "SELECT min(seq) FROM calls WHERE service = ? AND tool = ? AND status = 'ok'"
        seq: int | None = self._db.execute(sql, (service, tool)).fetchone()[0]
        return seq

    @property
    def refused(self) -> int:
        """Number of refused calls."""
        row = self._db.execute("SELECT count(*) FROM calls WHERE status = 'refused'").fetchone()
        return int(row[0])

    def answered(self, service: str) -> int:
        """Number of answered calls of a service, refusals included."""
        sql = "SELECT count(*) FROM calls WHERE service = ? AND status IN ('ok', 'refused', 'fault')"
        return int(self._db.execute(sql, (service,)).fetchone()[0])

    def entries(self, after: int = 0, limit: int = -1) -> Iterator[Entry]:
        """The calls in order, from the one after ``after``; a negative limit is none."""
        if after >= self.last:
            return
        sql = f"SELECT {_COLUMNS} FROM calls WHERE seq > ? ORDER BY seq LIMIT ?"
        for row in self._db.execute(sql, (after, limit)):
            yield _entry(row)

    @property
    def disturbed(self) -> int:
        """Number of calls that a disturbance replaced."""
        row = self._db.execute("SELECT count(*) FROM calls WHERE status = 'disturbed'").fetchone()
        return int(row[0])

    def earlier(self, service: str, tool: str, arguments: str, before: int) -> str | None:
        """Return the answer of the last identical call before ``before``; ``None`` if there was none."""
        sql = (
            f"SELECT {_whole('result')} FROM calls WHERE service = ? AND tool = ? AND arguments = ?"
            " AND status = 'ok' AND parent IS NULL AND seq < ? ORDER BY seq DESC LIMIT 1"
        )
        row = self._db.execute(sql, (service, tool, arguments, before)).fetchone()
        return row[0] if row else None

    def is_step(self, seq: int) -> bool:
        """True if ``seq`` is 0 or a call that was not made inside another."""
        row = self._db.execute("SELECT parent FROM calls WHERE seq = ?", (seq,)).fetchone()
        return seq == 0 or (row is not None and row[0] is None)

    def end_of(self, seq: int) -> int:
        """The last of the calls that were made inside a call; itself if none was."""
        sql = "SELECT coalesce(min(seq), ? + 1) - 1 FROM calls WHERE seq > ? AND parent IS NULL"
        return int(self._db.execute(sql, (self.last, seq)).fetchone()[0])

    def inside(self, seq: int) -> list[Entry]:
        """The calls that code of the agent made inside a call."""
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM calls WHERE parent = ? ORDER BY seq", (seq,))
        return [_entry(row) for row in rows.fetchall()]

    def delivered_tokens(self, end: int | None = None) -> int:
        """Tokens of all results that were given to the agent, up to the call ``end``; what went to code of it
        does not count.

        Counting is left until somebody asks, because it costs more than most calls; the counts are kept.
        """
        if not self.last:
            return 0
        self._count("calls", "seq", "result", "typeof(result) = 'text' AND parent IS NULL")
        self._count("texts", "digest", "text", "digest IN (SELECT result FROM calls WHERE parent IS NULL)")
        self._db.execute(
            "UPDATE calls SET tokens = (SELECT tokens FROM texts WHERE digest = result)"
            " WHERE tokens IS NULL AND typeof(result) = 'blob' AND parent IS NULL"
        )
        sql = "SELECT coalesce(sum(tokens), 0) FROM calls WHERE parent IS NULL AND seq <= ?"
        return int(self._db.execute(sql, (self.last if end is None else end,)).fetchone()[0])

    def _count(self, table: str, key: str, text: str, which: str) -> None:
        """Count the tokens of texts that were not counted yet, some at a time."""
        chosen = f"SELECT {key}, {text} FROM {table} WHERE tokens IS NULL AND {which} LIMIT 1000"
        while rows := self._db.execute(chosen).fetchall():
            counts = [(tokens.count(text), key) for key, text in rows]
            self._db.execute("BEGIN")
            self._db.executemany(f"UPDATE {table} SET tokens = ? WHERE {key} = ?", counts)
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        if "_db" in self.__dict__:
            self._db.close()
        self._owned()


def _own(path: Path) -> int:
    """Own a world for this process, until the descriptor is closed. Raises ``InUse``.

    SQLite's own lock is not enough: it is lost as soon as anybody in the process opens the file and closes it
    again, as whoever packs the world does. A lock of an open file description is not.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    if not _LOCKS:
        return descriptor
    wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _BEYOND, 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, wanted)
    except OSError as error:
        os.close(descriptor)
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        raise InUse(f"{path.parent} is in use by another process") from None
    return descriptor


def _fill(descriptor: int) -> None:
    """Make an empty file a journal without calls. Its first page is written last: the end of the process
    leaves no part of one."""
    empty = _empty()
    if os.fstat(descriptor).st_size <= len(empty) and not os.pread(descriptor, 16, 0).strip(b"\0"):
        os.pwrite(descriptor, empty[_PAGE:], _PAGE)
        os.pwrite(descriptor, empty[:_PAGE], 0)


def _is_empty(descriptor: int, path: Path) -> bool:
    """True for a journal that nothing was ever written to, neither to the file nor to a log beside it."""
    empty = _empty()
    return os.pread(descriptor, len(empty) + 1, 0) == empty and not os.path.exists(f"{path}-wal")


@cache
def _empty() -> bytes:
    """A journal without calls, as a file: to have SQLite make the tables each time costs far more."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute(f"PRAGMA page_size={_PAGE}")
        made.executescript(_SCHEMA)
        made.execute(_TEXTS)
        written = bytearray(made.serialize())
    # That it has a write-ahead log: https://www.sqlite.org/fileformat2.html#file_format_version_numbers
    written[18:20] = b"\2\2"
    return bytes(written)


def _digest(text: str) -> bytes:
    """Hash a text as UTF-8, in pieces: encoding a long text at once blocks every other thread."""
    digest = blake2b(digest_size=16)
    for at in range(0, len(text), _PIECE):
        digest.update(text[at : at + _PIECE].encode("utf-8", "surrogatepass"))
    return digest.digest()


def _entry(row: tuple[Any, ...]) -> Entry:
    return Entry(row[0], row[1], row[2], json.loads(row[3]), *row[4:])


# Serialisation of a call's arguments for the journal.

_SHOWS = 1_000_000
"""Characters from which the way of writing shows."""
_PLACE = "\0"
"""Placeholder for a plain text, inserted after everything else is serialised."""


class PlainText(str):
    """A text of ASCII letters, digits and marks that JSON needs not escape, such as base64."""

    __slots__ = ()


def written_down(arguments: Mapping[str, Any]) -> str:
    """The arguments as JSON.

    It is the standard library's, because that can write down whatever a client may send. It holds up every
    other thread all the while, some ten milliseconds a megabyte; of long text without escapes, the same is
    made in a tenth of the time, and what is known to be plain is copied once and not looked at.
    """
    texts = [text for item in arguments.items() for value in item for text in _texts(value)]
    if sum(map(len, texts)) > _SHOWS and all(text.isascii() and "\x7f" not in text for text in texts):
        return _spliced(arguments)
    return json.dumps(arguments, separators=(",", ":"))


def _spliced(arguments: Mapping[str, Any]) -> str:
    plain: list[str] = []

    def simple(value: Any) -> Any:
        if isinstance(value, PlainText):
            plain.append(value)
            return orjson.Fragment(f'"{_PLACE}"')
        return dict(value) if isinstance(value, dict) else str(value)

    rest = orjson.dumps(arguments, simple, orjson.OPT_PASSTHROUGH_SUBCLASS).decode().split(_PLACE)
    return "".join(chain.from_iterable(zip_longest(rest, plain, fillvalue="")))


def _texts(value: Any) -> list[str]:
    """The texts that a value consists of; one that is not plain if it consists of anything else."""
    if isinstance(value, str):
        return [value]
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, dict) and all(isinstance(item, str) for item in (*value, *value.values())):
        return [*value, *value.values()]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return ["\x7f"]
