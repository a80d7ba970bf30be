"""SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from mesocosm.servers.snowflake.store.answers import Answer, as_json, listing
from mesocosm.servers.snowflake.store.identifiers import Row, parts_of
from mesocosm.servers.snowflake.store.information import OWNER
from mesocosm.services.patterns import Pattern, like
from mesocosm.services.queries.dialects.snowflake import Snowflake
from mesocosm.services.queries.failures import SqlError

if TYPE_CHECKING:
    from mesocosm.servers.snowflake.store import SnowflakeStore

_DESCRIBED = "name|type|kind|null?|default|primary key|unique key|check|expression|comment|policy name"
_TABLES = (
    "created_on|name|database_name|schema_name|kind|comment|cluster_by|rows|bytes|owner|retention_time|"
    "automatic_clustering|change_tracking|is_external|enable_schema_evolution|owner_role_type|is_event|"
    "budget|is_hybrid|is_iceberg|is_dynamic|is_immutable"
)
_VIEWS = "created_on|name|reserved|database_name|schema_name|owner|comment|text|is_secure|is_materialized"
_SCHEMAS = "created_on|name|is_default|is_current|database_name|owner|comment|options|retention_time"
_DATABASES = "created_on|name|is_default|is_current|origin|owner|comment|options|retention_time|kind"
_COLUMNS = (
    "table_name|schema_name|column_name|data_type|null?|default|kind|expression|comment|database_name|"
    "autoincrement"
)
_SEQUENCES = "name|database_name|schema_name|next_value|interval|created_on|owner|comment|ordered"
_OBJECTS = (
    "created_on|name|database_name|schema_name|kind|comment|cluster_by|rows|bytes|owner|retention_time|"
    "owner_role_type|budget|is_hybrid|is_dynamic|is_iceberg|is_immutable"
)
_KEYS = (
    "created_on|database_name|schema_name|table_name|column_name|key_sequence|constraint_name|rely|comment"
)
_STAGES = (
    "created_on|name|database_name|schema_name|url|has_credentials|has_encryption_key|owner|comment|region|type|"
    "cloud|notification_channel|storage_integration|endpoint|owner_role_type|directory_enabled"
)
_FILE_FORMATS = "created_on|name|database_name|schema_name|type|owner|comment|format_options|owner_role_type"
_TERSE = "created_on|name|kind|database_name|schema_name"
_FUNCTIONS = (
    "created_on|name|schema_name|is_builtin|is_aggregate|is_ansi|min_num_arguments|max_num_arguments|"
    "arguments|description|catalog_name|is_table_function|valid_for_clustering|is_secure|secrets|"
    "external_access_integrations|is_external_function|language|is_memoizable|is_data_metric"
)
_PLACED = "created_on|name|database_name|schema_name|owner|comment"
_FOREIGN = (
    "created_on|pk_database_name|pk_schema_name|pk_table_name|pk_column_name|fk_database_name|fk_schema_name|"
    "fk_table_name|fk_column_name|key_sequence|update_rule|delete_rule|fk_name|pk_name|deferrability|rely|"
    "comment"
)
_NONE = {
    **dict.fromkeys(("FUNCTIONS", "USER FUNCTIONS", "EXTERNAL FUNCTIONS", "PROCEDURES"), _FUNCTIONS),
    **dict.fromkeys(("USER PROCEDURES", "AGGREGATE FUNCTIONS"), _FUNCTIONS),
    **dict.fromkeys(("PIPES", "STREAMS", "TASKS", "ALERTS", "SECRETS"), _PLACED),
    **dict.fromkeys(("TAGS", "MASKING POLICIES", "ROW ACCESS POLICIES", "NETWORK RULES"), _PLACED),
    **dict.fromkeys(("DYNAMIC TABLES", "EXTERNAL TABLES", "ICEBERG TABLES", "HYBRID TABLES"), _TABLES),
    "EVENT TABLES": _TABLES,
    "MATERIALIZED VIEWS": _VIEWS,
    **dict.fromkeys(("IMPORTED KEYS", "EXPORTED KEYS"), _FOREIGN),
    "UNIQUE KEYS": _KEYS,
    "SHARES": "created_on|kind|owner_account|name|database_name|to|owner|comment",
}
"""Kinds of objects that never exist, with the columns of their lists."""


def describe(store: SnowflakeStore, tree: exp.Describe, dialect: Snowflake) -> Answer:
    """The columns of a table or view."""
    table = tree.this
    if not isinstance(table, exp.Table):
        raise dialect.unsupported("DESCRIBE of a statement")
    path = tuple(dialect.fold(part) for part in table.parts if isinstance(part, exp.Identifier))
    item = store.item_named(path, "View" if str(tree.args.get("kind")).lower() == "view" else "Table")
    full = store.full(path)
    columns = [
        row for row in store.item_columns(full[0]) if row["schema"] == full[1] and row["item"] == item["name"]
    ]
    return listing(_DESCRIBED, [_described(row) for row in columns])


def _described(row: Row) -> tuple[Any, ...]:
    flags = tuple("Y" if row[key] else "N" for key in ("primary_key", "unique_key"))
    null = "N" if row["required"] else "Y"
    default = row["default"] if row["sequence_id"] is None else "IDENTITY START 1 INCREMENT 1"
    return (
        row["name"],
        row["type"],
        "COLUMN",
        null,
        default,
        *flags,
        None,
        None,
        row["comment"] or None,
        None,
    )


def show(store: SnowflakeStore, tree: exp.Show) -> Answer:
    """List objects of the kind that SHOW names."""
    kind = tree.name.upper()
    makers: dict[str, Callable[[_Shown], Answer]] = {
        "DATABASES": _databases,
        "SCHEMAS": _schemas,
        "TABLES": _tables,
        "VIEWS": _views,
        "OBJECTS": _objects,
        "COLUMNS": _columns,
        "SEQUENCES": _sequences,
        "STAGES": _stages,
        "FILE FORMATS": _file_formats,
        "PRIMARY KEYS": _primary_keys,
        "WAREHOUSES": _warehouses,
        "ROLES": _roles,
        "USERS": _users,
    }
    if tree.args.get("iceberg"):
        kind = f"ICEBERG {kind}"
    if kind in _NONE:
        return listing(_NONE[kind], [])
    if kind not in makers:
        raise SqlError(2, "0A000", f"Unsupported feature 'SHOW {kind}'.")
    shown = _Shown(store, tree)
    answer = makers[kind](shown)
    return shown.chosen(_terse(answer, kind) if tree.args.get("terse") else answer)


def show_nothing(text: str) -> Answer | None:
    """Answer SHOW for kinds that never exist; ``None`` for unknown ones."""
    said = " ".join(text.upper().split()).removeprefix("TERSE ")
    kind = max((one for one in _NONE if re.match(rf"{one}\b", said)), key=len, default=None)
    return None if kind is None else listing(_NONE[kind], [])


def _terse(answer: Answer, kind: str) -> Answer:
    """A list with the five columns of SHOW TERSE."""
    names = [one.name for one in answer.fields]
    single = kind.removesuffix("S")

    def value(row: tuple[Any, ...], name: str) -> Any:
        if name == "kind" and name not in names:
            return single if single == "VIEW" else None
        if name == "schema_name" and kind == "SCHEMAS":
            return None
        return row[names.index(name)] if name in names else None

    if "created_on" not in names:
        return answer
    return listing(_TERSE, [tuple(value(row, name) for name in _TERSE.split("|")) for row in answer.rows])


class _Shown:
    """A SHOW: where it looks, and which names it wants."""

    def __init__(self, store: SnowflakeStore, tree: exp.Show) -> None:
        self.store = store
        self.tree = tree
        scope = tree.args.get("scope")
        self.path: tuple[str, ...] = parts_of(scope.sql("snowflake")) if scope is not None else ()
        self.kind = str(tree.args.get("scope_kind") or "").upper()

    def places(self) -> list[tuple[str, str | None]]:
        """Databases to look into, each with the one schema that counts, or ``None``."""
        store, current = self.store, self.store.current()
        if self.kind in {"SCHEMA", "TABLE", "VIEW"}:
            path = self.path if self.kind == "SCHEMA" else store.full(self.path)[:2]
            full = store.schema_path(path, "SHOW")
            store.schema_named(full)
            return [(full[0], full[1])]
        if self.kind == "DATABASE" or (self.path and len(self.path) == 1):
            store.database_named(self.path[-1] if self.path else current["database"])
            return [(self.path[-1] if self.path else current["database"], None)]
        if self.kind == "ACCOUNT" or current["database"] is None:
            return [(row["name"], None) for row in store.databases()]
        return [(current["database"], current["schema"])]

    def chosen(self, answer: Answer) -> Answer:
        """Filter rows by a name pattern."""
        names = [one.name for one in answer.fields]
        at = names.index("column_name" if "column_name" in names else "name")
        tests: list[Callable[[str], bool]] = []
        if wanted := self.tree.args.get("like"):
            pattern = Pattern(like(wanted.name))
            tests.append(lambda name: pattern.fullmatch(name) is not None)
        starts = self.tree.args.get("starts_with")
        if isinstance(starts, exp.Expression):
            prefix = starts.name
            tests.append(lambda name: name.startswith(prefix))
        answer.rows = [row for row in answer.rows if all(test(str(row[at])) for test in tests)]
        limit = self.tree.args.get("limit")
        if limit is not None:
            answer.rows = answer.rows[: int(limit.expression.name)]
        return answer


def _stamp(row: Row, key: str = "created") -> str:
    return f"{row[key]} +0000"


def _databases(shown: _Shown) -> Answer:
    current = shown.store.current()["database"]
    rows = [
        (
            _stamp(row),
            row["name"],
            "N",
            "Y" if row["name"] == current else "N",
            "",
            OWNER,
            row["comment"],
            "",
            "1",
            "STANDARD",
        )
        for row in shown.store.databases()
    ]
    return listing(_DATABASES, rows)


def _schemas(shown: _Shown) -> Answer:
    current, rows = shown.store.current(), []
    for database, _ in shown.places():
        for row in shown.store.schemas(database):
            here = (current["database"], current["schema"]) == (database, row["name"])
            flags = ("N", "Y" if here else "N")
            rows.append((_stamp(row), row["name"], *flags, database, OWNER, row["comment"], "", "1"))
    return listing(_SCHEMAS, rows)


def _items(shown: _Shown) -> list[tuple[str, Row]]:
    return [
        (database, row) for database, schema in shown.places() for row in shown.store.items(database, schema)
    ]


def _table_row(database: str, row: Row, rows: int | None) -> tuple[Any, ...]:
    size = None if rows is None else 512 * ((rows + 15) // 16)
    names = (row["name"], database, row["schema"], row["kind"], row["comment"], row["cluster_by"])
    return (_stamp(row), *names, rows, size, OWNER, "1")


_NOT_SO = ("N", "N", "N", "N")
"""Of a table: that it is neither hybrid nor dynamic, Iceberg or immutable."""


def _tables(shown: _Shown) -> Answer:
    counts = shown.store.counts()
    rows = [
        (
            *_table_row(database, row, counts.get(row["id"], 0)),
            *("OFF", "OFF", "N", "N", "ROLE", "N", None, *_NOT_SO),
        )
        for database, row in _items(shown)
        if row["kind"] != "VIEW"
    ]
    return listing(_TABLES, rows, numbers="rows|bytes")


def _objects(shown: _Shown) -> Answer:
    counts = shown.store.counts()
    rows = [
        (*_table_row(database, {**row, "kind": kind}, counts.get(row["id"])), "ROLE", None, *_NOT_SO)
        for database, row in _items(shown)
        for kind in ("VIEW" if row["kind"] == "VIEW" else "TABLE",)
    ]
    return listing(_OBJECTS, rows, numbers="rows|bytes")


def _views(shown: _Shown) -> Answer:
    rows = [
        (
            _stamp(row),
            row["name"],
            "",
            database,
            row["schema"],
            OWNER,
            row["comment"],
            row["text"],
            "false",
            "false",
        )
        for database, row in _items(shown)
        if row["kind"] == "VIEW"
    ]
    return listing(_VIEWS, rows)


def _asked_columns(shown: _Shown) -> list[tuple[str, Row]]:
    table = None
    if shown.kind in {"TABLE", "VIEW"}:
        table = shown.store.full(shown.path)[2]
        shown.store.item_named(shown.path, shown.kind.title())
    return [
        (database, row)
        for database, schema in shown.places()
        for row in shown.store.item_columns(database)
        if schema in {None, row["schema"]} and table in {None, row["item"]}
    ]


def _columns(shown: _Shown) -> Answer:
    rows = [
        (
            *(
                row["item"],
                row["schema"],
                row["name"],
                row["type"],
                "NOT_NULL" if row["required"] else "true",
            ),
            *(row["default"] or "", "COLUMN", "", row["comment"], database),
            "" if row["sequence_id"] is None else "IDENTITY START 1 INCREMENT 1",
        )
        for database, row in _asked_columns(shown)
    ]
    return listing(_COLUMNS, rows)


def _sequences(shown: _Shown) -> Answer:
    rows = [
        (
            row["name"],
            database,
            row["schema"],
            row["next"],
            row["step"],
            _stamp(row),
            OWNER,
            row["comment"],
            "Y",
        )
        for database, schema in shown.places()
        for row in shown.store.sequences(database)
        if schema in {None, row["schema"]}
    ]
    return listing(_SEQUENCES, rows, numbers="next_value|interval")


def _stages(shown: _Shown) -> Answer:
    rows: list[tuple[Any, ...]] = [
        (
            *(f"{one.created} +0000", one.name, database, inside, "", "N", "N", OWNER, one.comment, None),
            *("INTERNAL TEMPORARY" if one.session else "INTERNAL", None, None, None, None, "ROLE", "N"),
        )
        for database, schema in shown.places()
        for one, inside in shown.store.stages(database)
        if schema in {None, inside}
    ]
    return listing(_STAGES, rows)


def _file_formats(shown: _Shown) -> Answer:
    rows: list[tuple[Any, ...]] = [
        (
            *(f"{one.created} +0000", one.name, database, inside, one.options["TYPE"], OWNER, one.comment),
            *(as_json(one.options, str), "ROLE"),
        )
        for database, schema in shown.places()
        for one, inside in shown.store.file_formats(database)
        if schema in {None, inside}
    ]
    return listing(_FILE_FORMATS, rows)


def _primary_keys(shown: _Shown) -> Answer:
    rows: list[tuple[Any, ...]] = []
    places: dict[int, int] = {}
    for database, row in _asked_columns(shown):
        if row["primary_key"]:
            places[row["item_id"]] = places.get(row["item_id"], 0) + 1
            name = f"SYS_CONSTRAINT_{row['item_id']}_PRIMARY_KEY"
            place = (database, row["schema"], row["item"], row["name"], places[row["item_id"]])
            rows.append((None, *place, name, "false", None))
    return listing(_KEYS, rows, numbers="key_sequence")


def _warehouses(shown: _Shown) -> Answer:
    current = shown.store.current()["warehouse"]
    return listing(
        "name|state|type|size|is_current|owner", [(current, "STARTED", "STANDARD", "X-Small", "Y", OWNER)]
    )


def _roles(shown: _Shown) -> Answer:
    current = shown.store.current()["role"]
    names: Sequence[str] = sorted({current, "ACCOUNTADMIN", "PUBLIC", "SYSADMIN"})
    return listing(
        "name|is_default|is_current|owner|comment",
        [(one, "N", "Y" if one == current else "N", "", "") for one in names],
    )


def _users(shown: _Shown) -> Answer:
    return listing("name|login_name|display_name|default_role", [("AGENT", "AGENT", "Agent", OWNER)])
