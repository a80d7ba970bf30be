"""Categories and tags of products: their slugs and hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update

from mesocosm.servers.woocommerce.models import Category, Product, ProductCategory, ProductTag, Tag
from mesocosm.servers.woocommerce.models.defaults import DEFAULT_CATEGORY_ID
from mesocosm.servers.woocommerce.refusals import denied, invalid
from mesocosm.servers.woocommerce.store.resources import Collection, Filter, ShopResource, searched
from mesocosm.servers.woocommerce.store.shop import Record, Row
from mesocosm.servers.woocommerce.values import free_slug, slug_of

_GONE = ("woocommerce_rest_term_invalid", "Resource does not exist.")
_UNCATEGORISED = (
    select(ProductCategory.product_id)
    .where(ProductCategory.category_id == bindparam("category"))
    .where(
        ~ProductCategory.product_id.in_(
            select(ProductCategory.product_id).where(ProductCategory.category_id != bindparam("category"))
        )
    )
)


def _resource(
    kind: type[Category] | type[Tag], belongs: Any, things: str, more: dict[str, Filter] | None = None
) -> ShopResource:
    """A kind of terms; ``belongs`` is the column that says which products have one."""
    count = (
        select(func.count())
        .select_from(belongs.class_)
        .join(Product, Product.id == belongs.class_.product_id)
        .where(belongs == kind.id, Product.status == "publish")
        .scalar_subquery()
    )
    return ShopResource(
        kind,
        gone=_GONE,
        required=["name"],
        orders={
            "id": kind.id,
            "include": None,
            "name": func.lower(kind.name),
            "slug": kind.slug,
            "description": kind.description,
            "count": count,
        },
        order=("name", "asc"),
        filters={
            "search": searched("Text that must occur in the name.", kind.name, kind.slug),
            **(more or {}),
            "hide_empty": Filter(
                bool, lambda hide: count > 0, f"Leave out {things} without products.", tool="hideEmpty"
            ),
            "slug": Filter(str, lambda slug: kind.slug == slug),
        },
        selects=("include", "exclude"),
        statement=select(*kind.__table__.c, count.label("count")),
    )


_PARENT = Filter(
    int,
    lambda parent: Category.parent == parent,
    "Only categories directly below this one; 0 for the top ones.",
)
CATEGORIES = _resource(Category, ProductCategory.category_id, "categories", {"parent": _PARENT})
TAGS = _resource(Tag, ProductTag.tag_id, "tags")


class _Terms(Collection):
    """Base of both kinds of terms: slugs are unique, and derived from the name by default."""

    def _check(self, rows: Sequence[Row], before: Record | None = None) -> None:
        kind = self.resource.model
        slugs = {row["slug"]: row["id"] for row in self.fetch(select(kind.id, kind.slug))}
        for row in rows:
            given = slug_of(row["slug"] or "")
            if before is None:
                row["slug"] = self._new_slug(given, row, slugs)
            elif slugs.get(given, row["id"]) != row["id"] or not given:
                raise invalid("duplicate_term_slug", "The slug is already in use by another term.")
            else:
                row["slug"] = given
            slugs[row["slug"]] = row["id"]

    def _new_slug(self, given: str, row: Row, taken: dict[str, int]) -> str:
        raise NotImplementedError


class Categories(_Terms):
    """Categories of products."""

    resource = CATEGORIES

    def _new_slug(self, given: str, row: Row, taken: dict[str, int]) -> str:
        if given in taken:
            raise _exists("A term with the name provided already exists with this parent.")
        return given or free_slug(slug_of(row["name"]) or f"category-{row['id']}", taken)

    def _check(self, rows: Sequence[Row], before: Record | None = None) -> None:
        known = self.fetch(select(Category.id, Category.name, Category.parent))
        ids = {row["id"] for row in known} - set(self.with_descendants([before["id"]] if before else ()))
        names = {(row["parent"], row["name"].lower()) for row in known if before is None}
        for row in rows:
            if row["parent"] and row["parent"] not in ids:
                raise invalid("woocommerce_rest_term_invalid", "Parent term does not exist.")
            if (name := (row["parent"], row["name"].lower())) in names:
                raise _exists("A term with the name provided already exists with this parent.")
            names.add(name)
            ids.add(row["id"])
        super()._check(rows, before)

    def _remove(self, record: Record) -> None:
        """Remove a category. Its children move up a level; products without another category get the
        default.
        """
        category = record["id"]
        if category == DEFAULT_CATEGORY_ID:
            raise denied("woocommerce_rest_cannot_delete", "The default product category cannot be deleted.")
        orphans = [row["product_id"] for row in self.fetch(_UNCATEGORISED, category=category)]
        self.run(update(Category).where(Category.parent == category).values(parent=record["parent"]))
        self.run(delete(ProductCategory).where(ProductCategory.category_id == category))
        self.add(ProductCategory, [{"product_id": p, "category_id": DEFAULT_CATEGORY_ID} for p in orphans])
        super()._remove(record)

    def parents(self) -> dict[int, int]:
        """The parent of each category; 0 at the top."""
        return {row["id"]: row["parent"] for row in self.fetch(select(Category.id, Category.parent))}

    def with_descendants(self, category_ids: Iterable[int]) -> list[int]:
        """Categories together with all below them: a product's category is also the ones above it."""
        children: dict[int, list[int]] = {}
        for category, parent in self.parents().items():
            children.setdefault(parent, []).append(category)
        found: list[int] = []
        waiting = list(category_ids)
        while waiting:
            category = waiting.pop()
            if category and category not in found:
                found.append(category)
                waiting += children.get(category, [])
        return found


class Tags(_Terms):
    """Tags of products."""

    resource = TAGS

    def _new_slug(self, given: str, row: Row, taken: dict[str, int]) -> str:
        slug = given or slug_of(row["name"]) or f"tag-{row['id']}"
        if slug in taken:
            raise _exists("A term with the name and slug provided already exists.")
        return slug

    def _remove(self, record: Record) -> None:
        self.run(delete(ProductTag).where(ProductTag.tag_id == record["id"]))
        super()._remove(record)


def _exists(why: str) -> Exception:
    return invalid("term_exists", why)
