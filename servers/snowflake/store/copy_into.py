"""COPY INTO a table from the files of a stage, and the statements of stages and file formats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from mesocosm.servers.snowflake.models import StageFile
from mesocosm.servers.snowflake.store.answers import Answer, done, listing
from mesocosm.servers.snowflake.store.stages import checked_options
from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.services.queries.catalogue import STAGED, Column, Listed, StoredTable
from mesocosm.services.queries.dialect import Context
from mesocosm.services.queries.dialects.snowflake import Snowflake
from mesocosm.services.queries.dialects.snowflake_tables import key_of
from mesocosm.services.queries.dml import Changing
from mesocosm.services.queries.failures import SqlError, compilation

if TYPE_CHECKING:
    from mesocosm.servers.snowflake.store import SnowflakeStore

_LOADED = (
    "file|status|rows_parsed|rows_loaded|error_limit|errors_seen|first_error|first_error_line|"
    "first_error_character|first_error_column_name"
)
_COUNTS = "rows_parsed|rows_loaded|error_limit|errors_seen|first_error_line|first_error_character"
_FILES = "name|size|md5|last_modified"
_TAKEN = {
    *("FILE_FORMAT", "FILES", "PATTERN", "PURGE", "ON_ERROR", "MATCH_BY_COLUMN_NAME", "FORCE"),
    *("RETURN_FAILED_ONLY", "TRUNCATECOLUMNS", "ENFORCE_LENGTH", "SIZE_LIMIT"),
}
_REMOVE = re.compile(r"\s*('[^']+'|\S+)\s*\Z")


def value_of(value: Any) -> Any:
    """The value of an option, as it is kept."""
    match value:
        case None:
            return True
        case exp.Boolean():
            return bool(value.this)
        case exp.Literal() if not value.is_string:
            # Longer ones are no number that anything has here.
            return int(value.name) if value.name.isdecimal() and len(value.name) <= 18 else value.name
        case exp.Tuple() | exp.Array():
            return [value_of(one) for one in value.expressions]
        case exp.Paren():
            return [value_of(value.this)]
        case exp.Table():
            return value.sql("snowflake")
    return value.name


def options_in(properties: Any) -> dict[str, Any]:
    """Options by their names in capitals."""
    found = {}
    for one in properties or ():
        if type(one) is exp.Property:  # others are of a kind of their own
            found[one.this.name.upper()] = value_of(one.args.get("value"))
    return found


class Copying:
    """A statement about stages."""

    def __init__(self, store: SnowflakeStore, dialect: Snowflake, context: Context) -> None:
        self._store = store
        self._dialect = dialect
        self._context = context

    def create_stage(self, tree: exp.Create) -> Answer:
        path = self._path(tree.this)
        if self._is_there(
            tree, path, self._store.stages.stage(path) is not None, self._store.stages.drop_stage
        ):
            return done(f"{path[2]} already exists, statement succeeded.")
        properties = tree.args.get("properties")
        options: dict[str, Any] = {}
        temporary, comment = False, ""
        for one in properties.expressions if properties else ():
            match one:
                case exp.TemporaryProperty():
                    temporary = True
                case exp.SchemaCommentProperty():
                    comment = one.this.name
                case exp.FileFormatProperty():
                    options = self._said_options(one)
                case _:
                    raise self._dialect.unsupported(f"CREATE STAGE with {one.sql('snowflake')[:40]}")
        if "FORMAT_NAME" not in options:
            options = checked_options(options) if options else {}
        self._store.stages.add_stage(path, options, comment, temporary=temporary)
        return done(f"Stage area {path[2]} successfully created.")

    def create_file_format(self, tree: exp.Create) -> Answer:
        path = self._path(tree.this)
        present = self._store.stages.file_format(path) is not None
        if self._is_there(tree, path, present, self._store.stages.drop_file_format):
            return done(f"{path[2]} already exists, statement succeeded.")
        properties = tree.args["properties"].expressions if tree.args.get("properties") else []
        comment = next(
            (one.this.name for one in properties if isinstance(one, exp.SchemaCommentProperty)), ""
        )
        self._store.stages.add_file_format(path, checked_options(options_in(properties)), comment)
        return done(f"File format {path[2]} successfully created.")

    def list_files(self, text: str) -> Answer:
        stage, prefix = self._store.stages.location(text)
        sizes = self._store.stages.sizes(stage.id)
        rows: list[tuple[Any, ...]] = [
            (f"{stage.name.lower()}/{one.name}", sizes[one.id], one.md5, one.altered)
            for one in self._store.stages.stage_files(stage.id, prefix)
        ]
        return listing(_FILES, rows, numbers="size", moments="")

    def remove_files(self, text: str) -> Answer:
        found = _REMOVE.match(text)
        if found is None:
            raise self._dialect.unsupported("REMOVE with options")
        stage, prefix = self._store.stages.location(found[1].strip("'"))
        files = self._store.stages.stage_files(stage.id, prefix)
        self._store.stages.remove_files(files)
        rows: list[tuple[Any, ...]] = [(f"{stage.name.lower()}/{one.name}", "removed") for one in files]
        return listing("name|result", rows)

    def copy(self, tree: exp.Copy) -> Answer:
        """COPY INTO a table."""
        schema = tree.this if isinstance(tree.this, exp.Schema) else None
        target = schema.this if schema else tree.this
        if not isinstance(target, exp.Table) or isinstance(target.this, exp.Var | exp.Literal):
            raise self._dialect.unsupported("COPY INTO a stage or a place outside")
        item = self._store.names.item_named(tuple(self._dialect.fold(part) for part in target.parts), "Table")
        stored = StoredTable(item["id"], tuple(self._store.catalogue.columns(item["id"])))
        named = [self._dialect.fold(one) for one in schema.expressions] if schema else []
        columns = [self._column(stored, name) for name in named] if named else list(stored.columns)
        said = {one.this.name.upper(): one for one in tree.args.get("params") or ()}
        if unknown := sorted(said.keys() - _TAKEN):
            raise self._dialect.unsupported(f"COPY INTO with {unknown[0]}")
        source = tree.args["files"][0]
        table = source.find(exp.Table)
        if table is None or not isinstance(table.this, exp.Var | exp.Literal):
            raise self._dialect.unsupported("COPY INTO from anything but a stage")
        location = table.this.name.strip("'")
        options = self._said_options(said["FILE_FORMAT"]) if "FILE_FORMAT" in said else {}
        stage, _ = self._store.stages.location(location)
        rows: list[tuple[Any, ...]] = []
        files = self._files(location, said, item["id"])
        for file in files:
            table.meta.update(options=options, files=[file.name])
            key = key_of(location, options=options, files=[file.name])
            if isinstance(source, exp.Subquery):
                select, into = source.this.copy(), columns
                select.find(exp.Table).meta.update(options=options, files=[file.name])
                _convert(select, into)
            else:
                select, into = self._plain(stage, key, options, columns, said)
            is_empty = not self._store.stages.staged(key).columns
            count = (
                0 if is_empty else Changing(self._dialect, self._context).add(stored, into, select).inserted
            )
            rows.append((file.name, "LOADED", count, count, 1, 0, None, None, None, None))
            self._store.stages.note_loaded(file, item["id"])
        if "PURGE" in said and value_of(said["PURGE"].args.get("expression")) is True:
            self._store.stages.remove_files(files)
        if not rows:
            return done("Copy executed with 0 files processed.")
        return listing(_LOADED, rows, numbers=_COUNTS)

    # -- how ------------------------------------------------------------------------------------------------

    def _files(self, location: str, said: dict[str, Any], item: int) -> list[StageFile]:
        """The files that are to be loaded: those that were not before."""
        stage, prefix = self._store.stages.location(location)
        files = list(self._store.stages.stage_files(stage.id, prefix))
        if "FILES" in said:
            wanted = value_of(_given(said["FILES"]))
            start = f"{prefix}/" if prefix else ""
            names = [start + str(one) for one in (wanted if isinstance(wanted, list) else [wanted])]
            known = {one.name: one for one in files}
            if missing := [name for name in names if name not in known]:
                raise SqlError(100016, "22000", f"Remote file '{missing[0][:200]}' was not found.")
            files = [known[name] for name in names]
        if "PATTERN" in said:
            try:
                pattern = Pattern(_given(said["PATTERN"]).name)
                files = [one for one in files if pattern.fullmatch(one.name)]
            except BadPattern as error:
                raise SqlError(100048, "2201B", f"Invalid regular expression: {error}") from None
        force = "FORCE" in said and value_of(said["FORCE"].args.get("expression")) is True
        return [one for one in files if force or item not in one.loaded]

    def _plain(
        self, stage: Any, key: str, options: dict[str, Any], columns: list[Column], said: dict[str, Any]
    ) -> tuple[exp.Select, list[Column]]:
        """COPY without a query: columns by their places, or by their names."""
        form = self._store.stages.options(stage, options)
        relation = self._store.stages.staged(key)
        by_name = said.get("MATCH_BY_COLUMN_NAME")
        matched = value_of(_given(by_name)) if by_name else "NONE"
        if str(matched).upper() != "NONE":
            return self._matched(relation, key, columns, str(matched).upper() == "CASE_SENSITIVE")
        if form["TYPE"] == "CSV":
            given = len(relation.columns)
            if given and given != len(columns) and form.get("ERROR_ON_COLUMN_COUNT_MISMATCH", True):
                raise SqlError(
                    100080,
                    "22000",
                    f"Number of columns in file ({given}) does not match that of the corresponding"
                    f" table ({len(columns)}), use file format option"
                    " error_on_column_count_mismatch=false to ignore this error",
                )
            chosen: list[exp.Expr] = [
                _column(f"${place}") if place <= given else exp.null() for place in range(1, len(columns) + 1)
            ]
        elif len(columns) == 1 and columns[0].kind == "JSON":
            chosen = [_column("$1")]
        else:
            raise compilation(
                1003,
                "42000",
                f"{form['TYPE']} file format can produce one and only one column of type variant, object, or"
                " array. Load data into separate columns using the MATCH_BY_COLUMN_NAME copy option or copy"
                " with transformation.",
            )
        return exp.Select(expressions=chosen, from_=exp.From(this=_table(key))), columns

    def _matched(
        self, relation: Listed, key: str, columns: list[Column], exact: bool
    ) -> tuple[exp.Select, list[Column]]:
        """The columns of files that have the names of columns of the table."""
        names = [one.name for one in relation.columns if one.name != "$1"]
        if not names:
            raise self._dialect.unsupported("MATCH_BY_COLUMN_NAME of files without columns")
        by_name = {name if exact else name.upper(): name for name in names}
        into = [one for one in columns if (one.name if exact else one.name.upper()) in by_name]
        chosen = [_column(by_name[one.name if exact else one.name.upper()]) for one in into]
        return exp.Select(expressions=chosen, from_=exp.From(this=_table(key))), into

    def _said_options(self, given: exp.Expr) -> dict[str, Any]:
        if given.expressions:
            return options_in(given.expressions)
        return {"FORMAT_NAME": value_of(given.args.get("expression") or given.this)}

    def _is_there(self, tree: exp.Create, path: Any, present: bool, drop: Any) -> bool:
        """True if nothing is to be done. An object to be replaced is dropped."""
        if present and tree.args.get("exists"):
            return True
        if present and not tree.args.get("replace"):
            raise compilation(2002, "42710", f"Object '{'.'.join(path)}' already exists.")
        if present:
            drop(path)
        return False

    def _path(self, table: exp.Expr) -> Any:
        if not isinstance(table, exp.Table):
            raise compilation(1003, "42000", f"syntax error unexpected '{table.sql('snowflake')[:60]}'.")
        parts = tuple(self._dialect.fold(part) for part in table.parts)
        return self._store.names.full(parts, "CREATE")

    def _column(self, stored: StoredTable, name: str) -> Column:
        found = next((one for one in stored.columns if one.name == name), None)
        if found is None:
            raise self._dialect.unknown_column(exp.to_identifier(name), [one.name for one in stored.columns])
        return found


def _given(parameter: exp.Expr) -> exp.Expr:
    """The value of an option, which has to have one."""
    value = parameter.args.get("expression")
    if not isinstance(value, exp.Expr):
        raise compilation(1003, "42000", f"syntax error: {parameter.name.upper()} lacks its value.")
    return value


def _convert(select: exp.Expr, into: list[Column]) -> None:
    """Cast values taken from objects to the types of the target columns."""
    for one, column in zip(select.expressions, into, strict=False):
        if isinstance(one, exp.JSONExtract) and column.kind != "JSON":
            one.replace(exp.cast(one.copy(), column.vendor, dialect="snowflake"))


def _table(key: str) -> exp.Table:
    table = exp.table_(key, db=STAGED, quoted=True)
    table.set("alias", exp.TableAlias(this=exp.to_identifier("staged", quoted=True)))
    return table


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier("staged", quoted=True))
