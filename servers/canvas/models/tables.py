"""Base of all tables."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKey, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

COUNTED = {"sqlite_autoincrement": True}
"""Table option: ids come from a counter and are never used twice."""


class Base(DeclarativeBase):
    """The tables of ``canvas.db``."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        list[str]: JSON,
        list[int]: JSON,
        list[dict[str, Any]]: JSON,
        dict[str, Any]: JSON,
    }


def account_key() -> Mapped[int]:
    """A column that names an account."""
    return mapped_column(ForeignKey("accounts.id"))


def user_key() -> Mapped[int]:
    """A column that names a user."""
    return mapped_column(ForeignKey("users.id"))


def course_key() -> Mapped[int]:
    """A column that names a course."""
    return mapped_column(ForeignKey("courses.id"))
