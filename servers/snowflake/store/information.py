"""INFORMATION_SCHEMA, and the lists that SHOW and DESCRIBE give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import bindparam, select, text

from mesocosm.servers.snowflake.models import Database, Item, ItemColumn, Schema
from mesocosm.servers.snowflake.models import Sequence as Counting
from mesocosm.servers.snowflake.store.identifiers import INFORMATION_SCHEMA, Part, Path, Row, written
from mesocosm.services.queries.catalogue import Column, Listed
from mesocosm.services.queries.failures import compilation

OWNER = "SYSADMIN"

_DATABASES = select(Database.__table__).order_by(Database.name)
_SCHEMATA = select(Schema.__table__).where(Schema.database_id == bindparam("database")).order_by(Schema.name)
_ITEMS = (
    select(Item.__table__, Schema.name.label("schema"))
    .join(Schema)
    .where(Schema.database_id == bindparam("database"))
    .order_by(Schema.name, Item.name)
)
_ALL_COLUMNS = (
    select(ItemColumn.__table__, Item.name.label("item"), Schema.name.label("schema"))
    .join(Item, Item.id == ItemColumn.item_id)
    .join(Schema, Schema.id == Item.schema_id)
    .where(Schema.database_id == bindparam("database"))
    .order_by(Schema.name, Item.name, ItemColumn.position)
)
_SEQUENCES = (
    select(Counting.__table__, Schema.name.label("schema"))
    .join(Schema)
    .where(Schema.database_id == bindparam("database"), Counting.name.is_not(None))
    .order_by(Schema.name, Counting.name)
)
_COUNTS = text("SELECT number, rows FROM contents")

_TYPE = re.compile(r"(\w+)(?:\((\d+)(?:,\s*(\d+))?\))?")
_TEXT, _NUMBER, _MOMENT = "VARCHAR", "BIGINT", "TIMESTAMPTZ"


def _columns(names: str, kinds: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name, kinds.get(name, _TEXT)) for name in names.split())


_NUMBERS = (
    "ROW_COUNT BYTES RETENTION_TIME ORDINAL_POSITION CHARACTER_MAXIMUM_LENGTH CHARACTER_OCTET_LENGTH"
    " NUMERIC_PRECISION NUMERIC_PRECISION_RADIX NUMERIC_SCALE DATETIME_PRECISION NEXT_VALUE"
)
_KINDS = {
    **dict.fromkeys(_NUMBERS.split(), _NUMBER),
    **dict.fromkeys(("CREATED", "LAST_ALTERED", "LAST_DDL"), _MOMENT),
}
_VIEWS = {
    "DATABASES": "DATABASE_NAME DATABASE_OWNER IS_TRANSIENT COMMENT CREATED LAST_ALTERED RETENTION_TIME",
    "SCHEMATA": "CATALOG_NAME SCHEMA_NAME SCHEMA_OWNER IS_TRANSIENT CREATED LAST_ALTERED COMMENT",
    "TABLES": (
        "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME TABLE_OWNER TABLE_TYPE IS_TRANSIENT CLUSTERING_KEY ROW_COUNT "
        "BYTES RETENTION_TIME CREATED LAST_ALTERED LAST_DDL IS_TEMPORARY COMMENT IS_ICEBERG IS_DYNAMIC "
        "IS_IMMUTABLE IS_HYBRID"
    ),
    "VIEWS": (
        "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME TABLE_OWNER VIEW_DEFINITION IS_SECURE CREATED LAST_ALTERED "
        "COMMENT"
    ),
    "COLUMNS": (
        "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME ORDINAL_POSITION COLUMN_DEFAULT IS_NULLABLE "
        "DATA_TYPE CHARACTER_MAXIMUM_LENGTH CHARACTER_OCTET_LENGTH NUMERIC_PRECISION NUMERIC_PRECISION_RADIX "
        "NUMERIC_SCALE DATETIME_PRECISION IS_IDENTITY IDENTITY_GENERATION IDENTITY_START IDENTITY_INCREMENT "
        "IDENTITY_MAXIMUM IDENTITY_MINIMUM IDENTITY_CYCLE IDENTITY_ORDERED DATA_TYPE_ALIAS COMMENT"
    ),
    "SEQUENCES": (
        "SEQUENCE_CATALOG SEQUENCE_SCHEMA SEQUENCE_NAME SEQUENCE_OWNER DATA_TYPE NEXT_VALUE INCREMENT "
        "CREATED COMMENT"
    ),
    "TABLE_CONSTRAINTS": (
        "CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_CATALOG TABLE_SCHEMA TABLE_NAME "
        "CONSTRAINT_TYPE ENFORCED"
    ),
}


_IDENTITY = ("YES", "BY DEFAULT", "1", "1", None, None, "NO", "YES")


class Information(Part):
    """Catalogue of all objects, as rows."""

    def view(self, path: Path) -> Listed:
        """A view of INFORMATION_SCHEMA."""
        database, schema, name = self.store.names.full(path, "SELECT")
        if schema != INFORMATION_SCHEMA or name not in _VIEWS:
            said = f"Object '{written(*self.store.names.full(path))}' does not exist or not authorized."
            raise compilation(2003, "42S02", f"{said} There are {', '.join(_VIEWS)}.")
        found = self.store.names.database_named(database)
        make = getattr(self, f"_{name.lower()}")
        return Listed(_columns(_VIEWS[name], _KINDS), list(make(found)))

    def _databases(self, database: Row) -> Iterator[tuple[Any, ...]]:
        for row in self.fetch(_DATABASES):
            made = _moment(row["created"])
            yield row["name"], OWNER, "NO", row["comment"] or None, made, made, 1

    def _schemata(self, database: Row) -> Iterator[tuple[Any, ...]]:
        made = _moment(database["created"])
        said = "Views describing the contents of schemas in this database"
        yield database["name"], INFORMATION_SCHEMA, None, "NO", made, made, said
        for row in self.fetch(_SCHEMATA, database=database["id"]):
            made = _moment(row["created"])
            yield database["name"], row["name"], OWNER, "NO", made, made, row["comment"] or None

    def _tables(self, database: Row) -> Iterator[tuple[Any, ...]]:
        counts = self.counts()
        for row in self.fetch(_ITEMS, database=database["id"]):
            is_view, made, altered = row["kind"] == "VIEW", _moment(row["created"]), _moment(row["altered"])
            rows = None if is_view else counts.get(row["id"], 0)
            yield (
                database["name"],
                row["schema"],
                row["name"],
                OWNER,
                "VIEW" if is_view else "LOCAL TEMPORARY" if row["kind"] == "TEMPORARY" else "BASE TABLE",
                "YES" if row["kind"] == "TRANSIENT" else "NO",
                row["cluster_by"] or None,
                rows,
                None if rows is None else 512 * ((rows + 15) // 16),
                1,
                made,
                altered,
                altered,
                "YES" if row["kind"] == "TEMPORARY" else "NO",
                row["comment"] or None,
                *("NO", "NO", "NO", "NO"),
            )

    def _views(self, database: Row) -> Iterator[tuple[Any, ...]]:
        for row in self.fetch(_ITEMS, database=database["id"]):
            if row["kind"] == "VIEW":
                made, altered = _moment(row["created"]), _moment(row["altered"])
                yield (
                    *(database["name"], row["schema"], row["name"], OWNER, row["text"], "NO"),
                    *(made, altered, row["comment"] or None),
                )

    def _columns(self, database: Row) -> Iterator[tuple[Any, ...]]:
        for row in self.fetch(_ALL_COLUMNS, database=database["id"]):
            yield (
                *(database["name"], row["schema"], row["item"], row["name"], row["position"], row["default"]),
                "NO" if row["required"] else "YES",
                *_measures(row["type"]),
                *(("NO", *([None] * 7)) if row["sequence_id"] is None else _IDENTITY),
                None,  # how a type was written is not kept, as of columns from before 2025
                row["comment"] or None,
            )

    def _sequences(self, database: Row) -> Iterator[tuple[Any, ...]]:
        for row in self.fetch(_SEQUENCES, database=database["id"]):
            made = _moment(row["created"])
            yield (
                *(database["name"], row["schema"], row["name"], OWNER, "NUMBER"),
                *(row["next"], str(row["step"]), made, row["comment"] or None),
            )

    def _table_constraints(self, database: Row) -> Iterator[tuple[Any, ...]]:
        seen = set()
        for row in self.fetch(_ALL_COLUMNS, database=database["id"]):
            for key, kind in (("primary_key", "PRIMARY KEY"), ("unique_key", "UNIQUE")):
                name = f"SYS_CONSTRAINT_{row['item_id']}_{kind.replace(' ', '_')}"
                if row[key] and name not in seen:
                    seen.add(name)
                    place = (database["name"], row["schema"])
                    yield (*place, name, *place, row["item"], kind, "NO")

    # -- lists ------------------------------------------------------------------------------------------

    def counts(self) -> dict[int, int]:
        """Count the rows of tables, by number."""
        return {row.number: row.rows for row in self.session.connection().execute(_COUNTS)}

    def databases(self) -> list[Row]:
        return list(self.fetch(_DATABASES))

    def schemas(self, database: str) -> list[Row]:
        return list(self.fetch(_SCHEMATA, database=self.store.names.database_named(database)["id"]))

    def items(self, database: str, schema: str | None = None) -> list[Row]:
        """Tables and views of a database, or of one of its schemas."""
        found = self.fetch(_ITEMS, database=self.store.names.database_named(database)["id"])
        return [row for row in found if schema is None or row["schema"] == schema]

    def item_columns(self, database: str) -> list[Row]:
        return list(self.fetch(_ALL_COLUMNS, database=self.store.names.database_named(database)["id"]))

    def sequences(self, database: str) -> list[Row]:
        return list(self.fetch(_SEQUENCES, database=self.store.names.database_named(database)["id"]))


def _moment(kept: str) -> str:
    return f"{kept}+00"


def _measures(kind: str) -> tuple[Any, ...]:
    """Of a type: its name, and how long or exact its values are."""
    found = _TYPE.match(kind)
    assert found
    name, first, second = found[1], found[2] and int(found[2]), found[3] and int(found[3])
    if name == "VARCHAR":
        return "TEXT", first, min(16_777_216, (first or 0) * 4), None, None, None, None
    if name == "NUMBER":
        return name, None, None, first, 10, second, None
    if name.startswith(("TIMESTAMP", "TIME")):
        return name, None, None, None, None, None, first
    return name, None, None, None, None, None, None
