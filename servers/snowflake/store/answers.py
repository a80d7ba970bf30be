"""What a statement is answered with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mesocosm.services.queries.catalogue import Field


@dataclass
class Answer:
    """Rows, or word of what was done."""

    fields: tuple[Field, ...] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    more: bool = False
    """Whether there are rows behind these."""
    affected: int | None = None
    """How many rows were changed; ``None`` where the statement changes no rows."""
    message: str = ""
    """Of a statement that defines something: what was done."""
    is_query: bool = False
    """Whether the rows are what was asked for."""


def listing(names: str, rows: list[tuple[Any, ...]], numbers: str = "", moments: str = "") -> Answer:
    """Rows that the service makes up, for SHOW and DESCRIBE; names are separated by ``|``."""
    kinds = dict.fromkeys(numbers.split("|"), "BIGINT") | dict.fromkeys(moments.split("|"), "TIMESTAMPTZ")
    fields = tuple(Field(name, kinds.get(name, "VARCHAR")) for name in names.split("|"))
    return Answer(fields, rows, is_query=True)


def done(message: str) -> Answer:
    """Word of what was done."""
    return Answer((Field("status", "VARCHAR"),), [(message,)], message=message)


def changed(**counts: int) -> Answer:
    """How many rows were changed, by the names that Snowflake gives the numbers."""
    names = [f"number of rows {name.replace('_', ' ')}" for name in counts]
    fields = tuple(Field(name, "BIGINT") for name in names)
    return Answer(fields, [tuple(counts.values())], affected=sum(counts.values()))
