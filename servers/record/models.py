"""Tables of the record service."""

from __future__ import annotations

from sqlalchemy import Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``record.db``."""


class Line(Base):
    __tablename__ = "lines"

    number: Mapped[int] = mapped_column(primary_key=True)
    """From 1, without gaps."""
    text: Mapped[str] = mapped_column(Text)
