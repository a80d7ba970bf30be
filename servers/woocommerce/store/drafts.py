"""Orders on their way into the tables: what may be written of them, and how they add up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mesocosm.servers.woocommerce.models.customers import billing_address, shipping_address
from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter
from mesocosm.servers.woocommerce.store.discounts import Item, discounts
from mesocosm.servers.woocommerce.store.orders import STATUSES
from mesocosm.servers.woocommerce.store.shop import Record, Row
from mesocosm.servers.woocommerce.store.taxes import AppliedRate, applied_rates, tax_on
from mesocosm.servers.woocommerce.values import (
    MAX_CENTS,
    amount,
    boolean,
    choice,
    date,
    fields,
    identifier,
    line,
    listed,
    meta_data,
    optional,
    optional_date,
    positive_amount,
    text,
    title,
    whole,
)
from mesocosm.services.values import Check, Checks

MAX_QUANTITY = 1_000_000
MAX_LINES = 500


def _currency(value: Any, name: str) -> str:
    found = line(value, name)
    if not re.fullmatch("[A-Z]{3}", found, re.ASCII):
        raise invalid_parameter(name, f"{name} must be a currency code such as USD.")
    return found


_LINE_CHECKS: Checks = {
    "id": identifier,
    "name": line,
    "product_id": optional(identifier),
    "variation_id": optional(identifier),
    "sku": optional(line),
    "quantity": whole(0, MAX_QUANTITY),
    "tax_class": line,
    "subtotal": positive_amount,
    "total": positive_amount,
    "meta_data": meta_data,
}
_line_item: Check = fields(
    _LINE_CHECKS, ["subtotal_tax", "total_tax", "taxes", "price", "image", "parent_name"]
)
_past_line_item: Check = fields({**_LINE_CHECKS, "price": positive_amount})
_shipping_line: Check = fields(
    {
        "id": identifier,
        "method_id": optional(line),
        "method_title": line,
        "instance_id": line,
        "total": positive_amount,
    },
    ("total_tax", "taxes", "meta_data", "tax_status"),
)
_fee_line: Check = fields(
    {
        "id": identifier,
        "name": optional(line),
        "tax_class": line,
        "tax_status": choice("taxable", "none"),
        "total": amount,
    },
    ("amount", "total_tax", "taxes", "meta_data"),
)
_coupon_fields: Check = fields(
    {"code": title},
    ["id", "discount", "discount_tax", "meta_data", "discount_type", "nominal_amount", "free_shipping"],
)


def _coupon_line(value: Any, name: str) -> Row:
    found: Row = _coupon_fields(value, name)
    if "code" not in found:
        raise invalid("woocommerce_rest_invalid_coupon", "Coupon code is required.")
    return found


ORDER_CHECKS: Checks = {
    "status": choice(*STATUSES),
    "currency": _currency,
    "customer_id": identifier,
    "customer_note": text,
    "billing": billing_address,
    "shipping": shipping_address,
    "payment_method": line,
    "payment_method_title": line,
    "transaction_id": line,
    "parent_id": identifier,
    "set_paid": boolean,
    "line_items": listed(_line_item, MAX_LINES),
    "shipping_lines": listed(_shipping_line, MAX_LINES),
    "fee_lines": listed(_fee_line, MAX_LINES),
    "coupon_lines": listed(_coupon_line, 50),
    "meta_data": meta_data,
}
PAST_ORDER_CHECKS: Checks = {
    **{key: check for key, check in ORDER_CHECKS.items() if key != "set_paid"},
    "line_items": listed(_past_line_item, MAX_LINES),
    "created_via": line,
    "date_created": date,
    "date_modified": date,
    "date_paid": optional_date,
    "date_completed": optional_date,
}
READ_ONLY = frozenset(
    [
        "id",
        "number",
        "order_key",
        "created_via",
        "version",
        "currency_symbol",
        "date_created",
        "date_created_gmt",
        "date_modified",
        "date_modified_gmt",
        "discount_total",
        "discount_tax",
        "shipping_total",
        "shipping_tax",
        "cart_tax",
        "total",
        "total_tax",
        "prices_include_tax",
        "customer_ip_address",
        "customer_user_agent",
        "date_paid",
        "date_paid_gmt",
        "date_completed",
        "date_completed_gmt",
        "cart_hash",
        "tax_lines",
        "refunds",
        "payment_url",
        "is_editable",
        "needs_payment",
        "needs_processing",
        "_links",
    ]
)
ORDER_COLUMNS = [
    "status",
    "currency",
    "customer_id",
    "customer_note",
    "billing",
    "shipping",
    "payment_method",
    "payment_method_title",
    "transaction_id",
    "parent_id",
]


@dataclass(frozen=True)
class Sold:
    """Data of a product that a line needs."""

    taxable: bool = True
    on_sale: bool = False
    categories: Sequence[int] = ()


@dataclass
class Draft:
    """An order with its lines, as rows in the making."""

    order: Row
    lines: list[Row]
    shipping: list[Row]
    fees: list[Row]
    coupons: list[Record]
    """The coupons, in the order in which they were named."""
    sold: dict[int, Sold]
    """By product id or variation id."""
    coupon_lines: list[Row] = field(default_factory=list)
    tax_lines: list[Row] = field(default_factory=list)

    def items(self) -> list[Item]:
        """The lines as coupons see them."""
        found = []
        for row in self.lines:
            sold = self.sold_of(row)
            ids = tuple(i for i in (row["product_id"], row["variation_id"]) if i)
            left = row["subtotal"]
            found.append(Item(ids, sold.categories, sold.on_sale, row["quantity"] or 1, left, left))
        return found

    def sold_of(self, row: Row) -> Sold:
        """Return the data of a line's product. A deleted product counts as taxable."""
        return self.sold.get(row["variation_id"] or row["product_id"], Sold())


@dataclass(frozen=True)
class TaxTable:
    """The rates that apply at one place; none where the shop does not calculate taxes."""

    rates: Sequence[Record]
    location: tuple[str, str]
    _applied: dict[str, list[AppliedRate]] = field(default_factory=dict)

    def of(self, tax_class: str) -> list[AppliedRate]:
        if tax_class not in self._applied:
            self._applied[tax_class] = applied_rates(self.rates, tax_class, self.location)
        return self._applied[tax_class]


def add_up(draft: Draft, table: TaxTable) -> None:
    """Work out discounts, taxes and totals of an order, from the subtotals (or totals) of its lines."""
    _apply_coupons(draft, table)
    cart: dict[int, int] = {}
    for row in draft.lines:
        rates = table.of(row["tax_class"]) if draft.sold_of(row).taxable else []
        on_total, on_subtotal = tax_on(row["total"], rates), tax_on(row["subtotal"], rates)
        row["taxes"] = [[rate.id, on_total[rate.id], on_subtotal[rate.id]] for rate in rates]
        row["total_tax"], row["subtotal_tax"] = sum(on_total.values()), sum(on_subtotal.values())
        _sum_into(cart, on_total)
    for row in draft.fees:
        rates = table.of(row["tax_class"]) if row["tax_status"] == "taxable" else []
        _tax_row(row, rates, cart)
    shipping: dict[int, int] = {}
    for row in draft.shipping:
        _tax_row(row, [rate for rate in table.of("") if rate.shipping], shipping)
    _write_totals(draft)
    draft.tax_lines = _tax_lines(table, cart, shipping)


def _apply_coupons(draft: Draft, table: TaxTable) -> None:
    draft.coupon_lines = []
    if not draft.coupons:
        return
    items = draft.items()
    # Discounts on the whole cart come last, as the product applies them.
    for coupon in sorted(draft.coupons, key=lambda coupon: coupon["discount_type"] == "fixed_cart"):
        taken = discounts(coupon, items)
        tax = sum(
            sum(tax_on(part, table.of(row["tax_class"])).values())
            for part, row in zip(taken, draft.lines, strict=True)
            if part and draft.sold_of(row).taxable
        )
        draft.coupon_lines.append(
            {
                "code": coupon["code"],
                "discount": sum(taken),
                "discount_tax": tax,
                "discount_type": coupon["discount_type"],
                "nominal_amount": coupon["amount"],
                "free_shipping": coupon["free_shipping"],
            }
        )
    for row, item in zip(draft.lines, items, strict=True):
        row["total"] = item.left


def _tax_row(row: Row, rates: Sequence[AppliedRate], sums: dict[int, int]) -> None:
    taxes = tax_on(row["total"], rates)
    row["taxes"] = [[rate.id, taxes[rate.id]] for rate in rates]
    row["total_tax"] = sum(taxes.values())
    _sum_into(sums, taxes)


def _sum_into(sums: dict[int, int], taxes: Mapping[int, int]) -> None:
    for rate, tax in taxes.items():
        sums[rate] = sums.get(rate, 0) + tax


def _write_totals(draft: Draft) -> None:
    lines, order = draft.lines, draft.order
    line_total = sum(row["total"] for row in lines)
    cart_tax = sum(row["total_tax"] for row in (*lines, *draft.fees))
    order["discount_total"] = sum(row["subtotal"] for row in lines) - line_total
    order["discount_tax"] = sum(row["subtotal_tax"] - row["total_tax"] for row in lines)
    order["shipping_total"] = sum(row["total"] for row in draft.shipping)
    order["shipping_tax"] = sum(row["total_tax"] for row in draft.shipping)
    order["cart_tax"] = cart_tax
    order["total_tax"] = cart_tax + order["shipping_tax"]
    fees = sum(row["total"] for row in draft.fees)
    order["total"] = max(0, line_total + fees + order["shipping_total"] + order["total_tax"])
    amounts = [order[f"{name}_total"] for name in ("discount", "shipping")] + [fees, cart_tax, order["total"]]
    amounts += [row["subtotal"] for row in lines] + [row["total_tax"] for row in (*lines, *draft.shipping)]
    if any(abs(amount) > MAX_CENTS for amount in amounts):
        raise invalid_parameter("line_items", "The order's total is too large.")


def _tax_lines(table: TaxTable, cart: Mapping[int, int], shipping: Mapping[int, int]) -> list[Row]:
    known = {rate.id: rate for rates in table._applied.values() for rate in rates}
    return [
        {
            "rate_code": known[rate].code,
            "rate_id": rate,
            "label": known[rate].label,
            "compound": known[rate].compound,
            "tax_total": cart.get(rate, 0),
            "shipping_tax_total": shipping.get(rate, 0),
            "rate_percent": known[rate].percent,
        }
        for rate in sorted({*cart, *shipping})
    ]


def line_subtotal(unit: int, quantity: int) -> int:
    """Compute the price of some pieces, within the shop's range of numbers."""
    if unit * quantity > MAX_CENTS:
        raise invalid_parameter("line_items", "The order's total is too large.")
    return unit * quantity
