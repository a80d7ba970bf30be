"""Tables of the grid world: a board with holes, and where the player is on it."""

from __future__ import annotations

from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``gridworld.db``."""


class Board(Base):
    """The one board of the world."""

    __tablename__ = "board"

    id: Mapped[int] = mapped_column(primary_key=True)
    size: Mapped[int]
    start_row: Mapped[int]
    start_column: Mapped[int]
    goal_row: Mapped[int]
    goal_column: Mapped[int]
    budget: Mapped[int]
    """The most that the way may cost in all."""


class Hole(Base):
    """A field that costs more to enter. The id is ``row * size + column``."""

    __tablename__ = "holes"

    id: Mapped[int] = mapped_column(primary_key=True)


class Player(Base):
    """Position of the player, and the cost of the path so far."""

    __tablename__ = "player"

    id: Mapped[int] = mapped_column(primary_key=True)
    row: Mapped[int]
    column: Mapped[int]
    spent: Mapped[int] = mapped_column(default=0)
    done: Mapped[bool] = mapped_column(default=False)
