"""The base of all tables of the service."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import JSON, Text
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    """The tables of ``google_cloud.db``."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        list[Any]: JSON(none_as_null=True),
        dict[str, Any]: JSON(none_as_null=True),
    }
