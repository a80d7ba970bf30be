"""Coupons and who used them."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base
from mesocosm.servers.woocommerce.refusals import invalid
from mesocosm.servers.woocommerce.values import (
    MAX_COUNT,
    boolean,
    choice,
    date,
    decimal,
    identifier,
    line,
    listed,
    meta_data,
    optional,
    optional_date,
    whole,
)
from mesocosm.servers.woocommerce.values import text as any_text
from mesocosm.services.resources import Shown, field
from mesocosm.services.words import Word

_IDS = listed(identifier)
_LIMIT = optional(whole(0, MAX_COUNT))


def coupon_code(value: Any, name: str) -> str:
    """The code of a coupon as the product keeps it."""
    found = line(value, name).lower()
    if not found:
        raise invalid("woocommerce_rest_empty_coupon_code", "The coupon code cannot be empty.")
    return found


class Coupon(Base):
    """A coupon; amounts are decimal text."""

    __tablename__ = "coupons"
    __table_args__ = (
        Index("coupons_by_code", "code", unique=True, sqlite_where=text("status != 'trash'")),
        Index("coupons_by_date", "date_created", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str] = field(coupon_code, tool=True, word="What customers enter.")
    amount: Mapped[str] = field(
        decimal, default="0.00", tool=True, word=Word("How much it takes off.", "number")
    )
    status: Mapped[str] = field(choice("draft", "pending", "private", "publish"), default="publish")
    date_created: Mapped[str] = field(date, by="filling", also="date_created_gmt", sort_order=1)
    date_modified: Mapped[str] = field(also="date_modified_gmt", sort_order=1)
    discount_type: Mapped[str] = field(
        choice("percent", "fixed_cart", "fixed_product"),
        default="fixed_cart",
        tool=True,
        word="What the amount is; default: fixed_cart.",
    )
    description: Mapped[str] = field(any_text, default="", word="What it is for.")
    date_expires: Mapped[str | None] = field(optional_date, also="date_expires_gmt", tool=True)
    usage_count: Mapped[int] = field(whole(0, MAX_COUNT), by="filling", default=0)
    individual_use: Mapped[bool] = field(boolean, default=False, tool=True)
    product_ids: Mapped[list[int]] = field(_IDS, default=list, tool=True)
    excluded_product_ids: Mapped[list[int]] = field(_IDS, default=list, tool=True)
    usage_limit: Mapped[int | None] = field(_LIMIT, tool=True, word="How often it may be used.")
    usage_limit_per_user: Mapped[int | None] = field(_LIMIT, tool=True)
    limit_usage_to_x_items: Mapped[int | None] = field(_LIMIT, tool=True)
    free_shipping: Mapped[bool] = field(boolean, default=False, tool=True)
    product_categories: Mapped[list[int]] = field(_IDS, default=list)
    excluded_product_categories: Mapped[list[int]] = field(_IDS, default=list)
    exclude_sale_items: Mapped[bool] = field(boolean, default=False, tool=True)
    minimum_amount: Mapped[str] = field(
        decimal, default="0.00", tool=True, word=Word("What an order must come to.", "number")
    )
    maximum_amount: Mapped[str] = field(decimal, default="0.00", tool=True)
    email_restrictions: Mapped[list[str]] = field(listed(line), default=list)
    used_by: ClassVar[Shown] = Shown()
    meta_data: ClassVar[Shown] = Shown(meta_data, "clients")


class CouponUse(Base):
    """One counted use of a coupon, by a customer's id or a guest's address."""

    __tablename__ = "coupon_uses"
    __table_args__ = (
        Index("coupon_uses_by_coupon", "coupon_id", "id"),
        Index("coupon_uses_by_order", "order_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    coupon_id: Mapped[int] = mapped_column(ForeignKey("coupons.id", ondelete="CASCADE"))
    order_id: Mapped[int]
    used_by: Mapped[str]
