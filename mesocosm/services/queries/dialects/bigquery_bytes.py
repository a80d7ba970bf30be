"""BYTES of GoogleSQL: which expressions are of this type, and functions of them.

What a value is, is told by what it is written as, and by the columns and aliases of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.dialects.bigquery_functions import duck

_MARK = "of bytes"
_MAKES = (
    *(exp.ByteString, exp.FromBase64, exp.FromBase32, exp.Unhex, exp.CodePointsToBytes),
    *(exp.MD5Digest, exp.SHA1Digest, exp.SHA2Digest),
)
_KEEPS = (
    *(
        exp.Paren,
        exp.Alias,
        exp.Reverse,
        exp.Substring,
        exp.Left,
        exp.Right,
        exp.Pad,
        exp.Repeat,
        exp.Replace,
    ),
    *(exp.Trim, exp.Upper, exp.Lower, exp.Translate, exp.DPipe, exp.Max, exp.Min, exp.AnyValue, exp.Coalesce),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.SafeFunc, exp.Nullif),
    *(exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Window, exp.Lag, exp.Lead, exp.Distinct),
)
"""Expressions that give bytes where their first part is bytes."""
_DEEPEST = 200

Rule = Callable[[exp.Expr], exp.Expr]


def mark_bytes(tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]]) -> None:
    """Mark functions whose first argument is bytes."""
    named = {one.name.lower() for table in columns.values() for one in table if one.kind == "BLOB"}
    casts = any(cast.to.this in exp.DataType.BINARY_TYPES for cast in tree.find_all(exp.Cast))
    if not named and not casts and tree.find(*_MAKES) is None:
        return
    marking = _Marking(tree, named)
    for node in tree.walk():
        if type(node) in RULES and marking.is_bytes(node.this, 0):
            node.meta[_MARK] = True


def of_bytes(node: exp.Expr) -> bool:
    """True if a function's first argument is bytes."""
    return bool(node.meta.get(_MARK))


class _Marking:
    def __init__(self, tree: exp.Expr, named: set[str]) -> None:
        self._named = named
        self._aliases: dict[str, list[exp.Expr]] = {}
        for alias in tree.find_all(exp.Alias):
            self._aliases.setdefault(alias.alias.lower(), []).append(alias.this)
        for unnest in tree.find_all(exp.Unnest):
            array, named_by = unnest.expressions[0], unnest.args.get("alias")
            names = [one.name for one in [*named_by.columns, named_by.this] if one] if named_by else []
            if isinstance(array, exp.Array) and array.expressions and names:
                self._aliases.setdefault(names[0].lower(), []).append(array.expressions[0])
        self._open: set[str] = set()

    def is_bytes(self, node: exp.Expr | None, depth: int) -> bool:
        """True if a node is known to return bytes."""
        if node is None or depth > _DEEPEST:
            return False
        if isinstance(node, exp.Cast):
            return node.to.this in exp.DataType.BINARY_TYPES
        if isinstance(node, exp.Column):
            return self._by_name(node.name.lower(), depth)
        if isinstance(node, exp.Concat):
            return bool(node.expressions) and self.is_bytes(node.expressions[0], depth + 1)
        if isinstance(node, exp.If):
            return self.is_bytes(node.args.get("true"), depth + 1)
        if isinstance(node, exp.Case):
            ways = [*(one.args.get("true") for one in node.args["ifs"]), node.args.get("default")]
            return any(self.is_bytes(one, depth + 1) for one in ways)
        if isinstance(node, _KEEPS):
            return self.is_bytes(node.this, depth + 1)
        return isinstance(node, _MAKES)

    def _by_name(self, name: str, depth: int) -> bool:
        aliases = self._aliases.get(name, ())
        if name in self._open or not aliases:
            return name in self._named
        self._open.add(name)
        try:
            return all(self.is_bytes(one, depth + 1) for one in aliases)
        finally:
            self._open.discard(name)


def _function(template: str, **names: str) -> Rule:
    """A rule with ``:x`` for the first argument and others by the names that sqlglot has for them."""

    def rule(node: exp.Expr) -> exp.Expr:
        parts = {name: node.args[key] for name, key in names.items()}
        return duck(template, x=node.this, **parts)

    return rule


def _substring(node: exp.Expr) -> exp.Expr:
    length = node.args.get("length") or exp.Literal.number(2**31)
    return duck("COMPUTED_BYTES_SUBSTRING(:x, :s, :n)", x=node.this, s=node.args["start"], n=length)


def _position(node: exp.Expr) -> exp.Expr:
    one = exp.Literal.number(1)
    return duck(
        "COMPUTED_BYTES_POSITION(:x, :y, :s, :n)",
        x=node.this,
        y=node.args["substr"],
        s=node.args.get("position") or one,
        n=node.args.get("occurrence") or one.copy(),
    )


def _trim(node: exp.Expr) -> exp.Expr:
    if node.args.get("expression") is None:
        return node  # which the product has not, either
    where = exp.Literal.string(str(node.args.get("position") or ""))
    return duck("COMPUTED_BYTES_TRIM(:x, :y, :w)", x=node.this, y=node.expression, w=where)


def _pad(node: exp.Expr) -> exp.Expr:
    """Two digits each."""
    name = "LPAD" if node.args.get("is_left") else "RPAD"
    filled = "HEX(:p)" if node.args.get("fill_pattern") else "'20'"
    parts = {"p": node.args["fill_pattern"]} if node.args.get("fill_pattern") else {}
    return duck(
        f"UNHEX({name}(HEX(:x), CAST(2 * :n AS INT), {filled}))", x=node.this, n=node.expression, **parts
    )


RULES: dict[type[exp.Expr], Rule] = {
    exp.Reverse: _function("COMPUTED_BYTES_REVERSE(:x)"),
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.StartsWith: _function("COMPUTED_BYTES_STARTS(:x, :y)", y="expression"),
    exp.EndsWith: _function("COMPUTED_BYTES_ENDS(:x, :y)", y="expression"),
    exp.Replace: _function("COMPUTED_BYTES_REPLACE(:x, :y, :z)", y="expression", z="replacement"),
    exp.Trim: _trim,
    exp.Upper: _function("COMPUTED_BYTES_UPPER(:x)"),
    exp.Lower: _function("COMPUTED_BYTES_LOWER(:x)"),
    exp.Split: _function("COMPUTED_BYTES_SPLIT(:x, :y)", y="expression"),
    exp.Translate: _function("COMPUTED_BYTES_TRANSLATE(:x, :y, :z)", y="from_", z="to"),
    exp.ToCodePoints: _function("COMPUTED_BYTES_CODES(:x)"),
    exp.Left: _function("ARRAY_SLICE(:x, 1, :n)", n="expression"),
    exp.Right: _function(
        "CASE WHEN :n = 0 THEN ARRAY_SLICE(:x, 1, 0) ELSE ARRAY_SLICE(:x, -:n, -1) END", n="expression"
    ),
    exp.Pad: _pad,
    exp.BitwiseAnd: _function("COMPUTED_BYTES_COMBINE(:x, :y, '&')", y="expression"),
    exp.BitwiseOr: _function("COMPUTED_BYTES_COMBINE(:x, :y, '|')", y="expression"),
    exp.BitwiseXor: _function("COMPUTED_BYTES_COMBINE(:x, :y, '^')", y="expression"),
    exp.BitwiseNot: _function("COMPUTED_BYTES_NOT(:x)"),
    exp.BitwiseLeftShift: _function("COMPUTED_BYTES_SHIFT(:x, :n, '<')", n="expression"),
    exp.BitwiseRightShift: _function("COMPUTED_BYTES_SHIFT(:x, :n, '>')", n="expression"),
    exp.BitwiseCount: _function("COMPUTED_BYTES_COUNT(:x)"),
}
"""Functions of bytes, by what sqlglot reads their names as."""
