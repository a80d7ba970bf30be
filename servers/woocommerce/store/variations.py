"""Single variations of a variable product: reading and changing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, update

from mesocosm.servers.woocommerce.models import Product
from mesocosm.servers.woocommerce.models.catalog import image
from mesocosm.servers.woocommerce.models.declarative import SITE
from mesocosm.servers.woocommerce.refusals import invalid, no_trash, not_found
from mesocosm.servers.woocommerce.store.product_data import PRODUCTS, check_variation, columns_of, settle
from mesocosm.servers.woocommerce.store.products import ORDERINGS
from mesocosm.servers.woocommerce.store.resources import Collection, ShopResource
from mesocosm.servers.woocommerce.store.selection import EVERYTHING, Selection
from mesocosm.servers.woocommerce.store.shop import Record, Row
from mesocosm.services.service import same

_OF_VARIATIONS = (
    *("id", "date_created", "date_created_gmt", "date_modified", "date_modified_gmt"),
    *("name", "parent_id", "description", "permalink", "status", "sku", "price", "regular_price"),
    *("sale_price", "date_on_sale_from", "date_on_sale_from_gmt", "date_on_sale_to"),
    *("date_on_sale_to_gmt", "on_sale", "purchasable", "virtual", "downloadable", "downloads"),
    *("download_limit", "download_expiry", "tax_status", "tax_class", "manage_stock"),
    *("stock_quantity", "stock_status", "backorders", "backorders_allowed", "backordered"),
    *("low_stock_amount", "weight", "dimensions", "shipping_required", "shipping_taxable"),
    *("shipping_class", "shipping_class_id", "image", "attributes", "menu_order", "meta_data"),
)


class _Variations(ShopResource):
    def shape(self, record: Record) -> Row:
        """A variation as answers show it, from its record and its product's."""
        parent = record["parent"]
        shown = PRODUCTS.shape(record) | {
            "name": record["name"].removeprefix(f"{parent['name']} - "),
            "permalink": f"{SITE}/product/{parent['slug']}/?variation={record['id']}",
            "image": image(record["images"][0]) if record["images"] else None,
        }
        if parent["manage_stock"] and not record["manage_stock"]:
            # The stock is kept for all variations together.
            shown |= {name: parent[name] for name in ("stock_quantity", "stock_status")}
            shown |= {"manage_stock": "parent", "backordered": parent["stock_status"] == "onbackorder"}
        return same(shown, *_OF_VARIATIONS)


VARIATIONS = _Variations(Product, orders={**ORDERINGS, "include": None})


class Variations(Collection):
    """The variations of a product. A record of one is that of a product, with that of its own product."""

    resource = VARIATIONS

    @property
    def _product(self) -> int:
        assert self.inside is not None
        return self.inside

    def listed(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        selection: Selection = EVERYTHING,
        **asked: Any,
    ) -> tuple[list[Row], int]:
        """One page of them, in the merchant's order unless another is asked for, and how many there are."""
        rows, total = self.store.products.variations(
            self._product, page=page, per_page=per_page, selection=selection
        )
        return self._with_parent(rows), total

    def _with_parent(self, records: Sequence[Row]) -> list[Row]:
        parent = self.store.products.parent_of_variations(self._product) if records else None
        return [record | {"parent": parent} for record in records]

    def create(self, data: Mapping[str, Any]) -> Row:
        """A new variation; the stock status of its product follows."""
        self.authorise("create")
        parent = dict(self._parent())
        if parent["type"] != "variable":
            raise invalid("woocommerce_rest_product_invalid_type", "Only variable products have variations.")
        checked = check_variation(data)
        self.store.catalogue.check_references([checked])
        variation_id = self._add_to(parent, checked)
        self.store.catalogue.sync_parent(self._product)
        return self._record(variation_id)

    def change(self, id_: int, data: Mapping[str, Any]) -> Row:
        """Change fields of a variation; the stock status of its product follows."""
        self.authorise("edit")
        before = self._record(id_)
        changes = check_variation(data)
        self.store.catalogue.check_references([changes])
        columns = Product.__table__.columns.keys()
        row = {key: value for key, value in before.items() if key in columns} | columns_of(changes)
        self.store.catalogue.keep_unique(before, row)
        settle(row, self.store.catalogue.stock_rules)
        row["date_modified"] = self.today
        self.run(update(Product).where(Product.id == id_).values(row))
        self.store.catalogue.replace_related(
            id_, {k: changes[k] for k in ("images", "meta_data") if k in changes}
        )
        self.store.catalogue.sync_parent(self._product)
        return self._record(id_)

    def remove(self, id_: int, *, force: bool) -> Row:
        """Delete a variation for good; returns what it was. Variations have no trash."""
        no_trash("Variations", force=force)
        self.authorise("delete")
        record = self._record(id_)
        self.remove_meta("product", id_)
        self.run(delete(Product).where(Product.id == id_))
        self.store.catalogue.sync_parent(self._product)
        return record

    def _parent(self) -> Any:
        row = self.store.products.product_row(self._product)
        if row["parent_id"]:
            raise not_found("woocommerce_rest_product_invalid_id")
        return row

    def _record(self, id_: int) -> Row:
        self._parent()
        row = self.store.products.product_rows([id_]).get(id_)
        if row is None or row["parent_id"] != self._product:
            raise not_found("woocommerce_rest_product_variation_invalid_id")
        return self._with_parent([self.store.products.product_record(id_)])[0]

    def _add_to(self, parent: Row, variation: Row) -> int:
        batch = self.store.catalogue.new_batch([{**variation, "name": parent["name"]}])
        row = self.store.catalogue.place(batch, variation, parent)
        self.store.catalogue.write_batch(batch)
        return int(row["id"])
