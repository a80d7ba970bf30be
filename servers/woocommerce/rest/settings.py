"""Taxes, shipping, settings, payment gateways, the system and webhooks: what the tools have of them."""

from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.servers.woocommerce.rest.service import api, tool_route
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.servers.woocommerce.tools import configuration, shipping, system, taxes, webhooks

Shape = dict[str, Any]

tool_route("GET", "/taxes", taxes.woo_tax_rates_list)
tool_route("GET", "/taxes/{rateId}", taxes.woo_tax_rates_get)
tool_route("POST", "/taxes", taxes.woo_tax_rates_create, status=201)
tool_route("GET", "/taxes/classes", taxes.woo_tax_classes_list)


@api.put("/taxes/{id}")
def update_tax_rate(store: WooCommerceStore, request: Request, id: int) -> Shape:
    """A changed tax rate."""
    return taxes.rate_shape(store.setup_changes.update_tax_rate(id, request.values))


@api.delete("/taxes/{id}")
def delete_tax_rate(store: WooCommerceStore, id: int, force: bool = False) -> Shape:
    """What a tax rate was."""
    return taxes.rate_shape(store.setup_changes.delete_tax_rate(id, force=force))


@api.post("/taxes/classes", status=201)
def create_tax_class(store: WooCommerceStore, name: str) -> Shape:
    """A new tax class."""
    return dict(store.setup_changes.create_tax_class(name))


@api.delete("/taxes/classes/{slug}")
def delete_tax_class(store: WooCommerceStore, slug: str, force: bool = False) -> Shape:
    """What a tax class was."""
    return dict(store.setup_changes.delete_tax_class(slug, force=force))


tool_route("GET", "/shipping/zones", shipping.woo_shipping_zones_list)
tool_route("GET", "/shipping/zones/{zoneId}", shipping.woo_shipping_zones_get)
tool_route("POST", "/shipping/zones", shipping.woo_shipping_zones_create, status=201)
tool_route("PUT", "/shipping/zones/{zoneId}", shipping.woo_shipping_zones_update)
tool_route("GET", "/shipping/zones/{zoneId}/methods", shipping.woo_shipping_zone_methods_list)
tool_route("POST", "/shipping/zones/{zoneId}/methods", shipping.woo_shipping_zone_methods_create, status=201)


@api.delete("/shipping/zones/{zone_id}")
def delete_zone(store: WooCommerceStore, zone_id: int, force: bool = False) -> Shape:
    """What a shipping zone was."""
    return shipping.zone_shape(store.setup_changes.delete_zone(zone_id, force=force))


@api.get("/shipping/zones/{zone_id}/methods/{instance_id}")
def get_zone_method(store: WooCommerceStore, zone_id: int, instance_id: int) -> Shape:
    """One way of shipping of a zone."""
    return shipping.method_shape(store.setup_changes.zone_method(zone_id, instance_id))


@api.put("/shipping/zones/{zone_id}/methods/{instance_id}")
def update_zone_method(store: WooCommerceStore, request: Request, zone_id: int, instance_id: int) -> Shape:
    """A changed way of shipping."""
    return shipping.method_shape(store.setup_changes.update_zone_method(zone_id, instance_id, request.values))


@api.delete("/shipping/zones/{zone_id}/methods/{instance_id}")
def delete_zone_method(store: WooCommerceStore, zone_id: int, instance_id: int, force: bool = False) -> Shape:
    """What a way of shipping was."""
    return shipping.method_shape(store.setup_changes.delete_zone_method(zone_id, instance_id, force=force))


tool_route("GET", "/settings", configuration.woo_settings_list)
tool_route("GET", "/settings/{groupId}", configuration.woo_settings_get)
tool_route("GET", "/payment_gateways", configuration.woo_payment_gateways_list)
tool_route("GET", "/payment_gateways/{gatewayId}", configuration.woo_payment_gateways_get)


@api.put("/payment_gateways/{gatewayId}")
def update_gateway(
    store: WooCommerceStore,
    gatewayId: str,  # noqa: N803 - as the path's other methods call it
    enabled: bool | None = None,
    title: str | None = None,
    description: str | None = None,
    order: int | None = None,
    settings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A changed payment gateway. Its options may be sent back as they were read."""
    values = {
        option: said["value"] if isinstance(said, dict) and "value" in said else said
        for option, said in (settings or {}).items()
    }
    gateway = store.configuration.update_gateway(
        gatewayId, enabled=enabled, title=title, description=description, order=order, settings=values
    )
    return configuration.gateway_shape(gateway)


tool_route("GET", "/system_status", system.woo_system_status)
tool_route("GET", "/system_status/tools", system.woo_system_tools_list)
tool_route("PUT", "/system_status/tools/{toolId}", system.woo_system_tools_run)

tool_route("GET", "/webhooks", webhooks.woo_webhooks_list)
tool_route("POST", "/webhooks", webhooks.woo_webhooks_create, status=201)


@api.get("/webhooks/{id}")
def get_webhook(store: WooCommerceStore, id: int) -> Shape:
    """One webhook."""
    return webhooks.webhook_shape(store.setup_changes.webhook(id))


@api.put("/webhooks/{id}")
def update_webhook(store: WooCommerceStore, request: Request, id: int) -> Shape:
    """A changed webhook."""
    return webhooks.webhook_shape(store.setup_changes.update_webhook(id, request.values))


@api.delete("/webhooks/{id}")
def delete_webhook(store: WooCommerceStore, id: int, force: bool = False) -> Shape:
    """What a webhook was."""
    return webhooks.webhook_shape(store.setup_changes.delete_webhook(id, force=force))
