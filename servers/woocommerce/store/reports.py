"""Reports: computed from the orders, each time they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dateutil.relativedelta import relativedelta
from sqlalchemy import Integer, bindparam, case, cast, func, or_, select

from mesocosm.servers.woocommerce.models import Customer, LineItem, Order, Product, Refund, RefundItem
from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.servers.woocommerce.store.customers import PAID
from mesocosm.servers.woocommerce.store.orders import STATUS_NAMES, STATUSES
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.values import (
    FIRST_YEAR,
    LAST_YEAR,
    date,
    is_whole_day,
    moment,
    timestamp,
    window,
)

SOLD = ("completed", "processing", "on-hold")
"""Statuses of orders that count as sales."""
MAX_INTERVALS = 120
_MONTHLY_BEYOND = 93
"""Ranges of more days than this are grouped by months."""
_FIRST, _LAST = f"{FIRST_YEAR}-01-01T00:00:00", f"{LAST_YEAR + 1}-01-01T00:00:00"


@dataclass(frozen=True)
class Range:
    """The time that a report is about: from ``start`` up to, and without, ``end``."""

    start: str
    end: str

    def holds(self, column: Any) -> Any:
        """The condition that a time lies in this range."""
        return (column >= self.start) & (column < self.end)


class Reports(StorePart):
    """Reports on sales, customers, orders, products and stock."""

    def report_range(
        self, period: str | None, date_min: str | None, date_max: str | None, *, today: bool
    ) -> Range:
        """Resolve period and dates into a range; today or all time by default. A period overrides dates."""
        midnight = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        tomorrow = timestamp(midnight + timedelta(days=1))
        month = midnight.replace(day=1)
        if period:
            start = {
                "week": midnight - timedelta(days=6),
                "month": month,
                "last_month": month - relativedelta(months=1),
                "year": midnight.replace(month=1, day=1),
            }[period]
            return Range(timestamp(start), timestamp(month) if period == "last_month" else tomorrow)
        if date_min is None and date_max is None:
            return Range(timestamp(midnight), tomorrow) if today else Range(_FIRST, _LAST)
        start_text = date(date_min, "date_min") if date_min is not None else _FIRST
        end = _end_of(date_max) if date_max is not None else tomorrow
        if start_text >= end:
            raise invalid_parameter("date_min", "date_min must not be later than date_max.")
        return Range(start_text, end)

    # -- sales ------------------------------------------------------------------------------------------

    def sales_report(self, period: str | None, date_min: str | None, date_max: str | None) -> Row:
        """Sales of a range, with sums for each of its days, or months where it is long."""
        self.authorise("view")
        wanted = self.report_range(period, date_min, date_max, today=True)
        wanted = self._without_empty_ages(wanted)
        days = (moment(wanted.end) - moment(wanted.start)).days
        monthly = days > _MONTHLY_BEYOND or period == "year"
        names = _intervals(wanted, monthly)
        found = self._sales_by(wanted, 7 if monthly else 10)
        totals = {name: dict.fromkeys(_SALES, 0) | found.get(name, {}) for name in names}
        sums = {key: sum(total[key] for total in totals.values()) for key in _SALES}
        net = sums["sales"] - sums["shipping"] - sums["tax"]
        return {
            "sums": sums,
            "net": net,
            "average": _divided(net, len(names)),
            "grouped_by": "month" if monthly else "day",
            "totals": totals,
        }

    def _without_empty_ages(self, wanted: Range) -> Range:
        """Let a range without a beginning, or without an end, cover the orders there are."""
        if wanted.start == _FIRST:
            first = self.fetch(select(func.min(Order.date_created).label("day")))[0]["day"]
            start = min(first or self.today, self.today)[:10] + "T00:00:00"
            wanted = Range(min(start, timestamp(moment(wanted.end) - timedelta(days=1))), wanted.end)
        if (moment(wanted.end) - moment(wanted.start)).days > MAX_INTERVALS * 31:
            years = MAX_INTERVALS // 12
            raise invalid_parameter("date_min", f"A sales report covers at most {years} years.")
        return wanted

    def _sales_by(self, wanted: Range, length: int) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for statement in _sales_statements(wanted, length):
            for row in self.fetch(statement):
                sums = found.setdefault(row["name"], dict.fromkeys(_SALES, 0))
                for key in _SALES:
                    sums[key] += row.get(key) or 0
        return found

    def top_sellers(
        self,
        period: str | None,
        date_min: str | None,
        date_max: str | None,
        *,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Record], int]:
        """One page of the products by pieces sold, and how many were sold at all."""
        self.authorise("view")
        wanted = self.report_range(period, date_min, date_max, today=True)
        return self._sold_products(wanted, page, per_page)

    def products_report(
        self,
        period: str | None,
        date_min: str | None,
        date_max: str | None,
        *,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Record], int]:
        """One page of the products that were sold, with pieces, revenue and orders."""
        self.authorise("view")
        wanted = self.report_range(period, date_min, date_max, today=False)
        return self._sold_products(wanted, page, per_page)

    def _sold_products(
        self, wanted: Range, page: int | None, per_page: int | None
    ) -> tuple[Sequence[Record], int]:
        page, per_page = window(page, per_page)
        sold = (
            select(
                LineItem.product_id,
                func.max(LineItem.name).label("line_name"),
                func.sum(LineItem.quantity).label("quantity"),
                func.sum(LineItem.total).label("revenue"),
                func.count(LineItem.order_id.distinct()).label("orders"),
            )
            .join(Order, Order.id == LineItem.order_id)
            .where(Order.status.in_(SOLD), wanted.holds(Order.date_created))
            .group_by(LineItem.product_id)
            .subquery()
        )
        details = (Product.name, Product.sku, Product.stock_status, Product.stock_quantity)
        statement = (
            select(*sold.c, *details)
            .outerjoin(Product, Product.id == sold.c.product_id)
            .order_by(sold.c.quantity.desc(), sold.c.product_id)
        )
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        total = self.fetch(select(func.count().label("n")).select_from(sold))
        return rows, int(total[0]["n"])

    # -- totals -----------------------------------------------------------------------------------------

    def orders_totals(
        self, period: str | None, date_min: str | None, date_max: str | None
    ) -> list[tuple[str, str, int]]:
        """Orders of each status (slug, name, number), created in a range."""
        self.authorise("view")
        wanted = self.report_range(period, date_min, date_max, today=False)
        counted = select(Order.status, func.count().label("n")).where(wanted.holds(Order.date_created))
        by_status = {row["status"]: row["n"] for row in self.fetch(counted.group_by(Order.status))}
        return [(status, STATUS_NAMES[status], by_status.get(status, 0)) for status in STATUSES]

    def customers_totals(
        self, period: str | None, date_min: str | None, date_max: str | None
    ) -> list[tuple[str, str, int]]:
        """Count customers registered in a range, with and without a paid order."""
        self.authorise("view")
        wanted = self.report_range(period, date_min, date_max, today=False)
        of_range = (Customer.role == "customer") & wanted.holds(Customer.date_created)
        paying = Customer.id.in_(select(Order.customer_id).where(Order.status.in_(PAID)))
        payers = self.count(Customer, of_range, paying)
        everybody = self.count(Customer, of_range)
        return [
            ("paying", "Paying customer", payers),
            ("non_paying", "Non-paying customer", everybody - payers),
        ]

    # -- stock ------------------------------------------------------------------------------------------

    def stock_report(
        self, *, page: int | None, per_page: int | None, low_only: bool
    ) -> tuple[list[Row], int]:
        """One page of products and variations by stock, the scarcest first; with ``low_only`` the low ones.

        Stock is low at or below the product's own ``low_stock_amount``, or the shop's threshold without one.
        """
        self.authorise("view")
        page, per_page = window(page, per_page)
        threshold = int(self.setting("woocommerce_notify_low_stock_amount"))
        limit = func.coalesce(Product.low_stock_amount, threshold)
        low = Product.manage_stock & (Product.stock_quantity <= limit)
        conditions = [Product.status.in_(("publish", "private")), Product.type != "grouped"]
        if low_only:
            conditions.append(low)
        rank = case(
            (Product.stock_status == "outofstock", 0),
            (low, 1),
            (Product.stock_status == "onbackorder", 2),
            else_=3,
        )
        quantity = cast(func.coalesce(Product.stock_quantity, 2**31), Integer)
        statement = (
            select(*_STOCK, limit.label("threshold"), low.label("low"))
            .where(*conditions)
            .order_by(rank, quantity, Product.id)
            .limit(per_page)
            .offset((page - 1) * per_page)
        )
        rows = self.fetch(statement)
        last = {row["id"]: row["last"] for row in self.fetch(_LAST_ORDERS, ids=[row["id"] for row in rows])}
        records = [dict(row) | {"last_order_date": last.get(row["id"])} for row in rows]
        return records, self.count(Product, *conditions)


_SALES = ("sales", "orders", "items", "tax", "shipping", "discount", "refunds", "customers")
_STOCK = (
    Product.id,
    Product.parent_id,
    Product.type,
    Product.name,
    Product.sku,
    Product.manage_stock,
    Product.stock_quantity,
    Product.stock_status,
    Product.low_stock_amount,
)
_LAST_ORDERS = (
    select(Product.id, func.max(Order.date_created).label("last"))
    .join(LineItem, or_(LineItem.product_id == Product.id, LineItem.variation_id == Product.id))
    .join(Order, Order.id == LineItem.order_id)
    .where(Product.id.in_(bindparam("ids", expanding=True)), Order.status.in_((*SOLD, "refunded")))
    .group_by(Product.id)
)


def _sales_statements(wanted: Range, length: int) -> list[Any]:
    """Sums over orders, their lines, refunds and new customers, by day or month (``length`` of the name)."""
    ordered = func.substr(Order.date_created, 1, length)
    kept = Order.status != "refunded"
    counted = Order.status.in_((*SOLD, "refunded")) & wanted.holds(Order.date_created)
    given_back = func.substr(Refund.date_created, 1, length)
    refunded = Order.status.in_((*SOLD, "refunded")) & wanted.holds(Refund.date_created)
    joined = func.substr(Customer.date_created, 1, length)
    return [
        select(
            ordered.label("name"),
            func.sum(Order.total).label("sales"),
            func.count().filter(kept).label("orders"),
            func.sum(Order.total_tax).filter(kept).label("tax"),
            func.sum(Order.shipping_total).filter(kept).label("shipping"),
            func.sum(Order.discount_total).filter(kept).label("discount"),
        )
        .where(counted)
        .group_by(ordered),
        select(ordered.label("name"), func.sum(LineItem.quantity).label("items"))
        .join(LineItem, LineItem.order_id == Order.id)
        .where(counted, kept)
        .group_by(ordered),
        select(
            given_back.label("name"),
            (-func.sum(Refund.amount)).label("sales"),
            func.sum(Refund.amount).label("refunds"),
        )
        .join(Order, Order.id == Refund.order_id)
        .where(refunded)
        .group_by(given_back),
        select(
            given_back.label("name"),
            (-func.sum(RefundItem.quantity)).label("items"),
            (-func.sum(RefundItem.total_tax)).label("tax"),
        )
        .join(Refund, Refund.id == RefundItem.refund_id)
        .join(Order, Order.id == Refund.order_id)
        .where(refunded, kept)
        .group_by(given_back),
        select(joined.label("name"), func.count().label("customers"))
        .where(Customer.role == "customer", wanted.holds(Customer.date_created))
        .group_by(joined),
    ]


def _intervals(wanted: Range, monthly: bool) -> list[str]:
    """The names of all days, or months, of a range."""
    current: datetime = moment(wanted.start).replace(hour=0, minute=0, second=0)
    step: Any = timedelta(days=1)
    if monthly:
        current, step = current.replace(day=1), relativedelta(months=1)
    names = []
    while timestamp(current) < wanted.end:
        names.append(timestamp(current)[: 7 if monthly else 10])
        current += step
    return names


def _end_of(date_max: str) -> str:
    """The first moment after a last day, or after a last second."""
    last = moment(date(date_max, "date_max"))
    return timestamp(last + (timedelta(days=1) if is_whole_day(date_max) else timedelta(seconds=1)))


def _divided(amount: int, by: int) -> int:
    return int((2 * abs(amount) + by) // (2 * by)) * (-1 if amount < 0 else 1)
