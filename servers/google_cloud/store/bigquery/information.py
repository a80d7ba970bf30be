"""INFORMATION_SCHEMA and ``__TABLES__``: what is known of datasets, tables and jobs, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson
from sqlalchemy import select

from mesocosm.servers.google_cloud.models import Dataset, Job, WarehouseTable
from mesocosm.servers.google_cloud.store.bigquery.schema import Field, type_of
from mesocosm.servers.google_cloud.store.part import StorePart, milliseconds, read_moment
from mesocosm.services.queries.catalogue import Column, Listed

_TEXT, _NUMBER, _TIME = "VARCHAR", "BIGINT", "TIMESTAMP WITH TIME ZONE"
_Rows = Iterator[Sequence[Any]]


_TABLE = "table_catalog table_schema table_name"
_COLUMNS = {
    "SCHEMATA": "catalog_name schema_name schema_owner creation_time last_modified_time location ddl",
    "TABLES": f"{_TABLE} table_type is_insertable_into is_typed creation_time ddl",
    "COLUMNS": (
        f"{_TABLE} column_name ordinal_position is_nullable data_type is_generated is_hidden"
        " is_system_defined is_partitioning_column clustering_ordinal_position column_default"
    ),
    "COLUMN_FIELD_PATHS": f"{_TABLE} column_name field_path data_type description",
    "VIEWS": f"{_TABLE} view_definition check_option use_standard_sql",
    "MATERIALIZED_VIEWS": f"{_TABLE} last_refresh_time refresh_watermark",
    "TABLE_OPTIONS": f"{_TABLE} option_name option_type option_value",
    "PARTITIONS": f"{_TABLE} partition_id total_rows total_logical_bytes last_modified_time storage_tier",
    "TABLE_STORAGE": "project_id table_schema table_name creation_time total_rows total_logical_bytes",
    "JOBS": (
        "creation_time project_id user_email job_id job_type statement_type state query total_bytes_processed"
    ),
    "__TABLES__": "project_id dataset_id table_id creation_time last_modified_time row_count size_bytes type",
}
_KINDS = {
    **dict.fromkeys(
        ("ordinal_position", "clustering_ordinal_position", "row_count", "size_bytes", "type"), _NUMBER
    ),
    **dict.fromkeys(("total_rows", "total_logical_bytes", "total_bytes_processed"), _NUMBER),
    **dict.fromkeys(("creation_time", "last_modified_time", "last_refresh_time", "refresh_watermark"), _TIME),
}
"""Types of columns that are no texts."""
_OF_META = _KINDS | dict.fromkeys(("creation_time", "last_modified_time"), _NUMBER)
"""The same of ``__TABLES__``, which has times as milliseconds."""
VIEWS = (*(name for name in _COLUMNS if name != "__TABLES__"), "JOBS_BY_PROJECT", "JOBS_BY_USER")


class Information(StorePart):
    """The views of INFORMATION_SCHEMA, of one dataset or of all."""

    def listed(self, name: str, dataset: Dataset | None) -> Listed | None:
        """One of the views by its name in capitals; ``None`` if there is none of that name."""
        name = "JOBS" if name in ("JOBS_BY_PROJECT", "JOBS_BY_USER") else name
        views: dict[str, Callable[[Sequence[Dataset]], _Rows]] = {
            "SCHEMATA": self._schemata,
            "TABLES": self._tables,
            "COLUMNS": self._columns,
            "COLUMN_FIELD_PATHS": self._paths,
            "VIEWS": self._views,
            "MATERIALIZED_VIEWS": lambda datasets: iter(()),  # none can be made
            "TABLE_OPTIONS": self._options,
            "PARTITIONS": self._partitions,
            "TABLE_STORAGE": self._storage,
            "JOBS": self._jobs,
            "__TABLES__": self._meta,
        }
        if name not in views:
            return None
        every = self.session.scalars(select(Dataset).order_by(Dataset.id)).all()
        kinds = _OF_META if name == "__TABLES__" else _KINDS
        columns = tuple(Column(one, kinds.get(one, _TEXT), stored=one) for one in _COLUMNS[name].split())
        return Listed(columns, list(views[name]([dataset] if dataset else every)))

    def _each(self, datasets: Sequence[Dataset]) -> Iterator[tuple[Dataset, WarehouseTable]]:
        for dataset in datasets:
            for table in self.store.bigquery.tables.all_of(dataset):
                yield dataset, table

    def _named(self, datasets: Sequence[Dataset]) -> Iterator[tuple[tuple[str, str, str], WarehouseTable]]:
        project = self.project.id
        for dataset, table in self._each(datasets):
            yield (project, dataset.id, table.id), table

    def _schemata(self, datasets: Sequence[Dataset]) -> _Rows:
        project = self.project.id
        for one in datasets:
            times = read_moment(one.created), read_moment(one.modified)
            yield project, one.id, None, *times, one.location, f"CREATE SCHEMA `{project}.{one.id}`;"

    def _tables(self, datasets: Sequence[Dataset]) -> _Rows:
        for name, table in self._named(datasets):
            kind = "BASE TABLE" if table.kind == "TABLE" else "VIEW"
            insertable = "YES" if table.kind == "TABLE" else "NO"
            yield *name, kind, insertable, "NO", read_moment(table.created), ddl(name, table)

    def _columns(self, datasets: Sequence[Dataset]) -> _Rows:
        for name, table in self._named(datasets):
            partition = (table.partitioning or {}).get("field")
            for place, field in enumerate(table.fields, start=1):
                own = field["name"]
                yield (
                    *(*name, own, place, "NO" if field["mode"] == "REQUIRED" else "YES", type_of(field)),
                    *("NEVER", "NO", "NO", "YES" if own == partition else "NO"),
                    table.clustering.index(own) + 1 if own in table.clustering else None,
                    field.get("default", "NULL"),
                )

    def _paths(self, datasets: Sequence[Dataset]) -> _Rows:
        for name, table in self._named(datasets):
            for field in table.fields:
                for path, inner in _paths(field["name"], field):
                    yield *name, field["name"], path, type_of(inner), inner.get("description")

    def _views(self, datasets: Sequence[Dataset]) -> _Rows:
        for name, table in self._named(datasets):
            if table.kind == "VIEW":
                yield *name, table.query, None, "YES"

    def _options(self, datasets: Sequence[Dataset]) -> _Rows:
        for name, table in self._named(datasets):
            if table.description:
                yield *name, "description", "STRING", orjson.dumps(table.description).decode()
            if table.labels:
                pairs = ", ".join(f'STRUCT("{key}", "{value}")' for key, value in table.labels.items())
                yield *name, "labels", "ARRAY<STRUCT<STRING, STRING>>", f"[{pairs}]"

    def _partitions(self, datasets: Sequence[Dataset]) -> _Rows:
        for name, table in self._named(datasets):
            for id_, count in self.store.bigquery.sizes.partitions(table):
                size = self.store.bigquery.sizes.bytes(table)
                share = size * count // (self.store.bigquery.tables.count(table) or 1)
                yield *name, id_, count, share, read_moment(table.modified), "ACTIVE"

    def _storage(self, datasets: Sequence[Dataset]) -> _Rows:
        for name, table in self._named(datasets):
            if table.kind == "TABLE":
                count, size = self.store.bigquery.tables.count(table), self.store.bigquery.sizes.bytes(table)
                yield *name, read_moment(table.created), count, size

    def _jobs(self, datasets: Sequence[Dataset]) -> _Rows:
        project = self.project
        for job in self.session.scalars(select(Job).order_by(Job.number)):
            query = job.configuration.get("query", {}).get("query")
            said = job.statistics
            yield (
                *(read_moment(job.created), project.id, project.service_account, job.id, job.kind),
                *(said.get("statementType"), "DONE", query, said.get("totalBytesProcessed")),
            )

    def _meta(self, datasets: Sequence[Dataset]) -> _Rows:
        for (project, dataset, id_), table in self._named(datasets):
            times = milliseconds(table.created), milliseconds(table.modified)
            kind = 1 if table.kind == "TABLE" else 2
            size = self.store.bigquery.sizes.bytes(table) if kind == 1 else None
            yield project, dataset, id_, *times, self.store.bigquery.tables.count(table), size, kind


def _paths(name: str, field: Field) -> Iterator[tuple[str, Field]]:
    yield name, field
    for inner in field.get("fields", ()):
        yield from _paths(f"{name}.{inner['name']}", inner)


def ddl(name: tuple[str, str, str], table: WarehouseTable) -> str:
    """The statement that would make a table or a view."""
    if table.kind == "VIEW":
        return f"CREATE VIEW `{'.'.join(name)}`\nAS {table.query};"
    columns = ",\n".join(
        f"  {field['name']} {type_of(field)}"
        + (" NOT NULL" if field["mode"] == "REQUIRED" else "")
        + (f" DEFAULT {field['default']}" if "default" in field else "")
        for field in table.fields
    )
    made = f"CREATE TABLE `{'.'.join(name)}`\n(\n{columns}\n)"
    if table.partitioning:
        made += f"\nPARTITION BY {table.partitioning['field']}"
    if table.clustering:
        made += f"\nCLUSTER BY {', '.join(table.clustering)}"
    if table.description:
        made += f"\nOPTIONS(\n  description={orjson.dumps(table.description).decode()}\n)"
    return made + ";"
