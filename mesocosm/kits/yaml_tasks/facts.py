"""What is true in an instance: entities whose fields are drawn from streams of their own, or worked out."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mesocosm.kits.apportioning import apportion
from mesocosm.kits.yaml_tasks.definition import Between, Definition, Fact, Selection
from mesocosm.kits.yaml_tasks.drawing import Draw, Undrawable, value_of
from mesocosm.kits.yaml_tasks.expressions import Expression, ExpressionError, missing
from mesocosm.kits.yaml_tasks.filters import show
from mesocosm.kits.yaml_tasks.lateness import late_names

Stream = Callable[[str], random.Random]
_TRIES = 200


class Wrong(Exception):
    """Something in the file, found while it was put into effect."""

    def __init__(self, keys: tuple[Any, ...], message: str) -> None:
        super().__init__(message)
        self.keys = keys
        self.message = message


class Entity(Mapping[str, Any]):
    """One of a fact, by its fields. A field is worked out when it is first read."""

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
        lookalike: str | None = None,
    ) -> None:
        self.truth = truth
        self.fact = fact
        self.ident = ident
        """Names it among the entities of its fact, and its streams."""
        self.number = number
        self.kind = kind
        self.parent = parent
        self.background = background
        self.lookalike = lookalike
        """The lookalike that it is, where it is one."""
        self.known: dict[str, Any] = {}
        """Fields that are known, and what services gave."""
        self.drawn: dict[str, Any] = {}
        """Those of them that were drawn or given: the rest follows."""
        self.children: dict[str, list[Entity]] = {}
        self._pending: list[str] = []
        self.rng = random.Random(0)
        self.locale = "en_US"

    @property
    def definition(self) -> Fact:
        """What the file says of its fact."""
        return self.truth.definition.facts[self.fact]

    @property
    def label(self) -> str:
        """How complaints call it."""
        case = " ".join(name for name in (self.lookalike, self.kind) if name)
        return f"{self.fact} {self.ident}" + (f" ({case})" if case else "")

    # -- as a mapping -----------------------------------------------------------------------------------

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

    def __contains__(self, name: object) -> bool:
        return any(name == own for own in self)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Entity) and (self.fact, self.ident) == (other.fact, other.ident)
        )

    def __hash__(self) -> int:
        return hash((self.fact, self.ident))

    def _own(self, name: str) -> Any:
        if self.truth.reads is not None and (
            name in ("kind", "lookalike") or name in self.known or name in self.definition.own_fields
        ):
            self.truth.reads.add((self, name))
        if name in self.known:
            return self.known[name]
        if name in self.children:
            return self.children[name]
        if name == "kind" and self.kind is not None:
            return self.kind
        if name == "nth":
            return self.number + 1
        if name == "this":
            return self
        if name == "lookalike" and self.definition.lookalikes:
            return self.lookalike
        if name in self.definition.own_fields:
            return self._work_out(name)
        if self.parent is not None and name == self.parent.fact:
            return self.parent
        return missing

    # -- as a scope -------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Any:
        """What a name means for this entity."""
        found = self._own(name)
        return self.truth.lookup(name) if found is missing else found

    @property
    def zone(self) -> dt.tzinfo:
        """The world's."""
        return self.truth.zone

    def entities(self, fact: str, kinds: Sequence[str] | None) -> Sequence[Entity]:
        """All of a fact that are no background, of some kinds."""
        if fact not in self.truth.sets:
            raise Undrawable(f"no fact {fact!r} of which there are several before this one")
        return [one for one in self.truth.sets[fact] if kinds is None or one.kind in kinds]

    def hooked(self, name: str) -> Any:
        """What a Python function beside the file returns for it."""
        hook = self.truth.hooks.get(name)
        if hook is None:
            known = ", ".join(self.truth.hooks) or "none"
            raise Undrawable(
                f"no function {name!r} of the Python beside the file under `python`; there are {known}"
            )
        return hook(self, self.rng)

    # -- fields -----------------------------------------------------------------------------------------

    def give(self, name: str, value: Any) -> None:
        """Set what a service gave for it."""
        self.drawn[name] = self.known[name] = value

    def keys_of(self, name: str) -> tuple[Any, ...]:
        """Where the file says what a field is."""
        other = self.definition.lookalikes.get(self.lookalike or "")
        if other and name in other.fields:
            return "facts", self.fact, "lookalikes", self.lookalike, "fields", name
        kind = self.definition.kinds.get(self.kind or "")
        if kind and name in kind.fields:
            return "facts", self.fact, "kinds", self.kind, "fields", name
        return "facts", self.fact, "fields", name

    def source_of(self, name: str) -> Any:
        """What the file says a field is, for an entity of this kind."""
        other = self.definition.lookalikes.get(self.lookalike or "")
        if other and name in other.fields:
            return other.fields[name]
        kind = self.definition.kinds.get(self.kind or "")
        if kind and name in kind.fields:
            return kind.fields[name]
        return self.definition.fields.get(name)

    def _work_out(self, name: str) -> Any:
        if name in self._pending:
            circle = " -> ".join([*self._pending[self._pending.index(name) :], name])
            raise Wrong(self.keys_of(name), f"{self.label}: a circle: {circle}")
        self._pending.append(name)
        source = self.source_of(name)
        try:
            if isinstance(source, Draw):
                value = self.drawn[name] = self._draw(name, source)
            else:
                value = evaluated(source, self.lookup)
        except (ExpressionError, Undrawable) as error:
            raise Wrong(self.keys_of(name), f"{self.label}: {error}") from None
        finally:
            self._pending.pop()
        self.known[name] = value
        return value

    def _draw(self, name: str, draw: Draw) -> Any:
        if self.truth.stream is None:
            raise Wrong(self.keys_of(name), f"{self.label}: this was not kept when the world was built")
        outer, self.rng = self.rng, self.truth.stream(f"fact:{self.fact}:{self.ident}:{name}")
        taken = self.truth.taken.setdefault((self.fact, name), set()) if draw.unique else None
        try:
            unlike = value_of(draw.unlike, self.lookup)
            for _ in range(_TRIES):
                value = draw.draw(self)
                if value == unlike or (isinstance(unlike, list) and value in unlike):
                    continue
                if taken is None:
                    return value
                if value not in taken:
                    taken.add(value)
                    return value
        finally:
            self.rng = outer
        if taken is None:
            raise Undrawable(f"no value that is unlike {show(unlike)}")
        raise Undrawable(f"no further value that is unique: {len(taken)} are taken")


Read = tuple[Entity, str]
"""A field of an entity that was looked at."""


class Truth:
    """All facts of one instance.

    Args:
        definition: What the file says.
        stream: Where values are drawn from; ``None`` where they are read back.
        now, zone: The world's.
        hooks: Python functions beside the file.
    """

    def __init__(
        self,
        definition: Definition,
        stream: Stream | None,
        now: dt.datetime,
        zone: dt.tzinfo,
        hooks: Mapping[str, Callable[..., Any]],
    ) -> None:
        self.definition = definition
        self.stream = stream
        self.now = now
        self.zone = zone
        self.hooks = hooks
        self.singles: dict[str, Entity] = {}
        self.sets: dict[str, list[Entity]] = {}
        """By fact, without background."""
        self.background: dict[str, list[Entity]] = {}
        self.taken: dict[tuple[str, str], set[Any]] = {}
        self._numbers: dict[str, tuple[random.Random, set[int]]] = {}
        self.given: dict[str, Any] = {}
        """What services gave for statements that are made once, by their ``as``."""
        self.late = late_names(definition, hooks)
        """Names of what is known only when services gave their ids."""
        self.reads: set[Read] | None = None
        """The fields that were read, while somebody watches."""

    @contextmanager
    def watched(self) -> Iterator[set[Read]]:
        """Notes which fields are read meanwhile."""
        outer, self.reads = self.reads, set()
        try:
            yield self.reads
        finally:
            self.reads = outer

    def lookup(self, name: str) -> Any:
        """What a name means where no entity is meant."""
        if name in self.singles:
            return self.singles[name]
        if name in self.sets:
            return self.sets[name]
        if name in self.given:
            return self.given[name]
        if name == "now":
            return self.now
        if name == "today":
            return self.now.date()
        if name in self.hooks:
            return self.hooks[name]
        return missing

    # -- making -----------------------------------------------------------------------------------------

    def draw(self, parameters: Mapping[str, Any]) -> None:
        """Draw all facts but background."""
        for name, fact in self.definition.facts.items():
            if fact.single:
                self.singles[name] = Entity(self, name, "0", 0)
        for name, fact in self.definition.facts.items():
            if not fact.single and fact.of is None:
                self.sets[name] = self._draw_set(name, fact, parameters)
            elif fact.of is not None:
                self.sets[name] = [
                    child for parent in self.sets[fact.of] for child in self._children(name, parent)
                ]
        for entity in [*self.singles.values(), *(one for ones in self.sets.values() for one in ones)]:
            settle(entity)

    def _draw_set(self, name: str, fact: Fact, parameters: Mapping[str, Any]) -> list[Entity]:
        count = parameters[fact.count] if isinstance(fact.count, str) else fact.count
        assert isinstance(count, int)
        kinds: list[str | None] = [None] * count
        if shares := {kind: it.share for kind, it in fact.kinds.items() if it.share is not None}:
            if count < len(shares):
                keys = ("facts", name, "count")
                raise Wrong(
                    keys, f"{count} of {name} are too few: there are {len(shares)} kinds with a share"
                )
            total = sum(shares.values())
            numbers = apportion({kind: share / total for kind, share in shares.items()}, count)
            kinds = [kind for kind, number in numbers.items() for _ in range(number)]
            assert self.stream is not None
            self.stream(f"kinds:{name}").shuffle(kinds)
        dense = not fact.fills
        return [
            Entity(self, name, str(index), index if dense else self._number(name, count), kind)
            for index, kind in enumerate(kinds)
        ]

    def _number(self, fact: str, count: int) -> int:
        """A number that no other entity of the fact has: those of background ones lie among the others."""
        assert self.stream is not None
        numbers, taken = self._numbers.setdefault(fact, (self.stream(f"numbers:{fact}"), set()))
        # Wide enough that the last background entity lies in the same range as the first that counts.
        span = 40 * count + 400
        while True:
            number = numbers.randrange(span * (1 + 2 * len(taken) // span))
            if number not in taken:
                taken.add(number)
                return number

    def _children(self, name: str, parent: Entity) -> list[Entity]:
        fact = self.definition.facts[name]
        count: Any = fact.count
        assert self.stream is not None
        if isinstance(count, Between):
            count = self.stream(f"count:{name}:{parent.ident}").randint(count.least, count.most)
        elif isinstance(count, str):
            raise Wrong(
                ("facts", name, "count"), "a number or {from, to} is needed for what belongs to another"
            )
        kinds: list[str | None] = [None] * count
        if shares := {kind: it.share or 0 for kind, it in fact.kinds.items()}:
            rng = self.stream(f"kinds:{name}:{parent.ident}")
            kinds = [rng.choices(list(shares), list(shares.values()))[0] for _ in range(count)]
        parent.children[name] = [
            Entity(self, name, f"{parent.ident}.{number}", number, kind, parent, background=parent.background)
            for number, kind in enumerate(kinds)
        ]
        return parent.children[name]

    def add_background(self, fact: str, kind: str | None, lookalike: str | None = None) -> Entity:
        """One more entity of a background kind, or a lookalike of some kind; with all that belongs to it."""
        entities = self.background.setdefault(fact, [])
        number = self._number(fact, len(self.sets[fact]))
        ident = f"b{len(entities)}"
        shares = {name: it.share for name, it in self.definition.facts[fact].kinds.items() if it.share}
        if kind is None and shares:
            assert self.stream is not None
            rng = self.stream(f"kinds:{fact}:{ident}")
            kind = rng.choices(list(shares), list(shares.values()))[0]
        entity = Entity(self, fact, ident, number, kind, background=True, lookalike=lookalike)
        entities.append(entity)
        for name, other in self.definition.facts.items():
            if other.of == fact:
                self.background.setdefault(name, []).extend(self._children(name, entity))
        settle(entity)
        for children in entity.children.values():
            for child in children:
                settle(child)
        return entity

    def drop_background(self, entity: Entity) -> None:
        """Take the last one back that was added."""
        assert self.background[entity.fact][-1] is entity
        self.background[entity.fact].pop()
        for name, children in entity.children.items():
            del self.background[name][len(self.background[name]) - len(children) :]

    def bring_back(self, entity: Entity) -> None:
        """Add a background entity once more that was dropped, with all that belongs to it."""
        self.background[entity.fact].append(entity)
        for name, children in entity.children.items():
            self.background[name].extend(children)

    @property
    def everything(self) -> Iterator[Entity]:
        """All entities, with those that are background."""
        for entities in (self.singles.values(), *self.sets.values(), *self.background.values()):
            yield from entities

    def forget(self) -> None:
        """All that follows from other fields is to be worked out again."""
        for entity in self.everything:
            entity.known = dict(entity.drawn)

    def forget_late(self) -> None:
        """All that follows from what services give is to be worked out again."""
        for entity in self.everything:
            for name in self.late & entity.known.keys():
                if name in entity.drawn:
                    entity.known[name] = entity.drawn[name]
                else:
                    del entity.known[name]

    # -- choosing ---------------------------------------------------------------------------------------

    def chosen(self, selection: Selection, *, background: bool = False) -> list[Entity]:
        """The entities that something is done for; with background ones where they are asked for."""
        assert selection.for_ is not None
        entities = self.sets[selection.for_]
        if background:
            entities = [*entities, *self.background.get(selection.for_, ())]
        return [entity for entity in entities if selects(selection, entity)]


def selects(selection: Selection, entity: Entity) -> bool:
    """Whether an entity of the right fact is among those that something is done for."""
    if selection.kinds is not None and entity.kind not in selection.kinds:
        return False
    if selection.where is None:
        return True
    try:
        return bool(selection.where.value(entity.lookup))
    except ExpressionError as error:
        raise Wrong((), f"where: {entity.label}: {error}") from None


def settle(entity: Entity) -> None:
    """Draw all fields that are drawn; what follows from them is worked out when it is read."""
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


def read_zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Wrong(("world", "zone"), f"no time zone {name!r}; write a name such as Europe/Zurich") from None
