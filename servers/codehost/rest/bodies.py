"""Reading the bodies of requests, in the product's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mesocosm.doors.request import Request
from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.services.fields import Fields
from mesocosm.services.values import Kinds, Reader

_WORDS = {
    "text": "a string",
    "flag": "a boolean",
    "whole": "an integer",
    "object": "an object",
    "texts": "an array of strings",
    "objects": "an array of objects",
}


def body_of(request: Request) -> Fields:
    """The JSON object that a request carries; a missing body is an empty one."""
    if request.json is None:
        return Fields({})
    if not isinstance(request.json, Fields):
        raise Unprocessable("Invalid request.\n\nThe body must be a JSON object.")
    return request.json


def names_in(values: Any, what: str) -> list[str]:
    """Names in a list of texts or of objects with a ``name``."""
    if not isinstance(values, list):
        raise _wrong(what, values, "an array")
    names = []
    for item in values:
        name = item.get("name") if isinstance(item, dict) else item
        if not isinstance(name, str):
            raise _wrong(what, name, "a string")
        names.append(name)
    return names


def _wrong(name: str, value: Any, expected: str) -> Unprocessable:
    return Unprocessable(f"Invalid request.\n\nFor '{name}', {value!r:.80} is not {expected}.")


class _Reader(Reader):
    def required(self, body: Mapping[str, Any], name: str) -> str:
        """A text that must be there."""
        value = self.text(body, name)
        if value is None:
            raise self.missing(body, name)
        return value

    def missing(self, body: Mapping[str, Any], name: str) -> Unprocessable:
        """The refusal for a field that must be there."""
        return Unprocessable(f'Invalid request.\n\n"{self.named(body, name)}" wasn\'t supplied.')

    def names(self, body: Mapping[str, Any], name: str = "labels") -> list[str] | None:
        """A list of names, each a text or an object that has it."""
        return self.field(body, name, names_in)

    def without_effect(self, body: Fields, name: str, *values: Any) -> None:
        """Accept a field whose value is fixed here anyway; another value is refused by name."""
        if dict.get(body, name) in values:
            body.get(name)

    def changed_flag(self, body: Mapping[str, Any], name: str) -> bool | None:
        """Read an optional boolean; ``None`` leaves the attribute unchanged."""
        return self.field(body, name, self.kinds.flag)


read = _Reader(Kinds(_wrong, _WORDS), paths=True)
