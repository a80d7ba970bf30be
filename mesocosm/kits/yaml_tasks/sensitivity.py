"""Informativeness of texts: a text tells a value only if it would read differently with another value.

A mail that names the day of a visit does not tell its hour, and a sum that is told without cents is not
known. That is not seen by looking at the names in a text; so the value is replaced, and the text written
again. That also holds for texts that a function beside the file writes.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mesocosm.kits.yaml_tasks.definition import Definition, Rows
from mesocosm.kits.yaml_tasks.draws import Number
from mesocosm.kits.yaml_tasks.entities import Entity, Read, Wrong, evaluated
from mesocosm.kits.yaml_tasks.grading import wanted_of
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.placement import Told
from mesocosm.kits.yaml_tasks.rendering import prepared
from mesocosm.kits.yaml_tasks.scopes import Scope
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.words import find_thing

Place = tuple[Told, str]
"""Something that is told, and the field of it that has a value."""
_SPANS = {
    "another day": dt.timedelta(days=1),
    "another hour": dt.timedelta(hours=1),
    "another minute": dt.timedelta(minutes=1),
}
_OTHERS = 3
"""So many other values of a text are tried."""
_LOOKED_THROUGH = 200


class Showing:
    """Rewrites evidence with other values."""

    def __init__(self, definition: Definition, truth: Truth) -> None:
        self._definition, self._truth = definition, truth

    def same_for(self, read: Read, places: Sequence[Place]) -> str | None:
        """Say with which other value all these texts would read the same, and the goal would not."""
        besides = [told.entity for told, _ in places]
        right = read[0].lookup(read[1])
        with self._supposed(read, right, besides):
            before = [self._written(read, *place) for place in places]
        if None in before:
            return None
        for called, value in self._others(read):
            with self._supposed(read, value, besides):
                after = [self._written(read, *place) for place in places]
            if after == before and self._matters(read, value):
                return called
        return None

    def _others(self, read: Read) -> Iterator[tuple[str, Any]]:
        """Other values that a field may have, and how complaints call them."""
        entity, name = read
        with self._truth.watched():
            value = entity.lookup(name)
        match value:
            case bool():
                yield ("no" if value else "yes"), not value
            case int() | float():
                source = entity.source_of(name)
                step = (
                    source.number.step if isinstance(source, Number) else 1 if value == int(value) else 0.01
                )
                other = (
                    value + int(step) if isinstance(value, int) and step == int(step) else float(value) + step
                )
                yield f"{other:.10g}", other
            case dt.date():
                for called, span in _SPANS.items():
                    if isinstance(value, dt.datetime) or span.days:
                        yield called, value + span
            case str():
                yield from self._other_texts(entity, name, value)

    def _other_texts(self, entity: Entity, name: str, value: str) -> Iterator[tuple[str, str]]:
        """Yield the values of the same field for other entities: its vocabulary."""
        sets = [*self._truth.sets.get(entity.fact, ()), *self._truth.background.get(entity.fact, ())]
        with self._truth.watched():
            found = [one.lookup(name) for one in sets[:_LOOKED_THROUGH]]
        others = dict.fromkeys(one for one in found if isinstance(one, str) and one != value)
        yield from ((repr(one), one) for one in list(others)[:_OTHERS])

    @contextmanager
    def _supposed(self, read: Read, value: Any, besides: Sequence[Entity | None]) -> Iterator[None]:
        """Suppose a value; what these entities know of themselves is worked out again."""
        entity, name = read
        before = [(one, one.known) for one in dict.fromkeys([entity, *besides]) if one is not None]
        for one, _ in before:
            one.known = dict(one.drawn)
        entity.known[name] = value
        try:
            yield
        finally:
            for one, known in before:
                one.known = known

    def _written(self, read: Read, told: Told, part: str) -> list[Any] | None:
        """The wordings of a field that have the value; ``None`` where that cannot be written again."""
        assert told.statement is not None
        value, entity = told.statement.fields.get(part), told.entity
        thing = find_thing(told.what)
        if isinstance(value, dict) and "columns" in value:
            rows = Rows.model_validate(value)
            if rows.for_ != read[0].fact or rows.each is not None:
                return None
            value, entity = rows.columns, read[0]
        elif isinstance(value, list) and thing and thing.says[part].shape not in ("list", "data"):
            texts = [self._one(one, entity, read) for one in value]
            return None if None in texts else [one for one, has in texts if has]  # type: ignore[misc]
        found = self._one(value, entity, read)
        return [found[0]] if found and found[1] else None

    def _one(self, wording: Any, entity: Entity | None, read: Read) -> tuple[Any, bool] | None:
        """A wording written out, and whether the value was read for it."""
        try:
            with self._truth.watched() as reads:
                text = evaluated(prepared(wording), Scope(self._truth, entity, random.Random(0)))
        except (ExpressionError, Wrong):
            return None
        return text, read in reads

    def _matters(self, read: Read, value: Any) -> bool:
        """True if the goal depends on this value."""
        entity, name = read
        right = self._goal()
        kept = dict(entity.drawn)
        entity.drawn[name] = value
        try:
            return self._goal() != right
        finally:
            entity.drawn.clear()
            entity.drawn.update(kept)
            self._truth.forget()

    def matters_itself(self, entity: Entity) -> bool:
        """True if the goal depends on an entity's existence."""
        right, sets = self._goal(), self._truth.sets
        gone = {entity, *(child for ones in entity.children.values() for child in ones)}
        self._truth.sets = {name: [one for one in ones if one not in gone] for name, ones in sets.items()}
        try:
            return self._goal() != right
        finally:
            self._truth.sets = sets
            self._truth.forget()

    def _goal(self) -> str:
        self._truth.forget()
        with self._truth.watched():
            try:
                return repr([(one.entity, one.fields) for one in wanted_of(self._definition, self._truth)])
            except (ExpressionError, Wrong):
                return ""
