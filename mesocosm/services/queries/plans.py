"""Queries that were asked before, with other numbers: what they become for DuckDB is known.

To parse a query, find its names and rewrite it takes as long as to compute it, where that is short. So the
second time that a query comes which differs from an earlier one only in numbers that are compared with
something, or that follow LIMIT or OFFSET, its form is kept. That the numbers do nothing else is not assumed:
the form is made with other numbers, and kept if the query's own in their places make what is made of the
query without it. What does no more than pick rows of one table needs no DuckDB (``picking``). Nothing is kept
of queries that ask the clock, the session or chance, count, or name a view.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from mesocosm.errors import Refusal
from mesocosm.services.queries import copies
from mesocosm.services.queries.catalogue import Catalogue, Column, Field, Path, Relation, Result, Stored
from mesocosm.services.queries.dialect import Context, Dialect
from mesocosm.services.queries.engine import engine
from mesocosm.services.queries.failures import Failed
from mesocosm.services.queries.guards import check_functions
from mesocosm.services.queries.resolving import columns_asked, label_columns, resolve
from mesocosm.services.queries.row_selection import Picking, picking
from mesocosm.services.queries.selecting import generated
from mesocosm.services.queries.statements import parse_one

_LONGEST, _MOST = 4_000, 1_000
"""Characters of a query whose form is kept, and how many forms."""
_NUMBER = re.compile(r"(?:0|[1-9]\d{0,8})\Z")
_BEFORE = {
    TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.LIMIT,
    TokenType.OFFSET,
}  # fmt: skip
_AFTER = {
    TokenType.AND, TokenType.OR, TokenType.ORDER_BY, TokenType.GROUP_BY, TokenType.LIMIT, TokenType.OFFSET,
    TokenType.R_PAREN, TokenType.SEMICOLON,
}  # fmt: skip
_OTHER_NUMBERS = 731_000_001
"""The first of those that a form is made with."""
_QUERIES = (exp.Select, exp.SetOperation)

_Key = tuple[str, ...]


_Shape = tuple[tuple[Path, tuple[Column, ...], int], ...]
"""Names of tables, with the columns there are, and the place of the first name that means the same table."""


class _NotKept(Exception):
    """A query whose form follows from more than its text and its tables."""


@dataclass(frozen=True)
class _Plan:
    """A compiled query."""

    shape: _Shape
    tables: tuple[tuple[int, tuple[Column, ...]], ...]
    """Places of names in the shape, and the columns that are asked of the tables that they mean."""
    pieces: tuple[str | tuple[str, int], ...]
    """Its text for DuckDB, in which ``("number", 0)`` and ``("table", 0)`` stand for the first of these."""
    picking: Picking | None
    """Of a query that does no more than that; the numbers in it are those of ``others``."""
    others: tuple[str, ...]
    note: Any
    """What its server keeps with it."""

    def sql(self, numbers: Sequence[str], tables: Sequence[str]) -> str:
        """Its text with these numbers and names of tables."""
        said = {"number": numbers, "table": tables}
        return "".join(one if isinstance(one, str) else said[one[0]][one[1]] for one in self.pieces)


@dataclass(frozen=True)
class Known:
    """The answer to a query whose form is known."""

    result: Result
    note: Any
    """What its server keeps with it."""
    tables: list[int]
    """Numbers of the tables that it names."""


Reading = Callable[[exp.Expr, Catalogue], tuple[exp.Expr, Any] | None]
"""Makes of a query as parsed what its server runs, and what is to be kept with its form; ``None`` for one
whose form may not be kept."""


def _as_it_is(tree: exp.Expr, catalogue: Catalogue) -> tuple[exp.Expr, Any]:
    return tree, None


class Plans:
    """The forms that are known of the queries in one dialect; for all episodes of a process."""

    def __init__(self, dialect: Dialect, read: Reading = _as_it_is) -> None:
        """``read``: what a server makes of a statement first, and what it keeps with its form."""
        self._dialect = dialect
        self._read = read
        self._readers = threading.local()
        self._known: OrderedDict[_Key, _Plan | bool] = OrderedDict()
        """``True`` for queries that have been met once, ``False`` for those whose form is not kept."""
        self._lock = threading.Lock()

    def answer(self, text: str, context: Context, *, limit: int | None, skip: int = 0) -> Result | None:
        """Rows of a query, if its form is known; ``None`` if it has to be worked out, and if it fails."""
        known = self.known(text, context, limit=limit, skip=skip)
        return None if known is None else known.result

    def known(self, text: str, context: Context, *, limit: int | None, skip: int = 0) -> Known | None:
        """The same, and what is known of the query."""
        if len(text) > _LONGEST:
            return None
        try:
            tokens = self._tokenizer().tokenize(text)
        except SqlglotError:
            return None
        places = _places(tokens)
        key = _key(tokens, places)
        with self._lock:
            plan = self._known.get(key)
        if plan is True:
            plan = _learned(text, [tokens[place] for place in places], self._dialect, self._read, context)
            self._keep(key, plan)
        if isinstance(plan, _Plan):
            try:
                return self._run(plan, [tokens[place].text for place in places], context, limit, skip)
            except _NotKept:
                plan = None  # its names mean something else here
        if plan is None:
            self._keep(key, True)
        return None

    def _tokenizer(self) -> Any:
        found = getattr(self._readers, "tokenizer", None)
        if found is None:
            found = self._readers.tokenizer = sqlglot.Dialect.get_or_raise(self._dialect.name).tokenizer()
        return found

    def _keep(self, key: _Key, plan: _Plan | bool) -> None:
        with self._lock:
            self._known[key] = plan
            self._known.move_to_end(key)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)

    def _run(
        self, plan: _Plan, numbers: Sequence[str], context: Context, limit: int | None, skip: int
    ) -> Known | None:
        meant = _Noted(context.catalogue)
        for path, _, _ in plan.shape:
            meant.relation(path)
        if meant.shape != plan.shape:
            raise _NotKept
        found = [
            copies.stored(context.tables, meant.numbers[place], columns) for place, columns in plan.tables
        ]
        result = None
        if plan.picking is not None:
            said = dict(zip(plan.others, numbers, strict=True))
            columns = plan.tables[0][1]
            result = plan.picking.answer(
                found[0].table.arrow, columns, found[0].state, said, limit=limit, skip=skip
            )
        if result is None:
            tables = {copy.name: copy.table for copy in found}
            try:
                result = engine().run(
                    plan.sql(numbers, list(tables)),
                    tables,
                    world=context.tables.world,
                    known=True,
                    limit=limit,
                    skip=skip,
                )
            except Failed:
                return None  # what is wrong with it is said of the query as it was written
        plain = tuple(Field(self._dialect.plain(one.name), one.kind) for one in result.fields)
        return Known(replace(result, fields=plain), plan.note, meant.numbers)


def _places(tokens: Sequence[Token]) -> list[int]:
    """List the positions of tokens that are replaceable numbers."""
    kinds = [token.token_type for token in tokens]
    return [
        place
        for place, token in enumerate(tokens)
        if token.token_type is TokenType.NUMBER
        and _NUMBER.match(token.text)
        and place
        and kinds[place - 1] in _BEFORE
        and (place + 1 == len(tokens) or kinds[place + 1] in _AFTER)
    ]


def _key(tokens: Sequence[Token], places: Sequence[int]) -> _Key:
    free = set(places)
    return tuple(
        "" if place in free else f"{token.token_type.value} {token.text}"
        for place, token in enumerate(tokens)
    )


def _learned(
    text: str, numbers: Sequence[Token], dialect: Dialect, read: Reading, context: Context
) -> _Plan | bool:
    """The form of a query with these numbers in it; ``False`` if it has none that may be kept."""
    others = [str(_OTHER_NUMBERS + place) for place in range(len(numbers))]
    changed = text
    for token, other in reversed(list(zip(numbers, others, strict=True))):
        changed = changed[: token.start] + other + changed[token.end + 1 :]
    try:
        form, own = (_worked_out(one, dialect, read, context) for one in (changed, text))
    except (_NotKept, Refusal):
        return False
    marks = {other: ("number", place) for place, other in enumerate(others)}
    marks |= {name: ("table", place) for place, name in enumerate(form.names)}
    pieces = re.split("(" + "|".join(map(re.escape, marks)) + ")", form.sql) if marks else [form.sql]
    picked = picking(form.sql) if len(form.tables) == 1 and form.tables[0][1] else None
    parts = tuple(marks.get(piece, piece) for piece in pieces)
    plan = _Plan(form.shape, form.tables, parts, picked, tuple(others), form.note)
    right = (plan.shape, plan.tables, plan.note) == (own.shape, own.tables, own.note)
    if not right or plan.sql([one.text for one in numbers], own.names) != own.sql:
        return False
    return plan if engine().passes(form.sql, form.names, context.tables.world) else False


@dataclass(frozen=True)
class _WorkedOut:
    shape: _Shape
    tables: tuple[tuple[int, tuple[Column, ...]], ...]
    names: list[str]
    sql: str
    note: Any


def _worked_out(text: str, dialect: Dialect, read: Reading, context: Context) -> _WorkedOut:
    """Compile a query without computing it, as ``reading.query`` does."""
    catalogue = _Noted(context.catalogue)
    strict = replace(
        context, catalogue=catalogue, now=_asked, seed=_asked, about=_asked, counters=_Uncounted()
    )
    tree = parse_one(text, dialect)
    if not isinstance(tree, _QUERIES):
        raise _NotKept
    found = read(tree, context.catalogue)
    if found is None:
        raise _NotKept
    tree, note = found
    tree = dialect.prepare(tree, strict)
    label_columns(tree, dialect)
    resolved = resolve(tree, dialect, catalogue)
    check_functions(resolved.tree, dialect)
    columns = columns_asked(resolved, dialect)
    tables = [(resolved.stored[name].number, wanted) for name, wanted in columns.items()]
    names = [copies.stored(context.tables, number, wanted).name for number, wanted in tables]
    sql, _ = generated(resolved, dialect, strict, dict(zip(columns, names, strict=True)))
    places = tuple((catalogue.numbers.index(number), wanted) for number, wanted in tables)
    return _WorkedOut(catalogue.shape, places, names, sql, note)


class _Noted(Catalogue):
    """A catalogue that notes what is looked up in it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._found: list[tuple[Path, Stored]] = []

    @property
    def numbers(self) -> list[int]:
        """Of the tables that were found."""
        return [table.number for _, table in self._found]

    @property
    def shape(self) -> _Shape:
        """The shape that was recorded."""
        numbers = self.numbers
        return tuple((path, table.columns, numbers.index(table.number)) for path, table in self._found)

    def relation(self, path: Path) -> Relation:
        relation = self._catalogue.relation(path)
        if not isinstance(relation, Stored):
            raise _NotKept
        self._found.append((path, relation))
        return relation


class _Uncounted:
    """Counters of a query that must not count."""

    def counter(self, path: Path) -> str | None:
        raise _NotKept

    def next_of(self, name: str) -> tuple[int, int]:
        raise _NotKept

    def advance(self, name: str, to: int) -> None:
        raise _NotKept


def _asked() -> Any:
    raise _NotKept
