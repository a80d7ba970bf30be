"""Refunds."""

from __future__ import annotations

from typing import Any

import pytest


def paid_order(shop: Any, quantity: int = 4, **data: Any) -> Any:
    lines = [{"product_id": shop.CHAIR, "quantity": quantity}]
    return shop.call("orders_create", orderData={"line_items": lines, "set_paid": True, **data})


def test_a_partial_refund_leaves_the_order_as_it_is(shop: Any) -> None:
    refund = shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="20.50", reason="Scratch")
    assert (refund["amount"], refund["reason"], refund["refunded_by"]) == ("20.50", "Scratch", shop.ADMIN)
    order = shop.call("orders_get", orderId=shop.OLD_ORDER)
    assert (order["status"], order["total"]) == ("completed", "85.00")
    assert order["refunds"] == [{"id": refund["id"], "reason": "Scratch", "total": "-20.50"}]


def test_an_order_refunded_in_full_becomes_refunded(shop: Any) -> None:
    shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="80")
    shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="5")
    assert shop.call("orders_get", orderId=shop.OLD_ORDER)["status"] == "refunded"


@pytest.mark.parametrize("amount", ["85.01", "99999", "0", "-5", "free", "", "1e3"])
def test_an_amount_that_cannot_be_refunded_is_refused(shop: Any, amount: str) -> None:
    refusal = shop.refusal("orders_refunds_create", orderId=shop.OLD_ORDER, amount=amount)
    assert "amount" in refusal.lower()


def test_refunds_are_bounded_together(shop: Any) -> None:
    shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="80")
    refusal = shop.refusal("orders_refunds_create", orderId=shop.OLD_ORDER, amount="5.01")
    assert "5.00 of this order can still be refunded" in refusal


def test_pieces_that_come_back_return_to_stock_at_their_price(shop: Any) -> None:
    order = paid_order(shop)
    line = order["line_items"][0]["id"]
    refund = shop.call("orders_refunds_create", orderId=order["id"], lineItems=[{"id": line, "quantity": 1}])
    assert (refund["amount"], shop.stock(shop.CHAIR)) == ("49.90", 7)
    (item,) = refund["line_items"]
    assert (item["quantity"], item["total"], item["product_id"]) == (-1, "-49.90", shop.CHAIR)


def test_pieces_need_not_return_to_stock(shop: Any) -> None:
    order = paid_order(shop)
    line = {"id": order["line_items"][0]["id"], "quantity": 1, "refund_total": 10}
    refund = shop.call("orders_refunds_create", orderId=order["id"], lineItems=[line], restockItems=False)
    assert (refund["amount"], shop.stock(shop.CHAIR)) == ("10.00", 6)


def test_pieces_come_back_to_stock_once(shop: Any) -> None:
    order = paid_order(shop)
    line = order["line_items"][0]["id"]
    shop.call("orders_refunds_create", orderId=order["id"], lineItems=[{"id": line, "quantity": 3}])
    refusal = shop.refusal(
        "orders_refunds_create", orderId=order["id"], lineItems=[{"id": line, "quantity": 2}]
    )
    assert "Only 1 of this line" in refusal
    shop.call("orders_update", orderId=order["id"], orderData={"status": "cancelled"})
    assert shop.stock(shop.CHAIR) == 10


def test_a_line_is_refunded_for_no_more_than_it_cost(shop: Any) -> None:
    order = paid_order(shop, fee_lines=[{"name": "Service", "total": "100"}])
    line = {"id": order["line_items"][0]["id"], "refund_total": 200}
    refusal = shop.refusal("orders_refunds_create", orderId=order["id"], lineItems=[line])
    assert "Only 199.60 of this line" in refusal


def test_lines_of_other_orders_are_refused(shop: Any) -> None:
    items = [{"id": 3, "quantity": 1}]
    assert "no such line item" in shop.refusal(
        "orders_refunds_create", orderId=shop.OLD_ORDER, lineItems=items
    )
    twice = [{"id": 1, "refund_total": 1}, {"id": 1, "refund_total": 1}]
    assert "twice" in shop.refusal("orders_refunds_create", orderId=shop.OLD_ORDER, lineItems=twice)


def test_setting_an_order_to_refunded_books_what_is_left(shop: Any) -> None:
    shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="25")
    order = shop.call("orders_update", orderId=shop.OLD_ORDER, orderData={"status": "refunded"})
    assert [refund["total"] for refund in order["refunds"]] == ["-25.00", "-60.00"]
    assert shop.stock(shop.CHAIR) == 10


def test_money_goes_back_through_gateways_that_can(shop: Any) -> None:
    refund = shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="5", refundPayment=True)
    assert refund["refunded_payment"] is True
    refusal = shop.refusal(
        "orders_refunds_create", orderId=shop.PENDING_ORDER, amount="5", refundPayment=True
    )
    assert "does not support automatic refunds" in refusal
    refusal = shop.refusal("orders_refunds_create", orderId=shop.GUEST_ORDER, amount="5", refundPayment=True)
    assert "gateway for this order does not exist" in refusal


def test_a_refund_needs_an_amount_or_lines(shop: Any) -> None:
    refusal = shop.refusal("orders_refunds_create", orderId=shop.OLD_ORDER)
    assert refusal == "woocommerce_rest_invalid_order_refund: Refund amount must be greater than zero."
    assert "Invalid ID" in shop.refusal("orders_refunds_create", orderId=99, amount="1")
