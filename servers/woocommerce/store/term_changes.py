"""Categories and tags one by one: read, changed and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from mesocosm.servers.woocommerce.models import Category, ProductCategory, ProductTag, Tag
from mesocosm.servers.woocommerce.models.defaults import DEFAULT_CATEGORY_ID
from mesocosm.servers.woocommerce.refusals import denied, invalid, no_trash, not_found
from mesocosm.servers.woocommerce.store.shop import Part, Record, Row
from mesocosm.servers.woocommerce.store.terms import TAG_BY_ID, category_changes, tag_changes
from mesocosm.servers.woocommerce.values import slug_of

_UNCATEGORISED = (
    select(ProductCategory.product_id)
    .where(ProductCategory.category_id == bindparam("category"))
    .where(
        ~ProductCategory.product_id.in_(
            select(ProductCategory.product_id).where(ProductCategory.category_id != bindparam("category"))
        )
    )
)


class TermChanges(Part):
    """Categories and tags one by one."""

    def category(self, category_id: int) -> Record:
        """One category."""
        self.authorise("view")
        return self.store.terms.category_record(category_id)

    def update_category(self, category_id: int, data: Mapping[str, Any]) -> Record:
        """Change fields of a category."""
        self.authorise("edit")
        self.store.terms.category_record(category_id)
        values = category_changes(data)
        parent = values.get("parent", 0)
        if parent and (
            parent not in self.store.terms.category_parents()
            or parent in self.store.terms.with_descendants([category_id])
        ):
            raise invalid("woocommerce_rest_term_invalid", "Parent term does not exist.")
        return self._change(Category, category_id, values, self.store.terms.category_record)

    def delete_category(self, category_id: int, *, force: bool) -> Record:
        """Delete a category; what lies in it goes up one level, products without another to the default."""
        self.authorise("delete")
        no_trash("Resource", force=force)
        record = self.store.terms.category_record(category_id)
        if category_id == DEFAULT_CATEGORY_ID:
            raise denied("woocommerce_rest_cannot_delete", "The default product category cannot be deleted.")
        orphans = [row["product_id"] for row in self.fetch(_UNCATEGORISED, category=category_id)]
        self.run(update(Category).where(Category.parent == category_id).values(parent=record["parent"]))
        self.run(delete(ProductCategory).where(ProductCategory.category_id == category_id))
        self.add(ProductCategory, [{"product_id": p, "category_id": DEFAULT_CATEGORY_ID} for p in orphans])
        self.run(delete(Category).where(Category.id == category_id))
        return record

    def tag(self, tag_id: int) -> Record:
        """One tag."""
        self.authorise("view")
        return self._tag(tag_id)

    def create_tag(self, data: Mapping[str, Any]) -> Record:
        """A new tag."""
        self.authorise("create")
        return self._tag(self.store.terms.add_tags([tag_changes(data)])[0])

    def update_tag(self, tag_id: int, data: Mapping[str, Any]) -> Record:
        """Change fields of a tag."""
        self.authorise("edit")
        self._tag(tag_id)
        return self._change(Tag, tag_id, tag_changes(data), self._tag)

    def delete_tag(self, tag_id: int, *, force: bool) -> Record:
        """Delete a tag; returns what it was."""
        self.authorise("delete")
        no_trash("Resource", force=force)
        record = self._tag(tag_id)
        self.run(delete(ProductTag).where(ProductTag.tag_id == tag_id))
        self.run(delete(Tag).where(Tag.id == tag_id))
        return record

    def _tag(self, tag_id: int) -> Record:
        rows = self.fetch(TAG_BY_ID, id=tag_id)
        if not rows:
            raise not_found("woocommerce_rest_term_invalid", "Resource does not exist.")
        return rows[0]

    def _change(self, kind: type[Category] | type[Tag], term_id: int, values: Row, read: Any) -> Record:
        if "slug" in values:
            values["slug"] = slug_of(values["slug"])
            others = select(kind.id).where(kind.slug == values["slug"], kind.id != term_id)
            if not values["slug"] or self.fetch(others):
                raise invalid("duplicate_term_slug", "The slug is already in use by another term.")
        if values:
            self.run(update(kind).where(kind.id == term_id).values(values))
        record: Record = read(term_id)
        return record
