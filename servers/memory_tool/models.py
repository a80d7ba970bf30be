"""Tables of the memory tool: text files in a folder that lasts."""

from __future__ import annotations

from sqlalchemy import Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``memory_tool.db``."""


class File(Base):
    """A text file; folders exist by the paths of the files in them."""

    __tablename__ = "files"
    __table_args__ = ({"sqlite_with_rowid": False},)

    path: Mapped[str] = mapped_column(Text, primary_key=True)
    """Absolute, below ``/memories``."""
    content: Mapped[str] = mapped_column(Text)
    size: Mapped[int]
    """Bytes of the content."""
