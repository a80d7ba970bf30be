"""Tools for settings and payment gateways."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, Literal, TypedDict

from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.servers.woocommerce.tools.shapes import Record
from mesocosm.services.service import same

Group = Literal[
    "general",
    "products",
    "tax",
    "shipping",
    "checkout",
    "account",
    "email",
    "integration",
    "advanced",
    "rest-api",
]


class GatewayOptions(TypedDict, total=False):
    """Options of payment gateways; each has some of them."""

    title: str
    instructions: str
    testmode: Literal["yes", "no"]


@server.reads
def woo_settings_list(store: WooCommerceStore) -> list[dict[str, Any]]:
    """List the groups of settings (see woo_settings_get for the settings of one)."""
    return [
        {
            **same(row, "id", "label", "description"),
            "parent_id": "",
            "sub_groups": [],
        }
        for row in store.configuration.setting_groups()
    ]


@server.reads
def woo_settings_get(store: WooCommerceStore, groupId: Group) -> list[dict[str, Any]]:
    """Get the settings of one group with their present values.

    Args:
        groupId: The group.
    """
    return [setting_shape(row) for row in store.configuration.settings(groupId)]


def setting_shape(row: Record) -> dict[str, Any]:
    """A setting as the product shows it."""
    names = ("id", "label", "description", "type", "default", "value")
    setting = {name: row[name] for name in names}
    return setting | ({"options": row["options"]} if row["options"] else {})


@server.reads
def woo_payment_gateways_list(store: WooCommerceStore) -> list[dict[str, Any]]:
    """List the payment gateways with their options."""
    return [gateway_shape(row) for row in store.configuration.gateways()]


@server.reads
def woo_payment_gateways_get(store: WooCommerceStore, gatewayId: str) -> dict[str, Any]:
    """Get one payment gateway with its options.

    Args:
        gatewayId: ID of the gateway, such as bacs or stripe.
    """
    return gateway_shape(store.configuration.gateway(gatewayId))


@server.writes(idempotent=True)
def woo_payment_gateways_update(
    store: WooCommerceStore,
    gatewayId: str,
    enabled: bool | None = None,
    title: str | None = None,
    description: str | None = None,
    settings: GatewayOptions | None = None,
) -> dict[str, Any]:
    """Change a payment gateway and return it.

    Args:
        gatewayId: ID of the gateway.
        enabled: Whether customers can pay with it.
        title: What customers see it called.
        description: What customers read about it.
        settings: Values of its options, by the id of the option.
    """
    gateway = store.configuration.update_gateway(
        gatewayId, enabled=enabled, title=title, description=description, settings=settings
    )
    return gateway_shape(gateway)


def gateway_shape(row: Record) -> dict[str, Any]:
    """A payment gateway with its options."""
    names = ("id", "title", "description", "order", "enabled", "method_title", "method_description")
    return {name: row[name] for name in names} | {
        "method_supports": row["supports"],
        "settings": {option["id"]: option for option in row["settings"]},
    }
