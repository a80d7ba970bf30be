"""Tools for reports."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any

from mesocosm.servers.woocommerce.store import WooCommerceStore, money, window
from mesocosm.servers.woocommerce.tools import shapes
from mesocosm.servers.woocommerce.tools.service import (
    FirstDay,
    LastDay,
    PageNumber,
    Period,
    ProductsPerPage,
    ReportPeriod,
    server,
)
from mesocosm.services.service import Page, same


@server.reads
def woo_reports_sales(
    store: WooCommerceStore,
    period: ReportPeriod | None = None,
    dateMin: FirstDay | None = None,
    dateMax: LastDay | None = None,
) -> list[dict[str, Any]]:
    """Report sales of a period: sums, and the sums of each day (of each month for long periods).

    Orders that are completed, processing or on hold count; refunds are taken off. Without period and dates
    the report is on today.
    """
    return [_sales(store.reports.sales_report(period, dateMin, dateMax))]


def _sales(report: dict[str, Any]) -> dict[str, Any]:
    sums = report["sums"]
    return {
        "total_sales": money(sums["sales"]),
        "net_sales": money(report["net"]),
        "average_sales": money(report["average"]),
        "total_orders": sums["orders"],
        "total_items": sums["items"],
        "total_tax": money(sums["tax"]),
        "total_shipping": money(sums["shipping"]),
        "total_refunds": money(sums["refunds"]),
        "total_discount": money(sums["discount"]),
        "totals_grouped_by": report["grouped_by"],
        "totals": {
            name: {
                key: total[key] if key in ("orders", "items", "customers") else money(total[key])
                for key in ("sales", "orders", "items", "tax", "shipping", "discount", "customers")
            }
            for name, total in report["totals"].items()
        },
        "total_customers": sums["customers"],
    }


@server.reads
def woo_reports_top_sellers(
    store: WooCommerceStore,
    period: ReportPeriod | None = None,
    dateMin: FirstDay | None = None,
    dateMax: LastDay | None = None,
    perPage: ProductsPerPage | None = None,
    page: PageNumber | None = None,
) -> Page:
    """List products by the number of pieces sold in a period, most first; unsold products are left out.

    Orders that are completed, processing or on hold count. Without period and dates the report is on today.
    """
    rows, total = store.reports.top_sellers(period, dateMin, dateMax, page=page, per_page=perPage)
    items = [
        {
            "name": row["name"] or row["line_name"],
            "product_id": row["product_id"],
            "quantity": row["quantity"],
        }
        for row in rows
    ]
    return Page(items, *window(page, perPage), total)


@server.reads
def woo_reports_customers(
    store: WooCommerceStore,
    period: Period | None = None,
    dateMin: str | None = None,
    dateMax: str | None = None,
) -> list[dict[str, Any]]:
    """Count customers who have paid for an order, and those who have not.

    Args:
        period: Only customers registered in this period; all without period and dates.
        dateMin: Only customers registered on this day or later.
        dateMax: Only customers registered on this day or earlier.
    """
    return _totals(store.reports.customers_totals(period, dateMin, dateMax))


@server.reads
def woo_reports_orders(
    store: WooCommerceStore,
    period: Period | None = None,
    dateMin: str | None = None,
    dateMax: str | None = None,
) -> list[dict[str, Any]]:
    """Count orders by status.

    Args:
        period: Only orders created in this period; all without period and dates.
        dateMin: Only orders created on this day or later.
        dateMax: Only orders created on this day or earlier.
    """
    return _totals(store.reports.orders_totals(period, dateMin, dateMax))


def _totals(totals: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    return [{"slug": slug, "name": name, "total": total} for slug, name, total in totals]


@server.reads
def woo_reports_products(
    store: WooCommerceStore,
    period: ReportPeriod | None = None,
    dateMin: FirstDay | None = None,
    dateMax: LastDay | None = None,
    perPage: ProductsPerPage | None = None,
    page: PageNumber | None = None,
) -> Page:
    """List products that were sold, with pieces, revenue (without tax, after discounts) and orders of each.

    Orders that are completed, processing or on hold count. Without period and dates all time counts.
    """
    rows, total = store.reports.products_report(period, dateMin, dateMax, page=page, per_page=perPage)
    items = [
        {
            "product_id": row["product_id"],
            "items_sold": row["quantity"],
            "net_revenue": money(row["revenue"]),
            "orders_count": row["orders"],
            "extended_info": {
                "name": row["name"] or row["line_name"],
                **same(row, "sku", "stock_status", "stock_quantity"),
            },
        }
        for row in rows
    ]
    return Page(items, *window(page, perPage), total)


@server.reads
def woo_reports_stock(
    store: WooCommerceStore, perPage: ProductsPerPage | None = None, page: PageNumber | None = None
) -> Page:
    """List products and variations by stock: out of stock first, then low, on backorder, in stock."""
    records, total = store.reports.stock_report(page=page, per_page=perPage, low_only=False)
    return Page([_stock(record) for record in records], *window(page, perPage), total)


@server.reads
def woo_reports_low_stock(
    store: WooCommerceStore, perPage: ProductsPerPage | None = None, page: PageNumber | None = None
) -> Page:
    """List products and variations whose stock is at or below their low-stock threshold, scarcest first.

    The threshold is the product's low_stock_amount, or without one the shop's setting
    woocommerce_notify_low_stock_amount.
    """
    records, total = store.reports.stock_report(page=page, per_page=perPage, low_only=True)
    items = [
        _stock(record)
        | {"low_stock_threshold": record["threshold"], "last_order_date": record["last_order_date"]}
        for record in records
    ]
    return Page(items, *window(page, perPage), total)


def _stock(record: shapes.Record) -> dict[str, Any]:
    names = ("id", "parent_id", "name", "sku", "manage_stock", "stock_quantity", "stock_status")
    return {name: record[name] for name in (*names, "low_stock_amount")}
