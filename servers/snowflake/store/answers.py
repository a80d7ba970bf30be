"""Results of statements, and those that connectors ask for once more: by the statement's id, or with
RESULT_SCAN.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import delete, insert, select

from mesocosm.servers.snowflake.models import KeptResult
from mesocosm.servers.snowflake.store.identifiers import Part
from mesocosm.services.queries.catalogue import Listed, ResultField
from mesocosm.services.queries.failures import SqlError

_KEPT = 20
"""Results of a session that are kept, the latest."""
_MOST_VALUES = 100_000
"""Of a result that is kept with its rows."""


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


class Results(Part):
    """Stored results of connectors' statements."""

    def keep(self, id_: str, answer: Answer, kind: int) -> None:
        """Store the result of a statement of the session under its id; the oldest is dropped."""
        fits = len(answer.rows) * max(1, len(answer.fields)) <= _MOST_VALUES
        values = {
            "session": self.store.sessions.number,
            "query": id_,
            "kind": kind,
            "fields": [[one.name, one.kind] for one in answer.fields],
            "rows": [[kept(value) for value in row] for row in answer.rows] if fits else None,
        }
        self.session.execute(insert(KeptResult).values(values))
        own = select(KeptResult.id).where(KeptResult.session == self.store.sessions.number)
        older = self.session.scalars(own.order_by(KeptResult.id.desc()).offset(_KEPT)).all()
        if older:
            self.session.execute(delete(KeptResult).where(KeptResult.id.in_(older)))

    def last_queries(self) -> dict[str, str]:
        """The ids of the session's last statements: ``last_query``, ``last_query_2`` and so on."""
        own = select(KeptResult.query).where(KeptResult.session == self.store.sessions.number)
        found = self.session.scalars(own.order_by(KeptResult.id.desc())).all()
        return {f"last_query_{back}" if back > 1 else "last_query": id_ for back, id_ in enumerate(found, 1)}

    def find(self, id_: str) -> tuple[Answer, int]:
        """Return the result of a statement of the session, and the number of its kind."""
        chosen = select(KeptResult).where(
            KeptResult.query == id_, KeptResult.session == self.store.sessions.number
        )
        found = self.session.scalars(chosen).first()
        if found is None:
            raise SqlError(709, "02000", f"Statement {id_[:100]} not found")
        if found.rows is None:
            raise SqlError(710, "02000", f"The result of statement {id_} is too large to be kept here.")
        fields = tuple(ResultField(name, kind) for name, kind in found.fields)
        return Answer(fields, [tuple(row) for row in found.rows], is_query=True), found.kind

    def scan(self, id_: str) -> Listed:
        """The rows of an earlier result, as a table."""
        from mesocosm.services.queries.dialects.snowflake import type_of_result

        answer, _ = self.find(id_)
        return Listed(tuple(type_of_result(one.name, one.kind) for one in answer.fields), answer.rows)


def kept(value: Any) -> Any:
    """A value as a text that its type can be read from."""
    match value:
        case None | bool() | str():
            return value
        case datetime():
            return value.isoformat(" ")
        case date() | time():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case bytes():
            return "".join(f"\\x{byte:02X}" for byte in value)
        case list() | dict():
            return as_json(value, str)
    return str(value)
