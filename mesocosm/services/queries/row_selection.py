"""Queries that only pick rows and columns of one table: answered from its columns, without DuckDB.

What such a query asks is read from the text that DuckDB would be given, and only what is known here is
accepted: plain columns; conditions joined by AND that compare a column with a number, a text or a day; an
order by a column whose values rise from row to row, so that the order is that of the rows; LIMIT and
OFFSET. DuckDB computes on the same columns, in one thread and so in the order of the rows, and compares whole
numbers, decimals, days and texts exactly, as Arrow does. Whatever is of another sort, or large, is DuckDB's.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import sqlglot
from sqlglot import exp

from mesocosm.services.queries.catalogue import Column, Field, Result
from mesocosm.services.queries.dialect import MEANINGLESS

_MOST = 5_000
"""Rows that are picked here; more are DuckDB's, which watches the deadline and the memory."""
_KEPT = 1_000
"""Columns of which is kept whether they rise."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")
_ALIKE = {
    "BIGINT": pa.int64(),
    "HUGEINT": pa.int64(),
    "INTEGER": pa.int32(),
    "VARCHAR": pa.string(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", "UTC"),
    "TIMESTAMPTZ": pa.timestamp("us", "UTC"),
}
"""Types whose values Arrow gives to Python as DuckDB does, and what they are in Arrow."""
_SAID = {"HUGEINT": "BIGINT", "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}
"""What DuckDB calls a type in a result, where that is not its name here."""
_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
_COMPARED: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.EQ: compute.equal,
    exp.LT: compute.less,
    exp.GT: compute.greater,
    exp.LTE: compute.less_equal,
    exp.GTE: compute.greater_equal,
}
_ALLOWED = {"expressions", "from_", "where", "order", "limit", "offset", "kind", "operation_modifiers"}


class _Otherwise(Exception):
    """The query does more than picking."""


@dataclass(frozen=True)
class _Condition:
    column: str
    sign: type[exp.Expr]
    value: str
    """As it stands in the text; of a number, perhaps one of those that differ."""
    sort: str
    """``number``, ``text`` or ``day``."""


@dataclass(frozen=True)
class Picking:
    """A query that picks rows of one table. Numbers are as they stand in the text that it was read from."""

    columns: tuple[str, ...] | None
    """Their names; ``None`` for all."""
    names: tuple[str, ...]
    """What they are called in the result."""
    conditions: tuple[_Condition, ...]
    order: str | None
    falling: bool
    limit: str | None
    offset: str | None

    def answer(
        self,
        arrow: Any,
        columns: Sequence[Column],
        state: str,
        numbers: dict[str, str],
        *,
        limit: int | None,
        skip: int,
    ) -> Result | None:
        """The rows, from ``skip`` on and at most ``limit``; ``None`` if DuckDB has to tell.

        ``columns``: those of the Arrow table, in their order. ``state``: what identifies its rows.
        ``numbers``: what stands in the place of those of the text.
        """
        kinds = {column.name: column for column in columns}
        if not {*(self.columns or ()), *(one.column for one in self.conditions), *self._by} <= set(kinds):
            return None
        wanted = [kinds[name] for name in self.columns] if self.columns is not None else list(columns)
        if any(_alike(column.kind) != arrow.column(column.name).type for column in wanted):
            return None
        if self.order is not None and not _rises(arrow, kinds[self.order], state):
            return None
        try:
            found = self._kept(arrow, kinds, state, numbers)
            if found is None:
                return None
            start, rows = _said(self.offset, numbers) or 0, len(found)
            most = _said(self.limit, numbers)
        except (ArithmeticError, ValueError, pa.ArrowException):
            return None  # such as a number that the column's type does not hold
        end = rows if most is None else min(rows, start + most)
        total = max(0, end - start)
        first, last = min(start + skip, end), end if limit is None else min(start + skip + limit, end)
        if last - first > _MOST:
            return None
        if self.falling:
            first, last = rows - last, rows - first
        part = found.slice(first, max(0, last - first)).select([column.name for column in wanted])
        try:
            values = [column.to_pylist() for column in part.columns]
        except (ValueError, OverflowError):
            return None  # a moment that Python does not know
        told = list(zip(*values, strict=True))
        if self.falling:
            told.reverse()
        names = self.names if self.columns is not None else [column.name for column in wanted]
        fields = tuple(
            Field(name, _SAID.get(column.kind, column.kind))
            for name, column in zip(names, wanted, strict=True)
        )
        return Result(fields, told, more=total > skip + len(told), total=total)

    @property
    def _by(self) -> tuple[str, ...]:
        return () if self.order is None else (self.order,)

    def _kept(self, arrow: Any, kinds: dict[str, Column], state: str, numbers: dict[str, str]) -> Any | None:
        """The rows that meet the conditions."""
        found, masks = arrow, []
        for one in self.conditions:
            column, kind = arrow.column(one.column), kinds[one.column]
            value = _value(one, column.type, numbers)
            if pa.types.is_int64(column.type) and _rises(arrow, kind, state):
                first, last = _range(found.column(one.column), one.sign, value.as_py())
                found = found.slice(first, max(0, last - first))
            else:
                masks.append((one.column, one.sign, value))
        for name, sign, value in masks:
            mask = _COMPARED[sign](found.column(name), value)
            if (compute.sum(mask).as_py() or 0) > _MOST:
                return None
            found = found.filter(mask)
        return found


def picking(sql: str) -> Picking | None:
    """Recognise a query that picks rows of one table; ``None`` if it does more."""
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
        return _picking(tree)
    except (*MEANINGLESS, _Otherwise):
        return None


def _picking(tree: exp.Expr) -> Picking:
    if not isinstance(tree, exp.Select):
        raise _Otherwise
    if any(value for name, value in tree.args.items() if name not in _ALLOWED) or tree.args.get("kind"):
        raise _Otherwise
    source = tree.args.get("from_")
    table = source.this if isinstance(source, exp.From) else None
    if not isinstance(table, exp.Table) or set(_given(table)) - {"this", "alias"}:
        raise _Otherwise
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise _Otherwise
    known = table.alias_or_name

    def column(node: Any) -> str:
        if not isinstance(node, exp.Column) or set(_given(node)) - {"this", "table"}:
            raise _Otherwise
        if not isinstance(node.this, exp.Identifier) or (node.table and node.table != known):
            raise _Otherwise
        return str(node.name)

    columns, names = _projected(tree.expressions, column)
    where, order = tree.args.get("where"), tree.args.get("order")
    conditions = tuple(_conditions(where.this, column)) if where is not None else ()
    by, falling = None, False
    if order is not None:
        first = order.expressions[0]
        if not isinstance(first, exp.Ordered):
            raise _Otherwise
        by, falling = column(first.this), bool(first.args.get("desc"))
        for name, called in zip(columns or (), names, strict=False):
            if called.lower() == by.lower() and name != by:
                raise _Otherwise  # it is by what is called so
        for further in order.expressions[1:]:
            column(further.this)  # which tells nothing, as the first are all different
    return Picking(columns, names, conditions, by, falling, _number(tree, "limit"), _number(tree, "offset"))


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value]


def _projected(
    expressions: Sequence[exp.Expr], column: Callable[[Any], str]
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    if len(expressions) == 1 and isinstance(expressions[0], exp.Star) and not _given(expressions[0]):
        return None, ()
    pairs = []
    for one in expressions:
        if isinstance(one, exp.Alias):
            pairs.append((column(one.this), one.alias))
        else:
            pairs.append((column(one), column(one)))
    names = tuple(name for _, name in pairs)
    if len({name.lower() for name in names}) < len(names):
        raise _Otherwise
    return tuple(name for name, _ in pairs), names


def _conditions(node: exp.Expr, column: Callable[[Any], str]) -> list[_Condition]:
    if isinstance(node, exp.Paren):
        return _conditions(node.this, column)
    if isinstance(node, exp.And):
        return _conditions(node.this, column) + _conditions(node.expression, column)
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        name = column(node.this)
        return [
            _Condition(name, exp.GTE, *_literal(node.args["low"])),
            _Condition(name, exp.LTE, *_literal(node.args["high"])),
        ]
    sign = type(node)
    if sign not in _FLIPPED:
        raise _Otherwise
    if isinstance(node.this, exp.Column):
        return [_Condition(column(node.this), sign, *_literal(node.expression))]
    return [_Condition(column(node.expression), _FLIPPED[sign], *_literal(node.this))]


def _literal(node: exp.Expr) -> tuple[str, str]:
    """A value that is said, and its sort."""
    inner = node.this if type(node) in (exp.Cast, exp.Neg) else node
    if isinstance(inner, exp.Literal):
        if inner is node:
            return inner.this, "text" if inner.is_string else "number"
        if isinstance(node, exp.Cast) and inner.is_string and node.to.sql("duckdb") == "DATE":
            return inner.this, "day"
        if isinstance(node, exp.Neg) and not inner.is_string:
            return f"-{inner.this}", "number"
    raise _Otherwise


def _number(tree: exp.Select, name: str) -> str | None:
    node = tree.args.get(name)
    if node is None:
        return None
    said = node.expression
    if not isinstance(said, exp.Literal) or said.is_string or not said.this.isdecimal():
        raise _Otherwise
    return str(said.this)


def _said(text: str | None, numbers: dict[str, str]) -> int | None:
    return None if text is None else int(numbers.get(text, text))


def _value(condition: _Condition, kind: Any, numbers: dict[str, str]) -> Any:
    """Return the value that a column is compared with. Raises ``ValueError`` where DuckDB would convert it
    otherwise.
    """
    text = condition.value
    if condition.sort == "number":
        text = numbers.get(text, text)
        if pa.types.is_int64(kind):
            return pa.scalar(int(text), kind)
        if pa.types.is_decimal(kind) and not set(text) & set("eE"):
            return pa.scalar(Decimal(text), kind)
    elif pa.types.is_date32(kind) and _DAY.match(text):
        return pa.scalar(date.fromisoformat(text), kind)
    elif pa.types.is_string(kind) and condition.sort == "text" and condition.sign is exp.EQ:
        return pa.scalar(text, kind)
    raise ValueError(text)


def _alike(kind: str) -> Any:
    if kind.startswith("DECIMAL("):
        precision, scale = kind[8:-1].split(",")
        return pa.decimal128(int(precision), int(scale))
    return _ALIKE.get(kind)


def _range(column: Any, sign: type[exp.Expr], value: int) -> tuple[int, int]:
    """Of a column that rises: the first row that meets a condition, and the one after the last."""

    def first(meets: Callable[[int], bool]) -> int:
        low, high = 0, len(column)
        while low < high:
            middle = (low + high) // 2
            if meets(column[middle].as_py()):
                high = middle
            else:
                low = middle + 1
        return low

    from_, beyond = first(lambda one: one >= value), first(lambda one: one > value)
    if sign is exp.EQ:
        return from_, beyond
    if sign in (exp.LT, exp.LTE):
        return 0, from_ if sign is exp.LT else beyond
    return beyond if sign is exp.GT else from_, len(column)


_known: OrderedDict[tuple[str, str, str], bool] = OrderedDict()
_lock = threading.Lock()


def _rises(arrow: Any, column: Column, state: str) -> bool:
    """True if a column holds strictly increasing integers."""
    key = (state, column.stored, column.kind)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    values = arrow.column(column.name)
    rises = pa.types.is_int64(values.type) and values.null_count == 0 and _each_larger(values)
    with _lock:
        _known[key] = rises
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return rises


def _each_larger(values: Any) -> bool:
    before = None
    for chunk in values.chunks:
        if len(chunk) == 0:
            continue
        if before is not None and chunk[0].as_py() <= before:
            return False
        if len(chunk) > 1 and not compute.all(compute.greater(chunk[1:], chunk[:-1])).as_py():
            return False
        before = chunk[-1].as_py()
    return True
