"""What an API key permits."""

from __future__ import annotations

from typing import Any

from mesocosm.services.service import load_service

VALID: dict[str, dict[str, Any]] = {
    "products_get": {"productId": 1},
    "products_create": {"productData": {"name": "X"}},
    "products_update": {"productId": 1, "productData": {"name": "X"}},
    "products_delete": {"productId": 1},
    "products_batch_update": {"delete": [1]},
    "products_variations_list": {"productId": 3},
    "products_categories_create": {"categoryData": {"name": "X"}},
    "orders_get": {"orderId": 1},
    "orders_create": {"orderData": {}},
    "orders_update": {"orderId": 1, "orderData": {"status": "on-hold"}},
    "orders_delete": {"orderId": 1},
    "orders_batch_update": {"delete": [1]},
    "orders_notes_create": {"orderId": 1, "note": "X"},
    "orders_refunds_create": {"orderId": 1, "amount": "1"},
    "customers_get": {"customerId": 2},
    "customers_create": {"customerData": {"email": "x@example.org"}},
    "customers_update": {"customerId": 2, "customerData": {"first_name": "X"}},
    "coupons_get": {"couponId": 1},
    "coupons_create": {"couponData": {"code": "x", "discount_type": "percent", "amount": "1"}},
    "coupons_update": {"couponId": 1, "couponData": {"amount": "1"}},
    "coupons_delete": {"couponId": 1},
    "shipping_zones_get": {"zoneId": 0},
    "shipping_zones_create": {"name": "X"},
    "shipping_zones_update": {"zoneId": 1, "name": "Y"},
    "shipping_zone_methods_list": {"zoneId": 0},
    "shipping_zone_methods_create": {"zoneId": 0, "methodId": "flat_rate"},
    "tax_rates_get": {"rateId": 1},
    "tax_rates_create": {"country": "US", "rate": "1"},
    "system_tools_run": {"toolId": "recount_terms"},
    "settings_get": {"groupId": "general"},
    "payment_gateways_get": {"gatewayId": "bacs"},
    "payment_gateways_update": {"gatewayId": "bacs", "enabled": False},
    "webhooks_create": {"name": "X", "topic": "order.created", "delivery_url": "https://x.example/"},
}
TOOLS = {name.removeprefix("woo_"): tool for name, tool in load_service("woocommerce").tools.items()}


def further(store: Any) -> None:
    store.zones.create({"name": "Europe"})
    store.taxes.create({"country": "US", "rate": "5"})
    store.customers.fill([{"email": "meg@example.org", "role": "shop_manager"}])


def opened(open_shop: Any, email: str, permissions: str = "read_write") -> Any:
    def fill(store: Any) -> None:
        further(store)
        store.sign_in(email, permissions)

    return open_shop(fill)


def test_the_key_of_a_customer_permits_nothing(open_shop: Any) -> None:
    shop = opened(open_shop, "ann@example.org")
    for name in TOOLS:
        assert "Sorry, you " in shop.refusal(name, **VALID.get(name, {})), name


def test_a_key_that_only_reads_changes_nothing(open_shop: Any) -> None:
    shop = opened(open_shop, "admin@woocommerce.local", "read")
    for name, tool in TOOLS.items():
        if tool.writes:
            refusal = shop.refusal(name, **VALID.get(name, {}))
            assert "The API key provided does not have write permissions." in refusal, name
        else:
            shop.call(name, **VALID.get(name, {}))


def test_a_key_that_only_writes_shows_nothing(open_shop: Any) -> None:
    shop = opened(open_shop, "admin@woocommerce.local", "write")
    for name, tool in TOOLS.items():
        if not tool.writes:
            assert "does not have read permissions" in shop.refusal(name, **VALID.get(name, {})), name


def test_a_shop_manager_may_use_every_tool(open_shop: Any) -> None:
    shop = opened(open_shop, "meg@example.org")
    for name in sorted(TOOLS, key=lambda name: ("batch" in name, "delete" in name)):
        shop.call(name, **VALID.get(name, {}))


def test_a_shop_manager_may_not_change_an_administrator(open_shop: Any) -> None:
    shop = opened(open_shop, "meg@example.org")
    changes = {"email": "mine@example.org"}
    refusal = shop.refusal("customers_update", customerId=shop.ADMIN, customerData=changes)
    assert refusal.startswith("woocommerce_rest_cannot_edit: ")


def test_notes_and_refunds_name_who_made_them(open_shop: Any) -> None:
    shop = opened(open_shop, "meg@example.org")
    assert shop.call("orders_notes_create", orderId=1, note="X")["author"] == "meg"
    assert shop.call("orders_refunds_create", orderId=1, amount="1")["refunded_by"] == 4
