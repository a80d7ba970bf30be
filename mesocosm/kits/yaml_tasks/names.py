"""Names in a file that mean nothing where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks.complaints import Complaint
from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.drawing import Draw, One, drawn
from mesocosm.kits.yaml_tasks.expressions import Expression, bare
from mesocosm.kits.yaml_tasks.filters import FILTERS
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.scopes import VARIED
from mesocosm.services.words import find_thing

_OF_ALL = ("kind", "nth", "lookalike", "this")
"""What each entity has of itself."""


def unknown_names(definition: Definition, task: Task) -> Iterator[Complaint]:
    """All names in a file that mean nothing."""
    return _Names(definition, task).unknown()


@dataclass(frozen=True)
class _Scope:
    """What names mean in one place."""

    names: set[str]
    entities: Mapping[str, str] = field(default_factory=dict)
    """By name, the fact of which it is one."""

    def further(self, names: Iterable[str]) -> _Scope:
        return _Scope(self.names | set(names), self.entities)

    def with_those(self, other: _Scope) -> _Scope:
        return _Scope(self.names | other.names, {**self.entities, **other.entities})


class _Names:
    def __init__(self, definition: Definition, task: Task) -> None:
        self._definition, self._task = definition, task
        self._given: dict[str | None, dict[str, Iterable[str]]] = {}
        """By fact, the names of what services gave, with what is in that."""
        for statement in definition.statements:
            if statement.as_:
                thing = find_thing(statement.what)
                own = self._given.setdefault(statement.for_, {})
                own[statement.as_] = {*own.get(statement.as_, ()), *(thing.gives if thing else ())}
        self._everywhere = (
            {"now", "today", "span", "none", "true", "false"}
            | set(definition.facts)
            | set(self._given.get(None, {}))
            | {*task.python, *task.parameters, task.growth.parameter}
        )

    def unknown(self) -> Iterator[Complaint]:
        definition = self._definition
        for name, fact in definition.facts.items():
            scope = self._scope(name)
            for keys, fields in [
                (("facts", name), fact.fields),
                *((("facts", name, "kinds", kind), it.fields) for kind, it in fact.kinds.items()),
                *((("facts", name, "lookalikes", like), it.fields) for like, it in fact.lookalikes.items()),
            ]:
                for one, source in fields.items():
                    yield from self._strangers(source, scope, (*keys, "fields", one))
                    if isinstance(source, One):
                        # Of the one that is chosen, and (by the name of its fact) of who chooses.
                        chosen = self._scope(source.one).further([name])
                        yield from self._strangers(source.where, chosen, (*keys, "fields", one))
            for kind, case in fact.kinds.items():
                place = ("facts", name, "kinds", kind)
                for condition in case.expect:
                    yield from self._strangers(condition, scope.further(["wanted"]), (*place, "expect"))
                yield from self._strangers_in(case.told, scope, (*place, "told"))
        walked = {"rows_of"} | {step.as_ for step in definition.walk if step.as_}
        for part, doings, more in (
            ("statements", definition.statements, set(VARIED)),
            ("goal", definition.goal, set[str]()),
            ("walk", definition.walk, walked),
        ):
            for index, doing in enumerate(doings):
                if doing.for_ is not None and doing.for_ not in definition.facts:
                    continue  # which was complained about: what its names are is not known
                scope = self._scope(doing.for_)
                yield from self._strangers(doing.where, scope, (part, index, "where"))
                fields, scope = doing.fields, scope.further(more)
                if doing.for_ is None and (missed := self._missed(fields, scope)):
                    yield (part, index), missed
                else:
                    yield from self._strangers_in(fields, scope, (part, index, doing.what))
        for what, everyday in definition.background.items():
            facts = {
                one.for_ for one in definition.statements if one.what == what and one.for_ in definition.facts
            }
            if everyday.course and any(everyday.course not in self._scope(fact).names for fact in facts):
                yield ("background", what, "course"), f"unknown name {everyday.course!r}"
        yield from self._strangers_in(definition.survey, self._scope(None), ("survey",))
        yield from self._strangers(drawn(self._task.prompt), self._scope(None), ("prompt",))

    def _scope(self, fact: str | None) -> _Scope:
        """What names mean for an entity of a fact, or where none is meant."""
        facts = self._definition.facts
        names, seen = set(self._everywhere), set[str]()
        entities = {name: name for name, it in facts.items() if it.single}
        while fact is not None and fact in facts and fact not in seen:
            seen.add(fact)
            it = facts[fact]
            names |= {*it.own_fields, *_OF_ALL} | set(self._given.get(fact, {}))
            sources = [it.fields, *it.special_fields]
            for name in it.own_fields:
                drawn_ones = {
                    source.one if isinstance(source, One) else ""
                    for fields in sources
                    if (source := fields.get(name)) is not None
                }
                if len(drawn_ones) == 1 and (one := drawn_ones.pop()):
                    entities[name] = one
            fact = it.of
            if fact is not None:
                entities[fact] = fact
        return _Scope(names, entities)

    def _parts_of(self, fact: str) -> set[str]:
        """What can be read of an entity."""
        facts = self._definition.facts
        children = {name for name, it in facts.items() if it.of == fact}
        own, parent = facts[fact].own_fields, facts[fact].of
        return {*own, *_OF_ALL, *children, *self._given.get(fact, {})} | ({parent} if parent else set())

    def _missed(self, value: Any, scope: _Scope) -> str:
        """What to say where all unknown names are fields of a fact of which there are several."""
        unknown = sorted(_unknown_in(value, scope.names))
        for name, fact in self._definition.facts.items():
            if unknown and not fact.single and self._scope(name).names.issuperset(unknown):
                reads = ", ".join(unknown)
                return f"it reads {reads}, which each {name} has: is `for: {name}` missing?"
        return ""

    def _strangers_in(self, value: Any, scope: _Scope, place: tuple[Any, ...]) -> Iterator[Complaint]:
        if isinstance(value, Mapping):
            if "columns" in value:
                scope = scope.with_those(self._scope(str(value["for"]) if "for" in value else None))
                scope = scope.further(["row"] if "each" in value else [])
                if "for" not in value and (missed := self._missed(value["columns"], scope)):
                    yield place, missed
                    return
                for key in sorted({"each", "where"} & value.keys()):
                    with suppress(ExpressionError):
                        yield from self._strangers(bare(str(value[key])), scope, (*place, key))
            for key, inner in value.items():
                yield from self._strangers_in(inner, scope, (*place, key))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from self._strangers_in(inner, scope, (*place, index))
        else:
            with suppress(ValueError):  # what is no expression was complained about by then
                yield from self._strangers(drawn(value), scope, place)

    def _strangers(self, source: Any, scope: _Scope, place: tuple[Any, ...]) -> Iterator[Complaint]:
        for expression in _expressions_of(source):
            for name in sorted(expression.names - scope.names):
                yield place, f"unknown name {name!r}; there are {', '.join(sorted(scope.names))}"
            for name in sorted(expression.calls - scope.names):
                yield place, f"no function or filter {name!r}; there are {', '.join(FILTERS)}"
            for path in sorted(path for path in expression.paths if len(path) == 2):
                owner, part = path
                if (fact := scope.entities.get(owner)) in self._definition.facts and fact is not None:
                    parts = self._parts_of(fact)
                elif owner in self._given.get(None, {}):
                    parts = set(self._given[None][owner])
                else:
                    continue
                if part not in parts:
                    yield place, f"{owner} has no {part!r}; it has {', '.join(sorted(parts))}"


def _expressions_of(source: Any) -> list[Expression]:
    expressions = source.expressions() if isinstance(source, Draw) else [source]
    return [one for one in expressions if isinstance(one, Expression)]


def _unknown_in(value: Any, known: set[str]) -> set[str]:
    """The names in a value that mean nothing."""
    if isinstance(value, Mapping):
        if "columns" in value:  # which has names of its own
            return set()
        return set().union(*(_unknown_in(inner, known) for inner in value.values()))
    if isinstance(value, list):
        return set().union(*(_unknown_in(inner, known) for inner in value))
    with suppress(ValueError):
        return set().union(*(one.names - known for one in _expressions_of(drawn(value))))
    return set()
