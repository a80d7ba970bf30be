"""Reading the catalogue: products and variations with their parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Float, String, and_, bindparam, case, cast, exists, func, or_, select, text
from sqlalchemy.orm import aliased

from mesocosm.servers.woocommerce.models import (
    Category,
    Product,
    ProductCategory,
    ProductImage,
    ProductTag,
    Tag,
    product_search,
)
from mesocosm.servers.woocommerce.refusals import not_found
from mesocosm.servers.woocommerce.store.selection import (
    EVERYTHING,
    Selection,
    chosen,
    included_order,
    ordering,
)
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.values import (
    id_list,
    price,
    window,
)
from mesocosm.servers.woocommerce.values import text as checked_text

_NOW = bindparam("now", type_=String)


def _sale_holds(product: Any) -> Any:
    return and_(
        product.sale_price != "",
        product.regular_price != "",
        cast(product.sale_price, Float) < cast(product.regular_price, Float),
        or_(product.date_on_sale_from.is_(None), product.date_on_sale_from <= _NOW),
        or_(product.date_on_sale_to.is_(None), product.date_on_sale_to >= _NOW),
    )


def _own_price(product: Any) -> Any:
    return case((_sale_holds(product), product.sale_price), else_=product.regular_price)


_Child = aliased(Product)
_child_price = (
    select(_own_price(_Child))
    .where(_Child.parent_id == Product.id, _Child.status == "publish", _own_price(_Child) != "")
    .order_by(cast(_own_price(_Child), Float))
    .limit(1)
    .correlate(Product)
    .scalar_subquery()
)
_child_on_sale = exists().where(
    _Child.parent_id == Product.id, _Child.status == "publish", _sale_holds(_Child)
)
PRICE = case((Product.type == "variable", func.coalesce(_child_price, "")), else_=_own_price(Product))
"""The price that holds at ``:now``; for a variable product its lowest."""
ON_SALE = case((Product.type == "variable", _child_on_sale.correlate(Product)), else_=_sale_holds(Product))

_COLUMNS = select(*Product.__table__.c, PRICE.label("price"), ON_SALE.label("on_sale"))
_BY_ID = _COLUMNS.where(Product.id == bindparam("id"))
_BY_IDS = _COLUMNS.where(Product.id.in_(bindparam("ids", expanding=True)))
_VARIATIONS = (
    _COLUMNS.where(Product.parent_id == bindparam("parent"), Product.status != "trash")
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_CATEGORIES = (
    select(ProductCategory.product_id, Category.id, Category.name, Category.slug)
    .join(Category, Category.id == ProductCategory.category_id)
    .where(ProductCategory.product_id.in_(bindparam("ids", expanding=True)))
    .order_by(ProductCategory.product_id, Category.name, Category.id)
)
_TAGS = (
    select(ProductTag.product_id, Tag.id, Tag.name, Tag.slug)
    .join(Tag, Tag.id == ProductTag.tag_id)
    .where(ProductTag.product_id.in_(bindparam("ids", expanding=True)))
    .order_by(ProductTag.product_id, Tag.name, Tag.id)
)
_IMAGES = (
    select(*ProductImage.__table__.c)
    .where(ProductImage.product_id.in_(bindparam("ids", expanding=True)))
    .order_by(ProductImage.product_id, ProductImage.position)
)
_CHILDREN = (
    select(Product.id, Product.parent_id)
    .where(Product.parent_id.in_(bindparam("ids", expanding=True)), Product.status != "trash")
    .order_by(Product.parent_id, Product.menu_order, Product.id)
)
_PARENT = select(
    Product.name, Product.slug, Product.manage_stock, Product.stock_quantity, Product.stock_status
).where(Product.id == bindparam("id"))

ORDERINGS = {
    "date": Product.date_created,
    "id": Product.id,
    "title": func.lower(Product.name),
    "slug": Product.slug,
    "price": cast(PRICE, Float),
    "popularity": Product.total_sales,
    "rating": cast(Product.average_rating, Float),
    "modified": Product.date_modified,
    "menu_order": Product.menu_order,
}


@dataclass(frozen=True)
class ProductFilter:
    """Filter of a list of products; ``None`` does not filter."""

    search: str | None = None
    status: str | None = None
    category: str | None = None
    tag: str | None = None
    sku: str | None = None
    featured: bool | None = None
    on_sale: bool | None = None
    min_price: str | None = None
    max_price: str | None = None
    stock_status: str | None = None
    include: Sequence[int] | None = None
    exclude: Sequence[int] | None = None
    after: str | None = None
    before: str | None = None
    modified_after: str | None = None
    modified_before: str | None = None
    type: str | None = None
    slug: str | None = None
    parent: Sequence[int] | None = None
    parent_exclude: Sequence[int] | None = None
    tax_class: str | None = None
    virtual: bool | None = None
    downloadable: bool | None = None


class Products(StorePart):
    """Reading the catalogue.

    A record of a product is its row with ``price``, ``on_sale``, ``categories``, ``tags``, ``images``,
    ``meta_data`` and ``variations`` (ids).
    """

    def product(self, product_id: int) -> Row:
        """A product, or a variation, whatever its status."""
        self.authorise("view")
        return self.product_record(product_id)

    def product_record(self, product_id: int) -> Row:
        """The record of a product that exists."""
        return self._records([self.product_row(product_id)])[0]

    def product_row(self, product_id: int) -> Record:
        """The row of a product that exists, with its present price."""
        rows = self.fetch(_BY_ID, id=product_id, now=self.today)
        if not rows:
            raise not_found("woocommerce_rest_product_invalid_id")
        return rows[0]

    def product_rows(self, ids: Iterable[int]) -> dict[int, Record]:
        """The rows of those of these products that exist, by id."""
        return {row["id"]: row for row in self.fetch(_BY_IDS, ids=list(ids), now=self.today)}

    def listed(
        self,
        wanted: ProductFilter,
        *,
        page: int | None = None,
        per_page: int | None = None,
        orderby: str | None = None,
        order: str | None = None,
    ) -> tuple[list[Row], int]:
        """One page of the products that a filter describes, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = [Product.parent_id == 0, *self._conditions(wanted)]
        statement = _COLUMNS.where(*conditions).order_by(*_ordering(wanted, orderby, order))
        limits = {"limit": per_page, "offset": (page - 1) * per_page}
        paged = statement.limit(bindparam("limit")).offset(bindparam("offset"))
        rows = self.fetch(paged, now=self.today, **limits)
        total = self.fetch(select(func.count().label("n")).where(*conditions), now=self.today)
        return self._records(rows), int(total[0]["n"])

    def variations(
        self,
        product_id: int,
        *,
        page: int | None,
        per_page: int | None,
        selection: Selection = EVERYTHING,
    ) -> tuple[list[Row], int]:
        """One page of the variations of a product, and how many it has."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        if self.product_row(product_id)["parent_id"]:
            raise not_found("woocommerce_rest_product_invalid_id")
        conditions = chosen(Product, selection)
        order = ordering(Product, selection, ORDERINGS, "menu_order", "asc")
        rows = self.fetch(
            _VARIATIONS.where(*conditions).order_by(*order),
            parent=product_id,
            now=self.today,
            limit=per_page,
            offset=(page - 1) * per_page,
        )
        total = self.count(Product, Product.parent_id == product_id, Product.status != "trash", *conditions)
        return self._records(rows), total

    def parent_of_variations(self, product_id: int) -> Record:
        """Name, slug and stock of the product that variations belong to."""
        return self.fetch(_PARENT, id=product_id)[0]

    def _conditions(self, wanted: ProductFilter) -> list[Any]:
        found: list[Any] = [Product.status == wanted.status if wanted.status else Product.status != "trash"]
        found += _search_conditions(wanted.search)
        if wanted.category:
            categories = self.store.categories.with_descendants(id_list(wanted.category, "category"))
            found.append(Product.id.in_(_members(ProductCategory, ProductCategory.category_id, categories)))
        if wanted.tag:
            found.append(Product.id.in_(_members(ProductTag, ProductTag.tag_id, id_list(wanted.tag, "tag"))))
        if wanted.sku:
            skus = [part.strip() for part in checked_text(wanted.sku, "sku").split(",")]
            found.append(Product.sku.in_([part for part in skus if part]))
        if wanted.type is not None:
            found.append(Product.type == wanted.type)
        if wanted.slug is not None:
            found.append(Product.slug == wanted.slug)
        if wanted.parent is not None:
            found.append(Product.parent_id.in_(list(wanted.parent)))
        if wanted.parent_exclude is not None:
            found.append(~Product.parent_id.in_(list(wanted.parent_exclude)))
        if wanted.tax_class is not None:
            found.append(Product.tax_class == wanted.tax_class.removeprefix("standard"))
        for name in ("featured", "virtual", "downloadable"):
            if (flag := getattr(wanted, name)) is not None:
                found.append(getattr(Product, name).is_(flag))
        if wanted.on_sale is not None:
            found.append(ON_SALE if wanted.on_sale else ~ON_SALE)
        if wanted.stock_status is not None:
            found.append(Product.stock_status == wanted.stock_status)
        return found + _price_conditions(wanted) + chosen(Product, wanted)

    def _records(self, rows: Sequence[Record]) -> list[Row]:
        ids = [row["id"] for row in rows]
        categories = _grouped(self.fetch(_CATEGORIES, ids=ids), "product_id")
        tags = _grouped(self.fetch(_TAGS, ids=ids), "product_id")
        images = _grouped(self.fetch(_IMAGES, ids=ids), "product_id")
        children = _grouped(self.fetch(_CHILDREN, ids=ids), "parent_id")
        meta = self.meta_of("product", ids)
        return [
            dict(row)
            | {
                "categories": categories.get(row["id"], []),
                "tags": tags.get(row["id"], []),
                "images": images.get(row["id"], []),
                "variations": [child["id"] for child in children.get(row["id"], [])],
                "meta_data": meta.get(row["id"], []),
            }
            for row in rows
        ]


def _grouped(rows: Sequence[Record], key: str) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def _members(kind: type[ProductCategory] | type[ProductTag], column: Any, ids: list[int]) -> Any:
    return select(kind.product_id).where(column.in_(ids))


def _search_conditions(search: str | None) -> list[Any]:
    """Every word of the search must occur in the name or a description, as a part of a word or more."""
    if not search or not search.strip():
        return []
    words = checked_text(search, "search", 1_000).split()
    # The product takes a long search as one phrase.
    words = words if len(words) <= 9 else [" ".join(words)]
    found: list[Any] = []
    long = [word for word in words if len(word) >= 3]
    if long:
        query = " AND ".join('"' + word.replace('"', '""') + '"' for word in long)
        matching = select(product_search.c.rowid).where(text("product_search MATCH :query"))
        found.append(Product.id.in_(matching.params(query=query)))
    for word in words:
        if len(word) < 3:  # shorter than what the index holds
            texts = (Product.name, Product.short_description, Product.description)
            found.append(or_(*(column.icontains(word, autoescape=True) for column in texts)))
    return found


def _price_conditions(wanted: ProductFilter) -> list[Any]:
    found = []
    for name, limit in (("min_price", wanted.min_price), ("max_price", wanted.max_price)):
        if limit is not None and price(limit, name):
            number = float(price(limit, name))
            value = cast(PRICE, Float)
            found += [PRICE != "", value >= number if name == "min_price" else value <= number]
    return found


def _ordering(wanted: ProductFilter, orderby: str | None, order: str | None) -> list[Any]:
    if orderby == "include":
        return [included_order(Product, wanted.include)]
    column = ORDERINGS[orderby or "date"]
    if order == "asc":
        return [column, Product.id]
    return [column.desc(), Product.id.desc()]
