"""The base of all tables of the service."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import JSON, Text
from sqlalchemy.orm import DeclarativeBase

SITE = "https://shop.example.com"
"""Address of the shop in links."""


class Base(DeclarativeBase):
    """The tables of ``woocommerce.db``."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        list[Any]: JSON,
        list[int]: JSON,
        list[str]: JSON,
        dict[str, Any]: JSON(none_as_null=True),
    }
