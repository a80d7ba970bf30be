"""Columns of stored tables as Arrow arrays, which is what DuckDB computes on.

A column is read from SQLite once for each state of its table and kept, up to the setting ``query_copies``,
for all episodes of the process: what was made by the same writes holds the same rows, and its state says so.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
from adbc_driver_sqlite import dbapi

from mesocosm.services.queries.catalogue import Column, Listed
from mesocosm.services.queries.engine import Table, engine
from mesocosm.services.queries.tables import ROW_ID, Tables, quoted, table_name
from mesocosm.worlds import deadlines
from mesocosm.worlds.database import driver_connection, file_uri
from mesocosm.worlds.limits import settings

_BATCH = 65_536
_FEW = 2_000
"""Rows up to which the session's own connection is quicker than another one."""
ROW = "\u2063row_id"
"""What DuckDB calls the ``row_id`` of a row: no column of a warehouse is called so."""
_ROW = Column(ROW, "BIGINT", required=True, stored=ROW_ID)

_Key = tuple[str, str, str]
"""State of the table, name of the column in SQLite, its type."""


@dataclass
class _Kept:
    """The columns that this process has at hand; what was asked for longest ago goes first."""

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
    return Copy(_name(state, wanted), Table(arrow, lasting=True))


@dataclass(frozen=True)
class Copy:
    """A table at hand."""

    name: str
    """What DuckDB calls it: the same name stands for the same rows and columns in all worlds."""
    table: Table


def _name(state: str, columns: Sequence[Column]) -> str:
    said = "\0".join(f"{one.name}\0{one.stored}\0{one.kind}" for one in columns)
    return f"{state}{hashlib.blake2b(said.encode(), digest_size=8).hexdigest()}"


def listed(relation: Listed) -> Table:
    """Rows that a server makes up as an Arrow table."""
    values = list(zip(*relation.rows, strict=True)) or [()] * len(relation.columns)
    arrays = [pa.array(map(_plain, column), pa.string()) for column in values]
    raw = pa.table(arrays, names=[column.name for column in relation.columns])
    return Table(_typed(raw, relation.columns))


def counted(rows: int) -> Table:
    """A table of so many rows, with nothing to say."""
    return Table(pa.table({"number": pa.array(range(rows), pa.int64())}))


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


def _read(tables: Tables, number: int, columns: Sequence[Column], state: str) -> Any:
    batches = None
    if tables.count(number) > _FEW:
        batches = _read_file(tables, number, columns, state)
    if batches is None:
        batches = _read_rows(tables, number, columns)
    raw = pa.Table.from_batches(batches)
    return _typed(raw, columns)


def _typed(raw: Any, columns: Sequence[Column]) -> Any:
    """The columns as what they are: what SQLite keeps as text is cast."""
    casts = []
    for column, kept in zip(columns, raw.schema, strict=True):
        kind = column.kind
        if kind == "HUGEINT":
            kind = "DECIMAL(38,0)" if _wide(raw.column(kept.name)) else "BIGINT"
        casts.append((kept.name, kind))
    return engine().cast(raw, casts)


def _wide(column: Any) -> bool:
    """Whether a number among these has more than 64 bits."""
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
    """From the file, in C, which takes a fifth of the time; ``None`` if the file is not in this state yet."""
    path = driver_connection(tables.session).execute("PRAGMA database_list").fetchone()[2]
    names = ", ".join(_selected(column) for column in columns)
    # The driver takes the types of columns from the first batch, where all may be NULL: one row says them.
    first = ", ".join(_ANY[_kept_as(column)] for column in columns)
    sql = (
        f"SELECT {first} UNION ALL SELECT * FROM (SELECT {names} FROM {table_name(number)} ORDER BY {ROW_ID})"
    )
    schema = _schema(columns)
    uri = file_uri(Path(path), "mode=ro")
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT state FROM contents WHERE number = {int(number)}")
        found = cursor.fetchone()
        if found is None or found[0] != state:
            return None
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(_BATCH)})
        cursor.execute(sql)
        return list(_without_first(cursor.fetch_record_batch(), schema))


def _without_first(reader: Any, schema: Any) -> Iterator[Any]:
    skipped = 1
    for batch in reader:
        deadlines.check()
        yield pa.RecordBatch.from_arrays(batch.slice(skipped).columns, schema=schema)
        skipped = 0


def forget() -> None:
    """Let go of all columns: they are read again when a statement asks for them."""
    with _kept.lock:
        _kept.columns.clear()
        _kept.size = 0
