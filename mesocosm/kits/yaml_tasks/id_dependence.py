"""Dependence on ids, which services assign when things are created."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mesocosm.kits.yaml_tasks.draws import Draw, drawn
from mesocosm.kits.yaml_tasks.expressions import ANYTHING, Expression

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.definition import Definition


def late_names(definition: Definition, hooks: Collection[str]) -> frozenset[str]:
    """Return the field names, of any type, that depend on values assigned by services, and those values.

    A Python function beside the file may look at all that a thing has, so what it returns counts as such.
    """
    given = {statement.as_ for statement in definition.evidence if statement.as_}
    if not given:
        return frozenset()
    # By names alone, of all types together: ``fee`` of one type being late makes every ``fee`` late. That is
    # too much at times, and never too little, and needs no world.
    late = {*given, *hooks, ANYTHING}
    mentioned: dict[str, set[str]] = {}
    for fact in definition.entities.values():
        for fields in (fact.fields, *fact.special_fields):
            for name, source in fields.items():
                if not isinstance(source, Draw):
                    mentioned.setdefault(name, set()).update(_mentions(source))
    # Until nothing is added: a field may follow from a field that follows from an id.
    while further := {name for name, names in mentioned.items() if names & late} - late:
        late |= further
    return frozenset(late)


def is_late(value: Any, late: frozenset[str]) -> bool:
    """True if a value of the file reads such a name."""
    return not late.isdisjoint(_mentions(value))


def goes_through(value: Any, definition: Definition, fact: str | None) -> bool:
    """True if evaluating a value reads all entities of a type whose number grows with the length."""
    own, root = set[str](), fact
    # An entity's own fields and its ancestors' are few, whatever the length of the world.
    while root is not None and root in definition.entities and root not in own:
        own |= {root, *definition.entities[root].own_fields}
        root = definition.entities[root].parent
    own |= {name for name, it in definition.entities.items() if it.parent is not None and it.parent == fact}
    names = {name for expression in _expressions(value) for name in expression.names} - own
    return any(name in definition.entities and _varies(definition, name) for name in names)


def _varies(definition: Definition, fact: str) -> bool:
    seen: str | None = fact
    for _ in definition.entities:
        if seen is None or seen not in definition.entities:
            break
        if definition.entities[seen].fills:
            return True
        seen = definition.entities[seen].parent
    return False


def _mentions(value: Any) -> set[str]:
    return {name for expression in _expressions(value) for name in expression.mentions}


def _expressions(value: Any) -> Iterator[Expression]:
    inner: Iterable[Any] = ()
    if isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    elif isinstance(found := drawn(value), Expression):
        yield found
    for one in inner:
        yield from _expressions(one)
