"""Custom fields of products, orders, customers and coupons."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Index
from sqlalchemy.orm import Mapped, mapped_column

from mesocosm.servers.woocommerce.models.declarative import Base


class Meta(Base):
    """One custom field of one object."""

    __tablename__ = "meta"
    __table_args__ = (Index("meta_by_owner", "owner", "owner_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str]
    """``product``, ``order``, ``customer`` or ``coupon``."""
    owner_id: Mapped[int]
    key: Mapped[str]
    value: Mapped[Any] = mapped_column(JSON)
