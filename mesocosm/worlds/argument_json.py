"""Serialisation of a call's arguments for the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain, zip_longest
from typing import Any

import orjson

_LONG = 1_000_000
"""Characters from which the way of writing shows."""
_PLACE = "\0"
"""Placeholder for a plain text, inserted after everything else is serialised."""


class PlainText(str):
    """A text of ASCII letters, digits and marks that JSON needs not escape, such as base64."""

    __slots__ = ()


def written_down(arguments: Mapping[str, Any]) -> str:
    """The arguments as JSON.

    It is the standard library's, because that can write down whatever a client may send. It holds up every
    other thread all the while, some ten milliseconds a megabyte; of long text without escapes, the same is
    made in a tenth of the time, and what is known to be plain is copied once and not looked at.
    """
    texts = [text for item in arguments.items() for value in item for text in _texts(value)]
    if sum(map(len, texts)) > _LONG and all(text.isascii() and "\x7f" not in text for text in texts):
        return _spliced(arguments)
    return json.dumps(arguments, separators=(",", ":"))


def _spliced(arguments: Mapping[str, Any]) -> str:
    plain: list[str] = []

    def simple(value: Any) -> Any:
        if isinstance(value, PlainText):
            plain.append(value)
            return orjson.Fragment(f'"{_PLACE}"')
        return dict(value) if isinstance(value, dict) else str(value)

    rest = orjson.dumps(arguments, simple, orjson.OPT_PASSTHROUGH_SUBCLASS).decode().split(_PLACE)
    return "".join(chain.from_iterable(zip_longest(rest, plain, fillvalue="")))


def _texts(value: Any) -> list[str]:
    """The texts that a value consists of; one that is not plain if it consists of anything else."""
    if isinstance(value, str):
        return [value]
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, dict) and all(isinstance(item, str) for item in (*value, *value.values())):
        return [*value, *value.values()]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return ["\x7f"]
