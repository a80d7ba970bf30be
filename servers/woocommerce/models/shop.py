"""Configuration of the shop: shipping, taxes, settings, payment, webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base
from mesocosm.servers.woocommerce.refusals import invalid_parameter
from mesocosm.servers.woocommerce.values import (
    MAX_COUNT,
    boolean,
    choice,
    line,
    object_,
    optional,
    price,
    text,
    title,
    url,
    whole,
)
from mesocosm.services.resources import Record, Shown, field

MAX_PERCENT = 1_000
TOPICS = tuple(
    f"{resource}.{event}"
    for resource in ("coupon", "customer", "order", "product")
    for event in ("created", "updated", "deleted")
)
"""Topics of webhooks."""
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


class ShippingZone(Base):
    """A region that shares its shipping methods; zone 0 is everywhere else."""

    __tablename__ = "shipping_zones"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's form

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = field(title, tool=True)
    order: Mapped[int] = field(whole(0), default=0, tool=True)


def _of_method(place: int) -> Shown:
    return Shown(made=lambda row: SHIPPING_METHODS[row["method_id"]][place])


def _options(row: Record) -> Mapping[str, Any]:
    return {
        option: {"id": option, "label": label, "value": row["settings"][option], "default": default}
        for option, label, default in SHIPPING_METHODS[row["method_id"]][2]
    }


class ShippingMethod(Base):
    """A way of shipping offered in a zone; ``id`` is the product's ``instance_id``."""

    __tablename__ = "shipping_methods"
    __table_args__ = (Index("shipping_methods_by_zone", "zone_id", "order"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    instance_id: ClassVar[Shown] = Shown(made=lambda row: row["id"])
    zone_id: Mapped[int] = field(None, ForeignKey("shipping_zones.id"), shown=False)
    title: ClassVar[Shown] = Shown(made=lambda row: row["settings"]["title"])
    order: Mapped[int] = field(whole(0), sort_order=1)
    enabled: Mapped[bool] = field(boolean, default=True, sort_order=1)
    method_id: Mapped[str] = field(choice(*SHIPPING_METHODS))
    method_title: ClassVar[Shown] = _of_method(0)
    method_description: ClassVar[Shown] = _of_method(1)
    settings: Mapped[dict[str, Any]] = field(object_, default=dict, made=_options, sort_order=1)


def _country(value: Any, name: str) -> str:
    code = line(value, name).upper()
    if code and not (code.isalpha() and len(code) == 2):
        raise invalid_parameter(name, f"{name} must be a country code of two letters (ISO 3166).")
    return code


def _percent(value: Any, name: str) -> str:
    percent = price(value, name)
    if not percent or Decimal(percent) > MAX_PERCENT:
        raise invalid_parameter(name, f"{name} must be a percentage from 0 to {MAX_PERCENT}.")
    return f"{Decimal(percent):.4f}"


class TaxRate(Base):
    """A tax that applies at a place; empty country or state means any."""

    __tablename__ = "tax_rates"
    __table_args__ = (Index("tax_rates_by_class", "class", "order", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    country: Mapped[str] = field(_country, default="", tool=True)
    state: Mapped[str] = field(lambda value, name: line(value, name).upper(), default="", tool=True)
    postcode: ClassVar[Shown] = Shown(made=lambda row: "")
    city: ClassVar[Shown] = Shown(made=lambda row: "")
    rate: Mapped[str] = field(_percent, tool=True)
    name: Mapped[str] = field(lambda value, name: line(value, name) or "Tax", default="Tax", tool=True)
    priority: Mapped[int] = field(whole(1, MAX_COUNT), default=1, tool=True)
    compound: Mapped[bool] = field(boolean, default=False, tool=True)
    shipping: Mapped[bool] = field(boolean, default=True, tool=True)
    order: Mapped[int] = field(whole())
    class_: Mapped[str] = field(optional(text), "class", default="standard", tool=True)
    postcodes: ClassVar[Shown] = Shown(made=lambda row: [])
    cities: ClassVar[Shown] = Shown(made=lambda row: [])


class TaxClass(Base):
    """A kind of goods for taxation."""

    __tablename__ = "tax_classes"

    slug: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    position: Mapped[int]


class SettingGroup(Base):
    """A page of settings."""

    __tablename__ = "setting_groups"

    id: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str]
    description: Mapped[str]
    position: Mapped[int]


class Setting(Base):
    """One option of the shop."""

    __tablename__ = "settings"

    group_id: Mapped[str] = mapped_column(ForeignKey("setting_groups.id"), primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str]
    description: Mapped[str]
    type: Mapped[str]
    default: Mapped[str]
    value: Mapped[str]
    options: Mapped[dict[str, Any] | None]
    position: Mapped[int]


class PaymentGateway(Base):
    """A way to pay."""

    __tablename__ = "payment_gateways"

    id: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    description: Mapped[str]
    order: Mapped[int]
    enabled: Mapped[bool]
    method_title: Mapped[str]
    method_description: Mapped[str]
    supports: Mapped[list[Any]]
    settings: Mapped[list[Any]]
    """The gateway's own options: id, label, description, type, value, default."""


def _hooks(row: Record) -> list[str]:
    resource, _, event = row["topic"].partition(".")
    return [f"woocommerce_{event}_{resource}"]


class Webhook(Base):
    """A wish to be told of events."""

    __tablename__ = "webhooks"
    __table_args__ = (Index("webhooks_by_date", "date_created", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = field(title, tool=True)
    status: Mapped[str] = field(choice("active", "paused", "disabled"), default="active", tool=True)
    topic: Mapped[str] = field(choice(*TOPICS), tool=True)
    resource: ClassVar[Shown] = Shown(made=lambda row: row["topic"].partition(".")[0])
    event: ClassVar[Shown] = Shown(made=lambda row: row["topic"].partition(".")[2])
    hooks: ClassVar[Shown] = Shown(made=_hooks)
    delivery_url: Mapped[str] = field(url, tool=True)
    secret: Mapped[str] = field(
        lambda value, name: text(value, name, 1_000), default="", tool=True, shown=False
    )
    date_created: Mapped[str] = field(also="date_created_gmt")
    date_modified: Mapped[str] = field(also="date_modified_gmt")
