"""Serialisation of drawn facts: stored with an instance, and read back for judging."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.draws import Draw
from mesocosm.kits.yaml_tasks.entities import Entity
from mesocosm.kits.yaml_tasks.truth import Truth


def kept(truth: Truth, background: int) -> dict[str, Any]:
    """Serialise what was drawn: all entities, and a number of filler ones of each type."""
    shown: dict[tuple[str | None, str | None], int] = {}
    entities = [
        *truth.singles.values(),
        *(one for ones in truth.sets.values() for one in ones if not one.parent),
    ]
    for ones in truth.background.values():
        for one in ones:
            if one.parent is None:
                case = one.distractor, one.case
                shown[case] = shown.get(case, 0) + 1
                if shown[case] <= background:
                    entities.append(one)
    return {
        "now": _as_data(truth.now),
        "zone": str(truth.zone),
        "parameters": dict(truth.parameters),
        "given": _as_data(truth.given),
        "entities": [_kept(entity) for entity in entities],
    }


def read(definition: Definition, data: Mapping[str, Any], hooks: Mapping[str, Callable[..., Any]]) -> Truth:
    """From what ``kept`` made."""
    zone = ZoneInfo(data["zone"])
    truth = Truth(definition, None, _from_data(data["now"], {}, zone), zone, hooks, data["parameters"])
    truth.given = _from_data(data["given"], {}, zone)
    waiting: list[tuple[Entity, Mapping[str, Any]]] = []
    for kept in data["entities"]:
        _read(truth, kept, None, waiting)
    known = {
        (one.fact, one.ident): one
        for ones in [truth.singles.values(), *truth.sets.values(), *truth.background.values()]
        for one in ones
    }
    for entity, drawn in waiting:
        named = {_kept_as(entity, name): name for name in entity.definition.own_fields}
        entity.drawn = {
            named.get(name, name): _from_data(value, known, zone) for name, value in drawn.items()
        }
        entity.known = dict(entity.drawn)
    for name, fact in definition.entities.items():
        if not fact.single:
            truth.sets.setdefault(name, [])
    return truth


def _read(
    truth: Truth,
    kept: Mapping[str, Any],
    parent: Entity | None,
    waiting: list[tuple[Entity, Mapping[str, Any]]],
) -> Entity:
    ident = kept["ident"]
    entity = Entity(
        truth,
        kept["fact"],
        ident,
        kept["number"],
        kept["kind"],
        parent,
        background=ident.startswith("b"),
        distractor=kept.get("lookalike"),
    )
    waiting.append((entity, kept["drawn"]))
    if truth.definition.entities[entity.fact].single:
        truth.singles[entity.fact] = entity
    else:
        (truth.background if entity.background else truth.sets).setdefault(entity.fact, []).append(entity)
    for name, children in kept["children"].items():
        entity.children[name] = [_read(truth, child, entity, waiting) for child in children]
    return entity


def _kept(entity: Entity) -> dict[str, Any]:
    return {
        "fact": entity.fact,
        "ident": entity.ident,
        "number": entity.number,
        "kind": entity.case,
        "lookalike": entity.distractor,
        "drawn": {_kept_as(entity, name): _as_data(value) for name, value in entity.drawn.items()},
        "children": {name: [_kept(child) for child in ones] for name, ones in entity.children.items()},
    }


def _kept_as(entity: Entity, name: str) -> str:
    source = entity.source_of(name)
    return source.drawn_as or name if isinstance(source, Draw) else name


def _as_data(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return {"$moment": value.isoformat()}
    if isinstance(value, dt.date):
        return {"$date": value.isoformat()}
    if isinstance(value, dt.timedelta):
        return {"$span": value.total_seconds()}
    if isinstance(value, Entity):
        return {"$one": [value.fact, value.ident]}
    if isinstance(value, Mapping):
        return {str(key): _as_data(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_data(inner) for inner in value]
    return value


def _from_data(value: Any, known: Mapping[tuple[str, str], Entity], zone: dt.tzinfo) -> Any:
    match value:
        case {"$moment": text}:
            return dt.datetime.fromisoformat(text).astimezone(zone)
        case {"$date": text}:
            return dt.date.fromisoformat(text)
        case {"$span": seconds}:
            return dt.timedelta(seconds=seconds)
        case {"$one": [fact, ident]}:
            return known[fact, ident]
        case dict():
            return {key: _from_data(inner, known, zone) for key, inner in value.items()}
        case list():
            return [_from_data(inner, known, zone) for inner in value]
    return value
