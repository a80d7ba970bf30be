"""Independence of the solver beside a task file: it must read by itself and not share the truth's
computations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType
from typing import Any

from mesocosm.kits.yaml_tasks.ambiguity import rows_in
from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.gaps import Gap
from mesocosm.kits.yaml_tasks.rendering import expressions_of, prepared


def shared(definition: Definition, solve: Callable[..., Any] | None, hooks: Collection[str]) -> Iterator[Gap]:
    """Functions that work out what is true and that the solver calls, too: one mistake would be in both."""
    for name in sorted(_called_by(solve) & _deciding(definition) & set(hooks)):
        message = (
            f"`solve` calls `{name}`, by which the truth is worked out, so that a mistake in it is in both"
        )
        yield Gap(("python",), f"{message}: let `solve` have a reading of its own")


def _deciding(definition: Definition) -> set[str]:
    """The functions by which fields and goals are worked out."""
    sources: list[Any] = [one for goal in definition.goal for one in (prepared(goal.fields), goal.where)]
    sources += [rows.each for goal in definition.goal for rows in rows_in(goal.fields)]
    for it in definition.entities.values():
        sources += [it.fields, *it.special_fields]
    return {name for source in sources for one in expressions_of(source) for name in one.calls}


def _called_by(function: Callable[..., Any] | None) -> set[str]:
    """Return the functions of its file that a function calls, directly or indirectly."""
    found: set[str] = set()
    todo = [function]
    while todo:
        one = todo.pop()
        if not isinstance(one, FunctionType):
            continue
        for name in _names(one.__code__):
            other = one.__globals__.get(name)
            if name not in found and isinstance(other, FunctionType):
                found.add(name)
                todo.append(other)
    return found


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
