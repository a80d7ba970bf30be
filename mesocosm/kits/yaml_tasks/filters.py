"""Filters on values in expressions: ``{start.day()}``."""

from __future__ import annotations

import csv
import datetime as dt
import html
import io
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from mesocosm.kits.prose import names
from mesocosm.kits.prose.products import price_range
from mesocosm.kits.yaml_tasks.decimals import decimal, exact, rounded, total
from mesocosm.services.numbers import written

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FORMAT = re.compile(r"(%[aAbBdHIjmMpSyYZzfF%]|[^%]){0,60}")


def show(value: Any) -> str:
    """Format a value without a filter."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float):
        return written(value)
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
    """Format with the offset: ``2025-03-03T09:30:00+01:00``."""
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
    return f"{decimal(value, 2):,.2f}"


def _fixed(value: Any, digits: int = 2) -> str:
    return f"{decimal(value, digits):.{max(digits, 0)}f}"


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
    return [_field(value, field) for value in _things(values)]


def _select(values: Any, field: str, *allowed: Any) -> list[Any]:
    return [value for value in _things(values) if _field(value, field) in allowed]


def _reject(values: Any, field: str, *refused: Any) -> list[Any]:
    return [value for value in _things(values) if _field(value, field) not in refused]


def _count(values: Any, field: str, *allowed: Any) -> int:
    return len(_select(values, field, *allowed))


def _group(values: Any, field: str) -> list[Any]:
    """Things by the value of a field: ``key`` and ``items``, in the order in which the values come first."""
    found: dict[str, dict[str, Any]] = {}
    for value in _things(values):
        key = _field(value, field)
        found.setdefault(show(key), {"key": key, "items": []})["items"].append(value)
    return list(found.values())


def _sort(values: Any, field: str | None = None, *, down: bool = False) -> list[Any]:
    if field is None:
        return sorted(values, reverse=bool(down))
    return sorted(_things(values), key=lambda value: _field(value, field), reverse=bool(down))


def _field(value: Mapping[str, Any], name: str) -> Any:
    try:
        return value[name]
    except KeyError:
        known = ", ".join(map(str, list(value)[:20])) or "none"
        raise ValueError(f"there is no {name!r}; there are {known}") from None


def _things(values: Any) -> list[Mapping[str, Any]]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, Mapping) for value in values):
        raise ValueError("this is for lists of things")
    return list(values)


def _some(values: Any) -> Any:
    if isinstance(values, (list, tuple)) and not values:
        raise ValueError("it is empty")
    return values


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
    number = value if isinstance(value, float) else float(str(value).replace(",", ""))
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
    "round": rounded,
    "fixed": _fixed,
    "money": _money,
    "int": lambda value: int(exact(_number(value))),
    "float": _number,
    "abs": lambda value: abs(value),
    "least_price": lambda value: price_range(show(value))[0],
    "most_price": lambda value: price_range(show(value))[1],
    # lists
    "join": _join,
    "pick": _pick,
    "select": _select,
    "reject": _reject,
    "count": _count,
    "group": _group,
    "sum": total,
    "min": lambda values: min(_some(values)),
    "max": lambda values: max(_some(values)),
    "sort": _sort,
    "reverse": lambda values: list(reversed(values)),
    "unique": _unique,
    "first": lambda values: _some(values)[0],
    "last": lambda values: _some(values)[-1],
    "length": len,
    "default": _default,
    "csv": _csv,
    "lines": lambda value: [line for line in show(value).splitlines() if line.strip()],
    "cells": _cells,
    "sql": _sql,
}
