"""Conversion of what callers write to stored form, for tool arguments and request bodies alike.

A check takes a value and the name by which the caller knows it; it returns what is kept, or refuses. Those
of the plain kinds are a vendor's ``Kinds``, which say in its words what is wrong; a store adds its own (an
amount of money, a time that ends a day). What may be said of a thing is a table of checks, declared once:
what creates the thing and what changes it, tool or request, goes through ``checked``.

A ``Reader`` reads single fields of a request where there is no table: what one route alone takes.
"""

# One table per thing, for tools and REST alike, so that a field is checked the same at every door (decision
# 087).

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mesocosm.errors import Refusal
from mesocosm.services.fields import Fields

T = TypeVar("T")

Check = Callable[[Any, str], Any]
"""Takes a value and its name; returns what is kept, or raises a ``Refusal`` in the vendor's words."""
Checks = Mapping[str, Check]
"""Checks of a thing, by the names of its fields."""


@dataclass(frozen=True)
class OneOf:
    """A check of one of some words, which knows them."""

    choices: tuple[str, ...]
    check: Check

    def __call__(self, value: Any, name: str) -> Any:
        return self.check(value, name)


MAX_WHOLE = 2**63
GOOGLES: Mapping[str, str] = {
    "text": "a text",
    "flag": "true or false",
    "whole": "a whole number",
    "object": "an object",
    "items": "a list",
    "objects": "a list of objects",
    "texts": "a list of texts",
}
"""Names of the kinds of values."""


def checked(data: Mapping[str, Any], checks: Checks) -> dict[str, Any]:
    """Check the fields of a thing; fields without a check pass.

    Of several that are wrong, the first in the table is refused, in whatever order they were written.
    """
    found = dict(data)
    for name, check in checks.items():
        if name in found:
            found[name] = check(found[name], name)
    return found


class Kinds:
    """The checks of plain kinds of values.

    Args:
        wrong: The vendor's refusal, from a field's name, its value, and what is expected of it.
        words: What the vendor calls the kinds.
    """

    def __init__(self, wrong: Callable[[str, Any, str], Refusal], words: Mapping[str, str] = GOOGLES) -> None:
        self._wrong = wrong
        self._words = words

    def text(self, value: Any, name: str) -> str:
        return self._of(str, "text", value, name)

    def flag(self, value: Any, name: str) -> bool:
        """A truth value."""
        return self._of(bool, "flag", value, name)

    def whole(self, value: Any, name: str) -> int:
        """A whole number of at most 64 bits."""
        number = self._of(int, "whole", value, name)
        if isinstance(value, bool) or not -MAX_WHOLE <= number < MAX_WHOLE:
            raise self.wrong("whole", value, name)
        return number

    def object(self, value: Any, name: str) -> dict[str, Any]:
        return self._of(dict, "object", value, name)

    def items(self, value: Any, name: str) -> list[Any]:
        return self._of(list, "items", value, name)

    def texts(self, value: Any, name: str) -> list[str]:
        return self._all_of(str, "texts", value, name)

    def objects(self, value: Any, name: str) -> list[dict[str, Any]]:
        return self._all_of(dict, "objects", value, name)

    def choice(self, *choices: str) -> Check:
        """One of some words."""

        def check(value: Any, name: str) -> str:
            found = self.text(value, name)
            if found not in choices:
                raise self._wrong(name, value, f"one of {', '.join(choices)}")
            return found

        return OneOf(choices, check)

    def wrong(self, kind: str, value: Any, name: str) -> Refusal:
        """The refusal of a value that is not of a kind."""
        return self._wrong(name, value, self._words[kind])

    def _of(self, type_: type[T], kind: str, value: Any, name: str) -> T:
        if not isinstance(value, type_):
            raise self.wrong(kind, value, name)
        return value

    def _all_of(self, type_: type[T], kind: str, value: Any, name: str) -> list[T]:
        found = self._of(list, kind, value, name)
        if not all(isinstance(item, type_) for item in found):
            raise self.wrong(kind, value, name)
        return found


class Reader:
    """Reads fields of a request's body; ``None`` where one is not there, or ``null``.

    Args:
        kinds: The vendor's kinds of values.
        paths: Whether the vendor names a field with the objects that it is in: ``author/date``.
    """

    def __init__(self, kinds: Kinds, *, paths: bool = False) -> None:
        self.kinds = kinds
        self._paths = paths

    def text(self, body: Mapping[str, Any], name: str) -> str | None:
        return self.field(body, name, self.kinds.text)

    def flag(self, body: Mapping[str, Any], name: str, usual: bool = False) -> bool:
        """A truth value; the usual one where it is not there."""
        found = self.field(body, name, self.kinds.flag)
        return usual if found is None else found

    def number(self, body: Mapping[str, Any], name: str) -> int | None:
        """A whole number."""
        return self.field(body, name, self.kinds.whole)

    def inner(self, body: Mapping[str, Any], name: str) -> Fields:
        """An object; an empty one where there is none."""
        found: Any = self.field(body, name, self.kinds.object)
        return Fields({}) if found is None else found

    def items(self, body: Mapping[str, Any], name: str) -> list[Any]:
        """A list; an empty one where there is none."""
        return self.field(body, name, self.kinds.items) or []

    def texts(self, body: Mapping[str, Any], name: str) -> list[str] | None:
        return self.field(body, name, self.kinds.texts)

    def objects(self, body: Mapping[str, Any], name: str) -> list[Any]:
        """A list of objects; an empty one where there is none."""
        return self.field(body, name, self.kinds.objects) or []

    def choice(self, body: Mapping[str, Any], name: str, *choices: str) -> str | None:
        """One of some words."""
        return self.field(body, name, self.kinds.choice(*choices))

    def field(self, body: Mapping[str, Any], name: str, check: Callable[[Any, str], T]) -> T | None:
        """A field that passes a check."""
        value = body.get(name)
        return None if value is None else check(value, self.named(body, name))

    def named(self, body: Mapping[str, Any], name: str) -> str:
        """Return the vendor's name of a field."""
        return f"{body.where}{name}" if self._paths and isinstance(body, Fields) else name
