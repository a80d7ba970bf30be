"""Vocabulary of task files for a Google Cloud project: BigQuery tables and rows, buckets, objects, log
entries.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from mesocosm.errors import Refusal
from mesocosm.services.calling import Tools
from mesocosm.services.columns import Columns, blocks_of
from mesocosm.services.contents import UnreadableContent, csv_grid, csv_lines, text_of
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
from mesocosm.services.words import Fields, Found, Spoiling, Thing, Whole, Word, made_anew, only_stamped

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud import store as rules
    from mesocosm.servers.google_cloud.store import logs, storage
    from mesocosm.servers.google_cloud.store.bigquery import schema, values
    from mesocosm.servers.google_cloud.store.logs import matcher
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row
else:
    rules, logs, storage, schema, values, matcher = later(
        "mesocosm.servers.google_cloud.store",
        "mesocosm.servers.google_cloud.store.logs",
        "mesocosm.servers.google_cloud.store.storage",
        "mesocosm.servers.google_cloud.store.bigquery.schema",
        "mesocosm.servers.google_cloud.store.bigquery.values",
        "mesocosm.servers.google_cloud.store.logs.matcher",
    )

_SERVICE = "google_cloud"
_TYPE = re.compile(r"(ARRAY<)?(\w+)(?:\((\d+)(?:, *(\d+))?\))?>?( NOT NULL)?")
_SEVERITIES = (
    "DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY",
)  # fmt: skip


# -- BigQuery ---------------------------------------------------------------------------------------------


class BigQueryThings(Warehouse):
    """Access to BigQuery's tables."""

    service = _SERVICE
    columns = frozenset({"fields", "columns", "modified"})

    def shelves(self, db: Any) -> dict[str, Shelf]:
        found = db.execute(
            "SELECT datasets.id, tables.id, tables.number, tables.dataset, fields, columns,"
            " tables.description, tables.labels, partitioning, clustering, tables.friendly_name, expires,"
            " requires_filter FROM tables"
            " JOIN datasets ON tables.dataset = datasets.number WHERE kind = 'TABLE'"
        )
        return {shelf.name: shelf for shelf in map(_shelf, found)}

    def key(self, name: str) -> str:
        return name.replace("`", "")

    def type_of(self, values: Sequence[Any]) -> str:
        kinds = kinds_of(values)
        if kinds == {list}:
            inner = [one for value in values for one in value]
            return f"ARRAY<{self.type_of(inner or [''])}>"
        if kinds <= {int, float} and kinds != {int}:
            return "FLOAT64"
        if kinds <= {int, Decimal} and kinds != {int}:
            return "NUMERIC"
        return _TYPES.get(next(iter(kinds)), "STRING") if len(kinds) == 1 else "STRING"

    def make(
        self, world: World, name: str, types: Mapping[str, str], rows: Sequence[Fields], about: Fields
    ) -> None:
        bigquery = world.store(rules.GoogleCloudStore).bigquery
        dataset, table = _parts(name)
        if bigquery.datasets.find(dataset) is None:
            bigquery.datasets.create(dataset)
        said = about.get("descriptions") or {}
        fields = [_field(column, text) | _described(said.get(column)) for column, text in types.items()]
        partitioning = about.get("partitioning")
        if isinstance(partitioning, str):
            partitioning = {"type": "DAY", "field": partitioning}
        made = bigquery.tables.create(
            dataset,
            table,
            fields,
            description=about.get("description"),
            partitioning=partitioning,
            clustering=about.get("clustering") or (),
            labels=about.get("labels"),
        )
        bigquery.tables.fill(made, _stored(made.fields, rows))

    def append(self, world: World, name: str, rows: Sequence[Fields]) -> None:
        tables = world.store(rules.GoogleCloudStore).bigquery.tables
        table = tables.table(*_parts(name))
        tables.fill(table, _stored(table.fields, rows))

    def remove(self, world: World, name: str) -> None:
        tables = world.store(rules.GoogleCloudStore).bigquery.tables
        tables.remove(tables.table(*_parts(name)))

    def mark(self, cells: Mapping[str, Any]) -> str:
        whole = {name: plain(value) for name, value in cells.items()}
        name = next((name for name, value in whole.items() if isinstance(value, str | int)), "")
        if not name:
            return ""
        text = orjson.dumps({name: whole[name]}).decode()[1:-1]
        return text if name == list(cells)[-1] else f"{text},"


_TYPES: dict[type, str] = {
    bool: "BOOL",
    int: "INT64",
    float: "FLOAT64",
    Decimal: "NUMERIC",
    dt.datetime: "TIMESTAMP",
    dt.date: "DATE",
    dt.time: "TIME",
    dict: "JSON",
}


def _parts(name: str) -> tuple[str, str]:
    dataset, _, table = name.replace("`", "").rpartition(".")
    return dataset, table


def _shelf(row: Any) -> Shelf:
    dataset, table, number, place, fields, columns, description, labels, partitioning, clustering, *more = row
    rest = dict(zip(("the friendly name", "the expiration", "the required filter"), more, strict=True))
    lasting = ("the expiration", "the required filter")
    known_fields = orjson.loads(fields)
    known = schema.columns_of(known_fields, orjson.loads(columns))
    about = {
        "description": description,
        "labels": orjson.loads(labels),
        "partitioning": orjson.loads(partitioning) if partitioning else None,
        "clustering": orjson.loads(clustering),
        "descriptions": {
            one["name"]: one["description"] for one in orjson.loads(fields) if "description" in one
        },
    }
    return Shelf(
        f"{dataset}.{table}",
        number,
        tuple(Kept(one.name, one.stored, one.kind, _written(one)) for one in known),
        about,
        frozenset({("tables", number)}),
        frozenset({("datasets", place)}),
        rest | {"defaults": [(one["name"], one["default"]) for one in known_fields if one.get("default")]},
        {name: rest[name] for name in lasting if rest[name]},
    )


def _written(column: Any) -> str:
    return f"{column.vendor}{' NOT NULL' if column.required else ''}"


def _field(name: str, text: str) -> dict[str, Any]:
    found = _TYPE.fullmatch(text.strip())
    if found is None:
        return {"name": name, "type": text}  # which the store refuses, in the product's words
    many, kind, first, second, required = found.groups()
    size = "maxLength" if kind.upper() in ("STRING", "BYTES") else "precision"
    field: dict[str, Any] = {"name": name, "type": kind}
    field |= {size: int(first)} if first else {}
    field |= {"scale": int(second)} if second else {}
    return field | {"mode": "REPEATED" if many else "REQUIRED" if required else "NULLABLE"}


def _described(text: str | None) -> dict[str, Any]:
    return {"description": text} if text else {}


def _stored(fields: Sequence[Mapping[str, Any]], rows: Sequence[Fields]) -> Iterator[Sequence[Any]]:
    """Rows as SQLite keeps them, each in the order of the fields."""
    known = [dict(field) for field in fields]
    readers = {field["name"].lower(): _Reader(field) for field in known}
    for block in blocks_of(rows):
        if isinstance(block, Columns):
            given = {name.lower(): column for name, column in block.columns.items()}
            if given.keys() <= readers.keys():
                yield from zip(
                    *(
                        map(reader, given.get(name, repeat(None, len(block))))
                        for name, reader in readers.items()
                    ),
                    strict=True,
                )
                continue
        for row in block:
            given = {name.lower(): value for name, value in row.items()}
            if given.keys() <= readers.keys():
                yield tuple(reader(given.get(name)) for name, reader in readers.items())
            else:
                yield values.stored_row(known, row)  # which says what does not fit


class _Reader:
    """Converter of Python values to a column's stored form. Moments, dates and texts recur, so they are
    cached.
    """

    def __init__(self, field: dict[str, Any]) -> None:
        self._field = field
        self._zone = None if field["type"] == "DATETIME" else dt.UTC
        self._exact = _EXACT.get(field["type"]) if field["mode"] != "REPEATED" else None
        self._read = values.stored_value
        self._known: dict[Any, Any] = {}

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind is self._exact and (kind is float or -_LARGE <= value < _LARGE):
            return value
        if kind not in _OFTEN or self._zone is None:  # where equal moments may show other times
            return self._read(self._field, _api(plain(value, self._zone)))
        if value not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[value] = self._read(self._field, _api(plain(value, self._zone)))
        return self._known[value]


_EXACT = {"FLOAT64": float, "INT64": int}
_LARGE = 2**63
_OFTEN = (str, dt.date, dt.datetime)
_MOST_KNOWN = 10_000


def _api(value: Any) -> Any:
    """A value as the API takes it."""
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list):
        return [_api(one) for one in value]
    return str(value) if isinstance(value, Decimal) else value


# -- Cloud Storage ----------------------------------------------------------------------------------------


class BucketThing(Thing):
    name = "bucket"
    about = "A bucket of Cloud Storage."
    listed = False
    overhead = 30
    says: ClassVar[Mapping[str, Word]] = {
        "name": Word("Its name.", required=True),
        "location": Word("Where it is: `US` (default), `EU` or a region."),
        "made": Word("When it was made; default: when the task begins.", "moment"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "name": Word("Its name."),
        "location": Word("Where it is: `US`, `EU` or a region, in capitals."),
        "versioning": Word("Whether it keeps what is replaced; default: it does not.", "flag"),
        "lifecycle": Word(
            "What becomes of its objects in time, as the JSON API has it; default: nothing.", "data"
        ),
    }
    usual: ClassVar[Mapping[str, Any]] = {"versioning": False, "lifecycle": []}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.GoogleCloudStore)
        for fields in things:
            store.storage.create(str(fields["name"]), fields.get("location"), made=fields.get("made"))
        return [{} for _ in things]

    def trace(self, fields: Fields, given: Fields) -> str:
        return f"- {fields['name']} ("

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table(_SERVICE, "buckets").added:
            yield _found_bucket(row)

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table(_SERVICE, "buckets").removed:
            yield _found_bucket(row)


def _found_bucket(row: Row) -> Found:
    fields = {"name": row["name"], "location": row["location"], "versioning": bool(row["versioning"])}
    fields["lifecycle"] = orjson.loads(row["lifecycle"])
    return Found(fields, frozenset({("buckets", row["number"])}))


class ObjectThing(Thing):
    name = "object"
    written = True
    about = (
        "An object in a bucket: a text, or (with `rows`) a CSV file; a bucket that is missing is made. "
        "Lengths count its name only: no tool shows what it holds but by a file."
    )
    listed = False
    overhead = 40
    says: ClassVar[Mapping[str, Word]] = {
        "bucket": Word("Its bucket.", required=True),
        "name": Word("Its name, such as `2025/report.csv`.", required=True),
        "content": Word("Its text."),
        "rows": Word("Instead of a text: `{for: order, columns: {id: ...}}`.", "list"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "bucket": Word("Its bucket."),
        "name": Word("Its name."),
        "content": Word("Its text."),
        "rows": Word("Its rows, of a CSV file.", "list"),
    }

    def check(self, fields: Fields) -> str | None:
        given = [name for name in ("content", "rows") if fields.get(name) is not None]
        return None if len(given) == 1 else "either content or rows is needed"

    def shown(self, name: str, value: Any) -> str:
        return "" if name == "content" else super().shown(name, value)

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.GoogleCloudStore)
        for fields in things:
            bucket = str(fields["bucket"])
            if bucket not in store.storage.names():
                store.storage.create(bucket)
            data = _lines(fields["rows"]) if fields.get("content") is None else str(fields["content"])
            store.storage.objects.write(bucket, storage.NewObject(str(fields["name"]), data.encode()))
        return [{} for _ in things]

    def trace(self, fields: Fields, given: Fields) -> str:
        return f"- {fields['name']}: "

    def rearranged(self, world: World, fields: Fields, change: Callable[[list[list[Any]]], Any]) -> bool:
        objects = world.store(rules.GoogleCloudStore).storage.objects
        bucket, name = str(fields["bucket"]), str(fields["name"])
        try:
            lines = csv_lines(objects.data(objects.object(bucket, name)).decode())
        except (Refusal, UnicodeDecodeError):
            return False
        if isinstance(lines, UnreadableContent):
            return False
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(change(lines))
        objects.write(bucket, storage.NewObject(name, out.getvalue().encode()))
        return True

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        yield from (found for before, found in _objects(world, changes) if before is None)

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        yield from (found for before, found in _objects(world, changes) if before is not None)

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        if not (table := changes.table(_SERVICE, "objects")):
            return
        names = _buckets(world, changes)
        here = {(row["bucket"], row["name"]) for row in table.added}
        here |= {(row["bucket"], row["name"]) for _, row in table.changed if row["live"]}
        retired = [(before, before) for before, after in table.changed if not after["live"]]
        for row in [*table.removed, *(before for before, _ in retired)]:
            if row["live"] and (row["bucket"], row["name"]) not in here:
                fields = {"bucket": names.get(row["bucket"]), "name": row["name"]}
                yield Found(fields, _rows_of(changes, row))


def _objects(world: World, changes: Changes) -> Iterator[tuple[Row | None, Found]]:
    """Objects that are live and were not so before, each with what was live under its name."""
    if not (table := changes.table(_SERVICE, "objects")):
        return
    store = world.store(rules.GoogleCloudStore)
    before = {
        (row["bucket"], row["name"]): row
        for row in [*table.removed, *(old for old, _ in table.changed)]
        if row["live"]
    }
    names = _buckets(world, changes)
    for row in [*table.added, *(new for _, new in table.changed)]:
        if not row["live"]:
            continue
        bucket = names[row["bucket"]]
        data = store.storage.objects.data(store.storage.objects.object(bucket, row["name"]))
        text = text_of(data)
        content = text if isinstance(text, UnreadableContent) else text.strip()
        fields = {"bucket": bucket, "name": row["name"], "content": content, "rows": csv_grid(data)}
        yield before.get((row["bucket"], row["name"])), Found(fields, _rows_of(changes, row))


def _rows_of(changes: Changes, row: Row) -> frozenset[tuple[str, Any]]:
    """All generations of an object that came, went or changed."""
    table = changes.table(_SERVICE, "objects")
    those = [*table.added, *table.removed, *(new for _, new in table.changed)]
    same = [one for one in those if (one["bucket"], one["name"]) == (row["bucket"], row["name"])]
    return frozenset(("objects", one["number"]) for one in same)


def _buckets(world: World, changes: Changes) -> dict[int, str]:
    store = world.store(rules.GoogleCloudStore)
    names = {row["number"]: row["name"] for row in changes.table(_SERVICE, "buckets").removed}
    return names | {store.storage.bucket(name).number: name for name in store.storage.names()}


def _lines(rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    writer.writerows([_api(plain(cell)) for cell in row.values()] for row in rows)
    return out.getvalue()


# -- Cloud Logging ----------------------------------------------------------------------------------------


class EntryThing(Thing):
    """A log entry."""

    name = "entry"
    about = "A log entry; as a goal, one that the agent wrote."
    text = "text"
    when = "timestamp"
    listed = False
    overhead = 45
    says: ClassVar[Mapping[str, Word]] = {
        "log": Word("The log, such as `app-events`.", required=True),
        "severity": Word("How grave it is; default: INFO.", choices=_SEVERITIES),
        "text": Word("What it says."),
        "payload": Word("Instead of a text: an object.", "data"),
        "timestamp": Word("When it was written.", "moment", required=True),
        "labels": Word("Texts by name.", "data"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "log": Word("The log."),
        "severity": Word("How grave it is.", choices=_SEVERITIES),
        "text": Word("What it says."),
        "payload": Word("The object that it has instead: exactly these names and values.", "data"),
    }

    def check(self, fields: Fields) -> str | None:
        given = [name for name in ("text", "payload") if fields.get(name) is not None]
        return None if len(given) == 1 else "either text or payload is needed"

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        return count(str(fields["payload"])) if fields.get("payload") else 0

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.GoogleCloudStore)
        store.logs.entries.fill(
            logs.NewEntry(
                str(fields["log"]),
                fields["text"] if fields.get("payload") is None else fields["payload"],
                str(fields.get("severity") or "INFO"),
                fields["timestamp"].isoformat(),
                fields.get("labels") or {},
            )
            for fields in things
        )
        return [{} for _ in things]

    def trace(self, fields: Fields, given: Fields) -> str | list[str]:
        if fields.get("payload") is not None:
            return orjson.dumps(fields["payload"]).decode()
        return super().trace(fields, given)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table(_SERVICE, "log_entries").added:
            yield _found_entry(row)

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table(_SERVICE, "log_entries").removed:
            yield _found_entry(row)


def _found_entry(row: Row) -> Found:
    severities = {number: name for name, number in matcher.SEVERITIES.items()}
    fields = {
        "log": row["log"],
        "severity": severities[row["severity"]],
        "text": row["text"],
        "payload": None if row["data"] is None else Whole(orjson.loads(row["data"])),
    }
    return Found(fields, frozenset({("log_entries", row["number"])}))


# -- reading and damage -----------------------------------------------------------------------------------

_SHOWN = re.compile(r"showing (\d+) rows")
_TOTAL = re.compile(r"Total rows: (\d+)")
_MORE = re.compile(r'page_token="([^"]+)"')
_NAMED = re.compile(r"^- (.+?) \(|^- (.+?): \d+ bytes", re.MULTILINE)


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    summed = {name.replace("`", "") for name in options.get("summed", ())}
    for dataset in _listed(tools, "bigquery_list_datasets"):
        views = f"{dataset}.INFORMATION_SCHEMA"
        asked = f"SELECT table_name, table_type FROM {views}.TABLES ORDER BY table_name"
        tables = [orjson.loads(line.rstrip(","))["table_name"] for line in _asked(tools, asked)]
        if tables:
            _asked(
                tools,
                f"SELECT table_name, column_name, data_type FROM {views}.COLUMNS"
                " ORDER BY table_name, ordinal_position",
            )
        for table in tables:
            if f"{dataset}.{table}" not in summed:
                _asked(tools, f"SELECT * FROM `{dataset}.{table}`")
    for query in options.get("queries", ()):
        _asked(tools, query)
    for bucket in _listed(tools, "storage_list_buckets"):
        _listed(tools, "storage_list_objects", bucket_name=bucket)
    _listed(tools, "logging_read_logs", max_entries=200)


def _listed(tools: Tools, tool: str, **arguments: Any) -> list[str]:
    """The names in a list, over all its pages."""
    found: list[str] = []
    while True:
        text = str(tools.call(_SERVICE, tool, **arguments))
        found += [one or other for one, other in _NAMED.findall(text)]
        more = _MORE.search(text.rpartition("\n\n")[2])
        if more is None:
            return found
        arguments["page_token"] = more[1]


def _asked(tools: Tools, query: str) -> list[str]:
    """The rows of a query, over all its pages."""
    query = query.strip().rstrip(";")
    rows: list[str] = []
    asked = query
    while True:
        text = str(tools.call(_SERVICE, "bigquery_run_query", query=asked))
        rows += [line for line in text.splitlines() if line.startswith("{")]
        shown, total = _SHOWN.search(text), _TOTAL.search(text)
        if shown is None or total is None or int(shown[1]) >= int(total[1]):
            return rows
        # A token would be that of a job; a survey leaves none behind.
        asked = f"SELECT * FROM ({query}) LIMIT {10**9} OFFSET {len(rows)}"


def _entry_written(world: World) -> bool:
    world.store(rules.GoogleCloudStore).logs.entries.write([logs.NewEntry("notes", "Something", "NOTICE")])
    return True


def _object_made(world: World) -> bool:
    store = world.store(rules.GoogleCloudStore)
    buckets = store.storage.names()
    if not buckets:
        return False
    store.storage.objects.write(buckets[0], storage.NewObject("notes.tmp", b"Something"))
    return True


def _bucket_made(world: World) -> bool:
    world.store(rules.GoogleCloudStore).storage.create("notes-of-nobody")
    return True


def _bucket_emptying(world: World) -> bool:
    """The last bucket of all deletes what is in it for a day."""
    buckets = world.store(rules.GoogleCloudStore).storage
    if not (names := buckets.names()):
        return False
    buckets.update(names[-1], lifecycle=[{"action": {"type": "Delete"}, "condition": {"age": 1}}])
    return True


def _follows(world: World, changes: Changes) -> Collection[tuple[str, Any]]:
    """A table whose rows changed has another time, a bucket that was looked after another day; a view or an
    object that was made again as it had been is the same."""
    found = {
        (table, number)
        for table, stamps in _STAMPS.items()
        for number in only_stamped(changes.table(_SERVICE, table), "number", stamps)
    }
    kinds: tuple[tuple[str, Callable[[Row], bool]], ...] = (
        ("tables", lambda row: row["kind"] == "VIEW"),
        ("objects", lambda row: bool(row["live"])),
    )
    for table, only in kinds:
        for pair in made_anew(changes.table(_SERVICE, table), "number", _STAMPS[table], only):
            found.update((table, number) for number in pair)
    return found


_STAMPS: Mapping[str, Collection[str]] = {
    "datasets": {"modified"},
    "tables": {"created", "modified"},
    "buckets": {"swept", "metageneration", "updated"},
    "objects": {"generation", "metageneration", "created", "updated"},
}
"""By table: columns that say when and how often a thing was saved."""


_BIGQUERY = BigQueryThings()
_TABLE = Word("Its name: `dataset.table`; a dataset that is missing is made.", required=True)
_COLUMN_TYPES = Word(
    "Types of columns, `{price: NUMERIC, code: STRING NOT NULL}`; default: what follows from the values "
    "(INT64, FLOAT64, STRING, BOOL, DATE, TIMESTAMP). A table without rows has these columns.",
    "data",
)

words = WarehouseWords(
    service=_SERVICE,
    warehouse=_BIGQUERY,
    things={
        "table": TableThing(
            _BIGQUERY,
            _TABLE,
            _COLUMN_TYPES,
            description=Word("What it holds."),
            descriptions=Word("What columns hold, by name.", "data"),
            partitioning=Word("A column with dates by whose days it is partitioned."),
        ),
        "row": RowThing(_BIGQUERY, _TABLE, _COLUMN_TYPES),
        "bucket": BucketThing(),
        "object": ObjectThing(),
        "entry": EntryThing(),
    },
    survey=_survey,
    unseen=("contents", "jobs", "job_rows", "blobs", "projects", "uploads", "compute_operations"),
    excuses=_follows,
    spoilings=(
        *spoilings(_BIGQUERY),
        Spoiling("a log entry written", _entry_written),
        Spoiling("an object made", _object_made),
        Spoiling("a bucket made", _bucket_made),
        Spoiling("a bucket that deletes what it holds", _bucket_emptying),
    ),
    survey_options=survey_options(),
)
