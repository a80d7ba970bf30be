"""Coupons and who used them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base


class Coupon(Base):
    """A coupon; amounts are decimal text."""

    __tablename__ = "coupons"
    __table_args__ = (
        Index("coupons_by_code", "code", unique=True, sqlite_where=text("status != 'trash'")),
        Index("coupons_by_date", "date_created", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str]
    amount: Mapped[str] = mapped_column(default="0.00")
    status: Mapped[str] = mapped_column(default="publish")
    discount_type: Mapped[str] = mapped_column(default="fixed_cart")
    description: Mapped[str] = mapped_column(default="")
    date_expires: Mapped[str | None]
    usage_count: Mapped[int] = mapped_column(default=0)
    individual_use: Mapped[bool] = mapped_column(default=False)
    product_ids: Mapped[list[Any]] = mapped_column(default=list)
    excluded_product_ids: Mapped[list[Any]] = mapped_column(default=list)
    usage_limit: Mapped[int | None]
    usage_limit_per_user: Mapped[int | None]
    limit_usage_to_x_items: Mapped[int | None]
    free_shipping: Mapped[bool] = mapped_column(default=False)
    product_categories: Mapped[list[Any]] = mapped_column(default=list)
    excluded_product_categories: Mapped[list[Any]] = mapped_column(default=list)
    exclude_sale_items: Mapped[bool] = mapped_column(default=False)
    minimum_amount: Mapped[str] = mapped_column(default="0.00")
    maximum_amount: Mapped[str] = mapped_column(default="0.00")
    email_restrictions: Mapped[list[Any]] = mapped_column(default=list)
    date_created: Mapped[str]
    date_modified: Mapped[str]


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
