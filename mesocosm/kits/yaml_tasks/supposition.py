"""Suppositions: change facts, see what would be wanted, and change them back.

A near miss of an instance is what somebody would do who misreads one fact: overlooks a cancelled visit,
swaps two dates, reads a time as UTC. ``mistakes`` changes the fact that way and asks what the goal then
wants. There are hundreds of these for an instance, so the truth is not built anew for each, but changed::

    supposed = Supposition(truth)
    with supposed.beginning():
        supposed.field(visit, "day", friday)  # as if it had been drawn so
        rows = wanted_of(definition, truth)  # what follows is worked out again
    # here all is as it was

An entity has its facts in ``drawn`` (what was drawn, or given by a service) and, lazily, all that follows
from them in ``known``. So a change puts its value into ``drawn`` and lets all entities forget the rest
(``Truth.forget``). At the end the changes of ``drawn`` are undone one by one, and each entity gets back the
very ``known`` that it had. A new sort of change must say how it is undone, and forget.

Until version 0.8 only what depends on a changed fact was forgotten, by noting each read of each value while
it was worked out. That halved the time for one of the shipped tasks, with hooks in every read: decision 101.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.entities import Entity
    from mesocosm.kits.yaml_tasks.truth import Truth


class Supposition:
    """A truth of which parts are supposed to be others for a while."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        truth.found = {}
        self._undoing: list[Callable[[], object]] = []

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Take back at the end whatever is supposed meanwhile."""
        known, found = [(one, one.known) for one in self.truth.everything], self.truth.found
        mark = self.mark()
        try:
            yield
        finally:
            self._undo(mark)
            self.truth.found = found
            for one, before in known:
                one.known = before

    def mark(self) -> int:
        """Return the present state, for ``take_back``."""
        return len(self._undoing)

    def take_back(self, mark: int) -> None:
        """Suppose nothing any more that was not supposed then."""
        self._undo(mark)
        self.truth.forget()

    def _undo(self, mark: int) -> None:
        while len(self._undoing) > mark:
            self._undoing.pop()()

    def field(self, entity: Entity, name: str, value: Any) -> None:
        """Suppose that a field has another value."""
        self._put(entity.drawn, name, value)

    def no_field(self, entity: Entity, name: str) -> None:
        """Suppose that a field was not drawn."""
        if name in entity.drawn:
            self._undoing.append(partial(entity.drawn.__setitem__, name, entity.drawn.pop(name)))
        self.truth.forget()

    def case(self, entity: Entity, kind: str) -> None:
        """Suppose that it is of another kind."""
        self._undoing.append(partial(setattr, entity, "case", entity.case))
        entity.case = kind
        self.truth.forget()

    def children(self, entity: Entity, fact: str, ones: list[Entity]) -> None:
        """Suppose that others belong to it."""
        self._put(entity.children, fact, ones)

    def all_of(self, fact: str, ones: list[Entity]) -> None:
        """Suppose that these are all of a fact."""
        self._put(self.truth.sets, fact, ones)

    def _put(self, place: dict[str, Any], name: str, value: Any) -> None:
        before = (
            partial(place.__setitem__, name, place[name]) if name in place else partial(place.pop, name, None)
        )
        self._undoing.append(before)
        place[name] = value
        self.truth.forget()
