"""Changing the catalogue: products are created, changed, moved to the trash and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypedDict

from sqlalchemy import bindparam, delete, select, update

from mesocosm.errors import Invalid
from mesocosm.servers.woocommerce.models import (
    Category,
    Meta,
    Product,
    ProductCategory,
    ProductImage,
    ProductTag,
    Tag,
)
from mesocosm.servers.woocommerce.models.defaults import DEFAULT_CATEGORY_ID
from mesocosm.servers.woocommerce.refusals import gone, invalid, invalid_parameter, not_found
from mesocosm.servers.woocommerce.store.product_data import (
    RELATED,
    StockRules,
    check_product,
    check_variation,
    columns_of,
    settle,
    status_of_children,
)
from mesocosm.servers.woocommerce.store.shop import Row, StorePart
from mesocosm.servers.woocommerce.values import free_slug, slug_of
from mesocosm.services.resources import blank

_MANY = 200
_SKUS = select(Product.sku, Product.id).where(Product.sku != "", Product.status != "trash")
_SKUS_AMONG = _SKUS.where(Product.sku.in_(bindparam("skus", expanding=True)))
_SKUS_OF_VARIATIONS = select(Product.sku).where(Product.parent_id == bindparam("parent"), Product.sku != "")
_SLUGS = select(Product.slug)
_SLUGS_FROM = _SLUGS.where(Product.slug >= bindparam("low"), Product.slug < bindparam("high"))
_CHILD_STATUSES = select(Product.stock_status).where(
    Product.parent_id == bindparam("parent"), Product.status == "publish"
)


_TERMS = {"categories": select(Category.id), "tags": select(Tag.id)}
_RELATION = {"categories": ProductCategory, "tags": ProductTag}
_UNRELATE = {
    key: delete(kind).where(kind.__table__.c.product_id == bindparam("product"))
    for key, kind in _RELATION.items()
}


class NewVariation(TypedDict, total=False):
    """A variation for ``add_products``: attributes are ``{"name": "Color", "option": "Blue"}``."""

    attributes: list[dict[str, Any]]
    description: str
    sku: str
    regular_price: str
    sale_price: str
    date_on_sale_from: str
    date_on_sale_to: str
    manage_stock: bool
    stock_quantity: int
    stock_status: str
    low_stock_amount: int
    weight: str
    image: dict[str, Any]
    meta_data: list[dict[str, Any]]
    date_created: str
    total_sales: int


class NewProduct(TypedDict, total=False):
    """A product for ``add_products``: what ``woo_products_create`` takes, its history and its variations."""

    name: str
    type: str
    status: str
    slug: str
    featured: bool
    catalog_visibility: str
    description: str
    short_description: str
    sku: str
    regular_price: str
    sale_price: str
    date_on_sale_from: str
    date_on_sale_to: str
    manage_stock: bool
    stock_quantity: int
    stock_status: str
    backorders: str
    low_stock_amount: int
    weight: str
    dimensions: dict[str, str]
    tax_class: str
    categories: list[dict[str, int]]
    tags: list[dict[str, int]]
    images: list[dict[str, Any]]
    attributes: list[dict[str, Any]]
    meta_data: list[dict[str, Any]]
    date_created: str
    date_modified: str
    total_sales: int
    variations: list[NewVariation]


@dataclass
class _Batch:
    """Products on their way into the tables."""

    rules: StockRules
    next_id: int = 0
    skus: set[str] = field(default_factory=set)
    slugs: set[str] = field(default_factory=set)
    rows: list[Row] = field(default_factory=list)
    categories: list[Row] = field(default_factory=list)
    tags: list[Row] = field(default_factory=list)
    images: list[Row] = field(default_factory=list)
    meta: dict[int, list[Row]] = field(default_factory=dict)


class Catalogue(StorePart):
    """Changing the catalogue."""

    # -- creating ---------------------------------------------------------------------------------------

    def create_product(self, data: Mapping[str, Any]) -> Row:
        """A new product; returns its record."""
        self.authorise("create")
        (product_id,) = self._add_products([data], history=False)
        return self.store.products.product_record(product_id)

    def duplicate_product(self, product_id: int) -> Row:
        """A copy of a product with its variations, as a draft that nobody bought; returns its record."""
        self.authorise("create")
        record = self.store.products.product_record(product_id)
        if record["parent_id"]:
            raise not_found("woocommerce_rest_product_invalid_id")
        copies = [self._copied(self.store.products.product_record(one)) for one in record["variations"]]
        copy = self._copied(record) | {"name": f"{record['name']} (Copy)", "status": "draft"}
        batch = self.new_batch([copy, *copies])
        parent = self.place(batch, copy, None)
        for one in copies:
            self.place(batch, one, parent)
        self.write_batch(batch)
        return self.store.products.product_record(parent["id"])

    def _copied(self, record: Row) -> Row:
        """Copy a product's fields; the SKU gets the first free number."""
        own = ("id", "slug", "date_created", "date_modified", "total_sales")
        kept = {key: value for key, value in record.items() if key not in own}
        if record["sku"]:
            numbered = (f"{record['sku']}-{number}" for number in count(1))
            kept["sku"] = next(sku for sku in numbered if not self.fetch(_SKUS_AMONG, skus=[sku]))
        return kept

    def add_products(self, products: Iterable[NewProduct]) -> list[int]:
        """Many products at once, with their variations; returns the ids of the products.

        The stock is what lies there now: orders added with ``add_orders`` do not reduce it. ``total_sales``
        is what was sold before them: orders add to it.
        """
        return self._add_products(list(products), history=True)

    def _add_products(self, products: Sequence[Mapping[str, Any]], *, history: bool) -> list[int]:
        checked = [_with_variations(product, history) for product in products]
        everything = [one for product, variations in checked for one in (product, *variations)]
        self.check_references(everything)
        batch = self.new_batch(everything)
        ids = []
        for product, variations in checked:
            parent = self.place(batch, product, None)
            ids.append(parent["id"])
            children = [self.place(batch, variation, parent) for variation in variations]
            if children and not parent["manage_stock"]:
                parent["stock_status"] = status_of_children([child["stock_status"] for child in children])
        self.write_batch(batch)
        return ids

    def new_batch(self, products: Sequence[Row]) -> _Batch:
        """An empty batch that knows the SKUs and slugs which these products could clash with."""
        return _Batch(self.stock_rules, self.next_id(Product), self._skus(products), self._slugs(products))

    def write_batch(self, batch: _Batch) -> None:
        """Put all products of a batch into the tables."""
        self.add(Product, batch.rows)
        self.add(ProductCategory, batch.categories)
        self.add(ProductTag, batch.tags)
        self.add(ProductImage, batch.images)
        self.add_meta("product", batch.meta)

    def place(self, batch: _Batch, data: Row, parent: Row | None) -> Row:
        """Put a checked product, or a variation of ``parent``, into the batch; returns its row."""
        now = self.today
        row = blank(Product) | {"name": "Product", "slug": "", "date_created": now}
        row |= columns_of(data) | {"id": batch.next_id + len(batch.rows)}
        row.setdefault("date_modified", row["date_created"])
        row["date_modified"] = row["date_modified"] or row["date_created"]
        if parent:
            row |= {"parent_id": parent["id"], "type": "variation", "name": _variation_name(parent, row)}
        row["name"] = row["name"] or "Product"
        wanted = row["slug"] or slug_of(row["name"]) or f"product-{row['id']}"
        row["slug"] = free_slug(wanted, batch.slugs)
        batch.slugs.add(row["slug"])
        if row["sku"] in batch.skus:
            raise duplicate_sku()
        if row["sku"]:
            batch.skus.add(row["sku"])
        settle(row, batch.rules)
        batch.rows.append(row)
        self._place_related(batch, data, row)
        return row

    def _place_related(self, batch: _Batch, data: Row, row: Row) -> None:
        product_id = row["id"]
        if not row["parent_id"]:
            categories = _ids(data.get("categories", []), "categories") or [DEFAULT_CATEGORY_ID]
            batch.categories += [{"product_id": product_id, "category_id": c} for c in categories]
        batch.tags += [{"product_id": product_id, "tag_id": t} for t in _ids(data.get("tags", []), "tags")]
        batch.images += self._image_rows(product_id, data.get("images", []))
        if data.get("meta_data"):
            batch.meta[product_id] = data["meta_data"]

    def _image_rows(self, product_id: int, images: Sequence[Row]) -> list[Row]:
        rows = []
        for position, image in enumerate(images):
            if "src" not in image:
                raise invalid_parameter(f"images[{position}].src", "An image needs a src.")
            rows.append(
                {
                    "product_id": product_id,
                    "position": position,
                    "src": image["src"],
                    "name": image.get("name") or image["src"].rpartition("/")[2],
                    "alt": image.get("alt", ""),
                    "date_created": self.today,
                }
            )
        return rows

    # -- changing ---------------------------------------------------------------------------------------

    def update_product(self, product_id: int, data: Mapping[str, Any]) -> Row:
        """Change fields of a product; returns its record."""
        self.authorise("edit")
        before = self._own_row(product_id)
        changes = check_product(data)
        self.check_references([changes])
        row = _columns_only(before) | columns_of(changes)
        row["name"] = row["name"] or "Product"
        self.keep_unique(before, row)
        restored = before["status"] == "trash" != row["status"]
        if restored:
            # Somebody may have taken those of its variations while they were in the trash with it.
            skus = [one["sku"] for one in self.fetch(_SKUS_OF_VARIATIONS, parent=product_id)]
            if row["sku"] in skus or self.fetch(_SKUS_AMONG, skus=skus):
                raise duplicate_sku()
        settle(row, self.stock_rules)
        if row == _columns_only(before) and not any(key in changes for key in RELATED):
            return self.store.products.product_record(product_id)
        row["date_modified"] = self.today
        # A statement over all columns takes several times as long to put together.
        changed = {name: value for name, value in row.items() if value != before[name]}
        self.run(update(Product).where(Product.id == product_id).values(changed))
        if restored:
            # Its variations went into the trash with it.
            self.run(update(Product).where(Product.parent_id == product_id).values(status="publish"))
        self.replace_related(product_id, changes)
        if row["type"] == "variable":
            self.sync_parent(product_id)
        return self.store.products.product_record(product_id)

    def _own_row(self, product_id: int) -> Row:
        row = self.store.products.product_row(product_id)
        if row["parent_id"]:
            raise invalid(
                "woocommerce_rest_invalid_product_id",
                "To manipulate product variations you should use the "
                "/products/<product_id>/variations/<id> endpoint.",
            )
        return dict(row)

    def keep_unique(self, before: Row, row: Row) -> None:
        """Refuse a SKU that another product has; make the slug one that no other has."""
        taken = self.fetch(_SKUS_AMONG, skus=[row["sku"]])
        if row["sku"] and row["status"] != "trash" and any(other["id"] != row["id"] for other in taken):
            raise duplicate_sku()
        if row["slug"] != before["slug"]:
            wanted = row["slug"] or slug_of(row["name"]) or f"product-{row['id']}"
            row["slug"] = free_slug(wanted, self._slugs([{"slug": wanted}]) - {before["slug"]})

    def replace_related(self, product_id: int, changes: Row) -> None:
        """Replace the given categories, tags, images and custom fields."""
        batch = _Batch(self.stock_rules)
        related: Row = {key: changes[key] for key in ("categories", "tags") if key in changes}
        self._place_related(batch, related, {"id": product_id, "parent_id": 0})
        for key, rows in (("categories", batch.categories), ("tags", batch.tags)):
            if key in changes:
                self.run(_UNRELATE[key], {"product": product_id})
                self.add(_RELATION[key], rows)
        if "images" in changes:
            self._replace_images(product_id, changes["images"])
        self.change_meta("product", product_id, changes.get("meta_data", []))

    def _replace_images(self, product_id: int, images: Sequence[Row]) -> None:
        """Replace a product's images; those with an existing id are kept and updated."""
        mine = select(ProductImage.__table__).where(ProductImage.product_id == product_id)
        known = {row["id"]: row for row in self.fetch(mine)}
        for image in images:
            if image.get("id") and image["id"] not in known and "src" not in image:
                raise invalid(
                    "woocommerce_product_invalid_image_id", f"#{image['id']} is an invalid image ID."
                )
        merged = [{**known.get(image.get("id", 0), {}), **image} for image in images]
        rows = self._image_rows(product_id, merged)
        kept = [image["id"] for image in images if image.get("id") in known]
        gone_by = (ProductImage.product_id == product_id) & ~ProductImage.id.in_(kept)
        self.run(delete(ProductImage).where(gone_by))
        for image, row in zip(merged, rows, strict=True):
            if image.get("id") in known:
                row["date_created"] = image["date_created"]
                self.run(update(ProductImage).where(ProductImage.id == image["id"]).values(row))
            else:
                self.add(ProductImage, [row])

    def sync_parent(self, product_id: int) -> None:
        """Let the stock status of a variable product follow its variations."""
        statuses = [row["stock_status"] for row in self.fetch(_CHILD_STATUSES, parent=product_id)]
        if statuses:
            followed = (Product.id == product_id) & ~Product.manage_stock
            values = {"stock_status": status_of_children(statuses)}
            self.run(update(Product).where(followed).values(values))

    # -- deleting ---------------------------------------------------------------------------------------

    def delete_product(self, product_id: int, *, force: bool) -> Row:
        """Move a product to the trash, or with ``force`` delete it for good; returns what it was."""
        self.authorise("delete")
        row = self._own_row(product_id)
        family = (Product.id == product_id) | (Product.parent_id == product_id)
        if not force:
            if row["status"] == "trash":
                raise gone("product")
            self.run(update(Product).where(family).values(status="trash", date_modified=self.today))
            return self.store.products.product_record(product_id)
        record = self.store.products.product_record(product_id)
        members = select(Product.id).where(family)
        self.run(delete(Meta).where(Meta.owner == "product", Meta.owner_id.in_(members)))
        self.run(delete(Product).where(family))
        return record

    # -- what others have -------------------------------------------------------------------------------

    @property
    def stock_rules(self) -> StockRules:
        """The shop's stock settings."""
        managing = self.setting("woocommerce_manage_stock") == "yes"
        return StockRules(managing, int(self.setting("woocommerce_notify_no_stock_amount")))

    def _skus(self, products: Sequence[Row]) -> set[str]:
        wanted = [product["sku"] for product in products if product.get("sku")]
        many = len(wanted) > _MANY
        rows = self.fetch(_SKUS) if many else self.fetch(_SKUS_AMONG, skus=wanted)
        return {row["sku"] for row in rows}

    def _slugs(self, products: Sequence[Row]) -> set[str]:
        if len(products) > _MANY:
            return {row["slug"] for row in self.fetch(_SLUGS)}
        found = set()
        for product in products:
            low = slug_of(product.get("slug") or "") or slug_of(product.get("name") or "Product")
            found |= {row["slug"] for row in self.fetch(_SLUGS_FROM, low=low, high=low + "\U0010ffff")}
        return found

    def check_references(self, products: Sequence[Row]) -> None:
        """Refuse categories, tags and tax classes that do not exist."""
        for key, terms in _TERMS.items():
            wanted = {term for product in products for term in _ids(product.get(key, []), key)}
            if wanted:
                known = {row["id"] for row in self.fetch(terms)}
                if missing := sorted(wanted - known):
                    raise invalid_parameter(key, f"There is no term with ID {missing[0]}.")
        for tax_class in sorted({product.get("tax_class", "") for product in products}):
            self.store.taxes.check_tax_class(tax_class)


def duplicate_sku() -> Invalid:
    """Make the error for a SKU that another product has."""
    return invalid("product_invalid_sku", "Invalid or duplicated SKU.")


def _with_variations(product: Mapping[str, Any], history: bool) -> tuple[Row, list[Row]]:
    variations = product.get("variations") or [] if history else []
    found = check_product(product, history=history)
    return found, [check_variation(variation, history=True) for variation in variations]


def _variation_name(parent: Row, row: Row) -> str:
    options = [str(attribute.get("option", "")) for attribute in row["attributes"]]
    return " - ".join([parent["name"], ", ".join(option for option in options if option)]).removesuffix(" - ")


def _ids(terms: Sequence[Row], name: str) -> list[int]:
    for term in terms:
        if "id" not in term:
            raise invalid_parameter(name, f'{name} are named by their id, as in [{{"id": 15}}].')
    return list(dict.fromkeys(term["id"] for term in terms))


def _columns_only(row: Row) -> Row:
    known = Product.__table__.columns.keys()
    return {key: value for key, value in row.items() if key in known}
