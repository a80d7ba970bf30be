"""Shipping zones, where they lie, and the ways of shipping that they offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select

from mesocosm.servers.woocommerce.models import Meta, ShippingMethod, ShippingZone
from mesocosm.servers.woocommerce.models.shop import SHIPPING_METHODS
from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter
from mesocosm.servers.woocommerce.store.resources import Collection, ShopResource
from mesocosm.servers.woocommerce.store.shop import Record, Row
from mesocosm.servers.woocommerce.values import choice, fields, line, listed, price, title

ZONES_PER_PAGE = 100
"""The product gives all zones at once; here they come in pages of the largest size."""
_ZONE_PATH = "/shipping/zones/{zone_id}/locations"
_LOCATIONS = select(Meta.value).where(Meta.owner == _ZONE_PATH, Meta.owner_id == bindparam("zone"))
_LOCATION = fields({"code": line, "type": choice("postcode", "state", "country", "continent")}, ("_links",))
_LAST_METHOD = select(func.coalesce(func.max(ShippingMethod.order), 0).label("n"))

ZONES = ShopResource(
    ShippingZone,
    gone=("woocommerce_rest_shipping_zone_invalid", "Invalid shipping zone ID."),
    things="Shipping zones",
    required=["name"],
    by=(ShippingZone.order, ShippingZone.id),
    selects=(),
    per_page=ZONES_PER_PAGE,
)
ZONE_METHODS = ShopResource(
    ShippingMethod,
    gone=("woocommerce_rest_shipping_zone_method_invalid", "Resource does not exist."),
    things="Shipping methods",
    required=["method_id"],
    by=(ShippingMethod.order, ShippingMethod.id),
    selects=(),
    inside=ShippingMethod.zone_id,
    per_page=ZONES_PER_PAGE,
)


class Zones(Collection):
    """Shipping zones; 0 is everywhere that no other covers."""

    resource = ZONES

    def _check(self, rows: Any, before: Record | None = None) -> None:
        if before:
            _check_zone(before["id"], "updated")

    def _remove(self, record: Record) -> None:
        _check_zone(record["id"], "deleted")
        self.run(delete(ShippingMethod).where(ShippingMethod.zone_id == record["id"]))
        super()._remove(record)

    def zone_locations(self, zone_id: int) -> list[Row]:
        """Return the locations of a zone as given. Zone 0 is everywhere else."""
        self.authorise("view")
        self.row(zone_id)
        rows = self.fetch(_LOCATIONS, zone=zone_id)
        return list(rows[0]["value"]) if rows else []

    def set_zone_locations(self, zone_id: int, locations: Any) -> list[Row]:
        """Say where a zone lies: a list of codes (``CH``, ``US:CA``, ``EU``, ``80*``) and their types."""
        self.authorise("edit")
        self.zone_locations(zone_id)
        _check_zone(zone_id, "updated")
        given = [] if locations in (None, {}) else locations
        kept = [{"type": "country", **one} for one in listed(_LOCATION)(given, "locations")]
        self.run(delete(Meta).where(Meta.owner == _ZONE_PATH, Meta.owner_id == zone_id))
        self.run(insert(Meta).values(owner=_ZONE_PATH, owner_id=zone_id, key="record", value=kept))
        return self.zone_locations(zone_id)


def _check_zone(zone_id: int, what: str) -> None:
    if zone_id == 0:
        told = f'The "locations not covered by your other zones" zone cannot be {what}.'
        raise invalid("woocommerce_rest_shipping_zone_invalid_zone", told)


class ZoneMethods(Collection):
    """The ways of shipping of a zone, each with options of its own."""

    resource = ZONE_METHODS

    def _check_place(self) -> None:
        assert self.inside is not None
        self.store.zones.row(self.inside)

    def _new_row(self, values: Row, id_: int) -> Row:
        order = self.fetch(_LAST_METHOD.where(ShippingMethod.zone_id == self.inside))[0]["n"] + 1
        return super()._new_row({"order": order, **values}, id_)

    def _settled(self, row: Row, before: Record | None) -> Row:
        if before and row["method_id"] != before["method_id"]:
            raise invalid_parameter("method_id", "A way of shipping stays of its kind.")
        usual = {option: default for option, _, default in SHIPPING_METHODS[row["method_id"]][2]}
        kept = before["settings"] if before else usual
        return row | {"settings": kept | _method_settings(row["method_id"], row["settings"])}


def _method_settings(method_id: str, settings: Mapping[str, Any]) -> Row:
    """Options of a way of shipping, each checked. One may be sent back as it was read."""
    known = [option for option, _, _ in SHIPPING_METHODS[method_id][2]]
    found: Row = {}
    for key, value in settings.items():
        if key not in known:
            raise invalid_parameter(
                f"settings.{key[:100]}", f"There is no such option; known: {', '.join(known)}."
            )
        found[key] = _method_option(key, value["value"] if isinstance(value, dict) else value)
    return found


def _method_option(key: str, value: Any) -> str:
    name = f"settings.{key}"
    if key in ("cost", "min_amount"):
        return price(value, name)
    if key == "tax_status":
        return str(choice("taxable", "none")(value, name))
    if key == "requires":
        return str(choice("", "coupon", "min_amount", "either", "both")(value, name))
    return title(value, name)
