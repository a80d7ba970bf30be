"""Building blocks of near misses: a case with a given fate, and damage in the services' vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.services.words import Spoiling, load_words

if TYPE_CHECKING:
    from mesocosm.services.world import World


class _Fated(Protocol):
    @property
    def fate(self) -> str:
        """Fate that puts the entity into its case."""


F = TypeVar("F", bound=_Fated)
T = TypeVar("T")


def first(cases: Iterable[T]) -> T:
    """The first of some cases; raises ``Inapplicable`` where the instance has none."""
    for case in cases:
        return case
    raise Inapplicable


def of_fate(cases: Iterable[F], fate: str) -> F:
    """The first case of a fate; raises ``Inapplicable`` where the instance has none."""
    return first(case for case in cases if case.fate == fate)


def spoilings(service: str, breaks: str, *names: str) -> Iterator[Mutant]:
    """Damage that no task asks for, as the words of a service know it: all of it, or some by name."""
    words = load_words(service)
    known = {one.name: one for one in words.spoilings} if words else {}
    for name in names or known:
        yield Mutant(name, breaks, spoiled(known[name]))


def spoiled(spoiling: Spoiling) -> Callable[[World, Any], None]:
    """The damage, as a mutant does it."""
    return partial(_spoil, spoiling.apply)


def _spoil(apply: Callable[[World], bool], world: World, expected: Any) -> None:
    if not apply(world):
        raise Inapplicable
