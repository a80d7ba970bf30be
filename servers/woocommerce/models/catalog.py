"""The catalogue: categories, tags, products with their variations, reviews."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypedDict

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import SITE, Base
from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.servers.woocommerce.values import (
    MAX_COUNT,
    boolean,
    choice,
    date,
    email,
    fields,
    identifier,
    last_moment,
    line,
    listed,
    meta_data,
    optional,
    optional_date,
    title,
    url,
    whole,
)
from mesocosm.servers.woocommerce.values import price as an_amount
from mesocosm.servers.woocommerce.values import text as any_text
from mesocosm.services.resources import Record, Shown, field
from mesocosm.services.service import same
from mesocosm.services.words import Word


class ImageData(TypedDict, total=False):
    """A picture by its address."""

    src: str
    alt: str


_image = optional(fields({"src": url, "alt": line, "name": line}, ("id",)))


def _picture(value: Any, name: str) -> Any:
    found = _image(value, name)
    if found is not None and "src" not in found:
        raise invalid_parameter(f"{name}.src", "An image needs a src.")
    return found


def _picture_shown(record: Mapping[str, Any]) -> Any:
    picture = record["image"]
    return {"id": record["id"], "name": "", "alt": "", **picture} if picture else None


class Category(Base):
    """A product category; ``parent`` is 0 at the top."""

    __tablename__ = "categories"
    __table_args__ = (Index("categories_by_parent", "parent"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = field(title, tool=True)
    slug: Mapped[str] = field(line, unique=True, tool=True)
    parent: Mapped[int] = field(identifier, default=0, tool=True)
    description: Mapped[str] = field(any_text, default="", tool=True)
    display: Mapped[str] = field(
        choice("default", "products", "subcategories", "both"), default="default", tool=True
    )
    image: Mapped[dict[str, Any] | None] = field(_picture, tool=ImageData, made=_picture_shown)
    menu_order: Mapped[int] = field(whole(0), default=0, tool=True, spelled="menuOrder")
    count: ClassVar[Shown] = Shown()


class Tag(Base):
    """A product tag."""

    __tablename__ = "tags"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's form

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = field(title)
    slug: Mapped[str] = field(line, unique=True)
    description: Mapped[str] = field(any_text, default="")
    count: ClassVar[Shown] = Shown()


_term = fields({"id": identifier}, ("name", "slug"))
image_check = fields(
    {"id": identifier, "src": url, "name": line, "alt": line},
    ("date_created", "date_created_gmt", "date_modified", "date_modified_gmt"),
)
option_check = fields({"id": identifier, "name": line, "option": line}, ("slug",))
_attribute = fields(
    {
        "id": identifier,
        "name": line,
        "position": whole(),
        "visible": boolean,
        "variation": boolean,
        "options": listed(line),
    },
    ("slug",),
)


def _url_or_nothing(value: Any, name: str) -> str:
    return url(value, name) if value != "" else ""


def _named(terms: str) -> Callable[[Record], Any]:
    """Categories or tags as a product names them."""
    return lambda row: [same(term, "id", "name", "slug") for term in row[terms]]


def image(picture: Record) -> dict[str, Any]:
    """A picture of a product."""
    names = ("date_created", "date_created_gmt", "date_modified", "date_modified_gmt")
    return {
        "id": picture["id"],
        **dict.fromkeys(names, picture["date_created"]),
        **same(picture, "src", "name", "alt"),
    }


def _is_purchasable(row: Record) -> bool:
    return row["price"] != "" and row["type"] in ("simple", "variable", "variation")


class Product(Base):
    """A product, or a variation of one (``type`` is ``variation`` and ``parent_id`` its product).

    What is on sale depends on the clock, so the price that holds now is computed and not kept.
    """

    __tablename__ = "products"
    __table_args__ = (
        # parent_id is 0 for all but variations.
        Index("products_by_date", "parent_id", "date_created", "id", "status"),
        Index("products_by_parent", "parent_id", "menu_order", "id"),
        Index(
            "products_by_sku",
            "sku",
            unique=True,
            sqlite_where=text("sku != '' AND status != 'trash'"),
        ),
        Index("products_by_slug", "slug"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True, sort_order=-4)
    name: Mapped[str] = field(line, sort_order=-1)
    slug: Mapped[str] = field(line, sort_order=-1)
    permalink: ClassVar[Shown] = Shown(made=lambda row: f"{SITE}/product/{row['slug']}/")
    date_created: Mapped[str] = field(date, by="filling", also="date_created_gmt", sort_order=5)
    date_modified: Mapped[str] = field(date, by="filling", also="date_modified_gmt", sort_order=5)
    type: Mapped[str] = field(
        choice("simple", "grouped", "external", "variable"), default="simple", sort_order=-2
    )
    status: Mapped[str] = field(choice("draft", "pending", "private", "publish"), default="publish")
    featured: Mapped[bool] = field(boolean, default=False)
    catalog_visibility: Mapped[str] = field(
        choice("visible", "catalog", "search", "hidden"), default="visible"
    )
    description: Mapped[str] = field(any_text, default="")
    short_description: Mapped[str] = field(any_text, default="")
    sku: Mapped[str] = field(line, default="")
    price: ClassVar[Shown] = Shown()
    regular_price: Mapped[str] = field(an_amount, default="")
    sale_price: Mapped[str] = field(an_amount, default="")
    date_on_sale_from: Mapped[str | None] = field(optional_date, also="date_on_sale_from_gmt")
    date_on_sale_to: Mapped[str | None] = field(last_moment, also="date_on_sale_to_gmt")
    on_sale: ClassVar[Shown] = Shown(made=lambda row: bool(row["on_sale"]))
    purchasable: ClassVar[Shown] = Shown(made=_is_purchasable)
    total_sales: Mapped[int] = field(whole(0, MAX_COUNT), by="filling", default=0)
    virtual: Mapped[bool] = field(boolean, default=False)
    downloadable: Mapped[bool] = field(boolean, default=False)
    downloads: Mapped[list[Any]] = field(
        listed(fields({"id": line, "name": line, "file": url})), default=list
    )
    download_limit: Mapped[int] = field(whole(), default=-1)
    download_expiry: Mapped[int] = field(whole(), default=-1)
    external_url: Mapped[str] = field(_url_or_nothing, default="")
    button_text: Mapped[str] = field(line, default="")
    tax_status: Mapped[str] = field(choice("taxable", "shipping", "none"), default="taxable")
    tax_class: Mapped[str] = field(line, default="")
    manage_stock: Mapped[bool] = field(boolean, default=False)
    stock_quantity: Mapped[int | None] = field(optional(whole()))
    stock_status: Mapped[str] = field(choice("instock", "outofstock", "onbackorder"), default="instock")
    backorders: Mapped[str] = field(choice("no", "notify", "yes"), default="no")
    backorders_allowed: ClassVar[Shown] = Shown(made=lambda row: row["backorders"] != "no")
    backordered: ClassVar[Shown] = Shown(made=lambda row: row["stock_status"] == "onbackorder")
    low_stock_amount: Mapped[int | None] = field(optional(whole(0, MAX_COUNT)))
    sold_individually: Mapped[bool] = field(boolean, default=False)
    weight: Mapped[str] = field(an_amount, default="")
    dimensions: Mapped[dict[str, Any]] = field(
        fields({"length": an_amount, "width": an_amount, "height": an_amount}), default=dict
    )
    shipping_required: ClassVar[Shown] = Shown(made=lambda row: not row["virtual"])
    shipping_taxable: ClassVar[Shown] = Shown(
        made=lambda row: row["tax_status"] == "taxable" and not row["virtual"]
    )
    shipping_class: ClassVar[Shown] = Shown(made=lambda row: "")
    shipping_class_id: ClassVar[Shown] = Shown(made=lambda row: 0)
    reviews_allowed: Mapped[bool] = field(boolean, default=True)
    average_rating: Mapped[str] = mapped_column(default="0.00")
    rating_count: Mapped[int] = mapped_column(default=0)
    upsell_ids: Mapped[list[Any]] = field(listed(identifier), default=list)
    cross_sell_ids: Mapped[list[Any]] = field(listed(identifier), default=list)
    parent_id: Mapped[int] = mapped_column(default=0, sort_order=-3)
    purchase_note: Mapped[str] = field(any_text, default="", sort_order=2)
    categories: ClassVar[Shown] = Shown(listed(_term), "clients", made=_named("categories"))
    tags: ClassVar[Shown] = Shown(listed(_term), "clients", made=_named("tags"))
    images: ClassVar[Shown] = Shown(
        listed(image_check, 100), "clients", made=lambda row: [image(one) for one in row["images"]]
    )
    attributes: Mapped[list[Any]] = field(listed(_attribute, 100), default=list, sort_order=3)
    default_attributes: Mapped[list[Any]] = field(listed(option_check, 100), default=list, sort_order=3)
    variations: ClassVar[Shown] = Shown()
    grouped_products: Mapped[list[Any]] = field(listed(identifier), default=list, sort_order=1)
    menu_order: Mapped[int] = field(whole(), default=0, sort_order=4)
    has_options: ClassVar[Shown] = Shown(made=lambda row: row["type"] == "variable")
    meta_data: ClassVar[Shown] = Shown(meta_data, "clients")


class ProductCategory(Base):
    __tablename__ = "product_categories"
    __table_args__ = (Index("product_categories_by_category", "category_id", "product_id"),)

    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True)
    category_id: Mapped[int] = mapped_column(
        ForeignKey("categories.id", ondelete="CASCADE"), primary_key=True
    )


class ProductTag(Base):
    __tablename__ = "product_tags"
    __table_args__ = (Index("product_tags_by_tag", "tag_id", "product_id"),)

    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True)
    tag_id: Mapped[int] = mapped_column(ForeignKey("tags.id", ondelete="CASCADE"), primary_key=True)


class ProductImage(Base):
    """A picture of a product; the first by position is its main one."""

    __tablename__ = "product_images"
    __table_args__ = (
        Index("product_images_by_product", "product_id", "position"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"))
    position: Mapped[int]
    src: Mapped[str]
    name: Mapped[str] = mapped_column(default="")
    alt: Mapped[str] = mapped_column(default="")
    date_created: Mapped[str]


class Review(Base):
    """Review of a product."""

    __tablename__ = "reviews"
    __table_args__ = (
        Index("reviews_by_date", "status", "date_created", "id"),
        Index("reviews_by_product", "product_id", "status", "date_created", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    date_created: Mapped[str] = field(date, also="date_created_gmt", sort_order=2)
    product_id: Mapped[int] = field(
        identifier,
        ForeignKey("products.id", ondelete="CASCADE"),
        word=Word("Which product: `{{ item.product.id }}`.", "data"),
    )
    product_name: ClassVar[Shown] = Shown()
    product_permalink: ClassVar[Shown] = Shown(made=lambda row: f"{SITE}/product/{row['product_slug']}/")
    status: Mapped[str] = field(
        choice("approved", "hold", "spam", "trash"),
        default="approved",
        sort_order=1,
        word="Whether it is shown; default: approved.",
    )
    reviewer: Mapped[str] = field(title, word="Name of who wrote it.")
    reviewer_email: Mapped[str] = field(email, word="Address of who wrote it.")
    review: Mapped[str] = field(any_text, word="Its text.")
    rating: Mapped[int] = field(whole(0, 5), default=0, word="Its stars, 1 to 5.")
    verified: Mapped[bool] = field(boolean, by="filling", default=False, sort_order=1)
