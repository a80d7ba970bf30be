"""Columns of stored tables as Arrow arrays, which is what DuckDB computes on.

A column is read from SQLite once for each state of its table and kept, up to the setting ``query_copies``,
for all episodes of the process: what was made by the same writes holds the same rows, and its state says so.
"""

from __future__ import annotations

import contextvars
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute

from mesocosm.services.queries.catalogue import Column, Listed
from mesocosm.services.queries.engine import EngineTable, engine
from mesocosm.services.queries.tables import ROW_ID, Tables, quoted, table_name
from mesocosm.worlds import deadlines
from mesocosm.worlds.database import driver_connection, file_uri
from mesocosm.worlds.limits import settings

_BATCH = 65_536
_LONG = 100_000
"""Rows from which on a table is read in halves."""
_FEW = 2_000
"""Rows up to which the session's own connection is quicker than another one."""
ROW = "\u2063row_id"
"""DuckDB's name of the ``row_id`` column, which no warehouse column has."""
_ROW = Column(ROW, "BIGINT", required=True, stored=ROW_ID)

_Key = tuple[str, str, str]
"""State of the table, name of the column in SQLite, its type."""


@dataclass
class _Kept:
    """Cache of columns in this process, least recently used first out."""

    columns: OrderedDict[_Key, Any] = field(default_factory=OrderedDict)
    size: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, keys: Sequence[_Key]) -> dict[_Key, Any]:
        """Those of the columns that are there."""
        with self.lock:
            found = {key: self.columns[key] for key in keys if key in self.columns}
            for key in found:
                self.columns.move_to_end(key)
        return found

    def keep(self, columns: dict[_Key, Any]) -> None:
        """Keep columns for the next statements."""
        with self.lock:
            for key, column in columns.items():
                if key not in self.columns:
                    self.columns[key] = column
                    self.size += column.nbytes
            while self.size > settings().query_copies and self.columns:
                self.size -= self.columns.popitem(last=False)[1].nbytes


_kept = _Kept()


def stored(tables: Tables, number: int, columns: Sequence[Column], *, rows: bool = False) -> Copy:
    """Columns of a stored table as an Arrow table, in the order of its rows; with ``rows``, their ``row_id``
    too."""
    wanted = [*columns, _ROW] if rows or not columns else list(columns)
    state = tables.state(number)
    keys = [(state, column.stored, column.kind) for column in wanted]
    found = _kept.get(keys)
    missing = [column for column, key in zip(wanted, keys, strict=True) if key not in found]
    if missing:
        read = _read(tables, number, missing, state)
        loaded = {(state, column.stored, column.kind): read.column(i) for i, column in enumerate(missing)}
        _kept.keep(loaded)
        found |= loaded
    arrow = pa.table([found[key] for key in keys], names=[column.name for column in wanted])
    return Copy(_name(state, wanted), EngineTable(arrow, lasting=True), state)


@dataclass(frozen=True)
class Copy:
    """A table at hand."""

    name: str
    """DuckDB's name: the same one means the same rows and columns in all worlds."""
    table: EngineTable
    state: str
    """Identifies its rows."""


def _name(state: str, columns: Sequence[Column]) -> str:
    said = "\0".join(f"{one.name}\0{one.stored}\0{one.kind}" for one in columns)
    return f"{state}{hashlib.blake2b(said.encode(), digest_size=8).hexdigest()}"


def listed(relation: Listed) -> EngineTable:
    """Rows that a server makes up as an Arrow table."""
    values = list(zip(*relation.rows, strict=True)) or [()] * len(relation.columns)
    arrays = [pa.array(map(_plain, column), pa.string()) for column in values]
    raw = pa.table(arrays, names=[column.name for column in relation.columns])
    return EngineTable(_typed(raw, relation.columns))


def counted(rows: int) -> EngineTable:
    """Make a table of ``rows`` empty rows."""
    return EngineTable(pa.table({"number": pa.array(range(rows), pa.int64())}))


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


def _read(tables: Tables, number: int, columns: Sequence[Column], state: str) -> Any:
    batches = None
    if tables.count(number) > _FEW:
        batches = _read_file(tables, number, columns, state)
    if batches is None:
        batches = _read_rows(tables, number, columns)
    return _typed(pa.Table.from_batches(batches), columns)


def _typed(raw: Any, columns: Sequence[Column]) -> Any:
    """Convert columns to their types: text from SQLite is cast, the rest is taken as is."""
    found, casts = list(raw.columns), []
    for place, (column, kept) in enumerate(zip(columns, raw.schema, strict=True)):
        kind = column.kind
        if kind == "HUGEINT":
            whole = pa.types.is_int64(kept.type) or not _wide(found[place])
            kind = "BIGINT" if whole else "DECIMAL(38,0)"
        if kept.type != _AS_KEPT.get(kind):
            casts.append((place, kind))
    if casts:
        # Under names of their own: DuckDB takes no notice of case.
        names = [f"c{place}" for place, _ in casts]
        kept = pa.table([found[place] for place, _ in casts], names=names)
        kinds = [(name, kind) for name, (_, kind) in zip(names, casts, strict=True)]
        cast = engine().cast(kept, kinds)
        for (place, kind), column in zip(casts, cast.columns, strict=True):
            found[place] = _as_json(column) if kind == "JSON" else column
    return pa.table(found, names=raw.schema.names)


def _as_json(column: Any) -> Any:
    """Text as JSON: DuckDB writes JSON to Arrow as plain text, and would take it back as such."""
    kind = pa.json_(column.type)
    chunks = [pa.ExtensionArray.from_storage(kind, chunk) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def _wide(column: Any) -> bool:
    """True if any number in a column needs more than 64 bits."""
    longest = compute.max(compute.binary_length(column)).as_py() or 0
    if longest <= 18:
        return False
    return any(not -(2**63) <= int(text) < 2**63 for text in column.to_pylist() if text)


def _kept_as(column: Column) -> str:
    """Type in which a column is taken from SQLite."""
    kind = column.kind
    if kind in {"DOUBLE", "FLOAT"}:
        return "REAL"
    if kind in {"BOOLEAN", "INTEGER", "BIGINT"}:
        return "INTEGER"
    return "BLOB" if kind == "BLOB" else "TEXT"


_ARROW = {"REAL": pa.float64(), "INTEGER": pa.int64(), "BLOB": pa.binary(), "TEXT": pa.string()}
_ANY = {"REAL": "0.0", "INTEGER": "0", "BLOB": "x'00'", "TEXT": "''"}


_AS_KEPT = {"DOUBLE": pa.float64(), "BIGINT": pa.int64(), "VARCHAR": pa.string(), "BLOB": pa.binary()}
"""Types that are in Arrow what they are in SQLite."""


def _selected(column: Column) -> str:
    return f"CAST({quoted(column.stored)} AS {_kept_as(column)}) AS {quoted(column.name)}"


def _schema(columns: Sequence[Column]) -> Any:
    return pa.schema([(column.name, _ARROW[_kept_as(column)]) for column in columns])


def _read_rows(tables: Tables, number: int, columns: Sequence[Column]) -> list[Any]:
    """Through the session's own connection, which sees what the present call has written."""
    names = ", ".join(_selected(column) for column in columns)
    sql = f"SELECT {names} FROM {table_name(number)} ORDER BY {ROW_ID}"
    schema, cursor = _schema(columns), driver_connection(tables.session).execute(sql)
    batches = [pa.RecordBatch.from_pylist([], schema=schema)]
    while rows := cursor.fetchmany(_BATCH):
        deadlines.check()
        arrays = [
            pa.array(values, kept.type) for values, kept in zip(zip(*rows, strict=True), schema, strict=True)
        ]
        batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return batches


def _read_file(tables: Tables, number: int, columns: Sequence[Column], state: str) -> list[Any] | None:
    """From the file, in C, which takes a fifth of the time; ``None`` if the file is not in this state yet.

    The halves of a long table are read at the same time: the driver lets other threads run meanwhile.
    """
    last = driver_connection(tables.session).execute(f"SELECT MAX({ROW_ID}) FROM {table_name(number)}")
    middle = (last.fetchone()[0] or 0) // 2 if tables.count(number) > _LONG else 0
    parts = [f"{ROW_ID} <= {middle}", f"{ROW_ID} > {middle}"] if middle else ["TRUE"]
    reading = _Reading(file_uri(Path(tables.world), "mode=ro"), number, state)

    def read(exact: bool) -> list[Any] | None:
        jobs = [(contextvars.copy_context(), part) for part in parts]
        with ThreadPoolExecutor(max_workers=len(jobs)) as threads:
            found = [
                threads.submit(context.run, reading.part, columns, part, exact) for context, part in jobs
            ]
            batches = [one.result() for one in found]
        known = [part for part in batches if part is not None]
        return [batch for part in known for batch in part] if len(known) == len(parts) else None

    try:
        return read(True)
    except OSError as error:
        if "Type mismatch" not in str(error):
            raise
        # Some whole number has more than 64 bits, and is kept as text.
        return read(False)


@dataclass(frozen=True)
class _Reading:
    """A stored table in a file."""

    uri: str
    number: int
    state: str

    def part(self, columns: Sequence[Column], where: str, exact: bool) -> list[Any] | None:
        """Return some rows; ``None`` if they are no longer in this state. ``exact`` keeps whole numbers as
        such.
        """
        kinds = [_whole_as(column, exact=exact) for column in columns]
        names = ", ".join(
            quoted(column.stored) if kind == "INTEGER" and column.kind == "HUGEINT" else _selected(column)
            for column, kind in zip(columns, kinds, strict=True)
        )
        # The driver takes types from the first batch, where all may be NULL: one row says them.
        first = ", ".join(_ANY[kind] for kind in kinds)
        sql = (
            f"SELECT {first} UNION ALL"
            f" SELECT * FROM (SELECT {names} FROM {table_name(self.number)} WHERE {where} ORDER BY {ROW_ID})"
        )
        schema = pa.schema([(column.name, _ARROW[kind]) for column, kind in zip(columns, kinds, strict=True)])
        from adbc_driver_sqlite import dbapi  # brings pandas along, which short tables do without

        with dbapi.connect(self.uri) as connection, connection.cursor() as cursor:
            try:
                cursor.execute(f"SELECT state FROM contents WHERE number = {int(self.number)}")
                found = cursor.fetchone()
            except dbapi.Error:  # while much is being written, nobody else can read
                return None
            if found is None or found[0] != self.state:
                return None
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(_BATCH)})
            cursor.execute(sql)
            return list(_without_first(cursor.fetch_record_batch(), schema))


def _whole_as(column: Column, *, exact: bool) -> str:
    return "INTEGER" if exact and column.kind == "HUGEINT" else _kept_as(column)


def _without_first(reader: Any, schema: Any) -> Iterator[Any]:
    skipped = 1
    for batch in reader:
        deadlines.check()
        if batch.schema.types != schema.types:
            raise OSError("Type mismatch")
        yield pa.RecordBatch.from_arrays(batch.slice(skipped).columns, schema=schema)
        skipped = 0


def forget() -> None:
    """Drop all cached columns."""
    with _kept.lock:
        _kept.columns.clear()
        _kept.size = 0
