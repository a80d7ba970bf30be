"""Filling a world: statements, background and what services decide, one sort of thing after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mesocosm.errors import Refusal
from mesocosm.families.family import Evidence
from mesocosm.kits.yaml_tasks.entities import Wrong
from mesocosm.kits.yaml_tasks.placement import FactPlacement, Told
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.words import Owner, Thing, find_thing, load_words

if TYPE_CHECKING:
    from mesocosm.services.world import World


@dataclass
class Filled:
    """Content that was put into a world."""

    told: list[Told] = field(default_factory=list)
    """All that states a fact which counts."""
    summed: list[Told] = field(default_factory=list)
    """The same, where the survey reads none of it singly but asks queries."""
    once: list[Told] = field(default_factory=list)
    """Evidence told once, whatever the facts: rules, tables, headings."""
    beside: list[Told] = field(default_factory=list)
    """Texts about things that do not count."""
    evidence: list[Evidence] = field(default_factory=list)
    files: dict[str, set[str]] = field(default_factory=dict)
    """By service, the paths of what was told that its evidence does not say as they stand."""


def fill(teller: FactPlacement, world: World, filler: int, services: Collection[str]) -> Filled:
    """Put everything in, with ``filler`` tokens of background."""
    definition, truth = teller.definition, teller.truth
    left = filler - teller.add_background(filler)
    sorts = list(dict.fromkeys(statement.what for statement in definition.evidence))
    _open(truth, world, services)
    filled = Filled()
    shares = {what: it.weight for what, it in definition.noise.items() if what in sorts}
    for what in sorts:
        thing = find_thing(what)
        assert thing is not None
        told = [*teller.told(what, background=False), *teller.told(what, background=True)]
        everyday: list[Told] = []
        if what in shares and left > 0:
            share = shares.pop(what)
            budget = int(left * share / (share + sum(shares.values())))
            everyday = teller.everyday(what, told, budget, exactly=not shares)
            left -= sum(map(teller.cost, everyday))
        _put_in(truth, world, what, [*told, *everyday])
        service = what.partition(".")[0]
        words = load_words(service)
        if words and "files" in words.survey_options and words.files_listed_by not in services:
            paths = {str(one.fields["path"]) for one in told if _is_filled_in(one, "path")}
            filled.files[service] = filled.files.get(service, set()) | paths
        filled.once += [one for one in told if one.entity is None]
        filled.beside += [one for one in told if one.entity is not None and not one.evidence]
        for one in told:
            if one.evidence and not teller.is_read(what, one.fields, one.statement):
                filled.summed.append(one)
            elif one.evidence:
                filled.told.append(one)
                also = thing.elsewhere(one.fields, one.given)
                filled.evidence += [
                    Evidence(service=what.partition(".")[0], contains=text, also=also)
                    for text in _traces(thing, one)
                ]
    return filled


def _is_filled_in(told: Told, name: str) -> bool:
    """True if a field differs from the file's literal text."""
    return told.statement is not None and told.statement.fields.get(name) != told.fields.get(name)


def _traces(thing: Thing, told: Told) -> Sequence[str]:
    """Return the texts that identify a thing in results; for a table, its relevant rows."""
    if told.counting and (rows := [thing.row_trace(row) for row in told.counting]) and rows[0] is not None:
        return list(dict.fromkeys(row for row in rows if row))
    trace = thing.trace(told.fields, told.given)
    return [trace] if isinstance(trace, str) else trace


def _put_in(truth: Truth, world: World, what: str, things: Sequence[Told]) -> None:
    """In the order in which they came about, whatever they are."""
    thing = find_thing(what)
    assert thing is not None
    ordered = list(things)
    world.stream(f"order:{what}").shuffle(ordered)
    if thing.when:
        ordered.sort(key=lambda one: one.fields.get(thing.when or "") or world.now)
    said = [(one.fields, one.statement.fields if one.statement else ()) for one in ordered]
    for one, fields in zip(ordered, thing.continued(said), strict=True):
        one.fields = fields
    try:
        given = thing.add(world, [one.fields for one in ordered])
    except Refusal as refusal:
        statements = truth.definition.evidence
        index = next(n for n, statement in enumerate(statements) if statement.what == what)
        raise Wrong(("evidence", index, what), f"the service refuses it: {refusal.message}") from None
    for one, what_it_got in zip(ordered, given, strict=True):
        one.given = what_it_got
        if one.statement and one.statement.as_:
            name = one.statement.as_
            if one.entity is None:
                truth.given[name] = what_it_got
            else:
                one.entity.give(name, what_it_got)
    truth.forget_late()


def _open(truth: Truth, world: World, services: Iterable[str]) -> None:
    """Create accounts for the owner, and for everybody with a name and address."""
    me = truth.singles["me"]
    house = next((me[field] for field in ("school", "company") if field in me), None)
    owner = Owner(str(me["name"]), str(me["email"]), str(truth.zone), str(house or ""))
    people: dict[str, tuple[str, str]] = {}
    """By address, which two who are called alike share, whether capitals are used in it or not."""
    for entities in (truth.singles.values(), *truth.sets.values(), *truth.background.values()):
        for entity in entities:
            if entity is not me and "name" in entity and "email" in entity and entity["email"]:
                people[str(entity["email"]).lower()] = str(entity["name"]), str(entity["email"])
    people.pop(owner.email.lower(), None)
    for service in services:
        if words := load_words(service):
            words.open(world, owner, list(people.values()))
