"""Rows of files that are loaded into tables. Files are untrusted, so they are read in a bounded process that
sends rows in parts.

Nothing of mesocosm is loaded here.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import orjson

Kind = Literal["CSV", "JSON", "LINES", "PARQUET"]
Why = Literal["gzip", "bytes", "text", "syntax", "object", "many"]
MOST_BYTES = 64 * 2**20
"""Of a file, when it is decompressed."""
MOST_ROWS, MOST_COLUMNS, MOST_VALUES = 250_000, 2_000, 5_000_000
"""Of a file; a value in a list or an object counts as one of a column does."""
ENCLOSED_EMPTY = "\0"
"""No field is so otherwise: what is read has no such characters."""
_PART = 20_000
"""Values that are sent at a time, or somewhat more."""
_STEP = 1000
"""Rows of a Parquet file that become objects at a time."""
_MOST_NESTED, _MOST_DEEP = 15, 200
"""Lists and structures within each other: of types, as warehouses have them, and of documents."""


@dataclass(frozen=True)
class Form:
    """Format options of a file to read.

    ``JSON``: documents one behind the other, each in its line, or one over several; ``LINES``: objects, each
    in its line. ``PARQUET``: the first part that is sent is the schema, as Arrow writes it.
    """

    kind: Kind
    delimiter: str = ","
    quote: str = '"'
    outer_arrays: bool = False
    """True if the items of a list are documents of their own."""
    as_texts: bool = False
    """True if documents are wanted as texts."""
    tells_empty: bool = False
    """True if an enclosed empty CSV field is given as ``ENCLOSED_EMPTY``."""


class UnreadableFile(Exception):
    """A file that cannot be read: why, at which line if there is one, and in the words of the reader."""

    def __init__(self, why: Why, line: int | None, words: str) -> None:
        super().__init__(why, line, words)
        self.why = why
        self.line = line
        self.words = words


def parts(data: bytes, form: Form) -> Iterator[bytes | list[tuple[int, Any]]]:
    """The rows of a file with the numbers of their lines, in parts."""
    data = _unpacked(data)
    if form.kind == "PARQUET":
        try:
            yield from _parquet(data)
        except (UnreadableFile, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever its reader raises of a file that is damaged
            raise UnreadableFile("syntax", None, str(error)) from None
        return
    try:
        text = data.decode("utf-8-sig").replace("\0", "")
    except UnicodeDecodeError as error:
        raise UnreadableFile("text", None, f"not UTF-8 at byte {error.start}") from None
    del data
    rows: Iterable[tuple[int, Any, int]]
    if form.kind == "CSV":
        rows = _csv(text, form)
    else:
        rows = _documents(text, form)
    yield from _in_parts(rows)


def _in_parts(rows: Iterable[tuple[int, Any, int]]) -> Iterator[list[tuple[int, Any]]]:
    part: list[tuple[int, Any]] = []
    values = waiting = 0
    for count, (line, row, size) in enumerate(rows, 1):
        part.append((line, row))
        values += size
        waiting += size + 1
        if count > MOST_ROWS:
            raise UnreadableFile("many", line, f"more than {MOST_ROWS:,} rows")
        if values > MOST_VALUES:
            raise UnreadableFile("many", line, f"more than {MOST_VALUES:,} values")
        if waiting > _PART:
            yield part
            part, waiting = [], 0
    yield part


def _unpacked(data: bytes) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            text = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise UnreadableFile("gzip", None, "the file is no whole gzip stream") from None
    if len(text) > MOST_BYTES:
        raise UnreadableFile("bytes", None, f"the file has more than {MOST_BYTES:,} bytes when decompressed")
    return text


def _csv(text: str, form: Form) -> Iterator[tuple[int, list[str], int]]:
    quoting: Any = csv.QUOTE_MINIMAL if form.quote else csv.QUOTE_NONE
    if form.quote and form.tells_empty:
        quote, start = re.escape(form.quote), re.escape(form.delimiter)
        enclosed = re.compile(f"(?<![^{start}\r\n]){quote}([^{quote}]*(?:{quote}{quote}[^{quote}]*)*){quote}")
        empty = f"{form.quote}{ENCLOSED_EMPTY}{form.quote}"
        text = enclosed.sub(lambda found: found[0] if found[1] else empty, text)
    lines = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=form.delimiter,
        quotechar=form.quote or None,
        quoting=quoting,
        strict=True,
    )
    try:
        for row in lines:
            if len(row) > MOST_COLUMNS:
                raise UnreadableFile("many", lines.line_num, f"more than {MOST_COLUMNS:,} columns")
            yield lines.line_num, row, len(row)
    except csv.Error as error:
        raise UnreadableFile("syntax", lines.line_num, str(error)) from None


def _documents(text: str, form: Form) -> Iterator[tuple[int, Any, int]]:
    number, line = 1, ""
    try:
        if form.kind == "JSON":
            try:
                yield from _said(1, orjson.loads(text), form)
                return
            except orjson.JSONDecodeError:
                pass
        for number, line in enumerate(io.StringIO(text, newline=None), 1):
            if line.strip():
                yield from _said(number, orjson.loads(line), form)
    except orjson.JSONDecodeError as error:
        raise UnreadableFile("syntax", number, str(error)) from None


def _said(line: int, document: Any, form: Form) -> Iterator[tuple[int, Any, int]]:
    if form.kind == "LINES" and not isinstance(document, dict):
        raise UnreadableFile("object", line, "an object is expected")
    for one in document if form.outer_arrays and isinstance(document, list) else (document,):
        size = _values(one)
        yield line, orjson.dumps(one).decode() if form.as_texts else one, size


def _values(document: Any) -> int:
    found, level, depth = 0, [document], 0
    while level:
        found += len(level)
        depth += 1
        if depth > _MOST_DEEP:
            raise UnreadableFile("many", None, f"more than {_MOST_DEEP} lists and objects within each other")
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        level = inner
    return found


def _parquet(data: bytes) -> Iterator[bytes | list[tuple[int, Any]]]:
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(pa.BufferReader(data))
    columns = file.metadata.num_columns
    if columns > MOST_COLUMNS:
        raise UnreadableFile("many", None, f"more than {MOST_COLUMNS:,} columns")
    if file.metadata.num_rows > MOST_ROWS:
        raise UnreadableFile("many", None, f"more than {MOST_ROWS:,} rows")
    if file.metadata.num_rows * columns > MOST_VALUES:
        raise UnreadableFile("many", None, f"more than {MOST_VALUES:,} values")
    plain = pa.schema([(one.name, _plain(one.type)) for one in file.schema_arrow])
    table = file.read(use_threads=False)
    if sum(_inside(chunk) for column in table.columns for chunk in column.chunks) > MOST_VALUES:
        raise UnreadableFile("many", None, f"more than {MOST_VALUES:,} values")
    table = pa.table([_cast(*pair) for pair in zip(table.columns, plain.types, strict=True)], schema=plain)
    yield bytes(plain.serialize())
    for start in range(0, table.num_rows, _STEP):
        there = [column.to_pylist() for column in table.slice(start, _STEP).columns]
        rows = enumerate(zip(*there, strict=True), start + 1)
        yield from _in_parts((place, row, len(row)) for place, row in rows)


def _plain(kind: Any, depth: int = 0) -> Any:
    """Return the plain type of a decoded column: dictionaries, run-length encodings, extension types and
    overly fine moments become plain values.
    """
    import pyarrow as pa

    types = pa.types
    if depth > _MOST_NESTED:
        raise UnreadableFile("many", None, f"more than {_MOST_NESTED} lists and structures within each other")
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(kind.storage_type, depth)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _plain(kind.value_type, depth)
    if types.is_struct(kind):
        return pa.struct([(one.name, _plain(one.type, depth + 1)) for one in kind])
    if types.is_map(kind):
        return pa.map_(_plain(kind.key_type, depth + 1), _plain(kind.item_type, depth + 1))
    if hasattr(kind, "value_type"):
        return pa.list_(_plain(kind.value_type, depth + 1))
    if types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz and "UTC")
    if types.is_time(kind):
        return pa.time64("us")
    return kind


def _cast(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind, safe=False)


def _inside(array: Any) -> int:
    """The values of an array and of all that is in it, without making any of them."""
    import pyarrow as pa

    types, kind = pa.types, array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _inside(array.storage)
    if types.is_struct(kind):
        return len(array) + sum(_inside(array.field(place)) for place in range(kind.num_fields))
    if types.is_map(kind):
        return len(array) + _inside(array.keys) + _inside(array.items)
    if hasattr(kind, "value_type") and not (types.is_dictionary(kind) or types.is_run_end_encoded(kind)):
        return len(array) + _inside(array.flatten())
    return len(array)
