"""Near misses by damage: unwanted changes to services, and rearranged tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.kits.near_misses import spoiled
from mesocosm.kits.yaml_tasks.definition import Definition, Goal
from mesocosm.kits.yaml_tasks.grading import base_of, right_of
from mesocosm.services.words import find_thing, load_words

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.written import YamlFamily
    from mesocosm.services.world import World


def damage(written: YamlFamily) -> Iterator[Mutant]:
    """Yield unwanted changes to the services of the task."""
    for service in written.task.servers:
        for spoiling in words.spoilings if (words := load_words(service)) else ():
            breaks = spoiling.breaks | {f"{service}_unchanged"} | _findings_of(written.definition, service)
            yield Mutant(f"{service}: {spoiling.name}", breaks, spoiled(spoiling))


def tables(written: YamlFamily) -> Iterator[Mutant]:
    """Tables that have the right cells in another order or without some."""
    for index, goal in enumerate(written.definition.goal):
        for name, value in goal.fields.items():
            if not (isinstance(value, dict) and "columns" in value):
                continue
            base, of = f"{base_of(goal)}_{name}", f"the {name} of {base_of(goal)}"
            findings = frozenset({f"{base}_{part}" for part in ("columns", "missing", "extra", "cells")})
            changes = {"with two columns swapped": _columns_swapped, "without the last column": _narrower}
            changes |= {"without the last row": _shorter, "with a row twice": _longer}
            thing = find_thing(goal.what)
            if thing is not None and thing.written:
                changes |= {"with a note beside it": _noted, "with a heading twice": _headed_twice}
                changes |= {"below a line of its own": _lower, "with a blank line": _apart}
                changes |= {"with a line longer than the others": _uneven}
            emptied = findings | {f"{base_of(goal)}_missing"}  # without its only row, a table is no table
            for what, change in changes.items():
                breaks = emptied if change is _shorter else findings
                yield Mutant(f"{of} {what}", breaks, partial(_rearranged, written, index, change))
            if value.get("sort") and thing is not None and thing.ordered:
                turned = partial(_rearranged, written, index, _turned_round)
                yield Mutant(f"{of} in the opposite order", f"{base}_order", turned)


def _rearranged(written: YamlFamily, index: int, change: Any, world: World, expected: Any) -> None:
    goal = written.definition.goal[index]
    thing = find_thing(goal.what)
    assert thing is not None
    done = [
        thing.rearranged(world, one.fields, change)
        for one in right_of(written.definition, written.settled_truth(expected))
        if one.goal is goal
    ]
    if not any(done):
        raise Inapplicable


Lines = list[list[Any]]


def _columns_swapped(lines: Lines) -> Lines:
    if len(lines[0]) < 2:
        raise Inapplicable
    return [[line[1], line[0], *line[2:]] for line in lines]


def _narrower(lines: Lines) -> Lines:
    if len(lines[0]) < 2:
        raise Inapplicable
    return [line[:-1] for line in lines]


def _turned_round(lines: Lines) -> Lines:
    head, *rows = lines
    if len(rows) < 2 or rows == rows[::-1]:
        raise Inapplicable
    return [head, *reversed(rows)]


def _shorter(lines: Lines) -> Lines:
    if len(lines) < 2:
        raise Inapplicable
    return lines[:-1]


def _longer(lines: Lines) -> Lines:
    if len(lines) < 2:
        raise Inapplicable
    return [*lines, lines[-1]]


def _noted(lines: Lines) -> Lines:
    """Something behind a line, in a column without a heading."""
    if len(lines) < 2:
        raise Inapplicable
    return [lines[0], [*lines[1], "checked"], *lines[2:]]


def _headed_twice(lines: Lines) -> Lines:
    """The last column once more behind itself, and something else in the first of the two."""
    if len(lines) < 2:
        raise Inapplicable
    return [[*lines[0], lines[0][-1]], *([*line[:-1], 0, line[-1]] for line in lines[1:])]


def _uneven(lines: Lines) -> Lines:
    """Something more in all lines but the first two."""
    if len(lines) < 3:
        raise Inapplicable
    return [*lines[:2], *([*line, "EXTRA"] for line in lines[2:])]


def _lower(lines: Lines) -> Lines:
    return [["Table 1"], *lines]


def _apart(lines: Lines) -> Lines:
    if len(lines) < 3:
        raise Inapplicable
    return [*lines[:2], [""] * len(lines[0]), *lines[2:]]


def _findings_of(definition: Definition, service: str) -> set[str]:
    """All findings about what a service has."""
    files = service == "filesystem"  # where lies what other services are judged by
    goals = [
        goal
        for goal in definition.goal
        if goal.what.partition(".")[0] == service or (files and "path" in goal.fields)
    ]
    return {name for goal in goals for name in all_findings(goal)}


def all_findings(goal: Goal) -> set[str]:
    """Every finding that a goal can give."""
    base = base_of(goal)
    extra = goal.what.replace(".", "_") + ("" if goal.how == "add" else f"_{goal.how}") + "_extra"
    found = {f"{base}_missing", f"{base}_otherwise", extra, f"{goal.what.partition('.')[0]}_unchanged"}
    for name in goal.fields:
        found.add(f"{base}_{name}")
        found |= {f"{base}_{name}_{part}" for part in ("columns", "missing", "extra", "cells", "order")}
    return found
