"""Arguments as clients really send them: JSON as text, numbers as text, null for what is left out.

One rule for all tools. A value that its schema admits stays as it is. One that it does not admit is taken
as what it can only mean: the JSON that a text spells where a list, an object, a number or a truth value is
expected, the text of a number where a text is expected, and ``null`` for an optional argument as if it had
not been given, unless null is one of the values that the argument takes. The schema refuses everything else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import orjson

_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,3})?", re.ASCII)
_TRUTH = {"true": True, "false": False}


def coerce(
    value: Any, schema: Mapping[str, Any], *, drop_nulls: bool, places: list[str] | None = None, at: str = ""
) -> Any:
    """Return the value that a caller meant.

    Args:
        value: What was sent.
        schema: What is expected.
        drop_nulls: Leave out optional fields of objects that are null and must not be.
        places: Where a value was taken as another one than was sent; added to.
        at: The place of this value.
    """
    places = [] if places is None else places
    options = schema.get("anyOf") or [schema]
    kinds = {option.get("type"): option for option in options}
    meant = _meant(value, kinds)
    if meant is not value:
        places.append(at)
    if isinstance(meant, dict) and "object" in kinds:
        return _coerced_object(meant, kinds["object"], drop_nulls, places, at)
    if isinstance(meant, list) and "items" in kinds.get("array", {}):
        items = kinds["array"]["items"]
        return [coerce(item, items, drop_nulls=drop_nulls, places=places, at=f"{at}[]") for item in meant]
    return meant


def _coerced_object(
    value: dict[str, Any], schema: Mapping[str, Any], drop_nulls: bool, places: list[str], at: str
) -> dict[str, Any]:
    known, required = schema.get("properties", {}), schema.get("required", ())
    others = schema.get("additionalProperties") or {}
    if not known and not others:
        return value
    found = {}
    for name, item in value.items():
        inner, place = known.get(name, others), f"{at}.{name}" if at else name
        if drop_nulls and item is None and name in known and name not in required and not _takes_null(inner):
            places.append(place)
        else:
            found[name] = coerce(item, inner, drop_nulls=drop_nulls, places=places, at=place)
    return found


def _takes_null(schema: Mapping[str, Any]) -> bool:
    options = schema.get("anyOf") or [schema]
    return any("type" not in option or option["type"] == "null" for option in options)


def _meant(value: Any, kinds: Mapping[str | None, Any]) -> Any:
    if None in kinds:
        return value
    takes_numbers = "number" in kinds or "integer" in kinds
    if isinstance(value, str):
        return value if "string" in kinds else _spelled(value, kinds, takes_numbers)
    if isinstance(value, int | float) and not isinstance(value, bool) and not takes_numbers:
        return json.dumps(value) if "string" in kinds and math.isfinite(value) else value
    return value


def _spelled(text: str, kinds: Mapping[str | None, Any], takes_numbers: bool) -> Any:
    """Parse a text as one of the expected kinds; return the text if it is none of them."""
    if takes_numbers and _NUMBER.fullmatch(text):
        number = float(text) if set(text) & set(".eE") else int(text)
        return int(number) if "number" not in kinds and number == int(number) else number
    if "boolean" in kinds and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    begins = text.lstrip()[:1]
    if (begins == "[" and "array" in kinds) or (begins == "{" and "object" in kinds):
        try:
            return orjson.loads(text)
        except ValueError:
            return text
    return text
