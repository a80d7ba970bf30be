"""Rewrites from Snowflake's SQL to DuckDB beyond those of sqlglot.

A VARIANT, OBJECT or ARRAY is DuckDB's JSON throughout. Division and averages of exact numbers are exact
numbers of some digits more, which only the types of their operands tell; sqlglot infers these from the
columns' types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime

from sqlglot import MappingSchema, exp
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify_columns import qualify_columns

from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.dialect import MEANINGLESS, SOURCE, Context
from mesocosm.services.queries.dialects.snowflake_functions import (
    NAMED,
    call,
    from_text,
    is_text,
    time_format,
)
from mesocosm.services.queries.dialects.snowflake_stars import open_stars
from mesocosm.services.queries.dialects.snowflake_tables import filled, mark_flattened, table_functions
from mesocosm.services.queries.failures import MARK, SqlError
from mesocosm.services.queries.guards import MEASURED
from mesocosm.services.queries.numeric_models import is_number_model

_VERSION = "9.30.0"
MOMENTS = {"TIMESTAMP": "%Y-%m-%d %H:%M:%S.%g", "TIMESTAMP WITH TIME ZONE": "%Y-%m-%d %H:%M:%S.%g +0000"}
"""How instants become texts, by DuckDB's types."""
_TYPES = exp.DataType.Type
FUNCTIONS = frozenset({"HASH", "LAST_QUERY_ID", *NAMED})
"""Functions that sqlglot has no class for."""
_LOOSE = {_TYPES.VARIANT, _TYPES.JSON, _TYPES.OBJECT, _TYPES.ARRAY, _TYPES.STRUCT, _TYPES.LIST}
_EXACT = {_TYPES.DECIMAL, _TYPES.INT, _TYPES.BIGINT, _TYPES.SMALLINT, _TYPES.TINYINT, _TYPES.INT128}
_MAKES_JSON = (
    exp.JSONExtract,
    exp.ParseJSON,
    exp.GetExtract,
    exp.ToVariant,
    exp.Array,
    exp.Struct,
    exp.JSONObject,
    exp.ArrayAgg,
    exp.ObjectAgg,
    exp.Split,
    exp.JSONKeys,
)
_JSON_CALLS = {
    "computed_array_most",
    "json_extract",
    "to_json",
    "json_array",
    "json_merge_patch",
    "json_group_object",
}
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Sum, exp.Avg, exp.Round, exp.Abs)
_COMPARES = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
_ON_TEXT = (
    *(exp.Upper, exp.Lower, exp.Length, exp.Concat, exp.DPipe, exp.Like, exp.ILike, exp.Substring, exp.Trim),
    *(exp.SplitPart, exp.Replace, exp.Contains, exp.StartsWith, exp.EndsWith, exp.GroupConcat, exp.Initcap),
    *(exp.RegexpLike, exp.RegexpReplace, exp.Left, exp.Right),
)
_NEEDS_TYPES = (
    *(
        exp.Div,
        exp.Avg,
        exp.Cast,
        exp.TryCast,
        exp.ToChar,
        exp.ToNumber,
        exp.Bracket,
        exp.Explode,
        exp.DateAdd,
        exp.Anonymous,
    ),
    *_MAKES_JSON,
    *_ON_TEXT,
)


def rewritten(tree: exp.Expr, context: Context) -> exp.Expr:
    """The statement for DuckDB."""
    mark_flattened(tree)
    open_stars(tree, context.columns)
    if tree.find(*_NEEDS_TYPES) is not None:
        _infer(tree, context.columns)
        _show_values(tree)
        for operator in list(tree.find_all(*_ARITHMETIC, *_COMPARES, *_ON_TEXT)):
            _loosen(operator)
    # From the leaves up: what stands in a node is rewritten before the node is.
    for node in reversed(list(tree.walk())):
        parent, key, index = node.parent, node.arg_key, node.index
        made: exp.Expr = _rewrite(node, context)
        if made is node:
            continue
        if node is tree:
            tree = made
        elif parent is not None and key is not None:
            parent.set(key, made, index)
    table_functions(tree)
    _set_tables_apart(tree)
    return tree


_OF_TABLE = f"{MARK}0"
"""Behind the name of a table, so that it is no column's: DuckDB takes that for a row where a value stands."""


def _set_tables_apart(tree: exp.Expr) -> None:
    """Name tables as no column is named, since a table's name is no value."""
    for node in tree.walk():
        name = None
        if isinstance(node, exp.Column):
            name = node.args.get("table")
        elif isinstance(node, exp.TableAlias) and not isinstance(node.parent, exp.CTE):
            name = node.this
        if isinstance(name, exp.Identifier) and not name.name.endswith(_OF_TABLE):
            name.set("this", name.name + _OF_TABLE)
            name.set("quoted", True)


def _infer(tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]]) -> None:
    """Annotate nodes with types, as far as known."""
    kinds: dict[str, object] = {
        name: {one.name: exp.DataType.build(_inferred(one.kind), dialect="snowflake") for one in known}
        for name, known in columns.items()
    }
    for inner in tree.find_all(exp.Subquery):
        if SOURCE in inner.meta:
            tree = inner.this
            break
    if any(one.columns and _has_star(one.parent) for one in tree.find_all(exp.TableAlias)):
        return  # qualifying would take the names from the columns
    schema = MappingSchema(kinds, dialect="duckdb", normalize=False)
    # Where it cannot be told, DuckDB says what is wrong with the statement, if anything is.
    with suppress(*MEANINGLESS, AssertionError):
        qualify_columns(tree, schema, expand_alias_refs=False, expand_stars=False, dialect="duckdb")
    with suppress(*MEANINGLESS, AssertionError):
        annotate_types(tree, schema=schema, dialect="snowflake")


def _has_star(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Subquery | exp.CTE) and node.find(exp.Star) is not None


def _inferred(kind: str) -> str:
    if kind == "HUGEINT":
        return "DECIMAL(38,0)"
    return {"JSON": "VARIANT", "TIMESTAMPTZ": "TIMESTAMP_TZ", "BLOB": "BINARY"}.get(kind, kind)


def is_loose(node: exp.Expr) -> bool:
    """True if a value is known to be a VARIANT."""
    node = node.unnest()
    if isinstance(node, exp.Cast):
        return node.to.this is _TYPES.JSON
    if isinstance(node, _MAKES_JSON) or (isinstance(node, exp.Anonymous) and node.name in _JSON_CALLS):
        return True
    if isinstance(node, exp.Bracket):
        return is_loose(node.this)
    if isinstance(node, exp.Column) and node.name in {"VALUE", "THIS"} and node.type is None:
        return True
    if isinstance(node, exp.Column) and node.meta.get("flattened"):
        return True
    return isinstance(node, exp.Column) and node.type is not None and node.type.this in _LOOSE


def _text(node: exp.Expr) -> exp.Expr:
    return call("json_extract_string", node, exp.Literal.string("$"))


def _show_values(tree: exp.Expr) -> None:
    """Instants, times and bytes become texts by the formats that a session has at first."""
    for node in list(tree.find_all(exp.Cast, exp.TryCast, exp.ToChar, *_ON_TEXT)):
        if isinstance(node, exp.Cast) and getattr(_made(node), "this", None) not in _STRINGS:
            continue
        if isinstance(node, exp.ToChar) and node.args.get("format") is not None:
            continue
        inside = node.iter_expressions() if isinstance(node, _ON_TEXT) else (node.this,)
        for value in list(inside):
            inner = value.unnest()
            kind = _made(inner) if isinstance(inner, exp.Cast) else inner.type
            if isinstance(inner, exp.CurrentTimestamp) and not inner.args.get("sysdate"):
                kind = exp.DataType.build("TIMESTAMPTZ")
            is_bytes = isinstance(inner, _MAKES_BYTES) or (kind is not None and kind.this in _BYTES)
            if is_bytes and not isinstance(node, _ON_TEXT) and not node.meta.get(MEASURED):
                value.replace(call("hex", value.copy()))
            elif kind is not None and kind.this in _SHOWN and not _is_date(inner):
                value.replace(_SHOWN[kind.this](value.copy()))


def _made(cast: exp.Expr) -> exp.DataType | None:
    """The type that a cast makes; what is parsed as one may have something else there."""
    kind = cast.args.get("to")
    return kind if isinstance(kind, exp.DataType) else None


def _shown(form: str) -> Callable[[exp.Expr], exp.Expr]:
    return lambda value: call("strftime", exp.cast(value, "TIMESTAMP"), exp.Literal.string(form))


_STRINGS = {_TYPES.VARCHAR, _TYPES.TEXT, _TYPES.CHAR, _TYPES.NCHAR, _TYPES.NVARCHAR}
_BYTES = {_TYPES.BINARY, _TYPES.VARBINARY, _TYPES.BLOB}
_MAKES_BYTES = (
    *(exp.HexString, exp.ToBinary, exp.MD5Digest, exp.SHA1Digest, exp.SHA2Digest, exp.Unhex),
    *(exp.Base64DecodeBinary, exp.TryHexDecodeBinary, exp.TryBase64DecodeBinary),
)
_SHOWN: dict[object, Callable[[exp.Expr], exp.Expr]] = {
    **dict.fromkeys((_TYPES.TIMESTAMP, _TYPES.TIMESTAMPNTZ, _TYPES.DATETIME), _shown(MOMENTS["TIMESTAMP"])),
    **dict.fromkeys((_TYPES.TIMESTAMPTZ, _TYPES.TIMESTAMPLTZ), _shown(MOMENTS["TIMESTAMP WITH TIME ZONE"])),
    _TYPES.TIME: lambda value: call("left", exp.cast(value, "TEXT"), exp.Literal.number(8)),
}


def _loosen(node: exp.Expr) -> None:
    """Cast VARIANT operands to what their operator needs."""
    operands = [child for child in node.iter_expressions() if isinstance(child, exp.Expr)]
    loose = [one for one in operands if is_loose(one)]
    if not loose:
        return
    others = [one for one in operands if one not in loose]
    for one in loose:
        if isinstance(node, _ON_TEXT):
            one.replace(_text(one.copy()))
        elif isinstance(node, _ARITHMETIC):
            one.replace(exp.cast(one.copy(), "DOUBLE"))
        else:
            one.replace(_compared(one.copy(), others))


def _compared(node: exp.Expr, others: list[exp.Expr]) -> exp.Expr:
    other = others[0].unnest() if others else None
    if other is None:
        return _text(node)
    if isinstance(other, exp.Boolean) or (other.type and other.type.this is _TYPES.BOOLEAN):
        return exp.cast(node, "BOOLEAN")
    if isinstance(other, exp.Neg) or (isinstance(other, exp.Literal) and not other.is_string):
        return exp.cast(node, "DOUBLE")
    if other.type is not None and other.type.this in {*_EXACT, _TYPES.DOUBLE, _TYPES.FLOAT}:
        return exp.cast(node, "DOUBLE")
    if other.type is not None and other.type.this in {_TYPES.DATE, _TYPES.TIMESTAMP, _TYPES.TIMESTAMPNTZ}:
        return exp.cast(_text(node), other.type)
    return _text(node)


Rule = Callable[[exp.Expr], exp.Expr]

# -- one node at a time -----------------------------------------------------------------------------------


def _rewrite(node: exp.Expr, context: Context) -> exp.Expr:
    if isinstance(node, exp.Anonymous):
        if node.name.upper() == "LAST_QUERY_ID":
            id_ = last_query(node, context)
            return exp.null() if id_ is None else exp.Literal.string(id_)
        make = NAMED.get(node.name.upper())
        return make(node) if make else node
    rule, of_session = _RULES.get(type(node)), _OF_SESSION.get(type(node))
    return of_session(node, context) if of_session else rule(node) if rule else node


def last_query(node: exp.Anonymous, context: Context) -> str | None:
    """The id that LAST_QUERY_ID(-2) means; ids before those that are kept are refused, not guessed."""
    said = node.expressions[0].sql() if node.expressions else "-1"
    back = int(said[1:]) if re.fullmatch(r"-[1-9]\d{0,8}", said) and len(node.expressions) < 2 else 0
    about = context.about()
    id_ = about.get("last_query" if back == 1 else f"last_query_{back}")
    if id_ is None and back != 1:
        reach = "It reaches back from -1 to -20 here, no further than the session's statements."
        # An expression is written for the engine by now.
        plain = isinstance(node.expressions[0], (exp.Literal, exp.Neg, exp.Column)) and len(said) <= 40
        shown = f"LAST_QUERY_ID({said})" if plain else "LAST_QUERY_ID"
        raise SqlError(2, "0A000", f"Unsupported feature '{shown}'. {reach}")
    return id_


def _cast(node: exp.Expr) -> exp.Expr:
    wanted, value = node.args["to"], node.this
    if wanted.this in _LOOSE:
        return call("to_json", value) if not is_loose(value) else value
    if wanted.this in {_TYPES.VARCHAR, _TYPES.TEXT, _TYPES.CHAR, _TYPES.DATE} and is_loose(value):
        node.set("this", _text(value))
    if wanted.this in {_TYPES.INT, _TYPES.SMALLINT, _TYPES.TINYINT, _TYPES.BIGINT}:
        _cast_whole(node)
    elif wanted.this is _TYPES.DECIMAL and (not wanted.expressions or _scale_of(wanted) == 0):
        precision = int(wanted.expressions[0].name) if wanted.expressions else 38
        if precision == 38:
            _cast_whole(node)
    elif wanted.this is _TYPES.BOOLEAN and not is_loose(value):
        return _cast_boolean(node)
    elif wanted.this is _TYPES.DATE and is_text(value):
        return from_text(value, "DATE", attempt=isinstance(node, exp.TryCast))
    elif wanted.this in {_TYPES.TIMESTAMP, _TYPES.TIMESTAMPNTZ} and is_text(value):
        return from_text(value, "TIMESTAMP", attempt=isinstance(node, exp.TryCast))
    elif wanted.this is _TYPES.FLOAT:
        node.set("to", exp.DataType.build("DOUBLE"))
    elif wanted.this in {_TYPES.TIMESTAMPLTZ, _TYPES.TIMESTAMPTZ}:
        if is_text(value):  # DuckDB wants the offset behind the time, and a colon in it
            apart = [exp.Literal.string(text) for text in (r" ?([+-]\d\d):?(\d\d)$", r"\1:\2")]
            node.set("this", call("regexp_replace", value, *apart))
        node.set("to", exp.DataType.build("TIMESTAMPTZ"))
    return node


_MOST_DIGITS = 18
"""Of a number that is sure to fit into 64 bits."""


def _cast_whole(node: exp.Expr) -> None:
    """A whole number is 64 bits wide here, unless more is written out; halves are rounded away from zero."""
    text = node.this.unnest()
    is_wide = isinstance(text, exp.Literal) and len(text.name) > _MOST_DIGITS
    if isinstance(text, exp.Literal) and text.is_string:
        kind = "HUGEINT" if is_wide else "DECIMAL(38,6)"
        node.set("this", type(node)(this=node.this, to=exp.DataType.build(kind, dialect="duckdb")))
    elif _is_float(node.this):
        node.set("this", call("round", node.this))
    node.set("to", exp.DataType.build("HUGEINT" if is_wide else "BIGINT", dialect="duckdb"))


def _is_float(node: exp.Expr) -> bool:
    kind = node.unnest().type
    return kind is not None and kind.this in {_TYPES.FLOAT, _TYPES.DOUBLE}


def _cast_boolean(node: exp.Expr) -> exp.Expr:
    if not is_text(node.this):
        return node
    said = exp.Lower(this=exp.cast(node.this.copy(), "TEXT"))
    ifs = [
        exp.If(this=exp.Literal.string(word), true=exp.Boolean(this=value))
        for word, value in (("on", True), ("off", False))
    ]
    return exp.Case(this=said, ifs=ifs, default=node.copy())


def _scale_of(kind: exp.Expr | None) -> int:
    if not isinstance(kind, exp.DataType) or len(kind.expressions) < 2:
        return 0
    return int(kind.expressions[1].name)


def _exact_scale(node: exp.Expr) -> int | None:
    """The scale of an exact number; ``None`` for what is none, or may be none."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        if node.is_string or "e" in node.this.lower():
            return None
        return len(node.this.partition(".")[2])
    if isinstance(node, exp.Neg):
        return _exact_scale(node.this)
    if isinstance(node, exp.Count | exp.CountIf):
        return 0
    if isinstance(node, exp.Window):
        return _exact_scale(node.this)
    if isinstance(node, exp.Sum | exp.Max | exp.Min | exp.Abs):
        return _exact_scale(node.this)
    if isinstance(node, exp.Coalesce):
        scales = [_exact_scale(one) for one in (node.this, *node.expressions)]
        return None if None in scales else max(one for one in scales if one is not None)
    if isinstance(node, exp.Nullif):
        return _exact_scale(node.this)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Mod):
        left, right = _exact_scale(node.this), _exact_scale(node.expression)
        if left is None or right is None:
            return None
        return min(12, left + right) if isinstance(node, exp.Mul) else max(left, right)
    if isinstance(node, exp.Case):
        values = [one.args["true"] for one in node.args["ifs"]]
        values += [node.args["default"]] if node.args.get("default") else []
        scales = [_exact_scale(one) for one in values if not isinstance(one, exp.Null)]
        return None if None in scales else max((one for one in scales if one is not None), default=0)
    if isinstance(node.unnest(), exp.Null):
        return 0
    if node.meta.get("scale") is not None:
        return int(node.meta["scale"])
    if node.type is not None and node.type.this in _EXACT:
        return _scale_of(node.type)
    return None


def _div(node: exp.Expr) -> exp.Expr:
    scale, other = _exact_scale(node.this), _exact_scale(node.expression)
    divisor = node.expression
    if not (isinstance(divisor.unnest(), exp.Literal) and divisor.unnest().name.strip("0.")):
        refuse = exp.Anonymous(this="error", expressions=[exp.Literal.string("Division by zero")])
        zero = exp.EQ(this=exp.Paren(this=divisor.copy()), expression=exp.Literal.number(0))
        divisor = exp.Case(ifs=[exp.If(this=zero, true=refuse)], default=divisor)
    divided = exp.Div(this=node.this, expression=divisor)
    if scale is None or other is None:
        return divided
    return _rounded(divided, scale)


def _rounded(value: exp.Expr, scale: int) -> exp.Expr:
    """An exact quotient: six digits more, twelve at most."""
    digits = max(scale, min(scale + 6, 12))
    found = exp.cast(exp.Paren(this=value), exp.DataType.build(f"DECIMAL(38,{digits})", dialect="duckdb"))
    found.meta["scale"] = digits
    return found


def _avg(node: exp.Expr) -> exp.Expr:
    if isinstance(node.parent, exp.Window):
        return node
    scale = _exact_scale(node.this)
    return node if scale is None else _rounded(node.copy(), scale)


def _window(node: exp.Expr) -> exp.Expr:
    inner = node.this
    if isinstance(inner, exp.Anonymous) and inner.name.upper() == "RATIO_TO_REPORT":
        value = inner.expressions[0]
        total = node.copy()
        total.set("this", exp.Sum(this=value.copy()))
        scale = _exact_scale(value)
        ratio = exp.Div(this=value, expression=exp.func("NULLIF", total, exp.Literal.number(0)))
        return exp.Paren(this=ratio) if scale is None else _rounded(ratio, scale)
    if isinstance(inner, exp.Avg) and (scale := _exact_scale(inner.this)) is not None:
        return _rounded(node.copy(), scale)
    return node


def _bracket(node: exp.Expr) -> exp.Expr:
    index = node.expressions[0]
    if isinstance(index, exp.Literal) and not index.is_string:
        return call("json_extract", node.this, exp.Literal.string(f"$[{index.name}]"))
    if isinstance(index, exp.Literal):
        return call("json_extract", node.this, exp.Literal.string(f'$."{index.name}"'))
    return call("json_extract", node.this, index)


def _moment(kind: str) -> Callable[[exp.Expr, Context], exp.Expr]:
    def literal(node: exp.Expr, context: Context) -> exp.Expr:
        now: datetime = context.now()
        forms = {"DATE": "%Y-%m-%d", "TIME": "%H:%M:%S.%f", "TIMESTAMP": "%Y-%m-%d %H:%M:%S.%f"}
        text = now.strftime(forms.get(kind, "%Y-%m-%d %H:%M:%S.%f+00:00"))
        return exp.cast(exp.Literal.string(text), kind)

    return literal


def _said(name: str) -> Callable[[exp.Expr, Context], exp.Expr]:
    def literal(node: exp.Expr, context: Context) -> exp.Expr:
        value = context.about().get(name)
        return exp.null() if value is None else exp.Literal.string(value)

    return literal


def _to_char(node: exp.Expr) -> exp.Expr:
    form, value = node.args.get("format"), node.this
    if form is None:
        return exp.cast(_text(value) if is_loose(value) else value, "TEXT")
    if not isinstance(form, exp.Literal):
        return call("computed_to_char", form, exp.cast(value, "TEXT"))
    if form.name.upper() in _OF_BYTES:
        return call(_OF_BYTES[form.name.upper()], value)
    if is_number_model(form.name):
        return call("computed_to_char", form, exp.cast(_text(value) if is_loose(value) else value, "TEXT"))
    return _written(value, form.name)


_OF_BYTES = {"HEX": "hex", "BASE64": "to_base64", "UTF-8": "decode", "UTF8": "decode"}
_TO_BYTES = {"HEX": "unhex", "BASE64": "from_base64", "UTF-8": "encode", "UTF8": "encode"}


def _to_binary(node: exp.Expr) -> exp.Expr:
    form = node.args.get("format")
    name = form.name.upper() if isinstance(form, exp.Literal) else "HEX"
    found = call(_TO_BYTES.get(name, "unhex"), exp.cast(node.this, "TEXT"))
    return call("TRY", found) if node.args.get("safe") else found


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_FRACTION = re.compile(rf"([Ff][Ff][0-9]|%f_(?:{'|'.join(_DIGITS)}))")
"""FF and a number, as it is written, and as sqlglot has it."""


def _to_date(node: exp.Expr) -> exp.Expr:
    form = node.args.get("format")
    if not isinstance(form, exp.Literal) or form.name.upper() != "AUTO":
        return node
    return from_text(node.this, "DATE", attempt=bool(node.args.get("safe")))


def _time_to_str(node: exp.Expr) -> exp.Expr:
    form = node.args["format"]
    if not isinstance(form, exp.Literal) or not _FRACTION.search(form.name):
        return node
    return _written(node.this, form.name)


def _written(value: exp.Expr, form: str) -> exp.Expr:
    """A date or time by a format; FF with a number has so many digits."""
    made: exp.Expr | None = None
    for piece in _FRACTION.split(form):
        if not piece:
            continue
        if _FRACTION.fullmatch(piece):
            count = _DIGITS.index(piece[3:]) if "_" in piece else int(piece[2])
            digits = call("strftime", value, exp.Literal.string("%n"))
            part = call("left", digits, exp.Literal.number(count))
        else:
            part = call("strftime", value, exp.Literal.string(time_format(piece)))
        made = part if made is None else exp.DPipe(this=made, expression=part)
    return exp.Literal.string("") if made is None else exp.Paren(this=made)


def _to_number(node: exp.Expr) -> exp.Expr:
    """TO_NUMBER, perhaps by a format."""
    form, value = node.args.get("format"), node.this
    precision, scale = (node.args.get(key) for key in ("precision", "scale"))
    digits = f"{precision.name if precision else 38},{scale.name if scale else 0}"
    if form is None and digits == "38,0":
        made = (exp.TryCast if node.args.get("safe") else exp.Cast)(this=value, to=exp.DataType.build("INT"))
        return _cast(made)
    if form is not None:
        value = call("computed_from_char", form, exp.cast(value, "TEXT"))
    kind = exp.DataType.build(f"DECIMAL({digits})", dialect="duckdb")
    found = (exp.TryCast if node.args.get("safe") else exp.Cast)(this=value, to=kind)
    return call("TRY", found) if node.args.get("safe") else found


def _kept_json(name: str, *keys: str, values: tuple[str, ...] = ()) -> Rule:
    """A function of ARRAYs that Python computes; ``values``: arguments that are elements, and not numbers."""

    def make(node: exp.Expr) -> exp.Expr:
        parts = [exp.cast(node.this, "TEXT")]
        for key in keys:
            part = node.args[key]
            parts.append(exp.cast(_json(part), "TEXT") if key in values else part)
        return exp.cast(call(name, *parts), "JSON")

    return make


def _compact(node: exp.Expr) -> exp.Expr:
    array = call("json_array", *node.expressions) if node.expressions else node.this
    return exp.cast(call("computed_array_compact", exp.cast(array, "TEXT")), "JSON")


def _to_array(node: exp.Expr) -> exp.Expr:
    value = node.this
    if not is_loose(value):
        return call("json_array", value)
    is_array = exp.EQ(this=call("json_type", value), expression=exp.Literal.string("ARRAY"))
    return exp.Case(ifs=[exp.If(this=is_array, true=value)], default=call("json_array", value))


_PAIRS = "to_json(map_from_entries(list_filter(pairs_, e -> e.k IS NOT NULL AND e.v IS NOT NULL)))"


def _object(*, keep_null: bool) -> Rule:
    """An OBJECT of pairs: one whose key is NULL is left out, and one whose value is, unless it is kept."""

    def make(node: exp.Expr) -> exp.Expr:
        pairs: list[exp.Expr] = []
        written: set[str] = set()
        for one in node.expressions:
            if not isinstance(one, exp.PropertyEQ | exp.JSONKeyValue):
                return node
            key = exp.Literal.string(one.this.name) if isinstance(one.this, exp.Identifier) else one.this
            if isinstance(key, exp.Literal):
                if key.name in written:
                    raise SqlError(100103, "22000", f"Duplicate field key '{key.name}'")
                written.add(key.name)
            value = call("to_json", one.expression)
            if keep_null:
                value = exp.Coalesce(this=value, expressions=[exp.cast(exp.Literal.string("null"), "JSON")])
            fields = {"k": exp.cast(key.copy(), "TEXT"), "v": value}
            pairs.append(
                exp.Struct(
                    expressions=[
                        exp.PropertyEQ(this=exp.to_identifier(name), expression=of)
                        for name, of in fields.items()
                    ]
                )
            )
        if not pairs:
            return exp.cast(exp.Literal.string("{}"), "JSON")
        return filled(_PAIRS, pairs_=exp.Array(expressions=pairs))

    return make


def _array_agg(node: exp.Expr) -> exp.Expr:
    if isinstance(node.parent, exp.WithinGroup | exp.Window):
        return node
    if isinstance(node.parent, exp.Anonymous) and node.parent.name == "to_json":
        return node
    return call("to_json", exp.Coalesce(this=node.copy(), expressions=[exp.Array()]))


_ONE, _EVERY = exp.Literal.number(1), exp.Literal.string("$[*]")


def _list(node: exp.Expr) -> exp.Expr:
    """The elements of an ARRAY."""
    return call("json_extract", node, _EVERY.copy())


def _of_list(name: str, *parts: exp.Expr) -> exp.Expr:
    """An ARRAY that a function of lists gives."""
    return call("to_json", call(name, *parts))


def _most(node: exp.Expr, which: str) -> exp.Expr:
    found = call("computed_array_most", exp.cast(node.this, "TEXT"), exp.Literal.string(which))
    return exp.cast(found, "JSON")


def _json(node: exp.Expr) -> exp.Expr:
    """A value as an element of an ARRAY."""
    return node if is_loose(node) else call("to_json", node)


def _typeof(node: exp.Expr) -> exp.Expr:
    names = {"UBIGINT": "INTEGER", "BIGINT": "INTEGER", "DOUBLE": "DECIMAL", "NULL": "NULL_VALUE"}
    kind = call("json_type", node.this)
    ifs = [exp.If(this=exp.Literal.string(one), true=exp.Literal.string(said)) for one, said in names.items()]
    return exp.Case(this=kind, ifs=ifs, default=kind.copy())


_WHOLE_DAYS = {"DAY", "WEEK", "MONTH", "QUARTER", "YEAR"}


def _date_add(node: exp.Expr) -> exp.Expr:
    """A date and days is a date; DuckDB makes an instant of it."""
    found = _timestamp_part(node)
    if not _is_date(node.this) or str(node.text("unit")).upper() not in _WHOLE_DAYS:
        return found
    return exp.cast(found.copy(), "DATE")


def _is_date(node: exp.Expr) -> bool:
    node = node.unnest()
    if isinstance(node, exp.CurrentDate | exp.TsOrDsToDate | exp.LastDay | exp.DateFromParts):
        return True
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc | exp.DateAdd | exp.Coalesce):
        return _is_date(node.this)
    if isinstance(node, exp.Cast):
        return node.to.this is _TYPES.DATE
    return node.type is not None and node.type.this is _TYPES.DATE


def _within_group(node: exp.Expr) -> exp.Expr:
    if not isinstance(node.this, exp.ArrayAgg):
        return node
    return call("to_json", exp.Coalesce(this=node.copy(), expressions=[exp.Array()]))


def _with(node: exp.Expr) -> exp.Expr:
    node.set("recursive", True)  # Snowflake has the word, and does without
    return node


def _width_bucket(node: exp.Expr) -> exp.Expr:
    value, low, high, count = (node.args[key] for key in ("this", "min_value", "max_value", "num_buckets"))
    template = (
        "CASE WHEN v IS NULL THEN NULL WHEN v < a THEN 0 WHEN v >= b THEN n + 1 "
        "ELSE CAST(floor((v - a) * n / (b - a)) AS BIGINT) + 1 END"
    )
    return filled(template, v=value, a=low, b=high, n=count)


def _datediff(node: exp.Expr) -> exp.Expr:
    for key in ("this", "expression"):
        value = node.args[key].unnest()
        if isinstance(value, exp.Literal) and value.is_string:
            node.set(key, exp.cast(value, "TIMESTAMP"))
    return node


def _timestamp_part(node: exp.Expr) -> exp.Expr:
    value = node.this.unnest()
    if isinstance(value, exp.Literal) and value.is_string:
        node.set("this", exp.cast(value, "TIMESTAMP"))
    return node


_PARAMETERS = "cimse"


def _parameters(name: str) -> Rule:
    """A function of a regular expression: its parameters are letters that there are."""

    def make(node: exp.Expr) -> exp.Expr:
        said = node.args.get(name)
        if said is None:
            return node
        if isinstance(said, exp.Null):
            return exp.null()
        if not isinstance(said, exp.Literal):
            raise SqlError(2, "0A000", "Unsupported feature 'parameters of a regular expression by a value'.")
        for letter in said.name:
            if letter not in _PARAMETERS:
                pattern = node.expression.name if isinstance(node.expression, exp.Literal) else ""
                text = f"Invalid regular expression: '{pattern[:200]}', unknown parameter '{letter}'"
                raise SqlError(100048, "2201B", text)
        return node

    return make


_RULES: dict[type[exp.Expr], Rule] = {
    exp.RegexpLike: _parameters("flag"),
    exp.RegexpReplace: _parameters("modifiers"),
    **dict.fromkeys(
        (exp.RegexpExtract, exp.RegexpExtractAll, exp.RegexpCount, exp.RegexpInstr), _parameters("parameters")
    ),
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Div: _div,
    exp.Avg: _avg,
    exp.Window: _window,
    exp.Bracket: _bracket,
    exp.ToChar: _to_char,
    exp.TimeToStr: _time_to_str,
    exp.TsOrDsToDate: _to_date,
    exp.ToBinary: _to_binary,
    exp.ToNumber: _to_number,
    # To no number of digits is NULL.
    exp.Round: lambda node: exp.null() if isinstance(node.args.get("decimals"), exp.Null) else node,
    exp.Soundex: lambda node: call("computed_soundex", exp.cast(node.this, "TEXT")),
    exp.ArrayCompact: _compact,
    exp.ArrayConstructCompact: _compact,
    exp.ArrayExcept: _kept_json("computed_array_except", "expression", values=("expression",)),
    exp.ArrayInsert: _kept_json("computed_array_insert", "position", "expression", values=("expression",)),
    exp.ArrayRemove: _kept_json("computed_array_remove", "expression", values=("expression",)),
    exp.ArrayRemoveAt: _kept_json("computed_array_remove_at", "position"),
    exp.ArrayMax: lambda node: _most(node, "max"),
    exp.ArrayMin: lambda node: _most(node, "min"),
    exp.StrtokToArray: _kept_json("computed_strtok", "expression"),
    exp.ToArray: _to_array,
    exp.GetIgnoreCase: _kept_json("computed_member", "expression"),
    exp.Array: lambda node: call("json_array", *node.expressions),
    exp.Struct: _object(keep_null=False),
    exp.JSONObject: _object(keep_null=True),
    exp.ArrayAgg: _array_agg,
    exp.JSONKeys: lambda node: call("to_json", call("json_keys", node.this)),
    exp.ArraySize: lambda node: call("json_array_length", node.this),
    exp.ArrayContains: lambda node: call("json_contains", node.this, _json(node.expression)),
    exp.ArrayAppend: lambda node: _of_list("list_append", _list(node.this), _json(node.expression)),
    exp.ArrayPrepend: lambda node: _of_list("list_prepend", _json(node.expression), _list(node.this)),
    exp.ArrayConcat: lambda node: _of_list("list_concat", *map(_list, (node.this, *node.expressions))),
    exp.ArrayDistinct: _kept_json("computed_array_distinct"),
    exp.ArraySort: lambda node: _of_list("list_sort", _list(node.this)),
    exp.ArrayReverse: lambda node: _of_list("list_reverse", _list(node.this)),
    # Places count from 0.
    exp.ArrayPosition: lambda node: exp.Sub(
        this=call("list_position", _list(node.this), _json(node.expression)), expression=_ONE.copy()
    ),
    exp.ArraySlice: lambda node: _of_list(
        "list_slice",
        _list(node.this),
        exp.Add(this=exp.Paren(this=node.args["start"]), expression=_ONE.copy()),
        node.args["end"],
    ),
    exp.ArrayOverlaps: lambda node: call("list_has_any", _list(node.this), _list(node.expression)),
    exp.ArrayIntersect: lambda node: _of_list("list_intersect", *map(_list, node.expressions)),
    exp.ObjectInsert: lambda node: call(
        "json_merge_patch", node.this, call("json_object", node.args["key"], node.args["value"])
    ),
    exp.ArrayToString: lambda node: call(
        "array_to_string", call("json_extract_string", node.this, _EVERY.copy()), node.expression
    ),
    exp.Split: lambda node: _of_list("str_split", node.this, node.expression),
    exp.ParseJSON: lambda node: (
        exp.TryCast(this=node.this, to=exp.DataType.build("JSON"))
        if node.args.get("safe")
        else exp.cast(node.this, "JSON")
    ),
    exp.ToVariant: lambda node: _json(node.this),
    exp.Typeof: _typeof,
    exp.DateDiff: _datediff,
    exp.TimestampTrunc: _timestamp_part,
    exp.DateAdd: _date_add,
    exp.MonthsBetween: lambda node: exp.cast(
        node.copy(), exp.DataType.build("DECIMAL(38,6)", dialect="duckdb")
    ),
    exp.WithinGroup: _within_group,
    exp.With: _with,
    exp.ObjectAgg: lambda node: call("json_group_object", node.this, node.expression),
    exp.WidthBucket: _width_bucket,
    exp.CurrentVersion: lambda node: exp.Literal.string(_VERSION),
}
_OF_SESSION: dict[type[exp.Expr], Callable[[exp.Expr, Context], exp.Expr]] = {
    exp.CurrentTimestamp: lambda node, context: _moment(
        "TIMESTAMP" if node.args.get("sysdate") else "TIMESTAMPTZ"
    )(node, context),
    exp.CurrentDate: _moment("DATE"),
    exp.CurrentTime: _moment("TIME"),
    exp.CurrentDatabase: _said("database"),
    exp.CurrentSchema: _said("schema"),
    exp.CurrentUser: _said("user"),
    exp.CurrentRole: _said("role"),
    exp.CurrentWarehouse: _said("warehouse"),
}
"""Functions that follow from the clock and the session."""
