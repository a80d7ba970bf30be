"""Matching of log entries against a filter."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store.logs.filters import (
    Anywhere,
    Both,
    Call,
    Comparison,
    Either,
    Node,
    Not,
)
from mesocosm.servers.google_cloud.store.part import quoted, suggestion
from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.worlds import deadlines

Entry = Mapping[str, Any]
"""An entry as the API shows it."""
Matches = Callable[[Entry], bool]

SEVERITIES = {
    "DEFAULT": 0,
    "DEBUG": 100,
    "INFO": 200,
    "NOTICE": 300,
    "WARNING": 400,
    "ERROR": 500,
    "CRITICAL": 600,
    "ALERT": 700,
    "EMERGENCY": 800,
}
FIELDS = frozenset(
    {
        *("logName", "resource", "timestamp", "receiveTimestamp", "severity", "insertId", "httpRequest"),
        *("labels", "operation", "trace", "spanId", "traceSampled", "sourceLocation", "split", "errorGroups"),
        *("textPayload", "jsonPayload", "protoPayload", "metadata"),
    }
)
_TIMES = ("timestamp", "receiveTimestamp")
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:?\d\d)?)?", re.ASCII
)


def matcher(node: Node | None) -> Matches:
    """The filter as a function of an entry; ``Invalid`` for fields, values or patterns that cannot be."""
    match node:
        case None:
            return lambda entry: True
        case Both(parts):
            every = [matcher(part) for part in parts]
            return lambda entry: all(matches(entry) for matches in every)
        case Either(parts):
            some = [matcher(part) for part in parts]
            return lambda entry: any(matches(entry) for matches in some)
        case Not(part):
            inner = matcher(part)
            return lambda entry: not inner(entry)
        case Anywhere(text):
            return _anywhere(text)
        case Call():
            return _call(node)
        case Comparison():
            return _comparison(node)


def instant(text: str) -> str | None:
    """A time of a filter or an entry as the tables have it, with nanoseconds; ``None`` if it is none."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    clock = f"{clock}:00" if clock and len(clock) == 5 else clock or "00:00:00"
    zone = "+00:00" if zone is None or zone in "Zz" else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{(fraction or '').ljust(9, '0')}Z".rjust(30, "0")


def severity_number(text: str) -> int:
    """The number of a severity by name or number."""
    if text.upper() in SEVERITIES:
        return SEVERITIES[text.upper()]
    if text.isascii() and text.isdigit() and int(text[:9]) <= 800:
        return int(text) // 100 * 100
    raise Invalid(
        f"Invalid value for severity: {quoted(text)}; there are {', '.join(SEVERITIES)}."
        + suggestion(text.upper(), SEVERITIES),
        code="INVALID_ARGUMENT",
    )


def _anywhere(text: str) -> Matches:
    wanted = text.casefold()
    return lambda entry: any(wanted in str(value).casefold() for value in _leaves(entry))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def values_at(entry: Any, path: tuple[str, ...]) -> Iterator[Any]:
    """Yield a field's values; each item of a list."""
    if isinstance(entry, list):
        for item in entry:
            yield from values_at(item, path)
    elif not path:
        yield entry
    elif isinstance(entry, Mapping):
        # Names of labels may have dots, so several parts may be one name.
        for length in range(len(path), 0, -1):
            name = ".".join(path[:length])
            if name in entry:
                yield from values_at(entry[name], path[length:])
                return


def _checked_path(path: tuple[str, ...]) -> tuple[str, ...]:
    first = path[0]
    if first == "log_name":
        return ("logName", *path[1:])
    if first not in FIELDS:
        raise Invalid(
            f"Field not found: {quoted('.'.join(path))}.{suggestion(first, FIELDS)}", code="INVALID_ARGUMENT"
        )
    return path


def _comparison(node: Comparison) -> Matches:
    path = _checked_path(node.path)
    operator = node.operator
    if operator in ("=~", "!~"):
        return _pattern(path, node.value, negated=operator == "!~")
    if operator == ":" and node.value == "*" and not node.is_quoted:
        return lambda entry: any(value is not None for value in values_at(entry, path))
    if operator == "!=":
        equal = _comparison(Comparison(node.path, "=", node.value, node.is_quoted))
        return lambda entry: not equal(entry)
    if path == ("severity",):
        number = severity_number(node.value)
        holds = _ORDERS["=" if operator == ":" else operator]
        return lambda entry: holds(SEVERITIES[entry.get("severity", "DEFAULT")], number)
    if path[0] in _TIMES and len(path) == 1:
        moment = instant(node.value)
        if moment is None:
            raise Invalid(
                f'Invalid value for {path[0]}: {quoted(node.value)}; write it as "2025-01-15T09:00:00Z".',
                code="INVALID_ARGUMENT",
            )
        holds = _ORDERS["=" if operator == ":" else operator]
        return lambda entry: any(holds(instant(str(value)) or "", moment) for value in values_at(entry, path))
    if node.value == "NULL_VALUE" and not node.is_quoted:
        return lambda entry: any(value is None for value in values_at(entry, path))
    test = _has(node.value) if operator == ":" else _ordered(operator, node.value)
    return lambda entry: any(test(value) for value in values_at(entry, path))


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: bool(one == other),
    ">": lambda one, other: bool(one > other),
    "<": lambda one, other: bool(one < other),
    ">=": lambda one, other: bool(one >= other),
    "<=": lambda one, other: bool(one <= other),
}


def _number(text: str) -> float | None:
    try:
        return float(text) if len(text) < 50 else None
    except ValueError:
        return None


def _seconds(text: str) -> float | None:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text, re.ASCII)
    return float(found[1]) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[found[2]] if found else None


def _ordered(operator: str, wanted: str) -> Callable[[Any], bool]:
    holds, folded, number, length = _ORDERS[operator], wanted.casefold(), _number(wanted), _seconds(wanted)

    def test(value: Any) -> bool:
        if isinstance(value, bool):
            return holds("true" if value else "false", folded)
        if isinstance(value, int | float):
            return number is not None and holds(value, number)
        if isinstance(value, str):
            if length is not None and (own := _seconds(value)) is not None:
                return holds(own, length)
            return holds(value.casefold(), folded)
        return False

    return test


def _has(wanted: str) -> Callable[[Any], bool]:
    folded, number = wanted.casefold(), _number(wanted)

    def test(value: Any) -> bool:
        if isinstance(value, bool):
            return ("true" if value else "false") == folded
        if isinstance(value, int | float):
            return number is not None and value == number
        if isinstance(value, Mapping):
            return any(name.casefold() == folded or test(inner) for name, inner in value.items())
        if isinstance(value, list):
            return any(test(inner) for inner in value)
        return isinstance(value, str) and folded in value.casefold()

    return test


def _pattern(path: tuple[str, ...], wanted: str, *, negated: bool) -> Matches:
    def invalid(why: BadPattern) -> Invalid:
        return Invalid(f"Invalid regular expression {quoted(wanted)}: {why}.", code="INVALID_ARGUMENT")

    try:
        pattern = Pattern(wanted)
    except BadPattern as error:
        raise invalid(error) from None

    def found(value: Any) -> bool:
        if isinstance(value, Mapping | list) or value is None:
            return False
        deadlines.check()
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        try:
            return pattern.search(text) is not None
        except BadPattern as error:
            raise invalid(error) from None

    return lambda entry: any(found(value) for value in values_at(entry, path)) is not negated


def _call(call: Call) -> Matches:
    name, given = call.name, call.arguments
    if name == "log_id" and len(given) == 1:
        ending = f"/logs/{given[0].replace('/', '%2F')}".casefold()
        return lambda entry: str(entry["logName"]).casefold().endswith(ending)
    if name == "source" and len(given) == 1:
        return lambda entry: str(entry["logName"]).startswith(given[0] + "/")
    if name == "SEARCH" and 1 <= len(given) <= 2:
        path = _checked_path(tuple(given[0].split("."))) if len(given) == 2 else ()
        words = re.findall(r"\w+", given[-1].casefold())
        return lambda entry: _searched(entry, path, words)
    if name == "sample" and len(given) == 2 and _number(given[1]) is not None:
        share, path = float(given[1]), _checked_path(tuple(given[0].split(".")))
        return lambda entry: any(_share(value) < share for value in values_at(entry, path))
    if name == "ip_in_net" and len(given) == 2:
        path = _checked_path(tuple(given[0].split(".")))
        try:
            net = ipaddress.ip_network(given[1], strict=False)
        except ValueError:
            raise Invalid(f"Invalid subnet {quoted(given[1])}.", code="INVALID_ARGUMENT") from None
        return lambda entry: any(_inside(value, net) for value in values_at(entry, path))
    raise Invalid(
        f"Unparseable filter: {name} with {len(given)} arguments; there are log_id(id), source(name),"
        " SEARCH(text), sample(field, share) and ip_in_net(field, subnet).",
        code="INVALID_ARGUMENT",
    )


def _searched(entry: Entry, path: tuple[str, ...], words: list[str]) -> bool:
    texts = " ".join(str(leaf) for value in values_at(entry, path) for leaf in _leaves(value))
    return set(words) <= set(re.findall(r"\w+", texts.casefold()))


def _share(value: Any) -> float:
    """A number from 0 to 1 that follows from the value."""
    return int.from_bytes(hashlib.sha256(str(value).encode()).digest()[:6], "big") / 2**48


def _inside(value: Any, net: Any) -> bool:
    try:
        return ipaddress.ip_address(str(value)) in net
    except ValueError:
        return False
