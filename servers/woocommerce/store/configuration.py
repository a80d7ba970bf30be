"""How the shop is set up: shipping zones, settings, payment gateways, webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func, select, update

from mesocosm.servers.woocommerce.models import (
    PaymentGateway,
    Setting,
    SettingGroup,
    ShippingMethod,
    ShippingZone,
    Webhook,
)
from mesocosm.servers.woocommerce.refusals import invalid, invalid_parameter, not_found
from mesocosm.servers.woocommerce.store.places import currencies
from mesocosm.servers.woocommerce.store.shop import Part, Record, Row
from mesocosm.servers.woocommerce.values import (
    boolean,
    choice,
    line,
    price,
    text,
    title,
    url,
    whole,
    window,
)

TOPICS = tuple(
    f"{resource}.{event}"
    for resource in ("coupon", "customer", "order", "product")
    for event in ("created", "updated", "deleted")
)
"""What a webhook can be told of."""
ZONES_PER_PAGE = 100
"""The product gives all zones at once; here they come in pages of the largest size."""

# What each way of shipping is called, and the options it has: id, label, default.
SHIPPING_METHODS: Mapping[str, tuple[str, str, Sequence[tuple[str, str, str]]]] = {
    "flat_rate": (
        "Flat rate",
        "Lets you charge a fixed rate for shipping.",
        (
            ("title", "Name", "Flat rate"),
            ("tax_status", "Tax status", "taxable"),
            ("cost", "Cost", ""),
        ),
    ),
    "free_shipping": (
        "Free shipping",
        "Free shipping is a special method which can be triggered with coupons and minimum spends.",
        (
            ("title", "Name", "Free shipping"),
            ("requires", "Free shipping requires", ""),
            ("min_amount", "Minimum order amount", "0"),
        ),
    ),
    "local_pickup": (
        "Local pickup",
        "Allow customers to pick up orders themselves.",
        (
            ("title", "Name", "Local pickup"),
            ("tax_status", "Tax status", "taxable"),
            ("cost", "Cost", ""),
        ),
    ),
}

_ZONE = select(ShippingZone.__table__).where(ShippingZone.id == bindparam("id"))
_ZONES = (
    select(ShippingZone.__table__)
    .order_by(ShippingZone.order, ShippingZone.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_METHODS = (
    select(ShippingMethod.__table__)
    .where(ShippingMethod.zone_id == bindparam("zone"))
    .order_by(ShippingMethod.order, ShippingMethod.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_METHOD = select(ShippingMethod.__table__).where(ShippingMethod.id == bindparam("id"))
_LAST_METHOD = select(func.coalesce(func.max(ShippingMethod.order), 0).label("n")).where(
    ShippingMethod.zone_id == bindparam("zone")
)
_GROUPS = select(SettingGroup.__table__).order_by(SettingGroup.position)
_SETTINGS = select(Setting.__table__).where(Setting.group_id == bindparam("group")).order_by(Setting.position)
_GATEWAYS = select(PaymentGateway.__table__).order_by(PaymentGateway.order)
_GATEWAY = select(PaymentGateway.__table__).where(PaymentGateway.id == bindparam("id"))
_WEBHOOK = select(Webhook.__table__).where(Webhook.id == bindparam("id"))


class Configuration(Part):
    """Shipping zones, settings, payment gateways, webhooks."""

    # -- shipping ---------------------------------------------------------------------------------------

    def zones(self, *, page: int | None = None, per_page: int | None = None) -> tuple[Sequence[Record], int]:
        """One page of the shipping zones in their order, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page, ZONES_PER_PAGE)
        rows = self.fetch(_ZONES, limit=per_page, offset=(page - 1) * per_page)
        return rows, self.count(ShippingZone)

    def zone(self, zone_id: int) -> Record:
        """One shipping zone; 0 is everywhere that no other covers."""
        self.authorise("view")
        return self.zone_row(zone_id)

    def zone_row(self, zone_id: int) -> Record:
        """One shipping zone, whoever asks."""
        rows = self.fetch(_ZONE, id=zone_id)
        if not rows:
            raise not_found("woocommerce_rest_shipping_zone_invalid", "Invalid shipping zone ID.")
        return rows[0]

    def create_zone(self, name: str, order: int | None = None) -> Record:
        """A new shipping zone."""
        self.authorise("create")
        row = {"name": title(name, "name"), "order": whole(0)(order or 0, "order")}
        return self.zone_row(self.insert_one(ShippingZone, row))

    def update_zone(self, zone_id: int, *, name: str | None = None, order: int | None = None) -> Record:
        """Change a shipping zone's name or place."""
        self.authorise("edit")
        self.zone_row(zone_id)
        if zone_id == 0:
            text_ = 'The "locations not covered by your other zones" zone cannot be updated.'
            raise invalid("woocommerce_rest_shipping_zone_invalid_zone", text_)
        values: Row = {}
        if name is not None:
            values["name"] = title(name, "name")
        if order is not None:
            values["order"] = whole(0)(order, "order")
        if values:
            self.run(update(ShippingZone).where(ShippingZone.id == zone_id).values(values))
        return self.zone_row(zone_id)

    def zone_methods(
        self, zone_id: int, *, page: int | None = None, per_page: int | None = None
    ) -> tuple[Sequence[Record], int]:
        """One page of the ways of shipping in a zone, and how many it has."""
        self.authorise("view")
        self.zone_row(zone_id)
        page, per_page = window(page, per_page, ZONES_PER_PAGE)
        rows = self.fetch(_METHODS, zone=zone_id, limit=per_page, offset=(page - 1) * per_page)
        return rows, self.count(ShippingMethod, ShippingMethod.zone_id == zone_id)

    def create_zone_method(
        self, zone_id: int, method_id: str, *, enabled: bool = True, settings: Mapping[str, Any]
    ) -> Record:
        """Offer a way of shipping in a zone."""
        self.authorise("create")
        self.zone_row(zone_id)
        if method_id not in SHIPPING_METHODS:
            known = ", ".join(SHIPPING_METHODS)
            raise invalid_parameter("method_id", f"method_id is not one of {known}.")
        chosen = {option: default for option, _, default in SHIPPING_METHODS[method_id][2]}
        chosen |= method_settings(method_id, settings)
        order = self.fetch(_LAST_METHOD, zone=zone_id)[0]["n"] + 1
        row = {"zone_id": zone_id, "method_id": method_id, "order": order}
        row |= {"enabled": boolean(enabled, "enabled"), "settings": chosen}
        return self.fetch(_METHOD, id=self.insert_one(ShippingMethod, row))[0]

    # -- settings ---------------------------------------------------------------------------------------

    def setting_groups(self) -> Sequence[Record]:
        """All groups of settings."""
        self.authorise("view")
        return self.fetch(_GROUPS)

    def settings(self, group_id: str) -> Sequence[Record]:
        """The settings of one group."""
        self.authorise("view")
        if not any(group["id"] == group_id for group in self.fetch(_GROUPS)):
            raise not_found("rest_setting_setting_group_invalid", "Invalid setting group.")
        return self.fetch(_SETTINGS, group=group_id)

    def one_setting(self, group_id: str, setting_id: str) -> Record:
        """One setting of a group."""
        for row in self.settings(group_id):
            if row["id"] == setting_id:
                return row
        raise not_found("rest_setting_setting_invalid", "Invalid setting.")

    def set_setting(self, group_id: str, setting_id: str, value: Any) -> Record:
        """Change a setting of a group."""
        self.authorise("edit")
        row = self.one_setting(group_id, setting_id)
        if row["type"] == "checkbox":
            value = choice("yes", "no")(value, "value")
        elif setting_id == "woocommerce_currency":
            value = choice(*currencies())(value, "value")
        elif row["options"]:
            value = choice(*row["options"])(value, "value")
        else:
            value = text(value, "value")
        self.change_setting(setting_id, value)
        return self.one_setting(group_id, setting_id)

    # -- payment ----------------------------------------------------------------------------------------

    def gateways(self) -> Sequence[Record]:
        """All payment gateways."""
        self.authorise("view")
        return self.fetch(_GATEWAYS)

    def gateway(self, gateway_id: str) -> Record:
        """One payment gateway."""
        self.authorise("view")
        return self._gateway(gateway_id)

    def _gateway(self, gateway_id: str) -> Record:
        rows = self.fetch(_GATEWAY, id=gateway_id)
        if not rows:
            raise not_found("woocommerce_rest_payment_gateway_invalid", "Resource does not exist.")
        return rows[0]

    def update_gateway(
        self,
        gateway_id: str,
        *,
        enabled: bool | None = None,
        title: str | None = None,
        description: str | None = None,
        order: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Record:
        """Change a payment gateway; ``settings`` are values by the id of the option."""
        self.authorise("edit")
        gateway = self._gateway(gateway_id)
        options = [dict(option) for option in gateway["settings"]]
        said = dict(settings or {})
        if title is not None:
            said["title"] = title
        for key, value in said.items():
            _set_option(options, key, value)
        values: Row = {"settings": options}
        values["title"] = next(option["value"] for option in options if option["id"] == "title")
        if description is not None:
            values["description"] = text(description, "description")
        if enabled is not None:
            values["enabled"] = boolean(enabled, "enabled")
        if order is not None:
            values["order"] = whole()(order, "order")
        self.run(update(PaymentGateway).where(PaymentGateway.id == gateway_id).values(values))
        return self._gateway(gateway_id)

    # -- webhooks ---------------------------------------------------------------------------------------

    def webhooks(
        self, *, status: str | None, page: int | None, per_page: int | None
    ) -> tuple[Sequence[Record], int]:
        """One page of the webhooks, newest first, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = [Webhook.status == status] if status else []
        statement = (
            select(Webhook.__table__)
            .where(*conditions)
            .order_by(Webhook.date_created.desc(), Webhook.id.desc())
        )
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        return rows, self.count(Webhook, *conditions)

    def create_webhook(
        self, *, name: str, topic: str, delivery_url: str, status: str, secret: str | None
    ) -> Record:
        """A new webhook; nothing is delivered to the outside."""
        self.authorise("create")
        row = {
            "name": title(name, "name"),
            "topic": line(topic, "topic"),
            "delivery_url": url(delivery_url, "delivery_url"),
            "status": status,
            "secret": text(secret or "", "secret", 1_000),
            "date_created": self.today,
            "date_modified": self.today,
        }
        return self.fetch(_WEBHOOK, id=self.insert_one(Webhook, row))[0]


def method_settings(method_id: str, settings: Mapping[str, Any]) -> Row:
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


def _set_option(options: Sequence[Row], key: str, value: Any) -> None:
    for option in options:
        if option["id"] == key:
            yes_no = choice("yes", "no") if option["type"] == "checkbox" else text
            option["value"] = yes_no(value, f"settings.{key}")
            return
    known = ", ".join(option["id"] for option in options)
    raise invalid_parameter(f"settings.{key[:100]}", f"There is no such option; known: {known}.")
