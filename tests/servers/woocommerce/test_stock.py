"""Stock, as orders take and return it."""

from __future__ import annotations

from typing import Any

import pytest


def order_of(shop: Any, product: int, quantity: int, **data: Any) -> Any:
    lines = [{"product_id": product, "quantity": quantity}]
    return shop.call("orders_create", orderData={"line_items": lines, **data})


def set_status(shop: Any, order: Any, status: str) -> None:
    shop.call("orders_update", orderId=order["id"], orderData={"status": status})


@pytest.mark.parametrize(
    ("status", "left"), [("pending", 10), ("failed", 10), ("on-hold", 7), ("processing", 7), ("completed", 7)]
)
def test_an_order_takes_stock_in_these_statuses(shop: Any, status: str, left: int) -> None:
    order_of(shop, shop.CHAIR, 3, status=status)
    assert shop.stock(shop.CHAIR) == left


def test_stock_is_taken_once(shop: Any) -> None:
    order = order_of(shop, shop.CHAIR, 3, set_paid=True)
    set_status(shop, order, "completed")
    assert shop.stock(shop.CHAIR) == 7
    assert "Stock levels reduced: Oak chair (CH-1) 10→7" in shop.notes(order["id"])


@pytest.mark.parametrize("status", ["cancelled", "pending"])
def test_an_order_taken_back_returns_its_stock(shop: Any, status: str) -> None:
    order = order_of(shop, shop.CHAIR, 3, set_paid=True)
    set_status(shop, order, status)
    assert shop.stock(shop.CHAIR) == 10
    assert "Stock levels increased: Oak chair (CH-1) 7→10" in shop.notes(order["id"])
    set_status(shop, order, "processing")
    assert shop.stock(shop.CHAIR) == 7


def test_the_last_piece_makes_a_product_out_of_stock(shop: Any) -> None:
    order = order_of(shop, shop.STOOL, 2, set_paid=True)
    assert shop.product(shop.STOOL, "stock_status") == "outofstock"
    set_status(shop, order, "cancelled")
    assert shop.product(shop.STOOL, "stock_status") == "instock"


def test_a_variable_product_follows_its_variations(shop: Any) -> None:
    lines = [{"product_id": shop.SHIRT, "variation_id": shop.RED, "quantity": 1}]
    shop.call("orders_create", orderData={"line_items": lines, "set_paid": True})
    assert shop.product(shop.RED, "stock_quantity", "stock_status") == {
        "stock_quantity": 0,
        "stock_status": "outofstock",
    }
    assert shop.product(shop.SHIRT, "stock_status") == "outofstock"


def test_changed_lines_take_or_return_the_difference(shop: Any) -> None:
    order = order_of(shop, shop.CHAIR, 3, set_paid=True)
    line = order["line_items"][0]["id"]
    shop.call("orders_update", orderId=order["id"], orderData={"line_items": [{"id": line, "quantity": 5}]})
    assert shop.stock(shop.CHAIR) == 5
    lines = [{"id": line, "quantity": 0}, {"product_id": shop.STOOL, "quantity": 1}]
    shop.call("orders_update", orderId=order["id"], orderData={"line_items": lines})
    assert (shop.stock(shop.CHAIR), shop.stock(shop.STOOL)) == (10, 1)


def test_a_historic_order_returns_its_stock_when_cancelled(shop: Any) -> None:
    shop.call("orders_update", orderId=shop.OLD_ORDER, orderData={"status": "cancelled"})
    assert shop.stock(shop.CHAIR) == 12


def test_an_order_in_the_trash_keeps_its_stock(shop: Any) -> None:
    order = order_of(shop, shop.CHAIR, 3, set_paid=True)
    shop.call("orders_delete", orderId=order["id"], force=True)
    assert shop.stock(shop.CHAIR) == 7


def test_a_product_without_managed_stock_stays_in_stock(shop: Any) -> None:
    order = order_of(shop, shop.TABLE, 50, set_paid=True)
    assert shop.product(shop.TABLE, "stock_status") == "instock"
    assert len(shop.notes(order["id"])) == 1


def test_a_deleted_product_does_not_hinder_cancelling(shop: Any) -> None:
    order = order_of(shop, shop.CHAIR, 3, set_paid=True)
    shop.call("products_delete", productId=shop.CHAIR, force=True)
    set_status(shop, order, "cancelled")
    (line,) = shop.call("orders_get", orderId=order["id"])["line_items"]
    assert (line["name"], line["sku"]) == ("Oak chair", None)


def test_variations_may_share_the_stock_of_their_product(shop: Any) -> None:
    data = {"manage_stock": True, "stock_quantity": 9}
    shop.call("products_update", productId=shop.SHIRT, productData=data)
    lines = [{"product_id": shop.SHIRT, "variation_id": shop.BLUE, "quantity": 2}]
    shop.call("orders_create", orderData={"line_items": lines, "set_paid": True})
    assert shop.stock(shop.SHIRT) == 7
    red, blue = shop.call("products_variations_list", productId=shop.SHIRT)
    assert (red["manage_stock"], red["stock_quantity"]) == (True, 1)
    assert (blue["manage_stock"], blue["stock_quantity"], blue["stock_status"]) == ("parent", 7, "instock")
