"""Bulk methods: the same rules as the tools, and the same bytes every time."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from mesocosm.errors import Invalid, Refusal, UsageError
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest


def test_past_orders_are_added_up_and_counted(shop: Any) -> None:
    assert shop.product(shop.CHAIR, "total_sales") == 2
    assert shop.stock(shop.CHAIR) == 10
    order = shop.call("orders_get", orderId=shop.OLD_ORDER)
    assert (order["total"], order["created_via"]) == ("85.00", "checkout")
    guest = shop.call("orders_get", orderId=shop.GUEST_ORDER)
    assert (guest["total"], guest["customer_id"], guest["date_paid"]) == ("15.00", 0, "2024-12-20T12:00:00")


def test_past_orders_may_take_stock(open_shop: Any) -> None:
    lines = [{"product_id": 1, "quantity": 4}, {"product_id": 3, "variation_id": 4, "quantity": 1}]
    order = {"status": "completed", "line_items": lines}
    shop = open_shop(lambda store: store.filling.add_orders([order], reduce_stock=True))
    assert shop.stock(shop.CHAIR) == 6
    assert shop.product(shop.RED, "stock_status") == shop.product(shop.SHIRT, "stock_status") == "outofstock"


def test_past_orders_use_coupons_and_are_refunded(open_shop: Any) -> None:
    order = {
        "status": "refunded",
        "customer_id": 2,
        "line_items": [{"product_id": 6, "quantity": 2}],
        "coupon_lines": [{"code": "ten"}],
    }
    shop = open_shop(lambda store: store.filling.add_orders([order]))
    order = shop.call("orders_get", orderId=4)
    assert (order["total"], order["refunds"][0]["total"]) == ("450.90", "-450.90")
    coupon = shop.call("coupons_get", couponId=shop.TEN_PERCENT)
    assert (coupon["usage_count"], coupon["used_by"]) == (1, ["2"])


def test_past_refunds_and_notes_are_kept(open_shop: Any) -> None:
    def further(store: Any) -> None:
        store.refunds.add_refunds([{"order_id": 1, "amount": "85", "date_created": "2025-01-12T00:00:00"}])
        store.orders.add_notes([{"order_id": 1, "note": "Returned by post", "author": "Meg"}])

    shop = open_shop(further)
    assert shop.call("orders_get", orderId=1)["status"] == "refunded"
    assert shop.notes(1) == ["Returned by post"]


@pytest.mark.parametrize(
    ("method", "rows"),
    [
        ("catalogue.add_products", [{"name": "A", "sku": "Z"}, {"name": "B", "sku": "Z"}]),
        ("catalogue.add_products", [{"name": "A", "sku": "CH-1"}]),
        ("catalogue.add_products", [{"name": "A", "regular_price": "x"}]),
        ("catalogue.add_products", [{"name": "A", "categories": [{"id": 99}]}]),
        ("customers.fill", [{"email": "a@b.org"}, {"email": "A@B.org"}]),
        ("customers.fill", [{"email": "a@b.org", "role": "king"}]),
        ("customers.fill", [{"first_name": "A"}]),
        ("categories.fill", [{"name": "Seats", "parent": 16}]),
        ("tags.fill", [{"name": "OAK"}]),
        ("coupons.fill", [{"code": "Ten", "amount": "1"}]),
        ("filling.add_orders", [{"customer_id": 99}]),
        ("filling.add_orders", [{"line_items": [{"product_id": 99}]}]),
        ("filling.add_orders", [{"status": "shipped"}]),
        ("filling.add_orders", [{"coupon_lines": [{"code": "nope"}]}]),
        ("refunds.add_refunds", [{"order_id": 1, "amount": "85.01"}]),
        ("refunds.add_refunds", [{"order_id": 1, "amount": "0"}]),
        ("orders.add_notes", [{"order_id": 99, "note": "x"}]),
        ("reviews.fill", [{"product_id": 99, "reviewer": "x", "review": "x"}]),
    ],
)
def test_what_the_shop_would_refuse_cannot_be_filled_in(open_shop: Any, method: str, rows: list[Any]) -> None:
    with pytest.raises(Refusal):
        open_shop(lambda store: attrgetter(method)(store)(rows))


def test_mistakes_of_a_generator_are_named(open_shop: Any) -> None:
    with pytest.raises(UsageError, match="no user"):
        open_shop(lambda store: store.sign_in("nobody@example.org"))
    with pytest.raises(UsageError, match="no setting"):
        open_shop(lambda store: store.change_setting("woocommerce_colour", "red"))
    with pytest.raises(Invalid, match="price"):
        open_shop(lambda store: store.filling.add_orders([{"line_items": [{"product_id": 1, "price": "x"}]}]))


def test_the_same_filling_gives_the_same_bytes(tmp_path: Path) -> None:
    def build(name: str) -> bytes:
        world = World.create(tmp_path / name, Manifest(services={"woocommerce": None}))
        store = world.store(WooCommerceStore)
        products = store.catalogue.add_products(
            [{"name": f"P {i}", "regular_price": "5.10"} for i in range(30)]
        )
        customers = store.customers.fill([{"email": f"c{i}@example.org"} for i in range(9)])
        store.filling.add_orders(
            [
                {"customer_id": c, "status": "completed", "line_items": [{"product_id": p}]}
                for c, p in zip(customers, products, strict=False)
            ]
        )
        world.finish_building()
        world.close()
        return (tmp_path / name / "woocommerce.db").read_bytes()

    assert build("one") == build("two")


def test_a_refused_call_uses_up_no_id(shop: Any) -> None:
    shop.refusal("products_create", productData={"name": "X", "sku": "CH-1"})
    assert shop.call("products_create", productData={"name": "X"})["id"] == shop.TABLE + 1


def test_past_orders_respect_the_limits_of_coupons(open_shop: Any) -> None:
    lines = [{"product_id": 6}]
    order = {"customer_id": 2, "line_items": lines, "coupon_lines": [{"code": "once"}]}

    def further(store: Any) -> None:
        store.coupons.fill([{"code": "once", "amount": "1", "usage_limit_per_user": 1}])
        store.filling.add_orders([order])
        with pytest.raises(Invalid, match="usage limit"):
            store.filling.add_orders([order])

    assert open_shop(further).call("coupons_list", code="once")[0]["usage_count"] == 1
