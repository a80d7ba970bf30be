"""Changing and taking back what was made in the shop's configuration: taxes, shipping zones, webhooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from mesocosm.servers.woocommerce.models import Meta, ShippingMethod, ShippingZone, TaxClass, TaxRate, Webhook
from mesocosm.servers.woocommerce.refusals import invalid, no_trash, not_found
from mesocosm.servers.woocommerce.store.configuration import TOPICS, method_settings
from mesocosm.servers.woocommerce.store.shop import Part, Record, Row
from mesocosm.servers.woocommerce.values import (
    MAX_COUNT,
    boolean,
    checked,
    choice,
    field_of,
    fields,
    line,
    listed,
    text,
    title,
    url,
    whole,
)
from mesocosm.services.values import Checks

_METHOD = select(ShippingMethod.__table__).where(
    ShippingMethod.id == bindparam("id"), ShippingMethod.zone_id == bindparam("zone")
)
_ZONE_PATH = "/shipping/zones/{zone_id}/locations"
_LOCATIONS = select(Meta.value).where(Meta.owner == _ZONE_PATH, Meta.owner_id == bindparam("zone"))
_LOCATION = fields({"code": line, "type": choice("postcode", "state", "country", "continent")}, ("_links",))
_WEBHOOK = select(Webhook.__table__).where(Webhook.id == bindparam("id"))
_WEBHOOK_CHECKS = {
    "name": title,
    "status": choice("active", "paused", "disabled"),
    "topic": choice(*TOPICS),
    "delivery_url": url,
    "secret": lambda value, name: text(value, name, 1_000),
}
_RATE_CHECKS: Checks = {
    "priority": whole(1, MAX_COUNT),
    "compound": boolean,
    "shipping": boolean,
}
_STANDARD = "standard"


class SetupChanges(Part):
    """Rates and classes of taxes, shipping zones and their methods, webhooks."""

    def update_tax_rate(self, rate_id: int, data: Mapping[str, Any]) -> Record:
        """Change fields of a tax rate."""
        self.authorise("edit")
        before = self.store.taxes.tax_rate(rate_id)
        names = ("country", "state", "rate", "name", "priority", "compound", "shipping")
        given = {name: field_of(data, name, _RATE_CHECKS[name]) for name in _RATE_CHECKS if name in data}
        said = {name: data[name] if name in data else before[name] for name in names} | given
        tax_class = data["class"] if "class" in data else before["class"]
        row = self.store.taxes.tax_rate_row(**said, tax_class=tax_class)
        if "order" in data:
            row["order"] = field_of(data, "order", whole())
        columns = TaxRate.__table__.c
        self.run(update(TaxRate).where(TaxRate.id == rate_id).values({columns[k]: v for k, v in row.items()}))
        return self.store.taxes.tax_rate(rate_id)

    def delete_tax_rate(self, rate_id: int, *, force: bool) -> Record:
        """Delete a tax rate; orders keep the taxes that they have."""
        self.authorise("delete")
        no_trash("Taxes", force=force)
        record = self.store.taxes.tax_rate(rate_id)
        self.run(delete(TaxRate).where(TaxRate.id == rate_id))
        return record

    def create_tax_class(self, name: str) -> Record:
        """A new tax class, called by its slug."""
        self.authorise("create")
        shown = title(name, "name")
        slug = re.sub(r"[^a-z0-9]+", "-", shown.lower()).strip("-")
        if not slug or any(slug == row["slug"] for row in self.store.taxes.tax_classes()):
            raise invalid("woocommerce_rest_tax_class_exists", f"Cannot create the tax class {slug!r}.")
        place = self.fetch(select(func.coalesce(func.max(TaxClass.position), 0).label("n")))[0]["n"] + 1
        self.add(TaxClass, [{"slug": slug, "name": shown, "position": place}])
        return {"slug": slug, "name": shown}

    def delete_tax_class(self, slug: str, *, force: bool) -> Record:
        """Delete a tax class with its rates."""
        self.authorise("delete")
        no_trash("Taxes", force=force)
        found = next((row for row in self.store.taxes.tax_classes() if row["slug"] == slug), None)
        if found is None or slug == _STANDARD:
            raise not_found("woocommerce_rest_tax_class_invalid_slug", "Invalid slug.")
        self.run(delete(TaxRate).where(TaxRate.class_ == slug))
        self.run(delete(TaxClass).where(TaxClass.slug == slug))
        return found

    # -- shipping ---------------------------------------------------------------------------------------

    def delete_zone(self, zone_id: int, *, force: bool) -> Record:
        """Delete a shipping zone with its ways of shipping."""
        self.authorise("delete")
        no_trash("Shipping zones", force=force)
        record = self.store.configuration.zone_row(zone_id)
        if zone_id == 0:
            text_ = 'The "locations not covered by your other zones" zone cannot be deleted.'
            raise invalid("woocommerce_rest_shipping_zone_invalid_zone", text_)
        self.run(delete(ShippingMethod).where(ShippingMethod.zone_id == zone_id))
        self.run(delete(ShippingZone).where(ShippingZone.id == zone_id))
        return record

    def zone_locations(self, zone_id: int) -> list[Row]:
        """Where a zone lies, as it was said; zone 0 is everywhere else."""
        self.authorise("view")
        self.store.configuration.zone_row(zone_id)
        rows = self.fetch(_LOCATIONS, zone=zone_id)
        return list(rows[0]["value"]) if rows else []

    def set_zone_locations(self, zone_id: int, locations: Any) -> list[Row]:
        """Say where a zone lies: a list of codes (``CH``, ``US:CA``, ``EU``, ``80*``) and their types."""
        self.authorise("edit")
        self.zone_locations(zone_id)
        if zone_id == 0:
            text_ = 'The "locations not covered by your other zones" zone cannot be updated.'
            raise invalid("woocommerce_rest_shipping_zone_invalid_zone", text_)
        given = [] if locations in (None, {}) else locations
        kept = [{"type": "country", **one} for one in listed(_LOCATION)(given, "locations")]
        self.run(delete(Meta).where(Meta.owner == _ZONE_PATH, Meta.owner_id == zone_id))
        self.run(insert(Meta).values(owner=_ZONE_PATH, owner_id=zone_id, key="record", value=kept))
        return self.zone_locations(zone_id)

    def zone_method(self, zone_id: int, instance_id: int) -> Record:
        """One way of shipping of a zone."""
        self.authorise("view")
        self.store.configuration.zone_row(zone_id)
        rows = self.fetch(_METHOD, zone=zone_id, id=instance_id)
        if not rows:
            raise not_found("woocommerce_rest_shipping_zone_method_invalid", "Resource does not exist.")
        return rows[0]

    def update_zone_method(self, zone_id: int, instance_id: int, data: Mapping[str, Any]) -> Record:
        """Change whether a way of shipping is offered, its place and its options."""
        self.authorise("edit")
        before = self.zone_method(zone_id, instance_id)
        values: Row = {}
        if "enabled" in data:
            values["enabled"] = field_of(data, "enabled", boolean)
        if "order" in data:
            values["order"] = field_of(data, "order", whole(0))
        if "settings" in data:
            values["settings"] = before["settings"] | method_settings(before["method_id"], data["settings"])
        if values:
            self.run(update(ShippingMethod).where(ShippingMethod.id == instance_id).values(values))
        return self.zone_method(zone_id, instance_id)

    def delete_zone_method(self, zone_id: int, instance_id: int, *, force: bool) -> Record:
        """Offer a way of shipping no longer."""
        self.authorise("delete")
        no_trash("Shipping methods", force=force)
        record = self.zone_method(zone_id, instance_id)
        self.run(delete(ShippingMethod).where(ShippingMethod.id == instance_id))
        return record

    # -- webhooks ---------------------------------------------------------------------------------------

    def webhook(self, webhook_id: int) -> Record:
        """One webhook."""
        self.authorise("view")
        rows = self.fetch(_WEBHOOK, id=webhook_id)
        if not rows:
            raise not_found("woocommerce_rest_shop_webhook_invalid_id", "Invalid ID.")
        return rows[0]

    def update_webhook(self, webhook_id: int, data: Mapping[str, Any]) -> Record:
        """Change fields of a webhook."""
        self.authorise("edit")
        self.webhook(webhook_id)
        values = checked(data, _WEBHOOK_CHECKS) | {"date_modified": self.today}
        self.run(update(Webhook).where(Webhook.id == webhook_id).values(values))
        return self.webhook(webhook_id)

    def delete_webhook(self, webhook_id: int, *, force: bool) -> Record:
        """Delete a webhook."""
        self.authorise("delete")
        no_trash("Webhooks", force=force)
        record = self.webhook(webhook_id)
        self.run(delete(Webhook).where(Webhook.id == webhook_id))
        return record
