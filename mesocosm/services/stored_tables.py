"""Warehouse tables made by users, which only the catalogue knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sql
from sqlalchemy.orm import Session

from mesocosm.services.views import Asked, Cell, Item, Row, Table


def stored_rows(session: Session, name: str, columns: Sequence[str], asked: Asked) -> Table:
    """A page of the rows of a stored table."""
    chosen = ", ".join(_quoted(column) for column in columns)
    found = session.execute(
        sql.text(f"SELECT row_id, {chosen} FROM {_quoted(name)} ORDER BY row_id LIMIT :size OFFSET :start"),
        {"size": asked.size, "start": asked.start},
    )
    total = session.scalar(sql.text(f"SELECT count(*) FROM {_quoted(name)}"))
    rows = [Row([shown(value) for value in row[1:]], ref=f"{name}:{row[0]}") for row in found]
    return Table(columns, rows, total, empty="The table is empty.")


def stored_items(
    session: Session, name: str, columns: Sequence[str], title: str, path: str
) -> Iterator[Item]:
    """The rows of a stored table, each a thing to search for."""
    chosen = ", ".join(_quoted(column) for column in columns)
    found = session.execute(sql.text(f"SELECT row_id, {chosen} FROM {_quoted(name)} ORDER BY row_id"))
    size = Asked().size
    for number, row in enumerate(found):
        start = number - number % size
        values = [str(value) for value in row[1:] if value is not None]
        text = "\n".join(values)
        where = f"{path}?from={start}" if start else path
        yield Item("row", f"{title}: {', '.join(values[:2])}"[:80], text, where, f"{name}:{row[0]}")


def shown(value: Any) -> Cell:
    """A stored value as a cell shows it."""
    if value is None or isinstance(value, int | float | str):
        return value
    return f"{len(value):,} bytes" if isinstance(value, bytes) else str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""').replace(":", "\\:") + '"'
