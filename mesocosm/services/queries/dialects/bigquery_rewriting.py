"""Rewrites from GoogleSQL to DuckDB beyond those of sqlglot."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.services.queries.catalogue import TARGET, Column
from mesocosm.services.queries.dialect import Context, Dialect
from mesocosm.services.queries.dialects import bigquery_intervals as intervals
from mesocosm.services.queries.dialects.bigquery_bytes import RULES as BYTES
from mesocosm.services.queries.dialects.bigquery_bytes import mark_bytes, of_bytes
from mesocosm.services.queries.dialects.bigquery_casts import cast_of
from mesocosm.services.queries.dialects.bigquery_functions import (
    LAX_BOOL,
    LAX_FLOAT64,
    LAX_INT64,
    LAX_STRING,
    NAMED,
    changed_json,
    commonest,
    day_of,
    duck,
    extracted,
    formatted,
    instr,
    literal_time,
    moment_of,
    of_json,
    read_time,
    shown_time,
    time_trunc,
    value_array,
    whole_units,
)
from mesocosm.services.queries.dialects.bigquery_numbers import (
    SCALES,
    mark_numbers,
    mean,
    number_kind,
    product,
    quotient,
    root,
    rounded,
    whole_quotient,
)
from mesocosm.services.queries.guards import MEASURED

_SUFFIX = "_TABLE_SUFFIX"
_TEXTS = (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)
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
    _rows_as_values(tree, context.columns)
    intervals.mark_differences(tree, context.columns)
    mark_numbers(tree, context.columns)
    mark_bytes(tree, context.columns)
    for cast in list(tree.find_all(exp.Cast)):
        if cast.to.this in _TEXTS and isinstance(cast.this, intervals.WRITTEN_OUT):
            cast.replace(duck(intervals.AS_TEXT, x=cast.this))
        plain = cast.to.this in _TEXTS and cast.args.get("format") is None and not cast.meta.get(MEASURED)
        if plain and _is_bytes(cast.this):
            cast.set("format", exp.Literal.string("UTF-8"))
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
    if of_bytes(node):
        return BYTES[type(node)](node)
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(node)
    moment = _MOMENTS.get(type(node))
    return moment_of(context.now, node.args.get("this"), moment) if moment else node


def _rows_as_values(tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]]) -> None:
    """A table's name as a value, which is a struct of the row: where none may stand, it is refused."""
    sources = {one.alias.lower(): one for one in tree.find_all(exp.Table, exp.Subquery) if one.alias}
    known = {column.name.lower() for one in columns.values() for column in one}
    known |= {one.alias.lower() for one in tree.find_all(exp.Alias)}
    known |= {name.name.lower() for one in tree.find_all(exp.TableAlias) for name in one.columns}
    for node in list(tree.find_all(exp.Column)):
        name = node.name.lower()
        if node.table or name not in sources or name in known:
            continue
        if isinstance(node.parent, exp.Ordered):
            raise Invalid("Ordering by expressions of type STRUCT is not allowed", code="invalidQuery")
        if isinstance(node.parent, exp.Cast) and node.parent.to.this in _TEXTS:
            raise Invalid("Invalid cast from STRUCT to STRING", code="invalidQuery")
        if sources[name].name == TARGET:  # has a number of ours beside its columns
            node.replace(_row_of(node.this, columns[TARGET]))


def _row_of(table: exp.Identifier, columns: Sequence[Column]) -> exp.Struct:
    fields = ((exp.to_identifier(one.name, quoted=True), table.copy()) for one in columns)
    return exp.Struct(
        expressions=[exp.PropertyEQ(this=name, expression=exp.column(name.copy(), of)) for name, of in fields]
    )


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


# -- regular expressions ------------------------------------------------------------------------------------


def _lacking(*names: str) -> Callable[[exp.Expr], exp.Expr]:
    """Refuse arguments that functions of this name have in other products."""

    def rule(node: exp.Expr) -> exp.Expr:
        if any(node.args.get(name) is not None for name in names):
            function = _PRODUCTS_NAMES[type(node)]
            raise Invalid(f"No matching signature for function {function}", code="invalidQuery")
        return node

    return rule


_PRODUCTS_NAMES: dict[type[exp.Expr], str] = {
    exp.RegexpLike: "REGEXP_CONTAINS",
    exp.RegexpReplace: "REGEXP_REPLACE",
    exp.RegexpExtract: "REGEXP_EXTRACT",
    exp.RegexpExtractAll: "REGEXP_EXTRACT_ALL",
    exp.RegexpInstr: "REGEXP_INSTR",
}
_THE_GROUP = "COMPUTED_GROUPS(CAST(:x AS VARCHAR))"


def _grouped(*names: str) -> Callable[[exp.Expr], exp.Expr]:
    """A function that extracts: the one group of the pattern, or all of a match where it has none."""
    check = _lacking(*names)

    def rule(node: exp.Expr) -> exp.Expr:
        check(node)
        pattern = node.expression
        with suppress(BadPattern):  # which DuckDB refuses, too
            if isinstance(pattern, exp.Literal) and Pattern(pattern.name).groups < 2:
                return node
        if isinstance(node, exp.RegexpInstr):
            node.set("expression", duck(f"CASE WHEN {_THE_GROUP} >= 0 THEN :x END", x=pattern))
        else:
            node.set("group", duck(_THE_GROUP, x=pattern))
        return node

    return rule


# -- single expressions -------------------------------------------------------------------------------------


def _literal(node: exp.Expr) -> exp.Expr:
    """A number with a point is a FLOAT64, not a decimal."""
    if node.args.get("is_string") or not set(".eE") & set(node.name) or node.name.lower().startswith("0x"):
        return node
    if isinstance(node.parent, exp.Cast) and node.parent.args["to"].this in _NUMBERS:
        return node
    return node if set("eE") & set(node.name) else exp.Literal.number(f"{node.name}e0")


def _object(node: exp.Expr) -> exp.Expr:
    """JSON_OBJECT keeps the first of what has the same key; also of an array of keys and one of values."""
    if len(node.expressions) == 1 and (pair := node.expressions[0]).this.is_type(exp.DataType.Type.ARRAY):
        return duck("TO_JSON(MAP(:k, :v))", k=pair.this, v=pair.expression)
    kept: dict[str, exp.Expr] = {}
    for place, pair in enumerate(node.expressions):
        key = pair.this if isinstance(pair, exp.JSONKeyValue) else None
        is_text = isinstance(key, exp.Literal) and key.is_string
        kept.setdefault(f"'{key.name}" if is_text and key is not None else str(place), pair)
    node.set("expressions", list(kept.values()))
    return node


def _read_json(node: exp.Expr) -> exp.Expr:
    """JSON that is written out keeps the first of what has the same key."""
    is_doubled = False

    def first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_doubled
        kept = dict(reversed(pairs))
        is_doubled = is_doubled or len(kept) < len(pairs)
        return {key: kept[key] for key, _ in pairs}

    if isinstance(node.this, exp.Literal):
        with suppress(ValueError, RecursionError):
            read = json.loads(node.this.name, object_pairs_hook=first)
            if is_doubled:
                node.this.replace(exp.Literal.string(json.dumps(read, ensure_ascii=False)))
    return node


def _as_json(node: exp.Expr) -> exp.Expr:
    """TO_JSON gives JSON, TO_JSON_STRING text."""
    if not node.args.get("to_json"):
        return node
    made, flag = duck("TO_JSON(:x)", x=node.this), node.args.get("options")
    flag = flag.expression if isinstance(flag, exp.Kwarg) else flag
    if flag is None:
        return made
    return duck("CAST(COMPUTED_JSON('stringify', CAST(:x AS VARCHAR), '[]', :f) AS JSON)", x=made, f=flag)


def _is_bytes(node: exp.Expr) -> bool:
    """True if a node is a bytes literal."""
    node = node.unnest()
    made = isinstance(
        node,
        (
            *(exp.ByteString, exp.FromBase64, exp.FromBase32, exp.Unhex, exp.CodePointsToBytes),
            *(exp.MD5Digest, exp.SHA1Digest, exp.SHA2Digest),
        ),
    )
    return made or (isinstance(node, exp.Cast) and node.to.this in exp.DataType.BINARY_TYPES)


def _reciprocal(name: str, of: str) -> Callable[[exp.Expr], exp.Expr]:
    """A rule for cotangents and cosecants, which 0 has none of."""
    said = f"Floating point error in function: {name}(0)"
    return _of(f"1 / CASE WHEN :x = 0 THEN CAST(ERROR('{said}') AS DOUBLE) ELSE {of}(:x) END")


def _stripped(node: exp.Expr) -> exp.Expr:
    """JSON_STRIP_NULLS, of arrays, too; and with all that is empty then, level by level."""
    if node.args.get("expression") is not None:
        raise Invalid("JSON_STRIP_NULLS with a path is not provided here.", code="invalidQuery")

    def said(name: str, otherwise: bool) -> bool:
        value = node.args.get(name)
        value = value.expression if isinstance(value, exp.Kwarg) else value
        return otherwise if value is None else isinstance(value, exp.Boolean) and bool(value.this)

    arrays, empty = said("include_arrays", True), said("remove_empty", False)
    made = duck("CAST(JSON_STRIP_NULLS(:x) AS VARCHAR)", x=node.this)
    if arrays:
        made = duck(_without("null"), x=made)
    if empty:
        hollow = _without(r'(?:"(?:[^"\\]|\\.)*":)?' + (r"(?:\{\}|\[\])" if arrays else r"\{\}"))
        made = duck(f"LIST_REDUCE(RANGE({_LEVELS}), (t, i) -> {hollow.replace(':x', 't')}, :x)", x=made)
    return duck(
        "CAST(COALESCE(NULLIF(:x, ''), CASE WHEN :j IS NOT NULL THEN 'null' END) AS JSON)",
        x=made,
        j=node.this,
    )


_LEVELS = 30
"""Maximum nesting of empty values."""


def _without(what: str) -> str:
    """Return JSON text without the removed parts and leftover commas."""
    texts = r'("(?:[^"\\]|\\.)*")'
    inner = f"REGEXP_REPLACE(:x, '{what},?|{texts}', '\\1', 'g')"
    return f"REGEXP_REPLACE({inner}, '{texts}|,([\\]}}])', '\\1\\2', 'g')"


def _percentile(node: exp.Expr) -> exp.Expr:
    """PERCENTILE_CONT and PERCENTILE_DISC with RESPECT NULLS: NULLs come first."""
    asked = node.this.this if isinstance(node.this, exp.RespectNulls) else None
    if not isinstance(asked, exp.PercentileCont | exp.PercentileDisc):
        return node
    window = node.copy()
    window.set("this", exp.Anonymous(this="LIST", expressions=[asked.this.copy()]))
    values = duck("LIST_SORT(:w, 'ASC', 'NULLS FIRST')", w=window)
    template = _AT_SHARE if isinstance(asked, exp.PercentileCont) else _FROM_SHARE
    return duck(template, l=values, p=asked.expression)


_AT_SHARE = (
    "LIST_EXTRACT(LIST_TRANSFORM([{'l': :l, 'at': :p * (LEN(:l) - 1)}], e ->"
    " CASE WHEN FLOOR(e.at) = e.at THEN e.l[CAST(e.at AS BIGINT) + 1]"
    " WHEN e.l[CAST(FLOOR(e.at) AS BIGINT) + 1] IS NULL THEN e.l[CAST(CEIL(e.at) AS BIGINT) + 1]"
    " ELSE e.l[CAST(FLOOR(e.at) AS BIGINT) + 1] + (e.at - FLOOR(e.at))"
    " * (e.l[CAST(CEIL(e.at) AS BIGINT) + 1] - e.l[CAST(FLOOR(e.at) AS BIGINT) + 1]) END), 1)"
)
_FROM_SHARE = "LIST_EXTRACT(:l, GREATEST(1, CAST(CEIL(:p * LEN(:l)) AS BIGINT)))"


def _struct(node: exp.Expr) -> exp.Expr:
    """A struct without names takes them from where it goes to."""
    parts = node.expressions
    if parts and not any(isinstance(part, exp.PropertyEQ | exp.Alias | exp.Column) for part in parts):
        return exp.Anonymous(this="ROW", expressions=list(parts))
    return node


def _array(node: exp.Expr) -> exp.Expr:
    """Build an array of structs, of which the first names the fields for all."""
    first, *others = node.expressions or [None]
    if not isinstance(first, exp.Struct) or not others:
        return node
    names = [part.this if isinstance(part, exp.PropertyEQ) else None for part in first.expressions]
    if None in names:
        return node
    for other in others:
        is_row = isinstance(other, exp.Tuple) or (isinstance(other, exp.Anonymous) and other.name == "ROW")
        if is_row and len(other.expressions) == len(names):
            parts = [
                exp.PropertyEQ(this=name.copy(), expression=value.copy())
                for name, value in zip(names, other.expressions, strict=True)
                if name is not None
            ]
            other.replace(exp.Struct(expressions=parts))
    return node


def _divided(node: exp.Expr) -> exp.Expr:
    """Division by zero is an error, and of SAFE_DIVIDE NULL."""
    divisor, kind = node.expression, number_kind(node)
    is_plain = isinstance(divisor.unnest(), exp.Literal) and divisor.unnest().name.strip("0.e") != ""
    if kind in SCALES:
        if not is_plain:
            refused = "CASE WHEN :y = 0 THEN CAST(ERROR('division by zero') AS BIGINT) ELSE :y END"
            divisor = duck(refused, y=divisor)
        return quotient(node.this, divisor, kind)
    if is_plain:
        return node
    return duck(
        ":x / CASE WHEN :y = 0 THEN CAST(ERROR('division by zero') AS BIGINT) ELSE :y END",
        x=node.this,
        y=divisor,
    )


def _safely_divided(node: exp.Expr) -> exp.Expr:
    kind = number_kind(node)
    return (
        quotient(node.this, exp.func("NULLIF", node.expression, exp.Literal.number(0)), kind)
        if kind in SCALES
        else node
    )


def _windowed(node: exp.Expr) -> exp.Expr:
    made = mean(node)
    return made if made is not node else _percentile(node)


def _limited(node: exp.Expr) -> exp.Expr:
    """ARRAY_AGG and STRING_AGG with LIMIT."""
    inner = node.this if isinstance(node, exp.IgnoreNulls) else node
    limit = inner.this
    if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls) or not isinstance(limit, exp.Limit):
        return node
    most = limit.expression
    inner.set("this", limit.this)
    return duck("LIST_SLICE(:x, 1, :n)", x=node.copy(), n=most)


def _joined(node: exp.Expr) -> exp.Expr:
    """STRING_AGG with LIMIT."""
    limit = node.this
    if not isinstance(limit, exp.Limit) or isinstance(node.parent, exp.Window):
        return node
    value = limit.this
    while isinstance(value, exp.Order | exp.Distinct):
        value = value.expressions[0] if isinstance(value, exp.Distinct) else value.this
    rows = exp.Filter(
        this=exp.ArrayAgg(this=limit.this.copy()), expression=exp.Where(this=duck(":v IS NOT NULL", v=value))
    )
    return duck(
        "ARRAY_TO_STRING(LIST_SLICE(:x, 1, :n), :s)",
        x=rows,
        n=limit.expression,
        s=node.args.get("separator") or exp.Literal.string(","),
    )


def _chained(node: exp.Expr) -> exp.Expr:
    """ARRAY_CONCAT_AGG with LIMIT."""
    limit = node.this
    if not isinstance(limit, exp.Limit) or isinstance(node.parent, exp.Window):
        return node
    value = limit.this.this if isinstance(limit.this, exp.Order) else limit.this
    rows = exp.Filter(
        this=exp.ArrayAgg(this=limit.this.copy()), expression=exp.Where(this=duck(":v IS NOT NULL", v=value))
    )
    return duck("FLATTEN(LIST_SLICE(:x, 1, :n))", x=rows, n=limit.expression)


def _slice(node: exp.Expr) -> exp.Expr:
    """ARRAY_SLICE counts from 0, and includes the end."""
    return duck(
        "LIST_SLICE(:x, CASE WHEN :a < 0 THEN :a ELSE :a + 1 END, CASE WHEN :b < 0 THEN :b ELSE :b + 1 END)",
        x=node.this,
        a=node.args["start"],
        b=node.args["end"],
    )


def _normalized(node: exp.Expr) -> exp.Expr:
    said = node.args.get("form")
    form = exp.Literal.string(said.name.upper() if isinstance(said, exp.Expr) else "NFC")
    fold = exp.Boolean(this=bool(node.args.get("is_casefold")))
    return duck("COMPUTED_NORMALIZE(:x, :form, :fold)", x=node.this, form=form, fold=fold)


def _moments(*names: str) -> Callable[[exp.Expr], exp.Expr]:
    """A rule for functions of instants: texts that are written out are meant as such."""

    def rule(node: exp.Expr) -> exp.Expr:
        for name in names:
            if isinstance(node.args.get(name), exp.Literal):
                node.set(name, literal_time(node.args[name], "TIMESTAMPTZ"))
        return node

    return rule


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


def _interval(node: exp.Expr) -> exp.Expr:
    parts = {
        unit: value.expression if isinstance(value, exp.Kwarg) else value
        for unit, value in node.args.items()
        if isinstance(value, exp.Expr)
    }
    each = (f"TO_{unit.upper()}S(CAST(:{unit} AS INT))" for unit in parts)
    return duck(" + ".join(each) or "TO_DAYS(0)", **parts)


def _named(node: exp.Expr) -> exp.Expr:
    template = NAMED.get(node.name.upper())
    if template is None:
        return node
    return duck(template, **{str(place): part for place, part in enumerate(node.expressions)})


def _tried(node: exp.Expr) -> exp.Expr:
    """Return the NULL-instead-of-error form of an expression for SAFE: TRY does not catch our own errors."""
    for cast in list(node.this.find_all(exp.Cast)):
        if isinstance(cast.this, exp.Anonymous) and cast.this.name.upper() == "ERROR":
            cast.replace(exp.null())
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
    "CASE WHEN :x IS NOT NULL THEN CASE JSON_TYPE(:x) WHEN 'ARRAY' THEN 'array' WHEN 'OBJECT' THEN 'object'"
    " WHEN 'VARCHAR' THEN 'string' WHEN 'BOOLEAN' THEN 'boolean' WHEN 'NULL' THEN 'null'"
    " ELSE 'number' END END"
)
_MOMENTS: dict[type[exp.Expr], str] = {
    exp.CurrentTimestamp: "TIMESTAMPTZ",
    exp.CurrentDate: "DATE",
    exp.CurrentDatetime: "TIMESTAMP",
    exp.CurrentTime: "TIME",
}
_RULES: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Literal: _literal,
    exp.Cast: cast_of,
    exp.TryCast: cast_of,
    exp.Struct: _struct,
    exp.Bracket: _element,
    exp.Div: _divided,
    exp.SafeDivide: _safely_divided,
    exp.IntDiv: whole_quotient,
    exp.Mul: product,
    exp.Avg: mean,
    **dict.fromkeys((exp.Round, exp.Trunc, exp.Ceil, exp.Floor), rounded),
    **dict.fromkeys((exp.Sqrt, exp.Pow, exp.Exp, exp.Ln, exp.Log, exp.Cbrt), root),
    exp.ArrayAgg: _limited,
    exp.IgnoreNulls: _limited,
    exp.Anonymous: _named,
    exp.SafeFunc: _tried,
    exp.RegexpLike: _lacking("flag"),
    exp.RegexpReplace: _lacking("position", "occurrence", "modifiers"),
    exp.RegexpExtract: _grouped("parameters"),
    exp.RegexpExtractAll: _grouped("position", "occurrence", "parameters"),
    exp.RegexpInstr: _grouped("parameters", "group"),
    exp.SafeAdd: _of("TRY(:x + :y)"),
    exp.SafeSubtract: _of("TRY(:x - :y)"),
    exp.SafeMultiply: _of("TRY(:x * :y)"),
    exp.SafeNegate: _of("TRY(-:x)"),
    exp.RangeBucket: _of("LEN(LIST_FILTER(:y, i -> i <= :x))"),
    exp.ParseNumeric: _of("CAST(COMPUTED_NUMBER(:x) AS DECIMAL(38, 9))"),
    exp.ParseBignumeric: _of("CAST(COMPUTED_NUMBER(:x) AS DECIMAL(38, 18))"),
    exp.ByteLength: _of(
        "CASE TYPEOF(:x) WHEN 'BLOB' THEN OCTET_LENGTH(TRY_CAST(:x AS BLOB))"
        " ELSE STRLEN(CAST(:x AS VARCHAR)) END"
    ),
    exp.Csc: _reciprocal("CSC", "SIN"),
    exp.Csch: _reciprocal("CSCH", "SINH"),
    exp.Sec: _of("1 / COS(:x)"),
    exp.Sech: _of("1 / COSH(:x)"),
    exp.Cot: _reciprocal("COT", "TAN"),
    exp.Coth: _reciprocal("COTH", "TANH"),
    exp.SafeConvertBytesToString: _of("COMPUTED_BYTES_TEXT(:x)"),
    exp.Soundex: _of("COMPUTED_SOUNDEX(CAST(:x AS VARCHAR))"),
    exp.CosineDistance: _of("LIST_COSINE_DISTANCE(:x, :y)"),
    exp.FromBase32: _of("COMPUTED_FROM_BASE32(:x)"),
    exp.ToBase32: _of("COMPUTED_TO_BASE32(:x)"),
    exp.CodePointsToBytes: _of("UNHEX(ARRAY_TO_STRING(LIST_TRANSFORM(:x, c -> PRINTF('%02X', c)), ''))"),
    exp.ToCodePoints: _of("LIST_TRANSFORM(STRING_SPLIT(:x, ''), c -> UNICODE(c))"),
    exp.CodePointsToString: _of(
        "CASE WHEN LEN(LIST_FILTER(:x, c -> c IS NULL)) = 0"
        " THEN ARRAY_TO_STRING(LIST_TRANSFORM(:x, c -> CHR(CAST(c AS INT))), '') END"
    ),
    exp.Unicode: _of("CASE WHEN :x = '' THEN 0 ELSE UNICODE(:x) END"),
    exp.Normalize: _normalized,
    exp.Typeof: lambda node: duck("COMPUTED_TYPE_OF(TYPEOF(:x))", x=node.this),
    exp.StrPosition: lambda node: instr(node) if node.args.get("position") else node,
    exp.Array: _array,
    exp.JSONFormat: _as_json,
    exp.ParseJSON: _read_json,
    exp.JSONObject: _object,
    exp.JSONStripNulls: _stripped,
    exp.JSONSet: changed_json("set"),
    exp.JSONRemove: changed_json("remove"),
    exp.JSONArrayAppend: changed_json("append"),
    exp.JSONArrayInsert: changed_json("insert"),
    exp.JSONValueArray: value_array,
    exp.Window: _windowed,
    exp.JustifyDays: _of(intervals.JUSTIFY_DAYS),
    exp.JustifyHours: _of(intervals.JUSTIFY_HOURS),
    exp.JustifyInterval: lambda node: duck(
        intervals.JUSTIFY_DAYS, x=duck(intervals.JUSTIFY_HOURS, x=node.this)
    ),
    exp.Interval: lambda node: intervals.literal(node) if isinstance(node, exp.Interval) else node,
    exp.ArraySlice: _slice,
    exp.ArrayFirst: _of(
        "LIST_EXTRACT(:x, CASE WHEN LEN(:x) = 0 THEN"
        " CAST(ERROR('ARRAY_FIRST cannot get the first element of an empty array') AS BIGINT) ELSE 1 END)"
    ),
    exp.ArrayLast: _of(
        "LIST_EXTRACT(:x, CASE WHEN LEN(:x) = 0 THEN"
        " CAST(ERROR('ARRAY_LAST cannot get the last element of an empty array') AS BIGINT) ELSE -1 END)"
    ),
    exp.GroupConcat: _joined,
    exp.ArrayConcatAgg: _chained,
    exp.ApproxTopK: commonest,
    exp.LaxBool: _of(LAX_BOOL),
    exp.LaxInt64: _of(LAX_INT64),
    exp.LaxFloat64: _of(LAX_FLOAT64),
    exp.LaxString: _of(LAX_STRING),
    exp.JSONBool: _of(of_json("BOOLEAN", "'BOOLEAN'")),
    exp.Float64: _of(of_json("DOUBLE", "'DOUBLE', 'BIGINT', 'UBIGINT'")),
    exp.UnixSeconds: _of("EPOCH_US(:x) // 1000000 - CASE WHEN EPOCH_US(:x) % 1000000 < 0 THEN 1 ELSE 0 END"),
    exp.UnixMillis: _of("EPOCH_US(:x) // 1000 - CASE WHEN EPOCH_US(:x) % 1000 < 0 THEN 1 ELSE 0 END"),
    exp.GenerateTimestampArray: _moments("start", "end"),
    exp.TimestampTrunc: _moments("this"),
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
    exp.MakeInterval: _interval,
    exp.JSONType: _of(_KINDS_OF_JSON),
    exp.String: _of(":x ->> '$'"),
    exp.NetFunc: _host,
    exp.In: _in_rows,
}
