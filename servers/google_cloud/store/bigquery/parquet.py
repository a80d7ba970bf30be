"""Parquet files: their schemas as BigQuery reads them, and their rows as objects of JSON.

A file comes from whoever loads it, so it is read where statements are computed: in a process with bounds.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.services.queries.engine import engine
from mesocosm.services.queries.failures import Failed

_MOST_ROWS = 250_000
_STEP = 1000


def read(data: bytes, world: str) -> pa.Table:
    """The rows of a file. Raises ``Invalid`` for what is no such file, and for one that has too many."""
    try:
        table = engine().parquet(data, world)
    except Failed:
        raise Invalid(
            "Error while reading data, error message: the file is no whole Parquet file.", code="invalid"
        ) from None
    if table.num_rows > _MOST_ROWS:
        raise Invalid(
            f"The file has {table.num_rows:,} rows; one load takes up to {_MOST_ROWS:,} here. Load it in"
            " parts.",
            code="invalid",
        )
    return table


def fields_of(table: pa.Table) -> list[Field]:
    """The schema that a file has."""
    return [_field(one.name, one.type) for one in table.schema]


def rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows as objects of JSON."""
    for start in range(0, table.num_rows, _STEP):
        for row in table.slice(start, _STEP).to_pylist():
            yield {name: _plain(value) for name, value in row.items()}


def _field(name: str, kind: pa.DataType) -> Field:
    if pa.types.is_dictionary(kind):
        return _field(name, kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return {**_field(name, kind.value_type), "mode": "REPEATED"}
    if pa.types.is_struct(kind):
        inner = [_field(one.name, one.type) for one in kind]
        return {"name": name, "type": "STRUCT", "mode": "NULLABLE", "fields": inner}
    return {"name": name, "type": _type(name, kind), "mode": "NULLABLE"}


def _type(name: str, kind: pa.DataType) -> str:
    types = pa.types
    if types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "DATETIME"
    if types.is_decimal(kind):
        return "NUMERIC" if kind.scale <= 9 and kind.precision - kind.scale <= 29 else "BIGNUMERIC"
    for test, type_ in (
        (types.is_boolean, "BOOL"),
        (types.is_integer, "INT64"),
        (types.is_floating, "FLOAT64"),
        (types.is_date, "DATE"),
        (types.is_time, "TIME"),
        (types.is_binary, "BYTES"),
        (types.is_large_binary, "BYTES"),
        (types.is_string, "STRING"),
        (types.is_large_string, "STRING"),
        (types.is_null, "STRING"),
    ):
        if test(kind):
            return type_
    raise Invalid(
        f"Field {name} of the Parquet file has a type that cannot be loaded: {kind}.", code="invalid"
    )


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case date() | time():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case bytes():
            return base64.b64encode(value).decode()
        case list():
            return [_plain(one) for one in value]
        case dict():
            return {name: _plain(one) for name, one in value.items()}
    return value
