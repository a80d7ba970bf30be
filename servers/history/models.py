"""Tables of the history service: the messages of an agent's past work, in order."""

from __future__ import annotations

from sqlalchemy import Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``history.db``."""


class Message(Base):
    """One message. They are numbered from 0 on, without gaps."""

    __tablename__ = "messages"

    id: Mapped[int] = mapped_column(primary_key=True)
    role: Mapped[str] = mapped_column(Text)
    heading: Mapped[str] = mapped_column(Text)
    """The line above it, of its own."""
    body: Mapped[str] = mapped_column(Text)
