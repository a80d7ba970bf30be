"""Batches: each item done or refused by itself, and malformed ones refused whole."""

from __future__ import annotations

from typing import Any

import pytest


def test_each_product_of_a_batch_is_done_or_refused_by_itself(shop: Any) -> None:
    result = shop.call(
        "products_batch_update",
        create=[{"name": "Lamp", "regular_price": "5"}, {"name": "Copy", "sku": "CH-1"}],
        update=[{"id": shop.CHAIR, "sale_price": "40"}, {"id": 99, "name": "X"}],
        delete=[shop.SHIRT, shop.RED],
    )
    assert result["create"][0]["price"] == "5"
    assert result["create"][1] == {
        "id": 0,
        "error": {
            "code": "product_invalid_sku",
            "message": "Invalid or duplicated SKU.",
            "data": {"status": 400},
        },
    }
    assert result["update"][0]["price"] == "40"
    assert (result["update"][1]["id"], result["update"][1]["error"]["data"]["status"]) == (99, 404)
    assert result["delete"][0]["id"] == shop.SHIRT
    assert result["delete"][1]["error"]["message"] == "Invalid ID."
    names = [product["name"] for product in shop.call("products_list")]
    assert names == ["Lamp", "Bar stool", "Dining table", "Oak chair"]


def test_an_item_that_is_refused_halfway_leaves_nothing(shop: Any) -> None:
    good = {"line_items": [{"product_id": shop.CHAIR, "quantity": 1}], "set_paid": True}
    bad = {"line_items": [{"product_id": shop.CHAIR}], "coupon_lines": [{"code": "nope"}]}
    result = shop.call(
        "orders_batch_update",
        create=[good, bad, good],
        update=[{"id": shop.OLD_ORDER, "status": "cancelled"}],
        delete=[shop.PENDING_ORDER],
    )
    assert [item["id"] for item in result["create"]] == [4, 0, 5]
    assert result["update"][0]["status"] == "cancelled"
    assert result["delete"][0]["id"] == shop.PENDING_ORDER
    assert shop.stock(shop.CHAIR) == 10


@pytest.mark.parametrize("tool", ["products_batch_update", "orders_batch_update"])
@pytest.mark.parametrize(
    "batch",
    [
        {},
        {"create": [], "delete": []},
        {"update": [{"name": "no id"}]},
        {"update": [{"id": -1}]},
        {"delete": list(range(1, 102))},
        {"create": ["text"]},
        {"delete": ["x"]},
    ],
)
def test_a_malformed_batch_is_refused_whole(shop: Any, tool: str, batch: dict[str, Any]) -> None:
    good = {"create": [{}]} if "create" not in batch and batch else {}
    assert shop.refusal(tool, **good | batch)


def test_a_batch_reprices_a_hundred_products(open_shop: Any) -> None:
    shop = open_shop(
        lambda store: store.catalogue.add_products(
            [{"name": f"P{i}", "regular_price": "9"} for i in range(100)]
        )
    )
    ids = [product["id"] for product in shop.call("products_list", perPage=100, orderby="id")]
    result = shop.call("products_batch_update", update=[{"id": i, "sale_price": "8.10"} for i in ids])
    assert {product["price"] for product in result["update"] if product["regular_price"] == "9"} == {"8.10"}
