"""Parquet files: their schemas as BigQuery reads them, and their rows as objects of JSON."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.worlds import deadlines

_STEP = 1000


def fields_of(schema: pa.Schema) -> list[Field]:
    """The schema that a file has."""
    return [_field(one.name, one.type) for one in schema]


def rows_of(
    schema: pa.Schema, rows: Iterable[tuple[int, Sequence[Any]]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows as objects of JSON, with their numbers."""
    for number, row in rows:
        if not number % _STEP:
            deadlines.check()
        yield number, {name: _plain(value) for name, value in zip(schema.names, row, strict=True)}


def _field(name: str, kind: pa.DataType) -> Field:
    if pa.types.is_list(kind):
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
        (types.is_fixed_size_binary, "BYTES"),
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
