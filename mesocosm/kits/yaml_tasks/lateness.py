"""What follows from what services decide (ids), and so is known only when things were put into them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mesocosm.kits.yaml_tasks.drawing import Draw, drawn
from mesocosm.kits.yaml_tasks.expressions import ANYTHING, Expression

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.definition import Definition


def late_names(definition: Definition, hooks: Collection[str]) -> frozenset[str]:
    """Names of fields, of whatever fact, that follow from what services give, and of what they give.

    A Python function beside the file may look at all that a thing has, so what it returns counts as such.
    """
    given = {statement.as_ for statement in definition.evidence if statement.as_}
    if not given:
        return frozenset()
    late = {*given, *hooks, ANYTHING}
    mentioned: dict[str, set[str]] = {}
    for fact in definition.entities.values():
        for fields in (fact.fields, *fact.special_fields):
            for name, source in fields.items():
                if not isinstance(source, Draw):
                    mentioned.setdefault(name, set()).update(_mentions(source))
    while further := {name for name, names in mentioned.items() if names & late} - late:
        late |= further
    return frozenset(late)


def is_late(value: Any, late: frozenset[str]) -> bool:
    """Whether a value of the file reads such a name."""
    return not late.isdisjoint(_mentions(value))


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
