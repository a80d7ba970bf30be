"""Bulk methods for generators: tables of any size, under the same rules as those that statements make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import orjson

from mesocosm.errors import Invalid, MissingExtra
from mesocosm.servers.snowflake.store.identifiers import parts_of
from mesocosm.servers.snowflake.store.objects import Objects
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.failures import SqlError
from mesocosm.services.queries.tables import Value


class Filling(Objects):
    """Bulk methods for generators."""

    def add_table(
        self,
        name: str,
        columns: Mapping[str, str],
        rows: Iterable[Sequence[Any]] = (),
        *,
        comment: str = "",
        comments: Mapping[str, str] | None = None,
    ) -> int:
        """A table with its rows; its database and schema are made where they are missing. Returns its
        number.

        Args:
            name: ``DATABASE.SCHEMA.TABLE``.
            columns: Names, each with what stands behind it in CREATE TABLE: ``NUMBER(10,2) NOT NULL``.
            rows: Values for the columns in their order, of Python: int, Decimal, str, bool, date ...
            comment: What is said of the table.
            comments: What is said of columns, by their names.
        """
        path = parts_of(name)
        if len(path) != 3:
            raise Invalid(f"name a table as DATABASE.SCHEMA.TABLE, not {name!r}")
        self._make_place(path[0], path[1])
        self._define(name, columns, comment, comments or {})
        number = int(self.item_named(path)["id"])
        self.fill(name, rows)
        return number

    def _make_place(self, database: str, schema: str) -> None:
        if database not in [row["name"] for row in self.databases()]:
            self.add_database(database)
        if schema not in [row["name"] for row in self.schemas(database)]:
            self.add_schema((database, schema))

    def _define(
        self, name: str, columns: Mapping[str, str], comment: str, comments: Mapping[str, str]
    ) -> None:
        said = {**dict.fromkeys(columns, ""), **comments}
        lines = [
            f"{column} {kind}" + (f" COMMENT {_literal(said[column])}" if said[column] else "")
            for column, kind in columns.items()
        ]
        tail = f" COMMENT = {_literal(comment)}" if comment else ""
        self.execute_text(f"CREATE TABLE {name} ({', '.join(lines)}){tail}")

    def execute_text(self, text: str) -> None:
        """Run a statement, for what it does."""
        raise MissingExtra("SQL of a warehouse", "warehouses")

    def fill(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """Append rows to a table, a million in seconds; returns how many.

        Values must be of the column's type: what a statement would convert is refused here.
        """
        item = self.item_named(parts_of(name), "Table")
        columns = self.columns(item["id"])
        return self.rows.insert(item["id"], columns, _kept(columns, rows))


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _kept(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Value]]:
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
