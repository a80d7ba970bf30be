"""CAST and SAFE_CAST of GoogleSQL.

Sqlglot makes the same of ``CAST(x AS TIME FORMAT f)`` as of DATETIME and TIMESTAMP, so each becomes a call of
the function that reads such a text before it is parsed (``reading``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from mesocosm.errors import Invalid
from mesocosm.services.queries.dialects import bigquery_intervals as intervals
from mesocosm.services.queries.dialects.bigquery_functions import WRITTEN, as_text, duck, written_time
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


# -- texts that are read by a FORMAT, as tokens -------------------------------------------------------------

_READERS = {
    "DATE": "PARSE_DATE",
    "TIME": "PARSE_TIME",
    "DATETIME": "PARSE_DATETIME",
    "TIMESTAMP": "PARSE_TIMESTAMP",
}
_READ = {name: code for name, code in WRITTEN.items() if name not in ("DDD", "DAY", "DY", "SS")} | {
    **dict.fromkeys(("A.M.", "P.M."), "%p"),
    "TZH:TZM": "%Ez",
    "TZH": "%z",
}
"""Elements of the format of a text that is read."""
_ELEMENT = re.compile(
    r"(?P<seconds>SS\.FF\d?)|(?P<whole>SS(?!SSS))|(?P<name>"
    + "|".join(re.escape(name) for name in _READ)
    + r')|"(?P<text>[^"]*)"|(?P<sign>[-./,\';: ])',
    re.IGNORECASE,
)
_WITH_DOTS = re.compile(r"[AP]\.M\.", re.IGNORECASE)


def reading(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a text, with the function that reads a text in the place of such a CAST."""
    made = list(tokens)
    # From the last to the first: what stands inside a CAST is done before it is.
    for place in range(len(made) - 1, -1, -1):
        if made[place].text.upper() in ("CAST", "SAFE_CAST") and _is(made, place + 1, TokenType.L_PAREN):
            made[place:] = _cast_tokens(made[place:])
    return made


def _cast_tokens(tokens: list[Token]) -> list[Token]:
    """A CAST, and what comes after it."""
    depth, parts = 0, {}
    for place, token in enumerate(tokens):
        if token.token_type == TokenType.L_PAREN:
            depth += 1
        elif token.token_type == TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                parts["end"] = place
                break
        elif depth == 1 and token.token_type == TokenType.ALIAS:
            parts["as"] = place
    start, end = parts.get("as", 0), parts.get("end", 0)
    kind = tokens[start + 1].text.upper() if start and end > start + 3 else ""
    if kind not in _READERS or tokens[start + 2].text.upper() != "FORMAT":
        return tokens
    pattern = tokens[start + 3]
    if pattern.token_type != TokenType.STRING:
        return tokens
    value, zone = tokens[2:start], tokens[start + 4 : end]
    if zone and [token.text.upper() for token in zone[:3]] == ["AT", "TIME", "ZONE"]:
        zone = zone[3:]

    make = partial(_token, pattern)
    comma = make(TokenType.COMMA, ",")
    opening = [make(TokenType.VAR, "SAFE"), make(TokenType.DOT, ".")] if _is_safe(tokens[0]) else []
    opening += [make(TokenType.VAR, _READERS[kind]), tokens[1]]
    if _WITH_DOTS.search(pattern.text):
        # P.M. as PM
        read = [make(TokenType.STRING, r"(?i)([AP])\.(M)\."), comma, make(TokenType.STRING, r"\1\2")]
        value = [make(TokenType.VAR, "REGEXP_REPLACE"), tokens[1], *value, comma, *read, tokens[end]]
    rest = [comma, *zone] if zone else []
    return [*opening, make(TokenType.STRING, _shape(pattern.text)), comma, *value, *rest, *tokens[end:]]


def _token(near: Token, sort: TokenType, text: str) -> Token:
    return Token(sort, text, near.line, near.col, near.start, near.end)


def _is_safe(token: Token) -> bool:
    return token.text.upper() == "SAFE_CAST"


def _shape(pattern: str) -> str:
    """Elements of a format as PARSE_TIMESTAMP and its like have them."""
    made, at = [], 0
    while at < len(pattern):
        found = _ELEMENT.match(pattern, at)
        if found is None:
            raise Invalid(f"The format {pattern[:50]!r} is not provided here.", code="invalidQuery")
        at = found.end()
        if found["name"]:
            made.append(_READ[found["name"].upper()])
        elif found["seconds"] or found["whole"]:
            made.append("%E*S" if found["seconds"] else "%S")
        else:
            made.append((found["text"] if found["text"] is not None else found["sign"]).replace("%", "%%"))
    return "".join(made)


def _is(tokens: Sequence[Token], place: int, sort: TokenType) -> bool:
    return place < len(tokens) and tokens[place].token_type == sort
