"""CAST and SAFE_CAST of GoogleSQL."""

from __future__ import annotations

import re

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.queries.dialects import bigquery_intervals as intervals
from mesocosm.services.queries.dialects.bigquery_functions import as_text, duck, written_time
from mesocosm.services.queries.dialects.bigquery_numbers import BIGNUMERIC, NUMERIC, operand_kinds
from mesocosm.services.queries.guards import MEASURED
from mesocosm.services.queries.numeric_models import is_number_format

_TYPE = exp.DataType.Type
_TEXTS = (_TYPE.TEXT, _TYPE.VARCHAR)
_BYTES = (_TYPE.BINARY, _TYPE.VARBINARY)
_DECIMALS = {_TYPE.DECIMAL: (38, 9), _TYPE.BIGDECIMAL: (38, 18)}
_WHOLE = (_TYPE.BIGINT, _TYPE.INT, _TYPE.SMALLINT, _TYPE.TINYINT)
_TO_WHOLE = (
    "CASE TYPEOF(:x) WHEN 'DOUBLE' THEN CAST(ROUND(TRY_CAST(:x AS DOUBLE)) AS BIGINT)"
    " WHEN 'VARCHAR' THEN COMPUTED_WHOLE(CAST(:x AS VARCHAR)) ELSE CAST(:x AS BIGINT) END"
)
_TO_BOOL = (
    "CASE TYPEOF(:x) WHEN 'VARCHAR' THEN COMPUTED_BOOL(CAST(:x AS VARCHAR)) ELSE CAST(:x AS BOOLEAN) END"
)
_OF_BYTES = {
    "HEX": "LOWER(HEX(:x))",
    "BASE64": "TO_BASE64(:x)",
    "BASE64M": "TO_BASE64(:x)",
    "BASE32": "COMPUTED_TO_BASE32(:x)",
    "UTF-8": "DECODE(:x)",
    "UTF8": "DECODE(:x)",
    "ASCII": "DECODE(:x)",
}
_TO_BYTES = {
    "HEX": "UNHEX(CAST(:x AS VARCHAR))",
    "BASE64": "FROM_BASE64(CAST(:x AS VARCHAR))",
    "BASE64M": "FROM_BASE64(CAST(:x AS VARCHAR))",
    "BASE32": "COMPUTED_FROM_BASE32(CAST(:x AS VARCHAR))",
}


def cast_of(node: exp.Expr) -> exp.Expr:
    """A CAST for DuckDB."""
    made = _made(node)
    if made is node or not isinstance(node, exp.TryCast):
        return made
    return exp.Anonymous(this="TRY", expressions=[made])


def _made(node: exp.Expr) -> exp.Expr:
    to, layout, value = node.args["to"], node.args.get("format"), node.this
    if to.this == _TYPE.INTERVAL and isinstance(value, exp.Literal) and value.is_string:
        return intervals.cast_text(value)
    if to.this in _TEXTS:
        return _to_text(node, layout)
    if to.this in _BYTES:
        name = layout.name.upper() if layout else ""
        return duck(_TO_BYTES.get(name, "ENCODE(CAST(:x AS VARCHAR))"), x=value)
    if to.this in _DECIMALS:
        return _to_decimal(node)
    if to.this in _WHOLE and not (isinstance(value, exp.Literal) and value.is_int):
        return node if set(operand_kinds(node)[:1]) & {NUMERIC, BIGNUMERIC} else _once(_TO_WHOLE, value)
    if to.this == _TYPE.BOOLEAN and not isinstance(value, exp.Boolean):
        return _once(_TO_BOOL, value)
    if to.this == _TYPE.TIMESTAMPTZ and isinstance(value, exp.Literal) and value.is_string:
        # An hour of a zone may have one digit.
        value.set("this", re.sub(r"([+-])(\d)(:\d\d)?\Z", r"\g<1>0\2\3", value.name))
    return node


def _to_text(node: exp.Expr, layout: exp.Expr | None) -> exp.Expr:
    value = node.this
    if layout is None and isinstance(value, exp.Column) and not node.meta.get(MEASURED):
        # Only when it is run is it known whether the column has bytes, which are read as UTF-8.
        told = "CASE TYPEOF(:x) WHEN 'BLOB' THEN DECODE(CAST(CAST(:x AS VARCHAR) AS BLOB)) ELSE :t END"
        return duck(told, x=value, t=as_text(value.copy()))
    if layout is None:
        return node if isinstance(value, exp.Literal) and value.is_string else as_text(value)
    pattern, zone = (
        (layout.this, layout.args["zone"]) if isinstance(layout, exp.AtTimeZone) else (layout, None)
    )
    if pattern.name.upper() in _OF_BYTES:
        return duck(_OF_BYTES[pattern.name.upper()], x=value)
    if is_number_format(pattern.name):
        return duck("COMPUTED_CAST_FORMAT(:f, CAST(:x AS VARCHAR))", f=pattern, x=value)
    written = written_time(value, pattern.name, zone)
    if written is None:
        raise Invalid(f"The format {pattern.name[:50]!r} is not provided here.", code="invalidQuery")
    return written


def _to_decimal(node: exp.Expr) -> exp.Expr:
    to = node.args["to"]
    numbers = [int(one.name) for one in to.expressions if one.name.isdecimal()]
    precision, scale = _DECIMALS[to.this]
    if numbers:
        precision, scale = min(numbers[0], 38), min(numbers[1] if len(numbers) > 1 else 0, numbers[0], 38)
    made = node.copy()
    made.set("to", exp.DataType.build(f"DECIMAL({precision},{scale})", dialect="duckdb"))
    return exp.Paren(this=made)


def _once(template: str, value: exp.Expr) -> exp.Expr:
    """A template in which ``:x`` stands several times, with a value that is computed once."""
    if isinstance(value, exp.Column | exp.Literal | exp.Null):
        return duck(template, x=value)
    return duck(
        f"LIST_EXTRACT(LIST_TRANSFORM([:x], one_value -> {template.replace(':x', 'one_value')}), 1)", x=value
    )
