"""The catalogue, as statements see it: stored tables, views, and the views of INFORMATION_SCHEMA."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import orjson
from sqlalchemy import bindparam, select, update

from mesocosm.servers.snowflake.models import Item, ItemColumn, Schema
from mesocosm.servers.snowflake.models import Sequence as Counting
from mesocosm.servers.snowflake.store.identifiers import INFORMATION_SCHEMA, Part, Path, Row, written
from mesocosm.services.queries.catalogue import (
    GENERATED,
    INFERRED,
    SCANNED,
    STAGED,
    Column,
    Listed,
    Relation,
    StoredTable,
    StoredView,
)
from mesocosm.services.queries.failures import SqlError, compilation
from mesocosm.services.queries.tables import Tables

_COLUMNS = (
    select(ItemColumn.__table__).where(ItemColumn.item_id == bindparam("item")).order_by(ItemColumn.position)
)
_NAMES = select(Item.name).where(Item.schema_id == bindparam("schema")).order_by(Item.name)
_SEQUENCE = (
    select(Counting.id, Counting.name, Counting.next, Counting.step)
    .join(Schema)
    .where(Schema.id == bindparam("schema"), Counting.name == bindparam("name"))
)
_MOST_NUMBERS = 1_000_000
_COUNTER = select(Counting.next, Counting.step).where(Counting.id == bindparam("id"))


class StatementCatalogue(Part):
    """Resolution of names for a statement: a ``Catalogue`` with its ``Counters``."""

    may_write = True
    """True if the current call may change anything."""

    def relation(self, path: Path) -> Relation:
        """A table, a view, or a view of INFORMATION_SCHEMA."""
        if path[:-1] == (SCANNED,):
            return self.store.results.scan(path[-1])
        if path[:-1] == (STAGED,):
            return self.store.stages.staged(path[-1])
        if path[:-1] == (GENERATED,):
            count = int(path[-1])
            if count > _MOST_NUMBERS:
                raise SqlError(100066, "57014", f"GENERATOR gives {_MOST_NUMBERS:,} rows here, at most.")
            return Listed((Column("N", "BIGINT"),), [(number,) for number in range(count)])
        if path[:-1] == (INFERRED,):
            asked = orjson.loads(path[-1])
            return self.store.stages.inferred(asked["location"], asked["format"])
        if INFORMATION_SCHEMA in path[:-1]:
            return self.store.information.view(path)
        full = self.store.names.full(path, "SELECT")
        item = self.store.names.item(full)
        if item is None:
            raise compilation(2003, "42S02", self._absent(full))
        if item["kind"] == "VIEW":
            names = tuple(column.name for column in self.columns(item["id"]))
            return StoredView(item["query"], names, within=_Within(self, full[:2]))
        return StoredTable(item["id"], tuple(self.columns(item["id"])))

    def _absent(self, full: Path) -> str:
        """Explain an unknown name, with suggestions."""
        said = f"Object '{written(*full)}' does not exist or not authorized."
        try:
            schema = self.store.names.schema_named(full[:2])
        except SqlError:
            return said
        names = [row["name"] for row in self.fetch(_NAMES, schema=schema["id"])]
        near = get_close_matches(full[2].upper(), [name.upper() for name in names], 1, 0.7)
        return f"{said} Did you mean {near[0]}?" if near else said

    def columns(self, item: int) -> Sequence[Column]:
        """The columns of a table or view, in their order."""
        return [_column(row) for row in self.fetch(_COLUMNS, item=item)]

    @property
    def rows(self) -> Tables:
        return Tables(self.session)

    # -- counters ---------------------------------------------------------------------------------------

    def sequence(self, path: Path) -> Row | None:
        """A sequence by its full name."""
        schema = self.store.names.schema_named(path[:2])
        found = self.fetch(_SEQUENCE, schema=schema["id"], name=path[2])
        return found[0] if found else None

    def counter(self, path: Path) -> str | None:
        """The counter of a sequence."""
        found = self.sequence(self.store.names.full(path))
        if found is None:
            return None
        if not self.may_write:
            raise SqlError(
                2, "0A000", "NEXTVAL changes its sequence: use write_query or a statement that writes."
            )
        return f"counter_{found['id']}"

    def next_of(self, name: str) -> tuple[int, int]:
        """The next number of a counter, and the step."""
        found = self.fetch(_COUNTER, id=int(name.removeprefix("counter_")))[0]
        return found["next"], found["step"]

    def advance(self, name: str, to: int) -> None:
        """Another number is next."""
        changed = update(Counting).where(Counting.id == int(name.removeprefix("counter_"))).values(next=to)
        self.session.execute(changed)


class _Within:
    """The catalogue as a view sees it: names with fewer parts are those of its own schema."""

    def __init__(self, catalogue: StatementCatalogue, schema: Path) -> None:
        self._catalogue = catalogue
        self._schema = schema

    def relation(self, path: Path) -> Relation:
        """Resolve a name within a view."""
        return self._catalogue.relation((*self._schema[: 3 - len(path)], *path) if len(path) < 3 else path)


def _column(row: Row) -> Column:
    counter = row["sequence_id"]
    return Column(
        row["name"],
        row["kind"],
        required=row["required"],
        default=row["default"],
        stored=row["stored"],
        longest=row["longest"],
        counter=None if counter is None else f"counter_{counter}",
        vendor=row["type"],
    )
