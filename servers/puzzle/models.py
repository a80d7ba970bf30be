"""Tables of the puzzle service: an encyclopaedia of creatures, the game, and its guesses."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``puzzle.db``."""


class Section(Base):
    """One thing that is said of every creature."""

    __tablename__ = "sections"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    numeric: Mapped[bool]


class Creature(Base):
    """One creature; ids are in the order of the names."""

    __tablename__ = "creatures"

    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int]
    name: Mapped[str] = mapped_column(Text, unique=True)


class Trait(Base):
    """One value of a creature in a section: a word, or a number."""

    __tablename__ = "traits"
    __table_args__ = (
        Index("traits_by_word", "section_id", "word"),
        Index("traits_by_amount", "section_id", "amount"),
        Index("traits_by_creature", "creature_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    creature_id: Mapped[int] = mapped_column(ForeignKey("creatures.id"))
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"))
    word: Mapped[str | None] = mapped_column(Text)
    amount: Mapped[int | None]


class Game(Base):
    """The game: one row."""

    __tablename__ = "games"

    id: Mapped[int] = mapped_column(primary_key=True)
    target_id: Mapped[int] = mapped_column(ForeignKey("creatures.id"))
    rounds: Mapped[int]
    """Guesses that are allowed."""
    verbose: Mapped[bool]
    """True if a query returns one list per section instead of one for all conditions."""
    by_section: Mapped[bool]
    """True if feedback tells of each section as a whole, instead of each value."""


class Guess(Base):
    """One guess; the id is the round."""

    __tablename__ = "guesses"

    id: Mapped[int] = mapped_column(primary_key=True)
    creature_id: Mapped[int] = mapped_column(ForeignKey("creatures.id"))


class Query(Base):
    """One query, as it was made; further pages of it are not kept."""

    __tablename__ = "queries"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    guesses: Mapped[int]
    """Number of guesses had been made."""
    conditions: Mapped[str] = mapped_column(Text)
    """JSON: section, comparator and operands of each, in order."""
