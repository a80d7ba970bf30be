"""Tools for shipping zones and their methods."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.servers.woocommerce.store import WooCommerceStore, window
from mesocosm.servers.woocommerce.store.shipping import ZONE_METHODS, ZONES, ZONES_PER_PAGE
from mesocosm.servers.woocommerce.tools.resources import ResourceTools
from mesocosm.servers.woocommerce.tools.service import PageNumber, ZoneId, server
from mesocosm.services.service import Page


class MethodOptions(TypedDict, total=False):
    """Options of ways of shipping; each has some of them."""

    title: str
    cost: str
    tax_status: str
    requires: str
    min_amount: str


_zones = ResourceTools("woo_shipping_zones", "zone", ZONES, lambda store: store.zones)
_zones.list("List shipping zones in the order in which they are tried; zone 0 is everywhere else.", "Zones")
_zones.get("Get one shipping zone.", "ID of the zone; 0 is everywhere that no other zone covers.")
_zones.create_of(
    "Create a shipping zone and return it.",
    name="Name of the zone.",
    order="Its place among the zones; 0 by default.",
)
_zones.update_of(
    "Change the name or the place of a shipping zone and return it.",
    "ID of the zone; zone 0 cannot be changed.",
    name="New name.",
    order="New place among the zones.",
)


@server.reads
def woo_shipping_zone_methods_list(
    store: WooCommerceStore, zoneId: ZoneId, perPage: int | None = None, page: PageNumber | None = None
) -> Page:
    """List the ways of shipping that a zone offers.

    Args:
        perPage: Methods per page, 1 to 100; 100 by default.
    """
    rows, total = store.zone_methods(zoneId).listed(page=page, per_page=perPage)
    return Page([ZONE_METHODS.shape(row) for row in rows], *window(page, perPage, ZONES_PER_PAGE), total)


@server.writes
def woo_shipping_zone_methods_create(
    store: WooCommerceStore,
    zoneId: ZoneId,
    methodId: str,
    enabled: bool = True,
    settings: MethodOptions | None = None,
) -> dict[str, Any]:
    """Offer a way of shipping in a zone and return it.

    Args:
        methodId: flat_rate, free_shipping or local_pickup.
        enabled: Whether customers can choose it.
        settings: Options by name: title, cost and tax_status; for free_shipping title, requires, min_amount.
    """
    data = {"method_id": methodId, "enabled": enabled, "settings": settings or {}}
    return ZONE_METHODS.shape(store.zone_methods(zoneId).create(data))
