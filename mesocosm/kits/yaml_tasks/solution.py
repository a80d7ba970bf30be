"""The solution: the calls that bring the goal about, written over the entities. It knows the truth."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from mesocosm.kits.yaml_tasks.definition import Definition, SolutionStep
from mesocosm.kits.yaml_tasks.entities import Entity, Wrong, evaluated
from mesocosm.kits.yaml_tasks.filters import FILTERS
from mesocosm.kits.yaml_tasks.grading import GoalTable, base_of, fields_of, wanted_of_goal
from mesocosm.kits.yaml_tasks.language import ExpressionError, for_expressions, missing
from mesocosm.kits.yaml_tasks.mailboxes import in_quotes
from mesocosm.kits.yaml_tasks.rendering import in_order, prepared, selects_at
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.calling import FAULT_TEXT, ToolError, Tools
from mesocosm.services.words import load_words

Results = dict[tuple[Any, ...], Any]
"""Results of steps, by entity and name."""
_SHOWN = 300


class CallRefused(ToolError):
    """A step that a tool does not take."""

    def __init__(self, keys: tuple[Any, ...], message: str) -> None:
        super().__init__(message)
        self.wrong = Wrong(keys, message)


class Solution:
    """Makes the steps of a walk."""

    def __init__(self, definition: Definition, truth: Truth, tools: Tools) -> None:
        self._definition = definition
        self._truth = truth
        self._tools = tools
        self._results: Results = {}

    def make(
        self,
        numbers: Sequence[int] | None = None,
        only: Callable[[Entity], bool] = lambda entity: True,
        also: Sequence[Entity] = (),
    ) -> int:
        """Make the steps of these numbers (default: all), for the entities that are meant.

        ``also``: entities for which the steps that are for them are made once more; where none is, those of
        their fact that can be made. Returns how many steps were made for these.
        """
        made = 0
        steps = [
            (index, step)
            for index, step in enumerate(self._definition.solution)
            if numbers is None or index in numbers
        ]
        for index, step in steps:
            if step.for_ is None:
                self._make(index, step, None)
                continue
            place = ("solution", index)
            chosen = [
                one for one in self._truth.sets[step.for_] if only(one) and selects_at(step, one, place)
            ]
            for entity in in_order(chosen, step.sort, place):
                self._make(index, step, entity)
            for entity in [one for one in also if one.fact == step.for_]:
                if selects_at(step, entity, place):
                    self._make(index, step, entity)
                    made += 1
                elif not any(
                    other.for_ == entity.fact and selects_at(other, entity, ("solution", number))
                    for number, other in steps
                ):
                    with suppress(Wrong):  # such as that of another kind, which has fields of its own
                        self._make(index, step, entity)
                        made += 1
        return made

    def _make(self, index: int, step: SolutionStep, entity: Entity | None) -> None:
        keys = ("solution", index, step.what)
        service, _, tool = step.what.partition(".")
        try:
            arguments = as_arguments(evaluated(prepared(step.fields), self._scope(entity)))
        except ExpressionError as error:
            label = f"{entity.label}: " if entity else ""
            raise Wrong(keys, f"{label}{error}") from None
        given = {
            name: in_quotes(value) if isinstance(value, str) and name in _headers(service) else value
            for name, value in arguments.items()
            if value is not None
        }
        try:
            result = self._tools.call(service, tool, **given)
        except ToolError as error:
            if str(error) == FAULT_TEXT:  # our own bug is not the task file's; the journal has it
                raise
            label = f"{entity.label}: " if entity else ""
            raise CallRefused(
                keys, f"{label}the tool answered: {error} (it was given {_shown(given)})"
            ) from None
        if step.as_:
            self._results[entity, step.as_] = result

    def _scope(self, entity: Entity | None) -> Callable[[str], Any]:
        lookup = entity.lookup if entity else self._truth.lookup

        @for_expressions
        def statement_of(number: int) -> str:
            goal = self._definition.goal[number]
            return _statement(goal.how, fields_of(self._truth, number, goal, entity))

        @for_expressions
        def rows_of(name: str | int) -> Any:
            for index, goal in enumerate(self._definition.goal):
                if name in (index, base_of(goal)):
                    wanted = wanted_of_goal(self._truth, index, goal)
                    tables = [
                        value
                        for one in wanted
                        for value in one.fields.values()
                        if isinstance(value, GoalTable)
                    ]
                    if tables:
                        return tables[0].rows
            known = ", ".join(base_of(goal) for goal in self._definition.goal)
            raise ExpressionError(f"no goal {name!r} with rows; there are {known}")

        def scope(name: str) -> Any:
            if name in ("rows_of", "statement_of"):
                return rows_of if name == "rows_of" else statement_of
            for owner in (entity, None):
                if (owner, name) in self._results:
                    return self._results[owner, name]
            found = lookup(name)
            return missing if found is missing else found

        return scope


def _statement(how: str, fields: Mapping[str, Any]) -> str:
    """The SQL by which a row is there, is another or is gone."""
    table, key, values = fields["table"], fields.get("key") or {}, fields.get("values") or {}
    sql = FILTERS["sql"]
    meant = " AND ".join(
        f"{name} IS NULL" if value is None else f"{name} = {sql(value)}" for name, value in key.items()
    )
    if how == "remove":
        return f"DELETE FROM {table} WHERE {meant or 'TRUE'}"
    if how == "change":
        new = ", ".join(f"{name} = {sql(value)}" for name, value in values.items())
        return f"UPDATE {table} SET {new} WHERE {meant or 'TRUE'}"
    row = {**key, **values}
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES {sql(row)}"


@cache
def _headers(service: str) -> Collection[str]:
    """Names of what lists addresses in a service."""
    words = load_words(service)
    fields = [{**thing.says, **thing.judges} for thing in words.things.values()] if words else []
    return {name for of in fields for name, word in of.items() if word.shape == "addresses"}


def _shown(given: Mapping[str, Any]) -> str:
    """Arguments in a complaint."""
    text = ", ".join(f"{name}={value!r}" for name, value in given.items()) or "nothing"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def as_arguments(value: Any) -> Any:
    """Values as JSON has them: moments with their offset."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): as_arguments(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_arguments(inner) for inner in value]
    return value
