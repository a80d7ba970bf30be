"""Vocabulary of task files for warehouses: tables and single rows.

A table is its rows, in whatever order: neither numbers of rows nor who made the table anew are judged, as
nobody who asks can see them.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from mesocosm.services.columns import Columns, Joined, blocks_of
from mesocosm.services.contents import UnreadableContent
from mesocosm.services.later import later
from mesocosm.services.words import Cells, Fields, Found, Spoiling, Thing, Word, Words

if TYPE_CHECKING:
    from mesocosm.services.queries import catalogue
    from mesocosm.services.queries import tables as stored
    from mesocosm.services.world import World
    from mesocosm.worlds import database
    from mesocosm.worlds.changes import Changes
else:
    (database,) = later("mesocosm.worlds.database")
    catalogue, stored = later("mesocosm.services.queries.catalogue", "mesocosm.services.queries.tables")

_ROWS = re.compile(r"t_\d+")
_SUMMED = "summed"

Key = tuple[str, Any]


@dataclass(frozen=True)
class Kept:
    """A column, as rows are kept."""

    name: str
    stored: str
    kind: str
    """Its type as DuckDB writes it."""
    vendor: str
    """Its type as the vendor writes it."""


@dataclass(frozen=True)
class Shelf:
    """A table of a warehouse, in one state of a world."""

    name: str
    number: int
    columns: tuple[Kept, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    """Further facts about it."""
    rows: frozenset[Key] = frozenset()
    """The rows of the service's own tables that make it up: (table, primary key)."""
    place: frozenset[Key] = frozenset()
    """Those of what it lies in."""
    rest: Mapping[str, Any] = field(default_factory=dict)
    """Properties outside of goals: a table made anew is the same only if they are equal."""
    odd: Mapping[str, Any] = field(default_factory=dict)
    """Of that, what a table that is asked for has not: that it does not last, or not without a filter."""

    @property
    def types(self) -> dict[str, str]:
        """Its columns with their types."""
        return {column.name: column.vendor for column in self.columns}

    def cells(self, row: Mapping[str, Any]) -> Cells:
        """A row as SQLite keeps it, in values of Python by the columns' names."""
        columns = self.columns
        return Cells({one.name: _value(one.kind, row[one.stored]) for one in columns if one.stored in row})

    def read(self, db: Any) -> list[Cells]:
        """All rows."""
        names = [column.stored for column in self.columns]
        listed = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        found = db.execute(f"SELECT {listed} FROM t_{self.number} ORDER BY row_id")
        return [self.cells(dict(zip(names, row, strict=True))) for row in found]


def _value(kind: str, kept: Any) -> Any:
    """Convert to a Python value; for values that Python lacks, a text that equals nothing.

    An agent may store whatever the product stores: the year 10000, infinity, JSON that is nested without end.
    """
    if kept is None:
        return None
    read = _json if _is_json(kind) else _READERS.get(kind.partition("(")[0])
    try:
        return read(kept) if read else kept
    except (ValueError, ArithmeticError, TypeError, RecursionError) as error:
        return str(UnreadableContent(f"{str(kept)[:200]!r} is no {kind} that can be compared: {error}"))


def _is_json(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(("STRUCT", "JSON", "MAP"))


def _json(kept: str) -> Any:
    if kept.count("[") + kept.count("{") > _DEEPEST and _depth(kept) > _DEEPEST:
        raise ValueError("it is nested too deep")
    return orjson.loads(kept)


_DEEPEST = 100
"""Maximum nesting of JSON that is compared."""
_NESTING = re.compile(r'"(?:[^"\\\\]|\\\\.)*"|([\[{])|[\]}]')


def _depth(text: str) -> int:
    deepest = depth = 0
    for found in _NESTING.finditer(text):
        if found[1]:
            depth += 1
            deepest = max(deepest, depth)
        elif not found[0].startswith('"'):
            depth -= 1
    return deepest


def _float(kept: Any) -> Any:
    number = float(kept)
    return number if math.isfinite(number) else str(number).replace("nan", "NaN")


_day = lru_cache(maxsize=10_000)(dt.date.fromisoformat)
_moment = lru_cache(maxsize=10_000)(dt.datetime.fromisoformat)
"""Many rows have the same."""

_READERS: dict[str, Callable[[Any], Any]] = {
    "BIGINT": int,
    "HUGEINT": int,
    "DOUBLE": _float,
    "FLOAT": _float,
    "BOOLEAN": bool,
    "DECIMAL": lambda kept: Decimal(str(kept)),
    "DATE": _day,
    "TIMESTAMP": _moment,
    "TIMESTAMP WITH TIME ZONE": _moment,
    "TIMESTAMPTZ": _moment,
    "BLOB": lambda kept: kept.hex(),
}


class _Read(Sequence[Cells]):
    """Rows of a table, possibly a million, read on demand."""

    def __init__(self, shelf: Shelf, rows: Sequence[Mapping[str, Any]]) -> None:
        self._shelf, self._rows = shelf, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        rows = self._rows[place]
        return _Read(self._shelf, rows) if isinstance(place, slice) else self._shelf.cells(rows)


@dataclass
class Difference:
    """Differences between a table and its earlier state."""

    name: str
    before: Shelf | None
    after: Shelf | None
    added: Sequence[Cells] = ()
    removed: Sequence[Cells] = ()
    changed: list[tuple[Cells, Cells]] = field(default_factory=list)

    def differing(self) -> Iterator[tuple[Key, str]]:
        """Yield the names of differing rows, each with the kind of change."""
        for number, row in enumerate(self.added):
            yield self.key("added", number), f"{self.name}: a row was added: {_shown(row)}"
        for number, row in enumerate(self.removed):
            yield self.key("removed", number), f"{self.name}: a row was removed: {_shown(row)}"
        for number, (row, now) in enumerate(self.changed):
            other = [name for name in now if row.get(name) != now[name]]
            yield (
                self.key("changed", number),
                f"{self.name}: a row was changed ({', '.join(other)}): {_shown(row)}",
            )
        for of, said in self.comments():
            yield self.comment_key(of), f"{self.name}: the comment of {of or 'the table'} is {said[1]!r}"

    def comments(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield comments that differ in a recreated table, by column ("" for the table), before and after."""
        old, new = self.before, self.after
        if old is None or new is None or old.number == new.number:
            return
        before, after = _comments(old), _comments(new)
        for of in dict.fromkeys([*before, *after]):
            said = before.get(of, ""), after.get(of, "")
            if said[0] != said[1]:
                yield of, said

    def comment_key(self, of: str) -> Key:
        """The name of a comment that differs."""
        return self.name, ("comment", of)

    @property
    def differs_in_comments(self) -> bool:
        """True if only the table's comments and rows differ."""
        old, new = self.before, self.after
        return old is not None and new is not None and _shape(old) == _shape(new)

    def key(self, what: str, number: int) -> Key:
        """The name of one row that differs."""
        return self.name, (what, number)

    @property
    def redefined(self) -> bool:
        """True if columns or other properties differ."""
        before, after = self.before, self.after
        return before is None or after is None or _definition(before) != _definition(after)

    @property
    def is_same(self) -> bool:
        """True if no visible property differs."""
        return not (self.redefined or self.added or self.removed or self.changed)

    @property
    def catalogue(self) -> frozenset[Key]:
        """The rows of the service's own tables that changed with it."""
        before = self.before.rows if self.before else frozenset()
        after = self.after.rows | self.after.place if self.after else frozenset()
        return before | after


def _definition(shelf: Shelf) -> Any:
    return _shape(shelf), shelf.about


def _shape(shelf: Shelf) -> Any:
    return [(column.name, column.vendor) for column in shelf.columns], shelf.rest


def _comments(shelf: Shelf) -> dict[str, str]:
    """By column; the table's own without a name. For services that have comments."""
    if "comments" not in shelf.about:
        return {}
    return {"": shelf.about.get("comment") or "", **shelf.about["comments"]}


def _shown(row: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name} {value}" for name, value in row.items() if value is not None)
    return text if len(text) <= 120 else f"{text[:117]}..."


class Warehouse(ABC):
    """Access to the tables of a service."""

    service: ClassVar[str]
    columns: ClassVar[frozenset[str]]
    """Of the service's own tables: what follows from a table's columns and rows."""

    @abstractmethod
    def shelves(self, db: Any) -> dict[str, Shelf]:
        """The tables that a database file has, by name."""

    @abstractmethod
    def key(self, name: str) -> str:
        """A table's name, as ``shelves`` has it."""

    @abstractmethod
    def type_of(self, values: Sequence[Any]) -> str:
        """The type of a column with these values, which has one at least."""

    @abstractmethod
    def make(
        self, world: World, name: str, types: Mapping[str, str], rows: Sequence[Fields], about: Fields
    ) -> None:
        """Make a table with these columns and rows."""

    @abstractmethod
    def append(self, world: World, name: str, rows: Sequence[Fields]) -> None:
        """Put further rows into a table."""

    @abstractmethod
    def remove(self, world: World, name: str) -> None:
        """Remove a table."""

    @abstractmethod
    def mark(self, cells: Mapping[str, Any]) -> str:
        """A text of a result that has this row, with the least that tells it from others."""

    def said(self, column: str) -> str:
        """Return a column's name as task files write it."""
        return column

    def make_anew(self, world: World, shelf: Shelf, columns: Sequence[str], rows: Sequence[Fields]) -> None:
        """The same table with some of its columns and other rows."""
        self.remove(world, shelf.name)
        types = {self.said(column): shelf.types[column] for column in columns}
        lines = [{self.said(column): value for column, value in row.items()} for row in rows]
        self.make(world, shelf.name, types, lines, dict(shelf.about))

    # -- two states -------------------------------------------------------------------------------------

    def differences(self, world: World, changes: Changes) -> list[Difference]:
        """All tables that differ."""
        if self.service not in changes.services():
            return []
        if self.service not in changes.kept:
            changes.kept[self.service] = self._differences(world, changes)
        kept: list[Difference] = changes.kept[self.service]
        return kept

    def _differences(self, world: World, changes: Changes) -> list[Difference]:
        assert world.base is not None
        states = []
        for folder in (world.base, world.path):
            file = database.file_uri(folder / f"{self.service}.db", "mode=ro")
            with closing(sqlite3.connect(file, uri=True)) as db:
                states.append(self.shelves(db))
        before, after = states
        found = []
        for name in sorted({*before, *after}):
            old, new = before.get(name), after.get(name)
            touched = new and changes.table(self.service, f"t_{new.number}")
            if touched or (old and old.number) != (new and new.number) or _redefined(old, new):
                found.append(self._difference(Difference(name, old, new), changes))
        return found

    def _difference(self, found: Difference, changes: Changes) -> Difference:
        old, new = found.before, found.after
        there = changes.table(self.service, f"t_{old.number}") if old else None
        here = changes.table(self.service, f"t_{new.number}") if new else None
        removed = _Read(old, there.removed) if there and old else ()
        added = _Read(new, here.added) if here and new else ()
        if here and old and new and old.number == new.number:
            pairs = [(old.cells(before), new.cells(after)) for before, after in here.changed]
            found.changed = [(before, after) for before, after in pairs if before != after]
        found.removed, found.added = _without_common(removed, added)
        _pair(found)
        return found

    def current(self, world: World) -> tuple[Any, dict[str, Shelf]]:
        """The tables as the world has them at this moment, and where they are read."""
        db = database.driver_connection(world.stores[self.service].session)
        return db, self.shelves(db)


def _redefined(old: Shelf | None, new: Shelf | None) -> bool:
    return old is None or new is None or _definition(old) != _definition(new)


def _without_common(
    removed: Sequence[Cells], added: Sequence[Cells]
) -> tuple[Sequence[Cells], Sequence[Cells]]:
    """Rows that went and came again are no difference."""
    if not removed or not added:
        return removed, added
    removed, added = list(removed), list(added)
    here, there = Counter(map(_identity, added)), Counter(map(_identity, removed))
    return _left(removed, here), _left(added, there)


def _left(rows: Sequence[Cells], others: Counter[Any]) -> list[Cells]:
    left = []
    for row in rows:
        if others[_identity(row)] > 0:
            others[_identity(row)] -= 1
        else:
            left.append(row)
    return left


def _identity(row: Cells) -> Any:
    return tuple((name, str(orjson.dumps(value)) if isinstance(value, list | dict) else value)
                 for name, value in row.items())  # fmt: skip


def _pair(found: Difference) -> None:
    """A row that went and one that came with the same first cell are one that was changed."""
    if not found.removed or not found.added:
        return
    waiting: dict[Any, list[Cells]] = {}
    for row in found.removed:
        waiting.setdefault(_identity(row)[:1], []).append(row)
    added = []
    for row in found.added:
        olds = waiting.get(_identity(row)[:1])
        if olds:
            found.changed.append((olds.pop(0), row))
        else:
            added.append(row)
    paired = {id(before) for before, _ in found.changed}
    found.added, found.removed = added, [row for row in found.removed if id(row) not in paired]


# -- the words --------------------------------------------------------------------------------------------

_ABOUT_ROWS = "Its rows: `{for: sale, columns: {id: ...}}`."


class WarehouseThing(Thing):
    listed = False

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse = warehouse

    def read_singly(self, fields: Fields, options: Mapping[str, Any]) -> bool:
        summed = [self.warehouse.key(str(name)) for name in options.get(_SUMMED, ())]
        return self.warehouse.key(str(fields["table"])) not in summed

    def _filled(
        self, world: World, name: str, rows: Sequence[Fields], said: Mapping[str, str], about: Fields
    ) -> None:
        _, shelves = self.warehouse.current(world)
        if self.warehouse.key(name) in shelves:
            self.warehouse.append(world, name, rows)
        else:
            self.warehouse.make(world, name, self._types(rows, said), rows, about)

    def _types(self, rows: Sequence[Fields], said: Mapping[str, str]) -> dict[str, str]:
        values: dict[str, list[Any]] = {}
        for block in blocks_of(rows):
            if isinstance(block, Columns):
                for name, column in block.columns.items():
                    values.setdefault(name, []).extend(() if name in said else column)
                continue
            for row in block:
                for name, value in row.items():
                    of_name = values.setdefault(name, [])
                    if name not in said:
                        of_name.append(value)
        types = {}
        for name in dict.fromkeys([*values, *said]):
            present = [value for value in values.get(name, ()) if value is not None]
            types[name] = said.get(name) or self.warehouse.type_of(present or [""])
        return types


class TableThing(WarehouseThing):
    name = "table"
    ordered = False
    overhead = 60

    def __init__(self, warehouse: Warehouse, table: Word, types: Word, **about: Word) -> None:
        super().__init__(warehouse)
        rows = Word(_ABOUT_ROWS, "list")
        self.says = {"table": table, "rows": rows, "types": types, **about}  # type: ignore[misc]
        all_rows = Word("All its rows, in any order; numbers to `within`.", "list")
        self.judges = {"table": table, "rows": all_rows, "types": types}  # type: ignore[misc]
        self.about = "A table with its rows; as a goal, one that is new or has changed."  # type: ignore[misc]

    def row_overhead(self, cells: Mapping[str, Any], count: Callable[[str], int]) -> int:
        return _row_overhead(cells, count)

    def shown(self, name: str, value: Any) -> str:
        return str(value).rpartition(".")[2] if name == "table" else super().shown(name, value)

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        tables: dict[str, list[Fields]] = {}
        for fields in things:
            tables.setdefault(self.warehouse.key(str(fields["table"])), []).append(fields)
        for those in tables.values():  # what several statements say of one is put in at once
            known = ("table", "rows", "types")
            about = {name: value for one in those for name, value in one.items() if name not in known}
            types = {name: type_ for one in those for name, type_ in (one.get("types") or {}).items()}
            rows: Any = Joined([one.get("rows") or () for one in those])
            self._filled(world, str(those[0]["table"]), rows, types, about)
        return [{} for _ in things]

    def row_trace(self, cells: Mapping[str, Any]) -> str:
        return self.warehouse.mark(cells)

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(fields["table"]).rpartition(".")[2]

    def rearranged(self, world: World, fields: Fields, change: Callable[[list[list[Any]]], Any]) -> bool:
        name = str(fields["table"])
        db, shelves = self.warehouse.current(world)
        shelf = shelves.get(self.warehouse.key(name))
        if shelf is None:
            return False
        lines = [list(shelf.types), *(list(row.values()) for row in shelf.read(db))]
        head, *rest = change(lines)
        self.warehouse.make_anew(world, shelf, head, [dict(zip(head, row, strict=True)) for row in rest])
        return True

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for one in self.warehouse.differences(world, changes):
            if one.before is None:
                yield self._found(world, one)

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        for one in self.warehouse.differences(world, changes):
            if one.before and one.after and not one.is_same:
                before = {"types": one.before.types, **one.before.about}
                yield replace(self._found(world, one), before=before)

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        for one in self.warehouse.differences(world, changes):
            if one.before and one.after is None:
                rows = {*one.catalogue, *(key for key, _ in one.differing())}
                yield Found({"table": one.name, "types": one.before.types}, frozenset(rows))

    def _found(self, world: World, one: Difference) -> Found:
        assert one.after is not None
        db, _ = self.warehouse.current(world)
        fields = {"table": one.name, "rows": one.after.read(db), "types": one.after.types, **one.after.about}
        rows = {key for key, _ in one.differing()}
        if one.redefined or not rows:
            rows |= one.catalogue
        return Found(fields, frozenset(rows), self.warehouse.columns)


def _row_overhead(cells: Mapping[str, Any], count: Callable[[str], int]) -> int:
    return 2 + sum(3 + count(name) for name in cells)


class RowThing(WarehouseThing):
    name = "row"
    about = "A row of a table; as a goal, one that is new, has changed or is gone."
    identified_by = "key"
    overhead = 0

    def __init__(self, warehouse: Warehouse, table: Word, types: Word) -> None:
        super().__init__(warehouse)
        values = Word("Its values by column: `{id: 7, city: Oslo}`.", "data", required=True)
        judged = Word(
            "Its values that are judged, by column; the others of a changed row are to be as before.",
            "data",
        )
        key = Word("Which row, by some of its columns: `{id: 7}`; default: the one with all values.", "data")
        self.says = {"table": table, "values": values, "types": types}  # type: ignore[misc]
        self.judges = {"table": table, "key": key, "values": judged}  # type: ignore[misc]

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        cells = fields["values"]
        name = count(orjson.dumps(str(fields["table"])).decode())  # which no result repeats
        return sum(count(str(value)) for value in cells.values()) + _row_overhead(cells, count) - name

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        tables: dict[str, list[Fields]] = {}
        for fields in things:
            tables.setdefault(str(fields["table"]), []).append(fields)
        for name, those in tables.items():
            types: dict[str, str] = {}
            for fields in those:
                types |= fields.get("types") or {}
            self._filled(world, name, [fields["values"] for fields in those], types, {})
        return [{} for _ in things]

    def trace(self, fields: Fields, given: Fields) -> str:
        return self.warehouse.mark(fields["values"])

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for one in self.warehouse.differences(world, changes):
            for number, row in enumerate(one.added):
                yield _found_row(one, one.key("added", number), row)

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        for one in self.warehouse.differences(world, changes):
            for number, (before, after) in enumerate(one.changed):
                found = _found_row(one, one.key("changed", number), after)
                yield replace(found, before={"values": before})

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        for one in self.warehouse.differences(world, changes):
            for number, row in enumerate(one.removed):
                yield _found_row(one, one.key("removed", number), row)


def _found_row(one: Difference, key: Key, row: Cells) -> Found:
    return Found({"table": one.name, "key": row, "values": row}, frozenset({key}))


@dataclass(frozen=True)
class WarehouseWords(Words):
    """The words of a service with a warehouse."""

    warehouse: Warehouse | None = None

    def others(
        self,
        world: World,
        changes: Changes,
        explained: Sequence[Found] = (),
        apart_from: Collection[str] = (),
    ) -> Iterator[str]:
        assert self.warehouse is not None
        differences = self.warehouse.differences(world, changes)
        # A table that was made anew as it had been is the same table.
        renewed = {key for one in differences if not one.redefined for key in one.catalogue}
        own = {
            (service, table): those
            for (service, table), those in changes.tables.items()
            if service != self.service or not _ROWS.fullmatch(table)
        }
        known = [*explained, Found({}, frozenset(renewed), self.warehouse.columns)]
        yield from super().others(world, replace(changes, tables=own), known, apart_from)
        rows = {row for found in explained for row in found.rows}
        for one in differences:
            if one.before is not None and one.after is not None:
                yield from (text for key, text in one.differing() if key not in rows)
            if one.after is not None:
                wanted, has = (one.before.rest, one.after.rest) if one.before else ({}, one.after.odd)
                for name in has if wanted != has else ():
                    if wanted.get(name) != has[name]:
                        yield f"{one.name}: {name} is {has[name]}"


# -- damage -----------------------------------------------------------------------------------------------


def spoilings(warehouse: Warehouse) -> tuple[Spoiling, ...]:
    """Unwanted changes to tables, for proofs."""

    def first(world: World) -> tuple[Shelf, Any] | None:
        db, shelves = warehouse.current(world)
        for _, shelf in sorted(shelves.items()):
            if db.execute(f"SELECT 1 FROM t_{shelf.number} LIMIT 1").fetchone():
                return shelf, db
        return None

    def one_row(world: World, change: Callable[[stored.Tables, Shelf, Sequence[Any]], Any]) -> bool:
        found = first(world)
        if found is None:
            return False
        shelf, db = found
        row = db.execute(f"SELECT * FROM t_{shelf.number} ORDER BY row_id LIMIT 1").fetchone()
        change(stored.Tables(world.stores[warehouse.service].session), shelf, row)
        return True

    def dropped(world: World) -> bool:
        found = first(world)
        if found is not None:
            warehouse.remove(world, found[0].name)
        return found is not None

    def made(world: World) -> bool:
        found = first(world)
        if found is not None:
            name = ".".join([*found[0].name.split(".")[:-1], "SCRATCH_NOTES"])
            warehouse.make(world, name, {"NOTE": warehouse.type_of(["x"])}, [{"NOTE": "Something"}], {})
        return found is not None

    return (
        Spoiling("a row changed", lambda world: one_row(world, _changed)),
        Spoiling("a row deleted", lambda world: one_row(world, _deleted)),
        Spoiling("a row put in twice", lambda world: one_row(world, _repeated)),
        Spoiling("a table dropped", dropped),
        Spoiling("a table made", made),
    )


def _columns(shelf: Shelf) -> list[catalogue.Column]:
    return [catalogue.Column(one.name, one.kind, required=False, stored=one.stored) for one in shelf.columns]


def _changed(tables: stored.Tables, shelf: Shelf, row: Sequence[Any]) -> None:
    """Another value in the last column of a row: one that another row has, or none."""
    *_, column = _columns(shelf)
    name, value = column.stored.replace('"', '""'), row[-1]
    found = (
        database.driver_connection(tables.session)
        .execute(
            f'SELECT "{name}" FROM t_{shelf.number} WHERE "{name}" IS NOT ? ORDER BY row_id LIMIT 1', (value,)
        )
        .fetchone()
    )
    tables.update(shelf.number, [column], [(found[0] if found else None, row[0])])


def _deleted(tables: stored.Tables, shelf: Shelf, row: Sequence[Any]) -> None:
    tables.delete(shelf.number, [row[0]])


def _repeated(tables: stored.Tables, shelf: Shelf, row: Sequence[Any]) -> None:
    tables.insert(shelf.number, _columns(shelf), [row[1:]])


def plain(value: Any, zone: dt.tzinfo | None = dt.UTC) -> Any:
    """A value as warehouses take it: an instant on the clocks of UTC, or as its own clock shows it."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.replace(tzinfo=None) if zone is None else value.astimezone(zone)
    return value


def kinds_of(values: Iterable[Any]) -> set[type]:
    """The types of Python that values have, of which there are few."""
    order = (bool, int, float, Decimal, dt.datetime, dt.date, dt.time, list, dict)
    return {next((kind for kind in order if isinstance(value, kind)), str) for value in values}


def survey_options() -> dict[str, str]:
    """Options of a task file for surveying a warehouse."""
    return {
        _SUMMED: "Tables whose rows nobody reads one by one; what is to be known of them, `queries` ask.",
        "queries": "Queries that are made and read, after the tables: `[SELECT ...]`.",
    }
