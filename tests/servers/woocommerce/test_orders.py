"""Listing, creating, changing and deleting orders."""

from __future__ import annotations

from typing import Any

import pytest


def ids(orders: list[dict[str, Any]]) -> list[int]:
    return [order["id"] for order in orders]


def order_of(shop: Any, *products: int, **data: Any) -> Any:
    lines = [{"product_id": product, "quantity": 1} for product in products]
    return shop.call("orders_create", orderData={"line_items": lines, **data})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [2, 1, 3]),
        ({"status": ["completed", "processing"]}, [1, 3]),
        ({"status": []}, [2, 1, 3]),
        ({"customer": 2}, [2, 1]),
        ({"customer": 0}, [3]),
        ({"product": 1}, [1]),
        ({"product": 4}, [3]),
        ({"dateAfter": "2025-01-10T12:00:00"}, [2]),
        ({"dateAfter": "2025-01-10T13:30:00+02:00"}, [2, 1]),
        ({"dateAfter": "2025-01-10", "dateBefore": "2025-01-14"}, [1]),
        ({"orderby": "id", "order": "asc"}, [1, 2, 3]),
        ({"orderby": "include", "include": [3, 1]}, [3, 1]),
        ({"exclude": [2]}, [1, 3]),
        ({"perPage": 2, "page": 2}, [3]),
    ],
)
def test_orders_can_be_filtered_and_ordered(
    shop: Any, arguments: dict[str, Any], expected: list[int]
) -> None:
    assert ids(shop.call("orders_list", **arguments)) == expected


def test_an_order_has_the_fields_of_the_rest_api(shop: Any) -> None:
    order = shop.call("orders_get", orderId=shop.OLD_ORDER)
    assert (order["number"], order["status"], order["total"]) == ("1", "completed", "85.00")
    assert order["date_paid"] == order["date_completed_gmt"] == "2025-01-10T12:00:00"
    assert order["billing"]["email"] == "ann@example.org"
    assert order["shipping_lines"][0]["total"] == order["shipping_total"] == "5.00"
    (line,) = order["line_items"]
    assert (line["name"], line["sku"], line["quantity"], line["price"]) == ("Oak chair", "CH-1", 2, 40.0)
    assert (line["subtotal"], line["total"], line["image"]["id"]) == ("80.00", "80.00", 1)


def test_a_line_of_a_variation_names_its_product(shop: Any) -> None:
    (line,) = shop.call("orders_get", orderId=shop.GUEST_ORDER, fields=["line_items"])["line_items"]
    assert (line["product_id"], line["variation_id"], line["sku"]) == (shop.SHIRT, shop.RED, "TS-R")
    assert (line["parent_name"], line["meta_data"]) == ("T-shirt", [{"key": "color", "value": "Red"}])


def test_an_order_is_added_up_from_present_prices(shop: Any) -> None:
    order = shop.call(
        "orders_create",
        orderData={
            "line_items": [{"product_id": shop.TABLE, "quantity": 2}, {"sku": "TS-B"}],
            "shipping_lines": [{"method_id": "flat_rate", "method_title": "Flat rate", "total": "7.5"}],
            "fee_lines": [{"name": "Gift wrap", "total": "1.25"}],
            "customer_id": shop.BOB,
            "billing": {"first_name": "Bob", "email": "bob@example.org"},
        },
    )
    assert [line["total"] for line in order["line_items"]] == ["501.00", "12.00"]
    assert (order["total"], order["status"], order["created_via"]) == ("521.75", "pending", "rest-api")
    assert (order["date_paid"], order["needs_payment"], order["is_editable"]) == (None, True, True)
    assert order["billing"]["city"] == ""


def test_a_line_may_have_a_price_of_its_own(shop: Any) -> None:
    line = {"product_id": shop.TABLE, "quantity": 2, "subtotal": "500", "total": "450"}
    order = shop.call("orders_create", orderData={"line_items": [line]})
    assert (order["discount_total"], order["total"]) == ("50.00", "450.00")
    assert order["line_items"][0]["price"] == 225.0


def test_payment_makes_an_order_processing(shop: Any) -> None:
    order = order_of(shop, shop.TABLE, set_paid=True)
    assert (order["status"], order["needs_payment"]) == ("processing", False)
    assert order["date_paid"] == order["date_created"]
    assert shop.notes(order["id"])[0] == "Order status changed from Pending payment to Processing."


def test_an_order_of_nothing_but_downloads_is_completed_by_payment(shop: Any) -> None:
    song = {"name": "Song", "regular_price": "1", "virtual": True, "downloadable": True}
    product = shop.call("products_create", productData=song)
    assert order_of(shop, product["id"], set_paid=True)["status"] == "completed"


def test_completing_an_order_dates_and_notes_it(shop: Any) -> None:
    order = shop.call("orders_update", orderId=shop.GUEST_ORDER, orderData={"status": "completed"})
    assert order["date_completed"] == order["date_modified"] > order["date_paid"]
    assert shop.notes(shop.GUEST_ORDER) == ["Order status changed from Processing to Completed."]


def test_an_order_is_changed_field_by_field(shop: Any) -> None:
    changes = {
        "billing": {"city": "Rome"},
        "customer_note": "Ring twice",
        "meta_data": [{"key": "gift", "value": "yes"}],
    }
    order = shop.call("orders_update", orderId=shop.OLD_ORDER, orderData=changes)
    assert (order["billing"]["city"], order["billing"]["email"]) == ("Rome", "ann@example.org")
    assert (order["customer_note"], order["total"]) == ("Ring twice", "85.00")
    assert order["meta_data"] == [{"id": 2, "key": "gift", "value": "yes"}]


def test_lines_are_changed_added_and_removed(shop: Any) -> None:
    order = order_of(shop, shop.TABLE, shop.CHAIR)
    table, chair = order["line_items"]
    lines = [
        {"id": table["id"], "quantity": 3},
        {"id": chair["id"], "quantity": 0},
        {"product_id": shop.STOOL},
    ]
    changed = shop.call("orders_update", orderId=order["id"], orderData={"line_items": lines})
    assert [(line["id"], line["total"]) for line in changed["line_items"]] == [
        (table["id"], "751.50"),
        (chair["id"] + 1, "30.00"),
    ]
    assert changed["total"] == "781.50"


def test_an_order_that_was_read_can_be_sent_back(shop: Any) -> None:
    before = shop.call("orders_get", orderId=shop.OLD_ORDER)
    after = shop.call("orders_update", orderId=shop.OLD_ORDER, orderData=before)
    assert {**after, "date_modified": 0, "date_modified_gmt": 0} == {
        **before,
        "date_modified": 0,
        "date_modified_gmt": 0,
    }


def test_a_deleted_order_goes_to_the_trash_first(shop: Any) -> None:
    assert shop.call("orders_delete", orderId=shop.OLD_ORDER)["status"] == "trash"
    assert shop.OLD_ORDER not in ids(shop.call("orders_list"))
    assert "already been deleted" in shop.refusal("orders_delete", orderId=shop.OLD_ORDER)
    assert shop.call("orders_delete", orderId=shop.OLD_ORDER, force=True)["total"] == "85.00"
    assert "woocommerce_rest_shop_order_invalid_id" in shop.refusal("orders_get", orderId=shop.OLD_ORDER)


def test_sales_counts_follow_orders(shop: Any) -> None:
    order = order_of(shop, shop.CHAIR, set_paid=True)
    assert shop.product(shop.CHAIR, "total_sales") == 3
    line = {"id": order["line_items"][0]["id"], "quantity": 4}
    shop.call("orders_update", orderId=order["id"], orderData={"line_items": [line]})
    assert shop.product(shop.CHAIR, "total_sales") == 6
    shop.call("orders_update", orderId=order["id"], orderData={"status": "cancelled"})
    assert shop.product(shop.CHAIR, "total_sales") == 2
    shop.call("orders_delete", orderId=shop.OLD_ORDER)
    assert shop.product(shop.CHAIR, "total_sales") == 0


def test_a_note_is_signed_by_the_owner_of_the_key(shop: Any) -> None:
    note = shop.call("orders_notes_create", orderId=shop.OLD_ORDER, note="Call back", customerNote=True)
    assert (note["note"], note["author"], note["customer_note"]) == ("Call back", "admin", True)
    assert shop.notes(shop.OLD_ORDER) == ["Call back"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"status": "shipped"}, "status is not one of"),
        ({"customer_id": 99}, "woocommerce_rest_invalid_customer_id: Customer ID is invalid."),
        ({"line_items": [{"product_id": 99}]}, "woocommerce_rest_product_invalid_id"),
        ({"line_items": [{"quantity": 1}]}, "woocommerce_rest_required_product_reference"),
        ({"line_items": [{"sku": "nope"}]}, "woocommerce_rest_product_invalid_id"),
        ({"line_items": [{"product_id": 1, "quantity": -2}]}, "line_items[0].quantity"),
        ({"line_items": [{"product_id": 1, "quantity": 0}]}, "quantity must be 1 or more"),
        ({"line_items": [{"product_id": 1, "quantity": 1.5}]}, "line_items[0].quantity"),
        ({"line_items": [{"id": 77, "quantity": 1}]}, "not associated with order"),
        ({"line_items": [{"product_id": 1, "total": "free"}]}, "line_items[0].total"),
        ({"billing": {"email": "nobody"}}, "billing.email"),
        ({"currency": "dollars"}, "currency"),
        ({"coupon_lines": [{"code": "nope"}]}, "does not exist!"),
        ({"shipping_lines": [{"total": "-5"}]}, "shipping_lines[0].total"),
        ({"labels": ["x"]}, "labels"),
    ],
)
def test_what_an_order_cannot_have_is_refused(shop: Any, data: dict[str, Any], reason: str) -> None:
    assert reason in shop.refusal("orders_create", orderData=data)
    assert reason in shop.refusal("orders_update", orderId=shop.PENDING_ORDER, orderData=data)


def test_an_order_too_large_to_add_up_is_refused(shop: Any) -> None:
    shop.call("products_update", productId=shop.TABLE, productData={"regular_price": "999999999999"})
    shop.call("products_update", productId=shop.TABLE, productData={"sale_price": ""})
    lines = [{"product_id": shop.TABLE, "quantity": 1_000_000}]
    assert "too large" in shop.refusal("orders_create", orderData={"line_items": lines})
