"""Copies of whole schemas and databases."""

from __future__ import annotations

from mesocosm.servers.snowflake.store.identifiers import Path, Row
from mesocosm.servers.snowflake.store.objects import NewItem, Objects


def copy_database(store: Objects, source: str, target: str) -> None:
    """Fill a new database, which has PUBLIC alone, with what is in another."""
    names = [row["name"] for row in store.schemas(source)]
    for row in store.schemas(target):
        if row["name"] not in names:
            store.drop_schema((target, row["name"]))
    there = {row["name"] for row in store.schemas(target)}
    for name in names:
        if name not in there:
            store.add_schema((target, name))
        copy_schema(store, (source, name), (target, name))


def copy_schema(store: Objects, source: Path, target: Path) -> None:
    """Fill a new schema with what is in another: tables with their rows, views, and sequences."""
    for row in store.sequences(source[0]):
        if row["schema"] == source[1]:
            store.add_sequence((*target, row["name"]), row["next"], row["step"], row["comment"])
    for row in store.items(*source):
        if row["kind"] != "TEMPORARY":
            item = store.item_named((*source, row["name"]))
            copy_item(store, item, NewItem((*target, row["name"]), row["kind"], (), row["comment"]))


def copy_item(store: Objects, source: Row, new: NewItem, *, rows: bool = True) -> None:
    """A copy of a table or view under the path of ``new``, with its keys, comments and counting columns;
    without ``rows`` (``CREATE TABLE ... LIKE``) an empty one, without its comment and clustering."""
    columns = list(store.columns(source["id"]))
    new.columns = store.defined(source["id"])
    if rows:
        new.comment = new.comment or source["comment"]
        new.cluster_by = new.cluster_by or source["cluster_by"]
    if new.kind == "VIEW":
        new.query, new.text = store.texts_of(source["id"])
    number = store.add_item(new)
    if rows and new.kind != "VIEW":
        store.rows.copy_rows(source["id"], columns, number, store.columns(number))
