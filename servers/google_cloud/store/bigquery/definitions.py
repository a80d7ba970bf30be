"""Statements that make, change and remove tables, views and datasets, and those that move data."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.google_cloud.models import WarehouseTable
from mesocosm.servers.google_cloud.store.bigquery.answers import Answer
from mesocosm.servers.google_cloud.store.bigquery.names import Names
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.servers.google_cloud.store.part import StorePart, moment
from mesocosm.services.queries.dialects.bigquery import BigQuery
from mesocosm.services.queries.guards import written

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store import GoogleCloudStore
    from mesocosm.servers.google_cloud.store.bigquery.queries import Queries

_DIALECT = BigQuery()
_TYPE = exp.DataType.Type
_KINDS = {
    _TYPE.BIGINT: "INT64",
    _TYPE.INT: "INT64",
    _TYPE.SMALLINT: "INT64",
    _TYPE.TINYINT: "INT64",
    _TYPE.DOUBLE: "FLOAT64",
    _TYPE.FLOAT: "FLOAT64",
    _TYPE.DECIMAL: "NUMERIC",
    _TYPE.BIGDECIMAL: "BIGNUMERIC",
    _TYPE.BOOLEAN: "BOOL",
    _TYPE.TEXT: "STRING",
    _TYPE.VARCHAR: "STRING",
    _TYPE.BINARY: "BYTES",
    _TYPE.VARBINARY: "BYTES",
    _TYPE.DATE: "DATE",
    _TYPE.TIME: "TIME",
    _TYPE.TIMESTAMP: "DATETIME",
    _TYPE.DATETIME: "DATETIME",
    _TYPE.TIMESTAMPTZ: "TIMESTAMP",
    _TYPE.JSON: "JSON",
    _TYPE.INTERVAL: "INTERVAL",
}
_UNITS = {"DATE": "DAY", "DATE_TRUNC": "DAY", "TIMESTAMP_TRUNC": "DAY", "DATETIME_TRUNC": "DAY"}


def field_of_type(name: str, declared: exp.DataType) -> Field:
    """The field of a type that a statement names."""
    field: Field = {"name": name, "mode": "NULLABLE"}
    if declared.this == _TYPE.ARRAY:
        if not declared.expressions or declared.expressions[0].this == _TYPE.ARRAY:
            raise Invalid("Cannot construct array with element type ARRAY", code="invalidQuery")
        return {**field_of_type(name, declared.expressions[0]), "mode": "REPEATED"}
    if declared.this == _TYPE.STRUCT:
        inner = []
        for one in declared.expressions:
            if not isinstance(one, exp.ColumnDef) or one.kind is None:
                raise Invalid("STRUCT fields of a table need names", code="invalidQuery")
            inner.append(field_of_type(one.name, one.kind))
        return {**field, "type": "STRUCT", "fields": inner}
    if declared.this not in _KINDS:
        raise Invalid(f"Type not found: {written(declared, _DIALECT)[:100]}", code="invalidQuery")
    field["type"] = _KINDS[declared.this]
    numbers = [int(one.name) for one in declared.expressions if one.name.isdecimal()]
    if numbers and field["type"] in ("NUMERIC", "BIGNUMERIC"):
        field["precision"] = numbers[0]
        field["scale"] = numbers[1] if len(numbers) > 1 else 0
    elif numbers:
        field["maxLength"] = numbers[0]
    return field


class Definitions(StorePart):
    """One statement that is neither a query nor a change of rows."""

    def __init__(self, store: GoogleCloudStore, queries: Queries, names: Names) -> None:
        super().__init__(store)
        self._queries = queries
        self._names = names

    def run(self, tree: exp.Expr, text: str, *, dry_run: bool) -> Answer:
        """Execute a definition; refuses unsupported statements."""
        kind = str(tree.args.get("kind") or "").upper()
        ways: dict[tuple[type[exp.Expr], str], Callable[[exp.Expr], str]] = {
            (exp.Create, "TABLE"): self._create_table,
            (exp.Create, "VIEW"): self._create_view,
            (exp.Create, "SCHEMA"): self._create_schema,
            (exp.Drop, "TABLE"): self._drop,
            (exp.Drop, "VIEW"): self._drop,
            (exp.Drop, "SCHEMA"): self._drop_schema,
            (exp.Alter, "TABLE"): self._alter,
        }
        way = ways.get((type(tree), kind))
        if isinstance(tree, exp.Create) and tree.find(exp.ExternalProperty) is not None:
            way, kind = None, f"EXTERNAL {kind}"
        if way is None:
            word = re.match(r"\s*(\w+)", text)
            raise Invalid(
                f"Unsupported statement: {word[1].upper() if word else ''} {kind}".rstrip()
                + ". Queries, DML, and CREATE, ALTER and DROP of tables, views and schemas are offered here.",
                code="invalidQuery",
            )
        verb = type(tree).__name__.upper()
        answer = Answer(f"{verb}_{kind}", dry_run=dry_run)
        if kind == "TABLE" and verb == "CREATE" and isinstance(tree.args.get("expression"), exp.Query):
            answer.kind = "CREATE_TABLE_AS_SELECT"
        if not dry_run:
            answer.target = way(tree)
        return answer

    # -- CREATE -----------------------------------------------------------------------------------------

    def _create_table(self, tree: exp.Expr) -> str:
        schema = tree.this if isinstance(tree.this, exp.Schema) else None
        dataset, name = self._place(schema.this if schema else tree.this)
        if self._is_there(tree, dataset, name, "Table"):
            return f"{dataset}.{name}"
        source = tree.args.get("expression")
        options, partition, cluster = self._properties(tree)
        declared = (
            [self._declared(one) for one in schema.expressions if isinstance(one, exp.ColumnDef)]
            if schema
            else []
        )
        if like := next(iter(tree.find_all(exp.LikeProperty)), None):
            declared = list(self._table(like.this).fields)
        fields = (
            self._queries.schema(source, self._names) if source is not None and not declared else declared
        )
        if not fields and not tree.args.get("clone"):
            raise Invalid("CREATE TABLE needs a list of columns or a query", code="invalidQuery")
        if clone := tree.args.get("clone"):
            source = exp.Select(expressions=[exp.Star()], from_=exp.From(this=clone.this.copy()))
            origin = self._table(clone.this)
            fields, partition, cluster = list(origin.fields), origin.partitioning, list(origin.clustering)
        nameless = next((one["name"] for one in fields if one["name"].startswith("f0_")), None)
        if nameless:
            raise Invalid("CREATE TABLE columns must be named, but column 1 has no name", code="invalidQuery")
        # What is replaced may be what the query reads, and goes when the query is done.
        replaces = bool(tree.args.get("replace")) and self._find(dataset, name) is not None
        table = self.store.bigquery.tables.create(
            dataset,
            f"{name[:1000]} being made" if replaces else name,
            fields,
            description=options.get("description"),
            labels=options.get("labels") or {},
            friendly_name=options.get("friendly_name"),
            expires=options.get("expiration_timestamp"),
            requires_filter=bool(options.get("require_partition_filter")),
            partitioning=partition,
            clustering=cluster,
        )
        if source is not None:
            self._queries.add_rows(table, source, self._names)
        if replaces:
            self._remove(dataset, name)
            self.store.bigquery.tables.rename(table, name)
        return f"{dataset}.{name}"

    def _create_view(self, tree: exp.Expr) -> str:
        schema = tree.this if isinstance(tree.this, exp.Schema) else None
        dataset, name = self._place(schema.this if schema else tree.this)
        if self._is_there(tree, dataset, name, "View"):
            return f"{dataset}.{name}"
        source = tree.args.get("expression")
        if not isinstance(source, exp.Query):
            raise Invalid("CREATE VIEW needs a query", code="invalidQuery")
        fields = self._queries.schema(source, self._names)
        if schema:
            names = [one.name for one in schema.expressions]
            if len(names) != len(fields):
                raise Invalid(
                    f"View column name list contains {len(names)} names, but the query has {len(fields)}"
                    " columns",
                    code="invalidQuery",
                )
            fields = [{**field, "name": given} for field, given in zip(fields, names, strict=True)]
        options, _, _ = self._properties(tree)
        if tree.args.get("replace"):
            self._remove(dataset, name)
        self.store.bigquery.tables.create_view(
            dataset,
            name,
            written(self._qualified(source), _DIALECT),
            fields,
            description=options.get("description"),
            labels=options.get("labels") or {},
            friendly_name=options.get("friendly_name"),
        )
        return f"{dataset}.{name}"

    def _qualified(self, source: exp.Expr) -> exp.Expr:
        """The query of a view with the dataset at each name: it is read without a default dataset."""
        made = source.copy()
        common = {cte.alias for cte in made.find_all(exp.CTE)}
        for table in made.find_all(exp.Table):
            is_bare = isinstance(table.this, exp.Identifier) and not table.db and "." not in table.name
            if is_bare and table.name not in common and self._names.default:
                table.set("db", exp.to_identifier(self._names.default))
        return made

    def _create_schema(self, tree: exp.Expr) -> str:
        id_ = self._schema_name(tree.this)
        options, _, _ = self._properties(tree)
        datasets = self.store.bigquery.datasets
        if id_ in datasets.ids() and tree.args.get("exists"):
            return id_
        datasets.create(
            id_,
            options.get("location") or "US",
            options.get("description"),
            friendly_name=options.get("friendly_name"),
            labels=options.get("labels") or {},
        )
        return id_

    # -- DROP, ALTER ------------------------------------------------------------------------------------

    def _drop(self, tree: exp.Expr) -> str:
        dataset, name = self._place(_one(tree))
        kind = str(tree.args["kind"]).upper()
        try:
            table = self._names.table(dataset, name)
        except NotFound:
            if tree.args.get("exists"):
                return f"{dataset}.{name}"
            raise
        if table.kind != kind:
            raise Invalid(
                f"{dataset}.{name} is not a {kind.lower()}: use DROP {table.kind}", code="invalidQuery"
            )
        self.store.bigquery.tables.remove(table)
        return f"{dataset}.{name}"

    def _drop_schema(self, tree: exp.Expr) -> str:
        id_ = self._schema_name(_one(tree))
        if id_ in self.store.bigquery.datasets.ids() or not tree.args.get("exists"):
            self.store.bigquery.datasets.delete(id_, with_tables=bool(tree.args.get("cascade")))
        return id_

    def _alter(self, tree: exp.Expr) -> str:
        dataset, name = self._place(tree.this)
        try:
            table = self._names.table(dataset, name)
        except NotFound:
            if tree.args.get("exists"):
                return f"{dataset}.{name}"
            raise
        for action in tree.args.get("actions") or ():
            self._act(table, dataset, action)
        self.store.bigquery.tables.touch(table)
        return f"{dataset}.{name}"

    def _act(self, table: WarehouseTable, dataset: str, action: exp.Expr) -> None:
        tables = self.store.bigquery.tables
        match action:
            case exp.ColumnDef():
                field = self._declared(action)
                have = [one["name"].lower() for one in table.fields]
                if field["name"].lower() in have:
                    if not action.args.get("exists"):
                        raise Invalid(f"Column already exists: {field['name']}", code="invalidQuery")
                    return
                tables.update(table, {"fields": [*table.fields, field]})
            case exp.Drop():
                tables.drop_column(table, _one(action).name, missing_ok=bool(action.args.get("exists")))
            case exp.RenameColumn():
                tables.rename_column(table, action.this.name, action.args["to"].name)
            case exp.AlterRename():
                tables.rename(table, action.this.name)
            case exp.AlterColumn() if action.args.get("drop") or action.args.get("allow_null"):
                tables.relax(table, action.this.name)
            case exp.AlterSet():
                options = _options(action.expressions)
                known = ("description", "friendly_name", "labels")
                changes = {key: options[key] for key in known if key in options}
                if "expiration_timestamp" in options:
                    changes["expires"] = options["expiration_timestamp"]
                tables.update(table, changes)
            case _:
                raise Invalid(
                    f"Unsupported ALTER TABLE action: {written(action, _DIALECT)[:100]}", code="invalidQuery"
                )

    # -- parts of statements ----------------------------------------------------------------------------

    def _place(self, table: exp.Expr) -> tuple[str, str]:
        if not isinstance(table, exp.Table):
            raise Invalid(f"Invalid table name: {written(table, _DIALECT)[:100]}", code="invalidQuery")
        return self._names.place(tuple(part.name for part in table.parts))

    def _table(self, table: exp.Expr) -> WarehouseTable:
        return self._names.table(*self._place(table))

    def _schema_name(self, table: exp.Expr) -> str:
        parts = [part.name for part in table.parts] if isinstance(table, exp.Table) else [table.name]
        parts = [part for one in parts for part in one.split(".") if part]
        if len(parts) > 1:
            self._names.check_project(".".join(parts[:-1]))
        return parts[-1]

    def _is_there(self, tree: exp.Expr, dataset: str, name: str, kind: str) -> bool:
        """True if IF NOT EXISTS leaves nothing to do; refuses a duplicate."""
        place = self.store.bigquery.datasets.dataset(dataset)
        if self.store.bigquery.tables.find(place, name) is None or tree.args.get("replace"):
            return False
        if tree.args.get("exists"):
            return True
        raise Conflict(f"Already Exists: {kind} {self.project.id}:{dataset}.{name}", code="duplicate")

    def _remove(self, dataset: str, name: str) -> None:
        found = self._find(dataset, name)
        if found is not None:
            self.store.bigquery.tables.remove(found)

    def _find(self, dataset: str, name: str) -> WarehouseTable | None:
        return self.store.bigquery.tables.find(self.store.bigquery.datasets.dataset(dataset), name)

    def _declared(self, column: exp.ColumnDef) -> Field:
        if column.kind is None:
            raise Invalid(f"Column {column.name} has no type", code="invalidQuery")
        field = field_of_type(column.name, column.kind)
        for constraint in column.constraints:
            kind = constraint.args.get("kind")
            match kind:
                case exp.NotNullColumnConstraint() if not kind.args.get("allow_null"):
                    field["mode"] = "REQUIRED"
                case exp.DefaultColumnConstraint():
                    field["default"] = written(kind.this, _DIALECT)
                case exp.Properties():
                    field |= {
                        key: value
                        for key, value in _options(kind.expressions).items()
                        if key == "description"
                    }
        return field

    def _properties(self, tree: exp.Expr) -> tuple[dict[str, Any], dict[str, Any] | None, list[str]]:
        """OPTIONS, PARTITION BY and CLUSTER BY of a statement."""
        properties = tree.args.get("properties")
        options: dict[str, Any] = {}
        partition, cluster = None, []
        for one in properties.expressions if properties else ():
            match one:
                case exp.PartitionedByProperty():
                    partition = _partition(one.this)
                case exp.ClusterProperty():
                    cluster = [column.name for column in one.expressions]
                case exp.LikeProperty():
                    pass
                case exp.TemporaryProperty():
                    raise Invalid(
                        "Temporary tables are not offered here: name a dataset.", code="invalidQuery"
                    )
                case _:
                    options |= _options([one])
        return options, partition, cluster


def _one(tree: exp.Expr) -> exp.Expr:
    """The one thing that a DROP is about."""
    tables = tree.args.get("tables") or []
    if len(tables) != 1:
        raise Invalid("DROP takes one name", code="invalidQuery")
    return tables[0]  # type: ignore[no-any-return]


def _partition(said: exp.Expr) -> dict[str, Any]:
    """Return a table's partitioning as in the API."""
    one = said.expressions[0] if isinstance(said, exp.Schema | exp.Tuple) and said.expressions else said
    name = one.find(exp.Column) or one.find(exp.Identifier)
    if name is None or name.name.upper().startswith("_PARTITION"):
        raise Invalid("PARTITION BY needs a column of the table", code="invalidQuery")
    text = written(one, _DIALECT).upper()
    if text.startswith("RANGE_BUCKET"):
        numbers = re.findall(r"-?\d+", text.partition("GENERATE_ARRAY")[2])
        if len(numbers) != 3:
            raise Invalid("RANGE_BUCKET needs GENERATE_ARRAY(start, end, interval)", code="invalidQuery")
        return {"field": name.name, "range": dict(zip(("start", "end", "interval"), numbers, strict=True))}
    unit = re.search(r"\b(HOUR|MONTH|YEAR)\b", text)
    return {"field": name.name, "type": unit[1] if unit else "DAY"}


def _options(properties: list[exp.Expr]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for one in filter(None, properties):  # OPTIONS() has none
        inner = one.expressions if isinstance(one, exp.Properties | exp.Tuple) else [one]
        for part in inner:
            name = part.name if not isinstance(part, exp.Property) else part.this.name
            value = part.args.get("value") if isinstance(part, exp.Property) else part.args.get("expression")
            options[_name_of(part, name).lower()] = _value(value if value is not None else part.this)
    return options


def _name_of(part: exp.Expr, name: str) -> str:
    if isinstance(part, exp.LocationProperty):
        return "location"
    if isinstance(part, exp.SchemaCommentProperty):
        return "description"
    return name


def _value(value: exp.Expr) -> Any:
    with suppress(ValueError):
        return _literal(value)
    raise Invalid(f"Unsupported value of an option: {written(value, _DIALECT)[:100]}", code="invalidQuery")


def _literal(value: exp.Expr) -> Any:
    match value:
        case exp.Literal():
            return value.this if value.is_string else int(value.this)
        case exp.Boolean():
            return bool(value.this)
        case exp.Null():
            return None
        case exp.Array():
            pairs = [[_value(inner) for inner in one.expressions] for one in value.expressions]
            return {str(pair[0]): pair[1] for pair in pairs if len(pair) == 2}
        case exp.Cast():
            return moment(datetime.fromisoformat(value.this.name.replace(" UTC", "+00:00")))
    raise ValueError(value.key)
