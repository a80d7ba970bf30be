"""Tables and views: their schemas, and the rows that are put in other than by statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.google_cloud.models import Dataset, WarehouseTable
from mesocosm.servers.google_cloud.store.bigquery.schema import Field, checked_fields, columns_of
from mesocosm.servers.google_cloud.store.bigquery.values import stored_row
from mesocosm.servers.google_cloud.store.part import (
    StorePart,
    cut,
    moment,
    page_size,
    quoted,
    read_token,
    suggestion,
)
from mesocosm.servers.google_cloud.store.storage.buckets import checked_labels
from mesocosm.services.queries.catalogue import Column, StoredTable
from mesocosm.services.queries.tables import Tables, Value, stored_names

_ID = re.compile(r"[\w -]{1,1024}")
_PARTITIONS = ("DAY", "HOUR", "MONTH", "YEAR")
_TIMES = ("DATE", "DATETIME", "TIMESTAMP")
_CHANGEABLE = ("description", "friendly_name", "expires", "requires_filter")


_STORED = (
    select(
        WarehouseTable.number,
        WarehouseTable.kind,
        WarehouseTable.fields,
        WarehouseTable.columns,
        WarehouseTable.expires,
    )
    .join(Dataset, Dataset.number == WarehouseTable.dataset)
    .where(Dataset.id == bindparam("dataset"), WarehouseTable.id == bindparam("id"))
)
_READ = (
    select(
        WarehouseTable.number,
        WarehouseTable.id,
        WarehouseTable.kind,
        WarehouseTable.fields,
        WarehouseTable.columns,
        WarehouseTable.partitioning,
        WarehouseTable.requires_filter,
    )
    .where(WarehouseTable.number.in_(bindparam("numbers", expanding=True)))
    .order_by(WarehouseTable.number)
)


@dataclass(frozen=True)
class TableRead:
    """Metadata of a table that a statement reads."""

    number: int
    id: str
    kind: str
    fields: list[Any]
    columns: list[Any]
    partitioning: dict[str, Any] | None
    requires_filter: bool


class WarehouseTables(StorePart):
    """The tables and views of the datasets."""

    @property
    def rows(self) -> Tables:
        """The rows of all tables, as the SQL room keeps them."""
        return Tables(self.session)

    def table(self, dataset: str, id_: str) -> WarehouseTable:
        """The table or view of that id."""
        place = self.store.bigquery.datasets.dataset(dataset)
        found = self.find(place, id_)
        if found is None:
            raise NotFound(
                f"Not found: Table {self.project.id}:{place.id}.{id_[:200]}"
                + suggestion(id_, self.ids(place)),
                code="notFound",
            )
        return found

    def find(self, dataset: Dataset, id_: str) -> WarehouseTable | None:
        """The table or view of that id, if there is one that has not expired."""
        chosen = select(WarehouseTable).where(
            WarehouseTable.dataset == dataset.number, WarehouseTable.id == id_
        )
        found = self.session.scalars(chosen).first()
        return None if found is None or self._is_over(found) else found

    def ids(self, dataset: Dataset) -> list[str]:
        """The ids of all tables and views of a dataset."""
        return [table.id for table in self.all_of(dataset)]

    def all_of(self, dataset: Dataset) -> list[WarehouseTable]:
        """All tables and views of a dataset, by id."""
        chosen = select(WarehouseTable).where(WarehouseTable.dataset == dataset.number)
        found = self.session.scalars(chosen.order_by(WarehouseTable.id)).all()
        return [table for table in found if not self._is_over(table)]

    def list_tables(
        self, dataset: str, limit: int | None = None, token: str | None = None
    ) -> tuple[Sequence[WarehouseTable], str | None]:
        """A page of the tables and views of a dataset by id, and the token of the next."""
        size = page_size(limit, 50, 1000)
        after = read_token(token, str)
        found = self.all_of(self.store.bigquery.datasets.dataset(dataset))
        if after:
            found = [table for table in found if table.id > after[0]]
        return cut(found, size, lambda table: [table.id])

    def stored(self, dataset: str, id_: str) -> StoredTable | None:
        """The table of that id as statements see it; ``None`` for a view, and where it needs a closer look.

        A table that is asked is asked often, so this is the quick way.
        """
        self.session.flush()
        for row in self.store.fetch(_STORED, dataset=dataset, id=id_):
            if row["kind"] == "TABLE" and row["fields"] and row["expires"] is None:
                return StoredTable(row["number"], columns_of(row["fields"], row["columns"] or None))
        return None

    def by_number(self, numbers: Sequence[int]) -> list[TableRead]:
        """Return the metadata of tables by number."""
        self.session.flush()
        return [TableRead(**row) for row in self.store.fetch(_READ, numbers=list(numbers))] if numbers else []

    # -- making and changing ----------------------------------------------------------------------------

    def create(
        self,
        dataset: str,
        id_: str,
        fields: Sequence[Mapping[str, Any]],
        *,
        description: str | None = None,
        labels: Mapping[str, Any] | None = None,
        partitioning: Mapping[str, Any] | None = None,
        clustering: Sequence[str] = (),
        requires_filter: bool = False,
        friendly_name: str | None = None,
        expires: str | None = None,
    ) -> WarehouseTable:
        """A new table without rows."""
        made = checked_fields(fields)
        partitioned = _checked_partitioning(partitioning, made)
        for name in clustering:
            _field(made, name, "clustering")
        table = self._new(
            dataset,
            id_,
            kind="TABLE",
            fields=made,
            columns=stored_names([field["name"] for field in made]),
            description=description,
            labels=checked_labels(labels or {}),
            partitioning=partitioned,
            clustering=list(clustering),
            requires_filter=requires_filter,
            friendly_name=friendly_name,
            expires=expires,
        )
        self.rows.create(table.number, self.columns(table))
        return table

    def create_view(
        self,
        dataset: str,
        id_: str,
        query: str,
        fields: Sequence[Field],
        *,
        description: str | None = None,
        labels: Mapping[str, Any] | None = None,
        friendly_name: str | None = None,
    ) -> WarehouseTable:
        """A new view; ``fields`` are those that its query gives."""
        return self._new(
            dataset,
            id_,
            kind="VIEW",
            fields=list(fields),
            columns=[],
            query=query,
            description=description,
            labels=checked_labels(labels or {}),
            friendly_name=friendly_name,
            partitioning=None,
            clustering=[],
        )

    def update(self, table: WarehouseTable, changes: Mapping[str, Any]) -> None:
        """Change what is known of a table, or give it further columns (``fields``: the whole schema)."""
        for name in _CHANGEABLE:
            if name in changes:
                setattr(table, name, changes[name])
        if "labels" in changes:
            table.labels = checked_labels(changes["labels"])
        if "fields" in changes:
            self._extend(table, checked_fields(changes["fields"]))
        table.modified = moment(self.now)
        self.session.flush()

    def drop_column(self, table: WarehouseTable, name: str, *, missing_ok: bool) -> None:
        """One column less."""
        place = self._place(table, name)
        if place is None:
            if missing_ok:
                return
            raise _no_column(table, name)
        parts = [(table.partitioning or {}).get("field"), *table.clustering]
        if len(table.fields) == 1 or table.fields[place]["name"] in parts:
            raise Invalid(f"Column {name} cannot be dropped: the table needs it.", code="invalidQuery")
        self.rows.drop_column(table.number, self.columns(table)[place])
        table.fields = [field for at, field in enumerate(table.fields) if at != place]
        table.columns = [stored for at, stored in enumerate(table.columns) if at != place]

    def rename_column(self, table: WarehouseTable, name: str, new: str) -> None:
        """Another name for a column."""
        place = self._place(table, name)
        if place is None:
            raise _no_column(table, name)
        table.fields = checked_fields(
            [{**field, "name": new} if at == place else field for at, field in enumerate(table.fields)]
        )

    def relax(self, table: WarehouseTable, name: str) -> None:
        """Let a column have NULL."""
        place = self._place(table, name)
        if place is None:
            raise _no_column(table, name)
        table.fields = [
            {**field, "mode": "NULLABLE"} if at == place and field["mode"] == "REQUIRED" else field
            for at, field in enumerate(table.fields)
        ]

    def rename(self, table: WarehouseTable, id_: str) -> None:
        """Another id for a table, in its dataset."""
        place = self.session.get_one(Dataset, table.dataset)
        if not _ID.fullmatch(id_) or self.find(place, id_) is not None:
            raise Conflict(
                f"Already Exists: Table {self.project.id}:{place.id}.{id_[:200]}", code="duplicate"
            )
        table.id = id_
        self.session.flush()

    def touch(self, table: WarehouseTable) -> None:
        """The rows of a table were changed."""
        table.modified = moment(self.now)
        self.session.flush()

    def remove(self, table: WarehouseTable) -> None:
        """Remove a table with its rows, or a view."""
        if table.kind == "TABLE":
            self.rows.drop(table.number)
        self.removed(table)

    def columns(self, table: WarehouseTable) -> tuple[Column, ...]:
        """The columns of a table as the SQL room takes them."""
        return columns_of(table.fields, table.columns or None)

    def count(self, table: WarehouseTable | TableRead) -> int:
        """Count a table's rows; 0 for a view."""
        return self.rows.count(table.number) if table.kind == "TABLE" else 0

    # -- rows -------------------------------------------------------------------------------------------

    def append(self, table: WarehouseTable, rows: Iterable[Mapping[str, Any]]) -> int:
        """Put in rows that are objects as the API takes them; ``Invalid`` names what does not fit."""
        fields = table.fields
        return self.fill(table, (stored_row(fields, row) for row in rows))

    def fill(self, table: WarehouseTable, rows: Iterable[Sequence[Value]]) -> int:
        """Put in rows whose values are as SQLite keeps them, in the order of the columns; how many."""
        count = self.rows.insert(table.number, self.columns(table), rows)
        self.touch(table)
        return count

    # -- how --------------------------------------------------------------------------------------------

    def _new(self, dataset: str, id_: str, **values: Any) -> WarehouseTable:
        place = self.store.bigquery.datasets.dataset(dataset)
        if not _ID.fullmatch(id_) or len(id_.encode()) > 1024:
            raise Invalid(
                f"Invalid table ID {quoted(id_)}. Table IDs must be alphanumeric (plus underscores) and must"
                " be at most 1024 characters long.",
                code="invalid",
            )
        chosen = select(WarehouseTable).where(
            WarehouseTable.dataset == place.number, WarehouseTable.id == id_
        )
        before = self.session.scalars(chosen).first()
        if before is not None:
            if not self._is_over(before):
                kind = "Table" if before.kind == "TABLE" else "View"
                raise Conflict(f"Already Exists: {kind} {self.project.id}:{place.id}.{id_}", code="duplicate")
            self.remove(before)
        now = moment(self.now)
        if values["kind"] == "TABLE" and place.default_expiration and not values.get("expires"):
            values["expires"] = moment(self.now + timedelta(milliseconds=place.default_expiration))
        values = {"requires_filter": False, "query": None, "expires": None, **values}
        table = WarehouseTable(dataset=place.number, id=id_, created=now, modified=now, **values)
        return self.added(table)

    def _extend(self, table: WarehouseTable, fields: list[Field]) -> None:
        """The same fields and, behind them, further ones; REQUIRED may become NULLABLE."""
        known = {field["name"].lower(): field for field in fields}
        for before in table.fields:
            after = known.get(before["name"].lower())
            same = after is not None and _grown(before, after)
            loosened = after is not None and (before["mode"], after["mode"]) == ("REQUIRED", "NULLABLE")
            if after is None or not same or (after["mode"] != before["mode"] and not loosened):
                raise Invalid(
                    f"Provided Schema does not match Table {self.project.id}:{table.id}."
                    f" Field {before['name']}"
                    + (" is missing in new schema" if after is None else " has changed type or mode"),
                    code="invalid",
                )
        have = {field["name"].lower() for field in table.fields}
        added = [field for field in fields if field["name"].lower() not in have]
        for field in added:
            if field["mode"] == "REQUIRED":
                raise Invalid(
                    f"Cannot add required columns to an existing schema. (field: {field['name']})",
                    code="invalid",
                )
        ordered = [known[field["name"].lower()] for field in table.fields] + added
        names = stored_names([*table.columns, *(field["name"] for field in added)])
        for column in columns_of(ordered, names)[len(table.columns) :]:
            self.rows.add_column(table.number, column)
        table.fields, table.columns = ordered, names

    def _place(self, table: WarehouseTable, name: str) -> int | None:
        names = [field["name"].lower() for field in table.fields]
        return names.index(name.lower()) if name.lower() in names else None

    def _is_over(self, table: WarehouseTable) -> bool:
        return table.expires is not None and table.expires <= moment(self.now)


def _no_column(table: WarehouseTable, name: str) -> NotFound:
    known = [field["name"] for field in table.fields]
    return NotFound(f"Column not found: {name[:200]}{suggestion(name, known)}", code="invalidQuery")


def _grown(before: Field, after: Field) -> bool:
    """True if a field has the same type as before, or is a struct with added fields."""
    if before["type"] != "STRUCT" or after["type"] != "STRUCT":
        return bool(before["type"] == after["type"])
    inner = {one["name"].lower(): one for one in after["fields"]}
    return all(
        one["name"].lower() in inner and _grown(one, inner[one["name"].lower()]) for one in before["fields"]
    )


def _field(fields: Sequence[Field], name: str, what: str) -> Field:
    for field in fields:
        if field["name"].lower() == name.lower():
            return field
    raise Invalid(
        f"The field specified for {what} cannot be found in the schema: {quoted(name)}", code="invalid"
    )


def _checked_partitioning(said: Mapping[str, Any] | None, fields: Sequence[Field]) -> dict[str, Any] | None:
    if said is None:
        return None
    name = said.get("field")
    if not isinstance(name, str):
        raise Invalid(
            "Tables partitioned by the time of ingestion are not offered here; partition by a field.",
            code="invalid",
        )
    field = _field(fields, name, "partitioning")
    if "range" in said:
        parts = said["range"]
        if field["type"] != "INT64" or not isinstance(parts, Mapping):
            raise Invalid("Range partitioning needs a field of the type INT64.", code="invalid")
        return {
            "field": field["name"],
            "range": {key: str(parts[key]) for key in ("start", "end", "interval")},
        }
    kind = str(said.get("type") or "DAY").upper()
    if kind not in _PARTITIONS:
        raise Invalid(
            f"{quoted(kind)} is not a valid value; there are {', '.join(_PARTITIONS)}.", code="invalid"
        )
    if field["type"] not in _TIMES or field["mode"] == "REPEATED":
        raise Invalid(
            f"The field specified for time partitioning can only be of type TIMESTAMP, DATE or DATETIME:"
            f" {name}.",
            code="invalid",
        )
    return {"type": kind, "field": field["name"]}
