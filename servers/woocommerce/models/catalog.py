"""The catalogue: categories, tags, products with their variations, reviews."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypedDict

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import SITE, Base
from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.servers.woocommerce.values import (
    boolean,
    choice,
    date,
    email,
    fields,
    identifier,
    line,
    optional,
    title,
    url,
    whole,
)
from mesocosm.servers.woocommerce.values import text as any_text
from mesocosm.services.resources import Shown, field
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

    id: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[int] = mapped_column(default=0)
    type: Mapped[str] = mapped_column(default="simple")
    name: Mapped[str]
    slug: Mapped[str]
    status: Mapped[str] = mapped_column(default="publish")
    featured: Mapped[bool] = mapped_column(default=False)
    catalog_visibility: Mapped[str] = mapped_column(default="visible")
    description: Mapped[str] = mapped_column(default="")
    short_description: Mapped[str] = mapped_column(default="")
    sku: Mapped[str] = mapped_column(default="")
    regular_price: Mapped[str] = mapped_column(default="")
    sale_price: Mapped[str] = mapped_column(default="")
    date_on_sale_from: Mapped[str | None]
    date_on_sale_to: Mapped[str | None]
    total_sales: Mapped[int] = mapped_column(default=0)
    virtual: Mapped[bool] = mapped_column(default=False)
    downloadable: Mapped[bool] = mapped_column(default=False)
    downloads: Mapped[list[Any]] = mapped_column(default=list)
    download_limit: Mapped[int] = mapped_column(default=-1)
    download_expiry: Mapped[int] = mapped_column(default=-1)
    external_url: Mapped[str] = mapped_column(default="")
    button_text: Mapped[str] = mapped_column(default="")
    tax_status: Mapped[str] = mapped_column(default="taxable")
    tax_class: Mapped[str] = mapped_column(default="")
    manage_stock: Mapped[bool] = mapped_column(default=False)
    stock_quantity: Mapped[int | None]
    stock_status: Mapped[str] = mapped_column(default="instock")
    backorders: Mapped[str] = mapped_column(default="no")
    low_stock_amount: Mapped[int | None]
    sold_individually: Mapped[bool] = mapped_column(default=False)
    weight: Mapped[str] = mapped_column(default="")
    dimensions: Mapped[dict[str, Any]] = mapped_column(default=dict)
    reviews_allowed: Mapped[bool] = mapped_column(default=True)
    average_rating: Mapped[str] = mapped_column(default="0.00")
    rating_count: Mapped[int] = mapped_column(default=0)
    upsell_ids: Mapped[list[Any]] = mapped_column(default=list)
    cross_sell_ids: Mapped[list[Any]] = mapped_column(default=list)
    grouped_products: Mapped[list[Any]] = mapped_column(default=list)
    purchase_note: Mapped[str] = mapped_column(default="")
    attributes: Mapped[list[Any]] = mapped_column(default=list)
    default_attributes: Mapped[list[Any]] = mapped_column(default=list)
    menu_order: Mapped[int] = mapped_column(default=0)
    date_created: Mapped[str]
    date_modified: Mapped[str]


class ProductCategory(Base):
    """A product in a category."""

    __tablename__ = "product_categories"
    __table_args__ = (Index("product_categories_by_category", "category_id", "product_id"),)

    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True)
    category_id: Mapped[int] = mapped_column(
        ForeignKey("categories.id", ondelete="CASCADE"), primary_key=True
    )


class ProductTag(Base):
    """A product with a tag."""

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
    """What somebody said of a product."""

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
