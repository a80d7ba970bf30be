"""Functions of Snowflake that sqlglot reads without knowing them."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

Make = Callable[[exp.Expr], exp.Expr]


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of DuckDB."""
    return exp.Anonymous(this=name, expressions=[one.copy() if one.parent else one for one in arguments])


_FORMATS = (
    *(("YYYY", "%Y"), ("YY", "%y"), ("MMMM", "%B"), ("MON", "%b"), ("MM", "%m"), ("DD", "%d"), ("DY", "%a")),
    *(("HH24", "%H"), ("HH12", "%I"), ("HH", "%H"), ("MI", "%M"), ("SS", "%S"), ("FF3", "%g"), ("FF6", "%f")),
    *(("FF9", "%n"), ("FF", "%f"), ("AM", "%p"), ("PM", "%p"), ("TZH", "%z")),
)


def time_format(form: str) -> str:
    """Snowflake's format of a date or time as DuckDB's."""
    found, at = "", 0
    if "%" in form:  # sqlglot has put some of them into its own form by now
        return form.replace("%mi", "%M")
    while at < len(form):
        for theirs, ours in _FORMATS:
            if form[at : at + len(theirs)].upper() == theirs:
                found, at = found + ours, at + len(theirs)
                break
        else:
            found, at = found + form[at], at + 1
    return found


def _as(kind: str, *, attempt: bool = False) -> Make:
    """A conversion, perhaps by a format."""

    def make(node: exp.Expr) -> exp.Expr:
        value, *rest = node.expressions
        if rest and isinstance(rest[0], exp.Literal) and rest[0].name.upper() == "AUTO":
            rest = []
        if rest and isinstance(rest[0], exp.Literal) and rest[0].is_string:
            form = exp.Literal.string(time_format(rest[0].name))
            return exp.cast(call("try_strptime" if attempt else "strptime", value, form), kind)
        if isinstance(value.unnest(), exp.Literal) and not value.unnest().is_string:
            return exp.cast(call("to_timestamp", value), kind)
        if is_text(value) and kind in _FROM_TEXT:
            return from_text(value, kind, attempt=attempt)
        return (exp.TryCast if attempt else exp.Cast)(this=value, to=exp.DataType.build(kind))

    return make


_TEXTS = {exp.DataType.Type.VARCHAR, exp.DataType.Type.TEXT, exp.DataType.Type.CHAR}
_ISO = re.compile(r"\s*\d{4}-\d")
_FROM_TEXT = {"DATE": "computed_day", "TIMESTAMP": "computed_moment"}


def is_text(node: exp.Expr) -> bool:
    """True if a value is known to be text."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return bool(node.is_string)
    return node.type is not None and node.type.this in _TEXTS


def from_text(value: exp.Expr, kind: str, *, attempt: bool) -> exp.Expr:
    """A text as a date or a moment, in any of the forms that are recognized; ISO's is DuckDB's."""
    if isinstance(value, exp.Literal) and _ISO.match(value.name):
        return (exp.TryCast if attempt else exp.Cast)(this=value, to=exp.DataType.build(kind))
    read = exp.TryCast(this=value.copy(), to=exp.DataType.build(kind))
    made = exp.Coalesce(this=read, expressions=[call(_FROM_TEXT[kind], exp.cast(value.copy(), "TEXT"))])
    return call("TRY", made) if attempt else made


def _same(name: str) -> Make:
    return lambda node: call(name, *node.expressions)


def _number(*, attempt: bool) -> Make:
    def make(node: exp.Expr) -> exp.Expr:
        value, *rest = node.expressions
        digits = [one.name for one in rest if isinstance(one, exp.Literal) and not one.is_string]
        kind = f"DECIMAL({digits[0]},{digits[1] if len(digits) > 1 else 0})" if digits else "DECIMAL(38,0)"
        return (exp.TryCast if attempt else exp.Cast)(this=value, to=exp.DataType.build(kind))

    return make


def _strip_null(node: exp.Expr) -> exp.Expr:
    value = node.expressions[0]
    is_null = exp.EQ(this=call("json_type", value), expression=exp.Literal.string("NULL"))
    return exp.Case(ifs=[exp.If(this=is_null, true=exp.null())], default=value)


def _is(kind: str) -> Make:
    def make(node: exp.Expr) -> exp.Expr:
        found = call("json_type", node.expressions[0])
        kinds = {"INTEGER": ("UBIGINT", "BIGINT"), "DECIMAL": ("UBIGINT", "BIGINT", "DOUBLE")}.get(
            kind, (kind,)
        )
        return exp.In(this=found, expressions=[exp.Literal.string(one) for one in kinds])

    return make


def _as_type(kind: str) -> Make:
    """AS_INTEGER and its like: a VARIANT's value if it is of that type, else NULL."""
    types = {"BIGINT": ("BIGINT", "UBIGINT"), "DOUBLE": ("BIGINT", "UBIGINT", "DOUBLE")}.get(kind, (kind,))

    def make(node: exp.Expr) -> exp.Expr:
        value = node.expressions[0]
        is_one = exp.In(this=call("json_type", value), expressions=[exp.Literal.string(one) for one in types])
        found = value if kind in ("ARRAY", "OBJECT") else call("json_extract_string", value, _ROOT)
        cast = found if kind in ("ARRAY", "OBJECT", "VARCHAR") else exp.cast(found, kind)
        return exp.Case(ifs=[exp.If(this=is_one, true=cast)])

    return make


_ROOT = exp.Literal.string("$")


def _keys(name: str) -> Make:
    """OBJECT_DELETE and OBJECT_PICK: keys one by one, or in an ARRAY."""

    def make(node: exp.Expr) -> exp.Expr:
        value, *keys = node.expressions
        is_array = len(keys) == 1 and not isinstance(keys[0], exp.Literal | exp.Column)
        listed = keys[0] if is_array else call("json_array", *keys)
        return exp.cast(call(name, exp.cast(value, "TEXT"), exp.cast(listed, "TEXT")), "JSON")

    return make


NAMED: dict[str, Make] = {
    **dict.fromkeys(("AS_INTEGER",), _as_type("BIGINT")),
    **dict.fromkeys(("AS_DOUBLE", "AS_REAL"), _as_type("DOUBLE")),
    **dict.fromkeys(("AS_VARCHAR", "AS_CHAR"), _as_type("VARCHAR")),
    "SYSTEM$CANCEL_ALL_QUERIES": lambda node: exp.Literal.string("No queries to cancel."),
    "AS_BOOLEAN": _as_type("BOOLEAN"),
    "AS_ARRAY": _as_type("ARRAY"),
    "AS_OBJECT": _as_type("OBJECT"),
    "OBJECT_DELETE": _keys("computed_object_without"),
    "OBJECT_PICK": _keys("computed_object_pick"),
    "TO_TIMESTAMP": _as("TIMESTAMP"),
    "TO_TIMESTAMP_NTZ": _as("TIMESTAMP"),
    "TO_TIMESTAMP_TZ": _as("TIMESTAMPTZ"),
    "TO_TIMESTAMP_LTZ": _as("TIMESTAMPTZ"),
    "TRY_TO_TIMESTAMP": _as("TIMESTAMP", attempt=True),
    "TRY_TO_TIMESTAMP_NTZ": _as("TIMESTAMP", attempt=True),
    "TO_DATE": _as("DATE"),
    "TRY_TO_DATE": _as("DATE", attempt=True),
    "TRY_TO_DECIMAL": _number(attempt=True),
    "TRY_TO_NUMERIC": _number(attempt=True),
    "STRIP_NULL_VALUE": _strip_null,
    "IS_INTEGER": _is("INTEGER"),
    "IS_DECIMAL": _is("DECIMAL"),
    "IS_VARCHAR": _is("VARCHAR"),
    "IS_ARRAY": _is("ARRAY"),
    "IS_OBJECT": _is("OBJECT"),
    "IS_BOOLEAN": _is("BOOLEAN"),
    "RATIO_TO_REPORT": lambda node: node,
}
