"""Results as the vendor's MCP server gives them, in YAML; values that YAML would take for something else are
quoted.

An exact number is written as it is (``12.50``), a float in its shortest form, NULL as ``null``, a date or an
instant as quoted text, a VARIANT as JSON.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from mesocosm.servers.snowflake.store import Answer
from mesocosm.servers.snowflake.store.answers import as_json

MAX_ROWS = 200
"""Rows of a result."""
_MAX_TEXT, _MAX_ALL = 16_000, 64_000
"""Characters of one value, and of all."""
_PLAIN = re.compile(r"[A-Za-z_/(][\w ./@()+$-]*(?<! )\Z")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "none"}


def data_id(*texts: str) -> str:
    """An id that follows from what it is for."""
    number = hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=16).hexdigest()
    return "-".join((number[:8], number[8:12], number[12:16], number[16:20], number[20:]))


def document(result: Answer | Sequence[Mapping[str, Any]], **about: str) -> str:
    """A result as a YAML document; a long one ends early and says how to go on."""
    rows, more = _rows(result)
    lines, size, shown = [], 0, 0
    for row in rows:
        text = _item(row)
        if shown and (size + len(text) > _MAX_ALL or shown == MAX_ROWS):
            more = True
            break
        lines.append(text)
        size += len(text)
        shown += 1
    body = "\n".join(lines)
    head = ["type: data", f"data_id: {data_id(*about.values(), body)}"]
    head += [f"{name}: {_scalar(value)}" for name, value in about.items()]
    if more:
        head.append(
            f"more: rows follow these {shown}; add LIMIT and OFFSET {shown} to the query, or aggregate"
        )
    return "\n".join([*head, f"data:\n{body}" if lines else "data: []"])


def _rows(result: Answer | Sequence[Mapping[str, Any]]) -> tuple[Iterable[Mapping[str, Any]], bool]:
    if not isinstance(result, Answer):
        return result, False
    names: list[str] = []
    for one in result.fields:
        name, count = one.name, 1
        while name in names:
            count += 1
            name = f"{one.name}_{count}"
        names.append(name)
    variants = [one.kind == "JSON" for one in result.fields]
    rows = (
        {
            name: _loaded(value) if is_json else value
            for name, value, is_json in zip(names, row, variants, strict=True)
        }
        for row in result.rows
    )
    return rows, result.more


def _loaded(value: Any) -> Any:
    """A VARIANT: numbers, texts and so on are shown as such; what is too large or too deep for that, as its
    text."""
    try:
        return value if value is None else orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _item(row: Mapping[str, Any]) -> str:
    lines = [f"{_key(name)}: {_scalar(value)}" for name, value in row.items()]
    return "- " + "\n  ".join(lines)


@lru_cache(1024)
def _key(name: str) -> str:
    return name if _PLAIN.match(name) and name.lower() not in _WORDS else _quoted(name)


def _scalar(value: Any) -> str:
    """A value on one line."""
    if type(value) is str:  # most are
        return _text(value)
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            return f"{value:f}"
        case float():
            return _float(value)
        case str():
            return _text(value)
        case bytes() | bytearray():
            return _text(bytes(value).hex().upper())
        case datetime():
            return f"'{_moment(value)}'"
        case date() | time():
            return f"'{value}'"
        case timedelta():
            return f"'{value}'"
    return _cut(as_json(value, _in_json))


def _in_json(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else str(value)


def _float(value: float) -> str:
    if value != value or value in {float("inf"), float("-inf")}:
        return {"nan": ".nan", "inf": ".inf"}.get(str(value), "-.inf")
    return repr(value)


def _moment(value: datetime) -> str:
    text = value.strftime("%Y-%m-%d %H:%M:%S") + f".{value.microsecond // 1000:03d}"
    return text if value.tzinfo is None else f"{text} {value.strftime('%z')}"


def _text(value: str) -> str:
    value = _cut(value)
    return value if _PLAIN.match(value) and value.lower() not in _WORDS else _quoted(value)


def _cut(value: str) -> str:
    if len(value) <= _MAX_TEXT:
        return value
    return f"{value[:_MAX_TEXT]}... ({len(value)} characters; use SUBSTR for the rest)"


def _quoted(value: str) -> str:
    """In double quotes: what JSON writes, YAML reads."""
    return orjson.dumps(value).decode()
