"""Pages of the cloud: BigQuery's datasets and tables with a query box, storage, logs, machines."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sql

from mesocosm.errors import NotFound
from mesocosm.servers.google_cloud.models import (
    Bucket,
    Content,
    Dataset,
    Instance,
    LogEntry,
    StorageObject,
    WarehouseTable,
)
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.logs.matcher import SEVERITIES
from mesocosm.services.previews import preview, readable
from mesocosm.services.stored_tables import stored_items, stored_rows
from mesocosm.services.views import (
    Asked,
    Block,
    Columns,
    Fields,
    Item,
    Link,
    Page,
    Prose,
    Query,
    Row,
    Table,
    View,
    count_of,
    found_in,
    number_of,
    table_of,
)

view = View()
_TOOL = "bigquery_run_query"
_TABLES = (
    sql.select(WarehouseTable, Dataset.id.label("of"))
    .join(Dataset, Dataset.number == WarehouseTable.dataset)
    .order_by(Dataset.id, WarehouseTable.id)
)
_SEVERITIES = {number: name for name, number in SEVERITIES.items()}
_ENTRY: Columns = {
    "At": lambda one: one.timestamp[:19].replace("T", " "),
    "Log": lambda one: one.log,
    "Severity": lambda one: _SEVERITIES.get(one.severity, one.severity),
    "Text": lambda one: one.text or str(one.data or ""),
}
_MACHINE: Columns = {
    "Machine": lambda one: one.name,
    "Zone": lambda one: one.zone,
    "Type": lambda one: one.machine_type,
    "Status": lambda one: one.status,
    "Internal address": lambda one: one.internal_ip,
    "External address": lambda one: one.external_ip,
}


def _places(store: GoogleCloudStore) -> list[Link]:
    found = [
        Link("BigQuery", "", count_of(store, WarehouseTable)),
        Link("Storage", "storage", count_of(store, Bucket)),
        Link("Logs", "logs", count_of(store, LogEntry)),
        Link("Machines", "machines", count_of(store, Instance)),
    ]
    return [one for one in found if one.count or not one.path]


@view.page("")
def warehouse(store: GoogleCloudStore, asked: Asked) -> Page:
    """The tables of all datasets."""
    found = store.session.execute(_TABLES.offset(asked.start).limit(asked.size))
    rows = [
        Row(
            [dataset, Link(one.id, f"table/{one.number}"), one.kind.lower(), one.description],
            ref=f"tables:{one.number}",
        )
        for one, dataset in found
    ]
    table = Table(["Dataset", "Table", "Kind", "Description"], rows, count_of(store, WarehouseTable))
    return Page("BigQuery", [table, Query(_TOOL, "query", "SELECT ...")], _places(store))


@view.page("table/{number}")
def table(store: GoogleCloudStore, asked: Asked, number: str) -> Page:
    """A table with its columns and rows, or a view with what it asks."""
    found = store.session.execute(_TABLES.where(WarehouseTable.number == number_of(number))).first()
    if found is None:
        raise NotFound("there is no such table")
    one, dataset = found
    facts = {
        "Kind": one.kind.lower(),
        "Description": one.description,
        "Created": one.created,
        "Modified": one.modified,
    }
    blocks: list[Block] = [Fields(facts, ref=f"tables:{one.number}")]
    if one.query:
        blocks.append(Prose(one.query, "What it asks", code=True))
    elif one.columns:
        blocks.append(stored_rows(store.session, f"t_{one.number}", one.columns, asked))
    columns = [Row([field["name"], field["type"], field.get("mode", "")]) for field in one.fields]
    name = f"{dataset}.{one.id}"
    blocks += [
        Table(["Column", "Type", "Mode"], columns, title="Columns"),
        Query(_TOOL, "query", f"SELECT * FROM {name} LIMIT 100"),
    ]
    return Page(name, blocks, _places(store), Link("BigQuery", ""))


@view.page("storage")
def storage(store: GoogleCloudStore, asked: Asked) -> Page:
    """The live objects of all buckets."""
    live = StorageObject.live
    found = store.session.execute(
        sql.select(StorageObject, Bucket.name)
        .join(Bucket, Bucket.number == StorageObject.bucket)
        .where(live)
        .order_by(Bucket.name, StorageObject.name)
        .offset(asked.start)
        .limit(asked.size)
    )
    rows = [
        Row(
            [bucket, Link(one.name, f"object/{one.number}"), one.size, one.content_type, one.updated],
            ref=f"objects:{one.number}",
        )
        for one, bucket in found
    ]
    buckets = store.session.scalars(sql.select(Bucket).order_by(Bucket.name))
    described = [
        Row([one.name, one.location, one.storage_class, one.created], ref=f"buckets:{one.number}")
        for one in buckets
    ]
    return Page(
        "Storage",
        [
            Table(["Bucket", "Location", "Class", "Created"], described),
            Table(
                ["Bucket", "Object", "Bytes", "Type", "Changed"],
                rows,
                count_of(store, StorageObject, live),
                "Objects",
            ),
        ],
        _places(store),
    )


@view.page("object/{number}")
def stored(store: GoogleCloudStore, asked: Asked, number: str) -> Page:
    """An object, as far as it can be shown."""
    one = found_in(store, StorageObject, number, "object")
    content = found_in(store, Content, str(one.content), "object")
    facts = Fields(
        {"Bytes": one.size, "Type": one.content_type, "Changed": one.updated}, ref=f"objects:{one.number}"
    )
    return Page(
        one.name, [facts, *preview(one.name, content.data, asked)], _places(store), Link("Storage", "storage")
    )


@view.page("logs")
def logs(store: GoogleCloudStore, asked: Asked) -> Page:
    """The entries of all logs, the latest first."""
    order = (LogEntry.timestamp.desc(), LogEntry.number.desc())
    return Page("Logs", [table_of(store, asked, LogEntry, _ENTRY, order=order)], _places(store))


@view.page("machines")
def machines(store: GoogleCloudStore, asked: Asked) -> Page:
    """The machines of Compute Engine."""
    found = table_of(store, asked, Instance, _MACHINE, order=(Instance.name,))
    return Page("Machines", [found], _places(store))


@view.items
def items(store: GoogleCloudStore) -> Iterator[Item]:
    """Rows of tables, texts of objects, entries of logs."""
    for one, dataset in store.session.execute(_TABLES).all():
        if one.columns and not one.query:
            yield from stored_items(
                store.session, f"t_{one.number}", one.columns, f"{dataset}.{one.id}", f"table/{one.number}"
            )
    entries = store.session.scalars(
        sql.select(LogEntry).order_by(LogEntry.timestamp.desc(), LogEntry.number.desc())
    )
    size = Asked().size
    for number, entry in enumerate(entries):
        start = number - number % size
        text = entry.text or str(entry.data or "")
        yield Item(
            "log entry",
            entry.log,
            text,
            f"logs?from={start}" if start else "logs",
            f"log_entries:{entry.number}",
            entry.timestamp,
        )
    for thing, content in store.session.execute(
        sql.select(StorageObject, Content)
        .join(Content, Content.number == StorageObject.content)
        .where(StorageObject.live)
    ):
        yield Item(
            "object",
            thing.name,
            readable(thing.name, content.data),
            f"object/{thing.number}",
            f"objects:{thing.number}",
            thing.updated,
        )
