"""JSON that is changed by paths, and arrays of JSON as arrays of values: functions of GoogleSQL."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

Step = str | int
MOST_ELEMENTS = 1_000_000
_STEP = re.compile(r"""\.(?:"((?:[^"\\]|\\.)*)"|([^.\[\]"']+))|\[(?:(\d+)|'([^']*)'|"([^"]*)")\]""")
_MISSING: Any = object()


def steps(path: str) -> list[Step]:
    """The keys and places of a path."""
    if not path.startswith("$"):
        raise ValueError(f"Invalid JSON path: {path}")
    made: list[Step] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise ValueError(f"Invalid JSON path: {path}")
        key = next((one for one in (found[1], found[2], found[4], found[5]) if one is not None), None)
        made.append(key if key is not None else int(found[3]))
        at = found.end()
    return made


def _at(value: Any, path: list[Step]) -> Any:
    for step in path:
        has = step in value if isinstance(value, dict) and isinstance(step, str) else False
        if isinstance(value, list) and isinstance(step, int):
            has = step < len(value)
        if not has:
            return _MISSING
        value = value[step]
    return value


def _set(value: Any, path: list[Step], new: Any, *, create: bool) -> Any:
    """Return a value with a path replaced; unchanged if the path does not fit."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if value is None and create:
        value = {} if isinstance(step, str) else []
    if isinstance(step, str) and isinstance(value, dict):
        if step in value:
            value[step] = _set(value[step], rest, new, create=create)
        elif create:
            value[step] = _set(None, rest, new, create=True)
    elif isinstance(step, int) and isinstance(value, list):
        if step >= MOST_ELEMENTS:
            raise ValueError(f"JSON arrays have at most {MOST_ELEMENTS:,} elements here")
        if step < len(value):
            value[step] = _set(value[step], rest, new, create=create)
        elif create:
            value += [None] * (step - len(value))
            value.append(_set(None, rest, new, create=True))
    return value


def _remove(value: Any, path: list[Step]) -> Any:
    holder = _at(value, path[:-1]) if path else _MISSING
    if path and _at(value, path) is not _MISSING:
        del holder[path[-1]]
    return value


def _append(value: Any, path: list[Step], new: Any, *, each: bool) -> Any:
    found = _at(value, path)
    added = new if each and isinstance(new, list) else [new]
    if found is None:
        return _set(value, path, list(added), create=False)
    if isinstance(found, list):
        found += added
    return value


def _insert(value: Any, path: list[Step], new: Any, *, each: bool) -> Any:
    if not path or isinstance(path[-1], str):
        return value
    place = path[-1]
    if place >= MOST_ELEMENTS:
        raise ValueError(f"JSON arrays have at most {MOST_ELEMENTS:,} elements here")
    found = _at(value, path[:-1])
    added = new if each and isinstance(new, list) else [new]
    if found is None:
        return _set(value, path[:-1], [*([None] * place), *added], create=False)
    if isinstance(found, list):
        found += [None] * (place - len(found))
        found[place:place] = added
    return value


def _narrow(value: Any) -> Any:
    if isinstance(value, list):
        return [_narrow(one) for one in value]
    if isinstance(value, dict):
        return {key: _narrow(one) for key, one in value.items()}
    is_wide = isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53
    return str(value) if is_wide else value


def change(how: str, text: str, arguments: str, flag: bool) -> str:
    """JSON_SET, JSON_REMOVE, JSON_ARRAY_APPEND, JSON_ARRAY_INSERT; ``arguments``: paths, with values.

    TO_JSON, too: ``stringify`` makes texts of whole numbers that a FLOAT64 cannot hold.
    """
    value, given = json.loads(text), json.loads(arguments)
    if how == "stringify":
        return json.dumps(_narrow(value)) if flag else text
    if how == "remove":
        for path in given:
            if not steps(path):
                raise ValueError("The JSONPath cannot be '$'")
            value = _remove(value, steps(path))
        return json.dumps(value)
    for path, new in zip(given[::2], given[1::2], strict=True):
        if how == "set":
            value = _set(value, steps(path), new, create=flag)
        else:
            value = (_append if how == "append" else _insert)(value, steps(path), new, each=flag)
    return json.dumps(value)


# -- arrays of values ---------------------------------------------------------------------------------------


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _lax_bool(value: Any) -> Any:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return bool(value) if isinstance(value, bool | int | float) else None


def _lax_float(value: Any) -> Any:
    if isinstance(value, bool):
        return None
    return (
        _number(value) if isinstance(value, str) else float(value) if isinstance(value, int | float) else None
    )


def _lax_int(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    number = _number(value) if isinstance(value, str) else value if isinstance(value, int | float) else None
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d+", value):
        number = int(value)
    if number is None or not math.isfinite(number):
        return None
    whole = number if isinstance(number, int) else int(math.copysign(math.floor(abs(number) + 0.5), number))
    return whole if -(2**63) <= whole < 2**63 else None


def _lax_string(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


_LAX: dict[str, Callable[[Any], Any]] = {
    "BOOL": _lax_bool,
    "FLOAT64": _lax_float,
    "INT64": _lax_int,
    "STRING": _lax_string,
}


def _strict(kind: str, value: Any) -> Any:
    fits = {
        "BOOL": isinstance(value, bool),
        "STRING": isinstance(value, str),
        "FLOAT64": isinstance(value, int | float) and not isinstance(value, bool),
        "INT64": isinstance(value, int | float) and not isinstance(value, bool) and value == int(value),
    }[kind]
    if not fits:
        raise ValueError(f"The provided JSON input is not an array of {kind}")
    return float(value) if kind == "FLOAT64" else int(value) if kind == "INT64" else value


def values(kind: str, text: str, lax: bool) -> list[str | None] | None:
    """An array of JSON as values, written as texts; ``None`` for what is no array, if that may be."""
    found = json.loads(text)
    if not isinstance(found, list):
        if lax:
            return None
        raise ValueError(f"The provided JSON input is not an array of {kind}")
    made = [_LAX[kind](one) if lax else _strict(kind, one) for one in found]
    return [None if one is None else one if isinstance(one, str) else _written(one) for one in made]


def _written(value: bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def scalars(text: str, path: str) -> list[str | None] | None:
    """JSON_VALUE_ARRAY: the scalars of an array as texts; ``None`` where it is none, or has other things."""
    try:
        found = _at(json.loads(text), steps(path))
    except json.JSONDecodeError:
        return None
    if not isinstance(found, list) or any(isinstance(one, list | dict) for one in found):
        return None
    return [None if one is None else _lax_string(one) for one in found]
