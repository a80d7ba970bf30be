"""People: customers and the shop's staff."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar, TypedDict

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base
from mesocosm.servers.woocommerce.values import (
    choice,
    date,
    email,
    email_or_nothing,
    fields,
    line,
    meta_data,
    money,
    text,
    title,
)
from mesocosm.services.resources import Record, Shown, field
from mesocosm.services.schema import Cell
from mesocosm.services.values import Check

STAFF = ("administrator", "shop_manager")
EMPTY_ADDRESS = dict.fromkeys(
    ("first_name", "last_name", "company", "address_1", "address_2", "city", "postcode", "country", "state"),
    "",
)
EMPTY_BILLING = {**EMPTY_ADDRESS, "email": "", "phone": ""}
EMPTY_SHIPPING = {**EMPTY_ADDRESS, "phone": ""}
_ADDRESS = dict.fromkeys(EMPTY_ADDRESS, line)
billing_address: Check = fields({**_ADDRESS, "email": email_or_nothing, "phone": line})
shipping_address: Check = fields({**_ADDRESS, "phone": line})


class Address(TypedDict, total=False):
    """A postal address."""

    first_name: str
    last_name: str
    company: str
    address_1: str
    address_2: str
    city: str
    state: str
    postcode: str
    country: str
    phone: str


class BillingAddress(Address, total=False):
    email: str


class MetaData(TypedDict, total=False):
    """A custom field."""

    key: str
    value: str


class MetaChange(TypedDict, total=False):
    """A custom field to set; null removes it."""

    key: str
    value: Cell


def _picture(record: Record) -> str:
    digest = hashlib.md5(record["email"].lower().encode(), usedforsecurity=False).hexdigest()
    return f"https://secure.gravatar.com/avatar/{digest}?s=96&d=mm&r=g"


class Customer(Base):
    """A user of the shop, whatever the role."""

    __tablename__ = "customers"
    __table_args__ = (
        Index("customers_by_email", "email", unique=True),
        Index("customers_by_username", "username", unique=True),
        Index("customers_by_name", "display_name", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    date_created: Mapped[str] = field(date, by="filling", also="date_created_gmt", sort_order=5)
    date_modified: Mapped[str | None] = field(also="date_modified_gmt", sort_order=5)
    email: Mapped[str] = field(email, Text(collation="NOCASE"), tool=True)
    first_name: Mapped[str] = field(line, default="", tool=True, sort_order=2)
    last_name: Mapped[str] = field(line, default="", tool=True, sort_order=2)
    role: Mapped[str] = field(choice("customer", *STAFF), by="filling", default="customer", sort_order=4)
    username: Mapped[str] = field(title, Text(collation="NOCASE"), default="", tool=True)
    password: Mapped[str] = field(
        lambda value, name: text(value, name, 4_096), default="", tool=True, shown=False, sort_order=1
    )
    """A hash; the password itself is not kept."""
    display_name: Mapped[str] = field(default="", shown=False, sort_order=3)
    billing: Mapped[dict[str, Any]] = field(billing_address, default=dict, tool=BillingAddress, sort_order=4)
    shipping: Mapped[dict[str, Any]] = field(shipping_address, default=dict, tool=Address, sort_order=4)
    is_paying_customer: ClassVar[Shown] = Shown()
    orders_count: ClassVar[Shown] = Shown()
    total_spent: ClassVar[Shown] = Shown(made=lambda record: money(record["total_spent"]))
    avatar_url: ClassVar[Shown] = Shown(made=_picture)
    meta_data: ClassVar[Shown] = Shown(meta_data, "clients", tool=list[MetaData])


class SignIn(Base):
    """API key of the tools with its permission: one row."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    permissions: Mapped[str]
    """``read``, ``write`` or ``read_write``."""
