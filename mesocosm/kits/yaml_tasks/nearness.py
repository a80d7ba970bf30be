"""Near things: what could be mistaken for something that counts, and what tells it apart. For readers of a
proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.kits.yaml_tasks.derivation import shortened
from mesocosm.kits.yaml_tasks.entities import Entity
from mesocosm.kits.yaml_tasks.evidence_proof import text_of
from mesocosm.kits.yaml_tasks.filters import show
from mesocosm.kits.yaml_tasks.placement import Told
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.words import find_thing


def near_misses(
    definition: Definition, truth: Truth, told: Sequence[Told], wanted: set[Entity]
) -> Iterator[str]:
    """Yield a line for each distractor, and for each case that no goal is for."""
    by_entity: dict[Entity, list[Told]] = {}
    for one in told:
        if one.entity is not None:
            by_entity.setdefault(one.entity, []).append(one)
    for fact, it in definition.entities.items():
        counting = truth.sets.get(fact, [])
        for name, like in it.distractors.items():
            ones = [one for one in truth.background.get(fact, ()) if one.distractor == name]
            if ones:
                by = [_difference(ones[0], field, counting) for field in like.fields]
                where = _line(by_entity.get(ones[0], ()), set(like.fields))
                yield f"{fact} {name} ({len(ones)}): {', '.join(by)}{where}"
        for name in it.cases:
            ones = [one for one in counting if one.case == name]
            if ones and wanted.intersection(counting) and not wanted.intersection(ones):
                others = {id(one.statement) for who in wanted for one in by_entity.get(who, ())}
                own = [one for one in by_entity.get(ones[0], ()) if id(one.statement) not in others]
                where = _line(own or by_entity.get(ones[0], ()), None if own else set(it.cases[name].fields))
                yield f"{fact} {name} ({len(ones)}): no goal is for it{where}"


def _difference(one: Entity, field: str, counting: Sequence[Entity]) -> str:
    values = list(dict.fromkeys(_shown(other[field]) for other in counting))
    right = values[0] if len(values) == 1 else f"one of {len(values)}" if values else "nothing"
    return f"{field} is {shortened(_shown(one[field]))} (what counts: {shortened(right)})"


def _shown(value: Any) -> str:
    if isinstance(value, Entity):
        return value.label
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value))
    return str(dict(value)) if isinstance(value, Mapping) else show(value)


def _line(told: Sequence[Told], names: set[str] | None) -> str:
    """Show one of these fields in a line; without names, the first text."""
    for one in told:
        thing = find_thing(one.what)
        for part, reads in one.reads.items():
            if thing and (part == thing.text if names is None else names & {name for _, name in reads}):
                return f"; {one.what} says {shortened(text_of(one, part))!r}"
    return ""
