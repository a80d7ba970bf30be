"""Full-text search of products: any part of a word, over name, description and short description."""

from __future__ import annotations

from sqlalchemy import DDL, column, event, table

from mesocosm.servers.woocommerce.models.catalog import Product
from mesocosm.servers.woocommerce.models.declarative import Base

product_search = table("product_search", column("rowid"), column("product_search"))

_COLUMNS = "name, description, short_description"
_NEW = "new.id, new.name, new.description, new.short_description"
_OLD = "'delete', old.id, old.name, old.description, old.short_description"

for _statement in (
    f"CREATE VIRTUAL TABLE product_search USING fts5({_COLUMNS}, content='products', content_rowid='id',"
    " tokenize='trigram', detail='full')",
    "CREATE TRIGGER products_search_insert AFTER INSERT ON products WHEN new.type != 'variation' BEGIN"
    f" INSERT INTO product_search(rowid, {_COLUMNS}) VALUES ({_NEW}); END",
    "CREATE TRIGGER products_search_delete AFTER DELETE ON products WHEN old.type != 'variation' BEGIN"
    f" INSERT INTO product_search(product_search, rowid, {_COLUMNS}) VALUES ({_OLD}); END",
    f"CREATE TRIGGER products_search_update AFTER UPDATE OF {_COLUMNS} ON products"
    " WHEN new.type != 'variation' BEGIN"
    f" INSERT INTO product_search(product_search, rowid, {_COLUMNS}) VALUES ({_OLD});"
    f" INSERT INTO product_search(rowid, {_COLUMNS}) VALUES ({_NEW}); END",
):
    event.listen(Base.metadata, "after_create", DDL(_statement))  # type: ignore[no-untyped-call]

assert Product.__tablename__ == "products", "the triggers above name the table"
