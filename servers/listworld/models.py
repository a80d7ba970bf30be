"""Tables of the list world: one list to be cut down to another by removing elements."""

from __future__ import annotations

from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``listworld.db``."""


class Element(Base):
    """An element of the list as it was at first; ids follow its order, from 1."""

    __tablename__ = "elements"

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[int]
    popped: Mapped[bool] = mapped_column(default=False)


class Target(Base):
    """An element of the list that is wanted; ids follow its order, from 1."""

    __tablename__ = "target"

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[int]


class Game(Base):
    """Progress of the world's game."""

    __tablename__ = "game"

    id: Mapped[int] = mapped_column(primary_key=True)
    budget: Mapped[int]
    """Calls that may be made in all."""
    done: Mapped[bool] = mapped_column(default=False)
