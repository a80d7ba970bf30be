"""Dependency tracking: if facts change, only what depends on them is computed again.

Hundreds of near misses of an instance differ in one field of one entity each. Which values follow from which
is noted while they are worked out; what was supposed is taken back, and what followed from it put back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.entities import Entity
    from mesocosm.kits.yaml_tasks.truth import Truth

Value = tuple["Entity | None", Hashable]
"""A value: its owner (``None``: the truth) and its name."""
_ALL = "*"
"""Stands for all sets: who goes through them follows from each."""


class Following:
    """Notes which values follow from which."""

    def __init__(self) -> None:
        self.found: dict[Hashable, Any] = {}
        """Cached facts of the truth, besides its entities' values."""
        self.undoing: list[Callable[[], object]] = []
        """Actions that undo changes, latest last."""
        self._users: dict[Value, set[Value]] = {}
        self._reading: list[set[Value]] = []

    def note(self, owner: Entity | None, name: Hashable) -> None:
        """A value is read, by whatever is being worked out."""
        if self._reading:
            self._reading[-1].add((owner, name))

    def begin(self) -> None:
        """Something is worked out, until ``end``."""
        self._reading.append(set())

    def end(self) -> set[Value]:
        """Stop recording and return the values that were read."""
        return self._reading.pop()

    def worked_out(self, owner: Entity | None, name: Hashable, reads: set[Value]) -> None:
        """A value is known now, which followed from these."""
        self.undoing.append(partial(self._known_by(owner).pop, name))
        for read in reads:
            self._users.setdefault(read, set()).add((owner, name))

    def once(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """Return a cached result, remade when its dependencies change. Do not modify it."""
        self.note(None, name)
        if name not in self.found:
            self.begin()
            try:
                value = make()
            finally:
                reads = self.end()
            self.found[name] = value
            self.worked_out(None, name, reads)
        return self.found[name]

    def changed(self, owner: Entity | None, name: Hashable) -> None:
        """Forget all that followed from a value."""
        todo: list[Value] = [(owner, name)]
        while todo:
            for user in self._users.get(todo.pop(), ()):
                known = self._known_by(user[0])
                if user[1] in known:
                    self.undoing.append(partial(known.__setitem__, user[1], known.pop(user[1])))
                    todo.append(user)

    def _known_by(self, owner: Entity | None) -> dict[Any, Any]:
        return self.found if owner is None else owner.known


class _Sets(dict[str, "list[Entity]"]):
    """The entities by fact; notes which are looked at."""

    def __init__(self, sets: Mapping[str, list[Entity]], following: Following) -> None:
        super().__init__(sets)
        self._following = following

    def __getitem__(self, name: str) -> list[Entity]:
        self._following.note(None, ("set", name))
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._following.note(None, ("set", name))
        return super().get(name, default)

    def items(self) -> Any:
        self._following.note(None, ("set", _ALL))
        return super().items()

    def values(self) -> Any:
        self._following.note(None, ("set", _ALL))
        return super().values()


class Supposition:
    """A truth of which parts are supposed to be others for a while."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self._following = truth.following = Following()
        truth.sets = _Sets(truth.sets, self._following)

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Whatever is supposed meanwhile is taken back at the end."""
        mark = self.mark()
        try:
            yield
        finally:
            self.take_back(mark)

    def mark(self) -> int:
        """The present state, for ``take_back``."""
        return len(self._following.undoing)

    def take_back(self, mark: int) -> None:
        """Suppose nothing any more that was not supposed then."""
        undoing = self._following.undoing
        while len(undoing) > mark:
            undoing.pop()()

    def field(self, entity: Entity, name: str, value: Any) -> None:
        """Suppose that a field is another."""
        for known in (entity.drawn, entity.known):
            self._put_back_later(known, name)
            known[name] = value
        self._following.changed(entity, name)

    def no_field(self, entity: Entity, name: str) -> None:
        """Suppose that a field was not drawn."""
        for known in (entity.drawn, entity.known):
            self._put_back_later(known, name)
            known.pop(name, None)
        self._following.changed(entity, name)

    def case(self, entity: Entity, kind: str) -> None:
        """Suppose that it is of another kind."""
        self._following.undoing.append(partial(setattr, entity, "case", entity.case))
        entity.case = kind
        self._following.changed(entity, "case")

    def children(self, entity: Entity, fact: str, ones: list[Entity]) -> None:
        """Suppose that others belong to it."""
        self._put_back_later(entity.children, fact)
        entity.children[fact] = ones
        self._following.changed(entity, fact)

    def all_of(self, fact: str, ones: list[Entity]) -> None:
        """Suppose that these are all of a fact."""
        self._put_back_later(self.truth.sets, fact)
        self.truth.sets[fact] = ones
        for name in (fact, _ALL):
            self._following.changed(None, ("set", name))

    def _put_back_later(self, known: dict[str, Any], name: str) -> None:
        before = (
            partial(known.__setitem__, name, known[name]) if name in known else partial(known.pop, name, None)
        )
        self._following.undoing.append(before)
