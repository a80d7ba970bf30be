"""Coupons: their administration, their use and what they take off."""

from __future__ import annotations

from typing import Any

import pytest


def make(shop: Any, code: str, amount: str, kind: str = "fixed_cart", **rules: Any) -> Any:
    data = {"code": code, "amount": amount, "discount_type": kind, **rules}
    return shop.call("coupons_create", couponData=data)


def order_data(*codes: str, product: int = 6, quantity: int = 1, **data: Any) -> dict[str, Any]:
    lines = [{"product_id": product, "quantity": quantity}]
    return {"line_items": lines, "coupon_lines": [{"code": code} for code in codes], **data}


def test_coupons_are_listed_and_found_by_code(shop: Any) -> None:
    make(shop, "Spring", "5")
    assert [coupon["code"] for coupon in shop.call("coupons_list")] == ["spring", "ten"]
    assert [coupon["code"] for coupon in shop.call("coupons_list", code="TEN")] == ["ten"]
    assert [coupon["code"] for coupon in shop.call("coupons_list", search="prin")] == ["spring"]
    assert shop.call("coupons_get", couponId=shop.TEN_PERCENT)["amount"] == "10.00"


def test_a_coupon_is_created_with_its_rules(shop: Any) -> None:
    coupon = make(shop, "VIP", "15", "percent", usage_limit=5, minimum_amount="50", date_expires="2025-02-01")
    assert (coupon["code"], coupon["amount"], coupon["usage_limit"]) == ("vip", "15.00", 5)
    assert (coupon["minimum_amount"], coupon["date_expires"]) == ("50.00", "2025-02-01T00:00:00")
    assert (coupon["usage_count"], coupon["used_by"]) == (0, [])


def test_a_coupon_is_changed_and_deleted(shop: Any) -> None:
    changed = shop.call("coupons_update", couponId=1, couponData={"amount": "12", "usage_limit": 3})
    assert (changed["amount"], changed["usage_limit"], changed["code"]) == ("12.00", 3, "ten")
    assert shop.call("coupons_delete", couponId=1, force=False)["status"] == "trash"
    assert "already been deleted" in shop.refusal("coupons_delete", couponId=1, force=False)
    shop.call("coupons_delete", couponId=1)
    assert "woocommerce_rest_shop_coupon_invalid_id" in shop.refusal("coupons_get", couponId=1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"code": "ten"}, "already exists"),
        ({"code": " "}, "cannot be empty"),
        ({"amount": "lots"}, "amount"),
        ({"discount_type": "percent", "amount": "101"}, "Invalid discount amount"),
        ({"date_expires": "soon"}, "date_expires"),
        ({"usage_limit": -1}, "usage_limit"),
        ({"product_ids": ["x"]}, "product_ids"),
    ],
)
def test_what_a_coupon_cannot_have_is_refused(shop: Any, data: dict[str, Any], reason: str) -> None:
    base = {"code": "new", "amount": "1", "discount_type": "fixed_cart"}
    assert reason in shop.refusal("coupons_create", couponData=base | data)


def test_a_percentage_is_taken_off_each_line_and_the_cents_add_up(shop: Any) -> None:
    lines = [{"product_id": shop.CHAIR, "quantity": 1}, {"product_id": shop.STOOL, "subtotal": "0.05"}]
    data = {"line_items": lines, "coupon_lines": [{"code": "Ten"}]}
    data["line_items"][1]["total"] = "0.05"
    order = shop.call("orders_create", orderData=data)
    assert [line["total"] for line in order["line_items"]] == ["44.91", "0.05"]
    assert (order["discount_total"], order["total"]) == ("4.99", "44.96")
    (coupon,) = order["coupon_lines"]
    assert (coupon["code"], coupon["discount"], coupon["discount_type"]) == ("ten", "4.99", "percent")


def test_a_fixed_amount_is_spread_over_the_pieces(shop: Any) -> None:
    make(shop, "hundred", "100")
    data = order_data("hundred", product=shop.CHAIR, quantity=2)
    data["line_items"].append({"product_id": shop.STOOL, "quantity": 1})
    order = shop.call("orders_create", orderData=data)
    assert order["discount_total"] == "100.00"
    assert order["total"] == "29.80"
    assert [line["total"] for line in order["line_items"]] == ["29.80", "0.00"]


def test_a_fixed_amount_takes_no_more_than_there_is(shop: Any) -> None:
    make(shop, "rich", "1000")
    order = shop.call("orders_create", orderData=order_data("rich", product=shop.STOOL))
    assert (order["discount_total"], order["total"]) == ("30.00", "0.00")


def test_a_product_coupon_reduces_only_its_products(shop: Any) -> None:
    make(shop, "seats", "5", "fixed_product", product_ids=[shop.CHAIR], limit_usage_to_x_items=2)
    data = order_data("seats", product=shop.CHAIR, quantity=3)
    data["line_items"].append({"product_id": shop.TABLE, "quantity": 1})
    order = shop.call("orders_create", orderData=data)
    assert [line["total"] for line in order["line_items"]] == ["139.70", "250.50"]


def test_coupons_of_a_category_cover_those_below(shop: Any) -> None:
    coupon = make(shop, "furn", "50", "percent")
    rules = {"product_categories": [shop.FURNITURE]}
    shop.call("coupons_update", couponId=coupon["id"], couponData=rules)
    order = shop.call("orders_create", orderData=order_data("furn", product=shop.STOOL))
    assert order["total"] == "15.00"
    assert "not applicable" in shop.refusal("orders_create", orderData=order_data("furn", product=shop.SHIRT))


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"date_expires": "2025-01-15"}, "This coupon has expired."),
        ({"minimum_amount": "300"}, "The minimum spend for this coupon is 300.00."),
        ({"maximum_amount": "100"}, "The maximum spend for this coupon is 100.00."),
        ({"product_ids": [1]}, "not applicable to selected products"),
        ({"excluded_product_ids": [6]}, "not applicable to selected products"),
        ({"exclude_sale_items": True}, "not valid for sale items"),
    ],
)
def test_a_coupon_that_does_not_fit_is_refused(shop: Any, rules: dict[str, Any], reason: str) -> None:
    make(shop, "strict", "5", **rules)
    assert reason in shop.refusal("orders_create", orderData=order_data("strict"))


def test_uses_are_counted_and_taken_back(shop: Any) -> None:
    order = shop.call("orders_create", orderData=order_data("ten", customer_id=shop.ANN))
    coupon = shop.call("coupons_get", couponId=shop.TEN_PERCENT)
    assert (coupon["usage_count"], coupon["used_by"]) == (1, [str(shop.ANN)])
    shop.call("orders_update", orderId=order["id"], orderData={"status": "cancelled"})
    assert shop.call("coupons_get", couponId=shop.TEN_PERCENT)["usage_count"] == 0
    shop.call("orders_update", orderId=order["id"], orderData={"status": "processing"})
    assert shop.call("coupons_get", couponId=shop.TEN_PERCENT)["usage_count"] == 1


def test_usage_limits_hold_for_all_and_for_each_buyer(shop: Any) -> None:
    make(shop, "once", "5", usage_limit_per_user=1, usage_limit=2)
    shop.call("orders_create", orderData=order_data("once", customer_id=shop.ANN))
    reason = shop.refusal("orders_create", orderData=order_data("once", customer_id=shop.ANN))
    assert "usage limit has been reached" in reason
    shop.call("orders_create", orderData=order_data("once", customer_id=shop.BOB))
    assert "usage limit" in shop.refusal("orders_create", orderData=order_data("once"))


def test_some_coupons_stand_alone(shop: Any) -> None:
    make(shop, "solo", "5", individual_use=True)
    assert "cannot be used in conjunction" in shop.refusal(
        "orders_create", orderData=order_data("ten", "solo")
    )
    assert "already applied" in shop.refusal("orders_create", orderData=order_data("ten", "TEN"))


def test_a_coupon_is_removed_from_an_order(shop: Any) -> None:
    order = shop.call("orders_create", orderData=order_data("ten"))
    assert order["total"] == "225.45"
    order = shop.call("orders_update", orderId=order["id"], orderData={"coupon_lines": []})
    assert (order["total"], order["coupon_lines"]) == ("250.50", [])
    assert shop.call("coupons_get", couponId=shop.TEN_PERCENT)["usage_count"] == 0


def test_discounts_follow_changed_lines(shop: Any) -> None:
    order = shop.call("orders_create", orderData=order_data("ten", product=shop.STOOL))
    line = {"id": order["line_items"][0]["id"], "quantity": 2}
    order = shop.call("orders_update", orderId=order["id"], orderData={"line_items": [line]})
    assert (order["discount_total"], order["total"]) == ("6.00", "54.00")


def test_coupons_can_be_switched_off(open_shop: Any) -> None:
    shop = open_shop(lambda store: store.change_setting("woocommerce_enable_coupons", "no"))
    assert "disabled" in shop.refusal("orders_create", orderData=order_data("ten"))
