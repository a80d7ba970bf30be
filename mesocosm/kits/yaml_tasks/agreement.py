"""Consistency of the prompt with the goal (order of rows), the world (clocks) and the tools (all evidence can
be read), and independence of the solver beside the file from what works out the truth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType
from typing import Any

from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks.ambiguity import rows_in
from mesocosm.kits.yaml_tasks.complaints import Gap
from mesocosm.kits.yaml_tasks.definition import Definition, Rows
from mesocosm.kits.yaml_tasks.rendering import expressions_of, prepared
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.words import find_thing

_FIRST = r"(?:\w+[ -]){0,4}?first\b"
_RISING = re.compile(
    rf"\b(?:ascending|alphabetical\w*|rising|increasing|chronological\w*|(?:lowest|smallest|earliest|oldest|"
    rf"cheapest|shortest|fewest|soonest|nearest) {_FIRST})"
)
_FALLING = re.compile(
    rf"\b(?:descending|falling|decreasing|reverse\w*|(?:highest|largest|latest|newest|biggest|longest|dearest|"
    rf"greatest|most|most recent|last) {_FIRST})|\blast {_FIRST}"
)
_ORDER = re.compile(r"\b(?:order\w*|sort\w*|rank\w*|alphabet\w*|first|sequence)\b")
_LOOKS = re.compile(r"(?:^|_)(?:get|list|read|search|find|fetch|query|run|execute)(?:_|$)")
"""Names of tools by which something can be read."""
_PROGRAMS = {"terminal", "python_execute"}
"""Services by whose programs files are read."""
_UTC = re.compile(r"\b(?:UTC|GMT)\b")


def disagreeing(definition: Definition, task: Task, truth: Truth, prompt: str, rules: str) -> Iterator[Gap]:
    """Yield everything of the kind.

    Args:
        prompt: As the agent reads it.
        rules: With it, what is told once.
    """
    yield from _ordered_otherwise(definition, " ".join(rules.lower().split()))
    yield from _on_other_clocks(truth, prompt, rules)
    yield from _unreadable(definition, task)


def _ordered_otherwise(definition: Definition, rules: str) -> Iterator[Gap]:
    """Rows whose order is judged, and is not said or said to be the other way."""
    rising, falling = _RISING.search(rules), _FALLING.search(rules)
    for index, goal in enumerate(definition.goal):
        thing = find_thing(goal.what)
        for rows in rows_in(goal.fields) if thing and thing.ordered else ():
            if not rows.sort:
                continue
            keys = ("goal", index, goal.what)
            ways = {name.startswith("-") for name in rows.sort}
            if ways == {True} and rising and not falling:
                yield Gap(keys, f"{rising[0]!r} is said, and the rows are sorted the other way: {rows.sort}")
            elif ways == {False} and falling and not rising:
                yield Gap(keys, f"{falling[0]!r} is said, and the rows are sorted the other way: {rows.sort}")
            elif not (rising or falling or _ORDER.search(rules) or _says_by(rows, rules)):
                message = (
                    f"the rows are sorted by {rows.sort[0].lstrip('-')}, and neither the prompt nor a rule"
                )
                yield Gap(keys, f"{message} says in which order they are to stand")


def _says_by(rows: Rows, rules: str) -> bool:
    """True if the prompt says how rows are sorted, or names a column that implies it."""
    for name in rows.sort:
        own = name.lstrip("-")
        columns = [
            one for one, cell in rows.columns.items() if re.search(rf"\b{re.escape(own)}\b", str(cell))
        ]
        words = "|".join(re.escape(one.lower().replace("_", " ")) for one in (own, *columns))
        if re.search(rf"\bby (?:\w+ ){{0,3}}?(?:{words})\b", rules):
            return True
    return False


def _on_other_clocks(truth: Truth, prompt: str, rules: str) -> Iterator[Gap]:
    """A prompt that says UTC where the world has other clocks."""
    if not (said := _UTC.search(prompt)) or not truth.now.utcoffset():
        return
    name = str(truth.zone)
    known = (name, name.rpartition("/")[2].replace("_", " "), str(truth.now.tzname()))
    if not any(one.lower() in rules.lower() for one in known):
        message = f"{said[0]} is said, and the world's clocks are those of {name}"
        yield Gap(("prompt",), f"{message}: name it, such as {{now.zone()}}")


def _unreadable(definition: Definition, task: Task) -> Iterator[Gap]:
    """Services that tell something, of which an agent is given no tool that reads."""
    for key, offer in (("servers", task.servers), ("needed", task.needed)):
        if _PROGRAMS & offer.keys():
            continue
        for service in dict.fromkeys(one.what.partition(".")[0] for one in definition.evidence):
            names = offer.get(service)
            if not names or any(map(_LOOKS.search, names)):
                continue
            from mesocosm.services.service import load_service  # which loads databases, and is rarely needed

            tools = load_service(service).tools
            if all(tools[one].writes for one in names):
                message = f"evidence is in {service}, and none of these tools reads: {', '.join(names)}"
                yield Gap((key, service), message)


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
