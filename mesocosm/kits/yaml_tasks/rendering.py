"""Values of the file worked out for entities: fields of things, and rows of tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from mesocosm.kits.yaml_tasks.definition import Definition, Rows
from mesocosm.kits.yaml_tasks.draws import drawn
from mesocosm.kits.yaml_tasks.entities import Entity, Wrong, evaluated, selects
from mesocosm.kits.yaml_tasks.expressions import Expression
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.mailboxes import in_quotes
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.columns import Columns, Joined
from mesocosm.services.words import Word

E = TypeVar("E", Entity, Entity | None)


def prepared(value: Any) -> Any:
    """A value of the file with its texts read as expressions."""
    if isinstance(value, Mapping) and not isinstance(value, Entity):
        return {key: prepared(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [prepared(inner) for inner in value]
    return drawn(value)


def survey_options(definition: Definition, service: str, lookup: Callable[[str], Any]) -> dict[str, Any]:
    """Evaluate a service's survey options in the file."""
    keys, found = ("survey", service), dict[str, Any]()
    for name, value in definition.survey.get(service, {}).items():
        try:
            found[name] = evaluated(prepared(value), lookup)
        except ExpressionError as error:
            raise Wrong((*keys, name), str(error)) from None
    return found


def expressions_of(source: Any) -> Iterator[Expression]:
    """Yield all expressions in a source."""
    if isinstance(source, Expression):
        yield source
    elif isinstance(source, (Mapping, list)) and not isinstance(source, Entity):
        for inner in source.values() if isinstance(source, Mapping) else source:
            yield from expressions_of(inner)


def selects_at(selection: Any, entity: Entity, keys: tuple[Any, ...], around: Entity | None = None) -> bool:
    """True if an entity is selected; complaints name the selection's place."""
    try:
        return selects(selection, entity, _within(entity, around))
    except Wrong as wrong:
        raise Wrong((*keys, "where"), wrong.message) if not wrong.keys else wrong from None


def rendered_rows(
    truth: Truth, rows: Rows, keys: tuple[Any, ...], entity: Entity | None, *, background: bool
) -> Iterator[dict[str, Any]]:
    """The rows of a table: for each chosen entity, or (without ``for``) one.

    Those of a table that is made for an entity of another fact read that one by its fact's name.
    """
    for _, row in rows_with_owners(truth, rows, keys, entity, background=background):
        yield row


def rows_with_owners(
    truth: Truth, rows: Rows, keys: tuple[Any, ...], entity: Entity | None, *, background: bool
) -> Iterator[tuple[Entity | None, dict[str, Any]]]:
    """The rows, each with the entity that it is about."""
    footer = rows.model_copy(update={"columns": rows.footer})
    if rows.for_ is None:
        if rows.each is None:
            yield entity, row_of(truth, rows, entity, keys, told=background)
        else:
            own = [(entity, part) for part in parts_of(truth, rows, entity, keys, told=background)]
            for _, part in _in_order_of_parts(own, rows.sort, keys):
                made = row_of(truth, rows, entity, keys, part=part, told=background) if rows.columns else part
                yield entity, made
            if rows.footer:
                yield entity, row_of(truth, footer, entity, keys, told=background)
        return
    around = None
    if entity is not None and rows.for_ in entity.children:
        chosen = [one for one in entity.belonging(rows.for_) if selects_at(rows, one, keys)]
    else:
        around = entity
        entities = truth.everyone(rows.for_) if background else truth.sets[rows.for_]
        chosen = [
            one
            for one in entities
            if truth.once(("chosen", keys, one, around), partial(selects_at, rows, one, keys, around))
        ]
    if rows.each is None:
        for one in in_order(chosen, rows.sort, keys):
            make = partial(row_of, truth, rows, one, keys, around, told=background)
            yield one, truth.once(("row", keys, one, around), make)
    else:
        parts = [(one, part) for one in chosen for part in parts_of(truth, rows, one, keys, told=background)]
        for one, part in _in_order_of_parts(parts, rows.sort, keys):
            made = row_of(truth, rows, one, keys, around, part, told=background) if rows.columns else part
            yield one, made
    if rows.footer:
        yield entity, row_of(truth, footer, entity, keys, told=background)


def joined_rows(truth: Truth, rows: Rows, keys: tuple[Any, ...]) -> tuple[Joined, Joined] | None:
    """Rows that entities have ready and in order, and those of them that are about no background; ``None``
    where rows have to be made or sorted."""
    if rows.for_ is None or rows.each is None or rows.columns or rows.sort or rows.footer:
        return None
    owners = [*truth.sets[rows.for_], *truth.background.get(rows.for_, ())]
    ready = [(one, parts_of(truth, rows, one, keys)) for one in owners if selects_at(rows, one, keys)]
    counting = [part for one, part in ready if not one.background]
    return Joined([part for _, part in ready]), Joined(counting)


def parts_of(
    truth: Truth, rows: Rows, entity: Entity | None, keys: tuple[Any, ...], *, told: bool = False
) -> Sequence[Any]:
    """The things for which a table with ``each`` has rows: those of an entity, or of all that is true."""
    label, names = (f"{entity.label}: ", entity.lookup) if entity else ("", truth.lookup)
    lookup = truth.telling(names) if told else names
    source = rows.each.source
    try:
        # A name by itself may be of more than an expression may come to.
        found = lookup(source) if source.isidentifier() else rows.each.value(lookup)
    except ExpressionError as error:
        raise Wrong((*keys, "each"), f"{label}{error}") from None
    if not isinstance(found, (list, tuple, Columns)):
        raise Wrong((*keys, "each"), f"{label}{source!r} is no list")
    return found


def _in_order_of_parts(
    parts: Sequence[tuple[E, Any]], by: Sequence[str], keys: tuple[Any, ...]
) -> list[tuple[E, Any]]:
    """Things of entities sorted by some of their own fields, or of those of the entities."""
    ordered = list(parts)
    for name in reversed(by):
        bare = name.lstrip("-")
        try:
            ordered.sort(
                key=lambda pair: pair[0].lookup(bare) if pair[0] and bare not in pair[1] else pair[1][bare],
                reverse=name.startswith("-"),
            )
        except TypeError:
            raise Wrong((*keys, "sort"), f"{bare!r} cannot be sorted by") from None
    return ordered


def _within(entity: Entity, around: Entity | None) -> Callable[[str], Any]:
    """Make a name lookup for an entity inside another's thing."""
    if around is None:
        return entity.lookup
    return lambda name: around if name == around.fact else entity.lookup(name)


def _with_part(lookup: Callable[[str], Any], part: Any) -> Callable[[str], Any]:
    return lambda name: part if name == "row" else lookup(name)


def in_order(entities: Sequence[Entity], by: Sequence[str], keys: tuple[Any, ...]) -> list[Entity]:
    """Entities sorted by some of their fields."""
    ordered = list(entities)
    for name in reversed(by):
        try:
            ordered.sort(key=lambda one: one.lookup(name.lstrip("-")), reverse=name.startswith("-"))
        except TypeError:
            raise Wrong((*keys, "sort"), f"{name.lstrip('-')!r} cannot be sorted by") from None
    return ordered


def row_of(
    truth: Truth,
    rows: Rows,
    entity: Entity | None,
    keys: tuple[Any, ...],
    around: Entity | None = None,
    part: Any = None,
    *,
    told: bool = False,
) -> dict[str, Any]:
    """Make a row; ``part`` is the item of the entity that it is for. ``told``: in evidence."""
    lookup = _within(entity, around) if entity else truth.lookup
    lookup = truth.telling(lookup) if told else lookup
    if part is not None:
        lookup = _with_part(lookup, part)
    cells: dict[str, Any] = {}
    for name, value in rows.columns.items():
        try:
            cells[name] = evaluated(prepared(value), lookup)
        except ExpressionError as error:
            label = f"{entity.label}: " if entity else ""
            raise Wrong((*keys, "columns", name), f"{label}{error}") from None
    return cells


def fitted(word: Word, value: Any) -> Any:
    """A value in the shape that its field has."""
    if word.shape == "addresses" and value is not None:
        return ", ".join(in_quotes(str(one)) for one in (value if isinstance(value, list) else [value]))
    if word.shape == "text" and not isinstance(value, str) and value is not None:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return value


def misfit(word: Word, value: Any) -> str | None:
    """Explain why a value does not fit its field."""
    if value is None:
        return "there is no value" if word.required else None
    fits = {
        "moment": isinstance(value, dt.datetime),
        "date": isinstance(value, dt.date),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool),
        "flag": isinstance(value, bool),
        "list": isinstance(value, (list, Columns)),
        "text": isinstance(value, (str, int, float)),
        "addresses": isinstance(value, (str, list)),
    }.get(word.shape, True)
    if not fits:
        return f"{value!r} is no {word.shape}"
    if word.choices and value not in word.choices:
        return f"{value!r} is not possible; possible: {', '.join(word.choices)}"
    return None
