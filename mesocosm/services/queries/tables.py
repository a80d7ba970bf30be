"""Tables of a warehouse in SQLite, one real table each, so that fork, snapshot and replay work and
``changes(world)`` names rows.

A table is called ``t_<number>``. It has a column ``row_id`` and one per column of the warehouse's table.
SQLite keeps what DuckDB can cast back exactly: whole numbers as integers (from 64 bits up as text), other
decimals, dates, times and instants as text, lists, structs and JSON as JSON text.
"""

# Rows are in the world's SQLite, so fork, replay and grading need nothing special for warehouses (decision
# 070).

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Column as SqlColumn
from sqlalchemy import Integer, MetaData, Table, Text
from sqlalchemy.orm import Session

from mesocosm.services.queries.catalogue import Column
from mesocosm.worlds import deadlines
from mesocosm.worlds.database import driver_connection

CONTENTS, ROW_ID = "contents", "row_id"
_CHUNK = 10_000

Value = str | int | float | bytes | None
"""A value that SQLite keeps."""


def attach_contents(metadata: MetaData) -> None:
    """Give a service's database the table that knows of each stored table what state its rows are in."""
    Table(
        CONTENTS,
        metadata,
        SqlColumn("number", Integer, primary_key=True),
        SqlColumn("state", Text, nullable=False),
        SqlColumn("rows", Integer, nullable=False),
    )


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever it consists of."""
    return '"' + name.replace('"', '""') + '"'


def table_name(number: int) -> str:
    """Return the SQLite name of a table."""
    return f"t_{number}"


def stored_names(names: Sequence[str]) -> list[str]:
    """Names for columns in SQLite, which takes no notice of case and has a column of its own in each
    table."""
    taken, found = {ROW_ID}, []
    for name in names:
        chosen, count = name, 1
        while chosen.lower() in taken or "\x00" in chosen:
            count += 1
            chosen = f"{name}_{count}".replace("\x00", "_")
        taken.add(chosen.lower())
        found.append(chosen)
    return found


class Tables:
    """The stored tables of one service; everything is part of the call's transaction."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def _driver(self) -> Any:
        self.session.flush()
        return driver_connection(self.session)

    @property
    def world(self) -> str:
        """Path of the world file that holds these tables."""
        return str(driver_connection(self.session).execute("PRAGMA database_list").fetchone()[2])

    # -- the tables themselves --------------------------------------------------------------------------

    def create(self, number: int, columns: Sequence[Column]) -> None:
        """A table without rows; a number is never used again."""
        names = "".join(f", {quoted(column.stored)}" for column in columns)
        self._driver.execute(
            f"CREATE TABLE {table_name(number)} ({ROW_ID} INTEGER PRIMARY KEY AUTOINCREMENT{names})"
        )
        self._driver.execute("INSERT INTO contents VALUES (?, ?, 0)", (number, _hash("", "create", number)))

    def drop(self, number: int) -> None:
        """Remove a table and its rows."""
        self._driver.execute(f"DROP TABLE {table_name(number)}")
        self._driver.execute("DELETE FROM contents WHERE number = ?", (number,))

    def copy_rows(self, source: int, columns: Sequence[Column], number: int, into: Sequence[Column]) -> None:
        """All rows of a table, put into another one whose columns are for the same values."""
        ours, theirs = (", ".join(quoted(one.stored) for one in names) for names in (into, columns))
        self._driver.execute(
            f"INSERT INTO {table_name(number)} ({ROW_ID}, {ours}) "
            f"SELECT {ROW_ID}, {theirs} FROM {table_name(source)} ORDER BY {ROW_ID}"
        )
        self._note(number, self.count(source), "copy", self.state(source))

    def has_null(self, number: int, column: Column) -> bool:
        """True if any row has NULL in a column."""
        sql = f"SELECT 1 FROM {table_name(number)} WHERE {quoted(column.stored)} IS NULL LIMIT 1"
        return self._driver.execute(sql).fetchone() is not None

    def add_column(self, number: int, column: Column, value: Value = None) -> None:
        """A further column, with one value in all rows."""
        self._driver.execute(f"ALTER TABLE {table_name(number)} ADD COLUMN {quoted(column.stored)}")
        if value is not None:
            self._driver.execute(f"UPDATE {table_name(number)} SET {quoted(column.stored)} = ?", (value,))
        self._note(number, 0, "add", column.stored, value)

    def drop_column(self, number: int, column: Column) -> None:
        """One column less."""
        self._driver.execute(f"ALTER TABLE {table_name(number)} DROP COLUMN {quoted(column.stored)}")
        self._note(number, 0, "less", column.stored)

    def rename_column(self, number: int, column: Column, name: str) -> None:
        """Another name for a column, in SQLite too."""
        self._driver.execute(
            f"ALTER TABLE {table_name(number)} RENAME COLUMN {quoted(column.stored)} TO {quoted(name)}"
        )
        self._note(number, 0, "rename", column.stored, name)

    # -- rows -------------------------------------------------------------------------------------------

    def insert(self, number: int, columns: Sequence[Column], rows: Iterable[Sequence[Value]]) -> int:
        """Rows with values for these columns, in their order; returns how many."""
        names = ", ".join(quoted(column.stored) for column in columns)
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table_name(number)} ({names}) VALUES ({marks})"
        return self._in_chunks(number, sql, rows, "insert", [c.stored for c in columns], 1)

    def update(self, number: int, columns: Sequence[Column], rows: Iterable[Sequence[Value]]) -> int:
        """Change rows: each is the new values of these columns and, last, its ``row_id``."""
        names = ", ".join(f"{quoted(column.stored)} = ?" for column in columns)
        sql = f"UPDATE {table_name(number)} SET {names} WHERE {ROW_ID} = ?"
        return self._in_chunks(number, sql, rows, "update", [c.stored for c in columns], 0)

    def delete(self, number: int, ids: Iterable[int]) -> int:
        """Remove rows by their ``row_id``."""
        sql = f"DELETE FROM {table_name(number)} WHERE {ROW_ID} = ?"
        return self._in_chunks(number, sql, ((one,) for one in ids), "delete", [], -1)

    def clear(self, number: int) -> int:
        """Remove all rows; returns how many there were."""
        count = self.count(number)
        self._driver.execute(f"DELETE FROM {table_name(number)}")
        self._note(number, -count, "clear")
        return count

    def _in_chunks(
        self, number: int, sql: str, rows: Iterable[Sequence[Value]], what: str, names: list[str], more: int
    ) -> int:
        total, rest, driver = 0, iter(rows), self._driver
        while chunk := [tuple(row) for row in islice(rest, _CHUNK)]:
            deadlines.check()
            driver.executemany(sql, chunk)
            self._note(number, more * len(chunk), what, names, chunk)
            total += len(chunk)
        return total

    # -- what they are like -----------------------------------------------------------------------------

    def state(self, number: int) -> str:
        """Return a fingerprint of the rows: tables with the same history of writes have the same."""
        return str(self._contents(number)[0])

    def count(self, number: int) -> int:
        """Count the rows."""
        return int(self._contents(number)[1])

    def _contents(self, number: int) -> Any:
        return self._driver.execute("SELECT state, rows FROM contents WHERE number = ?", (number,)).fetchone()

    def _note(self, number: int, more: int, *what: Any) -> None:
        """The rows are in another state: the one that this change makes of the one before."""
        self._driver.execute(
            "UPDATE contents SET state = ?, rows = rows + ? WHERE number = ?",
            (_hash(self.state(number), *what), more, number),
        )


def _hash(*parts: Any) -> str:
    # The oldest format of marshal: what it writes depends on nothing but the values.
    return hashlib.blake2b(marshal.dumps(parts, 0), digest_size=16).hexdigest()
