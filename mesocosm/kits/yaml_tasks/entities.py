"""Entities: fields are drawn from their own streams, or computed on first read."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mesocosm.kits.yaml_tasks.definition import EntityType, Selection
from mesocosm.kits.yaml_tasks.draws import Draw, Undrawable, value_of
from mesocosm.kits.yaml_tasks.expressions import Expression
from mesocosm.kits.yaml_tasks.filters import show
from mesocosm.kits.yaml_tasks.language import ExpressionError, missing

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.truth import Truth

_TRIES = 200
_NOTHING_DRAWN = random.Random(0)
"""Stand-in for an entity's dice before its fields are drawn."""
_NO_PARTS: set[str] = set()


class Wrong(Exception):
    """Something in the file, found while it was put into effect."""

    def __init__(self, keys: tuple[Any, ...], message: str) -> None:
        super().__init__(message)
        self.keys = keys
        self.message = message


class Entity(Mapping[str, Any]):
    """One of a fact, by its fields. A field is worked out when it is first read."""

    __slots__ = (
        "_evened",
        "_field",
        "_hash",
        "_pending",
        "background",
        "case",
        "children",
        "definition",
        "distractor",
        "drawn",
        "fact",
        "ident",
        "known",
        "locale",
        "number",
        "parent",
        "place",
        "rng",
        "truth",
    )  # fmt: skip

    def __init__(
        self,
        truth: Truth,
        fact: str,
        ident: str,
        number: int,
        kind: str | None = None,
        parent: Entity | None = None,
        *,
        background: bool = False,
        distractor: str | None = None,
    ) -> None:
        self.truth = truth
        self.fact = fact
        self.definition: EntityType = truth.definition.entities[fact]
        """Its fact's definition in the file."""
        self.ident = ident
        """Names it among the entities of its fact, and its streams."""
        self._hash = hash((fact, ident))
        self.number = number
        self.case = kind
        self.parent = parent
        self.background = background
        self.distractor = distractor
        """The distractor that it is, where it is one."""
        self.known: dict[str, Any] = {}
        """Fields that are known, and what services gave."""
        self.drawn: dict[str, Any] = {}
        """Those of them that were drawn or given: the rest follows."""
        self.children: dict[str, list[Entity]] = {}
        self._pending: list[str] = []
        self.place = truth.next_place(fact, background=background)
        """Its number among the entities of its fact that are background like it, or are none."""
        self._field = ""
        self._evened: set[str] = _NO_PARTS
        self.rng = _NOTHING_DRAWN
        self.locale = "en_US"

    @property
    def label(self) -> str:
        """Name of the entity in complaints."""
        case = " ".join(name for name in (self.distractor, self.case) if name)
        return f"{self.fact} {self.ident}" + (f" ({case})" if case else "")

    # -- as a mapping -----------------------------------------------------------------------------------

    @property
    def counted_by(self) -> Entity:
        """The one that belongs to no other, by which it counts: what belongs to a distractor is one."""
        one = self
        while one.parent is not None:
            one = one.parent
        return one

    def __getitem__(self, name: str) -> Any:
        found = self._own(name)
        if found is missing:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self.definition.own_fields
        yield from (name for name in self.known if name not in self.definition.own_fields)
        yield from self.children

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True  # whatever it has; to count that takes long

    def __contains__(self, name: object) -> bool:
        return name in self.definition.own_fields or name in self.known or name in self.children

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Entity) and (self.fact, self.ident) == (other.fact, other.ident)
        )

    def __hash__(self) -> int:
        return self._hash

    def _own(self, name: str) -> Any:
        if self.truth.reads is not None and (
            name in ("case", "distractor") or name in self.known or name in self.definition.own_fields
        ):
            self.truth.reads.add((self, name))
        if name in self.known:
            return self.known[name]
        if name in self.children:
            return self.children[name]
        if name == "case" and self.case is not None:
            return self.case
        if name == "index":
            return self.number + 1
        if name == "this":
            return self
        if name == "distractor":
            return self.counted_by.distractor
        if name in self.definition.own_fields:
            return self._work_out(name)
        if self.parent is not None and name == self.parent.fact:
            return self.parent
        return missing

    # -- as a scope -------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Any:
        found = self._own(name)
        return self.truth.lookup(name) if found is missing else found

    @property
    def zone(self) -> dt.tzinfo:
        """The world's."""
        return self.truth.zone

    def belonging(self, fact: str) -> list[Entity]:
        return self.children[fact]

    @property
    def serial(self) -> int:
        """See ``Source``."""
        if self.parent is None:
            return self.number
        return self.parent.serial * self.truth.most_of(self.fact) + self.number

    def entities(
        self, fact: str, kinds: Sequence[str] | None, where: Expression | None = None
    ) -> Sequence[Entity]:
        """All of a fact that are no background, of some kinds, and of which something is true: its names are
        theirs, and this one's by that of its fact."""
        if fact not in self.truth.sets:
            raise Undrawable(f"no {fact!r} of which there are several before this one")
        found = [one for one in self.truth.sets[fact] if kinds is None or one.case in kinds]
        if where is None:
            return found
        return [one for one in found if where.value(partial(self._beside, one))]

    def _beside(self, other: Entity, name: str) -> Any:
        return self if name == self.fact else other.lookup(name)

    def hooked(self, name: str) -> Any:
        """Call a Python function beside the file for this entity."""
        hook = self.truth.hooks.get(name)
        if hook is None:
            known = ", ".join(self.truth.hooks) or "none"
            raise Undrawable(
                f"no function {name!r} of the Python beside the file under `python`; there are {known}"
            )
        return hook(self, self.rng)

    def even(self, part: str) -> float:
        """See ``Source``."""
        if part in self._evened:
            return self.rng.random()
        self._evened.add(part)
        return self.truth.even(f"{self.fact}:{self._field}:{part}", self.place, background=self.background)

    # -- fields -----------------------------------------------------------------------------------------

    def give(self, name: str, value: Any) -> None:
        """Set a value assigned by a service."""
        self.drawn[name] = self.known[name] = value

    def keys_of(self, name: str) -> tuple[Any, ...]:
        """Return the place in the file that defines a field."""
        other = self.definition.distractors.get(self.distractor or "")
        if other and name in other.fields:
            return "entities", self.fact, "distractors", self.distractor, "fields", name
        kind = self.definition.cases.get(self.case or "")
        if kind and name in kind.fields:
            return "entities", self.fact, "cases", self.case, "fields", name
        return "entities", self.fact, "fields", name

    def source_of(self, name: str) -> Any:
        """Return the definition of a field for this entity's case."""
        other = self.definition.distractors.get(self.distractor or "")
        if other and name in other.fields:
            return other.fields[name]
        kind = self.definition.cases.get(self.case or "")
        if kind and name in kind.fields:
            return kind.fields[name]
        return self.definition.fields.get(name)

    def _work_out(self, name: str) -> Any:
        if name in self._pending:
            raise Wrong(self.keys_of(name), f"{self.label}: a circle: {self._circle(name)}")
        self._pending.append(name)
        self.truth.pending.append((self, name))
        try:
            source = self.source_of(name)
            if isinstance(source, Draw):
                value = self.drawn[name] = self._draw(name, source)
            else:
                # What is reckoned from it further is to be as exact as in one expression.
                alone = isinstance(source, Expression)
                value = source.exact(self.lookup) if alone else evaluated(source, self.lookup)
        except (ExpressionError, Undrawable) as error:
            raise Wrong(self.keys_of(name), f"{self.label}: {error}") from None
        finally:
            self._pending.pop()
            self.truth.pending.pop()
        self.known[name] = value
        return value

    def _circle(self, name: str) -> str:
        """The fields that are needed for a field, back to itself; with their facts where these differ."""
        path = self.truth.pending
        start = max(n for n, (who, field) in enumerate(path) if who is self and field == name)
        path = [*path[start:], (self, name)]
        alone = all(who is self for who, _ in path)
        return " -> ".join(field if alone else f"{who.fact}.{field}" for who, field in path)

    def _draw(self, name: str, draw: Draw) -> Any:
        if self.truth.stream is None:
            raise Wrong(self.keys_of(name), f"{self.label}: this was not kept when the world was built")
        outer = self.rng, self._field, self._evened
        self._field, self._evened = draw.drawn_as or name, set()
        self.rng = self.truth.stream(f"fact:{self.fact}:{self.ident}:{self._field}")
        among = self.parent.ident if draw.unique == "parent" and self.parent else ""
        taken = self.truth.taken.setdefault((self.fact, name, among), set()) if draw.unique else None
        try:
            unlike = value_of(draw.unlike, self.lookup)
            for _ in range(_TRIES):
                value = draw.draw(self)
                if draw.unlike is not None and (
                    value == unlike or (isinstance(unlike, list) and value in unlike)
                ):
                    continue
                if taken is None:
                    return value
                if (sample := _hashable(value)) not in taken:
                    taken.add(sample)
                    return value
        finally:
            self.rng, self._field, self._evened = outer
        if taken is None:
            raise Undrawable(f"no value that is unlike {show(unlike)}")
        raise Undrawable(f"no further value that is unique: {len(taken)} are taken")


def _hashable(value: Any) -> Any:
    """Return a hashable key that is the same for equal values."""
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return tuple((key, _hashable(value[key])) for key in value) if type(value) is dict else value


Read = tuple[Entity, str]
"""A field of an entity that was looked at."""


def selects(selection: Selection, entity: Entity, lookup: Callable[[str], Any] | None = None) -> bool:
    """True if an entity of the right type is selected.

    ``lookup``: what names mean there, where that is more than the entity knows.
    """
    if selection.cases is not None and entity.case not in selection.cases:
        return False
    if selection.where is None:
        return True
    try:
        return bool(selection.where.value(lookup or entity.lookup))
    except ExpressionError as error:
        raise Wrong((), f"where: {entity.label}: {error}") from None


def settle(entity: Entity) -> None:
    """Draw all drawn fields; derived ones are computed when read."""
    for name in entity.definition.own_fields:
        if isinstance(entity.source_of(name), Draw):
            entity[name]


def evaluated(value: Any, lookup: Callable[[str], Any]) -> Any:
    """A value with all expressions inside it worked out."""
    if isinstance(value, Expression):
        return value.value(lookup)
    if isinstance(value, Mapping) and not isinstance(value, Entity):
        return {key: evaluated(inner, lookup) for key, inner in value.items()}
    if isinstance(value, list):
        return [evaluated(inner, lookup) for inner in value]
    return value
