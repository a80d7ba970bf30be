"""The tools with which an agent writes a record step by step."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.record.store import RecordStore
from mesocosm.services.service import Service

server = Service(
    "record",
    RecordStore,
    instructions="A record of lines that stays while you work: append some, read back what you wrote.",
)


@server.writes
def append_lines(store: RecordStore, lines: list[str]) -> dict[str, Any]:
    """Write lines at the end of the record.

    Args:
        lines: 1 to 20 lines, in their order, each without a line break.
    """
    return {"lines": store.append(lines)}


@server.reads
def read_lines(store: RecordStore, start: int = 1, limit: int = 20) -> dict[str, Any]:
    """Read back lines of the record with their numbers, and how many there are in all.

    Args:
        start: The number of the first line, from 1.
        limit: How many lines, 1 to 100.
    """
    found = store.lines(start, limit)
    return {"total": store.count(), "lines": [{"number": line.number, "text": line.text} for line in found]}


@server.writes(destructive=True)
def remove_lines(store: RecordStore, start: int) -> dict[str, Any]:
    """Remove a line and all lines after it, to write them anew.

    Args:
        start: The number of the first line to remove, from 1.
    """
    return {"lines": store.remove(start)}
