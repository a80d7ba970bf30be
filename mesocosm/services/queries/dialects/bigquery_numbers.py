"""NUMERIC and BIGNUMERIC of GoogleSQL: which expressions are of these types, and what is computed of them.

DuckDB divides decimals as doubles and lets products have the digits of both. What a value is, is told by
what it is written as, and by the columns of its name; where nobody knows, DuckDB decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.dialects.bigquery_functions import duck

NUMERIC, BIGNUMERIC, WHOLE, FLOAT = "NUMERIC", "BIGNUMERIC", "INT64", "FLOAT64"
SCALES = {NUMERIC: 9, BIGNUMERIC: 18}
_KIND = "number"
"""Under which a node has the kind of number that it is."""
_OPERANDS = "operands"
"""Under which it has those of its parts, which may be others by the time that it is rewritten."""
_TYPES = {
    exp.DataType.Type.DECIMAL: NUMERIC,
    exp.DataType.Type.BIGDECIMAL: BIGNUMERIC,
    exp.DataType.Type.BIGINT: WHOLE,
    exp.DataType.Type.INT: WHOLE,
    exp.DataType.Type.DOUBLE: FLOAT,
    exp.DataType.Type.FLOAT: FLOAT,
}
_SAME = (
    *(exp.Paren, exp.Neg, exp.Sum, exp.Min, exp.Max, exp.AnyValue, exp.Abs, exp.Nullif, exp.Window),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.IgnoreNulls, exp.RespectNulls),
    *(exp.SafeNegate, exp.Distinct, exp.Alias, exp.SafeFunc, exp.Sign),
)
"""Expressions that give a number of their first part's kind."""
_MIXED = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply),
    *(exp.Coalesce, exp.Greatest, exp.Least),
)
_ROUNDED = (exp.Round, exp.Trunc, exp.Ceil, exp.Floor)
_ROOTS = (exp.Sqrt, exp.Exp, exp.Ln, exp.Log, exp.Pow, exp.Cbrt)
_WHOLE = (exp.Count, exp.CountIf, exp.Length, exp.RowNumber, exp.UnixSeconds, exp.Extract)
_NEEDED = (exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL)
_COMPUTES = (exp.Mul, exp.IntDiv, exp.Cast, *_ROUNDED)
_DEEPEST = 200
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)\Z")
_FIELD = re.compile(r'"?([A-Za-z_]\w*)"? (DECIMAL\(\d+,\s*\d+\)|BIGINT|DOUBLE|[A-Z]\w*)')


def mark_numbers(tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]]) -> None:
    """Mark numeric nodes with the kind of their numbers."""
    if tree.find(*_ROUNDED, exp.ParseNumeric, exp.ParseBignumeric) or _has_decimals(tree, columns):
        _Marking(tree, columns).run()


def _has_decimals(tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]]) -> bool:
    return any("DECIMAL" in one.kind for table in columns.values() for one in table) or any(
        cast.to.this in _NEEDED for cast in tree.find_all(exp.Cast)
    )


def number_kind(node: exp.Expr) -> str | None:
    """The kind of number that a node gives, as far as that is known."""
    found = node.meta.get(_KIND)
    return str(found) if found else None


def operand_kinds(node: exp.Expr) -> tuple[str | None, ...]:
    """Those of its parts."""
    return tuple(node.meta.get(_OPERANDS, ()))


class _Marking:
    def __init__(self, tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]]) -> None:
        self._tree = tree
        self._tables = columns
        self._named: dict[str, set[str]] = {}
        for table in columns.values():
            for one in table:
                self._note(one.name, one.kind)
        self._aliases: dict[str, list[exp.Expr]] = {}
        for alias in tree.find_all(exp.Alias):
            self._aliases.setdefault(alias.alias.lower(), []).append(alias.this)
        for unnest in tree.find_all(exp.Unnest):
            self._note_elements(unnest)
        self._open: set[str] = set()
        self._known: dict[int, str | None] = {}

    def _note(self, name: str, kind: str) -> None:
        self._named.setdefault(name.lower(), set()).add(_of_kind(kind))
        for field, inner in _FIELD.findall(kind) if "STRUCT" in kind else ():
            self._named.setdefault(field.lower(), set()).add(_of_kind(inner))

    def _note_elements(self, unnest: exp.Unnest) -> None:
        named = unnest.args.get("alias")
        names = [one.name for one in [*named.columns, named.this] if one] if named else []
        array = unnest.expressions[0]
        if isinstance(array, exp.Array) and array.expressions:
            for name in names[:1]:
                self._aliases.setdefault(name.lower(), []).append(array.expressions[0])
        for one in (one for table in self._tables.values() for one in table):
            if one.name.lower() == array.name.lower() and one.kind.endswith("[]"):
                for name in names[:1]:
                    self._note(name, one.kind.removesuffix("[]"))

    def run(self) -> None:
        for node in self._tree.walk():
            kind = self.kind(node, 0)
            if kind is not None:
                node.meta[_KIND] = kind
            if isinstance(node, _COMPUTES):
                node.meta[_OPERANDS] = tuple(self.kind(one, 0) for one in _parts(node))

    def kind(self, node: exp.Expr | None, depth: int) -> str | None:
        """Return the numeric type of a node, ``""`` for another type, or ``None`` if it is unknown."""
        if node is None or depth > _DEEPEST:
            return None
        if id(node) not in self._known:
            self._known[id(node)] = self._kind(node, depth + 1)
        return self._known[id(node)]

    def _kind(self, node: exp.Expr, depth: int) -> str | None:
        if isinstance(node, exp.Cast):
            return _TYPES.get(node.to.this, "")
        if isinstance(node, exp.Literal):
            return "" if node.is_string else FLOAT if set(".eE") & set(node.name) else WHOLE
        if isinstance(node, exp.Column):
            return self._column(node, depth)
        if isinstance(node, exp.Dot):
            return self._by_name(node.name, depth)
        if isinstance(node, exp.ParseNumeric):
            return NUMERIC
        if isinstance(node, exp.ParseBignumeric):
            return BIGNUMERIC
        if isinstance(node, _SAME):
            return self.kind(node.this, depth)
        if isinstance(node, _MIXED):
            return _wider(self.kind(one, depth) for one in _parts(node))
        if isinstance(node, exp.Div | exp.SafeDivide):
            found = _wider(self.kind(one, depth) for one in _parts(node))
            return FLOAT if found == WHOLE else found
        if isinstance(node, _ROUNDED):
            found = self.kind(node.this, depth)
            return FLOAT if found == WHOLE else found
        if isinstance(node, exp.Avg):
            found = self.kind(node.this, depth)
            return FLOAT if found == WHOLE else found
        if isinstance(node, _ROOTS):
            found = _wider(self.kind(one, depth) for one in _parts(node))
            return FLOAT if found == WHOLE else found
        if isinstance(node, exp.If):
            return _wider(
                self.kind(one, depth) for one in (node.args.get("true"), node.args.get("false")) if one
            )
        if isinstance(node, exp.Case):
            values = [one.args["true"] for one in node.args["ifs"]]
            values += [node.args["default"]] if node.args.get("default") else []
            return _wider(self.kind(one, depth) for one in values)
        if isinstance(node, exp.IntDiv):
            return _wider(self.kind(one, depth) for one in _parts(node))
        if isinstance(node, exp.Null):
            return "NULL"
        if isinstance(node, _WHOLE):
            return WHOLE
        if isinstance(node, exp.Subquery | exp.Select):
            inner = node.unnest()
            shown = inner.selects if isinstance(inner, exp.Select) else []
            return self.kind(shown[0], depth) if len(shown) == 1 else None
        return None

    def _column(self, node: exp.Column, depth: int) -> str | None:
        name = node.name.lower()
        table = self._tables.get(node.table) if node.table else None
        for one in table or ():
            if one.name.lower() == name:
                return _of_kind(one.kind)
        return self._by_name(name, depth)

    def _by_name(self, name: str, depth: int) -> str | None:
        name = name.lower()
        kinds: set[str | None] = set(self._named.get(name, ()))
        if name not in self._open:
            self._open.add(name)
            kinds |= {self.kind(one, depth) for one in self._aliases.get(name, ())}
            self._open.discard(name)
        return kinds.pop() if len(kinds) == 1 else None


def _parts(node: exp.Expr) -> Iterable[exp.Expr]:
    parts = [node.this, node.args.get("expression"), *node.expressions]
    return [one for one in parts if isinstance(one, exp.Expr)]


def _wider(kinds: Iterable[str | None]) -> str | None:
    """The kind of what is computed of numbers of these kinds."""
    found = {one for one in kinds if one != "NULL"}
    if None in found or "" in found:
        return None
    for one in (FLOAT, BIGNUMERIC, NUMERIC, WHOLE):
        if one in found:
            return one
    return "NULL"


def _of_kind(kind: str) -> str:
    if found := _DECIMAL.match(kind):
        return BIGNUMERIC if int(found[1]) > SCALES[NUMERIC] else NUMERIC
    return {"BIGINT": WHOLE, "DOUBLE": FLOAT}.get(kind, "")


# -- what is computed ---------------------------------------------------------------------------------------


def as_decimal(node: exp.Expr, kind: str) -> exp.Expr:
    """A value as a number of this kind."""
    return exp.cast(node, f"DECIMAL(38,{SCALES[kind]})", dialect="duckdb")


def product(node: exp.Expr) -> exp.Expr:
    """A product, with no more digits behind its point than its type has."""
    kind = number_kind(node)
    if kind == NUMERIC and set(operand_kinds(node)) == {NUMERIC}:
        return as_decimal(exp.Paren(this=node.copy()), NUMERIC)
    if kind == BIGNUMERIC:
        made = duck(
            "COMPUTED_MULTIPLY(CAST(:x AS VARCHAR), CAST(:y AS VARCHAR), 18)", x=node.this, y=node.expression
        )
        return as_decimal(made, BIGNUMERIC)
    return node


def quotient(value: exp.Expr, divisor: exp.Expr, kind: str) -> exp.Expr:
    """A quotient of decimals, every digit of it right; the divisor is not 0."""
    made = duck(
        f"COMPUTED_DIVIDE(CAST(:x AS VARCHAR), CAST(:y AS VARCHAR), {SCALES[kind]})", x=value, y=divisor
    )
    return as_decimal(made, kind)


def whole_quotient(node: exp.Expr) -> exp.Expr:
    """DIV of decimals."""
    kind = number_kind(node)
    if kind not in SCALES:
        return node
    rest = duck(":x - :x % :y", x=node.this, y=node.expression)
    zero = "CASE WHEN :y = 0 THEN CAST(ERROR('division by zero') AS BIGINT) ELSE :y END"
    return quotient(rest, duck(zero, y=node.expression), kind)


def mean(node: exp.Expr) -> exp.Expr:
    """AVG of decimals, alone or over a window."""
    asked = node.this if isinstance(node, exp.Window) else node
    if isinstance(node.parent, exp.Window) and asked is node:
        return node
    kind = number_kind(asked)
    if not isinstance(asked, exp.Avg) or kind not in SCALES:
        return node
    total, count = exp.Sum(this=asked.this.copy()), exp.Count(this=asked.this.copy())
    if isinstance(node, exp.Window):
        sums, counts = node.copy(), node.copy()
        sums.set("this", total)
        counts.set("this", count)
        return quotient(sums, exp.func("NULLIF", counts, exp.Literal.number(0)), kind)
    return quotient(total, exp.func("NULLIF", count, exp.Literal.number(0)), kind)


def rounded(node: exp.Expr) -> exp.Expr:
    """ROUND, TRUNC, CEIL and FLOOR: of whole numbers a FLOAT64, of decimals a decimal, in two modes."""
    kind = number_kind(node)
    if isinstance(node, exp.Round) and (mode := node.args.get("truncate")) is not None:
        if kind not in SCALES:
            types = f"{operand_kinds(node)[0] or 'FLOAT64'}, INT64, STRING"
            raise Invalid(
                f"No matching signature for function ROUND for argument types: {types}", code="invalidQuery"
            )
        how = "even" if mode.name.upper() == "ROUND_HALF_EVEN" else "up"
        made = duck(
            f"COMPUTED_ROUND(CAST(:x AS VARCHAR), :n, '{how}')",
            x=node.this,
            n=node.args.get("decimals") or exp.Literal.number(0),
        )
        return as_decimal(made, kind)
    if operand_kinds(node)[:1] == (WHOLE,):
        return exp.cast(node.copy(), "DOUBLE", dialect="duckdb")
    return node


_NEGATIVE: dict[type[exp.Expr], tuple[str, str]] = {exp.Sqrt: ("SQRT", "<"), exp.Ln: ("LN", "<=")}


def root(node: exp.Expr) -> exp.Expr:
    """SQRT, POW, EXP, LN and LOG: of decimals a decimal, and no number that is none."""
    kind = number_kind(node)
    made: exp.Expr = node
    name, sign = _NEGATIVE.get(type(node), ("", ""))
    if name and not isinstance(node.this, exp.Literal):
        refused = f"COMPUTED_REFUSED('Invalid argument to {name}', CAST(:x AS VARCHAR))"
        made = duck(f"CASE WHEN :x {sign} 0 THEN {refused} ELSE {name}(:x) END", x=node.this)
    elif name and float(node.this.name) == 0 and sign == "<=":
        raise Invalid(f"Invalid argument to {name}: 0", code="invalidQuery")
    if kind not in SCALES:
        return made
    return as_decimal(made.copy() if made is node else made, kind)
