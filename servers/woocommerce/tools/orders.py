"""Tools for orders, their notes and refunds."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, Literal, TypedDict

from mesocosm.errors import Invalid
from mesocosm.servers.woocommerce.models.customers import Address, BillingAddress, MetaChange
from mesocosm.servers.woocommerce.store import OrderFilter, WooCommerceStore, window
from mesocosm.servers.woocommerce.tools import order_shapes, shapes
from mesocosm.servers.woocommerce.tools.service import FieldNames, Force, Order, OrderId, PageNumber, server
from mesocosm.services.service import Page

OrderStatus = Literal["pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed"]


class LineItemData(TypedDict, total=False):
    """Some pieces of a product."""

    product_id: int
    quantity: int


class ShippingLineData(TypedDict, total=False):
    """A way of shipping that is charged for."""

    id: int
    method_id: str
    method_title: str
    instance_id: str
    total: str


class OrderData(TypedDict, total=False):
    """What may be said of a new order, and more that the product documents."""

    payment_method: str
    payment_method_title: str
    set_paid: bool
    billing: BillingAddress
    shipping: Address
    line_items: list[LineItemData]
    shipping_lines: list[ShippingLineData]


class LineItemChange(LineItemData, total=False):
    """A line of an order: with an id one that is there, without a new one."""

    id: int
    variation_id: int
    sku: str
    subtotal: str
    total: str


class CouponLineData(TypedDict, total=False):
    """A coupon that is used."""

    code: str


class FeeLineData(TypedDict, total=False):
    """A fee."""

    id: int
    name: str
    total: str
    tax_class: str
    tax_status: str


class OrderChanges(TypedDict, total=False):
    """Everything that may be said of an order."""

    status: str
    customer_id: int
    customer_note: str
    currency: str
    payment_method: str
    payment_method_title: str
    transaction_id: str
    set_paid: bool
    billing: BillingAddress
    shipping: Address
    line_items: list[LineItemChange]
    shipping_lines: list[ShippingLineData]
    fee_lines: list[FeeLineData]
    coupon_lines: list[CouponLineData]
    meta_data: list[MetaChange]


class OrderUpdate(OrderChanges, total=False):
    """An order by its id, with the fields to change."""

    id: int


class TaxRefundData(TypedDict, total=False):
    """What of a tax is refunded: the tax rate's id and an amount."""

    id: int
    refund_total: float


class RefundItemData(TypedDict, total=False):
    """A line item that is refunded."""

    id: int
    refund_total: float
    refund_tax: list[TaxRefundData]


@server.reads(long=True)
def woo_orders_list(
    store: WooCommerceStore,
    perPage: int | None = None,
    page: PageNumber | None = None,
    status: list[OrderStatus] | None = None,
    customer: int | None = None,
    product: int | None = None,
    dateAfter: str | None = None,
    dateBefore: str | None = None,
    orderby: Literal["date", "id", "include", "title", "slug"] | None = None,
    order: Order | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    fields: list[str] | None = None,
) -> Page:
    """List orders in full, newest first, with filters that all must hold. Orders in the trash are left out.

    Args:
        perPage: Orders per page, 1 to 100; 10 by default.
        status: Only orders of one of these statuses.
        customer: Only orders of the customer with this ID; 0 for guests.
        product: Only orders with this product or variation among their lines.
        dateAfter: Only orders created after this time (2025-01-15T09:00:00, UTC); a date alone includes that
            day.
        dateBefore: Only orders created before this time; a date alone excludes that day.
        orderby: What to order by; include is the order of the include argument.
        include: Only orders with these IDs.
        exclude: No orders with these IDs.
        fields: Give only these fields of each order, such as ["id", "status", "total"].
    """
    wanted = OrderFilter(status, customer, product, dateAfter, dateBefore, include, exclude)
    try:
        records, total = store.orders.listed(
            wanted, page=page, per_page=perPage, orderby=orderby, order=order
        )
    except Invalid as refusal:
        refusal.rename({"after": "dateAfter", "before": "dateBefore"})
        raise
    return Page([shapes.only(order_shapes.order(r), fields) for r in records], *window(page, perPage), total)


@server.reads
def woo_orders_get(
    store: WooCommerceStore, orderId: OrderId, fields: FieldNames | None = None
) -> dict[str, Any]:
    """Get one order in full: addresses, lines, totals, refunds, custom fields."""
    return shapes.only(order_shapes.order(store.orders.order(orderId)), fields)


@server.writes
def woo_orders_create(store: WooCommerceStore, orderData: OrderData) -> dict[str, Any]:
    """Create an order at the products' present prices and return it with its totals.

    An order that is processing, on hold or completed takes its pieces from stock.

    Args:
        orderData: The order's fields. Each line item has product_id (or sku), quantity, and if wanted
            variation_id, subtotal and total. set_paid true also makes the order processing. Besides the
            fields listed it takes status, customer_id, customer_note, coupon_lines ([{"code": ...}]),
            fee_lines, currency, transaction_id and meta_data.
    """
    return order_shapes.order(store.ordering.create_order(orderData))


@server.writes
def woo_orders_update(store: WooCommerceStore, orderId: OrderId, orderData: OrderChanges) -> dict[str, Any]:
    """Change an order, for example its status, and return it.

    Cancelling an order, or setting it back to pending, returns its pieces to stock; setting it to refunded
    refunds what is left of its total.

    Args:
        orderData: The fields to change, as for woo_orders_create. Lines with an id are changed (quantity 0
            removes one), lines without are added; meta_data is set by key.
    """
    return order_shapes.order(store.ordering.update_order(orderId, orderData))


@server.writes(destructive=True)
def woo_orders_delete(store: WooCommerceStore, orderId: OrderId, force: Force = False) -> dict[str, Any]:
    """Move an order to the trash, or delete it for good; returns what it was. Stock is not returned."""
    return order_shapes.order(store.ordering.delete_order(orderId, force=force))


@server.writes(destructive=True)
def woo_orders_batch_update(
    store: WooCommerceStore,
    create: list[OrderChanges] | None = None,
    update: list[OrderUpdate] | None = None,
    delete: list[int] | None = None,
) -> dict[str, Any]:
    """Create, update and delete up to 100 orders in one request; each is done or refused by itself.

    The result has the orders in the order of the request, with an error in place of one that was refused.

    Args:
        create: New orders, each as for woo_orders_create.
        update: Changes, each with the id of the order and the fields to change.
        delete: IDs of orders to delete for good.
    """
    return shapes.batch_results(store.batches.batch_orders(create, update, delete), order_shapes.order)


@server.writes
def woo_orders_notes_create(
    store: WooCommerceStore, orderId: OrderId, note: str, customerNote: bool = False
) -> dict[str, Any]:
    """Put a note on an order and return it.

    Args:
        note: Text of the note.
        customerNote: Whether the customer sees the note; otherwise only the shop's staff does.
    """
    return order_shapes.note(store.orders.create_note(orderId, note, for_customer=customerNote))


@server.writes(destructive=True)
def woo_orders_refunds_create(
    store: WooCommerceStore,
    orderId: OrderId,
    amount: str | None = None,
    reason: str | None = None,
    refundPayment: bool = False,
    lineItems: list[RefundItemData] | None = None,
    restockItems: bool = True,
) -> dict[str, Any]:
    """Refund an order in full or in part and return the refund.

    No more can be refunded than the order's total less earlier refunds. An order whose whole total is
    refunded becomes refunded.

    Args:
        amount: Amount such as "10.00"; without it, what the line items add up to.
        reason: Why.
        refundPayment: Give the money back through the order's payment gateway, if it can.
        lineItems: Line items that are refunded: the id of the line, refund_total, refund_tax, and if pieces
            come back their quantity.
        restockItems: Whether pieces that come back return to stock.
    """
    refund = store.refunds.create_refund(
        orderId,
        amount_given=amount,
        reason=reason or "",
        pay_back=refundPayment,
        items=lineItems or [],
        restock=restockItems,
    )
    return order_shapes.refund(refund)
