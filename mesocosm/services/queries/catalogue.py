"""The catalogue of a server: every name that a statement may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

SCANNED = "\u2063results"
"""Under which, as their schema, a catalogue finds results of earlier statements by their ids."""
STAGED, INFERRED = "\u2063stage", "\u2063columns"
"""The same of the rows of staged files, and of their columns, by what is asked of them."""
GENERATED = "\u2063numbers"
"""The same of as many whole numbers, from zero on, as the name says."""
TARGET = "target"
"""The name of the table whose rows a statement changes, in the query for these."""

Path = tuple[str, ...]
"""The parts of a name as written, folded as the dialect folds them: ``("DB", "PUBLIC", "ORDERS")``, or
fewer."""


@dataclass(frozen=True)
class Column:
    """A column of a relation."""

    name: str
    kind: str
    """Its type as DuckDB writes it: ``BIGINT``, ``DECIMAL(10,2)``, ``VARCHAR``, ``STRUCT(a BIGINT)[]``,
    ``JSON`` ... ``HUGEINT`` stands for whole numbers of up to 38 digits, which are ``BIGINT`` where 64 bits
    hold all of them."""
    required: bool = False
    """True if it is NOT NULL."""
    default: str | None = None
    """Default: an expression in the vendor's dialect."""
    stored: str = ""
    """Its name in SQLite; the same name unless that would be ambiguous there."""
    counter: str | None = None
    """Counter that numbers rows (``Counters``)."""
    longest: int | None = None
    """Of a text that is bounded: how many characters it may have."""
    vendor: str = ""
    """Its type as the vendor writes it, for messages."""


@dataclass(frozen=True)
class StoredTable:
    """A table whose rows lie in SQLite (``tables.Tables``)."""

    number: int
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class StoredView:
    """A query under a name."""

    query: str
    columns: tuple[str, ...] = ()
    """Names for its columns; without, those that the query gives."""
    within: Catalogue | None = None
    """Catalogue for the names in it, if it differs from that of the statement."""


@dataclass(frozen=True)
class Listed:
    """Rows that the server makes up, such as those of INFORMATION_SCHEMA."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    """Values of Python, as many in each as there are columns."""


Relation = StoredTable | StoredView | Listed


class Catalogue(Protocol):
    """The tables and views of a server, as the present session names them."""

    def relation(self, path: Path) -> Relation:
        """Resolve a name of a table or view; refuse an unknown one."""


class Counters(Protocol):
    """Counters that statements use: sequences and auto-increment columns."""

    def counter(self, path: Path) -> str | None:
        """The name that a sequence has here; ``None`` if there is no such sequence."""

    def next_of(self, name: str) -> tuple[int, int]:
        """The next number of a counter, and the step to the one after it."""

    def advance(self, name: str, to: int) -> None:
        """The next number of a counter is another one now."""


@dataclass(frozen=True)
class ResultField:
    """A column of a result."""

    name: str
    kind: str
    """Its type as DuckDB writes it."""


@dataclass(frozen=True)
class QueryResult:
    """Rows that a statement gave; no more than were asked for."""

    fields: tuple[ResultField, ...]
    rows: list[tuple[Any, ...]]
    """Values of Python: int, Decimal, float, str, bytes, bool, date, time, datetime (with a zone: UTC),
    timedelta, list, dict; JSON as its text."""
    more: bool = False
    """True if there are more rows than these."""
    counted: dict[str, int] = field(default_factory=dict)
    """Of the counters that were drawn from: which number is next."""
