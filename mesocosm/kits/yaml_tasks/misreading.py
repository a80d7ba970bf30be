"""Near misses that follow from a task file: walks over facts that were misread, and damage."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mesocosm.families.verdict import Inapplicable, Misreading, Mutant
from mesocosm.kits.yaml_tasks.damaging import all_findings, damage, tables
from mesocosm.kits.yaml_tasks.definition import Definition, Goal
from mesocosm.kits.yaml_tasks.drawing import Date, Draw, Moment, Number, One, Series
from mesocosm.kits.yaml_tasks.expressions import ExpressionError
from mesocosm.kits.yaml_tasks.facts import Entity, Truth, Wrong
from mesocosm.kits.yaml_tasks.judging import Table, Wanted, same, wanted_of
from mesocosm.kits.yaml_tasks.walking import Walker
from mesocosm.services.calling import ToolError, Tools

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.written import Written

_VICTIMS = 2
"""Entities of each kind that are left to the near misses; the walk is made for all others once."""

Change = Callable[[Truth], None]
"""Misreads facts; raises ``Inapplicable`` where there is nothing to misread."""


def misreadings(written: Written) -> list[Mutant | Misreading]:
    """All near misses of a task, by names that tell them apart."""
    found: dict[str, Mutant | Misreading] = {}
    maker = _Maker(written)
    made: list[Mutant | Misreading] = [*maker.misread(), *tables(written), *damage(written)]
    for one in made:
        found.setdefault(one.name, one)
    return list(found.values())


class _Maker:
    def __init__(self, written: Written) -> None:
        self._written = written
        self._definition: Definition = written.definition
        self._lead = _leading(self._definition)
        self._start = partial(_walk_for_others, written, self._lead)

    def misread(self) -> Iterator[Misreading]:
        """Everything that can be read wrongly, of every fact that a goal or the walk is about."""
        breaks = frozenset(name for goal in self._definition.goal for name in all_findings(goal))
        for name, fact in self._definition.facts.items():
            if fact.single:
                continue
            top = _top(self._definition, name)
            if name == top:
                yield from self._whole(name, breaks)
            for field, source in _drawn(fact.fields):
                yield from self._field(name, None, field, source, breaks)
            for kind, it in fact.kinds.items():
                for field, source in _drawn(it.fields):
                    if it.background is None:
                        yield from self._field(name, kind, field, source, breaks)
            if fact.of is not None:
                yield self._make(f"the last {name} of one overlooked", breaks, _last_overlooked(name))
                for kind in fact.kinds:
                    for other in fact.kinds:
                        if kind != other:
                            change = _taken_for(name, kind, other)
                            yield self._make(f"a {name} that is {kind} taken for {other}", breaks, change)

    def _whole(self, name: str, breaks: frozenset[str]) -> Iterator[Misreading]:
        known = self._definition.facts[name].kinds
        kinds: list[str | None] = list(known) or [None]
        for kind in kinds:
            of = f"a {name} that is {kind}" if kind else f"a {name}"
            yield self._make(f"{of} left out", breaks, _left_out(name, kind))
            yield Misreading(f"{of} done twice", breaks, self._start, partial(self._twice, name, kind))
            if kind is not None:
                yield Misreading(
                    f"{of} done although it must not",
                    breaks,
                    self._start,
                    partial(self._needless, name, kind),
                )
                for other in kinds:
                    if (
                        other not in (kind, None)
                        and self._definition.facts[name].kinds[kind].background is None
                    ):
                        yield self._make(f"{of} taken for {other}", breaks, _taken_for(name, kind, other))

        for other in self._definition.facts[name].lookalikes:
            yield Misreading(
                f"a {name} that is {other} done although it must not",
                breaks,
                self._start,
                partial(self._needless_like, name, other),
            )

    def _field(
        self, name: str, kind: str | None, field: str, source: Draw, breaks: frozenset[str]
    ) -> Iterator[Misreading]:
        of = f"the {field} of a {name}" + (f" that is {kind}" if kind else "")
        yield self._make(f"{of} taken from another", breaks, _swapped(name, kind, field))
        if isinstance(source, (Moment, Date)):
            yield self._make(f"{of} a day late", breaks, _shifted(name, kind, field, dt.timedelta(days=1)))
        if isinstance(source, Moment):
            yield self._make(f"{of} an hour late", breaks, _shifted(name, kind, field, dt.timedelta(hours=1)))
            yield self._make(f"{of} taken for UTC", breaks, _as_utc(name, kind, field))
        if isinstance(source, (Number, Series)):
            step = source.number.step if isinstance(source, Number) else 1
            yield self._make(f"{of} off by {step:g}", breaks, _shifted(name, kind, field, step))
        if kind is not None:
            yield self._make(f"{of} unread", breaks, _unread(name, kind, field))

    def _make(self, name: str, breaks: frozenset[str], change: Change) -> Misreading:
        return Misreading(name, breaks, self._start, partial(self._act, change))

    # -- acting -----------------------------------------------------------------------------------------

    def _act(self, change: Change, tools: Tools, expected: Any) -> None:
        """Make the rest of the walk over facts that were misread, if that makes a difference."""
        truth = self._written.truth_of(expected)
        right = wanted_of(self._definition, truth)
        before = _walked(self._definition, truth)
        victims = _victims(self._definition, truth)
        try:
            change(truth)
            truth.forget()
            rows = wanted_of(self._definition, truth)
            if _same_rows(right, rows) and before == _walked(self._definition, truth):
                raise Inapplicable
            if len(right) == len(rows) and _same_rows(self._left(right, victims), self._left(rows, victims)):
                raise Inapplicable  # it makes a difference only for those that are done already
            self._finish(tools, truth, victims)
        except (Wrong, ExpressionError):
            raise Inapplicable from None  # who misreads it so notices

    def _left(self, rows: Sequence[Wanted], victims: set[tuple[str, str]]) -> list[Wanted]:
        """The rows that the rest of the walk brings about."""
        done = {self._definition.walk[number].for_ for number in self._lead}
        return [
            one
            for one in rows
            if one.entity is None or one.entity.fact not in done or _key(one.entity) in victims
        ]

    def _finish(
        self, tools: Tools, truth: Truth, victims: set[tuple[str, str]], also: Sequence[Entity] = ()
    ) -> None:
        walker = Walker(self._definition, truth, tools)
        rest = [number for number in range(len(self._definition.walk)) if number not in self._lead]
        try:
            walker.walk(self._lead, lambda one: _key(one) in victims, also)
            walker.walk(rest)
        except ToolError:
            raise Inapplicable from None  # the tools do not let it happen

    def _needless(self, name: str, kind: str, tools: Tools, expected: Any) -> None:
        truth = self._written.truth_of(expected)
        others = [*truth.sets.get(name, ()), *truth.background.get(name, ())]
        wanted = {_key(one.entity) for one in wanted_of(self._definition, truth) if one.entity}
        one = next((one for one in others if one.kind == kind and _key(one) not in wanted), None)
        if one is None or any(goal.for_ == name and _chooses(goal, kind) for goal in self._definition.goal):
            raise Inapplicable
        self._done_for(one, tools, truth)

    def _needless_like(self, name: str, lookalike: str, tools: Tools, expected: Any) -> None:
        truth = self._written.truth_of(expected)
        kinds = {one.entity.kind for one in wanted_of(self._definition, truth) if one.entity}
        likes = [one for one in truth.background.get(name, ()) if one.lookalike == lookalike]
        likes.sort(key=lambda one: one.kind not in kinds)  # those that would be done, were they no lookalikes
        if not likes:
            raise Inapplicable
        self._done_for(likes[0], tools, truth)

    def _done_for(self, one: Entity, tools: Tools, truth: Truth) -> None:
        steps = [step for number, step in enumerate(self._definition.walk) if number in self._lead]
        try:
            if any(step.for_ == one.fact for step in steps):
                self._finish(tools, truth, _victims(self._definition, truth), [one])
                return
            # Whoever lists them takes it for one of them.
            before = wanted_of(self._definition, truth)
            truth.sets[one.fact].append(one)
            truth.forget()
            if _same_rows(before, wanted_of(self._definition, truth)):
                raise Inapplicable
            self._finish(tools, truth, _victims(self._definition, truth))
        except (Wrong, ExpressionError):
            raise Inapplicable from None

    def _twice(self, name: str, kind: str | None, tools: Tools, expected: Any) -> None:
        truth = self._written.truth_of(expected)
        adds = any(goal.for_ == name and goal.how == "add" for goal in self._definition.goal)
        steps = [number for number in self._lead if self._definition.walk[number].for_ == name]
        wanted = {_key(one.entity) for one in wanted_of(self._definition, truth) if one.entity}
        one = next((one for one in truth.sets[name] if one.kind == kind and _key(one) in wanted), None)
        if not adds or not steps or one is None:
            raise Inapplicable
        self._finish(tools, truth, _victims(self._definition, truth), [one])


def _walk_for_others(written: Written, lead: Sequence[int], tools: Tools, expected: Any) -> None:
    truth = written.truth_of(expected)
    victims = _victims(written.definition, truth)
    Walker(written.definition, truth, tools).walk(lead, lambda one: _key(one) not in victims)


def _leading(definition: Definition) -> list[int]:
    """The steps that can be made for some entities first: those before one that looks at all of them."""
    found = []
    for number, step in enumerate(definition.walk):
        if step.for_ is None or step.by:
            break
        found.append(number)
    return found


def _victims(definition: Definition, truth: Truth) -> set[tuple[str, str]]:
    """A few of each kind, with all that belongs to them."""
    found: set[tuple[str, str]] = set()
    for name, entities in truth.sets.items():
        if definition.facts[name].of is None:
            seen: dict[str | None, int] = {}
            for one in entities:
                seen[one.kind] = seen.get(one.kind, 0) + 1
                if seen[one.kind] <= _VICTIMS:
                    found.add(_key(one))
                    found |= {_key(child) for children in one.children.values() for child in children}
    return found


def _key(entity: Entity) -> tuple[str, str]:
    return entity.fact, entity.ident


def _walked(definition: Definition, truth: Truth) -> list[set[tuple[str, str]]]:
    """For whom the steps are made."""
    return [
        {_key(one) for one in truth.chosen(step)} if step.for_ is not None else set()
        for step in definition.walk
    ]


def _same_rows(one: Sequence[Wanted], other: Sequence[Wanted]) -> bool:
    if len(one) != len(other):
        return False
    return all(
        all(_same_value(a.fields[name], b.fields[name]) for name in a.fields)
        for a, b in zip(one, other, strict=True)
    )


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, Table) and isinstance(other, Table):
        if len(one.rows) != len(other.rows):
            return False
        rows = zip(one.rows, other.rows, strict=True)
        return all(all(one.same(name, a[name], b[name]) for name in a) for a, b in rows)
    if isinstance(one, dict) and isinstance(other, dict):
        return one == other
    return same(one, other)


# -- misreading facts -----------------------------------------------------------------------------------


def _ones(truth: Truth, name: str, kind: str | None, count: int = _VICTIMS) -> list[Entity]:
    """The first few of a fact, among those that near misses are made with."""
    victims = _victims(truth.definition, truth)
    return [
        one for one in truth.sets.get(name, ()) if (kind is None or one.kind == kind) and _key(one) in victims
    ][: count if count else None]


def _first(truth: Truth, name: str, kind: str | None) -> Entity:
    found = _ones(truth, name, kind, 1)
    if not found:
        raise Inapplicable
    return found[0]


def _tried(truth: Truth, name: str, kind: str | None, change: Callable[[Entity], None]) -> None:
    """Change the first entity for which that changes a goal; which these are only rendering says."""
    before = wanted_of(truth.definition, truth)
    for one in _ones(truth, name, kind, 0):
        drawn, own_kind = dict(one.drawn), one.kind
        try:
            change(one)
        except Inapplicable:
            continue
        truth.forget()
        try:
            if not _same_rows(before, wanted_of(truth.definition, truth)):
                return
        except (Wrong, ExpressionError):
            pass
        one.drawn, one.kind = drawn, own_kind
        truth.forget()
    raise Inapplicable


def _left_out(name: str, kind: str | None) -> Change:
    def change(truth: Truth) -> None:
        before = wanted_of(truth.definition, truth)
        for one in _ones(truth, name, kind, 0):
            everything = list(truth.sets[name])
            truth.sets[name] = [other for other in everything if other is not one]
            gone = {id(child) for children in one.children.values() for child in children}
            for child in one.children:
                truth.sets[child] = [other for other in truth.sets[child] if id(other) not in gone]
            truth.forget()
            if not _same_rows(before, wanted_of(truth.definition, truth)):
                return
        raise Inapplicable

    return change


def _taken_for(name: str, kind: str, other: str) -> Change:
    def change(truth: Truth) -> None:
        own = truth.definition.facts[name].kinds[kind].fields
        there = truth.definition.facts[name].kinds[other].fields

        def misread(one: Entity) -> None:
            one.kind = other
            for field in own:
                if field not in there and field not in truth.definition.facts[name].fields:
                    one.drawn.pop(field, None)

        _tried(truth, name, kind, misread)

    return change


def _unread(name: str, kind: str, field: str) -> Change:
    def change(truth: Truth) -> None:
        def misread(one: Entity) -> None:
            if field in truth.definition.facts[name].fields:
                raise Inapplicable
            one.drawn[field] = None

        _tried(truth, name, kind, misread)

    return change


def _swapped(name: str, kind: str | None, field: str) -> Change:
    def change(truth: Truth) -> None:
        def misread(one: Entity) -> None:
            others = (other.drawn.get(field) for other in truth.sets[name] if other is not one)
            mine = one.drawn.get(field)
            instead = next((value for value in others if value is not None and value != mine), None)
            if mine is None or instead is None:
                raise Inapplicable
            one.drawn[field] = instead

        _tried(truth, name, kind, misread)

    return change


def _shifted(name: str, kind: str | None, field: str, by: Any) -> Change:
    def change(truth: Truth) -> None:
        def misread(one: Entity) -> None:
            if one.drawn.get(field) is None:
                raise Inapplicable
            one.drawn[field] += by

        _tried(truth, name, kind, misread)

    return change


def _as_utc(name: str, kind: str | None, field: str) -> Change:
    def change(truth: Truth) -> None:
        def misread(one: Entity) -> None:
            moment = one.drawn.get(field)
            if not isinstance(moment, dt.datetime) or not moment.utcoffset():
                raise Inapplicable
            one.drawn[field] = moment.replace(tzinfo=dt.UTC).astimezone(truth.zone)

        _tried(truth, name, kind, misread)

    return change


def _last_overlooked(name: str) -> Change:
    def change(truth: Truth) -> None:
        parent_fact = truth.definition.facts[name].of
        before = wanted_of(truth.definition, truth)
        for parent in _ones(truth, str(parent_fact), None, 0):
            children = parent.children.get(name, [])
            if len(children) < 2:
                continue
            last = children.pop()
            truth.sets[name] = [one for one in truth.sets[name] if one is not last]
            truth.forget()
            try:
                if not _same_rows(before, wanted_of(truth.definition, truth)):
                    return
            except (Wrong, ExpressionError):
                pass
            children.append(last)
            truth.sets[name].append(last)
            truth.forget()
        raise Inapplicable

    return change


# -- what depends on what -------------------------------------------------------------------------------


def _drawn(fields: Any) -> Iterator[tuple[str, Draw]]:
    for name, source in fields.items():
        if isinstance(source, Draw) and not isinstance(source, One):
            yield name, source


def _top(definition: Definition, name: str) -> str:
    parent = definition.facts[name].of
    return name if parent is None else _top(definition, parent)


def _chooses(goal: Goal, kind: str) -> bool:
    return goal.where is None and (goal.kinds is None or kind in goal.kinds)
