"""Intervals of GoogleSQL: months, days and a time, never converted into each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sqlglot import exp

from mesocosm.errors import Invalid
from mesocosm.services.queries.catalogue import Column
from mesocosm.services.queries.dialects.bigquery_functions import duck

_MICROS = {"HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
_PARTS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_DATES = (
    *(exp.CurrentDate, exp.Date, exp.DateTrunc, exp.DateAdd, exp.DateSub, exp.DateFromParts, exp.LastDay),
    *(exp.StrToDate, exp.TsOrDsToDate, exp.DateFromUnixDate),
)
_MOMENTS = (
    *(exp.CurrentTimestamp, exp.CurrentDatetime, exp.Timestamp, exp.TimestampTrunc, exp.TimestampAdd),
    *(exp.TimestampSub, exp.Datetime, exp.DatetimeTrunc, exp.DatetimeAdd, exp.DatetimeSub, exp.StrToTime),
    *(exp.ParseDatetime, exp.TsOrDsToTimestamp, exp.UnixToTime),
)
_DIGITS = (r"\d+", r"\d+(?:\.\d{1,6})?")
_SAME_KIND = (
    *(exp.Paren, exp.Min, exp.Max, exp.Coalesce, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue),
    *(exp.AnyValue, exp.Window, exp.IgnoreNulls, exp.RespectNulls, exp.Greatest, exp.Least, exp.Nullif),
)
"""Expressions that give a value of their first part's kind."""
_MONTHS_OF = "(EXTRACT('year' FROM :x) * 12 + EXTRACT('month' FROM :x))"
_MICROS_OF = (
    "(EXTRACT('hour' FROM :x) * 3600000000 + EXTRACT('minute' FROM :x) * 60000000"
    " + EXTRACT('microseconds' FROM :x))"
)
JUSTIFY_DAYS = (
    f"TO_MONTHS(CAST({_MONTHS_OF} + TRUNC(EXTRACT('day' FROM :x) / 30) AS INT))"
    f" + TO_DAYS(CAST(EXTRACT('day' FROM :x) % 30 AS INT)) + TO_MICROSECONDS({_MICROS_OF})"
)
JUSTIFY_HOURS = (
    f"TO_MONTHS(CAST({_MONTHS_OF} AS INT))"
    f" + TO_DAYS(CAST(EXTRACT('day' FROM :x) + TRUNC({_MICROS_OF} / 86400000000) AS INT))"
    f" + TO_MICROSECONDS({_MICROS_OF} % 86400000000)"
)
AS_TEXT = (
    f"CASE WHEN {_MONTHS_OF} < 0 THEN '-' ELSE '' END || CAST(ABS({_MONTHS_OF}) // 12 AS VARCHAR) || '-'"
    f" || CAST(ABS({_MONTHS_OF}) % 12 AS VARCHAR) || ' ' || CAST(EXTRACT('day' FROM :x) AS VARCHAR) || ' '"
    f" || CASE WHEN {_MICROS_OF} < 0 THEN '-' ELSE '' END"
    " || CAST(ABS(EXTRACT('hour' FROM :x)) AS VARCHAR) || ':'"
    " || CAST(ABS(EXTRACT('minute' FROM :x)) AS VARCHAR)"
    " || ':' || CAST(ABS(EXTRACT('microseconds' FROM :x)) // 1000000 AS VARCHAR)"
    " || CASE WHEN EXTRACT('microseconds' FROM :x) % 1000000 = 0 THEN ''"
    " WHEN EXTRACT('microseconds' FROM :x) % 1000 = 0"
    " THEN '.' || LPAD(CAST(ABS(EXTRACT('microseconds' FROM :x)) % 1000000 // 1000 AS VARCHAR), 3, '0')"
    " ELSE '.' || LPAD(CAST(ABS(EXTRACT('microseconds' FROM :x)) % 1000000 AS VARCHAR), 6, '0') END"
)
"""CAST AS STRING."""
WRITTEN_OUT = (exp.Interval, exp.MakeInterval, exp.JustifyDays, exp.JustifyHours, exp.JustifyInterval)
"""Expressions that are plainly intervals."""


def literal(node: exp.Interval) -> exp.Expr:
    """``INTERVAL '1-2 3 4:5:6' YEAR TO SECOND``; others are DuckDB's own."""
    span = node.args.get("unit")
    if not isinstance(span, exp.IntervalSpan):
        return node
    first, last = (part.name.upper() for part in (span.this, span.expression))
    return _made(node.this.name, first, last)


def cast_text(value: exp.Expr) -> exp.Expr:
    """CAST of a text that is written out AS INTERVAL."""
    return _made(value.name, "YEAR", "SECOND")


def _made(text: str, first: str, last: str) -> exp.Expr:
    found = pattern(first, last).fullmatch(text.strip())
    if found is None:
        raise Invalid(f"Invalid INTERVAL value '{text[:100]}'", code="invalidQuery")
    months, days, micros = _counted(found.groupdict())
    return duck(
        "TO_MONTHS(:m) + TO_DAYS(:d) + TO_MICROSECONDS(:u)",
        m=_number(months),
        d=_number(days),
        u=_number(micros),
    )


def pattern(first: str, last: str) -> re.Pattern[str]:
    """Return the pattern of an interval's text from one part to another."""
    if first not in _PARTS or last not in _PARTS or _PARTS.index(first) >= _PARTS.index(last):
        raise Invalid(f"INTERVAL from {first[:20]} TO {last[:20]} is not supported", code="invalidQuery")
    parts = _PARTS[_PARTS.index(first) : _PARTS.index(last) + 1]
    shapes = []
    for gap, group in (("-", ("YEAR", "MONTH")), ("", ("DAY",)), (":", ("HOUR", "MINUTE", "SECOND"))):
        there = [name for name in group if name in parts]
        if there:
            digits = [f"(?P<{name}>{_DIGITS[name == 'SECOND']})" for name in there]
            shapes.append(f"(?P<sign_{group[0]}>[-+]?)" + gap.join(digits))
    return re.compile(" ".join(shapes), re.ASCII)


def _counted(parts: Mapping[str, str]) -> tuple[int, int, int]:
    """Months, days and microseconds."""

    def sign(group: str) -> int:
        return -1 if parts.get(f"sign_{group}") == "-" else 1

    whole = {name: int(parts.get(name) or 0) for name in _PARTS[:-1]}
    seconds, _, fraction = (parts.get("SECOND") or "0").partition(".")
    micros = sum(whole[name] * _MICROS[name] for name in ("HOUR", "MINUTE"))
    micros += int(seconds) * _MICROS["SECOND"] + int(fraction.ljust(6, "0"))
    months = sign("YEAR") * (whole["YEAR"] * 12 + whole["MONTH"])
    if max(abs(months), whole["DAY"]) > 3_660_000 or micros > 2**62:
        raise Invalid("Interval value is out of range", code="invalidQuery")
    return months, sign("DAY") * whole["DAY"], sign("HOUR") * micros


def _number(value: int) -> exp.Expr:
    number = exp.Literal.number(abs(value))
    return exp.Neg(this=number) if value < 0 else number


def mark_differences(tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]]) -> None:
    """``a - b`` of two dates or two moments is an interval: of days, or of time alone.

    That is told by what the two are written as, and by the columns of their names.
    """
    for node in list(tree.find_all(exp.Sub)):
        kinds = {_kind(side, tree, columns, 0) for side in (node.this, node.expression)}
        if kinds == {"DATE"}:
            made = duck("TO_DAYS(CAST(:x - :y AS INT))", x=node.this, y=node.expression)
        elif kinds == {"MOMENT"}:
            made = duck("TO_MICROSECONDS(EPOCH_US(:x) - EPOCH_US(:y))", x=node.this, y=node.expression)
        else:
            continue
        node.replace(made)


def _kind(node: exp.Expr, tree: exp.Expr, columns: Mapping[str, tuple[Column, ...]], depth: int) -> str:
    """Return ``DATE``, ``MOMENT``, or "" for other and unknown types."""
    if isinstance(node, exp.Cast):
        return _of_type(node.to.sql())
    if isinstance(node, _DATES):
        return "DATE"
    if isinstance(node, _MOMENTS):
        return "MOMENT"
    if isinstance(node, _SAME_KIND):
        return _kind(node.this, tree, columns, depth)
    if isinstance(node, exp.If):
        return _kind(node.args["true"], tree, columns, depth)
    if not isinstance(node, exp.Column) or depth > 4:
        return ""
    name = node.name.lower()
    tables: Iterable[tuple[Column, ...]] = columns.values()
    if node.table in columns:
        tables = [columns[node.table]]
    kinds = {_of_type(one.kind) for table in tables for one in table if one.name.lower() == name}
    if node.table not in columns:
        aliases = (one for one in tree.find_all(exp.Alias) if one.alias.lower() == name)
        kinds |= {_kind(one.this, tree, columns, depth + 1) for one in aliases}
    return kinds.pop() if len(kinds) == 1 else ""


def _of_type(kind: str) -> str:
    if kind.upper() == "DATE":
        return "DATE"
    return "MOMENT" if kind.upper().startswith(("TIMESTAMP", "DATETIME")) else ""
