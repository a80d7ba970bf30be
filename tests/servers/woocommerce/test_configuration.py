"""Shipping, settings, payment gateways, webhooks, system."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_zone_is_created_read_changed_and_listed(shop: Any) -> None:
    zone = shop.call("shipping_zones_create", name="Europe", order=2)
    assert shop.call("shipping_zones_get", zoneId=zone["id"]) == {"id": 1, "name": "Europe", "order": 2}
    assert shop.call("shipping_zones_update", zoneId=1, name="EU")["name"] == "EU"
    assert [zone["id"] for zone in shop.call("shipping_zones_list")] == [0, 1]
    assert len(shop.call("shipping_zones_list", perPage=1, page=2)) == 1


def test_zones_that_cannot_be_are_refused(shop: Any) -> None:
    assert "name must not be empty" in shop.refusal("shipping_zones_create", name=" ")
    assert "Invalid shipping zone ID." in shop.refusal("shipping_zones_get", zoneId=9)
    assert "cannot be updated" in shop.refusal("shipping_zones_update", zoneId=0, name="X")


def test_a_zone_offers_ways_of_shipping(shop: Any) -> None:
    method = shop.call(
        "shipping_zone_methods_create", zoneId=0, methodId="flat_rate", settings={"cost": "4.50"}
    )
    assert (method["instance_id"], method["title"], method["settings"]["cost"]["value"]) == (
        1,
        "Flat rate",
        "4.50",
    )
    assert shop.call("shipping_zone_methods_list", zoneId=0) == [method]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"zoneId": 9}, "Invalid shipping zone ID."),
        ({"methodId": "drone"}, "methodId"),
        ({"settings": {"cost": "much"}}, "settings.cost"),
        ({"settings": {"speed": "high"}}, "settings.speed"),
        ({"settings": {"tax_status": "some"}}, "settings.tax_status"),
    ],
)
def test_ways_of_shipping_that_cannot_be_are_refused(
    shop: Any, arguments: dict[str, Any], reason: str
) -> None:
    base = {"zoneId": 0, "methodId": "flat_rate"}
    assert reason in shop.refusal("shipping_zone_methods_create", **base | arguments)


def test_settings_are_read_by_group(shop: Any) -> None:
    assert [group["id"] for group in shop.call("settings_list")][:2] == ["general", "products"]
    settings = {option["id"]: option for option in shop.call("settings_get", groupId="products")}
    assert settings["woocommerce_notify_low_stock_amount"]["value"] == "2"
    assert settings["woocommerce_weight_unit"]["options"]["kg"] == "kg"


def test_a_payment_gateway_is_read_and_changed(shop: Any) -> None:
    gateways = {gateway["id"]: gateway for gateway in shop.call("payment_gateways_list")}
    assert (gateways["cod"]["enabled"], gateways["bacs"]["enabled"]) == (False, True)
    shop.call("payment_gateways_update", gatewayId="cod", enabled=True, title="Cash", settings={})
    gateway = shop.call("payment_gateways_get", gatewayId="cod")
    assert (gateway["enabled"], gateway["title"]) == (True, "Cash")
    assert gateway["settings"]["title"]["value"] == "Cash"


def test_gateways_and_options_that_are_not_there_are_refused(shop: Any) -> None:
    assert "payment_gateway_invalid" in shop.refusal("payment_gateways_get", gatewayId="gold")
    assert "payment_gateway_invalid" in shop.refusal("payment_gateways_update", gatewayId="gold")
    refusal = shop.refusal("payment_gateways_update", gatewayId="cod", settings={"fee": "1"})
    assert "settings.fee" in refusal
    refusal = shop.refusal("payment_gateways_update", gatewayId="stripe", settings={"testmode": "maybe"})
    assert "settings.testmode" in refusal


def test_a_webhook_is_created_and_listed_without_its_secret(shop: Any) -> None:
    webhook = shop.call(
        "webhooks_create",
        name="Orders",
        topic="order.created",
        delivery_url="https://x.example/hook",
        secret="hush-hush",
    )
    assert (webhook["status"], webhook["resource"], webhook["event"]) == ("active", "order", "created")
    assert "hush-hush" not in str(webhook)
    assert shop.call("webhooks_list") == [webhook]
    assert shop.call("webhooks_list", status="paused") == []


def test_webhooks_that_cannot_be_are_refused(shop: Any) -> None:
    base = {"name": "X", "topic": "order.created", "delivery_url": "https://x.example/"}
    assert "delivery_url" in shop.refusal("webhooks_create", **base | {"delivery_url": "ftp://x"})
    assert "name" in shop.refusal("webhooks_create", **base | {"name": ""})
    assert "topic" in shop.refusal("webhooks_create", **base | {"topic": "moon.created"})


def test_the_system_status_counts_objects(shop: Any) -> None:
    status = shop.call("system_status")
    counts = {entry["type"]: entry["count"] for entry in status["database"]["post_type_counts"]}
    assert counts == {
        "product": 4,
        "product_variation": 2,
        "shop_order": 3,
        "shop_coupon": 1,
        "customer": 2,
    }
    assert status["settings"]["currency"] == "USD"


def test_system_tools_are_listed_and_run(shop: Any) -> None:
    tools = [tool["id"] for tool in shop.call("system_tools_list")]
    assert len(tools) == 9
    for tool in tools:
        assert shop.call("system_tools_run", toolId=tool)["success"] is True
    assert len(shop.call("products_variations_list", productId=shop.SHIRT)) == 2
    assert "toolId" in shop.refusal("system_tools_run", toolId="rm_rf")
