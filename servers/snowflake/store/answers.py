"""Results of statements."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from mesocosm.services.queries.catalogue import ResultField


@dataclass
class Answer:
    """Rows, or word of what was done."""

    fields: tuple[ResultField, ...] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    more: bool = False
    """True if there are more rows."""
    affected: int | None = None
    """Number of rows were changed; ``None`` where the statement changes no rows."""
    message: str = ""
    """Of a statement that defines something: what was done."""
    is_query: bool = False
    """True for a query's result."""


def listing(
    names: str, rows: list[tuple[Any, ...]], numbers: str = "", moments: str = "created_on"
) -> Answer:
    """Rows that the service makes up, for SHOW and DESCRIBE; names are separated by ``|``."""
    kinds = dict.fromkeys(numbers.split("|"), "BIGINT") | dict.fromkeys(moments.split("|"), "TIMESTAMPTZ")
    fields = tuple(ResultField(name, kinds.get(name, "VARCHAR")) for name in names.split("|"))
    return Answer(fields, rows, is_query=True)


def done(message: str) -> Answer:
    """Word of what was done."""
    return Answer((ResultField("status", "VARCHAR"),), [(message,)], message=message)


def changed(**counts: int) -> Answer:
    """Return the counts of changed rows under Snowflake's column names."""
    names = [f"number of rows {name.replace('_', ' ')}" for name in counts]
    fields = tuple(ResultField(name, "BIGINT") for name in names)
    return Answer(fields, [tuple(counts.values())], affected=sum(counts.values()))


def as_json(value: Any, otherwise: Callable[[Any], Any]) -> str:
    """Serialise a list or an object as JSON with numbers up to 38 digits; ``otherwise``: for values that JSON
    lacks.
    """
    try:
        return orjson.dumps(value, default=otherwise, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # more than 64 bits
        return json.dumps(value, default=otherwise, separators=(",", ":"), ensure_ascii=False)
