"""Values of Python as rows of tables keep them, under the same rules as those of statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import orjson

from mesocosm.errors import Invalid
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.failures import SqlError
from mesocosm.services.queries.tables import Value


def literal(text: str) -> str:
    """A text as it stands in a statement."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def stored_rows(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Value]]:
    """Rows for SQLite; refuses values of another type than the column's."""
    makers = [_MAKERS.get(_sort(column), _text) for column in columns]
    required = [(index, column.name) for index, column in enumerate(columns) if column.required]
    scales = [_scale(column) for column in columns]
    for row in rows:
        if len(row) != len(columns):
            raise Invalid(f"a row has {len(row)} values for {len(columns)} columns: {row!r}")
        for index, name in required:
            if row[index] is None:
                raise SqlError(100072, "22000", f"NULL result in a non-nullable column: {name}")
        yield [
            None if value is None else make(value, scale)
            for value, make, scale in zip(row, makers, scales, strict=True)
        ]


def _sort(column: Column) -> str:
    return "DECIMAL" if column.kind.startswith("DECIMAL") else column.kind


def _scale(column: Column) -> int:
    return int(column.kind.partition(",")[2].rstrip(")")) if column.kind.startswith("DECIMAL") else 0


def _decimal(value: Any, scale: int) -> Value:
    if not isinstance(value, int | Decimal | str) or isinstance(value, bool):
        raise Invalid(f"{value!r} is no exact number")
    number = Decimal(value).quantize(Decimal(1).scaleb(-scale))
    return _whole(int(number), 0) if scale == 0 else str(number)


def _whole(value: Any, scale: int) -> Value:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(f"{value!r} is no whole number")
    return value if -(2**63) <= value < 2**63 else str(value)


def _float(value: Any, scale: int) -> Value:
    return float(value)


def _flag(value: Any, scale: int) -> Value:
    return int(bool(value))


def _bytes(value: Any, scale: int) -> Value:
    return bytes(value)


def _json(value: Any, scale: int) -> Value:
    return orjson.dumps(value).decode()


def _text(value: Any, scale: int) -> Value:
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) if value.tzinfo else value
        fraction = f".{moment.microsecond:06d}" if moment.microsecond else ""
        return f"{moment:%Y-%m-%d %H:%M:%S}{fraction}{'+00' if value.tzinfo else ''}"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str):
        return value
    raise Invalid(f"{value!r} is no text")


_MAKERS = {
    "HUGEINT": _whole,
    "DECIMAL": _decimal,
    "DOUBLE": _float,
    "BOOLEAN": _flag,
    "BLOB": _bytes,
    "JSON": _json,
}
