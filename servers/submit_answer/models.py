"""Tables of the submit_answer service."""

from __future__ import annotations

from sqlalchemy import Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``submit_answer.db``."""


class Answer(Base):
    """Answer submitted by the agent: one row, or none."""

    __tablename__ = "answers"

    id: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[str] = mapped_column(Text)
    """Character by character as it was given."""
    submitted_at: Mapped[str] = mapped_column(Text)
    """ISO-8601, UTC."""
