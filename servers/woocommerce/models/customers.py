"""People: customers and the shop's staff."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base


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
    email: Mapped[str] = mapped_column(Text(collation="NOCASE"))
    username: Mapped[str] = mapped_column(Text(collation="NOCASE"))
    password: Mapped[str]
    """A hash; the password itself is not kept."""
    first_name: Mapped[str] = mapped_column(default="")
    last_name: Mapped[str] = mapped_column(default="")
    display_name: Mapped[str] = mapped_column(default="")
    role: Mapped[str] = mapped_column(default="customer")
    billing: Mapped[dict[str, Any]]
    shipping: Mapped[dict[str, Any]]
    date_created: Mapped[str]
    date_modified: Mapped[str | None]


class SignIn(Base):
    """Whose API key the tools use, and what the key permits: one row."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    permissions: Mapped[str]
    """``read``, ``write`` or ``read_write``."""
