"""Referring expressions: the fewest attributes by which a reader knows which thing is meant.

The incremental algorithm of Dale and Reiter (1995): attributes are taken in the order in which the writer
would
think of them, and each is kept if it rules out a thing that the reader could mean as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Attribute = Callable[[Any], Any]


@dataclass(frozen=True)
class Reference:
    """A part of a text that refers to a thing, and why it can be no other."""

    expression: str
    """As it stands in the text."""
    kind: str
    """thing or person."""
    key: str
    """Names the referent: the code of a thing, the address of a person."""
    by: tuple[str, ...]
    """Attributes that tell it from all others of the context."""


def distinguishing(
    thing: Any, context: Sequence[Any], order: Sequence[str], attributes: Mapping[str, Attribute]
) -> list[str] | None:
    """Return the attributes, in the order given, that leave only ``thing`` of a context; None if they
    cannot."""
    left = [other for other in context if other is not thing]
    chosen: list[str] = []
    for name in order:
        value = attributes[name](thing)
        remaining = [other for other in left if attributes[name](other) == value]
        if len(remaining) < len(left) or not chosen:
            chosen.append(name)
            left = remaining
        if not left:
            return chosen
    return None


def referents(
    values: Mapping[str, Any], context: Sequence[Any], attributes: Mapping[str, Attribute]
) -> list[Any]:
    """Return the things of a context that have all of these values."""
    return [one for one in context if all(attributes[name](one) == value for name, value in values.items())]
