"""Configuration of the shop: settings and payment gateways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from mesocosm.servers.woocommerce.models import (
    PaymentGateway,
    Setting,
    SettingGroup,
)
from mesocosm.servers.woocommerce.refusals import invalid_parameter, not_found
from mesocosm.servers.woocommerce.store.places import currencies
from mesocosm.servers.woocommerce.store.shop import Record, Row, StorePart
from mesocosm.servers.woocommerce.values import (
    boolean,
    choice,
    text,
    whole,
)

_GROUPS = select(SettingGroup.__table__).order_by(SettingGroup.position)
_SETTINGS = select(Setting.__table__).where(Setting.group_id == bindparam("group")).order_by(Setting.position)
_GATEWAYS = select(PaymentGateway.__table__).order_by(PaymentGateway.order)
_GATEWAY = select(PaymentGateway.__table__).where(PaymentGateway.id == bindparam("id"))


class Configuration(StorePart):
    """Settings and payment gateways."""

    # -- settings ---------------------------------------------------------------------------------------

    def setting_groups(self) -> Sequence[Record]:
        """All groups of settings."""
        self.authorise("view")
        return self.fetch(_GROUPS)

    def settings(self, group_id: str) -> Sequence[Record]:
        self.authorise("view")
        if not any(group["id"] == group_id for group in self.fetch(_GROUPS)):
            raise not_found("rest_setting_setting_group_invalid", "Invalid setting group.")
        return self.fetch(_SETTINGS, group=group_id)

    def one_setting(self, group_id: str, setting_id: str) -> Record:
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


def _set_option(options: Sequence[Row], key: str, value: Any) -> None:
    for option in options:
        if option["id"] == key:
            yes_no = choice("yes", "no") if option["type"] == "checkbox" else text
            option["value"] = yes_no(value, f"settings.{key}")
            return
    known = ", ".join(option["id"] for option in options)
    raise invalid_parameter(f"settings.{key[:100]}", f"There is no such option; known: {known}.")
