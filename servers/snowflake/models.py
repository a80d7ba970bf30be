"""Tables of the snowflake service: its catalogue. The rows of a warehouse's table lie in a table of their
own, ``t_`` and the number of the object (``mesocosm.services.queries.tables``).

Names are as Snowflake keeps them: upper-case unless they were quoted. Instants are UTC text (``2025-01-15
09:00:00.000``).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from mesocosm.services.queries.tables import attach_contents


class Base(DeclarativeBase):
    """The tables of ``snowflake.db``."""


class Database(Base):
    __tablename__ = "databases"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's way

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    comment: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[str] = mapped_column(Text)


class Schema(Base):
    """A schema of a database."""

    __tablename__ = "schemas"
    __table_args__ = (UniqueConstraint("database_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    database_id: Mapped[int] = mapped_column(ForeignKey("databases.id"))
    name: Mapped[str] = mapped_column(Text)
    comment: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[str] = mapped_column(Text)


class Item(Base):
    """A table or a view of a schema."""

    __tablename__ = "items"
    __table_args__ = (UniqueConstraint("schema_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    schema_id: Mapped[int] = mapped_column(ForeignKey("schemas.id"))
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    """``TABLE``, ``TRANSIENT``, ``TEMPORARY`` or ``VIEW``."""
    comment: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[str] = mapped_column(Text)
    altered: Mapped[str] = mapped_column(Text)
    query: Mapped[str | None] = mapped_column(Text)
    """Of a view: what it stands for, and in ``text`` the statement that made it."""
    text: Mapped[str | None] = mapped_column(Text)
    cluster_by: Mapped[str] = mapped_column(Text, default="")


class ItemColumn(Base):
    """A column of a table or view."""

    __tablename__ = "item_columns"
    __table_args__ = (UniqueConstraint("item_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("items.id"))
    position: Mapped[int]
    name: Mapped[str] = mapped_column(Text)
    stored: Mapped[str] = mapped_column(Text)
    """Its name in the table of rows."""
    kind: Mapped[str] = mapped_column(Text)
    """Its type as DuckDB writes it."""
    type: Mapped[str] = mapped_column(Text)
    """Its type as Snowflake writes it: ``NUMBER(38,0)``, ``VARCHAR(16777216)`` ..."""
    longest: Mapped[int | None]
    required: Mapped[bool] = mapped_column(default=False)
    default: Mapped[str | None] = mapped_column(Text)
    """An expression of Snowflake's SQL."""
    comment: Mapped[str] = mapped_column(Text, default="")
    primary_key: Mapped[bool] = mapped_column(default=False)
    unique_key: Mapped[bool] = mapped_column(default=False)
    sequence_id: Mapped[int | None] = mapped_column(ForeignKey("sequences.id"))
    """Of a column that counts (AUTOINCREMENT): what it counts with."""


class Sequence(Base):
    """A sequence, or what a column counts with."""

    __tablename__ = "sequences"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's way

    id: Mapped[int] = mapped_column(primary_key=True)
    schema_id: Mapped[int] = mapped_column(ForeignKey("schemas.id"))
    name: Mapped[str | None] = mapped_column(Text)
    """``None`` for that of a column."""
    next: Mapped[int]
    step: Mapped[int]
    comment: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[str] = mapped_column(Text)


class Stage(Base):
    """A stage: a place for files."""

    __tablename__ = "stages"
    __table_args__ = (UniqueConstraint("schema_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    schema_id: Mapped[int] = mapped_column(ForeignKey("schemas.id"))
    name: Mapped[str] = mapped_column(Text)
    session: Mapped[int | None]
    """Of a temporary one: the session that it is there for."""
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    """How its files are to be read, by the names of the options of a file format."""
    comment: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[str] = mapped_column(Text)


class StageFile(Base):
    __tablename__ = "stage_files"
    __table_args__ = (UniqueConstraint("stage_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    stage_id: Mapped[int] = mapped_column(ForeignKey("stages.id"))
    name: Mapped[str] = mapped_column(Text)
    data: Mapped[bytes] = mapped_column(deferred=True)
    """Read by itself: a list of files holds none of them."""
    md5: Mapped[str] = mapped_column(Text)
    altered: Mapped[str] = mapped_column(Text)
    loaded: Mapped[list[Any]] = mapped_column(JSON)
    """The numbers of the tables that have its rows."""


class FileFormat(Base):
    """A file format: how files are to be read, under a name."""

    __tablename__ = "file_formats"
    __table_args__ = (UniqueConstraint("schema_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    schema_id: Mapped[int] = mapped_column(ForeignKey("schemas.id"))
    name: Mapped[str] = mapped_column(Text)
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    comment: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[str] = mapped_column(Text)


class Insight(Base):
    """An entry of the memo of insights."""

    __tablename__ = "insights"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's way

    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str] = mapped_column(Text)
    at: Mapped[str] = mapped_column(Text)


class SqlSession(Base):
    """A session: the tools' own (number 1), or one of a connector that has signed in."""

    __tablename__ = "sessions"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's way

    id: Mapped[int] = mapped_column(primary_key=True)
    database: Mapped[str | None] = mapped_column(Text)
    schema: Mapped[str | None] = mapped_column(Text)
    role: Mapped[str] = mapped_column(Text, default="SYSADMIN")
    warehouse: Mapped[str] = mapped_column(Text, default="COMPUTE_WH")
    reads_arrow: Mapped[bool] = mapped_column(default=False)
    """True if its connector reads results in Arrow."""
    names_files: Mapped[bool] = mapped_column(default=False)
    """True if its connector names staged files; others upload to the given place."""
    statements: Mapped[int] = mapped_column(default=1)
    """Number of statements a request has; 0 for any number."""
    in_transaction: Mapped[bool] = mapped_column(default=False)
    """Whether it has said BEGIN, or changed something without autocommit.

    Statements are committed one by one all the same.
    """
    autocommit: Mapped[bool] = mapped_column(default=True)
    """Autocommit mode of the session."""


class KeptResult(Base):
    """Stored result of a connector's statement, retrievable by its id."""

    __tablename__ = "results"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy's way

    id: Mapped[int] = mapped_column(primary_key=True)
    session: Mapped[int] = mapped_column(index=True)
    query: Mapped[str] = mapped_column(Text)
    kind: Mapped[int]
    """The number of the kind of statement."""
    fields: Mapped[list[Any]] = mapped_column(JSON)
    rows: Mapped[list[Any] | None] = mapped_column(JSON)
    """``None`` if there were too many."""


attach_contents(Base.metadata)
