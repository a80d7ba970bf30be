"""SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from mesocosm.servers.snowflake.models import FileFormat, Stage
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


_ALWAYS: Mapping[str, Any] = {
    **dict.fromkeys(("automatic_clustering", "change_tracking"), "OFF"),
    **dict.fromkeys(("is_default", "is_external", "enable_schema_evolution", "is_event"), "N"),
    **dict.fromkeys(("is_hybrid", "is_iceberg", "is_dynamic", "is_immutable"), "N"),
    **dict.fromkeys(("has_credentials", "has_encryption_key", "directory_enabled"), "N"),
    **dict.fromkeys(("is_secure", "is_materialized", "rely"), "false"),
    **dict.fromkeys(("origin", "options", "reserved", "url"), ""),
    "owner": OWNER,
    "owner_role_type": "ROLE",
    "retention_time": "1",
    "ordered": "Y",
}
"""Values that lists have for all objects, by column; other columns without a value are NULL."""

_Lines = Iterator[Mapping[str, Any]]


def _listing(columns: str, lines: Iterable[Mapping[str, Any]], numbers: str = "") -> Answer:
    names = columns.split("|")
    rows = [tuple(line[name] if name in line else _ALWAYS.get(name) for name in names) for line in lines]
    return listing(columns, rows, numbers=numbers)


def describe(store: SnowflakeStore, tree: exp.Describe, dialect: Snowflake) -> Answer:
    """The columns of a table or view."""
    table = tree.this
    if not isinstance(table, exp.Table):
        raise dialect.unsupported("DESCRIBE of a statement")
    path = tuple(dialect.fold(part) for part in table.parts if isinstance(part, exp.Identifier))
    kind = "View" if str(tree.args.get("kind")).lower() == "view" else "Table"
    item, full = store.names.item_named(path, kind), store.names.full(path)
    columns = store.information.item_columns(full[0])
    wanted = [row for row in columns if row["schema"] == full[1] and row["item"] == item["name"]]
    return _listing(_DESCRIBED, map(_described, wanted))


_COUNTING = "IDENTITY START 1 INCREMENT 1"


def _described(row: Row) -> Mapping[str, Any]:
    return {
        "name": row["name"],
        "type": row["type"],
        "kind": "COLUMN",
        "null?": "N" if row["required"] else "Y",
        "default": row["default"] if row["sequence_id"] is None else _COUNTING,
        "primary key": "Y" if row["primary_key"] else "N",
        "unique key": "Y" if row["unique_key"] else "N",
        "comment": row["comment"] or None,
    }


def show(store: SnowflakeStore, tree: exp.Show) -> Answer:
    """List objects of the kind that SHOW names."""
    kind = tree.name.upper()
    if tree.args.get("iceberg"):
        kind = f"ICEBERG {kind}"
    if kind in _NONE:
        return listing(_NONE[kind], [])
    if kind not in _LISTS:
        raise SqlError(2, "0A000", f"Unsupported feature 'SHOW {kind}'.")
    columns, lines, numbers = _LISTS[kind]
    shown = _Shown(store, tree)
    answer = _listing(columns, lines(shown), numbers)
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
        store, current = self.store, self.store.sessions.current()
        if self.kind in {"SCHEMA", "TABLE", "VIEW"}:
            path = self.path if self.kind == "SCHEMA" else store.names.full(self.path)[:2]
            full = store.names.schema_path(path, "SHOW")
            store.names.schema_named(full)
            return [(full[0], full[1])]
        if self.kind == "DATABASE" or (self.path and len(self.path) == 1):
            store.names.database_named(self.path[-1] if self.path else current["database"])
            return [(self.path[-1] if self.path else current["database"], None)]
        if self.kind == "ACCOUNT" or current["database"] is None:
            return [(row["name"], None) for row in store.information.databases()]
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

    def within(self, lists: Callable[[str], Iterable[tuple[Any, str]]]) -> Iterator[tuple[str, str, Any]]:
        """Database, schema and object, of those in the places that ``lists`` gives of a database."""
        for database, schema in self.places():
            for found, inside in lists(database):
                if schema in {None, inside}:
                    yield database, inside, found

    def columns(self) -> Iterator[tuple[str, Row]]:
        """The columns of a table, or of all tables, each with its database."""
        table = None
        if self.kind in {"TABLE", "VIEW"}:
            table = self.store.names.full(self.path)[2]
            self.store.names.item_named(self.path, self.kind.title())
        for database, schema in self.places():
            for row in self.store.information.item_columns(database):
                if schema in {None, row["schema"]} and table in {None, row["item"]}:
                    yield database, row


def _object(row: Row, database: str | None = None, **more: Any) -> Mapping[str, Any]:
    """Tell what all lists say of an object."""
    placed = {"database_name": database, "schema_name": row.get("schema")}
    return {**placed, **row, "created_on": f"{row['created']} +0000", **more}


def _databases(shown: _Shown) -> _Lines:
    current = shown.store.sessions.current()["database"]
    for row in shown.store.information.databases():
        yield _object(row, is_current="Y" if row["name"] == current else "N", kind="STANDARD")


def _schemas(shown: _Shown) -> _Lines:
    current = shown.store.sessions.current()
    for database, _ in shown.places():
        for row in shown.store.information.schemas(database):
            here = (current["database"], current["schema"]) == (database, row["name"])
            yield _object(row, database, is_current="Y" if here else "N")


def _items(*, tables: bool, views: bool) -> Callable[[_Shown], _Lines]:
    """Tables or views, or both, which are all tables then whatever their kind."""

    def lines(shown: _Shown) -> _Lines:
        counts = shown.store.information.counts()
        for database, schema in shown.places():
            for row in shown.store.information.items(database, schema):
                is_view = row["kind"] == "VIEW"
                rows = None if is_view else counts.get(row["id"], 0)
                size = None if rows is None else 512 * ((rows + 15) // 16)
                kind = "TABLE" if views and not is_view else row["kind"]
                if views if is_view else tables:
                    yield _object(row, database, rows=rows, bytes=size, kind=kind)

    return lines


def _columns(shown: _Shown) -> _Lines:
    for database, row in shown.columns():
        yield {
            "table_name": row["item"],
            "schema_name": row["schema"],
            "column_name": row["name"],
            "data_type": row["type"],
            "null?": "NOT_NULL" if row["required"] else "true",
            "default": row["default"] or "",
            "kind": "COLUMN",
            "expression": "",
            "comment": row["comment"],
            "database_name": database,
            "autoincrement": "" if row["sequence_id"] is None else _COUNTING,
        }


def _sequences(shown: _Shown) -> _Lines:
    listed = shown.store.information.sequences
    for database, _, row in shown.within(lambda name: ((one, one["schema"]) for one in listed(name))):
        yield _object(row, database, next_value=row["next"], interval=row["step"])


def _stages(shown: _Shown) -> _Lines:
    for database, schema, stage in shown.within(shown.store.stages.stages):
        kind = "INTERNAL TEMPORARY" if stage.session else "INTERNAL"
        yield _object(_of_files(stage, schema), database, type=kind)


def _file_formats(shown: _Shown) -> _Lines:
    for database, schema, form in shown.within(shown.store.stages.file_formats):
        said = {"type": form.options["TYPE"], "format_options": as_json(form.options, str)}
        yield _object(_of_files(form, schema), database, **said)


def _of_files(one: Stage | FileFormat, schema: str) -> Row:
    return {"name": one.name, "schema": schema, "comment": one.comment, "created": one.created}


def _primary_keys(shown: _Shown) -> _Lines:
    places: Counter[int] = Counter()
    for database, row in shown.columns():
        if row["primary_key"]:
            places[row["item_id"]] += 1
            yield {
                "database_name": database,
                "schema_name": row["schema"],
                "table_name": row["item"],
                "column_name": row["name"],
                "key_sequence": places[row["item_id"]],
                "constraint_name": f"SYS_CONSTRAINT_{row['item_id']}_PRIMARY_KEY",
            }


def _warehouses(shown: _Shown) -> _Lines:
    current = shown.store.sessions.current()["warehouse"]
    yield {"name": current, "state": "STARTED", "type": "STANDARD", "size": "X-Small", "is_current": "Y"}


def _roles(shown: _Shown) -> _Lines:
    current = shown.store.sessions.current()["role"]
    for one in sorted({current, "ACCOUNTADMIN", "PUBLIC", "SYSADMIN"}):
        yield {"name": one, "is_current": "Y" if one == current else "N", "owner": "", "comment": ""}


def _users(shown: _Shown) -> _Lines:
    yield {"name": "AGENT", "login_name": "AGENT", "display_name": "Agent", "default_role": OWNER}


_LISTS: Mapping[str, tuple[str, Callable[[_Shown], _Lines], str]] = {
    "DATABASES": (_DATABASES, _databases, ""),
    "SCHEMAS": (_SCHEMAS, _schemas, ""),
    "TABLES": (_TABLES, _items(tables=True, views=False), "rows|bytes"),
    "VIEWS": (_VIEWS, _items(tables=False, views=True), ""),
    "OBJECTS": (_OBJECTS, _items(tables=True, views=True), "rows|bytes"),
    "COLUMNS": (_COLUMNS, _columns, ""),
    "SEQUENCES": (_SEQUENCES, _sequences, "next_value|interval"),
    "STAGES": (_STAGES, _stages, ""),
    "FILE FORMATS": (_FILE_FORMATS, _file_formats, ""),
    "PRIMARY KEYS": (_KEYS, _primary_keys, "key_sequence"),
    "WAREHOUSES": ("name|state|type|size|is_current|owner", _warehouses, ""),
    "ROLES": ("name|is_default|is_current|owner|comment", _roles, ""),
    "USERS": ("name|login_name|display_name|default_role", _users, ""),
}
"""By the kind of objects: the columns of its list, what finds its lines, and which columns are numbers."""
