"""CREATE, ALTER, DROP, COMMENT and USE, from the tree of a statement to the objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from mesocosm.servers.snowflake.store.answers import Answer, done
from mesocosm.servers.snowflake.store.identifiers import Path, Row
from mesocosm.servers.snowflake.store.objects import NewColumn, NewItem
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.dialect import Context
from mesocosm.services.queries.dialects.snowflake import Snowflake, new_column, type_of_result
from mesocosm.services.queries.dml import Changing
from mesocosm.services.queries.failures import SqlError, compilation
from mesocosm.services.queries.guards import written
from mesocosm.services.queries.select_queries import query

if TYPE_CHECKING:
    from mesocosm.servers.snowflake.store import SnowflakeStore


class Defining:
    """One statement that defines something."""

    def __init__(self, store: SnowflakeStore, dialect: Snowflake, context: Context, text: str) -> None:
        self._store = store
        self._dialect = dialect
        self._context = context
        self._text = text.strip().rstrip(";").strip()

    def run(self, tree: exp.Expr) -> Answer:
        """Execute the statement."""
        match tree:
            case exp.Create():
                return self._create(tree)
            case exp.Drop():
                return self._drop(tree)
            case exp.Alter():
                return self._alter(tree)
            case exp.Comment():
                return self._comment(tree)
            case exp.Use():
                return self._use(tree)
        raise self._dialect.unsupported(tree.key.upper())

    # -- CREATE -----------------------------------------------------------------------------------------

    def _create(self, tree: exp.Create) -> Answer:
        kind = str(tree.args.get("kind") or "").upper()
        makers: dict[str, Callable[[exp.Create], Answer]] = {
            "TABLE": self._create_table,
            "VIEW": self._create_view,
            "DATABASE": self._create_database,
            "SCHEMA": self._create_schema,
            "SEQUENCE": self._create_sequence,
        }
        if kind not in makers:
            raise self._dialect.unsupported(f"CREATE {kind}")
        if tree.args.get("replace") and tree.args.get("exists"):
            raise compilation(1003, "42601", "options IF NOT EXISTS and OR REPLACE are incompatible.")
        return makers[kind](tree)

    def _create_database(self, tree: exp.Create) -> Answer:
        (name,) = self._path(tree.this)
        taken = any(row["name"] == name for row in self._store.information.databases())
        if taken and tree.args.get("exists"):
            return done(f"{name} already exists, statement succeeded.")
        source = self._cloned(tree)
        if source is not None:
            self._store.names.database_named(source[-1])
        if source is not None and taken and tree.args.get("replace") and source[-1] == name:
            return done(f"Database {name} successfully created.")
        if taken and tree.args.get("replace"):
            self._store.objects.drop_database(name)
        self._store.objects.add_database(name, _comment_in(tree))
        if source is not None:
            self._store.objects.copy_database(source[-1], name)
        self._store.sessions.use(name, "PUBLIC")
        return done(f"Database {name} successfully created.")

    def _create_schema(self, tree: exp.Create) -> Answer:
        path = self._store.names.schema_path(self._path(tree.this), "CREATE SCHEMA")
        taken = any(row["name"] == path[1] for row in self._store.information.schemas(path[0]))
        if taken and tree.args.get("exists"):
            return done(f"{path[1]} already exists, statement succeeded.")
        source = self._cloned(tree)
        if source is not None:
            source = self._store.names.schema_path(source)
            self._store.names.schema_named(source)
        if taken and tree.args.get("replace") and source == path:
            return done(f"Schema {path[1]} successfully created.")
        if taken and tree.args.get("replace"):
            self._store.objects.drop_schema(path)
        self._store.objects.add_schema(path, _comment_in(tree))
        if source is not None:
            self._store.objects.copy_schema(source, path)
        self._store.sessions.use(*path)
        return done(f"Schema {path[1]} successfully created.")

    def _create_sequence(self, tree: exp.Create) -> Answer:
        path = self._store.names.full(self._path(tree.this), "CREATE SEQUENCE")
        if self._cloned(tree) is not None:
            raise self._dialect.unsupported("CREATE SEQUENCE ... CLONE")
        if self._store.catalogue.sequence(path) is not None:
            if tree.args.get("exists"):
                return done(f"{path[2]} already exists, statement succeeded.")
            if tree.args.get("replace"):
                self._store.objects.drop_sequence(path)
        found = tree.find(exp.SequenceProperties)
        start, step = (_whole(found.args.get(key) if found else None, 1) for key in ("start", "increment"))
        self._store.objects.add_sequence(path, start, step, _comment_in(tree))
        return done(f"Sequence {path[2]} successfully created.")

    def _create_table(self, tree: exp.Create) -> Answer:
        schema = tree.this if isinstance(tree.this, exp.Schema) else None
        path = self._store.names.full(self._path(schema.this if schema else tree.this), "CREATE TABLE")
        present = self._store.names.item(path)
        if present is not None and tree.args.get("exists"):
            return done(f"{path[2]} already exists, statement succeeded.")
        kind = "TRANSIENT" if tree.find(exp.TransientProperty) else "TABLE"
        kind = "TEMPORARY" if tree.find(exp.TemporaryProperty) else kind
        new = NewItem(path, kind, (), _comment_in(tree))
        if cluster := tree.find(exp.ClusteredByProperty, exp.Cluster):
            new.cluster_by = (
                f"LINEAR({', '.join(written(one, self._dialect) for one in cluster.expressions)})"
            )
        copied = self._copied(tree)
        if copied is not None:
            return self._create_copy(tree, new, copied, present)
        new.columns = self._columns(schema.expressions) if schema else []
        if tree.expression is not None:
            return self._create_from_query(tree, new, present)
        if not new.columns:
            raise compilation(1003, "42000", "A table needs at least one column.")
        self._check_defaults(new.columns)
        self._make_room(tree, present)
        self._store.objects.add_item(new)
        return done(f"Table {path[2]} successfully created.")

    def _check_defaults(self, columns: Sequence[NewColumn]) -> None:
        """Refuse a default that no row could be given."""
        for one in columns:
            if one.column.default is not None and "NEXTVAL" not in one.column.default.upper():
                select = exp.Select(expressions=[self._dialect.default_of(one.column)])
                Changing(self._dialect, self._context).computed([one.column], select)

    def _make_room(self, tree: exp.Create, present: Row | None) -> None:
        if present is not None and tree.args.get("replace"):
            self._store.objects.drop_item(
                self._store.names.full(self._path(_named(tree))), view=present["kind"] == "VIEW"
            )

    def _copied(self, tree: exp.Create) -> tuple[Row, bool] | None:
        """The table that CLONE or LIKE names, and whether its rows are wanted."""
        if (cloned := self._cloned(tree)) is not None:
            return self._store.names.item_named(cloned, "Table"), True
        like = tree.find(exp.LikeProperty)
        return (self._store.names.item_named(self._path(like.this), "Table"), False) if like else None

    def _cloned(self, tree: exp.Create) -> Path | None:
        """Resolve the object that CLONE names, in its present state."""
        clone = tree.args.get("clone")
        if clone is None:
            return None
        if clone.find(exp.HistoricalData) is not None:
            raise self._dialect.unsupported("CLONE ... AT and BEFORE")
        return self._path(clone.this)

    def _create_copy(
        self, tree: exp.Create, new: NewItem, copied: tuple[Row, bool], present: Row | None
    ) -> Answer:
        source, with_rows = copied
        if present is not None and present["id"] == source["id"] and tree.args.get("replace"):
            # A copy of itself, in its own place.
            if not with_rows:
                self._store.catalogue.rows.clear(source["id"])
            self._store.objects.touch(source["id"], kind=new.kind, created=self._store.names.stamp())
        else:
            self._make_room(tree, present)
            self._store.objects.copy_item(source, new, rows=with_rows)
        return done(f"Table {new.path[2]} successfully created.")

    def _create_from_query(self, tree: exp.Create, new: NewItem, present: Row | None) -> Answer:
        source = tree.expression
        described = query(source.copy(), self._dialect, self._context, limit=0).fields
        if not new.columns:
            new.columns = [NewColumn(type_of_result(one.name, one.kind)) for one in described]
        elif len(new.columns) != len(described):
            raise self._dialect.wrong_width(len(new.columns), len(described))
        # The query may read the table that is replaced: it is only gone when the rows are here.
        changing = Changing(self._dialect, self._context)
        values = changing.computed([one.column for one in new.columns], source)
        self._make_room(tree, present)
        number = self._store.objects.add_item(new)
        self._store.catalogue.rows.insert(number, self._store.catalogue.columns(number), values)
        return done(f"Table {new.path[2]} successfully created.")

    def _columns(self, definitions: Sequence[exp.Expr]) -> list[NewColumn]:
        found = [self._column(one) for one in definitions if isinstance(one, exp.ColumnDef)]
        by_name = {one.column.name: one for one in found}
        for one in definitions:
            keys = [one] if isinstance(one, exp.PrimaryKey | exp.UniqueColumnConstraint) else []
            keys += one.expressions if isinstance(one, exp.Constraint) else []
            for key in keys:
                self._mark_key(key, by_name)
        return found

    def _mark_key(self, key: exp.Expr, columns: dict[str, NewColumn]) -> None:
        names = key.expressions or (key.this.expressions if isinstance(key.this, exp.Schema) else [])
        for name in names:
            identifier = name if isinstance(name, exp.Identifier) else name.find(exp.Identifier)
            column = columns.get(self._dialect.fold(identifier)) if identifier else None
            if column is None:
                raise self._dialect.unknown_column(identifier, list(columns))
            if isinstance(key, exp.PrimaryKey):
                column.primary_key = True
                column.column = replace(column.column, required=True)
            elif isinstance(key, exp.UniqueColumnConstraint):
                column.unique_key = True

    def _column(self, definition: exp.ColumnDef) -> NewColumn:
        name = self._dialect.fold(_identifier(definition.this))
        declared = definition.args.get("kind")
        if not isinstance(declared, exp.DataType):
            raise compilation(1003, "42000", f"Column '{name}' has no data type.")
        new = NewColumn(new_column(name, declared))
        for constraint in definition.args.get("constraints") or ():
            self._constrain(new, constraint.args.get("kind"))
        return new

    def _constrain(self, new: NewColumn, kind: Any) -> None:
        match kind:
            case exp.NotNullColumnConstraint():
                new.column = replace(new.column, required=not kind.args.get("allow_null"))
            case exp.DefaultColumnConstraint():
                new.column = replace(new.column, default=written(kind.this, self._dialect))
            case exp.CommentColumnConstraint():
                new.comment = kind.this.name
            case exp.PrimaryKeyColumnConstraint():
                new.primary_key = True
                new.column = replace(new.column, required=True)
            case exp.UniqueColumnConstraint():
                new.unique_key = True
            case exp.GeneratedAsIdentityColumnConstraint():
                new.counts = (_whole(kind.args.get("start"), 1), _whole(kind.args.get("increment"), 1))
            case exp.AutoIncrementColumnConstraint():
                new.counts = (1, 1)
            case exp.Reference() | exp.CollateColumnConstraint():
                pass  # Snowflake keeps foreign keys without holding anybody to them
            case _:
                raise self._dialect.unsupported(f"constraint {kind.key if kind else ''}")

    def _create_view(self, tree: exp.Create) -> Answer:
        schema = tree.this if isinstance(tree.this, exp.Schema) else None
        path = self._store.names.full(self._path(schema.this if schema else tree.this), "CREATE VIEW")
        present = self._store.names.item(path)
        if present is not None and tree.args.get("exists"):
            return done(f"{path[2]} already exists, statement succeeded.")
        described = query(tree.expression.copy(), self._dialect, self._context, limit=0).fields
        columns = [NewColumn(type_of_result(one.name, one.kind)) for one in described]
        if schema:
            if len(schema.expressions) != len(columns):
                raise self._dialect.wrong_width(len(schema.expressions), len(columns))
            columns = [
                self._renamed(one, named) for one, named in zip(columns, schema.expressions, strict=True)
            ]
        self._make_room(tree, present)
        self._store.objects.add_item(
            NewItem(
                path, "VIEW", columns, _comment_in(tree), written(tree.expression, self._dialect), self._text
            )
        )
        return done(f"View {path[2]} successfully created.")

    def _renamed(self, one: NewColumn, named: exp.Expr) -> NewColumn:
        identifier = named if isinstance(named, exp.Identifier) else named.this
        comment = named.find(exp.CommentColumnConstraint)
        name = self._dialect.fold(identifier)
        column = replace(one.column, name=name, stored=name)
        return NewColumn(column, comment.this.name if comment else "")

    # -- DROP, COMMENT, USE -----------------------------------------------------------------------------

    def _drop(self, tree: exp.Drop) -> Answer:
        kind = str(tree.args.get("kind") or "").upper()
        tables = tree.args.get("tables") or [tree.this]
        path, store = self._path(tables[0]), self._store
        droppers: dict[str, Callable[[], None]] = {
            "TABLE": lambda: store.objects.drop_item(store.names.full(path)),
            "VIEW": lambda: store.objects.drop_item(store.names.full(path), view=True),
            "SCHEMA": lambda: store.objects.drop_schema(store.names.schema_path(path)),
            "DATABASE": lambda: store.objects.drop_database(path[-1]),
            "SEQUENCE": lambda: store.objects.drop_sequence(store.names.full(path)),
            "STAGE": lambda: store.stages.drop_stage(store.names.full(path)),
            "FILE FORMAT": lambda: store.stages.drop_file_format(store.names.full(path)),
        }
        if kind not in droppers:
            raise self._dialect.unsupported(f"DROP {kind}")
        try:
            droppers[kind]()
        except SqlError as refusal:
            if not tree.args.get("exists") or refusal.number not in {2003, 2043}:
                raise
            return done(f"Drop statement executed successfully ({path[-1]} already dropped).")
        return done(f"{path[-1]} successfully dropped.")

    def _comment(self, tree: exp.Comment) -> Answer:
        kind, comment = str(tree.args["kind"]).upper(), tree.expression.name
        store = self._store
        try:
            if kind == "COLUMN":
                column = _identifier(tree.this)
                item = store.names.item_named(self._path(tree.this)[:-1], "Table")
                store.objects.change_column(item, self._column_of(item, column), comment=comment)
            elif kind in {"TABLE", "VIEW"}:
                store.objects.touch(
                    store.names.item_named(self._path(tree.this), kind.title())["id"], comment=comment
                )
            elif kind in {"SCHEMA", "DATABASE", "SEQUENCE"}:
                store.objects.set_comment(kind, self._path(tree.this), comment)
            else:
                raise self._dialect.unsupported(f"COMMENT ON {kind}")
        except SqlError as refusal:
            if not tree.args.get("exists") or refusal.number not in {2003, 2043}:
                raise
        return done("Statement executed successfully.")

    def _use(self, tree: exp.Use) -> Answer:
        kind = str(tree.args["kind"].name).upper() if tree.args.get("kind") else ""
        path, store = self._path(tree.this), self._store
        if kind in {"WAREHOUSE", "ROLE"}:
            store.sessions.use_name(kind.lower(), path[-1])
        elif kind == "DATABASE" or (not kind and len(path) == 1):
            store.names.database_named(path[-1])
            names = [row["name"] for row in store.information.schemas(path[-1])]
            store.sessions.use(path[-1], "PUBLIC" if "PUBLIC" in names else None)
        elif kind in {"SCHEMA", ""}:
            full = store.names.schema_path(path, "USE SCHEMA")
            store.names.schema_named(full)
            store.sessions.use(*full)
        else:
            raise self._dialect.unsupported(f"USE {kind}")
        return done("Statement executed successfully.")

    # -- ALTER ------------------------------------------------------------------------------------------

    def _alter(self, tree: exp.Alter) -> Answer:
        kind = str(tree.args.get("kind") or "").upper()
        if kind not in {"TABLE", "VIEW"}:
            raise self._dialect.unsupported(f"ALTER {kind}")
        try:
            item = self._store.names.item_named(self._path(tree.this), kind.title())
        except SqlError:
            if tree.args.get("exists"):
                return done("Statement executed successfully.")
            raise
        for action in tree.args.get("actions") or ():
            self._act(item, action)
        return done("Statement executed successfully.")

    def _act(self, item: Row, action: exp.Expr) -> None:
        store = self._store
        match action:
            case exp.ColumnDef():
                self._add_column(item, action)
            case exp.Drop() if str(action.args.get("kind")).upper() == "COLUMN":
                for one in action.args.get("tables") or [action.this]:
                    store.objects.drop_column(item, self._column_of(item, _identifier(one)))
            case exp.RenameColumn():
                new = _identifier(action.args["to"])
                column = self._column_of(item, _identifier(action.this))
                store.objects.rename_column(item, column, self._dialect.fold(new))
            case exp.AlterRename():
                store.objects.rename_item(item, store.names.full(self._path(action.this)))
            case exp.SwapTable():
                store.objects.swap_items(item, store.names.item_named(self._path(action.this), "Table"))
            case exp.AlterSet():
                if (comment := action.find(exp.SchemaCommentProperty)) is None:
                    raise self._dialect.unsupported(written(action, self._dialect))
                store.objects.touch(item["id"], comment=comment.this.name)
            case exp.AddConstraint():
                self._add_keys(item, action)
            case exp.AlterColumn():
                self._alter_column(item, action)
            case _:
                raise self._dialect.unsupported(f"ALTER {written(action, self._dialect)}")

    def _add_column(self, item: Row, definition: exp.ColumnDef) -> None:
        new = self._column(definition)
        names = [column.name for column in self._store.catalogue.columns(item["id"])]
        if definition.args.get("exists") and new.column.name in names:
            return
        value = None
        if new.column.default is not None:
            select = exp.Select(expressions=[self._dialect.default_of(new.column)])
            value = Changing(self._dialect, self._context).computed([new.column], select)[0][0]
        self._store.objects.add_column(item, new, value)

    def _add_keys(self, item: Row, action: exp.AddConstraint) -> None:
        columns = {one.name: NewColumn(one) for one in self._store.catalogue.columns(item["id"])}
        for constraint in action.expressions:
            for key in constraint.expressions if isinstance(constraint, exp.Constraint) else [constraint]:
                self._mark_key(key, columns)
        for new in columns.values():
            values = {"primary_key": new.primary_key, "unique_key": new.unique_key}
            if any(values.values()):
                marked = {key: True for key, value in values.items() if value}
                self._store.objects.change_column(item, new.column, required=new.column.required, **marked)

    def _alter_column(self, item: Row, action: exp.AlterColumn) -> None:
        column, given = self._column_of(item, action.this), action.args
        if given.get("comment") is not None:
            self._store.objects.change_column(item, column, comment=given["comment"].name)
        elif given.get("dtype") is not None:
            self._retype(item, column, new_column(column.name, given["dtype"]))
        elif given.get("allow_null") is not None:
            required = not given["allow_null"]
            if required and self._store.catalogue.rows.has_null(item["id"], column):
                raise SqlError(
                    1471,
                    "22000",
                    f"Column '{column.name}' contains null values. Not null constraint cannot be added.",
                )
            self._store.objects.change_column(item, column, required=required)
        elif given.get("default") is not None:
            raise SqlError(
                2,
                "0A000",
                "Unsupported feature 'Alter Column Set Default': only the default of a sequence may be set.",
            )
        elif given.get("drop"):
            self._store.objects.change_column(item, column, default=None)

    def _retype(self, item: Row, column: Column, new: Column) -> None:
        """Snowflake lets a type become wider, of the same sort."""
        same = column.vendor.partition("(")[0] == new.vendor.partition("(")[0]
        if not same or _measure(new) < _measure(column) or _scale(new) != _scale(column):
            raise compilation(
                2108,
                "22000",
                f"cannot change column {column.name} from type {column.vendor} to {new.vendor}",
            )
        values = {"kind": new.kind, "type": new.vendor, "longest": new.longest}
        self._store.objects.change_column(item, column, **values)

    # -- names ------------------------------------------------------------------------------------------

    def _path(self, named: exp.Expr) -> Path:
        parts = named.parts if isinstance(named, exp.Table | exp.Column) else [named]
        return tuple(self._dialect.fold(part) for part in parts if isinstance(part, exp.Identifier))

    def _column_of(self, item: Row, name: Any) -> Column:
        folded = self._dialect.fold(name)
        columns = self._store.catalogue.columns(item["id"])
        for column in columns:
            if column.name == folded:
                return column
        raise self._dialect.unknown_column(name, [column.name for column in columns])


def _identifier(named: Any) -> exp.Identifier:
    """The name that a part of a statement consists of."""
    found = named.find(exp.Identifier) if isinstance(named, exp.Expr) else None
    if found is None:
        raise compilation(1003, "42000", "syntax error: a name is missing.")
    return found


def _named(tree: exp.Create) -> exp.Expr:
    named: exp.Expr = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    return named


def _comment_in(tree: exp.Create) -> str:
    properties = tree.args.get("properties")
    found = properties.find(exp.SchemaCommentProperty) if properties else None
    return found.this.name if found else ""


def _whole(value: exp.Expr | None, default: int) -> int:
    if value is None:
        return default
    try:
        return int(value.this) if isinstance(value, exp.Literal) else -int(value.this.name)
    except (AttributeError, ValueError):
        raise compilation(1003, "42000", f"'{value.name[:100]}' is no whole number.") from None


def _measure(column: Column) -> int:
    inside = column.vendor.partition("(")[2].rstrip(")").split(",")
    return int(inside[0]) if inside[0].isdecimal() else 0


def _scale(column: Column) -> str:
    return column.vendor.partition(",")[2]
