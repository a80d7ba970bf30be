"""Vocabulary of task files for a Snowflake account: tables, rows and comments."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.services.calling import Tools
from mesocosm.services.later import later
from mesocosm.services.queries.words import (
    Kept,
    RowThing,
    Shelf,
    TableThing,
    Warehouse,
    WarehouseWords,
    kinds_of,
    plain,
    spoilings,
    survey_options,
)
from mesocosm.services.words import Fields, Found, Thing, Word, made_anew, only_stamped

if TYPE_CHECKING:
    from mesocosm.servers.snowflake import store as rules
    from mesocosm.servers.snowflake.store import identifiers
    from mesocosm.servers.snowflake.tools import rendering
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row
else:
    rules, identifiers, rendering = later(
        "mesocosm.servers.snowflake.store",
        "mesocosm.servers.snowflake.store.identifiers",
        "mesocosm.servers.snowflake.tools.rendering",
    )

_SERVICE = "snowflake"
_ROWS = 200
"""Rows of a result."""
_KINDS: dict[type, str] = {
    bool: "BOOLEAN",
    int: "NUMBER(38,0)",
    float: "FLOAT",
    dt.datetime: "TIMESTAMP_TZ",
    dt.date: "DATE",
    dt.time: "TIME",
    dict: "VARIANT",
    list: "ARRAY",
}
_EXACT = re.compile(r"NUMBER|DECIMAL|NUMERIC|DEC\b", re.IGNORECASE)
_WITHOUT_ZONE = re.compile(r"(TIMESTAMP(_NTZ)?|DATETIME)\b", re.IGNORECASE)


class Account(Warehouse):
    """Access to Snowflake's tables."""

    service = _SERVICE
    columns = frozenset(
        {"created", "altered", "position", "stored", "kind", "type", "longest", "required", "default"}
    )

    def shelves(self, db: Any) -> dict[str, Shelf]:
        columns: dict[int, list[Any]] = {}
        for row in db.execute(
            "SELECT item_id, id, name, stored, kind, type, required, comment, [default], primary_key,"
            " unique_key, sequence_id IS NOT NULL FROM item_columns"
            " ORDER BY item_id, position"
        ):
            columns.setdefault(row[0], []).append(row[1:])
        found = db.execute(
            "SELECT items.id, databases.name, schemas.name, items.name, items.comment, schemas.id,"
            " databases.id, items.kind, items.cluster_by FROM items JOIN schemas ON schema_id = schemas.id"
            " JOIN databases ON database_id = databases.id WHERE items.kind NOT IN ('VIEW', 'TEMPORARY')"
        )
        shelves = [_shelf(row, columns.get(row[0], [])) for row in found]
        return {shelf.name: shelf for shelf in shelves}

    def key(self, name: str) -> str:
        return identifiers.written(*identifiers.parts_of(name))

    def type_of(self, values: Sequence[Any]) -> str:
        kinds = kinds_of(values)
        if kinds <= {int, float} and kinds != {int}:
            return "FLOAT"
        if kinds <= {int, Decimal} and kinds != {int}:
            places = [-int(Decimal(value).as_tuple().exponent) for value in values]
            return f"NUMBER(38,{max(0, *places, 0)})"
        return _KINDS.get(next(iter(kinds)), "VARCHAR") if len(kinds) == 1 else "VARCHAR"

    def make(
        self, world: World, name: str, types: Mapping[str, str], rows: Sequence[Fields], about: Fields
    ) -> None:
        store = world.store(rules.SnowflakeStore)
        comments = {
            identifiers.written(_named(one)): text for one, text in (about.get("comments") or {}).items()
        }
        columns = {identifiers.written(_named(one)): kind for one, kind in types.items()}
        comment = str(about.get("comment") or "")
        store.add_table(name, columns, comment=comment, comments=comments)
        self.append(world, name, rows)

    def append(self, world: World, name: str, rows: Sequence[Fields]) -> None:
        store = world.store(rules.SnowflakeStore)
        columns = store.catalogue.columns(store.names.item_named(identifiers.parts_of(name), "Table")["id"])
        kinds = {column.name: column.vendor for column in columns}
        store.fill(name, (_line(row, kinds) for row in rows))

    def remove(self, world: World, name: str) -> None:
        world.store(rules.SnowflakeStore).objects.drop_item(identifiers.parts_of(name))

    def said(self, column: str) -> str:
        return identifiers.written(column)

    def mark(self, cells: Mapping[str, Any]) -> str:
        name = next((name for name, value in cells.items() if isinstance(value, str | int)), None)
        if name is None:
            return ""
        text = rendering.document([{_named(name): cells[name]}]).rpartition("data:\n- ")[2]
        return text if name == list(cells)[-1] else f"{text}\n"


def _named(name: str) -> str:
    """Return a column's name from a file's spelling: upper case unless quoted."""
    return identifiers.parts_of(name)[0]


def _shelf(row: Any, columns: Sequence[Any]) -> Shelf:
    number, database, schema, name, comment, schema_id, database_id, kind, cluster_by = row
    about = {
        "comment": comment,
        "comments": {identifiers.written(column[1]): column[6] for column in columns if column[6]},
    }
    return Shelf(
        identifiers.written(database, schema, name),
        number,
        tuple(
            Kept(called, stored, type_, f"{vendor}{' NOT NULL' if required else ''}")
            for _, called, stored, type_, vendor, required, *_ in columns
        ),
        about,
        frozenset({("items", number), *(("item_columns", column[0]) for column in columns)}),
        frozenset({("schemas", schema_id), ("databases", database_id)}),
        {"kind": kind, "cluster by": cluster_by}
        | {f"what the column {one[1]} has by default or counts": one[7:] for one in columns if any(one[7:])},
        {"kind": kind} if kind != "TABLE" else {},
    )


def _line(row: Fields, kinds: Mapping[str, str]) -> list[Any]:
    given = {_named(name): value for name, value in row.items()}
    return [_fit(given.get(name), kind) for name, kind in kinds.items()]


def _fit(value: Any, kind: str) -> Any:
    """A value for a column: what a file writes as a binary fraction may be an exact number."""
    if isinstance(value, float) and _EXACT.match(kind):
        return Decimal(repr(value))
    if kind.startswith("VARCHAR") and not isinstance(value, str) and value is not None:
        return str(value)
    return plain(value, None if _WITHOUT_ZONE.match(kind) else dt.UTC)


# -- comments ---------------------------------------------------------------------------------------------


class CommentThing(Thing):
    """Comment on a table or column."""

    name = "comment"
    about = "The comment of a table, or of one of its columns."
    judges: ClassVar[Mapping[str, Word]] = {
        "table": Word("The table: `DATABASE.SCHEMA.NAME`, in capitals.", required=True),
        "column": Word("The column, in capitals; left out, the table itself is meant."),
        "comment": Word("What is said of it."),
    }

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        tables, columns = (
            [
                (was, is_)
                for was, is_ in changes.table(_SERVICE, kept).changed
                if was["comment"] != is_["comment"]
            ]
            for kept in ("items", "item_columns")
        )
        if tables or columns:
            _, shelves = _ACCOUNT.current(world)
            names = {shelf.number: shelf.name for shelf in shelves.values()}
            for before, after in tables:
                yield _found(names.get(after["id"]), None, "items", before, after)
            for before, after in columns:
                yield _found(names.get(after["item_id"]), after["name"], "item_columns", before, after)
        for one in _ACCOUNT.differences(world, changes):
            # A table that was made anew with the comment that was asked for is the same with that comment.
            for of, (was, is_) in one.comments() if one.differs_in_comments else ():
                column = identifiers.parts_of(of)[0] if of else None
                fields = {"table": one.name, "column": column, "comment": is_}
                rows = frozenset({*one.catalogue, one.comment_key(of)})
                yield Found(fields, rows, _ACCOUNT.columns, {**fields, "comment": was})


def _found(table: str | None, column: str | None, kept: str, before: Row, after: Row) -> Found:
    fields = {"table": table, "column": column, "comment": after["comment"]}
    columns = frozenset({"comment", "created", "altered"})
    rows = frozenset({(kept, after["id"])})
    return Found(fields, rows, columns, {**fields, "comment": before["comment"]})


# -- reading ----------------------------------------------------------------------------------------------

_FIELD = re.compile(r"^(?:- |  )(DATABASE_NAME|SCHEMA_NAME|TABLE_NAME|TABLE_TYPE): (.+)$", re.MULTILINE)


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    summed = {_ACCOUNT.key(name) for name in options.get("summed", ())}
    for database in _names(tools.call(_SERVICE, "list_databases"), "DATABASE_NAME"):
        for schema in _names(tools.call(_SERVICE, "list_schemas", database=database), "SCHEMA_NAME"):
            if schema == identifiers.INFORMATION_SCHEMA:
                continue
            listed = tools.call(_SERVICE, "list_tables", database=database, schema=schema)
            for table in _names(listed, "TABLE_NAME"):
                name = f"{database}.{schema}.{table}"
                tools.call(_SERVICE, "describe_table", table_name=name)
                if name not in summed:
                    _read(tools, f"SELECT * FROM {name}")
    for query in options.get("queries", ()):
        _read(tools, query)


def _names(text: str, field: str) -> list[str]:
    """Names out of a list, as statements write them."""
    found = [value for name, value in _FIELD.findall(text) if name == field]
    return [identifiers.written(value.strip('"')) for value in found]


def _read(tools: Tools, query: str) -> None:
    """All rows of a query, page by page."""
    query, rows = query.strip().rstrip(";"), 0
    asked = query
    while True:
        text = str(tools.call(_SERVICE, "read_query", query=asked))
        shown = sum(line.startswith("- ") for line in text.splitlines())
        rows += shown
        # A page of its own says nothing of what follows it.
        if "\nmore: " not in text and (asked == query or shown < _ROWS):
            return
        asked = f"SELECT * FROM ({query}) LIMIT {_ROWS} OFFSET {rows}"


def _follows(world: World, changes: Changes) -> Collection[tuple[str, Any]]:
    """A table that was written to has another time, a column that counts another number; a view that was made
    again as it had been is the same, and a temporary table is there for its session alone."""
    items, columns = (changes.table(_SERVICE, name) for name in ("items", "item_columns"))
    found = {("items", key) for key in only_stamped(items, "id", {"created", "altered"})}
    found |= {
        ("sequences", key) for key in only_stamped(changes.table(_SERVICE, "sequences"), "id", {"next"})
    }
    own = {row["id"] for row in items.added if row["kind"] == "TEMPORARY"}
    for old, new in made_anew(
        items, "id", {"created", "altered", "text"}, lambda row: bool(row["kind"] == "VIEW")
    ):
        if _described(columns.removed, old) == _described(columns.added, new):
            own |= {old, new}
    found |= {("items", key) for key in own}
    return found | {
        ("item_columns", row["id"]) for row in (*columns.added, *columns.removed) if row["item_id"] in own
    }


def _described(rows: Sequence[Row], item: int) -> list[Row]:
    """The columns of a table or view, without the numbers that they have."""
    own = sorted((row for row in rows if row["item_id"] == item), key=lambda row: int(row["position"]))
    return [{name: row[name] for name in row if name not in ("id", "item_id")} for row in own]


_ACCOUNT = Account()
_TABLE = Word(
    "Its name: `DATABASE.SCHEMA.NAME`, in capitals; database and schema are made where they are missing.",
    required=True,
)
_TYPES = Word(
    "Types of columns, `{PRICE: 'NUMBER(10,2)', CODE: VARCHAR NOT NULL}`; default: what follows from the "
    "values (NUMBER, FLOAT, VARCHAR, BOOLEAN, DATE, TIMESTAMP_TZ). A moment in a TIMESTAMP_NTZ is what the "
    "clock of its zone shows. A table without rows has these columns.",
    "data",
)

words = WarehouseWords(
    service=_SERVICE,
    warehouse=_ACCOUNT,
    things={
        "table": TableThing(
            _ACCOUNT,
            _TABLE,
            _TYPES,
            comment=Word("What is said of it."),
            comments=Word("What is said of columns, by name.", "data"),
        ),
        "row": RowThing(_ACCOUNT, _TABLE, _TYPES),
        "comment": CommentThing(),
    },
    survey=_survey,
    unseen=("contents", "sessions", "results", "insights"),
    excuses=_follows,
    spoilings=spoilings(_ACCOUNT),
    survey_options=survey_options(),
)
