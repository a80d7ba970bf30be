"""Identifiers of databases, schemas and their objects: spelling, and resolution in a session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from mesocosm.servers.snowflake.models import Database, Item, Schema
from mesocosm.services.queries.failures import SqlError, compilation
from mesocosm.services.service import Rules

if TYPE_CHECKING:
    from mesocosm.servers.snowflake.store import SnowflakeStore

Row = Mapping[str, Any]
Path = tuple[str, ...]
INFORMATION_SCHEMA = "INFORMATION_SCHEMA"
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([A-Za-z_][\w$]*))\s*(\.|$)')
_PLAIN = re.compile(r"[A-Z_][A-Z0-9_$]*\Z")

_DATABASE = select(Database.id, Database.name, Database.comment, Database.created).where(
    Database.name == bindparam("name")
)
_SCHEMA = (
    select(Schema.id, Schema.name, Schema.comment, Schema.created, Schema.database_id)
    .join(Database)
    .where(Database.name == bindparam("database"), Schema.name == bindparam("name"))
)
_ITEM = (
    select(Item.id, Item.name, Item.kind, Item.query, Item.comment, Item.cluster_by, Item.schema_id)
    .join(Schema, Schema.id == Item.schema_id)
    .join(Database, Database.id == Schema.database_id)
    .where(
        Database.name == bindparam("database"),
        Schema.name == bindparam("schema"),
        Item.name == bindparam("name"),
    )
)


def parts_of(text: str) -> Path:
    """The parts of a dotted name: upper-case unless quoted."""
    found, at = [], 0
    while match := _PART.match(text, at):
        quoted, plain, dot = match.groups()
        found.append(quoted.replace('""', '"') if quoted is not None else plain.upper())
        at = match.end()
        if not dot and at == len(text):
            return tuple(found)
    raise compilation(
        1003, "42000", f"syntax error line 1 at position {at} unexpected '{text[at : at + 20]}'."
    )


def written(*parts: str) -> str:
    """A name as it has to be written to mean these parts."""
    return ".".join(one if _PLAIN.match(one) else '"' + one.replace('"', '""') + '"' for one in parts)


def missing(kind: str, name: str) -> SqlError:
    """The refusal of a name that means nothing."""
    return compilation(
        2003 if kind != "Database" else 2043, "02000" if kind != "Object" else "42S02", _absent(kind, name)
    )


def _absent(kind: str, name: str) -> str:
    return f"{kind} '{name}' does not exist or not authorized."


class Part(Rules):
    """A part of the store; the other parts are its store's."""

    def __init__(self, store: SnowflakeStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store

    def stamp(self) -> str:
        """The present moment, as the catalogue keeps it."""
        return self.now.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


class Names(Part):
    """Resolution of names in a session."""

    def database_named(self, name: str) -> Row:
        rows = self.fetch(_DATABASE, name=name)
        if not rows:
            raise missing("Database", written(name))
        return rows[0]

    def schema_path(self, path: Path, doing: str = "this operation") -> Path:
        """The full name of a schema."""
        if len(path) == 1:
            return (self._database(doing), path[0])
        if len(path) != 2:
            raise missing("Schema", written(*path))
        return path

    def schema_named(self, path: Path) -> Row:
        """A schema by its full name."""
        self.database_named(path[0])
        rows = self.fetch(_SCHEMA, database=path[0], name=path[1])
        if not rows:
            raise missing("Schema", written(*path))
        return rows[0]

    def full(self, path: Path, doing: str = "this operation") -> Path:
        """Database, schema and name of what a session writes with fewer parts."""
        if not 1 <= len(path) <= 3:
            raise missing("Object", written(*path))
        if len(path) == 3:
            return path
        database = self._database(doing)
        if len(path) == 2:
            return (database, *path)
        schema = self.store.sessions.current()["schema"]
        if schema is None:
            raise SqlError(
                90106,
                "22000",
                f"Cannot perform {doing}. This session does not have a current schema. Call 'USE SCHEMA', or "
                "use a qualified name.",
            )
        return (database, schema, *path)

    def _database(self, doing: str) -> str:
        database = self.store.sessions.current()["database"]
        if database is None:
            raise SqlError(
                90105,
                "22000",
                f"Cannot perform {doing}. This session does not have a current database. Call 'USE DATABASE',"
                " or use a qualified name.",
            )
        return str(database)

    def item(self, path: Path) -> Row | None:
        """A table or view by its full name, if there is one."""
        found = self.fetch(_ITEM, database=path[0], schema=path[1], name=path[2])
        return found[0] if found else None

    def item_named(self, path: Path, kind: str = "Object") -> Row:
        """A table or view by its name; refuses a name that means nothing."""
        full = self.full(path)
        found = self.item(full)
        if found is None:
            name = written(*full)
            raise compilation(2003, "42S02", f"{kind} '{name}' does not exist or not authorized.")
        return found
