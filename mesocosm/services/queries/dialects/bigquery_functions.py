"""Functions of GoogleSQL that DuckDB has otherwise, as expressions of DuckDB.

A template is SQL of DuckDB in which ``:name`` stands for a part of the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache

import sqlglot
from sqlglot import exp

from mesocosm.errors import Invalid

SAME = frozenset({"ACOSH", "ASINH", "ATANH", "COSH", "SINH", "TANH", "CBRT", "TRANSLATE", "ISNAN", "ISINF"})
"""Functions that the parser has no class for, and that DuckDB computes under the same name alike."""
_ELEMENTS_OF = {"BOOL": "BOOLEAN", "FLOAT64": "DOUBLE", "INT64": "BIGINT", "STRING": "VARCHAR"}
NAMED = {
    "IEEE_DIVIDE": "CAST(:0 AS DOUBLE) / CAST(:1 AS DOUBLE)",
    "CSC": "1 / SIN(:0)",
    "SEC": "1 / COS(:0)",
    "ARRAY_IS_DISTINCT": "LEN(:0) = LEN(LIST_DISTINCT(:0))"
    " + CASE WHEN LEN(LIST_FILTER(:0, e -> e IS NULL)) > 0 THEN 1 ELSE 0 END",
    "ARRAY_INCLUDES_ALL": "LIST_HAS_ALL(:0, :1)",
    "ARRAY_INCLUDES_ANY": "LIST_HAS_ANY(:0, :1)",
    "ARRAY_INCLUDES": "LIST_CONTAINS(:0, :1)",
    "ARRAY_MIN": "LIST_MIN(:0)",
    "ARRAY_MAX": "LIST_MAX(:0)",
    "ARRAY_SUM": "LIST_SUM(:0)",
    "ARRAY_AVG": "LIST_AVG(:0)",
    "ERROR": "ERROR(:0)",
    **{
        f"{prefix}{kind}_ARRAY": f"CAST(COMPUTED_VALUES('{kind}', CAST(:0 AS VARCHAR), {lax}) AS {duck}[])"
        for kind, duck in _ELEMENTS_OF.items()
        for prefix, lax in (("", "FALSE"), ("LAX_", "TRUE"))
    },
}
"""Others of these."""
FUNCTIONS = SAME | frozenset(NAMED)


@cache
def _parsed(template: str) -> exp.Expr:
    marked = re.sub(r":(\w+)", r"__part_\1", template)
    return sqlglot.parse_one(marked, read="duckdb")


def duck(template: str, **parts: exp.Expr) -> exp.Expr:
    """A template with its parts put in; what is made is not rewritten once more."""
    tree = _parsed(template).copy()
    for node in list(tree.find_all(exp.Column)):
        name = node.name.removeprefix("__part_")
        if name != node.name:
            part = parts[name].copy()
            if isinstance(part, exp.Binary | exp.Connector | exp.Unary):
                part = exp.Paren(this=part)
            if node is tree:
                return exp.Paren(this=part)
            node.replace(part)
    return exp.Paren(this=tree)


def text(value: str) -> exp.Literal:
    """A text as it stands in a statement."""
    return exp.Literal.string(value)


# -- numbers and texts --------------------------------------------------------------------------------------


_GROUPED = (
    r"REGEXP_REPLACE(REGEXP_REPLACE(CAST(:x AS VARCHAR), '\.(\d{2}|\d{5})(\D|$)', '.\10\2'),"
    r" '\.(\d|\d{4})(\D|$)', '.\100\2')"
)
"""A moment or a time with none, three or six digits of a second."""


def as_text(value: exp.Expr) -> exp.Expr:
    """CAST(x AS STRING): numbers without zeros at their end."""
    return duck(
        "CASE WHEN TYPEOF(:x) = 'DOUBLE' THEN REGEXP_REPLACE(CAST(:x AS VARCHAR), '\\.0$', '')"
        " WHEN TYPEOF(:x) LIKE 'DECIMAL%' AND CAST(:x AS VARCHAR) LIKE '%.%'"
        " THEN RTRIM(RTRIM(CAST(:x AS VARCHAR), '0'), '.')"
        f" WHEN TYPEOF(:x) LIKE 'TIME%' THEN {_GROUPED} ELSE CAST(:x AS VARCHAR) END",
        x=value,
    )


def instr(node: exp.Expr) -> exp.Expr:
    """INSTR with a place to begin or an occurrence: the first place from there on that is not too early, or
    from there back, where it is counted from the end."""
    start = node.args.get("position") or exp.Literal.number(1)
    count = node.args.get("occurrence") or exp.Literal.number(1)
    return duck(
        "COALESCE(LIST_EXTRACT(CASE WHEN :start > 0"
        " THEN LIST_FILTER(RANGE(:start, LENGTH(:x) + 1), i -> SUBSTR(:x, i, LENGTH(:y)) = :y)"
        " ELSE LIST_REVERSE(LIST_FILTER(RANGE(1, LENGTH(:x) + :start + 2),"
        " i -> SUBSTR(:x, i, LENGTH(:y)) = :y)) END, :count), 0)",
        x=node.this,
        y=node.args["substr"],
        start=start,
        count=count,
    )


_PIECE = re.compile(r"%(?P<flags>[-+ #0']*)(?P<width>\d*|\*)(?P<dot>\.(?:\d*|\*))?(?P<kind>[a-zA-Z%])")
_OF_ANY_TYPE = (
    "COALESCE(COMPUTED_PRINTF(:f, CASE WHEN TYPEOF(:x) LIKE '%]' OR TYPEOF(:x) LIKE 'STRUCT%'"
    " THEN CAST(TO_JSON(:x) AS VARCHAR) ELSE :t END, TYPEOF(:x)), 'NULL')"
)


def formatted(node: exp.Expr) -> exp.Expr:
    """FORMAT with a text that is written out: its pieces, one behind the other."""
    pattern, values = node.this, list(node.expressions)
    if not isinstance(pattern, exp.Literal):
        return node
    parts: list[exp.Expr] = []
    at = 0
    for found in _PIECE.finditer(pattern.name):
        if "%" in pattern.name[at : found.start()]:
            raise Invalid(f'Invalid FORMAT string: "{pattern.name[:100]}"', code="invalidQuery")
        if found.start() > at:
            parts.append(text(pattern.name[at : found.start()]))
        at = found.end()
        parts.append(text("%") if found["kind"] == "%" else _piece(found, values))
    if "%" in pattern.name[at:]:
        raise Invalid(f'Invalid FORMAT string: "{pattern.name[:100]}"', code="invalidQuery")
    if values:
        raise Invalid("Too many arguments to FORMAT for its pattern", code="invalidQuery")
    if at < len(pattern.name) or not parts:
        parts.append(text(pattern.name[at:]))
    made = parts[0]
    for part in parts[1:]:
        made = exp.DPipe(this=made, expression=part, safe=True)
    return exp.Paren(this=made)


def _piece(found: re.Match[str], values: list[exp.Expr]) -> exp.Expr:
    shape: exp.Expr = text(found[0])
    if "*" in found[0]:
        # A width or a precision that is a value, too.
        pieces = found[0].split("*")
        if len(values) < len(pieces):
            raise Invalid("Too few arguments to FORMAT for its pattern", code="invalidQuery")
        shape = text(pieces[0])
        for piece in pieces[1:]:
            shape = duck(":a || CAST(:n AS VARCHAR) || :b", a=shape, n=values.pop(0), b=text(piece))
    if not values:
        raise Invalid("Too few arguments to FORMAT for its pattern", code="invalidQuery")
    value = values.pop(0)
    if found["kind"] in "tT":
        return duck(_OF_ANY_TYPE, f=shape, x=value, t=as_text(value))
    shown = as_text(value) if found["kind"] == "s" else exp.cast(value.copy(), "VARCHAR", dialect="duckdb")
    return duck("COMPUTED_PRINTF(:f, :t, TYPEOF(:x))", f=shape, t=shown, x=value)


# -- JSON ---------------------------------------------------------------------------------------------------

LAX_BOOL = (
    "CASE JSON_TYPE(:x) WHEN 'BOOLEAN' THEN CAST(:x ->> '$' AS BOOLEAN) WHEN 'VARCHAR' THEN"
    " CASE LOWER(:x ->> '$') WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
    " ELSE TRY_CAST(:x ->> '$' AS DOUBLE) <> 0 END"
)
LAX_INT64 = (
    "CASE JSON_TYPE(:x) WHEN 'BOOLEAN' THEN CASE WHEN :x ->> '$' = 'true' THEN 1 ELSE 0 END"
    " ELSE COALESCE(TRY_CAST(:x ->> '$' AS BIGINT),"
    " TRY_CAST(ROUND(TRY_CAST(:x ->> '$' AS DOUBLE)) AS BIGINT)) END"
)
LAX_FLOAT64 = "CASE WHEN JSON_TYPE(:x) <> 'BOOLEAN' THEN TRY_CAST(:x ->> '$' AS DOUBLE) END"
LAX_STRING = "CASE WHEN JSON_TYPE(:x) NOT IN ('OBJECT', 'ARRAY') THEN :x ->> '$' END"


def changed_json(how: str) -> Callable[[exp.Expr], exp.Expr]:
    """A rule for functions that change JSON by paths, and take one flag by its name."""

    def rule(node: exp.Expr) -> exp.Expr:
        given = [one for one in node.expressions if not isinstance(one, exp.Kwarg)]
        flags = [one.expression for one in node.expressions if isinstance(one, exp.Kwarg)]
        parts: list[exp.Expr] = []
        for place, one in enumerate(given):
            is_path = how == "remove" or place % 2 == 0
            parts.append(one if is_path else exp.Anonymous(this="TO_JSON", expressions=[one.copy()]))
        made = duck(
            "COMPUTED_JSON(:how, CAST(:j AS VARCHAR), CAST(:a AS VARCHAR), :flag)",
            how=text(how),
            j=node.this,
            a=exp.Anonymous(this="JSON_ARRAY", expressions=[one.copy() for one in parts]),
            flag=flags[0] if flags else exp.true(),
        )
        return exp.cast(made, "JSON", dialect="duckdb")

    return rule


def value_array(node: exp.Expr) -> exp.Expr:
    """JSON_VALUE_ARRAY."""
    path = node.expression
    written = path.sql("bigquery") if isinstance(path, exp.JSONPath) else "'$'"
    said = written.strip("'").replace("\\'", "'") if isinstance(path, exp.JSONPath) else "$"
    return duck("COMPUTED_SCALARS(CAST(:j AS VARCHAR), :p)", j=node.this, p=text(said))


def of_json(kind: str, types: str) -> str:
    """BOOL, INT64 and FLOAT64 of JSON: an error for JSON of another type."""
    return (
        f"CASE WHEN JSON_TYPE(:x) IN ({types}) THEN CAST(:x ->> '$' AS {kind}) WHEN :x IS NOT NULL THEN"
        f" CAST(ERROR('The provided JSON input is not of the expected type') AS {kind}) END"
    )


def commonest(node: exp.Expr) -> exp.Expr:
    """APPROX_TOP_COUNT: what comes most often, with how often; exact here."""
    return duck(
        "LIST_TRANSFORM(LIST_SLICE(LIST_REVERSE_SORT(LIST_TRANSFORM(MAP_ENTRIES(HISTOGRAM({'v': :x})),"
        " e -> {'n': CAST(e.value AS BIGINT), 'v': e.key.v})), 1, :n), e -> {'value': e.v, 'count': e.n})",
        x=node.this,
        n=node.expression,
    )


# -- dates and times ----------------------------------------------------------------------------------------

WRITTEN = {
    "YYYY": "%Y",
    "RRRR": "%Y",
    "YY": "%y",
    "RR": "%y",
    "MONTH": "%B",
    "MON": "%b",
    "MM": "%m",
    "DDD": "%j",
    "DD": "%d",
    "DAY": "%A",
    "DY": "%a",
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "AM": "%p",
    "PM": "%p",
}
"""Elements of the format of a date or time that is written, as STRFTIME has them."""
_OFFSET_HOURS = (
    "CASE WHEN :offset < 0 THEN '-' ELSE '+' END || LPAD(CAST(ABS(:offset) // 60 AS VARCHAR), 2, '0')"
)
_OFFSET_MINUTES = "LPAD(CAST(ABS(:offset) % 60 AS VARCHAR), 2, '0')"
_PIECES = {
    "YYY": "RIGHT(STRFTIME(:x, '%Y'), 3)",
    "Y": "RIGHT(STRFTIME(:x, '%Y'), 1)",
    "D": "CAST(EXTRACT('dow' FROM :x) + 1 AS VARCHAR)",
    "SSSSS": "LPAD(CAST(DATE_DIFF('second', DATE_TRUNC('day', :x), :x) AS VARCHAR), 5, '0')",
    "A.M.": "LEFT(STRFTIME(:x, '%p'), 1) || '.M.'",
    "P.M.": "LEFT(STRFTIME(:x, '%p'), 1) || '.M.'",
    "TZH": _OFFSET_HOURS,
    "TZM": _OFFSET_MINUTES,
}
_NAMES = "|".join(re.escape(one) for one in sorted((*WRITTEN, *_PIECES), key=len, reverse=True))
_ELEMENT = re.compile(
    rf'(?P<name>{_NAMES})|FF(?P<digits>[1-9])|"(?P<text>[^"]*)"|(?P<sign>[-./,\';: ])', re.IGNORECASE
)


def written_time(value: exp.Expr, pattern: str, zone: exp.Expr | None) -> exp.Expr | None:
    """CAST of a date or time AS STRING with FORMAT; ``None`` for elements that are not known here."""
    inner = value.unnest()
    if isinstance(inner, exp.Cast) and inner.to.this is exp.DataType.Type.TIME:
        moment = duck("DATE '1970-01-01' + :x", x=value)
    elif zone is not None:
        moment = duck("TIMEZONE(:zone, CAST(:x AS TIMESTAMPTZ))", zone=zone, x=value)
    else:
        moment = duck("CAST(:x AS TIMESTAMP)", x=value)
    offset = exp.Literal.number(0) if zone is None else _offset(value, moment)
    made: list[exp.Expr] = []
    at = 0
    while at < len(pattern):
        found = _ELEMENT.match(pattern, at)
        if found is None:
            return None
        at = found.end()
        name = found["name"]
        if found["digits"]:
            digits = exp.Literal.number(found["digits"])
            made.append(duck("LEFT(STRFTIME(:x, '%f') || '000', :n)", x=moment, n=digits))
        elif name is None:
            made.append(text(found["text"] if found["text"] is not None else found["sign"]))
        else:
            made.append(_cased(name, _element_of(name.upper(), moment, offset)))
    whole: exp.Expr = made[0] if made else text("")
    for part in made[1:]:
        whole = exp.DPipe(this=whole, expression=part, safe=True)
    return exp.Paren(this=whole)


def _offset(value: exp.Expr, moment: exp.Expr) -> exp.Expr:
    """Return the UTC offset, in minutes, of a zone at a local time ``moment``."""
    return duck("DATE_DIFF('minute', TIMEZONE('UTC', CAST(:v AS TIMESTAMPTZ)), :x)", v=value, x=moment)


def _element_of(name: str, moment: exp.Expr, offset: exp.Expr) -> exp.Expr:
    if name in _PIECES:
        return duck(_PIECES[name], x=moment, offset=offset)
    return duck("STRFTIME(:x, :f)", x=moment, f=text(WRITTEN[name]))


def _cased(name: str, shown: exp.Expr) -> exp.Expr:
    """Letters as those of the element are."""
    if name[:2].isupper() or len(name) == 1:
        return duck("UPPER(:x)", x=shown)
    return duck("LOWER(:x)", x=shown) if name[0].islower() else shown


_CODES = {
    "%R": "%H:%M",
    "%D": "%m/%d/%y",
    "%T": "%H:%M:%S",
    "%F": "%Y-%m-%d",
    "%E*S": "%S.%f",
    "%E6S": "%S.%f",
    "%E3S": "%S.%g",
    "%E4Y": "%Y",
    "%Ez": "%z",
    "%k": "%-H",
    "%l": "%-I",
    "%P": "%p",
    "%n": "\n",
    "%t": "\t",
    "%h": "%b",
    "%s": "%s",
}
_CODE = re.compile(r"%(?:E\*S|E\dS|E4Y|Ez|.)", re.DOTALL)


def layout(pattern: exp.Expr) -> exp.Expr:
    """A format of dates and times with the codes that DuckDB has."""
    if not isinstance(pattern, exp.Literal):
        return pattern
    return text(_CODE.sub(lambda found: _CODES.get(found[0], found[0]), pattern.name))


def shown_time(node: exp.Expr) -> exp.Expr:
    """FORMAT_DATE, FORMAT_TIMESTAMP and their like."""
    inner = node.this
    value = inner.this if type(inner).__name__.startswith("TsOrDs") else inner
    kind = {"TsOrDsToDate": "DATE", "TsOrDsToTimestamp": "TIMESTAMPTZ", "TsOrDsToTime": "TIME"}.get(
        type(inner).__name__, "TIMESTAMP"
    )
    moment: exp.Expr = exp.cast(value.copy(), kind, dialect="duckdb")
    if kind == "TIMESTAMPTZ":
        moment = duck("TIMEZONE(:zone, :x)", zone=node.args.get("zone") or text("UTC"), x=moment)
    elif kind == "TIME":
        moment = duck("DATE '1970-01-01' + :x", x=moment)
    pattern = layout(node.args["format"])
    if kind == "TIMESTAMPTZ" and isinstance(pattern, exp.Literal) and re.search("%[zZ]", pattern.name):
        return duck("STRFTIME(:x, :f)", x=moment, f=_zoned(node, _offset(value, moment)))
    if not isinstance(pattern, exp.Literal) or "%Q" not in pattern.name:
        return duck("STRFTIME(:x, :f)", x=moment, f=pattern)
    pieces = pattern.name.split("%Q")
    made: exp.Expr = duck("STRFTIME(:x, :f)", x=moment, f=text(pieces[0])) if pieces[0] else text("")
    for piece in pieces[1:]:
        rest = duck("CAST(QUARTER(:x) AS VARCHAR)", x=moment)
        made = exp.DPipe(this=made, expression=rest, safe=True)
        if piece:
            after = duck("STRFTIME(:x, :f)", x=moment, f=text(piece))
            made = exp.DPipe(this=made, expression=after, safe=True)
    return exp.Paren(this=made)


def _zoned(node: exp.Expr, offset: exp.Expr) -> exp.Expr:
    """A format in which the zone is put in: DuckDB's moments have none."""
    zone = node.args.get("zone")
    name = zone.name if isinstance(zone, exp.Literal) else "UTC"
    made: exp.Expr = text("")
    for piece in re.split("(%Ez|%z|%Z)", node.args["format"].name):
        if piece in ("%Ez", "%z"):
            shown = duck(
                f"{_OFFSET_HOURS} || :colon || {_OFFSET_MINUTES}",
                offset=offset,
                colon=text(":" if piece == "%Ez" else ""),
            )
        else:
            shown = text(name) if piece == "%Z" else layout(text(piece))
        made = exp.DPipe(this=made, expression=shown, safe=True)
    return exp.Paren(this=made)


def read_time(node: exp.Expr, kind: str) -> exp.Expr:
    """PARSE_DATE, PARSE_TIMESTAMP and their like; years that are not said are 1970."""
    pattern = layout(node.args["format"])
    value = node.this
    if isinstance(pattern, exp.Literal):
        patterns = [pattern.name]
        if "%S.%f" in pattern.name:
            patterns.append(pattern.name.replace("%S.%f", "%S"))
        if not re.search(r"%[YyGcxs]", pattern.name):
            value = duck("'1970 ' || :x", x=value)
            patterns = [f"%Y {one}" for one in patterns]
        pattern = exp.Array(expressions=[text(one) for one in patterns])
    moment = duck("STRPTIME(:x, :f)", x=value, f=pattern)
    if kind == "TIMESTAMPTZ":
        return duck(
            "TIMEZONE(:zone, CAST(:x AS TIMESTAMP))", zone=node.args.get("zone") or text("UTC"), x=moment
        )
    return exp.cast(moment, kind, dialect="duckdb")


_PARTS = {
    "ISOWEEK": "EXTRACT('week' FROM :x)",
    "DAYOFWEEK": "EXTRACT('dow' FROM :x) + 1",
    "DAYOFYEAR": "EXTRACT('doy' FROM :x)",
    "WEEK": "CAST(STRFTIME(:x, '%U') AS BIGINT)",
    "DATE": "CAST(:x AS DATE)",
    "TIME": "CAST(:x AS TIME)",
    "DATETIME": "CAST(:x AS TIMESTAMP)",
    "MILLISECOND": "EXTRACT('millisecond' FROM :x) % 1000",
    "MICROSECOND": "EXTRACT('microsecond' FROM :x) % 1000000",
}
_DAYS = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")


def extracted(node: exp.Expr) -> exp.Expr:
    """EXTRACT of the parts that DuckDB calls or counts otherwise."""
    unit, value = node.this, node.expression
    if isinstance(unit, exp.WeekStart):
        # The first such day of a year begins its week 1: as days of the year before it, in weeks.
        day = exp.Literal.number(_DAYS.index(unit.this.name.upper()))
        return duck(
            "(EXTRACT('doy' FROM :x) + 6 - (EXTRACT('dow' FROM :x) - :day + 7) % 7) // 7", x=value, day=day
        )
    template = _PARTS.get(unit.name.upper())
    return duck(template, x=value) if template else node


def day_of(node: exp.Expr) -> exp.Expr:
    """A function of dates whose result is a date."""
    return exp.cast(node, "DATE", dialect="duckdb")


def time_trunc(node: exp.Expr) -> exp.Expr:
    """TIME_TRUNC, through a moment of that time."""
    unit = node.text("unit").lower()
    if unit not in ("hour", "minute", "second", "millisecond", "microsecond"):
        return node
    return duck(f"CAST(DATE_TRUNC('{unit}', DATE '1970-01-01' + :x) AS TIME)", x=node.this)


def literal_time(value: exp.Expr, kind: str) -> exp.Expr:
    """A text that is meant as a time."""
    return exp.cast(value.copy(), kind, dialect="duckdb") if isinstance(value, exp.Literal) else value


def whole_units(node: exp.Expr, kind: str) -> exp.Expr:
    """Count the whole units between two times."""
    return duck(
        "DATE_SUB(:unit, :y, :x)",
        unit=text(node.text("unit").lower() or "microsecond"),
        x=literal_time(node.this, kind),
        y=literal_time(node.expression, kind),
    )


def moment_of(now: Callable[[], datetime], zone: exp.Expr | None, kind: str) -> exp.Expr:
    """The present by the world's clock, in a time zone."""
    present = exp.cast(text(now().strftime("%Y-%m-%d %H:%M:%S+00")), "TIMESTAMPTZ", dialect="duckdb")
    if kind == "TIMESTAMPTZ":
        return present
    return duck(f"CAST(TIMEZONE(:zone, :x) AS {kind})", zone=zone or text("UTC"), x=present)
