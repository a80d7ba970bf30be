"""Tables of the memory service: a graph of entities, what is known of them, and their relations."""

from __future__ import annotations

from sqlalchemy import DDL, ForeignKey, Index, Text, UniqueConstraint, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of ``memory.db``."""


class Entity(Base):
    """A node of the graph."""

    __tablename__ = "entities"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    entity_type: Mapped[str] = mapped_column(Text)


class Observation(Base):
    """One fact about an entity."""

    __tablename__ = "observations"
    __table_args__ = (UniqueConstraint("entity_id", "content"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    entity_id: Mapped[int] = mapped_column(ForeignKey("entities.id", ondelete="CASCADE"))
    content: Mapped[str] = mapped_column(Text)


class Relation(Base):
    """A directed edge, from and to the entities of these names."""

    __tablename__ = "relations"
    __table_args__ = (
        UniqueConstraint("from_name", "to_name", "relation_type"),
        Index("relations_by_target", "to_name"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    from_name: Mapped[str] = mapped_column(Text)
    to_name: Mapped[str] = mapped_column(Text)
    relation_type: Mapped[str] = mapped_column(Text)


INDEXED = {"entities": "name, entity_type", "observations": "content"}
"""Tables, with the columns of them that are searched for parts of words."""


def insert_trigger(table: str) -> str:
    """The statement that keeps the text index of a table up with new rows."""
    columns = INDEXED[table]
    return (
        f"CREATE TRIGGER {table}_text_insert AFTER INSERT ON {table} BEGIN"
        f" INSERT INTO {table}_text(rowid, {columns}) VALUES (new.id, {_each(columns, 'new')}); END"
    )


def _each(columns: str, row: str) -> str:
    return ", ".join(f"{row}.{column}" for column in columns.split(", "))


def _index_text(table: str) -> None:
    """Keep a trigram index over columns of a table, which finds parts of words."""
    columns = INDEXED[table]
    for statement in (
        f"CREATE VIRTUAL TABLE {table}_text USING fts5({columns}, content='{table}', content_rowid='id',"
        " tokenize='trigram')",
        insert_trigger(table),
        f"CREATE TRIGGER {table}_text_delete AFTER DELETE ON {table} BEGIN"
        f" INSERT INTO {table}_text({table}_text, rowid, {columns})"
        f" VALUES ('delete', old.id, {_each(columns, 'old')}); END",
    ):
        event.listen(Base.metadata, "after_create", DDL(statement))  # type: ignore[no-untyped-call]


for _table in INDEXED:
    _index_text(_table)
