"""Loading files into tables, and exporting tables to buckets.

A load is all or nothing: every line is read and checked before a row is changed.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.models import Job, WarehouseTable
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.servers.google_cloud.store.bigquery.values import Unfit, from_text, stored_row, text_of
from mesocosm.servers.google_cloud.store.part import StorePart, quoted, suggestion
from mesocosm.servers.google_cloud.store.storage.objects import NewObject
from mesocosm.services.queries.files import (
    MOST_BYTES,
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_VALUES,
    Form,
    UnreadableFile,
)
from mesocosm.services.queries.tables import Value
from mesocosm.worlds import deadlines

MODES = ("WRITE_TRUNCATE", "WRITE_APPEND", "WRITE_EMPTY")
FORMATS = ("CSV", "NEWLINE_DELIMITED_JSON")
READ = (*FORMATS, "PARQUET")
_GUESSES = ("INT64", "FLOAT64", "BOOL", "DATE", "TIMESTAMP")
_NAME = re.compile(r"\W")


@dataclass(frozen=True)
class Format:
    """Format of a file to load."""

    kind: str = "CSV"
    header: bool = True
    """True if the first line of a CSV file has the names of the columns."""
    named: bool = True
    """True if values go by the header's names, not by the table's order."""
    skip: int = 0
    """Lines to be passed over, besides the header."""
    delimiter: str = ","
    quote: str = '"'
    null: str = ""
    jagged: bool = False
    """True if values may be missing at the end of a line."""
    fields: Sequence[Mapping[str, Any]] = ()
    """Schema of a table that is to be made; by default it follows from the values."""
    ignore_unknown: bool = False


@dataclass
class Done:
    """A load or an export."""

    rows: int
    job: Job


@dataclass
class _Read:
    """Content of a file: lists of texts from CSV, objects from JSON."""

    names: list[str] | None
    fields: list[Field] | None = None
    """The schema that it says itself."""
    rows: list[tuple[int, Any]] = field(default_factory=list)
    """With the numbers of their lines."""


class Loading(StorePart):
    """Files that become tables, and tables that become files."""

    def load(
        self,
        dataset: str,
        id_: str,
        files: Sequence[bytes],
        format_: Format,
        *,
        mode: str = "WRITE_APPEND",
        sources: Sequence[str] = (),
        create: bool = True,
        job_id: str | None = None,
    ) -> Done:
        """Load files; ``create``: make the table where there is none."""
        if mode.upper() not in MODES:
            raise Invalid(f"Invalid write mode {quoted(mode)}; there are {', '.join(MODES)}.", code="invalid")
        place = self.store.bigquery.datasets.dataset(dataset)
        found = self._read_all(files, format_)
        table = self.store.bigquery.tables.find(place, id_)
        if table is None:
            if not create:
                raise NotFound(f"Not found: Table {self.project.id}:{place.id}.{id_[:200]}", code="notFound")
            table = self.store.bigquery.tables.create(
                place.id, id_, format_.fields or _guessed(found, format_)
            )
        elif table.kind != "TABLE":
            raise Invalid(f"{place.id}.{id_} is a view: nothing can be loaded into it.", code="invalid")
        elif not table.fields:
            self.store.bigquery.tables.update(table, {"fields": format_.fields or _guessed(found, format_)})
        rows = list(self._rows(table, found, format_))
        tables = self.store.bigquery.tables
        if mode.upper() == "WRITE_EMPTY" and tables.count(table):
            raise Invalid(f"Already Exists: Table {self.project.id}:{place.id}.{id_}", code="duplicate")
        if mode.upper() == "WRITE_TRUNCATE":
            tables.rows.clear(table.number)
        tables.fill(table, rows)
        job = self.store.bigquery.jobs.add(
            "LOAD",
            {
                "load": {
                    "destinationTable": {"projectId": self.project.id, "datasetId": place.id, "tableId": id_},
                    "sourceFormat": format_.kind,
                    "writeDisposition": mode.upper(),
                    "sourceUris": list(sources),
                }
            },
            {
                "load": {
                    "inputFiles": str(len(files)),
                    "inputFileBytes": str(sum(map(len, files))),
                    "outputRows": str(len(rows)),
                }
            },
            id_=job_id,
            total_rows=len(rows),
        )
        return Done(len(rows), job)

    def export(
        self,
        dataset: str,
        id_: str,
        bucket: str,
        path: str,
        format_: str = "CSV",
        *,
        header: bool = True,
        delimiter: str = ",",
        compressed: bool = False,
        job_id: str | None = None,
    ) -> Done:
        """Write the rows of a table as an object of a bucket."""
        kind = {"JSON": FORMATS[1], "JSONL": FORMATS[1]}.get(format_.upper(), format_.upper())
        if kind not in FORMATS:
            raise Invalid(
                f"Invalid file format {quoted(format_)}; there are {', '.join(FORMATS)}.", code="invalid"
            )
        table = self.store.bigquery.tables.table(dataset, id_)
        self.store.storage.bucket(bucket)
        if kind == "CSV" and any(
            one["mode"] == "REPEATED" or one["type"] == "STRUCT" for one in table.fields
        ):
            raise Invalid(
                "Operation cannot be performed on a nested schema: export it as NEWLINE_DELIMITED_JSON.",
                code="invalid",
            )
        delimiter = _delimiter(delimiter)
        rows = self.store.bigquery.queries.rows_of(table)
        text = _csv(table.fields, rows, header, delimiter) if kind == "CSV" else _lines(table.fields, rows)
        data = gzip.compress(text, mtime=0) if compressed else text
        if len(data) > MOST_BYTES:
            raise Invalid(f"The export has more than {MOST_BYTES:,} bytes.", code="invalid")
        name = path.replace("*", "0" * 12)
        type_ = "text/csv" if kind == "CSV" else "application/json"
        self.store.storage.objects.write(bucket, NewObject(name, data, type_))
        source = {"projectId": self.project.id, "datasetId": dataset, "tableId": id_}
        job = self.store.bigquery.jobs.add(
            "EXTRACT",
            {
                "extract": {
                    "sourceTable": source,
                    "destinationUris": [f"gs://{bucket}/{path}"],
                    "destinationFormat": kind,
                }
            },
            {"extract": {"destinationUriFileCounts": ["1"], "inputBytes": str(len(data))}},
            id_=job_id,
            total_rows=len(rows),
        )
        return Done(len(rows), job)

    # -- how --------------------------------------------------------------------------------------------

    def _read_all(self, files: Iterable[bytes], format_: Format) -> _Read:
        first: _Read | None = None
        for data in files:
            other = self._read(data, format_)
            if first is None:
                first = other
                continue
            if other.names != first.names:
                raise Invalid("The files do not have the same header.", code="invalid")
            if first.fields is not None and other.fields is not None:
                first.fields = merged(first.fields, other.fields)
            first.rows += other.rows
            if len(first.rows) > MOST_ROWS:
                raise Invalid(
                    f"The files have more than {MOST_ROWS:,} rows; load them in parts.", code="invalid"
                )
        assert first is not None
        return first

    def _read(self, data: bytes, format_: Format) -> _Read:
        form = _form(format_)
        # The service is there without what runs statements.
        from mesocosm.services.queries.engine import engine

        try:
            schema, rows = engine().read(data, form, self.store.bigquery.tables.rows.world)
        except UnreadableFile as found:
            raise _refused(form, found) from None
        if schema is not None:
            from mesocosm.servers.google_cloud.store.bigquery import parquet

            return _Read(None, parquet.fields_of(schema), list(parquet.rows_of(schema, rows)))
        if form.kind == "CSV":
            return _with_header(rows, format_)
        return _Read(None, rows=rows)

    def _rows(self, table: WarehouseTable, found: _Read, format_: Format) -> Iterator[Sequence[Value]]:
        fields = table.fields
        if format_.kind != "CSV":
            known = {one["name"].lower() for one in fields}
            for line, row in found.rows:
                if not line % 1000:
                    deadlines.check()
                kept = (
                    {name: v for name, v in row.items() if name.lower() in known}
                    if format_.ignore_unknown
                    else row
                )
                yield _fitting(line, lambda kept=kept: stored_row(fields, kept))
            return
        order = (
            _order(fields, found.names)
            if found.names is not None and format_.named
            else list(range(len(fields)))
        )
        for number, (line, texts) in enumerate(found.rows):
            if not number % 1000:
                deadlines.check()
            if len(texts) > len(order) and not format_.ignore_unknown:
                _fail(
                    line,
                    f"Too many values in line. Found {len(texts)} column(s) while expected {len(order)}.",
                )
            if len(texts) < len(order) and not format_.jagged:
                _fail(line, f"Row has only {len(texts)} column(s) while expected {len(order)}.")
            yield _fitting(line, lambda texts=texts: _values(fields, order, texts, format_.null))


def _values(fields: Sequence[Field], order: Sequence[int], texts: Sequence[str], null: str) -> list[Value]:
    values: list[Value] = [None] * len(fields)
    for place, text in zip(order, texts, strict=False):
        one = fields[place]
        if one["mode"] == "REPEATED" or one["type"] == "STRUCT":
            raise Unfit(f"Field {one['name']} cannot be loaded from CSV: it is nested or repeated")
        missing = text == null and (null != "" or one["type"] not in ("STRING", "BYTES"))
        values[place] = None if missing else from_text(one, text)
    for one, value in zip(fields, values, strict=True):
        if value is None and one["mode"] == "REQUIRED":
            raise Unfit(f"Required column value for column {one['name']} is missing")
    return values


def _fitting(line: int, make: Any) -> Sequence[Value]:
    try:
        return make()  # type: ignore[no-any-return]
    except Unfit as error:
        _fail(line, error.message)
        raise


def _fail(line: int, why: str) -> None:
    raise Invalid(
        f"Error while reading data, error message: line {line}: {why}. Nothing was loaded.".replace(
            "..", "."
        ),
        code="invalid",
    )


def _order(fields: Sequence[Field], names: Sequence[str]) -> list[int]:
    """For each column of a file with a header the place of its field."""
    places = {one["name"].lower(): place for place, one in enumerate(fields)}
    order = []
    for name in names:
        place = places.get(name.strip().lower(), places.get(_NAME.sub("_", name.strip()).lower()))
        if place is None:
            known = [one["name"] for one in fields]
            raise Invalid(
                f"Provided Schema does not match Table. Cannot add fields (field: {name[:100]})."
                f"{suggestion(name, known)} The table has {', '.join(known)[:500]}.",
                code="invalid",
            )
        if place in order:
            raise Invalid(f"Duplicate column name in the header: {name[:100]}", code="invalid")
        order.append(place)
    return order


def _form(format_: Format) -> Form:
    """Return the reader's options for a format."""
    if format_.kind == "PARQUET":
        return Form("PARQUET")
    if format_.kind == "NEWLINE_DELIMITED_JSON":
        return Form("LINES")
    if format_.kind != "CSV":
        raise Invalid(
            f"Invalid source format {quoted(format_.kind)}; there are {', '.join(READ)}.", code="invalid"
        )
    delimiter = _delimiter(format_.delimiter)
    if len(format_.quote) > 1 or format_.quote in ("\r", "\n", delimiter):
        raise Invalid(f"Invalid quote {quoted(format_.quote)}.", code="invalid")
    return Form("CSV", delimiter, format_.quote)


def _delimiter(said: str) -> str:
    found = {"tab": "\t", "\\t": "\t"}.get(said, said)
    if len(found) != 1 or found in '\r\n"':
        raise Invalid(f"Invalid field delimiter {quoted(found)}.", code="invalid")
    return found


def _refused(form: Form, found: UnreadableFile) -> Invalid:
    """Explain in BigQuery's words why a file cannot be read."""
    match found.why, form.kind:
        case "many", _:
            return Invalid(f"The file has {found.words}; load it in parts.", code="invalid")
        case ("syntax", "PARQUET"):
            words = "the file is no whole Parquet file."
        case ("syntax" | "object", "LINES"):
            words = f"line {found.line}: JSON parsing error: {found.words}. Nothing was loaded."
        case "syntax", _:
            words = f"line {found.line}: {found.words}. Nothing was loaded."
        case _:
            words = f"{found.words}."
    return Invalid(f"Error while reading data, error message: {words}".replace("..", "."), code="invalid")


def _with_header(rows: Sequence[tuple[int, list[str]]], format_: Format) -> _Read:
    """The rows of a CSV file, and the names that its header has."""
    first = format_.skip + (1 if format_.header else 0)
    if not format_.header:
        return _Read(None, rows=[one for one in rows[first:] if one[1]])
    if len(rows) < first:
        raise Invalid("Error while reading data, error message: the file is empty.", code="invalid")
    return _Read(rows[first - 1][1], rows=[one for one in rows[first:] if one[1]])


def _guessed(found: _Read, format_: Format) -> list[Field]:
    """A schema that all rows of a file fit."""
    if found.fields is not None:
        return found.fields
    if format_.kind == "CSV":
        width = (
            len(found.names)
            if found.names is not None
            else max((len(row) for _, row in found.rows), default=0)
        )
        if width * len(found.rows) > MOST_VALUES:
            raise Invalid(f"The file has more than {MOST_VALUES:,} values; load it in parts.", code="invalid")
        names = found.names or [f"string_field_{place}" for place in range(width)]
        clean = [
            re.sub(r"^(?=\d)", "_", _NAME.sub("_", name.strip())) or f"_{place}"
            for place, name in enumerate(names)
        ]
        columns = ([row[place] for _, row in found.rows if place < len(row)] for place in range(width))
        return [
            {"name": name, "type": _fit(values), "mode": "NULLABLE"}
            for name, values in zip(clean, columns, strict=True)
        ]
    fields: list[Field] = []
    for line, row in found.rows:
        if not line % 100:
            deadlines.check()
        if len(row) > MOST_COLUMNS or len(fields) > MOST_COLUMNS:
            raise Invalid(f"The file has more than {MOST_COLUMNS:,} columns.", code="invalid")
        fields = merged(fields, fields_of(row))
    return fields


def _fit(texts: Iterable[str]) -> str:
    known = [text for text in texts if text != ""]
    for kind in _GUESSES:
        one: Field = {"name": "x", "type": kind, "mode": "NULLABLE"}
        if known and not (
            kind == "BOOL" and {text.lower() for text in known} & {"0", "1", "t", "f", "y", "n"}
        ):
            try:
                for number, text in enumerate(known):
                    if not number % 1000:
                        deadlines.check()
                    from_text(one, text)
            except Unfit:
                continue
            return kind
    return "STRING"


def fields_of(row: Mapping[str, Any]) -> list[Field]:
    """The fields that an object of JSON needs."""
    return [made for name, value in row.items() if (made := _field_of(name, value)) is not None]


def _field_of(name: str, value: Any) -> Field | None:
    match value:
        case None:
            return None
        case list() | dict() if not value:
            return None
        case bool():
            return {"name": name, "type": "BOOL", "mode": "NULLABLE"}
        case int():
            return {"name": name, "type": "INT64", "mode": "NULLABLE"}
        case float():
            return {"name": name, "type": "FLOAT64", "mode": "NULLABLE"}
        case list():
            inner = _field_of(name, value[0])
            return None if inner is None or inner["mode"] == "REPEATED" else {**inner, "mode": "REPEATED"}
        case dict():
            inside = fields_of(value)
            return {"name": name, "type": "STRUCT", "mode": "NULLABLE", "fields": inside} if inside else None
    text = str(value)
    kind = next(
        (one for one in ("DATE", "TIMESTAMP") if re.match(r"\d{4}-\d\d-\d\d", text) and _fit([text]) == one),
        "STRING",
    )
    return {"name": name, "type": kind, "mode": "NULLABLE"}


def merged(before: Sequence[Field], after: Sequence[Field]) -> list[Field]:
    """Merge two schemas into one that fits both, where they agree on common fields."""
    known = {one["name"].lower(): one for one in before}
    for one in after:
        name = one["name"].lower()
        if name not in known:
            known[name] = one
        elif known[name]["type"] == one["type"] == "STRUCT":
            known[name] = {**known[name], "fields": merged(known[name]["fields"], one["fields"])}
        elif {known[name]["type"], one["type"]} == {"INT64", "FLOAT64"}:
            known[name] = {**known[name], "type": "FLOAT64"}
        elif known[name]["type"] != one["type"]:
            known[name] = {**known[name], "type": "STRING"}
    return list(known.values())


def _csv(fields: Sequence[Field], rows: Sequence[Sequence[Any]], header: bool, delimiter: str) -> bytes:
    made = io.StringIO(newline="")
    writer = csv.writer(made, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow([one["name"] for one in fields])
    for row in rows:
        writer.writerow([_text(one, value) for one, value in zip(fields, row, strict=True)])
    return made.getvalue().encode()


def _text(one: Field, value: Any) -> str:
    if value is None:
        return ""
    return orjson.dumps(value).decode() if one["type"] == "JSON" else text_of(one["type"], value)


def _lines(fields: Sequence[Field], rows: Sequence[Sequence[Any]]) -> bytes:
    names = [one["name"] for one in fields]
    made = []
    for row in rows:
        said = {name: value for name, value in zip(names, row, strict=True) if value is not None}
        numbers = {one["name"] for one in fields if one["type"] == "INT64" and one["mode"] != "REPEATED"}
        made.append(orjson.dumps({name: str(v) if name in numbers else v for name, v in said.items()}))
    return b"".join(line + b"\n" for line in made)
