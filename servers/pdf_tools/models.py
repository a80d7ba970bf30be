"""Tables of the PDF tools: searches, so that their pages can be turned after a restart and in a fork."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``pdf_tools.db``."""


class Search(Base):
    """A search in one file, and the page of its matches that was shown last."""

    __tablename__ = "searches"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    search_id: Mapped[str] = mapped_column(Text, unique=True)
    """The id by which the agent knows it."""
    path: Mapped[str] = mapped_column(Text)
    pattern: Mapped[str] = mapped_column(Text)
    page_size: Mapped[int]
    current_page: Mapped[int]
    total: Mapped[int]
    accessed_at: Mapped[str] = mapped_column(Text)


class Match(Base):
    """One place that a search found."""

    __tablename__ = "matches"
    __table_args__ = ({"sqlite_with_rowid": False},)

    search: Mapped[int] = mapped_column(ForeignKey("searches.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    page: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    before: Mapped[str] = mapped_column(Text)
    after: Mapped[str] = mapped_column(Text)
