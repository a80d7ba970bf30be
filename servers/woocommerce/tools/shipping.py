"""Tools for shipping zones and their methods."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.servers.woocommerce.store import SHIPPING_METHODS, WooCommerceStore, window
from mesocosm.servers.woocommerce.store.configuration import ZONES_PER_PAGE
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.servers.woocommerce.tools.shapes import Record
from mesocosm.services.service import Page
from mesocosm.services.shapes import same


class MethodOptions(TypedDict, total=False):
    """Options of ways of shipping; each has some of them."""

    title: str
    cost: str
    tax_status: str
    requires: str
    min_amount: str


@server.reads
def woo_shipping_zones_list(
    store: WooCommerceStore, perPage: int | None = None, page: int | None = None
) -> Page:
    """List shipping zones in the order in which they are tried; zone 0 is everywhere else.

    Args:
        perPage: Zones per page, 1 to 100; 100 by default.
        page: Page number, from 1.
    """
    rows, total = store.configuration.zones(page=page, per_page=perPage)
    return Page([zone_shape(row) for row in rows], *window(page, perPage, ZONES_PER_PAGE), total)


@server.reads
def woo_shipping_zones_get(store: WooCommerceStore, zoneId: int) -> dict[str, Any]:
    """Get one shipping zone.

    Args:
        zoneId: ID of the zone; 0 is everywhere that no other zone covers.
    """
    return zone_shape(store.configuration.zone(zoneId))


@server.writes
def woo_shipping_zones_create(store: WooCommerceStore, name: str, order: int | None = None) -> dict[str, Any]:
    """Create a shipping zone and return it.

    Args:
        name: Name of the zone.
        order: Its place among the zones; 0 by default.
    """
    return zone_shape(store.configuration.create_zone(name, order))


@server.writes(idempotent=True)
def woo_shipping_zones_update(
    store: WooCommerceStore, zoneId: int, name: str | None = None, order: int | None = None
) -> dict[str, Any]:
    """Change the name or the place of a shipping zone and return it.

    Args:
        zoneId: ID of the zone; zone 0 cannot be changed.
        name: New name.
        order: New place among the zones.
    """
    return zone_shape(store.configuration.update_zone(zoneId, name=name, order=order))


@server.reads
def woo_shipping_zone_methods_list(
    store: WooCommerceStore, zoneId: int, perPage: int | None = None, page: int | None = None
) -> Page:
    """List the ways of shipping that a zone offers.

    Args:
        zoneId: ID of the zone.
        perPage: Methods per page, 1 to 100; 100 by default.
        page: Page number, from 1.
    """
    rows, total = store.configuration.zone_methods(zoneId, page=page, per_page=perPage)
    return Page([method_shape(row) for row in rows], *window(page, perPage, ZONES_PER_PAGE), total)


@server.writes
def woo_shipping_zone_methods_create(
    store: WooCommerceStore,
    zoneId: int,
    methodId: str,
    enabled: bool = True,
    settings: MethodOptions | None = None,
) -> dict[str, Any]:
    """Offer a way of shipping in a zone and return it.

    Args:
        zoneId: ID of the zone.
        methodId: flat_rate, free_shipping or local_pickup.
        enabled: Whether customers can choose it.
        settings: Options by name: title, cost and tax_status; for free_shipping title, requires, min_amount.
    """
    return method_shape(
        store.configuration.create_zone_method(zoneId, methodId, enabled=enabled, settings=settings or {})
    )


def zone_shape(row: Record) -> dict[str, Any]:
    """A shipping zone as the product shows it."""
    return {"id": row["id"], "name": row["name"], "order": row["order"]}


def method_shape(row: Record) -> dict[str, Any]:
    """A way of shipping as the product shows it."""
    title, description, options = SHIPPING_METHODS[row["method_id"]]
    return {
        "id": row["id"],
        "instance_id": row["id"],
        "title": row["settings"]["title"],
        **same(row, "order", "enabled", "method_id"),
        "method_title": title,
        "method_description": description,
        "settings": {
            option: {"id": option, "label": label, "value": row["settings"][option], "default": default}
            for option, label, default in options
        },
    }
