"""Taxes, shipping, settings, payment gateways, the system and webhooks: what the tools have of them."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.woocommerce.rest.service import api, tool_route
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.servers.woocommerce.tools import configuration, shipping, system, taxes, webhooks

tool_route("GET", "/taxes", taxes.woo_tax_rates_list)
tool_route("GET", "/taxes/{rateId}", taxes.woo_tax_rates_get)
tool_route("POST", "/taxes", taxes.woo_tax_rates_create, status=201)
tool_route("GET", "/taxes/classes", taxes.woo_tax_classes_list)

tool_route("GET", "/shipping/zones", shipping.woo_shipping_zones_list)
tool_route("GET", "/shipping/zones/{zoneId}", shipping.woo_shipping_zones_get)
tool_route("POST", "/shipping/zones", shipping.woo_shipping_zones_create, status=201)
tool_route("PUT", "/shipping/zones/{zoneId}", shipping.woo_shipping_zones_update)
tool_route("GET", "/shipping/zones/{zoneId}/methods", shipping.woo_shipping_zone_methods_list)
tool_route("POST", "/shipping/zones/{zoneId}/methods", shipping.woo_shipping_zone_methods_create, status=201)

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
    gateway = store.update_gateway(
        gatewayId, enabled=enabled, title=title, description=description, order=order, settings=values
    )
    return configuration.gateway_shape(gateway)


tool_route("GET", "/system_status", system.woo_system_status)
tool_route("GET", "/system_status/tools", system.woo_system_tools_list)
tool_route("PUT", "/system_status/tools/{toolId}", system.woo_system_tools_run)

tool_route("GET", "/webhooks", webhooks.woo_webhooks_list)
tool_route("POST", "/webhooks", webhooks.woo_webhooks_create, status=201)
