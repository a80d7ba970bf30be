"""Names in a file that mean nothing where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks.complaints import Complaint
from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.drawing import Draw, One, drawn
from mesocosm.kits.yaml_tasks.expressions import Expression, bare
from mesocosm.kits.yaml_tasks.filters import FILTERS
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.scopes import VARIED


def unknown_names(definition: Definition, task: Task) -> Iterator[Complaint]:
    given: dict[str | None, set[str]] = {}
    for statement in definition.statements:
        if statement.as_:
            given.setdefault(statement.for_, set()).add(statement.as_)
    everywhere = (
        {"now", "today", "span", "none", "true", "false"} | set(definition.facts) | given.get(None, set())
    ) | {*task.python, *task.parameters, task.growth.parameter}

    def known(fact: str | None) -> set[str]:
        names, seen = set(everywhere), set[str]()
        while fact is not None and fact in definition.facts and fact not in seen:
            seen.add(fact)
            it = definition.facts[fact]
            names |= {*it.own_fields, "kind", "nth", "lookalike", "this"} | given.get(fact, set())
            fact = it.of
        return names

    for name, fact in definition.facts.items():
        place: tuple[Any, ...] = ("facts", name)
        cases = [(place, fact.fields)]
        cases += [((*place, "kinds", kind), it.fields) for kind, it in fact.kinds.items()]
        cases += [((*place, "lookalikes", other), like.fields) for other, like in fact.lookalikes.items()]
        for keys, fields in cases:
            for field, source in fields.items():
                yield from _strangers(source, known(name), (*keys, "fields", field))
                if isinstance(source, One):
                    # Of the one that is chosen, and (by the name of its fact) of who chooses.
                    yield from _strangers(source.where, known(source.one) | {name}, (*keys, "fields", field))
    for part, doings, more in (
        ("statements", definition.statements, set(VARIED)),
        ("goal", definition.goal, set[str]()),
        ("walk", definition.walk, {"rows_of"} | {step.as_ for step in definition.walk if step.as_}),
    ):
        for index, doing in enumerate(doings):
            place = (part, index, doing.what)
            if doing.for_ is not None and doing.for_ not in definition.facts:
                continue  # which was complained about: what its names are is not known
            yield from _strangers(doing.where, known(doing.for_), (part, index, "where"))
            yield from _strangers_in(doing.fields, known(doing.for_) | more, place, known)
    for what, everyday in definition.background.items():
        facts = {
            one.for_ for one in definition.statements if one.what == what and one.for_ in definition.facts
        }
        if everyday.course and any(everyday.course not in known(fact) for fact in facts):
            yield ("background", what, "course"), f"unknown name {everyday.course!r}"
    yield from _strangers_in(definition.survey, everywhere, ("survey",), known)
    yield from _strangers(drawn(task.prompt), everywhere, ("prompt",))


def _strangers_in(
    value: Any, known: set[str], place: tuple[Any, ...], of: Callable[[str | None], set[str]]
) -> Iterator[Complaint]:
    if isinstance(value, Mapping):
        if "columns" in value:
            fact = str(value["for"]) if "for" in value else None
            known = known | of(fact) | ({"row"} if "each" in value else set())
            for key in {"each", "where"} & value.keys():
                with suppress(ExpressionError):
                    yield from _strangers(bare(str(value[key])), known, (*place, key))
        for key, inner in value.items():
            yield from _strangers_in(inner, known, (*place, key), of)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strangers_in(inner, known, (*place, index), of)
    else:
        with suppress(ValueError):  # what is no expression was complained about by then
            yield from _strangers(drawn(value), known, place)


def _strangers(source: Any, known: set[str], place: tuple[Any, ...]) -> Iterator[Complaint]:
    expressions = source.expressions() if isinstance(source, Draw) else [source]
    for expression in expressions:
        if isinstance(expression, Expression):
            for name in sorted(expression.names - known):
                yield place, f"unknown name {name!r}; there are {', '.join(sorted(known))}"
            for name in sorted(expression.calls - known):
                yield place, f"no function or filter {name!r}; there are {', '.join(FILTERS)}"
