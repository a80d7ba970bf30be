"""Differences between a world and the one that was built: rows of every table, files of the workspace."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_IFMT, S_ISLNK, S_ISREG
from typing import Any
from zipfile import BadZipFile, ZipFile

from mesocosm.worlds.database import file_uri
from mesocosm.worlds.workspace import Workspace

Row = dict[str, Any]
_READ = os.O_RDONLY | os.O_CLOEXEC
_PIECE = 1 << 20
"""Bytes of files that are compared at once."""
_SHORT, _SHARED = 40, 10_000
"""Texts of at most so many letters are kept once, so many at a time."""

_SAVED = "docProps/core.xml"
"""In packages of office programs: by whom and when they were saved."""


@dataclass(frozen=True)
class TableChanges:
    """Changes to one table of one service; rows as mappings of column to value."""

    added: list[Row] = field(default_factory=list)
    removed: list[Row] = field(default_factory=list)
    changed: list[tuple[Row, Row]] = field(default_factory=list)
    """(before, after) of rows with the same primary key."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True)
class Changes:
    """Every difference between a world and its base."""

    tables: dict[tuple[str, str], TableChanges]
    """By (service, table); tables without a change are left out."""
    files_added: list[str]
    """Names of files, of links and of whatever else can lie in a folder; new folders that hold nothing, with
    a slash behind the name."""
    files_removed: list[str]
    files_changed: list[str]
    kept: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)
    """Results that services derived from the changes, by service: all their words use them."""

    def table(self, service: str, table: str) -> TableChanges:
        """The changes of one table, which may be none."""
        return self.tables.get((service, table), TableChanges())

    def services(self) -> set[str]:
        """Services with a changed table."""
        return {service for service, _ in self.tables}


def compare(world: Path, base: Path) -> Changes:
    """The changes from ``base`` to ``world``, two directories of the same world."""
    tables: dict[tuple[str, str], TableChanges] = {}
    # The names are the base's: a database that the world has lost is an error and not "no change".
    for path in sorted(world / path.name for path in base.glob("*.db")):
        if path.name != "journal.db" and not _same(path, base / path.name):
            for table, changes in compare_database(path, base / path.name):
                tables[path.stem, table] = changes
    before, after = _files(base / "workspace"), _files(world / "workspace")
    both = [name for name in after if name in before]
    return Changes(
        tables,
        files_added=[name for name in after if name not in before and not _held(name, before)],
        files_removed=[name for name in before if name not in after and not _held(name, after)],
        files_changed=[name for name in both if not _same_entry(after[name], before[name])],
    )


def _files(workspace: Path) -> dict[str, str]:
    """Everything in a workspace by its name; folders only where they hold nothing."""
    entries = list(Workspace(workspace).walk())
    holding = {entry.path.rpartition("/")[0] for entry in entries}
    names = ((entry, entry.path + "/" * (entry.kind == "folder")) for entry in entries)
    return {name: f"{workspace}/{entry.path}" for entry, name in names if entry.path not in holding}


def _held(name: str, others: Collection[str]) -> bool:
    """True for an empty folder that the other workspace has, but not empty."""
    return name.endswith("/") and any(other.startswith(name) for other in others)


def _same_entry(one: str, other: str) -> bool:
    """True if two entries of one name have the same kind and content. Links are not followed."""
    status, before = os.lstat(one), os.lstat(other)
    if os.path.samestat(status, before):
        return True
    if S_IFMT(status.st_mode) != S_IFMT(before.st_mode):
        return False
    if S_ISLNK(status.st_mode):
        return os.readlink(one) == os.readlink(other)
    return not S_ISREG(status.st_mode) or _same(one, other) or _saved_anew(one, other)


def _same(one: str | Path, other: str | Path) -> bool:
    """True if two regular files are one, or have the same bytes."""
    mine = os.open(one, _READ)
    try:
        theirs = os.open(other, _READ)
        try:
            return _same_bytes(mine, theirs)
        finally:
            os.close(theirs)
    finally:
        os.close(mine)


def _same_bytes(mine: int, theirs: int) -> bool:
    status, before = os.fstat(mine), os.fstat(theirs)
    if os.path.samestat(status, before):
        return True
    left = before.st_size
    if status.st_size != left:
        return False
    while left > 0 and (part := os.read(theirs, min(_PIECE, left))):
        if os.read(mine, len(part)) != part:
            return False
        left -= len(part)
    return True


def _saved_anew(one: str, base: str) -> bool:
    """True if two workbooks differ only in their metadata. Reads no more bytes than the base has."""
    try:
        with ZipFile(one) as mine, ZipFile(base) as theirs:
            if sorted(mine.namelist()) != sorted(theirs.namelist()):
                return False
            for part in theirs.infolist():
                if part.filename != _SAVED:
                    with mine.open(part.filename) as stream:
                        if stream.read(part.file_size + 1) != theirs.read(part):
                            return False
    except (BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, zlib.error):
        return False  # it is none, or one that cannot be read
    return True


def compare_database(path: Path, base: Path) -> Iterator[tuple[str, TableChanges]]:
    """The tables of a database file that differ from those of another, with their changes."""
    db = sqlite3.connect(file_uri(path, "mode=ro"), uri=True)
    db.row_factory = sqlite3.Row
    try:
        db.execute("ATTACH ? AS base", (file_uri(base, "mode=ro"),))
        here, there = (_tables(db, schema) for schema in ("main", "base"))
        for table in sorted({*here, *there}):
            if table not in here or table not in there:
                # A service whose tables are its users' makes some and drops some.
                rows = _rows(db, "main" if table in here else "base", table)
                changes = TableChanges(added=rows) if table in here else TableChanges(removed=rows)
            else:
                changes = _compare_table(db, table)
            if changes:
                yield table, changes
    finally:
        db.close()


def _rows(db: sqlite3.Connection, schema: str, table: str) -> list[Row]:
    return _shared(db.execute(f'SELECT * FROM {schema}."{table}"'))


def _shared(rows: sqlite3.Cursor) -> list[Row]:
    """Rows of which there may be a million: a short text that many of them have is kept once."""
    names = [column[0] for column in rows.description]
    texts: dict[str, str] = {}
    found = []
    for row in rows:
        if len(texts) > _SHARED:
            texts.clear()
        found.append(
            {
                name: texts.setdefault(value, value) if type(value) is str and len(value) <= _SHORT else value
                for name, value in zip(names, row, strict=True)
            }
        )
    return found


def _tables(db: sqlite3.Connection, schema: str) -> list[str]:
    """Ordinary tables: what belongs to a full-text index follows from them."""
    sql = f"SELECT name, sql FROM {schema}.sqlite_master WHERE type = 'table' ORDER BY name"
    rows = db.execute(sql).fetchall()
    virtual = [row["name"] for row in rows if (row["sql"] or "").upper().startswith("CREATE VIRTUAL")]
    return [
        row["name"]
        for row in rows
        if not row["name"].startswith("sqlite_")
        and row["name"] not in virtual
        and not any(row["name"].startswith(f"{name}_") for name in virtual)
    ]


def _compare_table(db: sqlite3.Connection, table: str) -> TableChanges:
    info = db.execute(f'PRAGMA main.table_info("{table}")').fetchall()
    key = [row["name"] for row in info if row["pk"]]
    base = db.execute(f'PRAGMA base.table_info("{table}")').fetchall()
    if [row["name"] for row in info] != [row["name"] for row in base]:
        return _differences(_rows(db, "base", table), _rows(db, "main", table), key)
    # Byte by byte, also in columns whose own comparison takes no notice of case.
    columns = [f'"{row["name"]}"' for row in info]
    kinds = [[(row["name"], row["type"], row["pk"]) for row in one] for one in (info, base)]
    # Values of columns of several types would be made alike before they are compared.
    numbered = kinds[0] == kinds[1] and _is_row_id(kinds[0])
    only = _by_row_id(table, f'"{key[0]}"', columns) if numbered else _by_all(table, columns)
    new, old = (_shared(db.execute(sql)) for sql in only)
    return _differences(old, new, key)


def _is_row_id(columns: Sequence[tuple[str, str, int]]) -> bool:
    """True if the key is SQLite's rowid: never null, and found without an index."""
    return [kind.upper() for _, kind, key in columns if key] == ["INTEGER"]


def _by_row_id(table: str, key: str, columns: Sequence[str]) -> Iterator[str]:
    """Build SQL that selects the rows that only one of two tables has, in linear time."""
    other = " OR ".join(f"one.{column} COLLATE BINARY IS NOT another.{column}" for column in columns)
    for one, another in (("main", "base"), ("base", "main")):
        yield (
            f'SELECT one.* FROM {one}."{table}" one LEFT JOIN {another}."{table}" another '
            f"ON one.{key} = another.{key} WHERE another.{key} IS NULL OR {other}"
        )


def _by_all(table: str, columns: Sequence[str]) -> Iterator[str]:
    """The same where rows have no number."""
    shown = ", ".join(f"{column} COLLATE BINARY AS {column}" for column in columns)
    here, there = (f'SELECT {shown} FROM {schema}."{table}"' for schema in ("main", "base"))
    yield from (f"{here} EXCEPT {there}", f"{there} EXCEPT {here}")


def _differences(old: list[Row], new: list[Row], key: list[str]) -> TableChanges:
    if key and not (old and new):
        return TableChanges(added=new, removed=old)
    before = {tuple(row[column] for column in key): row for row in old}
    after = {tuple(row[column] for column in key): row for row in new}
    both = [key_ for key_ in after if key_ in before]
    return TableChanges(
        added=[row for key_, row in after.items() if key_ not in before],
        removed=[row for key_, row in before.items() if key_ not in after],
        changed=[(before[key_], after[key_]) for key_ in both if before[key_] != after[key_]],
    )
