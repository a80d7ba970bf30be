"""Unknown names in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks.complaints import IN_EXPRESSIONS, Complaint, now_called
from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.draws import Draw, Ref, drawn
from mesocosm.kits.yaml_tasks.expressions import Expression, bare
from mesocosm.kits.yaml_tasks.filters import FILTERS
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.scopes import VARIED
from mesocosm.services.words import find_thing

_OF_ALL = ("case", "index", "distractor", "this")
"""Fields that every entity has."""


def unknown_names(definition: Definition, task: Task) -> Iterator[Complaint]:
    """All names in a file that mean nothing."""
    return _Names(definition, task).unknown()


@dataclass(frozen=True)
class _Scope:
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
        for statement in definition.evidence:
            if statement.as_:
                thing = find_thing(statement.what)
                own = self._given.setdefault(statement.for_, {})
                own[statement.as_] = {*own.get(statement.as_, ()), *(thing.gives if thing else ())}
        self._everywhere = (
            {"now", "today", "span", "none", "true", "false"}
            | set(definition.entities)
            | set(self._given.get(None, {}))
            | {*task.python, *task.parameters, task.growth.parameter}
        )

    def unknown(self) -> Iterator[Complaint]:
        definition = self._definition
        for name, fact in definition.entities.items():
            scope = self._scope(name)
            for keys, fields in [
                (("entities", name), fact.fields),
                *((("entities", name, "cases", kind), it.fields) for kind, it in fact.cases.items()),
                *(
                    (("entities", name, "distractors", like), it.fields)
                    for like, it in fact.distractors.items()
                ),
            ]:
                for one, source in fields.items():
                    yield from self._strangers(source, scope, (*keys, "fields", one))
                    if isinstance(source, Ref):
                        # Of the one that is chosen, and (by the name of its fact) of who chooses.
                        chosen = self._scope(source.ref).further([name])
                        yield from self._strangers(source.where, chosen, (*keys, "fields", one))
            for kind, case in fact.cases.items():
                place = ("entities", name, "cases", kind)
                for condition in case.expect:
                    yield from self._strangers(condition, scope.further(["wanted"]), (*place, "expect"))
                yield from self._strangers_in(case.quote, scope, (*place, "quote"))
        walked = {"rows_of", "statement_of"} | {step.as_ for step in definition.solution if step.as_}
        for part, doings, more in (
            ("evidence", definition.evidence, set(VARIED)),
            ("goal", definition.goal, set[str]()),
            ("solution", definition.solution, walked),
        ):
            for index, doing in enumerate(doings):
                if doing.for_ is not None and doing.for_ not in definition.entities:
                    continue  # which was complained about: what its names are is not known
                scope = self._scope(doing.for_)
                yield from self._strangers(doing.where, scope, (part, index, "where"))
                fields, scope = doing.fields, scope.further(more)
                if doing.for_ is None and (missed := self._missed(fields, scope)):
                    yield (part, index), missed
                else:
                    yield from self._strangers_in(fields, scope, (part, index, doing.what))
        for what, everyday in definition.noise.items():
            facts = {
                one.for_
                for one in definition.evidence
                if one.what == what and one.for_ in definition.entities
            }
            if everyday.course and any(everyday.course not in self._scope(fact).names for fact in facts):
                yield ("noise", what, "course"), f"unknown name {everyday.course!r}"
        yield from self._strangers_in(definition.survey, self._scope(None), ("survey",))
        try:
            prompt = drawn(self._task.prompt)
        except ValueError as error:
            yield ("prompt",), str(error)
        else:
            yield from self._strangers(prompt, self._scope(None), ("prompt",))

    def _scope(self, fact: str | None) -> _Scope:
        """Return the names in scope for a type's entity, or without one."""
        facts = self._definition.entities
        names, seen = set(self._everywhere), set[str]()
        entities = {name: name for name, it in facts.items() if it.single}
        if fact is not None and fact in facts:
            names |= {one for one in _OF_ALL if one != "case" or facts[fact].cases}
        while fact is not None and fact in facts and fact not in seen:
            seen.add(fact)
            it = facts[fact]
            names |= {*it.own_fields, *self._given.get(fact, {})}
            sources = [it.fields, *it.special_fields]
            for name in it.own_fields:
                drawn_ones = {
                    source.ref if isinstance(source, Ref) else ""
                    for fields in sources
                    if (source := fields.get(name)) is not None
                }
                if len(drawn_ones) == 1 and (one := drawn_ones.pop()):
                    entities[name] = one
            fact = it.parent
            if fact is not None:
                entities[fact] = fact
        return _Scope(names, entities)

    def _parts_of(self, fact: str) -> set[str]:
        """Return the readable fields of an entity."""
        facts = self._definition.entities
        children = {name for name, it in facts.items() if it.parent == fact}
        own, parent = facts[fact].own_fields, facts[fact].parent
        return {*own, *_OF_ALL, *children, *self._given.get(fact, {})} | ({parent} if parent else set())

    def _missed(self, value: Any, scope: _Scope) -> str:
        """Return the complaint if all unknown names are fields of a type with several entities."""
        unknown = sorted(_unknown_in(value, scope.names))
        for name, fact in self._definition.entities.items():
            if unknown and not fact.single and self._scope(name).names.issuperset(unknown):
                reads = ", ".join(unknown)
                return f"it reads {reads}, which each {name} has: is `for: {name}` missing?"
        return ""

    def _no_cases(self, scope: _Scope) -> str:
        """Return the complaint about `case` where there are none."""
        having = [
            name
            for name, fact in scope.entities.items()
            if fact in self._definition.entities and self._definition.entities[fact].cases
        ]
        hint = f": `{having[0]}.case` is which one its {having[0]} is" if having else ""
        return f"`case` means nothing where there are no `cases`{hint}"

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
                if name == "case":
                    yield place, self._no_cases(scope)
                    continue
                known = ", ".join(sorted(scope.names))
                # Where a value could be written as it is, a text is easily taken for one.
                own = f"; a text here has quotes of its own: \"'{name}'\"" if expression.bare else ""
                yield place, f"unknown name {name!r}{_now(name)}{own}; there are {known}"
            for name in sorted(expression.calls - scope.names):
                yield place, f"no function {name!r}{_now(name)}; there are {', '.join(FILTERS)}"
            for path in sorted(path for path in expression.paths if len(path) == 2):
                owner, part = path
                if (fact := scope.entities.get(owner)) in self._definition.entities and fact is not None:
                    parts = self._parts_of(fact)
                elif owner in self._given.get(None, {}):
                    parts = set(self._given[None][owner])
                else:
                    continue
                if part not in parts:
                    yield place, f"{owner} has no {part!r}; it has {', '.join(sorted(parts))}"


def _now(name: str) -> str:
    return now_called(name, IN_EXPRESSIONS)


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
