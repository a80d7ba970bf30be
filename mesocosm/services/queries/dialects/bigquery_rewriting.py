"""What GoogleSQL needs besides what sqlglot does to become DuckDB's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from sqlglot import exp

from mesocosm.services.queries.dialect import Context, Dialect
from mesocosm.services.queries.dialects.bigquery_functions import (
    NAMED,
    as_text,
    day_of,
    duck,
    extracted,
    formatted,
    instr,
    literal_time,
    moment_of,
    read_time,
    shown_time,
    time_trunc,
    whole_units,
)

_SUFFIX = "_TABLE_SUFFIX"
_NUMBERS = (exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL)


def prepared(tree: exp.Expr, dialect: Dialect) -> exp.Expr:
    """The statement before its names are looked up, without what ``*`` does not show of wildcard tables."""
    if tree.find(exp.TableSample, exp.Version):
        raise dialect.unsupported("TABLESAMPLE and FOR SYSTEM_TIME")
    if isinstance(tree, exp.Select) and tree.args.get("kind") == "STRUCT":
        tree.set("kind", None)  # at the outside: the columns are those of the struct
    tables = {(table.db, table.name) for table in tree.find_all(exp.Table)}
    for column in list(tree.find_all(exp.Column)):
        if column.args.get("db") and (column.db, column.table) not in tables:
            _open_up(column)
    for select in list(tree.find_all(exp.Select)):
        origin = select.args.get("from_")
        if origin is None or not _is_wildcard(origin.this):
            continue
        for star in select.expressions:
            if isinstance(star, exp.Star):
                left_out = [*(star.args.get("except_") or []), exp.to_identifier(_SUFFIX)]
                star.set("except_", left_out)
    return tree


def _open_up(column: exp.Column) -> None:
    """``a.b.c`` that is no table's column: fields in a column, which itself may bear its table."""
    parts = [column.args[key] for key in ("catalog", "db", "table", "this") if column.args.get(key)]
    made: exp.Expr = exp.Column(this=parts[1].copy(), table=parts[0].copy())
    for part in parts[2:]:
        made = exp.Dot(this=made, expression=part.copy())
    column.replace(made)


def _is_wildcard(table: exp.Expr) -> bool:
    return isinstance(table, exp.Table) and table.name.endswith("*")


def rewritten(tree: exp.Expr, context: Context) -> exp.Expr:
    """The statement for DuckDB."""
    numbers = count()
    # What is inside comes first: what a rule makes of it is not looked at again.
    for node in reversed(list(tree.walk())):
        if isinstance(node, exp.Unnest) and isinstance(node.parent, exp.From | exp.Join):
            _spread(node, next(numbers))
            continue
        made = _rewrite(node, context)
        if made is not node:
            if node is tree:
                tree = made
            else:
                node.replace(made)
    return tree


def _rewrite(node: exp.Expr, context: Context) -> exp.Expr:
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(node)
    moment = _MOMENTS.get(type(node))
    return moment_of(context.now, node.args.get("this"), moment) if moment else node


# -- rows of arrays -----------------------------------------------------------------------------------------


def _spread(unnest: exp.Expr, number: int) -> None:
    """UNNEST in FROM: fields of structs are columns where there is no alias; offsets count from 0."""
    alias = unnest.args.get("alias")
    columns = list(alias.columns) if alias else []
    array, offset = unnest.expressions[0], unnest.args.get("offset")
    if not columns and alias and alias.this:
        columns = [alias.this]
    inner: list[exp.Expr] = []
    if columns:
        inner.append(exp.Alias(this=duck("UNNEST(:x)", x=array).this, alias=columns[0].copy()))
    else:
        inner.append(duck("UNNEST(:x, max_depth := 2)", x=array).this)
    if offset:
        name = offset.copy() if isinstance(offset, exp.Identifier) else exp.to_identifier("offset")
        inner.append(exp.Alias(this=duck("GENERATE_SUBSCRIPTS(:x, 1) - 1", x=array).this, alias=name))
    query = exp.Select(expressions=inner)
    named = exp.TableAlias(this=exp.to_identifier(f"_unnested_{number}", quoted=True))
    lateral = exp.Lateral(this=exp.Subquery(this=query), alias=named)
    join = unnest.parent
    unnest.replace(lateral)
    if isinstance(join, exp.Join) and join.side and not join.args.get("on"):
        join.set("on", exp.true())


# -- single expressions -------------------------------------------------------------------------------------


def _literal(node: exp.Expr) -> exp.Expr:
    """A number with a point is a FLOAT64, not a decimal."""
    if node.args.get("is_string") or not set(".eE") & set(node.name) or node.name.lower().startswith("0x"):
        return node
    if isinstance(node.parent, exp.Cast) and node.parent.args["to"].this in _NUMBERS:
        return node
    return node if set("eE") & set(node.name) else exp.Literal.number(f"{node.name}e0")


def _cast(node: exp.Expr) -> exp.Expr:
    to, layout = node.args["to"], node.args.get("format")
    if to.this in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR) and layout is None:
        if isinstance(node.this, exp.Literal) and node.this.is_string:
            return node
        made = as_text(node.this)
        return exp.Anonymous(this="TRY", expressions=[made]) if isinstance(node, exp.TryCast) else made
    if to.this in (exp.DataType.Type.BINARY, exp.DataType.Type.VARBINARY):
        name = {"HEX": "UNHEX", "BASE64": "FROM_BASE64"}.get(layout.name.upper() if layout else "", "ENCODE")
        return duck(f"{name}(CAST(:x AS VARCHAR))", x=node.this)
    return node


def _struct(node: exp.Expr) -> exp.Expr:
    """A struct without names takes them from where it goes to."""
    parts = node.expressions
    if parts and not any(isinstance(part, exp.PropertyEQ | exp.Alias | exp.Column) for part in parts):
        return exp.Anonymous(this="ROW", expressions=list(parts))
    return node


def _divided(node: exp.Expr) -> exp.Expr:
    """Division by zero is an error, and of SAFE_DIVIDE NULL."""
    divisor = node.expression
    if isinstance(divisor.unnest(), exp.Literal) and divisor.unnest().name.strip("0.e") != "":
        return node
    return duck(
        ":x / CASE WHEN :y = 0 THEN CAST(ERROR('division by zero') AS BIGINT) ELSE :y END",
        x=node.this,
        y=divisor,
    )


def _limited(node: exp.Expr) -> exp.Expr:
    """ARRAY_AGG and STRING_AGG with LIMIT."""
    inner = node.this if isinstance(node, exp.IgnoreNulls) else node
    limit = inner.this
    if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls) or not isinstance(limit, exp.Limit):
        return node
    most = limit.expression
    inner.set("this", limit.this)
    return duck("LIST_SLICE(:x, 1, :n)", x=node.copy(), n=most)


def _host(node: exp.Expr) -> exp.Expr:
    if not isinstance(node.this, exp.Host):
        return node
    return duck(
        "NULLIF(REGEXP_EXTRACT(:x, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([^/?#:]+)', 1), '')",
        x=node.this.this,
    )


def _dated(node: exp.Expr) -> exp.Expr:
    node.set("this", literal_time(node.this, "DATE"))
    if isinstance(node, exp.DateDiff):
        node.set("expression", literal_time(node.expression, "DATE"))
        return node
    return day_of(node.copy())


def _quantiles(node: exp.Expr) -> exp.Expr:
    parts = int(node.expression.name) if node.expression.is_int else 1
    shares = [exp.Literal.number(f"{place / max(1, parts)}") for place in range(parts + 1)]
    return duck("QUANTILE_DISC(:x, :shares)", x=node.this, shares=exp.Array(expressions=shares))


def _named(node: exp.Expr) -> exp.Expr:
    template = NAMED.get(node.name.upper())
    if template is None:
        return node
    return duck(template, **{str(place): part for place, part in enumerate(node.expressions)})


def _tried(node: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="TRY", expressions=[node.this])


def _in_rows(node: exp.Expr) -> exp.Expr:
    """``x IN UNNEST(array)``."""
    unnest = node.args.get("unnest")
    if not isinstance(unnest, exp.Unnest):
        return node
    return duck("LIST_CONTAINS(:y, :x)", x=node.this, y=unnest.expressions[0])


def _element(node: exp.Expr) -> exp.Expr:
    """``array[i]``: without SAFE a place that there is not is an error; JSON counts from 0, too."""
    places = node.expressions
    is_key = len(places) == 1 and isinstance(places[0], exp.Literal) and places[0].is_string
    if len(places) != 1 or is_key or node.args.get("safe"):
        return node
    place, first = places[0], node.args.get("offset")
    if first is None:
        shift = duck("CASE WHEN TYPEOF(:x) = 'JSON' THEN 0 ELSE 1 END + :i", x=node.this, i=place)
    else:
        shift = duck(":i + 1", i=place) if first == 0 else duck(":i", i=place)
        shift = duck(
            "CASE WHEN :i > LEN(:x) OR :i < 1 THEN CAST(ERROR('Array index ' || :p || ' is out of bounds')"
            " AS BIGINT) ELSE :i END",
            i=shift,
            x=node.this,
            p=place,
        )
    return exp.Bracket(this=node.this, expressions=[shift], offset=1)


def _of(template: str) -> Callable[[exp.Expr], exp.Expr]:
    """A rule that puts the argument for ``:x`` and the second for ``:y``."""

    def rule(node: exp.Expr) -> exp.Expr:
        parts = {"x": node.this}
        if node.args.get("expression") is not None:
            parts["y"] = node.expression
        return duck(template, **parts)

    return rule


_KINDS_OF_JSON = (
    "CASE JSON_TYPE(:x) WHEN 'ARRAY' THEN 'array' WHEN 'OBJECT' THEN 'object' WHEN 'VARCHAR' THEN 'string'"
    " WHEN 'BOOLEAN' THEN 'boolean' WHEN 'NULL' THEN 'null' ELSE 'number' END"
)
_MOMENTS: dict[type[exp.Expr], str] = {
    exp.CurrentTimestamp: "TIMESTAMPTZ",
    exp.CurrentDate: "DATE",
    exp.CurrentDatetime: "TIMESTAMP",
    exp.CurrentTime: "TIME",
}
_RULES: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Literal: _literal,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Struct: _struct,
    exp.Bracket: _element,
    exp.Div: _divided,
    exp.ArrayAgg: _limited,
    exp.IgnoreNulls: _limited,
    exp.Anonymous: _named,
    exp.SafeFunc: _tried,
    exp.SafeAdd: _of("TRY(:x + :y)"),
    exp.SafeSubtract: _of("TRY(:x - :y)"),
    exp.SafeMultiply: _of("TRY(:x * :y)"),
    exp.SafeNegate: _of("TRY(-:x)"),
    exp.RangeBucket: _of("LEN(LIST_FILTER(:y, i -> i <= :x))"),
    exp.ParseNumeric: _of("CAST(:x AS DECIMAL(38, 9))"),
    exp.ParseBignumeric: _of("CAST(:x AS DECIMAL(38, 18))"),
    exp.ByteLength: _of("STRLEN(:x)"),
    exp.ToCodePoints: _of("LIST_TRANSFORM(STRING_SPLIT(:x, ''), c -> UNICODE(c))"),
    exp.CodePointsToString: _of("ARRAY_TO_STRING(LIST_TRANSFORM(:x, c -> CHR(CAST(c AS INT))), '')"),
    exp.Normalize: _of("NFC_NORMALIZE(:x)"),
    exp.StrPosition: lambda node: instr(node) if node.args.get("occurrence") else node,
    exp.Format: formatted,
    exp.DateAdd: _dated,
    exp.DateSub: _dated,
    exp.DateDiff: _dated,
    exp.DateTrunc: _dated,
    exp.DateFromUnixDate: _of("DATE '1970-01-01' + CAST(:x AS INT)"),
    exp.Extract: extracted,
    exp.TimeToStr: shown_time,
    exp.StrToDate: lambda node: read_time(node, "DATE"),
    exp.StrToTime: lambda node: read_time(node, "TIMESTAMPTZ"),
    exp.ParseDatetime: lambda node: read_time(node, "TIMESTAMP"),
    exp.ParseTime: lambda node: read_time(node, "TIME"),
    exp.TimestampDiff: lambda node: whole_units(node, "TIMESTAMPTZ"),
    exp.TimeDiff: lambda node: whole_units(node, "TIME"),
    exp.TimeTrunc: time_trunc,
    exp.UnixToTime: lambda node: exp.cast(node.copy(), "TIMESTAMPTZ", dialect="duckdb"),
    exp.ApproxQuantiles: _quantiles,
    exp.JSONType: _of(_KINDS_OF_JSON),
    exp.String: _of(":x ->> '$'"),
    exp.NetFunc: _host,
    exp.In: _in_rows,
}
