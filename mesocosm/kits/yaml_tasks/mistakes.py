"""Misreadings: facts as changed by somebody who overlooks, confuses or misdates something."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from mesocosm.families.verdict import Inapplicable
from mesocosm.kits.yaml_tasks.definition import Definition, SolutionStep
from mesocosm.kits.yaml_tasks.entities import Entity, Wrong
from mesocosm.kits.yaml_tasks.grading import GoalTable, Wanted, same, wanted_of
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.supposition import Supposition
from mesocosm.kits.yaml_tasks.truth import Truth

_VICTIMS = 2
"""Entities of each kind that are left to the near misses; the walk is made for all others once."""

Rows = list[Wanted]
Change = Callable[[Supposition, Rows], Rows]
"""Misreads facts, of which so much is wanted, and says what is then wanted; raises ``Inapplicable`` where
there is nothing to misread."""


def victims_of(definition: Definition, truth: Truth) -> set[tuple[str, str]]:
    """A few of each kind, with all that belongs to them."""
    return truth.once("victims", lambda: _victims_of(definition, truth))


def _victims_of(definition: Definition, truth: Truth) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for name, entities in truth.sets.items():
        if definition.entities[name].parent is None:
            seen: dict[str | None, int] = {}
            for one in entities:
                seen[one.case] = seen.get(one.case, 0) + 1
                if seen[one.case] <= _VICTIMS:
                    found.add(name_of(one))
                    found |= {name_of(child) for fact in one.children for child in one.belonging(fact)}
    return found


def name_of(entity: Entity) -> tuple[str, str]:
    return entity.fact, entity.ident


def walked(definition: Definition, truth: Truth) -> list[set[tuple[str, str]]]:
    """For whom the steps are made."""
    return [
        truth.once(("step", index), partial(_walked, truth, step))
        for index, step in enumerate(definition.solution)
    ]


def _walked(truth: Truth, step: SolutionStep) -> set[tuple[str, str]]:
    return {name_of(one) for one in truth.chosen(step)} if step.for_ is not None else set()


def same_rows(one: Sequence[Wanted], other: Sequence[Wanted]) -> bool:
    if len(one) != len(other):
        return False
    return all(
        a.fields is b.fields
        or (a.goal is b.goal and all(_same_value(a.fields[name], b.fields[name]) for name in a.fields))
        for a, b in zip(one, other, strict=True)
    )


def first_difference(right: Sequence[Wanted], rows: Sequence[Wanted]) -> tuple[Wanted, str] | None:
    """The first row that is wanted otherwise, and the field; an empty one where it is not wanted at all."""
    for a, b in zip_longest(right, rows):
        if a is None or b is None or a.goal is not b.goal or a.entity is not b.entity:
            return a or b, ""
        for name in a.fields:
            if not _same_value(a.fields[name], b.fields[name]):
                return a, name
    return None


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, GoalTable) and isinstance(other, GoalTable):
        if len(one.rows) != len(other.rows):
            return False
        rows = zip(one.rows, other.rows, strict=True)
        return all(a is b or all(one.same(name, a[name], b[name]) for name in a) for a, b in rows)
    if isinstance(one, dict) and isinstance(other, dict):
        return one == other
    return same(one, other)


def _ones(truth: Truth, name: str, kind: str | None, count: int = _VICTIMS) -> list[Entity]:
    """The first few of a fact, among those that near misses are made with."""
    victims = victims_of(truth.definition, truth)
    return [
        one
        for one in truth.sets.get(name, ())
        if (kind is None or one.case == kind) and name_of(one) in victims
    ][: count if count else None]


def _tried(
    supposed: Supposition, right: Rows, name: str, kind: str | None, change: Callable[[Entity], None]
) -> Rows:
    """Change the first entity for which that changes a goal; which these are only rendering says."""
    truth = supposed.truth
    for one in _ones(truth, name, kind, 0):
        mark = supposed.mark()
        try:
            change(one)
        except Inapplicable:
            continue
        try:
            rows = wanted_of(truth.definition, truth)
            if not same_rows(right, rows):
                return rows
        except (Wrong, ExpressionError):
            pass
        supposed.take_back(mark)
    raise Inapplicable


def left_out(name: str, kind: str | None) -> Change:
    def change(supposed: Supposition, right: Rows) -> Rows:
        truth = supposed.truth
        for one in _ones(truth, name, kind, 0):
            supposed.all_of(name, [other for other in truth.sets[name] if other is not one])
            gone = {id(child) for fact in one.children for child in one.belonging(fact)}
            for fact in one.children:
                supposed.all_of(fact, [other for other in truth.sets[fact] if id(other) not in gone])
            rows = wanted_of(truth.definition, truth)
            if not same_rows(right, rows):
                return rows
        raise Inapplicable

    return change


def taken_for(name: str, kind: str, other: str) -> Change:
    def change(supposed: Supposition, right: Rows) -> Rows:
        fact = supposed.truth.definition.entities[name]
        own, there = fact.cases[kind].fields, fact.cases[other].fields

        def misread(one: Entity) -> None:
            supposed.case(one, other)
            for field in own:
                if field not in there and field not in fact.fields:
                    supposed.no_field(one, field)

        return _tried(supposed, right, name, kind, misread)

    return change


def unread(name: str, kind: str, field: str) -> Change:
    def change(supposed: Supposition, right: Rows) -> Rows:
        def misread(one: Entity) -> None:
            if field in supposed.truth.definition.entities[name].fields:
                raise Inapplicable
            supposed.field(one, field, None)

        return _tried(supposed, right, name, kind, misread)

    return change


def swapped(name: str, kind: str | None, field: str) -> Change:
    def change(supposed: Supposition, right: Rows) -> Rows:
        def misread(one: Entity) -> None:
            others = (other.drawn.get(field) for other in supposed.truth.sets[name] if other is not one)
            mine = one.drawn.get(field)
            instead = next((value for value in others if value is not None and value != mine), None)
            if mine is None or instead is None:
                raise Inapplicable
            supposed.field(one, field, instead)

        return _tried(supposed, right, name, kind, misread)

    return change


def shifted(name: str, kind: str | None, field: str, by: Any) -> Change:
    def change(supposed: Supposition, right: Rows) -> Rows:
        def misread(one: Entity) -> None:
            if one.drawn.get(field) is None:
                raise Inapplicable
            supposed.field(one, field, one.drawn[field] + by)

        return _tried(supposed, right, name, kind, misread)

    return change


def as_utc(name: str, kind: str | None, field: str) -> Change:
    def change(supposed: Supposition, right: Rows) -> Rows:
        def misread(one: Entity) -> None:
            moment = one.drawn.get(field)
            if not isinstance(moment, dt.datetime) or not moment.utcoffset():
                raise Inapplicable
            supposed.field(one, field, moment.replace(tzinfo=dt.UTC).astimezone(supposed.truth.zone))

        return _tried(supposed, right, name, kind, misread)

    return change


def last_overlooked(name: str) -> Change:
    def change(supposed: Supposition, right: Rows) -> Rows:
        truth = supposed.truth
        for parent in _ones(truth, str(truth.definition.entities[name].parent), None, 0):
            children = parent.children.get(name, [])
            if len(children) < 2:
                continue
            mark = supposed.mark()
            supposed.children(parent, name, children[:-1])
            supposed.all_of(name, [one for one in truth.sets[name] if one is not children[-1]])
            try:
                rows = wanted_of(truth.definition, truth)
                if not same_rows(right, rows):
                    return rows
            except (Wrong, ExpressionError):
                pass
            supposed.take_back(mark)
        raise Inapplicable

    return change
