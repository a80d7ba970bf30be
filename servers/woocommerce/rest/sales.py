"""Orders, notes, refunds, customers and reports."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from mesocosm.doors.request import Request
from mesocosm.servers.woocommerce.rest.service import ListFilters, api, tool_route
from mesocosm.servers.woocommerce.store import OrderFilter, Selection, WooCommerceStore, window
from mesocosm.servers.woocommerce.tools import order_shapes, orders, reports, shapes
from mesocosm.services.schema import Json
from mesocosm.services.service import Page

Totals = list[tuple[str, str, int]]


class OrderFilters(ListFilters, total=False):
    """Filters for lists of orders, besides the status."""

    customer: int
    product: int
    parent: list[int]
    created_via: list[str]


@api.get("/orders")
def list_orders(
    store: WooCommerceStore,
    request: Request,
    page: int | None = None,
    per_page: int | None = None,
    order: Literal["asc", "desc"] | None = None,
    orderby: Literal["date", "id", "include", "title", "slug", "modified"] | None = None,
    status: list[str] | None = None,
    _fields: list[str] | None = None,
    **filters: Unpack[OrderFilters],
) -> Page:
    """All orders, with the filters of the vendor's documentation."""
    wanted = OrderFilter(status=None if status in (None, ["any"]) else status, **filters)
    records, total = store.orders.listed(wanted, page=page, per_page=per_page, orderby=orderby, order=order)
    items = [shapes.only(order_shapes.order(record), _fields) for record in records]
    return Page(items, *window(page, per_page), total)


tool_route("GET", "/orders/{orderId}", orders.woo_orders_get)
tool_route("POST", "/orders", orders.woo_orders_create, status=201)
tool_route("PUT", "/orders/{orderId}", orders.woo_orders_update)
tool_route("DELETE", "/orders/{orderId}", orders.woo_orders_delete)
tool_route("POST", "/orders/batch", orders.woo_orders_batch_update)


# -- notes ------------------------------------------------------------------------------------------------

tool_route("POST", "/orders/{orderId}/notes", orders.woo_orders_notes_create, status=201)


@api.get("/orders/{order_id}/notes")
def list_notes(
    store: WooCommerceStore, order_id: int, type: Literal["any", "customer", "internal"] = "any"
) -> list[Json]:
    """The notes of an order, newest first; they come without pages."""
    return [order_shapes.note(note) for note in store.details.notes(order_id, type)]


@api.get("/orders/{order_id}/notes/{id}")
def get_note(store: WooCommerceStore, order_id: int, id: int) -> Json:
    return order_shapes.note(store.details.note(order_id, id))


@api.delete("/orders/{order_id}/notes/{id}")
def delete_note(store: WooCommerceStore, order_id: int, id: int, force: bool = False) -> Json:
    return order_shapes.note(store.details.delete_note(order_id, id, force=force))


# -- refunds ----------------------------------------------------------------------------------------------


@api.get("/orders/{order_id}/refunds")
def list_refunds(
    store: WooCommerceStore,
    request: Request,
    order_id: int,
    page: int | None = None,
    per_page: int | None = None,
) -> Page:
    """The refunds of an order, newest first."""
    records, total = store.details.refunds(order_id, page=page, per_page=per_page)
    return Page([order_shapes.refund(record) for record in records], *window(page, per_page), total)


@api.get("/refunds")
def list_all_refunds(
    store: WooCommerceStore,
    request: Request,
    page: int | None = None,
    per_page: int | None = None,
    order: Literal["asc", "desc"] | None = None,
    orderby: Literal["date", "id", "include"] | None = None,
    search: str | None = None,
    after: str | None = None,
    before: str | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    parent: list[int] | None = None,
    parent_exclude: list[int] | None = None,
) -> Page:
    """The refunds of all orders, newest first."""
    records, total = store.details.all_refunds(
        Selection(include, exclude, after, before, orderby, order),
        page=page,
        per_page=per_page,
        search=search,
        orders=parent,
        not_orders=parent_exclude,
    )
    return Page([order_shapes.refund(record) for record in records], *window(page, per_page), total)


@api.post("/orders/{order_id}/refunds", status=201)
def create_refund(
    store: WooCommerceStore,
    order_id: int,
    amount: str | None = None,
    reason: str = "",
    api_refund: bool = True,
    api_restock: bool = True,
    line_items: list[Any] | None = None,
) -> Json:
    """A new refund, through the payment gateway unless the client says otherwise."""
    record = store.refunds.create_refund(
        order_id,
        amount_given=amount,
        reason=reason,
        pay_back=api_refund,
        items=line_items or [],
        restock=api_restock,
    )
    return order_shapes.refund(record)


@api.get("/orders/{order_id}/refunds/{id}")
def get_refund(store: WooCommerceStore, order_id: int, id: int) -> Json:
    return order_shapes.refund(store.details.refund(order_id, id))


@api.delete("/orders/{order_id}/refunds/{id}")
def delete_refund(store: WooCommerceStore, order_id: int, id: int, force: bool = False) -> Json:
    return order_shapes.refund(store.details.delete_refund(order_id, id, force=force))


# -- reports ----------------------------------------------------------------------------------------------

_REPORTS = {
    "sales": "List of sales reports.",
    "top_sellers": "List of top sellers products.",
    "orders/totals": "Orders totals.",
    "products/totals": "Products totals.",
    "customers/totals": "Customers totals.",
    "coupons/totals": "Coupons totals.",
    "reviews/totals": "Reviews totals.",
}

tool_route("GET", "/reports/sales", reports.woo_reports_sales)
tool_route("GET", "/reports/top_sellers", reports.woo_reports_top_sellers)
tool_route("GET", "/reports/orders/totals", reports.woo_reports_orders)
tool_route("GET", "/reports/customers/totals", reports.woo_reports_customers)
# Of the analytics, which the vendor serves under another root.
tool_route("GET", "/reports/products", reports.woo_reports_products)
tool_route("GET", "/reports/stock", reports.woo_reports_stock)
tool_route("GET", "/reports/stock/low", reports.woo_reports_low_stock)


@api.get("/reports")
def list_reports(store: WooCommerceStore) -> list[Json]:
    """The reports that there are."""
    store.authorise("view")
    return [{"slug": slug, "description": text} for slug, text in _REPORTS.items()]


def _totals(totals: Totals) -> list[Json]:
    return [{"slug": slug, "name": name, "total": total} for slug, name, total in totals]


@api.get("/reports/products/totals")
def product_totals(store: WooCommerceStore) -> list[Json]:
    """Products by type."""
    return _totals(store.details.product_totals())


@api.get("/reports/coupons/totals")
def coupon_totals(store: WooCommerceStore) -> list[Json]:
    """Coupons by type of discount."""
    return _totals(store.details.coupon_totals())


@api.get("/reports/reviews/totals")
def review_totals(store: WooCommerceStore) -> list[Json]:
    """Reviews by rating."""
    return _totals(store.details.review_totals())
