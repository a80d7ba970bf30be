"""Functions of Snowflake that sqlglot reads without knowing them."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

Make = Callable[[exp.Expr], exp.Expr]


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of DuckDB."""
    return exp.Anonymous(this=name, expressions=[one.copy() if one.parent else one for one in arguments])


def _as(kind: str, *, attempt: bool = False) -> Make:
    """A conversion, perhaps by a format."""

    def make(node: exp.Expr) -> exp.Expr:
        value, *rest = node.expressions
        if rest and isinstance(rest[0], exp.Literal) and rest[0].is_string:
            from mesocosm.services.queries.dialects.snowflake_rewriting import time_format

            form = exp.Literal.string(time_format(rest[0].name))
            return exp.cast(call("try_strptime" if attempt else "strptime", value, form), kind)
        if isinstance(value.unnest(), exp.Literal) and not value.unnest().is_string:
            return exp.cast(call("to_timestamp", value), kind)
        return (exp.TryCast if attempt else exp.Cast)(this=value, to=exp.DataType.build(kind))

    return make


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


NAMED: dict[str, Make] = {
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
    "ERROR": lambda node: exp.Anonymous(this="error", expressions=node.expressions),
    "RATIO_TO_REPORT": lambda node: node,
}
