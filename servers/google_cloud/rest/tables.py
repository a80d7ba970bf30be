"""BigQuery's tables and their rows."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from mesocosm.doors.request import Request
from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.google_cloud.models import Job, WarehouseTable
from mesocosm.servers.google_cloud.rest.datasets import ROOT
from mesocosm.servers.google_cloud.rest.service import api, body_of, check_project, etag_of, read, texts
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.bigquery.schema import Field, shown_fields
from mesocosm.servers.google_cloud.store.bigquery.values import Unfit, api_value, stored_row
from mesocosm.servers.google_cloud.store.part import milliseconds, moment, page_token, read_token
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json

_TABLES = ROOT + "/{project}/datasets/{dataset}/tables"
_WHOLE = "formatOptions.useInt64Timestamp"
_SUMMARY = "$__PARTITIONS_SUMMARY__"
_SUMMARY_FIELDS: list[Field] = [
    *(
        {"name": name, "type": "STRING", "mode": "NULLABLE"}
        for name in ("project_id", "dataset_id", "table_id", "partition_id")
    ),
    *(
        {"name": name, "type": "INTEGER", "mode": "NULLABLE"}
        for name in ("creation_time", "last_modified_time")
    ),
]
"""Fields of the pseudo-table ``$__PARTITIONS_SUMMARY__``, from which clients list a table's partitions."""


def shown(store: GoogleCloudStore, dataset: str, table: WarehouseTable) -> Json:
    """A table or view as the API answers it."""
    project = store.project.id
    view: Json = {
        "kind": "bigquery#table",
        "id": f"{project}:{dataset}.{table.id}",
        "selfLink": f"https://bigquery.googleapis.com{ROOT}/{project}/datasets/{dataset}/tables/{table.id}",
        "tableReference": {"projectId": project, "datasetId": dataset, "tableId": table.id},
        "labels": table.labels,
        "schema": {"fields": shown_fields(table.fields)},
        "type": table.kind,
        "creationTime": str(milliseconds(table.created)),
        "lastModifiedTime": str(milliseconds(table.modified)),
        "location": store.bigquery.datasets.dataset(dataset).location,
        "numBytes": str(store.bigquery.sizes.bytes(table)),
        "numRows": str(store.bigquery.tables.count(table)),
    }
    for name, value in (("friendlyName", table.friendly_name), ("description", table.description)):
        view |= {name: value} if value is not None else {}
    if table.query is not None:
        view["view"] = {"query": table.query, "useLegacySql": False}
    if table.partitioning is not None:
        ranged = "range" in table.partitioning
        view["rangePartitioning" if ranged else "timePartitioning"] = table.partitioning
    if table.requires_filter:
        view["requirePartitionFilter"] = True
    if table.clustering:
        view["clustering"] = {"fields": table.clustering}
    if table.expires is not None:
        view["expirationTime"] = str(milliseconds(table.expires))
    return view | {"etag": etag_of(view)}


def _result(store: GoogleCloudStore, dataset: str, job: Job) -> Json:
    """The anonymous table of a query's result."""
    project, time = store.project.id, str(milliseconds(job.created))
    id_ = store.bigquery.jobs.anonymous_table(job)
    view: Json = {
        "kind": "bigquery#table",
        "id": f"{project}:{dataset}.{id_}",
        "tableReference": {"projectId": project, "datasetId": dataset, "tableId": id_},
        "schema": {"fields": shown_fields(job.fields)},
        "type": "TABLE",
        "creationTime": time,
        "lastModifiedTime": time,
        "location": job.location,
        "numBytes": "0",
        "numRows": str(job.total_rows),
    }
    return view | {"etag": etag_of(view)}


def fields_in(body: Fields) -> list[Any] | None:
    """The fields of a schema, with all that is said of them taken notice of; ``None`` without one."""
    if body.get("schema") is None:
        return None
    return [_field(one) for one in read.objects(read.inner(body, "schema"), "fields")]


def _field(one: Fields) -> Field:
    made: Field = {"name": one.get("name"), "type": one.get("type"), "mode": one.get("mode")}
    if one.get("fields"):
        made["fields"] = [_field(part) for part in read.objects(one, "fields")]
    for key in ("description", "defaultValueExpression"):
        if one.get(key):
            made[key] = read.text(one, key)
    for key in ("precision", "scale", "maxLength"):
        if one.get(key) is not None:
            made[key] = read.number(one, key)
    return made


def _expires(body: Fields) -> str | None:
    millis = read.number(body, "expirationTime")
    if millis is None:
        return None
    try:
        return moment(datetime.fromtimestamp(millis / 1000, UTC))
    except (ValueError, OverflowError, OSError):
        raise Invalid("Invalid value for expirationTime.", code="invalid") from None


_SET: dict[str, tuple[str, Callable[[Fields, str], Any]]] = {
    "description": ("description", read.text),
    "friendlyName": ("friendly_name", read.text),
    "expirationTime": ("expires", lambda body, name: _expires(body)),
    "requirePartitionFilter": ("requires_filter", read.flag),
}
"""Fields of a table that clients change, each with its column and how it is read."""


def _partitioning(body: Fields) -> dict[str, Any] | None:
    if body.get("rangePartitioning"):
        said = read.inner(body, "rangePartitioning")
        ranges = read.inner(said, "range")
        numbers = {name: read.number(ranges, name) for name in ("start", "end", "interval")}
        if None in numbers.values() or not numbers["interval"] or numbers["interval"] < 1:
            raise Invalid("A range needs start, end and interval.", code="invalid")
        return {"field": read.text(said, "field"), "range": {name: str(one) for name, one in numbers.items()}}
    if body.get("timePartitioning"):
        said = read.inner(body, "timePartitioning")
        return {"type": read.text(said, "type"), "field": read.text(said, "field")}
    return None


@api.get(_TABLES)
def list_tables(
    store: GoogleCloudStore,
    dataset: str,
    maxResults: int | None = None,
    pageToken: str | None = None,
) -> Json:
    """The tables and views of a dataset."""
    found, token = store.bigquery.tables.list_tables(dataset, maxResults, pageToken)
    keys = ("kind", "id", "tableReference", "type", "labels", "creationTime", "view", "timePartitioning")
    views = [shown(store, dataset, one) for one in found]
    listed = [{key: value for key, value in view.items() if key in keys} for view in views]
    page: Json = {"kind": "bigquery#tableList", "tables": listed, "totalItems": len(listed)}
    return page | ({"nextPageToken": token} if token else {})


@api.post(_TABLES)
def insert_table(store: GoogleCloudStore, request: Request, project: str, dataset: str) -> Json:
    """A new table or view."""
    body = body_of(request)
    reference = read.inner(body, "tableReference")
    check_project(store, read.text(reference, "projectId") or project)
    if read.text(reference, "datasetId") not in (None, dataset):
        raise Invalid("The table is for another dataset.", code="invalid")
    id_ = read.text(reference, "tableId") or ""
    about: dict[str, Any] = {
        "description": read.text(body, "description"),
        "friendly_name": read.text(body, "friendlyName"),
        "labels": texts(body, "labels"),
    }
    if body.get("view"):
        said = read.inner(body, "view")
        if read.flag(said, "useLegacySql"):
            raise Invalid("Legacy SQL is not offered here: set useLegacySql to false.", code="invalid")
        query = read.text(said, "query") or ""
        fields = store.bigquery.queries.run(query, dry_run=True).fields
        made = store.bigquery.tables.create_view(dataset, id_, query, fields, **about)
    else:
        parts = _partitioning(body)
        made = store.bigquery.tables.create(
            dataset,
            id_,
            fields_in(body) or [],
            partitioning=parts,
            clustering=[str(one) for one in read.items(read.inner(body, "clustering"), "fields")],
            requires_filter=read.flag(body, "requirePartitionFilter"),
            expires=_expires(body),
            **about,
        )
    return shown(store, dataset, made)


@api.get(_TABLES + "/{table}")
def get_table(
    store: GoogleCloudStore, project: str, dataset: str, table: str, view: str | None = None
) -> Json:
    job = store.bigquery.jobs.by_anonymous(dataset, table)
    if job is not None:
        return _result(store, dataset, job)
    if table.endswith(_SUMMARY):
        whole = shown(store, dataset, store.bigquery.tables.table(dataset, table.removesuffix(_SUMMARY)))
        reference = {**whole["tableReference"], "tableId": table}
        kept = {name: whole[name] for name in ("kind", "type", "creationTime", "location", "etag")}
        return {**kept, "id": f"{project}:{dataset}.{table}", "tableReference": reference,
                "schema": {"fields": shown_fields(_SUMMARY_FIELDS)}}  # fmt: skip
    return shown(store, dataset, store.bigquery.tables.table(dataset, table))


def _change(store: GoogleCloudStore, request: Request, dataset: str, table: str) -> Json:
    body = body_of(request)
    found = store.bigquery.tables.table(dataset, table)
    changes = {column: take(body, name) for name, (column, take) in _SET.items() if name in body}
    if "labels" in body:
        said = found.labels | (texts(body, "labels") or {})
        changes["labels"] = {name: value for name, value in said.items() if value is not None}
    fields = fields_in(body)
    if fields is not None and found.kind == "TABLE":
        changes["fields"] = fields
    store.bigquery.tables.update(found, changes)
    return shown(store, dataset, found)


api.patch(_TABLES + "/{table}")(_change)
api.put(_TABLES + "/{table}")(_change)


@api.delete(_TABLES + "/{table}")
def delete_table(store: GoogleCloudStore, dataset: str, table: str) -> None:
    """Remove a table with its rows, or a view."""
    store.bigquery.tables.remove(store.bigquery.tables.table(dataset, table))


# -- rows ---------------------------------------------------------------------------------------------------


def rows_as_shown(request: Request, fields: list[Field], rows: list[list[Any]]) -> list[Json]:
    """Rows as the API answers them."""
    whole = dict(request.pairs).get(_WHOLE, "").lower() in ("true", "1")
    return [
        {"f": [{"v": api_value(one, value, whole=whole)} for one, value in zip(fields, row, strict=True)]}
        for row in rows
    ]


def result_rows(store: GoogleCloudStore, job: Job, start: int, size: int) -> list[list[Any]]:
    """Rows of the result of a job: those that were kept, or, where none were, by asking again."""
    if job.seen and start + size > 0 and job.total_rows:
        query = job.configuration["query"]["query"]
        answer = store.bigquery.queries.run(query, limit=max(1, size), skip=start)
        if answer.seen != job.seen:
            raise Conflict("The result is no longer available: its tables have changed.", code="invalid")
        return answer.rows[:size]
    return store.bigquery.jobs.kept_rows(job, start, size) if size else []


@api.get(_TABLES + "/{table}/data")
def list_rows(
    store: GoogleCloudStore,
    request: Request,
    dataset: str,
    table: str,
    maxResults: int | None = None,
    pageToken: str | None = None,
    startIndex: int = 0,
    selectedFields: str | None = None,
) -> Json:
    position = read_token(pageToken, int)
    start = position[0] if position else max(0, startIndex)
    size = min(maxResults, 10_000) if maxResults is not None and maxResults > 0 else 1_000
    job = store.bigquery.jobs.by_anonymous(dataset, table)
    if job is not None:
        fields, rows, total = list(job.fields), result_rows(store, job, start, size), job.total_rows
    elif table.endswith(_SUMMARY):
        every = _summary(store, dataset, table.removesuffix(_SUMMARY))
        fields, rows, total = _SUMMARY_FIELDS, every[start : start + size], len(every)
    else:
        found = store.bigquery.tables.table(dataset, table)
        fields, rows = list(found.fields), store.bigquery.queries.rows_of(found, size, start)
        total = store.bigquery.tables.count(found)
    if selectedFields:
        wanted = {name.partition(".")[0].strip().lower() for name in selectedFields.split(",")}
        kept = [place for place, one in enumerate(fields) if one["name"].lower() in wanted]
        fields, rows = [fields[at] for at in kept], [[row[at] for at in kept] for row in rows]
    page: Json = {
        "kind": "bigquery#tableDataList",
        "totalRows": str(total),
        "rows": rows_as_shown(request, fields, rows),
    }
    after = start + len(rows)
    return page | ({"pageToken": page_token(after)} if rows and after < total else {})


def _summary(store: GoogleCloudStore, dataset: str, id_: str) -> list[list[Any]]:
    table = store.bigquery.tables.table(dataset, id_)
    times = [milliseconds(table.created), milliseconds(table.modified)]
    partitions = store.bigquery.sizes.partitions(table) if table.partitioning else []
    return [[store.project.id, dataset, id_, name, *times] for name, _ in partitions]


@api.post(_TABLES + "/{table}/insertAll")
def insert_all(store: GoogleCloudStore, request: Request, dataset: str, table: str) -> Json:
    """Put rows into a table; if one does not fit, none is put in, unless ``skipInvalidRows``."""
    body = body_of(request)
    found = store.bigquery.tables.table(dataset, table)
    if found.kind != "TABLE":
        raise Invalid(f"{dataset}.{table} is a view: nothing can be put into it.", code="invalid")
    skip, ignore = read.flag(body, "skipInvalidRows"), read.flag(body, "ignoreUnknownValues")
    known = {one["name"].lower() for one in found.fields}
    rows, errors = [], []
    for index, one in enumerate(read.objects(body, "rows")):
        read.text(one, "insertId")
        said = dict(read.inner(one, "json").items())
        if ignore:
            said = {name: value for name, value in said.items() if name.lower() in known}
        try:
            rows.append(stored_row(found.fields, said))
        except Unfit as error:
            why = {"reason": "invalid", "location": "", "debugInfo": "", "message": error.message}
            errors.append({"index": index, "errors": [why]})
    view: Json = {"kind": "bigquery#tableDataInsertAllResponse"}
    if errors and not skip:
        return view | {"insertErrors": errors}
    if rows:
        store.bigquery.tables.fill(found, rows)
    return view | ({"insertErrors": errors} if errors else {})


# -- what datasets hold beside ------------------------------------------------------------------------------


def _none_of(store: GoogleCloudStore, dataset: str) -> Json:
    store.bigquery.datasets.dataset(dataset)
    return {}


@api.get(ROOT + "/{project}/datasets/{dataset}/routines")
def list_routines(
    store: GoogleCloudStore, dataset: str, maxResults: int | None = None, filter: str = ""
) -> Json:
    """List functions and procedures: always empty."""
    return _none_of(store, dataset)


@api.get(ROOT + "/{project}/datasets/{dataset}/models")
def list_models(store: GoogleCloudStore, dataset: str, maxResults: int | None = None) -> Json:
    """List models: always empty."""
    return _none_of(store, dataset)
