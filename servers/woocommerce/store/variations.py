"""Single variations of a variable product: reading and changing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, update

from mesocosm.servers.woocommerce.models import Meta, Product
from mesocosm.servers.woocommerce.refusals import invalid, not_found
from mesocosm.servers.woocommerce.store.product_data import check_variation, columns_of, settle
from mesocosm.servers.woocommerce.store.shop import Part, Row


class Variations(Part):
    """Single variations. A record of one is that of a product."""

    def variation(self, product_id: int, variation_id: int) -> Row:
        """One variation of a product."""
        self.authorise("view")
        return self._variation_record(product_id, variation_id)

    def create_variation(self, product_id: int, data: Mapping[str, Any]) -> Row:
        """A new variation; the stock status of its product follows."""
        self.authorise("create")
        parent = dict(self._parent(product_id))
        if parent["type"] != "variable":
            raise invalid("woocommerce_rest_product_invalid_type", "Only variable products have variations.")
        checked = check_variation(data)
        self.store.catalogue.check_references([checked])
        variation_id = self._add_to(parent, checked)
        self.store.catalogue.sync_parent(product_id)
        return self._variation_record(product_id, variation_id)

    def update_variation(self, product_id: int, variation_id: int, data: Mapping[str, Any]) -> Row:
        """Change fields of a variation; the stock status of its product follows."""
        self.authorise("edit")
        before = self._variation_record(product_id, variation_id)
        changes = check_variation(data)
        self.store.catalogue.check_references([changes])
        columns = Product.__table__.columns.keys()
        row = {key: value for key, value in before.items() if key in columns} | columns_of(changes)
        self.store.catalogue.keep_unique(before, row)
        settle(row, self.store.catalogue.stock_rules)
        row["date_modified"] = self.today
        self.run(update(Product).where(Product.id == variation_id).values(row))
        self.store.catalogue.replace_related(
            variation_id, {k: changes[k] for k in ("images", "meta_data") if k in changes}
        )
        self.store.catalogue.sync_parent(product_id)
        return self._variation_record(product_id, variation_id)

    def delete_variation(self, product_id: int, variation_id: int) -> Row:
        """Delete a variation for good; returns what it was. Variations have no trash."""
        self.authorise("delete")
        record = self._variation_record(product_id, variation_id)
        self.run(delete(Meta).where(Meta.owner == "product", Meta.owner_id == variation_id))
        self.run(delete(Product).where(Product.id == variation_id))
        self.store.catalogue.sync_parent(product_id)
        return record

    def _parent(self, product_id: int) -> Any:
        row = self.store.products.product_row(product_id)
        if row["parent_id"]:
            raise not_found("woocommerce_rest_product_invalid_id")
        return row

    def _variation_record(self, product_id: int, variation_id: int) -> Row:
        self._parent(product_id)
        row = self.store.products.product_rows([variation_id]).get(variation_id)
        if row is None or row["parent_id"] != product_id:
            raise not_found("woocommerce_rest_product_variation_invalid_id")
        return self.store.products.product_record(variation_id)

    def _add_to(self, parent: Row, variation: Row) -> int:
        batch = self.store.catalogue.new_batch([{**variation, "name": parent["name"]}])
        row = self.store.catalogue.place(batch, variation, parent)
        self.store.catalogue.write_batch(batch)
        return int(row["id"])
