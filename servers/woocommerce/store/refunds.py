"""Refunds: never more than was paid; lines that come back return to stock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from sqlalchemy import bindparam, func, select, update

from mesocosm.servers.woocommerce.models import Order, PaymentGateway, Refund, RefundItem
from mesocosm.servers.woocommerce.models.defaults import ADMINISTRATOR_ID
from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.values import (
    amount,
    checked,
    date,
    fields,
    identifier,
    line,
    listed,
    money,
    positive_amount,
    whole,
)
from mesocosm.services.values import Check, Checks

_tax: Check = fields({"id": identifier, "refund_total": positive_amount})
_items: Check = listed(
    fields(
        {
            "id": identifier,
            "quantity": whole(0, 1_000_000),
            "refund_total": positive_amount,
            "refund_tax": listed(_tax),
        }
    ),
    500,
)
_REFUNDED = select(func.coalesce(func.sum(Refund.amount), 0).label("amount")).where(
    Refund.order_id == bindparam("order")
)
_ITEMS_REFUNDED = (
    select(
        RefundItem.line_item_id,
        func.sum(RefundItem.quantity).label("quantity"),
        func.sum(RefundItem.total + RefundItem.total_tax).label("amount"),
    )
    .join(Refund, Refund.id == RefundItem.refund_id)
    .where(Refund.order_id == bindparam("order"))
    .group_by(RefundItem.line_item_id)
)
_REFUND = select(Refund.__table__).where(Refund.id == bindparam("id"))
_GATEWAY = select(PaymentGateway.supports, PaymentGateway.method_title).where(
    PaymentGateway.id == bindparam("id")
)

_REFUND_CHECKS: Checks = {
    "order_id": identifier,
    "amount": amount,
    "reason": line,
    "date_created": date,
}


class NewRefund(TypedDict, total=False):
    """A refund for ``add_refunds``; ``line_items`` is not offered for the past."""

    order_id: int
    amount: str
    reason: str
    date_created: str


def _refuse(text: str) -> Exception:
    return invalid("woocommerce_rest_cannot_create_order_refund", text)


class Refunds(StorePart):
    """Refunds. A record of one is its row with ``line_items``."""

    def create_refund(
        self,
        order_id: int,
        *,
        amount_given: str | None = None,
        reason: str = "",
        pay_back: bool = False,
        items: Sequence[Any] = (),
        restock: bool = True,
    ) -> Row:
        """Refund an order, or some of its lines; with ``pay_back`` through its payment gateway.

        Without an amount it is what the lines add up to. An order that is refunded in full becomes refunded.
        """
        actor = self.authorise("create")
        order = self.store.orders.order_row(order_id)
        rows = self._refund_rows(order_id, _items(list(items), "line_items"))
        of_items = sum(row["total"] + row["total_tax"] for row in rows)
        wanted = of_items if amount_given is None else amount(amount_given, "amount")
        if wanted <= 0:
            raise invalid("woocommerce_rest_invalid_order_refund", "Refund amount must be greater than zero.")
        if wanted < of_items:
            raise _refuse(f"Invalid refund amount: the lines add up to {money(of_items)}.")
        if pay_back:
            self._check_gateway(order["payment_method"])
        refund_id = self.book_refund(
            order, wanted, line(reason, "reason"), rows, by=actor["id"], paid=pay_back
        )
        if restock:
            self._restock(order_id, rows)
        if self.refundable(order) == 0:
            self.store.lifecycle.change_status(order_id, "refunded")
        return self.refund_record(refund_id)

    def refund_record(self, refund_id: int) -> Row:
        """A refund with its lines."""
        items = [
            {**item, "line": self._line(item["line_item_id"])}
            for item in self.store.orders.refund_items([refund_id])
        ]
        return {**self.fetch(_REFUND, id=refund_id)[0], "line_items": items}

    def _line(self, line_id: int) -> Record:
        from_table = RefundItem.metadata.tables["line_items"]
        return self.fetch(select(from_table).where(from_table.c.id == line_id))[0]

    def refundable(self, order: Record) -> int:
        """Return the amount of an order that can still be refunded, in cents."""
        return int(order["total"] - self.fetch(_REFUNDED, order=order["id"])[0]["amount"])

    def refund_what_is_left(self, order_id: int) -> None:
        """Book the refund of an order that was set to refunded by hand; its lines stay sold."""
        order = self.store.orders.order_row(order_id)
        left = self.refundable(order)
        if left > 0:
            self.book_refund(order, left, "Order fully refunded.", [], by=self.actor["id"])

    def book_refund(
        self,
        order: Record,
        wanted: int,
        reason: str,
        rows: Sequence[Row],
        *,
        by: int = ADMINISTRATOR_ID,
        paid: bool = False,
        date_created: str | None = None,
    ) -> int:
        """Write a refund, if so much can still be refunded."""
        left = self.refundable(order)
        if wanted > left:
            raise _refuse(f"Invalid refund amount. {money(left)} of this order can still be refunded.")
        refund_id = self.insert_one(
            Refund,
            {
                "order_id": order["id"],
                "date_created": date_created or self.today,
                "amount": wanted,
                "reason": reason,
                "refunded_by": by,
                "refunded_payment": paid,
            },
        )
        self.add(RefundItem, [{**row, "refund_id": refund_id} for row in rows])
        return refund_id

    def add_refunds(self, refunds: Iterable[NewRefund]) -> list[int]:
        """Refunds of money (not of lines) in the past; an order refunded in full becomes refunded."""
        ids = []
        for entry in refunds:
            values = checked(entry, _REFUND_CHECKS)
            order = self.store.orders.order_row(values.get("order_id", 0))
            when = values.get("date_created", self.today)
            if values.get("amount", 0) <= 0:
                raise invalid(
                    "woocommerce_rest_invalid_order_refund", "Refund amount must be greater than zero."
                )
            reason = values.get("reason", "")
            ids.append(self.book_refund(order, values["amount"], reason, [], date_created=when))
            if self.refundable(order) == 0:
                changed: Row = {"status": "refunded", "date_modified": when}
                self.run(update(Order).where(Order.id == order["id"]).values(changed))
        return ids

    def _refund_rows(self, order_id: int, items: Sequence[Row]) -> list[Row]:
        lines = {row["id"]: row for row in self.store.stock.order_lines(order_id)}
        before = {row["line_item_id"]: row for row in self.fetch(_ITEMS_REFUNDED, order=order_id)}
        rows: list[Row] = []
        for index, item in enumerate(items):
            where = f"line_items[{index}]"
            if item.get("id") not in lines:
                raise invalid_parameter(f"{where}.id", "The order has no such line item.")
            if any(row["line_item_id"] == item["id"] for row in rows):
                raise invalid_parameter(f"{where}.id", "The line item is named twice.")
            row = _refund_row(lines[item["id"]], item)
            earlier = before.get(item["id"], {"quantity": 0, "amount": 0})
            _check_bounds(lines[item["id"]], row, earlier, where)
            rows.append(row)
        return rows

    def _restock(self, order_id: int, rows: Sequence[Row]) -> None:
        lines = {line["id"]: line for line in self.store.stock.order_lines(order_id)}
        for row in rows:
            if row["quantity"]:
                self.store.stock.restock(lines[row["line_item_id"]], row["quantity"])

    def _check_gateway(self, gateway: str) -> None:
        found = self.fetch(_GATEWAY, id=gateway)
        if not found:
            raise _refuse("The payment gateway for this order does not exist.")
        if "refunds" not in found[0]["supports"]:
            raise _refuse("The payment gateway for this order does not support automatic refunds.")


def _refund_row(line: Record, item: Row) -> Row:
    quantity = item.get("quantity", 0)
    # A line that is only counted comes back for what its pieces cost, with their taxes.
    default = line["total"] * quantity // line["quantity"]
    taxes = [[rate, tax * quantity // line["quantity"]] for rate, tax, _ in line["taxes"]]
    if "refund_tax" in item or "refund_total" in item:
        taxes = [[tax.get("id", 0), tax.get("refund_total", 0)] for tax in item.get("refund_tax", [])]
    return {
        "line_item_id": line["id"],
        "quantity": quantity,
        "total": item.get("refund_total", default),
        "total_tax": sum(tax for _, tax in taxes),
        "taxes": taxes,
    }


def _check_bounds(line: Record, row: Row, earlier: Any, where: str) -> None:
    if row["quantity"] + earlier["quantity"] > line["quantity"]:
        left = line["quantity"] - earlier["quantity"]
        raise invalid_parameter(f"{where}.quantity", f"Only {left} of this line can still be refunded.")
    left = line["total"] + line["total_tax"] - earlier["amount"]
    if row["total"] + row["total_tax"] > left:
        raise invalid_parameter(
            f"{where}.refund_total", f"Only {money(left)} of this line can still be refunded."
        )
