"""The interface of an SQL dialect; each vendor's is a subclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from mesocosm.errors import Refusal
from mesocosm.services.queries.catalogue import Catalogue, Column, Counters
from mesocosm.services.queries.failures import Failed
from mesocosm.services.queries.tables import Tables

MEANINGLESS = (SqlglotError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions of sqlglot for calls with missing or wrong arguments, which it does not expect."""

COUNTS = "counts"
"""Marks a call of ``nextval`` that a counter of the catalogue stands behind."""
WRITTEN = "written"
"""Under which a column of a query has the text that it was read from."""
SOURCE = "source"
"""Marks the query that an INSERT takes its rows from, inside the one that adds defaults to it."""


def drawn(counter: str) -> exp.Expr:
    """The next number of a counter, for each row."""
    call = exp.Anonymous(this="nextval", expressions=[exp.Literal.string(counter)])
    call.meta[COUNTS] = True
    return call


@dataclass(frozen=True)
class Context:
    """Environment of a statement."""

    catalogue: Catalogue
    tables: Tables
    now: Callable[[], datetime]
    """The world's clock; asked only if the statement asks."""
    seed: Callable[[], float]
    """Between -1 and 1, from the world's randomness; asked only if the statement draws."""
    counters: Counters | None = None
    about: Callable[[], Mapping[str, str | None]] = dict
    """Session properties for the statement: ``database``, ``schema``, ``user``, ``role``, ``warehouse``."""
    columns: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    """While a statement is rewritten: the columns of its tables, spelled, by the tables' names in it."""


class Dialect(ABC):
    """One vendor's SQL: how names are read, what is rewritten for DuckDB, and how refusals are worded."""

    name: ClassVar[str]
    """As sqlglot calls it."""
    functions: ClassVar[frozenset[str]] = frozenset()
    """Functions, upper-case, that sqlglot has no class for and that DuckDB computes under the same name
    alike."""
    one_match: ClassVar[bool] = False
    """True if UPDATE and MERGE refuse a row that several rows would change."""
    moments_as_texts: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Formats in which instants are stored as text, by DuckDB's types."""
    named_as_written: ClassVar[bool] = False
    """True if columns without a name are called as they are written."""

    def tokens(self, tokens: list[Token]) -> list[Token]:
        """The tokens of a text, where sqlglot's parser does not know what the vendor's does."""
        return tokens

    def fold(self, name: exp.Expr) -> str:
        """Return a name in the catalogue's form; refuses anything that is not a name."""
        if not isinstance(name, exp.Identifier):
            raise self.unsupported("a name that is none")
        return self._folded(name)

    @abstractmethod
    def _folded(self, name: exp.Identifier) -> str: ...

    def spell(self, name: str) -> str:
        """A name of a column for DuckDB, which takes no notice of case; undone by ``plain``."""
        return name

    def plain(self, name: str) -> str:
        """A name as the vendor has it, from a result or message of DuckDB."""
        return name

    def prepare(self, tree: exp.Expr, context: Context) -> exp.Expr:
        """The statement as parsed, before its names are resolved, with what has to be put in its place by
        then."""
        return tree

    @abstractmethod
    def label(self, expression: exp.Expr, index: int) -> str:
        """Return the name of a result column that was given none."""

    @abstractmethod
    def rewrite(self, tree: exp.Expr, context: Context) -> exp.Expr:
        """The statement with everything that DuckDB or sqlglot would do otherwise; its tables are
        resolved."""

    @abstractmethod
    def malformed(self, line: int, column: int, near: str, why: str) -> Refusal:
        """The refusal of a text that is no statement; line and column from 1."""

    @abstractmethod
    def refused(
        self, failed: Failed, tree: exp.Expr, columns: list[str], called: Sequence[str] = ()
    ) -> Refusal:
        """Make the refusal of a statement that DuckDB does not compute, without DuckDB's words. ``columns``:
        available columns; ``called``: functions used.
        """

    @abstractmethod
    def unknown_function(self, name: str) -> Refusal:
        """The refusal of a function that the vendor does not have, or that is not provided."""

    @abstractmethod
    def unknown_type(self, name: str) -> Refusal:
        """The refusal of a type that the vendor does not have."""

    @abstractmethod
    def unknown_unit(self, name: str) -> Refusal:
        """The refusal of a part of dates and times that there is not."""

    @abstractmethod
    def unsupported(self, what: str) -> Refusal:
        """The refusal of something that the vendor has and this service does not."""

    @abstractmethod
    def unknown_column(self, name: exp.Identifier, columns: list[str]) -> Refusal:
        """The refusal of a column that a table does not have."""

    def default_of(self, column: Column) -> exp.Expr:
        """Return the value of a column that an inserted row leaves out."""
        if column.counter is not None:
            return drawn(column.counter)
        if column.default is None:
            return exp.null()
        return sqlglot.parse_one(column.default, read=self.name)

    @abstractmethod
    def wrong_width(self, expected: int, given: int) -> Refusal:
        """The refusal of rows with more or fewer values than there are columns for them."""

    @abstractmethod
    def matched_twice(self) -> Refusal:
        """The refusal of a statement that would change a row by several rows."""

    @abstractmethod
    def missing_value(self, column: str) -> Refusal:
        """The refusal of NULL in a column that must have a value."""
