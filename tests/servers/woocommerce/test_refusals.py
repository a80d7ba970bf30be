"""Arguments that no tool accepts."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.services.service import load_service

TOOLS = {name.removeprefix("woo_"): tool for name, tool in load_service("woocommerce").tools.items()}
PAGED = [name for name, tool in TOOLS.items() if "perPage" in tool.signature.schema["properties"]]
REQUIRED = {"products_variations_list": {"productId": 3}, "shipping_zone_methods_list": {"zoneId": 0}}
BY_ID = {
    "products_get": "productId",
    "products_delete": "productId",
    "products_variations_list": "productId",
    "orders_get": "orderId",
    "orders_delete": "orderId",
    "customers_get": "customerId",
    "coupons_get": "couponId",
    "coupons_delete": "couponId",
    "shipping_zones_get": "zoneId",
    "shipping_zone_methods_list": "zoneId",
    "tax_rates_get": "rateId",
}


def test_pages_out_of_bounds_are_refused(shop: Any) -> None:
    for name in PAGED:
        base = REQUIRED.get(name, {})
        for bounds in ({"page": 0}, {"page": -1}, {"perPage": 0}, {"perPage": -3}, {"perPage": 101}):
            refusal = shop.refusal(name, **base | bounds)
            told = f"rest_invalid_param: Invalid parameter(s): {next(iter(bounds))}. "
            assert refusal.startswith(told), (name, bounds)
            assert "(inclusive)" in refusal
        assert "64 bits" in shop.refusal(name, **base, page=2**63)


def test_a_page_beyond_the_last_is_empty(shop: Any) -> None:
    for name in PAGED:
        assert shop.call(name, **REQUIRED.get(name, {}), page=10**9) == []


@pytest.mark.parametrize("value", [999, -1, 2**62])
def test_ids_of_nothing_are_refused(shop: Any, value: int) -> None:
    for name, parameter in BY_ID.items():
        assert "Invalid" in shop.refusal(name, **{parameter: value}), name


def test_arguments_that_a_tool_does_not_take_are_refused(shop: Any) -> None:
    for name in TOOLS:
        assert "colour" in shop.refusal(name, colour="red"), name


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("products_list", {"category": "abc"}, "category"),
        ("products_list", {"tag": "1,,2"}, "tag"),
        ("products_list", {"minPrice": "cheap"}, "minPrice"),
        ("products_list", {"after": "last week"}, "after"),
        ("products_list", {"orderby": "include"}, "include parameter"),
        ("products_list", {"orderby": "colour"}, "orderby"),
        ("products_list", {"search": "a\0b"}, "null"),
        ("products_list", {"include": list(range(1001))}, "include"),
        ("orders_list", {"dateAfter": "2025-13-01"}, "parameter(s): dateAfter. "),
        ("orders_list", {"dateBefore": ""}, "parameter(s): dateBefore. "),
        ("orders_list", {"status": ["shipped"]}, "status"),
        ("orders_list", {"orderby": "include"}, "include parameter"),
        ("customers_list", {"email": "ann"}, "email"),
        ("customers_list", {"role": "boss"}, "role"),
        ("products_reviews_list", {"status": "good"}, "status"),
        ("tax_rates_list", {"taxClass": "luxury"}, "taxClass"),
        ("webhooks_list", {"status": "on"}, "status"),
        ("coupons_list", {"code": " "}, "coupon code"),
        ("settings_get", {"groupId": "secret"}, "groupId"),
        ("reports_top_sellers", {"dateMin": "x"}, "dateMin"),
        ("reports_products", {"period": "decade"}, "period"),
        ("reports_customers", {"dateMax": "x"}, "dateMax"),
        ("reports_orders", {"dateMin": "2025-01-02", "dateMax": "2025-01-01"}, "dateMin"),
        ("orders_notes_create", {"orderId": 1, "note": " "}, "note must not be empty"),
        ("orders_notes_create", {"orderId": 1, "note": "a\0"}, "null"),
        ("orders_notes_create", {"orderId": 99, "note": "a"}, "Invalid ID"),
    ],
)
def test_filters_that_mean_nothing_are_refused(
    shop: Any, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    assert reason in shop.refusal(tool, **arguments)
