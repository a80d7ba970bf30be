"""Bulk methods for generators: a shop with a past, under the same rules as one that is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from sqlalchemy import bindparam, func, select

from mesocosm.servers.woocommerce.models import (
    Coupon,
    CouponLine,
    CouponUse,
    FeeLine,
    LineItem,
    Order,
    Product,
    Refund,
    ShippingLine,
    TaxLine,
)
from mesocosm.servers.woocommerce.models.customers import EMPTY_BILLING, EMPTY_SHIPPING
from mesocosm.servers.woocommerce.models.defaults import ADMINISTRATOR_ID
from mesocosm.servers.woocommerce.refusals import invalid
from mesocosm.servers.woocommerce.store.customers import PAID
from mesocosm.servers.woocommerce.store.discounts import check_together, check_usable, refuse
from mesocosm.servers.woocommerce.store.drafts import (
    ORDER_COLUMNS,
    PAST_ORDER_CHECKS,
    Draft,
    Sold,
    TaxTable,
    add_up,
)
from mesocosm.servers.woocommerce.store.lifecycle import TAKES_STOCK, buyer
from mesocosm.servers.woocommerce.store.order_changes import named_product
from mesocosm.servers.woocommerce.store.product_data import stock_status
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.values import (
    checked,
)
from mesocosm.services.resources import blank

_CHUNK = 10_000
_HAD_STOCK = (*TAKES_STOCK, "refunded")


_USES = (
    select(CouponUse.used_by, func.count().label("uses"))
    .where(CouponUse.coupon_id == bindparam("coupon"))
    .group_by(CouponUse.used_by)
)


class NewLineItem(TypedDict, total=False):
    """A line of a ``NewOrder``. ``price`` is that of one piece then; without it, the present price."""

    product_id: int
    variation_id: int
    sku: str
    quantity: int
    price: str
    subtotal: str
    total: str
    name: str


class NewOrder(TypedDict, total=False):
    """An order for ``add_orders``: what ``woo_orders_create`` takes, and its history."""

    status: str
    customer_id: int
    billing: dict[str, str]
    shipping: dict[str, str]
    currency: str
    payment_method: str
    payment_method_title: str
    transaction_id: str
    customer_note: str
    line_items: list[NewLineItem]
    shipping_lines: list[dict[str, Any]]
    fee_lines: list[dict[str, Any]]
    coupon_lines: list[dict[str, str]]
    meta_data: list[dict[str, Any]]
    created_via: str
    date_created: str
    date_modified: str
    date_paid: str | None
    date_completed: str | None


@dataclass
class _Past:
    """Orders on their way into the tables, and what they need to know of the shop."""

    next_id: int
    currency: str
    include_tax: bool
    taxed: bool
    products: Mapping[int, Record]
    sold: dict[int, Sold]
    customers: Mapping[int, Record]
    rates: Sequence[Record]
    tables: dict[tuple[str, str], TaxTable] = field(default_factory=dict)
    coupons: dict[str, Row] = field(default_factory=dict)
    uses: dict[tuple[int, str], int] = field(default_factory=dict)
    rows: dict[type[Any], list[Row]] = field(
        default_factory=lambda: {
            kind: []
            for kind in (
                Order,
                LineItem,
                ShippingLine,
                FeeLine,
                CouponLine,
                TaxLine,
                Refund,
                CouponUse,
            )
        }
    )
    meta: dict[int, list[Row]] = field(default_factory=dict)
    sales: dict[int, int] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)


class Filling(StorePart):
    """Bulk methods for generators."""

    def add_orders(
        self, orders: Iterable[NewOrder], *, reduce_stock: bool = False, numbered: bool = False
    ) -> list[int]:
        """Many orders at once, with their dates, lines and totals; returns their ids.

        Totals, discounts and taxes are computed as for an order made by a tool. A customer's addresses are
        used where the order brings none. Paid orders count among the sales of their products and as uses of
        their coupons; one that is ``refunded`` gets the refund. Stock is taken only with ``reduce_stock``:
        without it, the products' stock is taken to be what these orders have left. With ``numbered``, those
        of a new shop have numbers as after years of other orders, which are no longer kept; else from 1 on.
        """
        found = [checked(order, PAST_ORDER_CHECKS) for order in orders]
        past = self._past(found)
        if numbered and past.next_id == 1:
            past.next_id = self.world.stream("first order").randrange(12_000, 58_000)
        ids = [self._place_order(past, values) for values in found]
        for kind, rows in past.rows.items():
            self.add(kind, rows)
        self.add_meta("order", past.meta)
        self.store.stock.count_sales(past.sales)
        counts = [{"b_id": c["id"], "b_count": c["usage_count"]} for c in past.coupons.values()]
        self.change_many(Coupon, {"usage_count": bindparam("b_count")}, counts)
        if reduce_stock:
            self._take_all(past)
        return ids

    def _past(self, orders: Sequence[Row]) -> _Past:
        lines = [line for order in orders for line in order.get("line_items", [])]
        wanted = {line.get(key) for line in lines for key in ("product_id", "variation_id")}
        products: dict[int, Record] = {}
        for chunk in _chunks(sorted(product for product in wanted if product)):
            products |= self.store.products.product_rows(chunk)
        parents = {product["parent_id"] for product in products.values()} - {0}
        products |= self.store.products.product_rows(sorted(parents))
        customers: dict[int, Record] = {}
        for chunk in _chunks(sorted({order.get("customer_id", 0) for order in orders} - {0})):
            customers |= self.store.customers.customer_rows(chunk)
        return _Past(
            next_id=self.next_id(Order),
            currency=self.setting("woocommerce_currency"),
            include_tax=self.setting("woocommerce_prices_include_tax") == "yes",
            taxed=self.setting("woocommerce_calc_taxes") == "yes",
            products=products,
            sold=self.store.pricing.sold(products),
            customers=customers,
            rates=self.store.taxes.all_tax_rates(),
        )

    def _place_order(self, past: _Past, values: Row) -> int:
        order = self._past_order(past, values)
        table = TaxTable((), ("", ""))
        if past.taxed:
            place = self.store.taxes.tax_location(order["billing"], order["shipping"])
            table = past.tables.setdefault(place, TaxTable(past.rates, place))
        draft = Draft(
            order,
            [self._past_line(past, order, entry, table) for entry in values.get("line_items", [])],
            [blank(ShippingLine) | _filled(entry) for entry in values.get("shipping_lines", [])],
            [blank(FeeLine) | _filled(entry) for entry in values.get("fee_lines", [])],
            [],
            past.sold,
        )
        codes = [coupon["code"].lower() for coupon in values.get("coupon_lines", [])]
        draft.coupons = [self._past_coupon(past, draft, code) for code in codes]
        check_together(draft.coupons)
        add_up(draft, table)
        self._place_rows(past, draft)
        if values.get("meta_data"):
            past.meta[order["id"]] = values["meta_data"]
        return int(order["id"])

    def _past_order(self, past: _Past, values: Row) -> Row:
        customer_id = values.get("customer_id", 0)
        if customer_id and customer_id not in past.customers:
            raise invalid("woocommerce_rest_invalid_customer_id", "Customer ID is invalid.")
        customer: Any = past.customers.get(customer_id) or {"billing": {}, "shipping": {}}
        status, created = values.get("status", "pending"), values.get("date_created", self.today)
        row = blank(Order) | {
            "id": past.next_id + len(past.rows[Order]),
            "status": status,
            "currency": past.currency,
            "prices_include_tax": past.include_tax,
            "created_via": values.get("created_via", "checkout"),
            "date_created": created,
            "date_modified": values.get("date_modified") or values.get("date_completed") or created,
            "date_paid": values.get("date_paid", created if status in (*PAID, "refunded") else None),
            "date_completed": values.get("date_completed", created if status == "completed" else None),
            "stock_reduced": status in _HAD_STOCK,
            "sales_recorded": status in _HAD_STOCK,
            "coupons_counted": status != "cancelled",
        }
        row |= {key: values[key] for key in ORDER_COLUMNS if key in values}
        row["billing"] = EMPTY_BILLING | (values.get("billing") or customer["billing"])
        row["shipping"] = EMPTY_SHIPPING | (values.get("shipping") or customer["shipping"])
        return row

    def _past_line(self, past: _Past, order: Row, entry: Row, table: TaxTable) -> Row:
        if entry.get("sku") and not entry.get("product_id"):
            raise invalid("woocommerce_rest_required_product_reference", "Name past products by their ID.")
        product = named_product(past.products, entry, "line_items")
        row = self.store.ordering.line_of(product, entry, order, table)
        row |= {key: entry[key] for key in ("name", "tax_class", "subtotal", "total") if key in entry}
        row["subtotal"] = max(row["subtotal"], row["total"])
        row["order_id"] = order["id"]
        holder = product
        if product["parent_id"] and not product["manage_stock"]:
            holder = past.products[product["parent_id"]]
        if order["stock_reduced"] and holder["manage_stock"]:
            row["reduced_stock"] = row["quantity"]
            past.taken[holder["id"]] = past.taken.get(holder["id"], 0) + row["quantity"]
        if order["sales_recorded"]:
            past.sales[row["product_id"]] = past.sales.get(row["product_id"], 0) + row["quantity"]
        return row

    def _past_coupon(self, past: _Past, draft: Draft, code: str) -> Row:
        if code not in past.coupons:
            found = self.store.coupons.coupon_by_code(code)
            if found is None or found["status"] != "publish":
                raise refuse(f'Coupon "{code}" does not exist!')
            past.coupons[code] = dict(found)
            for row in self.fetch(_USES, coupon=found["id"]):
                past.uses[found["id"], row["used_by"]] = row["uses"]
        coupon, used_by = past.coupons[code], buyer(draft.order)
        check_usable(
            coupon,
            draft.items(),
            now=draft.order["date_created"],
            used=coupon["usage_count"],
            used_by_buyer=past.uses.get((coupon["id"], used_by), 0) if used_by else 0,
            email=draft.order["billing"].get("email", ""),
        )
        if draft.order["coupons_counted"]:
            coupon["usage_count"] += 1
            past.uses[coupon["id"], used_by] = past.uses.get((coupon["id"], used_by), 0) + 1
            use = {"coupon_id": coupon["id"], "order_id": draft.order["id"], "used_by": used_by}
            past.rows[CouponUse].append(use)
        return coupon

    def _place_rows(self, past: _Past, draft: Draft) -> None:
        order = draft.order
        past.rows[Order].append(order)
        for kind, rows in (
            (LineItem, draft.lines),
            (ShippingLine, draft.shipping),
            (FeeLine, draft.fees),
            (CouponLine, draft.coupon_lines),
            (TaxLine, draft.tax_lines),
        ):
            past.rows[kind] += [{**row, "order_id": order["id"]} for row in rows]
        if order["status"] == "refunded" and order["total"]:
            past.rows[Refund].append(
                {
                    "order_id": order["id"],
                    "date_created": order["date_modified"],
                    "amount": order["total"],
                    "reason": "Order fully refunded.",
                    "refunded_by": ADMINISTRATOR_ID,
                    "refunded_payment": False,
                }
            )

    def _take_all(self, past: _Past) -> None:
        rules = self.store.catalogue.stock_rules
        rows = []
        parents = set()
        for product_id, pieces in past.taken.items():
            product = past.products[product_id]
            left = product["stock_quantity"] - pieces
            status = stock_status(left, product["backorders"], rules.out_of_stock_at)
            rows.append({"b_id": product_id, "b_left": left, "b_status": status})
            parents |= {product["parent_id"]} - {0}
        changed: Row = {"stock_quantity": bindparam("b_left"), "stock_status": bindparam("b_status")}
        self.change_many(Product, changed, rows)
        for parent in sorted(parents):
            self.store.catalogue.sync_parent(parent)


def _filled(entry: Row) -> Row:
    """Return a shipping line or fee without empty values, which get defaults."""
    return {key: value for key, value in entry.items() if key != "id" and value is not None}


def _chunks(ids: Sequence[int]) -> list[Sequence[int]]:
    return [ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK)]
