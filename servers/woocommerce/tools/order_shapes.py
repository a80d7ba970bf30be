"""Orders, notes and refunds as clients of the REST API see them."""

from __future__ import annotations

import hashlib
from decimal import Decimal

from mesocosm.servers.woocommerce.store import money
from mesocosm.servers.woocommerce.tools.shapes import VERSION, Record, dates
from mesocosm.services.schema import Json
from mesocosm.services.service import same

_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "¥", "INR": "₹", "CAD": "$", "AUD": "$"}


def order(record: Record) -> Json:
    """An order with all its lines."""
    return {
        "id": record["id"],
        "parent_id": record["parent_id"],
        "number": str(record["id"]),
        "order_key": order_key(record),
        "created_via": record["created_via"],
        "version": VERSION,
        "status": record["status"],
        "currency": record["currency"],
        "currency_symbol": _SYMBOLS.get(record["currency"], record["currency"]),
        **dates(record, "date_created", "date_modified"),
        **{name: money(record[name]) for name in _TOTALS},
        **same(record, "prices_include_tax", "customer_id", "customer_note", "billing", "shipping"),
        **same(record, "payment_method", "payment_method_title", "transaction_id"),
        **dates(record, "date_paid", "date_completed"),
        "is_editable": record["status"] in ("pending", "on-hold"),
        "needs_payment": record["status"] in ("pending", "failed") and record["total"] > 0,
        "needs_processing": any(not (i["virtual"] and i["downloadable"]) for i in record["line_items"]),
        "meta_data": record["meta_data"],
        "line_items": [line_item(item) for item in record["line_items"]],
        "tax_lines": [_tax_line(item) for item in record["tax_lines"]],
        "shipping_lines": [_shipping_line(item) for item in record["shipping_lines"]],
        "fee_lines": [_fee_line(item) for item in record["fee_lines"]],
        "coupon_lines": [_coupon_line(item) for item in record["coupon_lines"]],
        "refunds": [
            {"id": item["id"], "reason": item["reason"], "total": money(-item["amount"])}
            for item in record["refunds"]
        ],
    }


_TOTALS = (
    "discount_total",
    "discount_tax",
    "shipping_total",
    "shipping_tax",
    "cart_tax",
    "total",
    "total_tax",
)


def order_key(record: Record) -> str:
    """What a guest's link to an order contains."""
    digest = hashlib.sha256(f"order:{record['id']}:{record['date_created']}".encode()).hexdigest()
    return f"wc_order_{digest[:13]}"


def line_item(record: Record) -> Json:
    """Some pieces of a product in an order."""
    price = Decimal(record["total"]) / 100 / (record["quantity"] or 1)
    return {
        **same(record, "id", "name", "product_id", "variation_id", "quantity", "tax_class"),
        "subtotal": money(record["subtotal"]),
        "subtotal_tax": money(record["subtotal_tax"]),
        "total": money(record["total"]),
        "total_tax": money(record["total_tax"]),
        "taxes": [
            {"id": rate, "total": money(total), "subtotal": money(subtotal)}
            for rate, total, subtotal in record["taxes"]
        ],
        "meta_data": record["meta_data"],
        "sku": record["sku"],
        "price": float(price),
        "image": {"id": record["image_id"] or 0, "src": record["image_src"] or ""},
        "parent_name": record["parent_name"],
    }


def _taxes(record: Record) -> list[Json]:
    return [{"id": rate, "total": money(total)} for rate, total in record["taxes"]]


def _shipping_line(record: Record) -> Json:
    return {
        **same(record, "id", "method_title", "method_id", "instance_id"),
        "total": money(record["total"]),
        "total_tax": money(record["total_tax"]),
        "taxes": _taxes(record),
        "meta_data": [],
    }


def _fee_line(record: Record) -> Json:
    return {
        **same(record, "id", "name", "tax_class", "tax_status"),
        "amount": money(record["total"]),
        "total": money(record["total"]),
        "total_tax": money(record["total_tax"]),
        "taxes": _taxes(record),
        "meta_data": [],
    }


def _coupon_line(record: Record) -> Json:
    return {
        "id": record["id"],
        "code": record["code"],
        "discount": money(record["discount"]),
        "discount_tax": money(record["discount_tax"]),
        "meta_data": [],
        "discount_type": record["discount_type"],
        "nominal_amount": float(record["nominal_amount"]),
        "free_shipping": record["free_shipping"],
    }


def _tax_line(record: Record) -> Json:
    return {
        **same(record, "id", "rate_code", "rate_id", "label", "compound"),
        "tax_total": money(record["tax_total"]),
        "shipping_tax_total": money(record["shipping_tax_total"]),
        "rate_percent": float(record["rate_percent"]),
        "meta_data": [],
    }


def note(record: Record) -> Json:
    """A note on an order."""
    return {
        "id": record["id"],
        "author": record["author"],
        **dates(record, "date_created"),
        "note": record["note"],
        "customer_note": record["customer_note"],
    }


def refund(record: Record) -> Json:
    """A refund of an order; amounts and pieces of lines are negative, as the product has them."""
    return {
        "id": record["id"],
        "parent_id": record["order_id"],
        **dates(record, "date_created"),
        "amount": money(record["amount"]),
        **same(record, "reason", "refunded_by", "refunded_payment"),
        "meta_data": [],
        "line_items": [_refund_item(item) for item in record["line_items"]],
        "shipping_lines": [],
        "tax_lines": [],
        "fee_lines": [],
    }


def _refund_item(record: Record) -> Json:
    line = record["line"]
    return {
        "id": record["id"],
        **same(line, "name", "product_id", "variation_id"),
        "quantity": -record["quantity"],
        "tax_class": line["tax_class"],
        "total": money(-record["total"]),
        "total_tax": money(-record["total_tax"]),
        "taxes": [{"id": rate, "total": money(-total)} for rate, total in record["taxes"]],
        "meta_data": [{"key": "_refunded_item_id", "value": record["line_item_id"]}],
    }
