"""Making, changing and removing databases, schemas, tables, views and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import delete, insert, select, update

from mesocosm.servers.snowflake.models import (
    Database,
    FileFormat,
    Item,
    ItemColumn,
    Schema,
    Stage,
    StageFile,
)
from mesocosm.servers.snowflake.models import Sequence as Counting
from mesocosm.servers.snowflake.store.identifiers import INFORMATION_SCHEMA, Part, Path, Row, written
from mesocosm.servers.snowflake.store.sessions import PUBLIC
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.failures import SqlError, compilation
from mesocosm.services.queries.tables import stored_names


@dataclass
class NewColumn:
    """A column that is being defined."""

    column: Column
    comment: str = ""
    primary_key: bool = False
    unique_key: bool = False
    counts: tuple[int, int] | None = None
    """First number and step of a column that counts."""


@dataclass
class NewItem:
    """A table or view that is being defined."""

    path: Path
    kind: str
    columns: Sequence[NewColumn]
    comment: str = ""
    query: str | None = None
    text: str | None = None
    cluster_by: str = ""


def exists(name: str) -> SqlError:
    """The refusal of a name that is taken."""
    return compilation(2002, "42710", f"Object '{name}' already exists.")


class Objects(Part):
    """Creation, copies and removal of objects."""

    # -- databases and schemas --------------------------------------------------------------------------

    def add_database(self, name: str, comment: str = "") -> None:
        """A database with its schema PUBLIC."""
        if any(row["name"] == name for row in self.store.information.databases()):
            raise exists(written(name))
        values = {"name": name, "comment": comment, "created": self.stamp()}
        self.session.execute(insert(Database).values(**values))
        self.session.flush()
        self.add_schema((name, PUBLIC))

    def drop_database(self, name: str) -> None:
        """A database goes with all that is in it."""
        database = self.store.names.database_named(name)
        for schema in self.store.information.schemas(name):
            self.drop_schema((name, schema["name"]))
        self.session.execute(delete(Database).where(Database.id == database["id"]))

    def add_schema(self, path: Path, comment: str = "") -> None:
        database = self.store.names.database_named(path[0])
        if path[1] == INFORMATION_SCHEMA or any(
            row["name"] == path[1] for row in self.store.information.schemas(path[0])
        ):
            raise exists(written(*path))
        values = {"database_id": database["id"], "name": path[1], "comment": comment, "created": self.stamp()}
        self.session.execute(insert(Schema).values(**values))

    def drop_schema(self, path: Path) -> None:
        """A schema goes with all that is in it."""
        schema = self.store.names.schema_named(path)
        for item in self.store.information.items(*path):
            self._drop(item["id"], item["kind"])
        stages = select(Stage.id).where(Stage.schema_id == schema["id"])
        self.session.execute(delete(StageFile).where(StageFile.stage_id.in_(stages)))
        self.session.execute(delete(Stage).where(Stage.schema_id == schema["id"]))
        self.session.execute(delete(FileFormat).where(FileFormat.schema_id == schema["id"]))
        self.session.execute(delete(Counting).where(Counting.schema_id == schema["id"]))
        self.session.execute(delete(Schema).where(Schema.id == schema["id"]))

    def set_comment(self, kind: str, path: Path, comment: str) -> None:
        """Set the comment of a database, a schema or a sequence."""
        if kind == "DATABASE":
            of: Any = update(Database).where(Database.id == self.store.names.database_named(path[-1])["id"])
        elif kind == "SCHEMA":
            of = update(Schema).where(
                Schema.id == self.store.names.schema_named(self.store.names.schema_path(path))["id"]
            )
        else:
            found = self.store.catalogue.sequence(self.store.names.full(path))
            if found is None:
                raise compilation(
                    2003, "02000", f"Sequence '{written(*path)}' does not exist or not authorized."
                )
            of = update(Counting).where(Counting.id == found["id"])
        self.session.execute(of.values(comment=comment))

    # -- tables and views -------------------------------------------------------------------------------

    def add_item(self, new: NewItem) -> int:
        """A table without rows, or a view; returns its number."""
        schema = self.store.names.schema_named(new.path[:2])
        if self.store.names.item(new.path) is not None:
            raise exists(written(*new.path))
        names = [one.column.name for one in new.columns]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise compilation(2025, "42S21", f"duplicate column name '{twice}'")
        now = self.stamp()
        values = {
            "schema_id": schema["id"],
            "name": new.path[2],
            "kind": new.kind,
            "comment": new.comment,
            "created": now,
            "altered": now,
            "query": new.query,
            "text": new.text,
            "cluster_by": new.cluster_by,
        }
        number = self._insert(Item, values)
        columns = self._with_places(new.columns)
        for position, one in enumerate(columns, 1):
            self._add_column(number, schema["id"], position, one)
        if new.kind != "VIEW":
            self.store.catalogue.rows.create(number, [one.column for one in columns])
        return number

    def _insert(self, model: type[Any], values: dict[str, Any]) -> int:
        made = self.session.execute(insert(model).values(**values).returning(model.id)).scalar_one()
        return int(made)

    @staticmethod
    def _with_places(columns: Sequence[NewColumn], taken: Sequence[str] = ()) -> list[NewColumn]:
        places = stored_names([*taken, *(one.column.name for one in columns)])[len(taken) :]
        return [
            replace(one, column=replace(one.column, stored=place))
            for one, place in zip(columns, places, strict=True)
        ]

    def _add_column(self, item: int, schema: int, position: int, one: NewColumn) -> None:
        column, sequence = one.column, None
        if one.counts is not None:
            start, step = one.counts
            made = {"schema_id": schema, "name": None, "next": start, "step": step, "created": self.stamp()}
            sequence = self._insert(Counting, made)
        values = {
            "item_id": item,
            "position": position,
            "name": column.name,
            "stored": column.stored,
            "kind": column.kind,
            "type": column.vendor,
            "longest": column.longest,
            "required": column.required,
            "default": column.default,
            "comment": one.comment,
            "primary_key": one.primary_key,
            "unique_key": one.unique_key,
            "sequence_id": sequence,
        }
        self.session.execute(insert(ItemColumn).values(**values))

    def defined(self, item: int) -> list[NewColumn]:
        """Return the column definitions of a table or view; counters continue from their position."""
        found = []
        for column, row in zip(self.store.catalogue.columns(item), self._column_models(item), strict=True):
            counts = None if column.counter is None else self.store.catalogue.next_of(column.counter)
            column = replace(column, counter=None)
            found.append(NewColumn(column, row.comment, row.primary_key, row.unique_key, counts))
        return found

    def texts_of(self, view: int) -> tuple[str | None, str | None]:
        """Return a view's query, and the statement that created it."""
        found = self.session.execute(select(Item.query, Item.text).where(Item.id == view)).one()
        return found.query, found.text

    def drop_item(self, path: Path, *, view: bool = False) -> None:
        """A table or view goes."""
        item = self.store.names.item_named(path, "View" if view else "Table")
        if (item["kind"] == "VIEW") is not view:
            said = "VIEW" if item["kind"] == "VIEW" else "TABLE"
            raise compilation(
                2203,
                "02000",
                f"Object found is of type '{said}', not specified type '{'VIEW' if view else 'TABLE'}'.",
            )
        self._drop(item["id"], item["kind"])

    def _drop(self, item: int, kind: str) -> None:
        counters = [row.sequence_id for row in self._column_models(item) if row.sequence_id is not None]
        self.session.execute(delete(ItemColumn).where(ItemColumn.item_id == item))
        for counter in counters:
            self.session.execute(delete(Counting).where(Counting.id == counter))
        self.session.execute(delete(Item).where(Item.id == item))
        if kind != "VIEW":
            self.store.catalogue.rows.drop(item)

    def _column_models(self, item: int) -> list[ItemColumn]:
        found = self.session.query(ItemColumn).filter(ItemColumn.item_id == item)
        return found.order_by(ItemColumn.position).all()

    # -- changes to tables ------------------------------------------------------------------------------

    def touch(self, item: int, **values: Any) -> None:
        """Update a table's or view's catalogue entry."""
        self.session.execute(update(Item).where(Item.id == item).values(altered=self.stamp(), **values))

    def rename_item(self, item: Row, to: Path) -> None:
        """Another name, perhaps in another schema."""
        schema = self.store.names.schema_named(to[:2])
        if self.store.names.item(to) is not None:
            raise exists(written(*to))
        self.touch(item["id"], name=to[2], schema_id=schema["id"])

    def swap_items(self, one: Row, other: Row) -> None:
        """Two tables get each other's names."""
        self.touch(one["id"], name=f"\u2063{one['id']}")
        self.touch(other["id"], name=one["name"], schema_id=one["schema_id"])
        self.touch(one["id"], name=other["name"], schema_id=other["schema_id"])

    def add_column(self, item: Row, new: NewColumn, value: Any = None) -> None:
        """A further column; ``value`` is what the rows that are there get, as SQLite keeps it."""
        present = self._column_models(item["id"])
        if any(column.name == new.column.name for column in present):
            raise compilation(1430, "42601", f"column '{new.column.name}' already exists")
        if new.column.required and value is None and self.store.catalogue.rows.count(item["id"]):
            raise compilation(
                2261,
                "22000",
                f"Non-nullable column '{new.column.name}' cannot be added to non-empty table "
                f"'{item['name']}' unless it has a non-null default value.",
            )
        placed = self._with_places([new], [column.stored for column in present])[0]
        self._add_column(item["id"], item["schema_id"], present[-1].position + 1, placed)
        self.store.catalogue.rows.add_column(item["id"], placed.column, value)
        self.touch(item["id"])

    def drop_column(self, item: Row, column: Column) -> None:
        """One column less."""
        if len(self.store.catalogue.columns(item["id"])) == 1:
            raise compilation(2262, "42601", f"Cannot drop the only column '{column.name}' of a table")
        self.session.execute(self._of(delete(ItemColumn), item, column))
        self.store.catalogue.rows.drop_column(item["id"], column)
        self.touch(item["id"])

    def rename_column(self, item: Row, column: Column, name: str) -> None:
        """Another name for a column."""
        present = self._column_models(item["id"])
        if any(one.name == name for one in present):
            raise compilation(1430, "42601", f"column '{name}' already exists")
        others = [one.stored for one in present if one.name != column.name]
        place = stored_names([*others, name])[-1]
        self.session.execute(self._of(update(ItemColumn), item, column).values(name=name, stored=place))
        self.store.catalogue.rows.rename_column(item["id"], column, place)
        self.touch(item["id"])

    def change_column(self, item: Row, column: Column, **values: Any) -> None:
        """Update a column's catalogue entry."""
        self.session.execute(self._of(update(ItemColumn), item, column).values(**values))
        self.touch(item["id"])

    @staticmethod
    def _of(statement: Any, item: Row, column: Column) -> Any:
        return statement.where(ItemColumn.item_id == item["id"], ItemColumn.name == column.name)

    # -- sequences --------------------------------------------------------------------------------------

    def add_sequence(self, path: Path, start: int, step: int, comment: str = "") -> None:
        schema = self.store.names.schema_named(path[:2])
        if self.store.catalogue.sequence(path) is not None:
            raise exists(written(*path))
        if step == 0:
            raise compilation(1006, "42601", "Sequence increment must not be 0.")
        made = {"schema_id": schema["id"], "name": path[2], "next": start, "step": step}
        self._insert(Counting, made | {"comment": comment, "created": self.stamp()})

    def drop_sequence(self, path: Path) -> None:
        """A sequence goes."""
        found = self.store.catalogue.sequence(path)
        if found is None:
            raise compilation(2003, "02000", f"Sequence '{written(*path)}' does not exist or not authorized.")
        self.session.execute(delete(Counting).where(Counting.id == found["id"]))

    # -- copies -------------------------------------------------------------------------------------------

    def copy_database(self, source: str, target: str) -> None:
        """Fill a new database, which has PUBLIC alone, with what is in another."""
        names = [row["name"] for row in self.store.information.schemas(source)]
        for row in self.store.information.schemas(target):
            if row["name"] not in names:
                self.drop_schema((target, row["name"]))
        there = {row["name"] for row in self.store.information.schemas(target)}
        for name in names:
            if name not in there:
                self.add_schema((target, name))
            self.copy_schema((source, name), (target, name))

    def copy_schema(self, source: Path, target: Path) -> None:
        """Fill a new schema with what is in another: tables with their rows, views, and sequences."""
        for row in self.store.information.sequences(source[0]):
            if row["schema"] == source[1]:
                self.add_sequence((*target, row["name"]), row["next"], row["step"], row["comment"])
        for row in self.store.information.items(*source):
            if row["kind"] != "TEMPORARY":
                item = self.store.names.item_named((*source, row["name"]))
                self.copy_item(item, NewItem((*target, row["name"]), row["kind"], (), row["comment"]))

    def copy_item(self, source: Row, new: NewItem, *, rows: bool = True) -> None:
        """A copy of a table or view under the path of ``new``, with its keys, comments and counting columns;
        without ``rows`` (``CREATE TABLE ... LIKE``) an empty one, without its comment and clustering."""
        columns = list(self.store.catalogue.columns(source["id"]))
        new.columns = self.defined(source["id"])
        if rows:
            new.comment = new.comment or source["comment"]
            new.cluster_by = new.cluster_by or source["cluster_by"]
        if new.kind == "VIEW":
            new.query, new.text = self.texts_of(source["id"])
        number = self.add_item(new)
        if rows and new.kind != "VIEW":
            self.store.catalogue.rows.copy_rows(
                source["id"], columns, number, self.store.catalogue.columns(number)
            )
