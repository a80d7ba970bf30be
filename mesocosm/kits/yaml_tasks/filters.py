"""What expressions may do to values: ``{{ start | day }}``."""

from __future__ import annotations

import csv
import datetime as dt
import html
import io
import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import partial, reduce
from typing import Any

from mesocosm.kits.prose import names
from mesocosm.kits.prose.products import price_range

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FORMAT = re.compile(r"(%[aAbBdHIjmMpSyYZzfF%]|[^%]){0,60}")


def show(value: Any) -> str:
    """A value as it stands in a text where no filter says how."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(show, value))
    if isinstance(value, Mapping):
        raise ValueError("a thing cannot be written down; name one of its fields")
    return str(value)


def _moment(value: Any) -> dt.datetime | dt.date:
    if not isinstance(value, dt.date):
        raise ValueError("this is for moments and dates")
    return value


def _day(value: Any) -> str:
    """``March 3, 2025``."""
    day = _moment(value)
    return f"{day:%B} {day.day}, {day.year}"


def _weekday(value: Any) -> str:
    return _WEEKDAYS[_moment(value).weekday()]


def _clock(value: Any) -> str:
    """``09:30``."""
    return f"{_moment(value):%H:%M}"


def _long(value: Any) -> str:
    """``Monday, March 3, 2025, 09:30``."""
    moment = _moment(value)
    return f"{_weekday(moment)}, {_day(moment)}" + (
        f", {moment:%H:%M}" if isinstance(moment, dt.datetime) else ""
    )


def _iso(value: Any) -> str:
    """With the offset: ``2025-03-03T09:30:00+01:00``."""
    return _moment(value).isoformat()


def _utc(value: Any) -> str:
    """``2025-03-03T08:30:00Z``."""
    moment = _moment(value)
    if not isinstance(moment, dt.datetime):
        raise ValueError("this is for moments")
    return f"{moment.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def _zone(value: Any) -> str:
    """The name of its clocks, which holds in summer and in winter: ``Europe/Amsterdam``."""
    return str(getattr(_moment(value), "tzinfo", None) or "UTC")


def _date(value: Any) -> dt.date:
    moment = _moment(value)
    return moment.date() if isinstance(moment, dt.datetime) else moment


def _format(value: Any, pattern: str) -> str:
    if not _FORMAT.fullmatch(pattern):
        raise ValueError(f"not a format for moments: {pattern!r}")
    return _moment(value).strftime(pattern)


def slug(value: Any) -> str:
    """Lower-case ASCII letters and digits."""
    return names.slug(show(value))


def _handle(value: Any) -> str:
    """``m.keller`` for ``Maria Keller``."""
    parts = [slug(part) for part in show(value).split()]
    parts = [part for part in parts if part] or ["x"]
    return parts[0] if len(parts) == 1 else f"{parts[0][0]}.{parts[-1]}"


def _login(value: Any) -> str:
    """``m-keller`` for ``m.keller@kellerpartners.example``: what a person is called on the code host."""
    text = show(value).partition("@")[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:38] or "x"


def _domain(value: Any) -> str:
    """``kellerpartners.example`` for ``Keller & Partners``."""
    return (slug(value)[:30] or "x") + ".example"


def _first_name(value: Any) -> str:
    return show(value).split()[0]


def _money(value: Any) -> str:
    return f"{_rounded(value, 2):,.2f}"


def exact(value: Any) -> Any:
    """A number with decimals as it is written down: 21.15, not the binary fraction beside it."""
    return Decimal(repr(value)) if isinstance(value, float) else value


_EXACT = (operator.add, operator.sub, operator.mul, operator.truediv)


def exactly(work: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """What two values come to. Numbers with decimals are worked out as decimals, as money is, so that
    21.15 * 90 / 100 is 19.035; what comes of them is a number like any other."""
    numbers = all(isinstance(value, (int, float)) for value in (left, right))
    if numbers and work in _EXACT and float in (type(left), type(right)):
        return float(work(exact(left), exact(right)))
    return work(left, right)


def _rounded(value: Any, digits: int = 0) -> Any:
    """Half away from zero, as people round; on decimal digits, so that 2.675 is 2.68."""
    if not -6 <= digits <= 12 or not math.isfinite(value):
        raise ValueError("out of bounds")
    rounded = Decimal(exact(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return int(rounded) if digits <= 0 else float(rounded)


def _fixed(value: Any, digits: int = 2) -> str:
    return f"{_rounded(value, digits):.{max(digits, 0)}f}"


def _replace(value: Any, old: str, new: str) -> str:
    text = show(value)
    if old == "" or len(text) + text.count(old) * len(new) > 100_000:
        raise ValueError("too long")
    return text.replace(old, new)


def _join(values: Any, between: str = ", ") -> str:
    if len(values) * len(between) > 100_000:
        raise ValueError("too long")
    return between.join(map(show, values))


def _pick(values: Any, field: str) -> list[Any]:
    return [value[field] for value in _things(values)]


def _where(values: Any, field: str, *allowed: Any) -> list[Any]:
    return [value for value in _things(values) if value[field] in allowed]


def _without(values: Any, field: str, *refused: Any) -> list[Any]:
    return [value for value in _things(values) if value[field] not in refused]


def _by(values: Any, field: str, *, down: bool = False) -> list[Any]:
    return sorted(_things(values), key=lambda value: value[field], reverse=bool(down))


def _things(values: Any) -> list[Mapping[str, Any]]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, Mapping) for value in values):
        raise ValueError("this is for lists of things")
    return list(values)


def _default(value: Any, other: Any) -> Any:
    from jinja2 import Undefined

    return other if value is None or isinstance(value, Undefined) else value


def _unique(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def _pad(value: Any, width: int) -> str:
    if not 0 <= width <= 40:
        raise ValueError("out of bounds")
    return show(value).zfill(width)


def _html(value: Any) -> str:
    blocks = [html.escape(block, quote=False).replace("\n", "<br>") for block in show(value).split("\n\n")]
    return "".join(f"<p>{block}</p>" for block in blocks)


def _number(value: Any) -> float:
    number = float(str(value).replace(",", ""))
    if not math.isfinite(number):
        raise ValueError("not a number")
    return number


def _csv(rows: Any) -> str:
    """Rows as comma-separated values, with a line of the columns' names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[show(cell) for cell in line] for line in _cells(rows)])
    return out.getvalue()


def _cells(rows: Any) -> list[list[Any]]:
    """Rows as lists of cells, with a line of the columns' names."""
    found = _things(rows)
    return [list(found[0]) if found else [], *(list(row.values()) for row in found)]


def _sql(value: Any) -> str:
    """As SQL writes a value: ``'it\\'s'``; a row in brackets, and rows as they stand behind VALUES."""
    if isinstance(value, Mapping):
        return f"({', '.join(map(_sql, value.values()))})"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_sql, value))
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{value.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S+00:00}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    return "'" + show(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _sum(values: Any) -> Any:
    """Of numbers (with decimals: as decimals), or of spans of time."""
    return reduce(partial(exactly, operator.add), values) if values else 0


FILTERS: dict[str, Callable[..., Any]] = {
    # texts
    "upper": lambda value: show(value).upper(),
    "lower": lambda value: show(value).lower(),
    "title": lambda value: show(value).title(),
    "capitalize": lambda value: show(value)[:1].upper() + show(value)[1:],
    "trim": lambda value: show(value).strip(),
    "replace": _replace,
    "slug": slug,
    "handle": _handle,
    "login": _login,
    "domain": _domain,
    "first_name": _first_name,
    "last_name": lambda value: show(value).split()[-1],
    "html": _html,
    "pad": _pad,
    "text": show,
    # moments
    "day": _day,
    "weekday": _weekday,
    "clock": _clock,
    "long": _long,
    "iso": _iso,
    "utc": _utc,
    "zone": _zone,
    "date": _date,
    "format": _format,
    # numbers
    "round": _rounded,
    "fixed": _fixed,
    "money": _money,
    "int": lambda value: int(_number(value)),
    "float": _number,
    "abs": lambda value: abs(value),
    "least_price": lambda value: price_range(show(value))[0],
    "most_price": lambda value: price_range(show(value))[1],
    # lists
    "join": _join,
    "pick": _pick,
    "where": _where,
    "without": _without,
    "by": _by,
    "sum": _sum,
    "min": lambda values: min(values),
    "max": lambda values: max(values),
    "sort": lambda values: sorted(values),
    "reverse": lambda values: list(reversed(values)),
    "unique": _unique,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "length": len,
    "default": _default,
    "csv": _csv,
    "lines": lambda value: [line for line in show(value).splitlines() if line.strip()],
    "cells": _cells,
    "sql": _sql,
}
