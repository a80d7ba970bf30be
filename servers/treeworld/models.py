"""Tables of the tree world: a tree whose nodes are found by asking for children."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``treeworld.db``."""


class Node(Base):
    """A node. Numbers reveal nothing about its position, except that children follow parents."""

    __tablename__ = "nodes"

    number: Mapped[int] = mapped_column(primary_key=True)
    node_id: Mapped[str] = mapped_column(Text, unique=True)
    value: Mapped[int]
    parent: Mapped[int | None] = mapped_column(ForeignKey("nodes.number"), index=True)
    told: Mapped[bool]
    """True if its children are told from the beginning."""


class Game(Base):
    """The one search of the world."""

    __tablename__ = "game"

    id: Mapped[int] = mapped_column(primary_key=True)
    budget: Mapped[int]
    """Calls that may be made in all."""


class Ending(Base):
    """Final statement of the agent: one row, or none."""

    __tablename__ = "endings"

    id: Mapped[int] = mapped_column(primary_key=True)
    found: Mapped[str | None] = mapped_column(Text)
    """The id that was reported; ``None``: that the value cannot be reached."""
    unasked: Mapped[int] = mapped_column(default=0)
    """Nodes about whose children nobody had asked when it was said that the value cannot be reached."""
