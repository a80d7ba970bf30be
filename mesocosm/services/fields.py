"""Fields that a client sent, with a record of those that the answer ignored.

A field that is dropped with a success status is a lie to the client that sent it. So what a request says is
kept in ``Fields``, which remember what was asked of them. What nobody asked for when the answer stands is
refused by name, unless the answer shows the same (clients send back what they have read), or the vendor is
known to pass it over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any


class Fields(dict[str, Any]):
    """An object of a request, which remembers what was looked at; who goes over all of it looks at all."""

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
        """Names of what nobody took notice of, as a client writes them.

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
