"""Base of all tables of the code host."""

from __future__ import annotations

from sqlalchemy import Text
from sqlalchemy.orm import DeclarativeBase

Name = Text(collation="NOCASE")
"""Text that is compared without regard to the case of ASCII letters."""


class Base(DeclarativeBase):
    """The tables of ``codehost.db``."""
