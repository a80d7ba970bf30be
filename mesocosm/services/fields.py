"""Fields that a client sent, with a record of those that the answer ignored.

**The problem.** A client of a vendor's API sends an object with forty fields, the mock keeps thirty of them,
and answers 200. The client believes that all forty were kept. A field that is dropped with a success status
is a lie, and the agent that was lied to fails for a reason which no log shows.

**What was weighed** (decision 035). A list of known fields for each route: hundreds of lists beside the code
that reads the bodies, which drift apart from it. A Pydantic model for each: the same lists, with the
vendors' rules (a value may be ``null``, a text, or an object of one of three forms) in validators. So the
code that reads the body is itself the list: what it never looked at was ignored.

**How it works.** ``Fields`` is a dict that records the names that are read. Take a route that reads two::

    body = Fields({"title": "Essay", "colour": "red", "due": {"at": "2025-05-01", "lock": True}})
    title, due = body["title"], body["due"]["at"]
    list(body.left_over({"title": "Essay"}, passed_over=()))  # ["colour", "due[lock]"]

1. ``doors/request.py`` makes ``Fields`` of the query and of the body; objects inside are ``Fields``, too.
2. The route's function runs. ``body["x"]``, ``body.get("x")`` and ``"x" in body`` count as looking at ``x``;
   ``for name in body``, ``keys``, ``items``, ``values``, ``|`` and ``dict(body)`` as looking at all of it
   (at that level).
3. The door asks for what is left over (``Api._answer``) before the transaction is committed, and refuses the
   first such name in the vendor's form of an error. All that the function did is rolled back.

Not left over is a field whose value the answer shows unchanged (clients send back what they have read), a
``null``, and a name that the vendor is known to pass over (``alt``, ``_fields``, what only the product
writes).

**What breaks it.** Reading by a method that is not overridden here (``pop``, ``setdefault``, ``copy``): it
records nothing, so fields that are kept seem ignored, and are refused. A function that goes over a whole
body and picks some fields has looked at all of it: it must refuse other names itself (``services/values.py``
does). Code that only wants the names, as to list them in an error, uses ``names()``. What is made of several
objects (``together``) hands on by ``take`` what was looked at. Without ``__iter__``, which looks superfluous
beside ``keys``, ``dict(body)`` would copy past the record in C.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any


class Fields(dict[str, Any]):
    """A request's object that records which fields were read; iterating over it reads all."""

    def __init__(self, values: Mapping[str, Any], where: str = "") -> None:
        super().__init__({name: remembering(value, f"{where}{name}/") for name, value in values.items()})
        self.where = where
        """The names of the objects that it is in, each with a slash behind it."""
        self._taken: set[str] = set()

    @classmethod
    def together(cls, *parts: Fields) -> Fields:
        """Several objects as one; of the same name, the last one's. They share what is inside them."""
        return cls({name: value for part in parts for name, value in dict.items(part)})

    def take(self, other: Fields) -> None:
        """Take notice of what was taken of another object."""
        self._taken |= other._taken

    def __getitem__(self, name: str) -> Any:
        self._taken.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a field, which is taken notice of."""
        self._taken.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._taken.add(str(name))
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._taken.update(super().keys())
        return super().__iter__()

    def keys(self) -> Any:
        """All names, all of which are taken notice of."""
        self._taken.update(super().keys())
        return super().keys()

    def items(self) -> Any:
        """All fields, all of which are taken notice of."""
        self._taken.update(super().keys())
        return super().items()

    def values(self) -> Any:
        """All values, all of which are taken notice of."""
        self._taken.update(super().keys())
        return super().values()

    def names(self) -> frozenset[str]:
        """All names, of which no notice is taken."""
        return frozenset(super().keys())

    def __or__(self, other: Any) -> Any:
        return dict(self.items()) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self.items())

    def left_over(self, shown: Any, passed_over: Collection[str]) -> Iterator[str]:
        """Yield the unread fields by the client's names.

        Args:
            shown: The answer: what it shows with the same value was not dropped.
            passed_over: Names that the vendor passes over.
        """
        for name, value in dict.items(self):
            if value is None or name in passed_over:
                continue
            inside = shown.get(name, shown) if isinstance(shown, Mapping) else None
            if name not in self._taken:
                if not (isinstance(shown, Mapping) and name in shown and _same(value, shown[name])):
                    yield name
            elif isinstance(value, Fields):
                yield from (f"{name}[{inner}]" for inner in value.left_over(inside, passed_over))
            elif isinstance(value, list):
                yield from _left_in_items(name, value, inside, passed_over)


def _left_in_items(name: str, items: list[Any], shown: Any, passed_over: Collection[str]) -> Iterator[str]:
    for number, item in enumerate(items):
        if isinstance(item, Fields):
            same = shown[number] if isinstance(shown, list) and number < len(shown) else None
            if isinstance(same, Mapping) and "error" in same:
                continue  # of a batch, one that was refused for itself
            yield from (f"{name}[{number}][{inner}]" for inner in item.left_over(same, passed_over))


def remembering(value: Any, where: str = "") -> Any:
    """Data whose objects are ``Fields``."""
    if isinstance(value, Mapping):
        return value if isinstance(value, Fields) else Fields(value, where)
    return [remembering(item, where) for item in value] if isinstance(value, list) else value


def _same(sent: Any, shown: Any) -> bool:
    """True if a sent value equals the shown one. Forms send text only."""
    return bool(sent == shown) or (isinstance(sent, str) and sent == _written(shown))


def _written(shown: Any) -> str | None:
    if isinstance(shown, bool):
        return "true" if shown else "false"
    return str(shown) if isinstance(shown, int | float) else None
