"""Orders: their lines, notes and refunds. All amounts are whole cents."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base


class Order(Base):
    """An order; ``customer_id`` is 0 for a guest."""

    __tablename__ = "orders"
    __table_args__ = (
        Index("orders_by_date", "date_created", "id"),
        Index("orders_by_status", "status", "date_created", "id"),
        Index("orders_by_customer", "customer_id", "date_created", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[int] = mapped_column(default=0)
    status: Mapped[str]
    currency: Mapped[str]
    prices_include_tax: Mapped[bool]
    date_created: Mapped[str]
    date_modified: Mapped[str]
    date_paid: Mapped[str | None]
    date_completed: Mapped[str | None]
    discount_total: Mapped[int] = mapped_column(default=0)
    discount_tax: Mapped[int] = mapped_column(default=0)
    shipping_total: Mapped[int] = mapped_column(default=0)
    shipping_tax: Mapped[int] = mapped_column(default=0)
    cart_tax: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    total_tax: Mapped[int] = mapped_column(default=0)
    customer_id: Mapped[int] = mapped_column(default=0)
    billing: Mapped[dict[str, Any]]
    shipping: Mapped[dict[str, Any]]
    payment_method: Mapped[str] = mapped_column(default="")
    payment_method_title: Mapped[str] = mapped_column(default="")
    transaction_id: Mapped[str] = mapped_column(default="")
    created_via: Mapped[str] = mapped_column(default="rest-api")
    customer_note: Mapped[str] = mapped_column(default="")
    stock_reduced: Mapped[bool] = mapped_column(default=False)
    sales_recorded: Mapped[bool] = mapped_column(default=False)
    coupons_counted: Mapped[bool] = mapped_column(default=False)


class LineItem(Base):
    """Some pieces of one product in an order. Totals are without tax; ``total`` is after discounts.

    The product may be gone, so its id is not a foreign key.
    """

    __tablename__ = "line_items"
    __table_args__ = (
        Index("line_items_by_order", "order_id", "id"),
        Index("line_items_by_product", "product_id", "order_id", "quantity"),
        Index("line_items_by_variation", "variation_id", "order_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    product_id: Mapped[int]
    variation_id: Mapped[int] = mapped_column(default=0)
    name: Mapped[str]
    quantity: Mapped[int]
    tax_class: Mapped[str] = mapped_column(default="")
    subtotal: Mapped[int]
    subtotal_tax: Mapped[int] = mapped_column(default=0)
    total: Mapped[int]
    total_tax: Mapped[int] = mapped_column(default=0)
    taxes: Mapped[list[Any]] = mapped_column(default=list)
    """``[rate id, cents on the total, cents on the subtotal]`` of each tax."""
    meta_data: Mapped[list[Any]] = mapped_column(default=list)
    reduced_stock: Mapped[int] = mapped_column(default=0)
    """Pieces taken from stock for this line and not returned."""


class ShippingLine(Base):
    """A way of shipping that was charged."""

    __tablename__ = "shipping_lines"
    __table_args__ = (Index("shipping_lines_by_order", "order_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    method_id: Mapped[str] = mapped_column(default="")
    method_title: Mapped[str] = mapped_column(default="")
    instance_id: Mapped[str] = mapped_column(default="")
    total: Mapped[int] = mapped_column(default=0)
    total_tax: Mapped[int] = mapped_column(default=0)
    taxes: Mapped[list[Any]] = mapped_column(default=list)


class FeeLine(Base):
    """A further charge, or with a negative total a reduction."""

    __tablename__ = "fee_lines"
    __table_args__ = (Index("fee_lines_by_order", "order_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(default="")
    tax_class: Mapped[str] = mapped_column(default="")
    tax_status: Mapped[str] = mapped_column(default="taxable")
    total: Mapped[int] = mapped_column(default=0)
    total_tax: Mapped[int] = mapped_column(default=0)
    taxes: Mapped[list[Any]] = mapped_column(default=list)


class CouponLine(Base):
    """A coupon on an order and what it took off."""

    __tablename__ = "coupon_lines"
    __table_args__ = (
        Index("coupon_lines_by_order", "order_id", "id"),
        Index("coupon_lines_by_code", "code"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    code: Mapped[str]
    discount: Mapped[int]
    discount_tax: Mapped[int] = mapped_column(default=0)
    discount_type: Mapped[str]
    nominal_amount: Mapped[str]
    free_shipping: Mapped[bool] = mapped_column(default=False)


class TaxLine(Base):
    """Tax added to an order by one rate."""

    __tablename__ = "tax_lines"
    __table_args__ = (Index("tax_lines_by_order", "order_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    rate_code: Mapped[str]
    rate_id: Mapped[int]
    label: Mapped[str]
    compound: Mapped[bool]
    tax_total: Mapped[int]
    shipping_tax_total: Mapped[int]
    rate_percent: Mapped[str]


class OrderNote(Base):
    """A remark on an order, by a person or by the system."""

    __tablename__ = "order_notes"
    __table_args__ = (Index("order_notes_by_order", "order_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    author: Mapped[str]
    date_created: Mapped[str]
    note: Mapped[str]
    customer_note: Mapped[bool] = mapped_column(default=False)


class Refund(Base):
    """Money given back for an order."""

    __tablename__ = "refunds"
    __table_args__ = (
        Index("refunds_by_order", "order_id", "id"),
        Index("refunds_by_date", "date_created"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    date_created: Mapped[str]
    amount: Mapped[int]
    reason: Mapped[str] = mapped_column(default="")
    refunded_by: Mapped[int]
    refunded_payment: Mapped[bool] = mapped_column(default=False)


class RefundItem(Base):
    """The part of a refund that belongs to one line of the order (positive cents and pieces)."""

    __tablename__ = "refund_items"
    __table_args__ = (Index("refund_items_by_refund", "refund_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    refund_id: Mapped[int] = mapped_column(ForeignKey("refunds.id", ondelete="CASCADE"))
    line_item_id: Mapped[int]
    quantity: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    total_tax: Mapped[int] = mapped_column(default=0)
    taxes: Mapped[list[Any]] = mapped_column(default=list)
