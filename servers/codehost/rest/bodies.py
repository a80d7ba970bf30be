"""Reading the bodies of requests: fields by name and kind, or a refusal in the product's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from mesocosm.doors.request import Request
from mesocosm.servers.codehost.store.refusals import Unprocessable

T = TypeVar("T")


class Body:
    """The JSON object that a request carries; a missing body is an empty one, ``null`` is as if left out."""

    def __init__(self, fields: Mapping[str, Any], where: str = "") -> None:
        self.fields = fields
        self._where = where

    @classmethod
    def of(cls, request: Request) -> Body:
        """The body of a request."""
        data = {} if request.json is None else request.json
        if not isinstance(data, dict):
            raise Unprocessable("Invalid request.\n\nThe body must be a JSON object.")
        return cls(data)

    def __contains__(self, name: str) -> bool:
        """Whether the field is there, be it ``null``."""
        return name in self.fields

    def text(self, name: str) -> str | None:
        """A text."""
        return self._field(name, str, "a string")

    def flag(self, name: str) -> bool | None:
        """A boolean."""
        return self._field(name, bool, "a boolean")

    def number(self, name: str) -> int | None:
        """A whole number of at most 64 bits."""
        value = self._field(name, int, "an integer")
        if isinstance(value, bool) or (value is not None and not -(2**63) <= value < 2**63):
            raise self._wrong(name, "an integer")
        return value

    def texts(self, name: str) -> list[str] | None:
        """A list of texts."""
        values = self._field(name, list, "an array of strings")
        if values is not None and not all(isinstance(value, str) for value in values):
            raise self._wrong(name, "an array of strings")
        return values

    def objects(self, name: str) -> list[Body] | None:
        """A list of objects."""
        values = self._field(name, list, "an array of objects")
        if values is not None and not all(isinstance(value, dict) for value in values):
            raise self._wrong(name, "an array of objects")
        return None if values is None else [Body(value, f"{self._where}{name}/") for value in values]

    def object(self, name: str) -> Body | None:
        """An object."""
        value = self._field(name, dict, "an object")
        return None if value is None else Body(value, f"{self._where}{name}/")

    def choice(self, name: str, *choices: str) -> str | None:
        """One of some texts."""
        value = self.text(name)
        if value is not None and value not in choices:
            raise self._wrong(name, f"one of {', '.join(choices)}")
        return value

    def required(self, name: str) -> str:
        """A text that must be there."""
        value = self.text(name)
        if value is None:
            raise self.missing(name)
        return value

    def missing(self, name: str) -> Unprocessable:
        """The refusal for a field that must be there."""
        return Unprocessable(f'Invalid request.\n\n"{self._where}{name}" wasn\'t supplied.')

    def names(self, name: str = "labels") -> list[str] | None:
        """A list of names, each a text or an object that has it."""
        return None if self.fields.get(name) is None else names_in(self.fields[name], name)

    def _field(self, name: str, kind: type[T], expected: str) -> T | None:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, kind):
            raise self._wrong(name, expected)
        return value

    def _wrong(self, name: str, expected: str) -> Unprocessable:
        return Unprocessable(
            f"Invalid request.\n\nFor '{self._where}{name}', {self.fields[name]!r:.80} is not {expected}."
        )


def names_in(values: Any, what: str) -> list[str]:
    """Names in a list of texts or of objects with a ``name``."""
    if not isinstance(values, list):
        raise Unprocessable(f"Invalid request.\n\nFor '{what}', {values!r:.80} is not an array.")
    names = []
    for item in values:
        name = item.get("name") if isinstance(item, dict) else item
        if not isinstance(name, str):
            raise Unprocessable(f"Invalid request.\n\nFor '{what}', {name!r:.80} is not a string.")
        names.append(name)
    return names
