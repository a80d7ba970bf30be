"""Results in Arrow for connectors, with Snowflake's types in the columns' metadata."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from mesocosm.servers.snowflake.store.answers import as_json
from mesocosm.services.queries.catalogue import ResultField

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT = pa.struct([pa.field("epoch", pa.int64()), pa.field("fraction", pa.int32())])
_LONG = 2**63


def encoded(
    fields: Sequence[ResultField],
    types: Sequence[tuple[str, int | None, int | None]],
    rows: Sequence[Sequence[Any]],
) -> str:
    """Rows as an Arrow stream in base64; ``types``: kind, precision and scale of each column."""
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    arrays, described = [], []
    for field, (kind, precision, scale), values in zip(fields, types, columns, strict=True):
        array = _array(kind, scale, values)
        about = {
            "logicalType": kind.upper(),
            "precision": str(precision if precision is not None else 38),
            "scale": str(scale or 0),
            "charLength": "16777216" if kind == "text" else "0",
            "byteLength": "16777216" if kind == "text" else "0",
            "finalType": "T",
        }
        arrays.append(array)
        described.append(pa.field(field.name, array.type, metadata=about))
    schema = pa.schema(described)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(pa.record_batch(arrays, schema=schema))
    return base64.b64encode(sink.getvalue()).decode()


def _array(kind: str, scale: int | None, values: Sequence[Any]) -> pa.Array:
    if kind == "fixed":
        if scale:
            return pa.array(
                [None if one is None else Decimal(one) for one in values], pa.decimal128(38, scale)
            )
        whole = [None if one is None else int(one) for one in values]
        if all(one is None or -_LONG <= one < _LONG for one in whole):
            return pa.array(whole, pa.int64())
        return pa.array([None if one is None else Decimal(one) for one in whole], pa.decimal128(38, 0))
    if kind in ("timestamp_ntz", "timestamp_ltz"):
        return pa.array([None if one is None else _moment(one) for one in values], _MOMENT)
    of, type_ = _PLAIN.get(kind, (_text, pa.string()))
    return pa.array([None if one is None else of(one) for one in values], type_)


def _moment(value: datetime | str) -> dict[str, int]:
    moment = datetime.fromisoformat(value.replace(" +0000", "+00:00")) if isinstance(value, str) else value
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    passed = moment - _EPOCH
    return {"epoch": passed.days * 86400 + passed.seconds, "fraction": passed.microseconds * 1000}


def _day(value: date | str) -> date:
    return date.fromisoformat(value) if isinstance(value, str) else value


def _clock(value: time | str) -> int:
    moment = time.fromisoformat(value) if isinstance(value, str) else value
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    return seconds * 10**9 + moment.microsecond * 1000


def _text(value: Any) -> str:
    return as_json(value, str) if isinstance(value, list | dict) else str(value)


_PLAIN: dict[str, tuple[Callable[[Any], Any], pa.DataType]] = {
    "real": (float, pa.float64()),
    "boolean": (bool, pa.bool_()),
    "date": (_day, pa.date32()),
    "time": (_clock, pa.int64()),
    "binary": (bytes, pa.binary()),
}
