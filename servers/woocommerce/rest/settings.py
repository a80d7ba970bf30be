"""Tax classes, settings, payment gateways and the system: what the tools have of them."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.woocommerce.rest.service import api, tool_route
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.servers.woocommerce.tools import configuration, system, taxes
from mesocosm.services.schema import Json

tool_route("GET", "/taxes/classes", taxes.woo_tax_classes_list)


@api.post("/taxes/classes", status=201)
def create_tax_class(store: WooCommerceStore, name: str) -> Json:
    """A new tax class."""
    return dict(store.taxes.create_tax_class(name))


@api.delete("/taxes/classes/{slug}")
def delete_tax_class(store: WooCommerceStore, slug: str, force: bool = False) -> Json:
    return dict(store.taxes.delete_tax_class(slug, force=force))


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
