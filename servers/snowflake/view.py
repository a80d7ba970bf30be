"""Pages of the warehouse: databases, schemas and tables with columns and rows; a query box."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sql

from mesocosm.servers.snowflake.models import Database, Insight, Item, ItemColumn, Schema
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services import views
from mesocosm.services.stored_tables import stored_items, stored_rows
from mesocosm.services.views import (
    Asked,
    Block,
    Fields,
    Link,
    Page,
    Prose,
    Query,
    Row,
    Table,
    View,
    count_of,
    found_in,
)

view = View()
_NAMES = (
    sql.select(
        Item.id,
        Item.name,
        Item.kind,
        Item.comment,
        Schema.name.label("schema"),
        Database.name.label("database"),
    )
    .join(Schema, Schema.id == Item.schema_id)
    .join(Database, Database.id == Schema.database_id)
    .order_by(Database.name, Schema.name, Item.name)
)


def _places(store: SnowflakeStore) -> list[Link]:
    return [Link(f"{one.schema}.{one.name}", f"table/{one.id}") for one in store.session.execute(_NAMES)]


@view.page("")
def catalogue(store: SnowflakeStore, asked: Asked) -> Page:
    """All tables and views."""
    found = store.session.execute(_NAMES.offset(asked.start).limit(asked.size))
    rows = [
        Row(
            [one.database, one.schema, Link(one.name, f"table/{one.id}"), one.kind.lower(), one.comment],
            ref=f"items:{one.id}",
        )
        for one in found
    ]
    insights = store.session.scalars(sql.select(Insight).order_by(Insight.id)).all()
    blocks: list[Block] = [
        Table(["Database", "Schema", "Table", "Kind", "Comment"], rows, count_of(store, Item))
    ]
    if insights:
        blocks.append(
            Table(["At", "Insight"], [Row([one.at, one.text], ref=f"insights:{one.id}") for one in insights])
        )
    blocks.append(Query("read_query", "query", "SELECT ..."))
    return Page("Warehouse", blocks, _places(store))


@view.page("table/{id}")
def table(store: SnowflakeStore, asked: Asked, id: str) -> Page:
    """A table with its columns and rows, or a view with what it asks."""
    item = found_in(store, Item, id, "table")
    found = store.session.execute(_NAMES.where(Item.id == item.id)).one()
    columns = store.session.scalars(
        sql.select(ItemColumn).where(ItemColumn.item_id == item.id).order_by(ItemColumn.position)
    ).all()
    name = f"{found.database}.{found.schema}.{found.name}"
    facts = {
        "Kind": item.kind.lower(),
        "Comment": item.comment,
        "Created": item.created,
        "Altered": item.altered,
    }
    described = Table(
        ["Column", "Type", "", "Comment"],
        [
            Row(
                [one.name, one.type, "not null" if one.required else "", one.comment],
                ref=f"item_columns:{one.id}",
            )
            for one in columns
        ],
        title="Columns",
    )
    blocks: list[Block] = [Fields(facts, ref=f"items:{item.id}")]
    if item.query:
        blocks.append(Prose(item.query, "What it asks", code=True))
    else:
        blocks.append(stored_rows(store.session, f"t_{item.id}", [one.stored for one in columns], asked))
    blocks += [described, Query("read_query", "query", f"SELECT * FROM {name} LIMIT 100")]
    return Page(name, blocks, _places(store), Link("Warehouse", ""))


@view.items
def items(store: SnowflakeStore) -> Iterator[views.Item]:
    """The rows of all tables."""
    for one in store.session.execute(_NAMES).all():
        if one.kind == "TABLE":
            columns = store.session.scalars(
                sql.select(ItemColumn.stored)
                .where(ItemColumn.item_id == one.id)
                .order_by(ItemColumn.position)
            ).all()
            yield from stored_items(store.session, f"t_{one.id}", columns, one.name, f"table/{one.id}")
