"""Values that a client sends beside a statement, for its ``?`` and ``:1``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from sqlglot import exp

from mesocosm.servers.snowflake.store.identifiers import parts_of
from mesocosm.services.queries.failures import SqlError, compilation

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_UTC = 1440
"""An offset from UTC comes as minutes, and this many more."""


def bind(tree: exp.Expr, bindings: Mapping[str, Any]) -> None:
    """Put values in the place of placeholders: ``{"1": {"type", "value"}}``.

    Where a value is a list, the one line of an INSERT becomes as many lines as lists are long.
    """
    places: list[exp.Expr] = list(tree.find_all(exp.Placeholder, bfs=False))
    found = [_of(bindings, place, number) for number, place in enumerate(places, 1)]
    lengths = {len(value) for _, value in found if isinstance(value, list)}
    if lengths:
        places, found = _lines(tree, places, found, lengths)
    for place, (kind, value) in zip(places, found, strict=True):
        place.replace(_bound(kind, value))


def name_identifiers(tree: exp.Expr) -> None:
    """Put the names in the place of ``IDENTIFIER('name')``."""
    for dynamic in list(tree.find_all(exp.DynamicIdentifier)):
        if not isinstance(dynamic.this, exp.Literal):
            continue
        parts = [exp.to_identifier(part, quoted=True) for part in parts_of(dynamic.this.name)]
        if isinstance(dynamic.parent, exp.Table):
            names = dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))
            for arg, part in names.items():
                dynamic.parent.set(arg, part)
        else:
            dynamic.replace(exp.column(*reversed(parts)))


def open_up(tree: exp.Expr) -> int:
    """Put NULL in the place of placeholders; returns how many there were."""
    places = list(tree.find_all(exp.Placeholder, bfs=False))
    for place in places:
        place.replace(exp.null())
    return len(places)


def _of(bindings: Mapping[str, Any], place: exp.Expr, number: int) -> tuple[str, Any]:
    key = place.name if place.name not in ("", "?") else str(number)
    bound = bindings.get(key)
    if not isinstance(bound, Mapping):
        raise compilation(2049, "42601", f"Bind variable {key} not set.")
    return str(bound.get("type")).upper(), bound.get("value")


def _lines(
    tree: exp.Expr, places: list[exp.Expr], found: list[tuple[str, Any]], lengths: set[int]
) -> tuple[list[exp.Expr], list[tuple[str, Any]]]:
    """The one line of an INSERT as many times as there are values for it: its places, and their values."""
    values = tree.args.get("expression") if isinstance(tree, exp.Insert) else None
    if not isinstance(values, exp.Values) or len(values.expressions) != 1:
        raise _unfit()
    if len(lengths) > 1 or 0 in lengths:
        raise _unfit()
    line, count = values.expressions[0], lengths.pop()
    lines = [line.copy() for _ in range(count)]
    values.set("expressions", lines)
    every = [place for one in lines for place in one.find_all(exp.Placeholder, bfs=False)]
    if len(every) != len(places) * count:
        raise _unfit()
    each = [
        (kind, value[row] if isinstance(value, list) else value)
        for row in range(count)
        for kind, value in found
    ]
    return every, each


def _unfit() -> SqlError:
    return compilation(2099, "42601", "Arrays may be bound to the one line of an INSERT, all of one length.")


def _bound(kind: str, value: Any) -> exp.Expr:
    """A value as it stands in a statement."""
    if value is None:
        return exp.null()
    text = str(value)
    if kind in {"FIXED", "REAL"}:
        return _number(kind, text)
    if kind == "BOOLEAN":
        return exp.Boolean(this=text.lower() in {"true", "1"})
    if kind in _MOMENTS:
        name, number, read, to = _MOMENTS[kind]
        try:
            said = read(text)
        except (ValueError, OverflowError):
            raise SqlError(number, "22007", f"{name} '{text[:100]}' is not recognized") from None
        return exp.cast(exp.Literal.string(said), to)
    if kind == "BINARY":
        return exp.Unhex(this=exp.Literal.string(text))
    return exp.Literal.string(text)


def _number(kind: str, text: str) -> exp.Expr:
    if kind == "REAL" and text.lower().lstrip("-") in ("nan", "inf", "infinity"):
        return exp.cast(exp.Literal.string(text), "DOUBLE")
    if not _NUMBER.fullmatch(text):
        raise SqlError(100038, "22018", f"Numeric value '{text[:100]}' is not recognized")
    number = exp.Literal.number(text.lstrip("-"))
    found: exp.Expr = exp.Paren(this=exp.Neg(this=number)) if text.startswith("-") else number
    return exp.cast(found, "DOUBLE") if kind == "REAL" else found


def _after(text: str, per_second: int) -> datetime:
    """The moment so many parts of a second after the epoch."""
    return _EPOCH + timedelta(microseconds=int(text) * 1_000_000 // per_second)


def _day(text: str) -> str:
    return _after(text, 1_000).date().isoformat()


def _time(text: str) -> str:
    return _after(text, 10**9).strftime("%H:%M:%S.%f")


def _plain(text: str) -> str:
    return _after(text, 10**9).strftime("%Y-%m-%d %H:%M:%S.%f")


def _zoned(text: str) -> str:
    instant, _, minutes = text.partition(" ")
    zone = timezone(timedelta(minutes=int(minutes) - _UTC)) if minutes else UTC
    return _after(instant, 10**9).astimezone(zone).isoformat(" ")


_MOMENTS: dict[str, tuple[str, int, Callable[[str], str], str]] = {
    "DATE": ("Date", 100040, _day, "DATE"),
    "TIME": ("Time", 100108, _time, "TIME"),
    "TIMESTAMP_NTZ": ("Timestamp", 100035, _plain, "TIMESTAMP"),
    "TIMESTAMP": ("Timestamp", 100035, _zoned, "TIMESTAMPTZ"),
    "TIMESTAMP_LTZ": ("Timestamp", 100035, _zoned, "TIMESTAMPTZ"),
    "TIMESTAMP_TZ": ("Timestamp", 100035, _zoned, "TIMESTAMPTZ"),
}
"""By type of a binding: what it is called, the number of the error, how it is read, and what it becomes."""
