"""Truth of an instance: all its entities, and the filler ones."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mesocosm.kits.apportionment import apportion
from mesocosm.kits.yaml_tasks.definition import (
    MAX_BELONGING,
    MAX_COUNT,
    MAX_ENTITIES,
    Between,
    Definition,
    EntityType,
    Selection,
)
from mesocosm.kits.yaml_tasks.draws import weighted
from mesocosm.kits.yaml_tasks.entities import Entity, Read, Wrong, selects, settle
from mesocosm.kits.yaml_tasks.expressions import bare
from mesocosm.kits.yaml_tasks.id_dependence import late_names
from mesocosm.kits.yaml_tasks.language import ExpressionError, missing

T = TypeVar("T")
Stream = Callable[[str], random.Random]
_BLOCK = 8


class Truth:
    """All facts of one instance.

    Args:
        definition: What the file says.
        stream: Where values are drawn from; ``None`` where they are read back.
        now, zone: The world's.
        hooks: Python functions beside the file.
        parameters: Of the task.
    """

    def __init__(
        self,
        definition: Definition,
        stream: Stream | None,
        now: dt.datetime,
        zone: dt.tzinfo,
        hooks: Mapping[str, Callable[..., Any]],
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.definition = definition
        self.parameters = parameters or {}
        self.stream = stream
        self.now = now
        self.zone = zone
        self.hooks = hooks
        self.singles: dict[str, Entity] = {}
        self.sets: dict[str, list[Entity]] = {}
        """By fact, without background."""
        self.background: dict[str, list[Entity]] = {}
        self.taken: dict[tuple[str, str, str], set[Any]] = {}
        self._numbers: dict[str, tuple[random.Random, set[int]]] = {}
        self._places: Counter[tuple[str, bool]] = Counter()
        self._evened: dict[tuple[str, bool], tuple[int, list[float]]] = {}
        self._shares: dict[str, dict[str, float]] = {}
        self.given: dict[str, Any] = {}
        """Values that services assigned to evidence made once, by its ``as``."""
        self.late = late_names(definition, hooks)
        """Names of what is known only when services gave their ids."""
        self.pending: list[Read] = []
        """The fields that are being worked out: each is needed by the one before."""
        self.reads: set[Read] | None = None
        """The fields that were read, while somebody watches."""
        self.found: dict[Hashable, Any] | None = None
        """Values that ``once`` made, while parts are supposed to be others."""
        self.settled: dict[str, Any] = {}
        """Results that follow from these facts, shared by all truths read from the same data."""

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return a cached result of these facts, kept until suppositions change them."""
        if self.found is None:
            return make()
        made: T = self.found[name] if name in self.found else make()
        self.found[name] = made
        return made

    @contextmanager
    def watched(self) -> Iterator[set[Read]]:
        """Notes which fields are read meanwhile."""
        outer, self.reads = self.reads, set()
        try:
            yield self.reads
        finally:
            self.reads = outer

    def lookup(self, name: str) -> Any:
        """Resolve a name without an entity."""
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
        return self.parameters.get(name, missing)

    def everyone(self, fact: str) -> list[Entity]:
        """All of a fact, in an order that does not tell those that count from others."""
        background = self.background.get(fact)
        return sorted([*self.sets[fact], *background], key=_place_of) if background else self.sets[fact]

    def telling(self, lookup: Callable[[str], Any]) -> Callable[[str], Any]:
        """Resolve names within texts, where distractors are among the others."""

        def told(name: str) -> Any:
            found = lookup(name)
            whole = name in self.sets and found is self.sets[name]
            return self.everyone(name) if whole else found

        return told

    # -- making -----------------------------------------------------------------------------------------

    def most_of(self, fact: str) -> int:
        """Return how many of a fact can belong to one."""
        count, keys = self.definition.entities[fact].count, ("entities", fact, "count")
        return int(self.number_from(count.most if isinstance(count, Between) else count or 1, keys))

    def next_place(self, fact: str, *, background: bool) -> int:
        """The number of one more entity among those of its fact that are background, or are none."""
        self._places[fact, background] += 1
        return self._places[fact, background] - 1

    def even(self, what: str, place: int, *, background: bool) -> float:
        """From 0 to below 1: each eighth of that occurs once among eight places that follow one another.

        What counts is few, and so is what it lies among: where chance alone draws, one of their many features
        differs in the mean, and tells one from the other without being read.
        """
        block, slot = divmod(place, _BLOCK)
        known = self._evened.get((what, background))
        if known is None or known[0] != block:
            assert self.stream is not None
            rng = self.stream(f"even:{what}:{background:d}:{block}")
            shares = [(part + rng.random()) / _BLOCK for part in range(_BLOCK)]
            rng.shuffle(shares)
            known = self._evened[what, background] = block, shares
        return known[1][slot]

    def draw(self) -> None:
        """Draw all facts but background."""
        for name, fact in self.definition.entities.items():
            if fact.single:
                self.singles[name] = Entity(self, name, "0", 0)
        for name, fact in self.definition.entities.items():
            if not fact.single and fact.parent is None:
                self.sets[name] = self._draw_set(name, fact)
            elif fact.parent is not None:
                self.sets[name] = [
                    child for parent in self.sets[fact.parent] for child in self._children(name, parent)
                ]
        for entity in [*self.singles.values(), *(one for ones in self.sets.values() for one in ones)]:
            settle(entity)

    def number_from(self, given: float | str, keys: tuple[Any, ...]) -> float:
        """A number of the file, or what an expression of parameters makes."""
        if not isinstance(given, str):
            return given
        try:
            found = bare(given).value(self._parameter)
        except ExpressionError as error:
            raise Wrong(keys, str(error)) from None
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= MAX_COUNT:
            raise Wrong(keys, f"{given} is {found!r}, and not a number from 0 to {MAX_COUNT:,}")
        return found

    def _parameter(self, name: str) -> Any:
        return self.parameters.get(name, self.hooks.get(name, missing))

    def shares(self, fact: str) -> dict[str, float]:
        """The kinds of a fact that there are in this instance, with their shares."""
        if fact not in self._shares:
            kinds = self.definition.entities[fact].cases.items()
            given = {kind: it.share for kind, it in kinds if it.share is not None}
            keys = ("entities", fact, "cases")
            shares = {kind: self.number_from(one, (*keys, kind, "share")) for kind, one in given.items()}
            self._shares[fact] = {kind: share for kind, share in shares.items() if share > 0}
        return self._shares[fact]

    def absent(self) -> Iterator[tuple[str, str]]:
        """Yield the cases with a share but without entities, with their types."""
        for name, ones in self.sets.items():
            there = {one.case for one in ones}
            yield from ((name, case) for case in self.shares(name) if case not in there)

    def _draw_set(self, name: str, fact: EntityType) -> list[Entity]:
        assert isinstance(fact.count, (int, str))
        count = int(self.number_from(fact.count, ("entities", name, "count")))
        kinds: list[str | None] = [None] * count
        if shares := self.shares(name):
            if count < len(shares):
                keys = ("entities", name, "count")
                raise Wrong(
                    keys, f"{count} of {name} are too few: there are {len(shares)} cases with a share"
                )
            total = sum(shares.values())
            numbers = apportion({kind: share / total for kind, share in shares.items()}, count)
            kinds = [kind for kind, number in numbers.items() for _ in range(number)]
            assert self.stream is not None
            self.stream(f"kinds:{name}").shuffle(kinds)
        dense = not fact.fills
        return [
            Entity(
                self, name, str(index), index if dense else self._number(name, count, background=False), kind
            )
            for index, kind in enumerate(kinds)
        ]

    def _number(self, fact: str, count: int, *, background: bool) -> int:
        """A number that no other entity of the fact has: those of background ones lie among the others."""
        assert self.stream is not None
        numbers, taken = self._numbers.setdefault(fact, (self.stream(f"numbers:{fact}"), set()))
        # Wide enough that the last background entity lies in the same range as the first that counts.
        span = 40 * count + 400
        share = self.even(f"{fact}:number", self._places[fact, background], background=background)
        while True:
            number = int(share * span * (1 + 2 * len(taken) // span))
            share = numbers.random()
            if number not in taken:
                taken.add(number)
                return number

    def _children(self, name: str, parent: Entity) -> list[Entity]:
        fact = self.definition.entities[name]
        count: Any = fact.count
        assert self.stream is not None
        keys = ("entities", name, "count")
        if isinstance(count, Between):
            share = self.even(f"{name}:count", parent.place, background=parent.background)
            least, most = (int(self.number_from(one, keys)) for one in (count.least, count.most))
            count = least + int(share * (max(least, most) - least + 1))
        elif isinstance(count, str):
            count = int(self.number_from(count, keys))
        if count > MAX_BELONGING:
            raise Wrong(keys, f"{count:,} of {name} belong to one; at most {MAX_BELONGING:,} can")
        if not parent.background and self._places[name, False] + count > MAX_ENTITIES:
            raise Wrong(keys, f"there are more than {MAX_ENTITIES:,} of {name}")
        kinds: list[str | None] = [None] * count
        if shares := self.shares(name):
            first = self._places[name, parent.background]
            kinds = [
                weighted(shares, self.even(f"{name}:kind", first + number, background=parent.background))
                for number in range(count)
            ]
        parent.children[name] = [
            Entity(self, name, f"{parent.ident}.{number}", number, kind, parent, background=parent.background)
            for number, kind in enumerate(kinds)
        ]
        return parent.children[name]

    def add_background(self, fact: str, kind: str | None, distractor: str | None = None) -> Entity:
        """One more entity of a background kind, or a distractor of some kind; with all that belongs to it."""
        entities = self.background.setdefault(fact, [])
        number = self._number(fact, len(self.sets[fact]), background=True)
        ident = f"b{len(entities)}"
        if kind is None and (shares := self.shares(fact)):
            kind = weighted(shares, self.even(f"{fact}:kind", self._places[fact, True], background=True))
        entity = Entity(self, fact, ident, number, kind, background=True, distractor=distractor)
        entities.append(entity)
        for name, other in self.definition.entities.items():
            if other.parent == fact:
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
        if self.found is not None:
            self.found = {}

    def forget_late(self) -> None:
        """All that follows from what services give is to be worked out again."""
        for entity in self.everything if self.late else ():
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


def _place_of(entity: Entity) -> tuple[int, ...]:
    """Return the sort key that mixes relevant and other entities, next to those with the same parent."""
    return (*(_place_of(entity.parent) if entity.parent else ()), entity.number)


def read_zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Wrong(("world", "zone"), f"no time zone {name!r}; write a name such as Europe/Zurich") from None


_PATIENCE = 50
"""Entities in a row of which nothing is told, before that is a mistake."""


class Further:
    """Background entities in the order in which they are made, whatever the budget: a larger one has those of
    a smaller one, and more."""

    def __init__(self, definition: Definition, truth: Truth, rng: random.Random) -> None:
        self._truth = truth
        self._rng = rng
        self.cases: list[tuple[str, str | None, str | None]] = []
        """EntityType, kind and distractor of each case."""
        self._weights: list[float] = []
        for name, fact in definition.entities.items():
            for kind, it in fact.cases.items():
                keys = ("entities", name, "cases", kind, "weight")
                weight = truth.number_from(it.weight or 0, keys)
                if weight > 0:
                    self.cases.append((name, kind, None))
                    self._weights.append(weight)
            for other, like in fact.distractors.items():
                weight = truth.number_from(like.weight, ("entities", name, "distractors", other, "weight"))
                if weight > 0:
                    self.cases.append((name, None, other))
                    self._weights.append(weight)
        self._made: list[tuple[Entity, int]] = []
        """Those beyond one of each case, with what they cost."""
        self._shown = 0
        """So many of these are among the background of the facts."""
        self._untold = 0

    def begin(self, cost_of: Callable[[Entity], int]) -> None:
        """Have one of each case."""
        for case in self.cases:
            cost_of(self._truth.add_background(*case))

    def add(self, budget: int, limit: float, cost_of: Callable[[Entity], int]) -> int:
        """Have as many more as cost ``limit`` tokens and not above ``budget``; returns what these cost."""
        spent = count = 0
        while spent < limit:
            if count == len(self._made):
                self._make(cost_of)
            cost = self._made[count][1]
            if spent + cost > budget:
                break
            spent += cost
            count += 1
        self._show(count)
        return spent

    def _make(self, cost_of: Callable[[Entity], int]) -> None:
        self._show(len(self._made))
        name, kind, other = self._rng.choices(self.cases, self._weights)[0]
        entity = self._truth.add_background(name, kind, other)
        cost = cost_of(entity)
        self._untold = self._untold + 1 if cost == 0 else 0
        if self._untold > _PATIENCE:
            keys = ("entities", name, "distractors" if other else "cases", other or kind)
            raise Wrong(keys, "no evidence tells anything of these, so they fill nothing")
        self._made.append((entity, cost))
        self._shown = len(self._made)

    def _show(self, count: int) -> None:
        """Let as many of them be there."""
        while self._shown < count:
            self._truth.bring_back(self._made[self._shown][0])
            self._shown += 1
        while self._shown > count:
            self._shown -= 1
            self._truth.drop_background(self._made[self._shown][0])
