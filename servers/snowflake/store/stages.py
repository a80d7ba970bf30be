"""Stages: files that connectors put there, and their rows as statements read them."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import bindparam, delete, func, insert, select, update

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.snowflake.models import FileFormat, Schema, Stage, StageFile
from mesocosm.servers.snowflake.store.answers import kept
from mesocosm.servers.snowflake.store.identifiers import Part, Path, parts_of, written
from mesocosm.services.queries.catalogue import Column, Listed
from mesocosm.services.queries.failures import SqlError, compilation
from mesocosm.services.queries.files import ENCLOSED_EMPTY, MOST_BYTES, MOST_VALUES, Form, UnreadableFile
from mesocosm.worlds import deadlines

_LOCATION = re.compile(
    r'@((?:"(?:[^"]|"")+"|[\w$]+)(?:\.(?:"(?:[^"]|"")+"|[\w$]+)){0,2})(?:/(.*))?', re.DOTALL
)
_STAGES = (
    select(Stage, Schema.name.label("schema"))
    .join(Schema)
    .where(Schema.database_id == bindparam("database"))
    .order_by(Schema.name, Stage.name)
)
_FORMATS = (
    select(FileFormat, Schema.name.label("schema"))
    .join(Schema)
    .where(Schema.database_id == bindparam("database"))
    .order_by(Schema.name, FileFormat.name)
)
_OPTIONS = {
    "CSV": (
        *("FIELD_DELIMITER", "SKIP_HEADER", "PARSE_HEADER", "FIELD_OPTIONALLY_ENCLOSED_BY", "NULL_IF"),
        *("EMPTY_FIELD_AS_NULL", "ERROR_ON_COLUMN_COUNT_MISMATCH", "TRIM_SPACE", "SKIP_BLANK_LINES"),
    ),
    "JSON": ("STRIP_OUTER_ARRAY",),
    "PARQUET": ("BINARY_AS_TEXT", "USE_LOGICAL_TYPE", "USE_VECTORIZED_SCANNER"),
}
_COMMON = ("TYPE", "COMPRESSION", "REPLACE_INVALID_CHARACTERS")
_NUMBERS, _TEXTS = {"SKIP_HEADER"}, {"TYPE", "COMPRESSION", "FIELD_DELIMITER", "FIELD_OPTIONALLY_ENCLOSED_BY"}
"""Options whose values are no truth values; of ``NULL_IF`` they are texts, one or several."""
_COMPRESSIONS = {"AUTO", "GZIP", "NONE", "SNAPPY", "AUTO_DETECT"}


class Stages(Part):
    """The stages and file formats of schemas."""

    # -- what there is --------------------------------------------------------------------------------------

    def stages(self, database: str) -> Sequence[tuple[Stage, str]]:
        """The stages of a database, each with its schema."""
        found = self.session.execute(_STAGES, {"database": self.store.names.database_named(database)["id"]})
        return [(row[0], row[1]) for row in found if row[0].session in (None, self.store.sessions.number)]

    def file_formats(self, database: str) -> Sequence[tuple[FileFormat, str]]:
        """The file formats of a database, each with its schema."""
        found = self.session.execute(_FORMATS, {"database": self.store.names.database_named(database)["id"]})
        return [(row[0], row[1]) for row in found]

    def stage(self, path: Path) -> Stage | None:
        """A stage by its full name, if there is one."""
        schema = self.store.names.schema_named(path[:2])
        chosen = select(Stage).where(Stage.schema_id == schema["id"], Stage.name == path[2])
        found = self.session.scalars(chosen).first()
        return found if found is None or found.session in (None, self.store.sessions.number) else None

    def stage_named(self, path: Path) -> Stage:
        """A stage by its name; refuses a name that means nothing."""
        full = self.store.names.full(path)
        found = self.stage(full)
        if found is None:
            raise compilation(2003, "02000", f"Stage '{written(*full)}' does not exist or not authorized.")
        return found

    def file_format(self, path: Path) -> FileFormat | None:
        """A file format by its full name, if there is one."""
        schema = self.store.names.schema_named(path[:2])
        chosen = select(FileFormat).where(FileFormat.schema_id == schema["id"], FileFormat.name == path[2])
        return self.session.scalars(chosen).first()

    def format_named(self, path: Path) -> FileFormat:
        """A file format by its name; refuses a name that means nothing."""
        full = self.store.names.full(path)
        found = self.file_format(full)
        if found is None:
            name = written(*full)
            raise compilation(2003, "02000", f"File format '{name}' does not exist or not authorized.")
        return found

    def add_stage(self, path: Path, options: Mapping[str, Any], comment: str, *, temporary: bool) -> None:
        """A stage without files."""
        schema = self.store.names.schema_named(path[:2])
        own = self.store.sessions.number if temporary else None
        values = {"schema_id": schema["id"], "name": path[2], "comment": comment, "created": self.stamp()}
        self.session.execute(insert(Stage).values(**values, options=dict(options), session=own))

    def drop_stage(self, path: Path) -> None:
        """A stage goes with its files."""
        stage = self.stage_named(path)
        self.session.execute(delete(StageFile).where(StageFile.stage_id == stage.id))
        self.session.execute(delete(Stage).where(Stage.id == stage.id))

    def add_file_format(self, path: Path, options: Mapping[str, Any], comment: str) -> None:
        schema = self.store.names.schema_named(path[:2])
        values = {"schema_id": schema["id"], "name": path[2], "comment": comment, "created": self.stamp()}
        self.session.execute(insert(FileFormat).values(**values, options=dict(options)))

    def drop_file_format(self, path: Path) -> None:
        """A file format goes."""
        self.session.execute(delete(FileFormat).where(FileFormat.id == self.format_named(path).id))

    # -- files ----------------------------------------------------------------------------------------------

    def location(self, text: str) -> tuple[Stage, str]:
        """The stage that ``@name/path`` names, and the path."""
        found = _LOCATION.fullmatch(text)
        if found is None:
            raise SqlError(
                2, "0A000", f"Unsupported feature '{text[:60]}'. Stages have names here: @my_stage."
            )
        return self.stage_named(parts_of(found[1])), (found[2] or "").strip("/")

    def stage_files(self, stage: int, prefix: str = "") -> Sequence[StageFile]:
        """The files of a stage whose names begin so."""
        chosen = select(StageFile).where(
            StageFile.stage_id == stage, StageFile.name.startswith(prefix, autoescape=True)
        )
        return self.session.scalars(chosen.order_by(StageFile.name)).all()

    def sizes(self, stage: int) -> dict[int, int]:
        """The bytes of the files of a stage, by their numbers."""
        chosen = select(StageFile.id, func.length(StageFile.data)).where(StageFile.stage_id == stage)
        return {row[0]: row[1] for row in self.session.execute(chosen)}

    def stage_file(self, stage: int, name: str) -> bytes:
        """Return what a file of a stage holds."""
        chosen = select(StageFile.data).where(StageFile.stage_id == stage, StageFile.name == name)
        found = self.session.scalars(chosen).first()
        if found is None:
            raise NotFound(f"No such file: {name[:200]}")
        return found

    def put_file(self, stage: int, name: str, data: bytes) -> StageFile:
        """Put a file into a stage, in the place of one of the same name."""
        if self.session.get(Stage, stage) is None:
            raise NotFound("No such stage.")
        if len(data) > MOST_BYTES:
            raise Invalid(f"A file of a stage may have {MOST_BYTES:,} bytes here.")
        self.session.execute(delete(StageFile).where(StageFile.stage_id == stage, StageFile.name == name))
        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        file = StageFile(stage_id=stage, name=name, data=data, md5=digest, altered=self.stamp(), loaded=[])
        self.session.add(file)
        self.session.flush()
        return file

    def remove_files(self, files: Sequence[StageFile]) -> None:
        """Files go."""
        self.session.execute(delete(StageFile).where(StageFile.id.in_([one.id for one in files])))

    def note_loaded(self, file: StageFile, item: int) -> None:
        """Keep that a table has the rows of a file, so that they are not loaded again."""
        loaded = sorted({*file.loaded, item})
        self.session.execute(update(StageFile).where(StageFile.id == file.id).values(loaded=loaded))

    # -- rows of files --------------------------------------------------------------------------------------

    def options(self, stage: Stage | None, said: Mapping[str, Any]) -> dict[str, Any]:
        """Resolve the options for reading files: from the statement, a named format, or the stage."""
        said = dict(said)
        named = said.pop("FORMAT_NAME", None)
        base = dict(self.format_named(parts_of(str(named))).options) if named else {}
        if not named and stage is not None and not said:
            base = dict(stage.options)
            inner = base.pop("FORMAT_NAME", None)
            base = {**self.options(None, {"FORMAT_NAME": inner}), **base} if inner else base
        made = {**base, **said}
        made["TYPE"] = str(made.get("TYPE", "CSV")).upper()
        return checked_options(made)

    def staged(self, key: str) -> Listed:
        """The rows of files of a stage, as ``key`` asks for them (a JSON document)."""
        asked = orjson.loads(key)
        stage, prefix = self.location(asked["location"])
        files = self.stage_files(stage.id, prefix)
        if "files" in asked:
            files = [one for one in files if one.name in asked["files"]]
        options = self.options(stage, asked.get("options", {}))
        state = (key, tuple((one.id, one.md5) for one in files))
        known: tuple[Any, Listed] | None = getattr(self, "_read_last", None)
        if known is not None and known[0] == state:
            return known[1]
        parts: list[Listed] = []
        for one in files:
            parts.append(self._read(one, options))
            _bounded(sum(len(part.rows) for part in parts), max(len(part.columns) for part in parts))
        found = _joined(parts)
        self._read_last = (state, found)
        return found

    def inferred(self, location: str, format_name: str) -> Listed:
        """INFER_SCHEMA: the columns that files of a stage have."""
        stage, prefix = self.location(location)
        options = self.options(stage, {"FORMAT_NAME": format_name})
        if options["TYPE"] != "PARQUET":
            raise SqlError(2, "0A000", f"Unsupported feature 'INFER_SCHEMA of {options['TYPE']}'.")
        found: dict[str, list[Any]] = {}
        for file in self.stage_files(stage.id, prefix):
            schema, _ = self._rows_of(file, _form(options))
            for name, kind in _parquet_types(schema, options):
                line = found.setdefault(name, [kind, []])
                line[1].append(file.name)
        names = ("COLUMN_NAME", "TYPE", "NULLABLE", "EXPRESSION", "FILENAMES", "ORDER_ID")
        kinds = ("VARCHAR", "VARCHAR", "BOOLEAN", "VARCHAR", "VARCHAR", "HUGEINT")
        rows = [
            [name, kind, True, f'$1:"{name}"::{kind}', ",".join(files), place]
            for place, (name, (kind, files)) in enumerate(found.items())
        ]
        return Listed(tuple(Column(*pair) for pair in zip(names, kinds, strict=True)), rows)

    def _read(self, file: StageFile, options: Mapping[str, Any]) -> Listed:
        schema, rows = self._rows_of(file, _form(options))
        if schema is not None:
            return _parquet_rows(schema, rows, options)
        if options["TYPE"] == "JSON":
            return Listed((Column("$1", "JSON"),), [[text] for _, text in rows])
        return _columns(rows, options)

    def _rows_of(self, file: StageFile, form: Form) -> tuple[Any, list[tuple[int, Any]]]:
        from mesocosm.services.queries.engine import engine

        data = self.session.scalars(select(StageFile.data).where(StageFile.id == file.id)).one()
        try:
            return engine().read(data, form, self.store.catalogue.rows.world)
        except UnreadableFile as found:
            raise _refused(file, form, found) from None


def checked_options(said: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the options for reading files; refuses unknown and unsupported ones."""
    kind = said.get("TYPE", "CSV")
    kind = kind.upper() if isinstance(kind, str) else str(kind)
    if kind not in _OPTIONS:
        raise SqlError(2, "0A000", f"Unsupported feature 'FILE_FORMAT TYPE = {kind[:40]}'.")
    made: dict[str, Any] = {}
    for name, value in said.items():
        if name == "COMPRESSION" and str(value).upper() not in _COMPRESSIONS:
            raise SqlError(2, "0A000", f"Unsupported feature 'COMPRESSION = {str(value)[:40]}'.")
        if name not in (*_COMMON, *_OPTIONS[kind]):
            raise compilation(1003, "42000", f"invalid property '{name[:60]}' for 'FILE_FORMAT'")
        made[name] = _option(name, value)
    made["TYPE"] = kind
    _form(made)
    return made


def _option(name: str, value: Any) -> Any:
    """The value of an option, where it is of the kind that this option has."""
    if name in _NUMBERS:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
            return value
    elif name == "NULL_IF":
        texts = value if isinstance(value, list) else [value]
        if all(isinstance(one, str | int) and not isinstance(one, bool) for one in texts):
            return [str(one) for one in texts]
    elif name in _TEXTS:
        if isinstance(value, str):
            return value
    elif isinstance(value, bool) or str(value).upper() in ("TRUE", "FALSE"):
        return str(value).upper() == "TRUE"
    raise compilation(1008, "22023", f"invalid value '{str(value)[:60]}' for property '{name}'")


def digest_of(data: bytes) -> str:
    """Return the digest by which clients compare files."""
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def _joined(parts: Sequence[Listed]) -> Listed:
    """The rows of several files, with the columns that any of them has."""
    columns = {column.name: column for part in parts for column in part.columns}
    rows = []
    _bounded(sum(len(part.rows) for part in parts), len(columns))
    for part in parts:
        at = {column.name: place for place, column in enumerate(part.columns)}
        order = [at.get(name) for name in columns]
        rows += [[None if place is None else row[place] for place in order] for row in part.rows]
    return Listed(tuple(columns.values()), rows)


def _form(options: Mapping[str, Any]) -> Form:
    """Return the reader's options."""
    if options["TYPE"] == "CSV":
        delimiter = options.get("FIELD_DELIMITER", ",").replace("\\t", "\t")
        quote = options.get("FIELD_OPTIONALLY_ENCLOSED_BY", "NONE")
        quote = "" if quote.upper() == "NONE" else quote
        if len(delimiter) != 1 or len(quote) > 1 or delimiter in "\r\n" or quote in tuple("\r\n" + delimiter):
            raise compilation(
                1003, "42000", "FIELD_DELIMITER and FIELD_OPTIONALLY_ENCLOSED_BY are one character each."
            )
        return Form("CSV", delimiter, quote, tells_empty=True)
    if options["TYPE"] == "PARQUET":
        return Form("PARQUET")
    return Form("JSON", outer_arrays=bool(options.get("STRIP_OUTER_ARRAY")), as_texts=True)


def _refused(file: StageFile, form: Form, found: UnreadableFile) -> Exception:
    """Explain in Snowflake's words why a file cannot be read."""
    name, line, words = file.name, found.line, found.words
    match found.why, form.kind:
        case "gzip", _:
            return SqlError(100073, "22000", "The file is no whole gzip stream.")
        case "bytes", _:
            return Invalid(f"File '{name}': {words}.")
        case "text", _:
            return SqlError(100144, "22000", f"Invalid UTF8 detected in file '{name}'.")
        case "many", _:
            return SqlError(100066, "57014", f"The file '{name}' has {words}: put it in parts.")
        case _, "PARQUET":
            return SqlError(100152, "22000", f"File '{name}' is no whole Parquet file.")
        case _, "CSV":
            return SqlError(100131, "22000", f"Parsing error in file '{name}', line {line}: {words}")
    return SqlError(100069, "22P02", f"Error parsing JSON in file '{name}': {words}")


def _columns(rows: Sequence[tuple[int, list[str]]], options: Mapping[str, Any]) -> Listed:
    """The rows of a CSV file, all with as many columns as the longest."""
    nulls = options.get("NULL_IF", ["\\N"])
    nulls = {*(nulls if isinstance(nulls, list) else [nulls])}
    enclosed = None if "" in nulls else ""
    if options.get("EMPTY_FIELD_AS_NULL", True):
        nulls.add("")
    trims = options.get("TRIM_SPACE", False)
    skip = options.get("SKIP_HEADER", 0) + bool(options.get("PARSE_HEADER"))
    kept = [row for _, row in rows[skip:] if row]
    width = max(map(len, kept), default=0)
    _bounded(len(kept), width)
    made = []
    for number, row in enumerate(kept):
        if not number % 1000:
            deadlines.check()
        values = [one.strip() for one in row] if trims else row
        given = [
            enclosed if value == ENCLOSED_EMPTY else None if value in nulls else value for value in values
        ]
        made.append([*given, *([None] * (width - len(row)))])
    return Listed(tuple(Column(f"${place}", "VARCHAR") for place in range(1, width + 1)), made)


def _bounded(rows: int, columns: int) -> None:
    if rows * columns > MOST_VALUES:
        said = f"The files have more than {MOST_VALUES:,} values in all their columns: read them in parts."
        raise SqlError(100066, "57014", said)


def _parquet_types(schema: Any, options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The columns of a file, each with Snowflake's type."""
    return [(one.name, _parquet_type(one.type, options)) for one in schema]


def _parquet_type(kind: Any, options: Mapping[str, Any]) -> str:
    from pyarrow import types

    if types.is_decimal(kind):
        return f"NUMBER({kind.precision}, {kind.scale})"
    if types.is_timestamp(kind):
        return "TIMESTAMP_LTZ" if kind.tz else "TIMESTAMP_NTZ"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return "TEXT" if options.get("BINARY_AS_TEXT", True) else "BINARY"
    for test, name in (
        (types.is_boolean, "BOOLEAN"),
        (types.is_integer, "NUMBER(38, 0)"),
        (types.is_floating, "REAL"),
        (types.is_date, "DATE"),
        (types.is_time, "TIME"),
        (types.is_string, "TEXT"),
        (types.is_large_string, "TEXT"),
        (types.is_null, "TEXT"),
    ):
        if test(kind):
            return name
    return "VARIANT"


def _parquet_rows(schema: Any, found: Sequence[tuple[int, Any]], options: Mapping[str, Any]) -> Listed:
    from sqlglot import exp

    from mesocosm.services.queries.dialects.snowflake import new_column

    types = _parquet_types(schema, options)
    columns = [new_column(name, exp.DataType.build(kind, dialect="snowflake")) for name, kind in types]
    kinds = [kind for _, kind in types]
    rows: list[list[Any]] = []
    for number, row in found:
        if not number % 1000:
            deadlines.check()
        values = [*map(_read_value, row, kinds)]
        whole = orjson.dumps(dict(zip(schema.names, values, strict=True)), default=str).decode()
        rows.append([whole, *map(_kept_value, values, kinds)])
    return Listed((Column("$1", "JSON"), *columns), rows)


def _read_value(value: Any, kind: str) -> Any:
    if isinstance(value, bytes) and kind == "TEXT":
        return value.decode("utf-8", "replace")
    return value


def _kept_value(value: Any, kind: str) -> Any:
    if kind == "VARIANT" and value is not None and not isinstance(value, list | dict):
        return orjson.dumps(value, default=str).decode()
    return kept(value)
