"""How the shop is set up: shipping, taxes, settings, payment, webhooks."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base


class ShippingZone(Base):
    """A region that shares its shipping methods; zone 0 is everywhere else."""

    __tablename__ = "shipping_zones"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's form

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    order: Mapped[int] = mapped_column(default=0)


class ShippingMethod(Base):
    """A way of shipping offered in a zone; ``id`` is the product's ``instance_id``."""

    __tablename__ = "shipping_methods"
    __table_args__ = (Index("shipping_methods_by_zone", "zone_id", "order"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    zone_id: Mapped[int] = mapped_column(ForeignKey("shipping_zones.id"))
    method_id: Mapped[str]
    order: Mapped[int]
    enabled: Mapped[bool]
    settings: Mapped[dict[str, Any]]


class TaxRate(Base):
    """A tax that applies at a place; empty country or state means any."""

    __tablename__ = "tax_rates"
    __table_args__ = (Index("tax_rates_by_class", "class", "order", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    country: Mapped[str]
    state: Mapped[str] = mapped_column(default="")
    rate: Mapped[str]
    name: Mapped[str]
    priority: Mapped[int]
    compound: Mapped[bool]
    shipping: Mapped[bool]
    order: Mapped[int]
    class_: Mapped[str] = mapped_column("class")


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


class Webhook(Base):
    """A wish to be told of events."""

    __tablename__ = "webhooks"
    __table_args__ = (Index("webhooks_by_date", "date_created", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    status: Mapped[str]
    topic: Mapped[str]
    delivery_url: Mapped[str]
    secret: Mapped[str]
    date_created: Mapped[str]
    date_modified: Mapped[str]
