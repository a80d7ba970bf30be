"""Ambiguity checks: do the texts say which case something is, and which thing they are about?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mesocosm.kits.yaml_tasks.complaints import Gap
from mesocosm.kits.yaml_tasks.definition import Definition, Rows
from mesocosm.kits.yaml_tasks.entities import Entity
from mesocosm.kits.yaml_tasks.expressions import Expression
from mesocosm.kits.yaml_tasks.filters import show
from mesocosm.kits.yaml_tasks.placement import Told
from mesocosm.kits.yaml_tasks.rendering import expressions_of, prepared
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.words import find_thing

_SAMPLE = 200


class Ambiguity:
    """Compares the texts about things that count with those about others."""

    def __init__(self, definition: Definition, truth: Truth, told: Sequence[Told]) -> None:
        self._definition, self._truth = definition, truth
        self._by_entity: dict[Entity, list[Told]] = {}
        for one in told:
            for entity in _told_of(one):
                self._by_entity.setdefault(entity, []).append(one)

    def untold(self) -> Iterator[Gap]:
        """Yield distractors and cases that no text distinguishes."""
        for name, fact in self._definition.entities.items():
            yield from self._unlike(name)
            yield from self._counting_after_all(name)
            kinds = list(fact.cases) if fact.parent is None else []
            goals = {kind: self._goals_of(name, kind) for kind in kinds}
            shapes = {kind: self._shapes(name, kind) for kind in kinds}
            for number, kind in enumerate(kinds):
                for other in kinds[number + 1 :]:
                    fields = {*fact.cases[kind].fields, *fact.cases[other].fields}
                    if goals[kind] != goals[other] and not self._tellable(
                        shapes[kind], shapes[other], fields
                    ):
                        message = f"no evidence tells a {name} that is {kind} from one that is {other}"
                        yield Gap(("entities", name, "cases", other), message)

    def doubtful(self) -> Iterator[Gap]:
        """Yield entities whose texts do not distinguish them, and evidence that identifies none."""
        yield from self.mixed_up()
        for name in self._definition.entities:
            yield from self._unlinked(name)

    def mixed_up(self, among: Collection[Entity] | None = None) -> Iterator[Gap]:
        """Yield entities whose texts do not distinguish them; on demand only pairs of which one is in
        ``among``, or with different cases.
        """
        for name in self._definition.entities:
            yield from self._mixed_up(name, among)

    def unanswerable(self) -> Iterator[Gap]:
        """Yield statements that decide what is wanted of one entity without identifying it."""
        for name, fact in self._definition.entities.items():
            for gap in self._unlinked(name):
                statement = self._definition.evidence[gap.keys[1]]
                kinds = set(statement.cases or fact.cases)
                said = self._followed(_names_in(prepared(statement.fields)))
                if set(fact.cases) - kinds and any(
                    goal.for_ == name
                    and goal.cases is not None
                    and self._drawn(name, self._followed(_names_in(prepared(goal.fields)))) - said
                    for goal in self._definition.goal
                ):
                    yield gap

    def _drawn(self, fact: str, names: set[str]) -> set[str]:
        """Return the names whose values are not derived: drawn ones, and those assigned by services."""
        it = self._definition.entities[fact]
        given = {one.as_ for one in self._definition.evidence if one.for_ == fact and one.as_}
        return {
            one
            for one in names
            if one in given or (one in it.own_fields and not isinstance(it.fields.get(one), Expression))
        }

    def _unlike(self, fact: str) -> Iterator[Gap]:
        """Yield distractors whose difference no evidence states."""
        for name, like in self._definition.entities[fact].distractors.items():
            told = [
                read
                for entity in self._truth.background.get(fact, ())
                if entity.distractor == name
                for one in self._by_entity.get(entity, ())
                for reads in one.reads.values()
                for _, read in reads
            ]
            if told and not self._following(set(like.fields)).difference({"case"}).intersection(told):
                message = f"no evidence says what is different in a {fact} that is {name}"
                yield Gap(("entities", fact, "distractors", name), message)

    def _counting_after_all(self, fact: str) -> Iterator[Gap]:
        """Distractors that have in all their fields what something that counts has, by chance or for good."""
        for name, like in self._definition.entities[fact].distractors.items():
            counting = {
                field: {repr(entity[field]) for entity in self._truth.sets.get(fact, ())[:_SAMPLE]}
                for field in like.fields
            }
            for entity in self._truth.background.get(fact, ()):
                if entity.distractor == name and all(
                    len(values) == 1 and repr(entity[field]) in values for field, values in counting.items()
                ):
                    shown = ", ".join(f"{field} {show(entity[field])}" for field in like.fields)
                    message = f"{entity.label} has {shown}, as what counts has: is `unlike` missing?"
                    yield Gap(("entities", fact, "distractors", name), message)
                    break

    def _mixed_up(self, fact: str, among: Collection[Entity] | None) -> Iterator[Gap]:
        """Entities that are alike in all by which a second thing told of one could be known to be of it."""
        told = {
            entity: [one for one in self._by_entity[entity] if one.evidence]
            for entity in self._truth.sets.get(fact, ())
            if entity in self._by_entity
        }
        read = {entity: [_fields_read(entity, one) for one in things] for entity, things in told.items()}
        seen = set[int]()
        groups: dict[frozenset[str], dict[tuple[str, ...], list[Entity]]] = {}

        def alike(entity: Entity, names: frozenset[str]) -> Sequence[Entity]:
            """Return the entities with the same texts and these values."""
            if names not in groups:
                groups[names] = {}
                for other in told:
                    if any(names <= it for it in read[other]):
                        groups[names].setdefault(_values(other, names), []).append(other)
            return groups[names].get(_values(entity, names), ())

        for entity, things in told.items():
            for number, one in enumerate(things):
                elsewhere = set[str]().union(*(it for n, it in enumerate(read[entity]) if n != number))
                shared = read[entity][number] & elsewhere
                if not shared or not one.statement or id(one.statement) in seen:
                    continue
                if one.entity not in (None, entity) and self._is_known_itself(one, things):
                    continue  # of a part, which then says whose it is
                for other in alike(entity, frozenset(shared)):
                    if other is not entity and (
                        among is None or (entity.case != other.case and (entity in among or other in among))
                    ):
                        seen.add(id(one.statement))
                        keys = ("evidence", self._definition.evidence.index(one.statement))
                        message = f"nothing says whether it is about {entity.label} or about {other.label}"
                        why = f"what else is told of both has the same {', '.join(sorted(shared))}"
                        yield Gap(keys, f"{message}: {why}; add a field to it that tells them apart")
                        break

    def _is_known_itself(self, told: Told, things: Sequence[Told]) -> bool:
        """True if the texts about a part name something of the part itself that also stands elsewhere."""
        part = told.entity
        assert part is not None
        own = _fields_read(part, told)
        return any(own & _fields_read(part, one) for one in things if one is not told)

    def _unlinked(self, fact: str) -> Iterator[Gap]:
        """Yield statements about one of several entities that share no value with its other texts."""
        told = {one: self._by_entity[one] for one in self._truth.sets.get(fact, ()) if one in self._by_entity}
        linked, seen = set[int](), dict[int, Told]()
        for entity, things in told.items() if len(told) > 1 else ():
            links = [self._links(entity, one) for one in things]
            for number, one in enumerate(things):
                elsewhere = set[str]().union(*(it for n, it in enumerate(links) if n != number))
                if one.statement is None or one.statement.for_ != fact or not one.evidence or not elsewhere:
                    continue
                seen.setdefault(id(one.statement), one)
                if links[number] & elsewhere or self._is_about_others(one):
                    linked.add(id(one.statement))
        for place, one in seen.items():
            if place not in linked and one.statement and one.entity:
                keys = ("evidence", self._definition.evidence.index(one.statement))
                message = "no value in it stands in what else is told of"
                yield Gap(keys, f"nothing says which {fact} it is about: {message} {one.entity.label}")

    def _links(self, entity: Entity, told: Told) -> set[str]:
        """Return the fields that identify an entity in a text, with those they derive from."""
        thing = find_thing(told.what)
        parts = [reads for part, reads in told.reads.items() if thing is None or part != thing.when]
        found = {name for reads in parts for who, name in reads if who in (entity, told.entity)}
        found -= set[str]().union(*(passed_over(told, part) for part in told.reads))
        if told.entity is None:  # a table, whose rows say all that its columns do
            found = {name for reads in parts for _, name in reads}
        if told.statement is not None and told.statement.as_:
            found.add(told.statement.as_)  # the id that the service gives it, which it shows
        return self._followed(found) - {"case", "distractor"}

    def _followed(self, names: set[str]) -> set[str]:
        """These names with all that their fields are worked out from."""
        found = set(names)
        for _ in range(4):
            for fact in self._definition.entities.values():
                for name in found & fact.fields.keys():
                    if isinstance(source := fact.fields[name], Expression):
                        found |= source.names
        return found

    def _is_about_others(self, told: Told) -> bool:
        """True if a text names something of one of several others, such as a parent."""
        return any(
            who is not told.entity and not who.definition.single
            for reads in told.reads.values()
            for who, _ in reads
        )

    def _goals_of(self, fact: str, kind: str) -> tuple[bool | None, ...]:
        """List whether each goal applies to a case; ``None`` where that depends on more."""
        found: list[bool | None] = []
        for goal in self._definition.goal:
            selections = [goal, *rows_in(goal.fields)]
            found += [
                None
                if one.for_ == fact and one.where is not None
                else one.for_ == fact and (one.cases is None or kind in one.cases)
                for one in selections
            ]
        return tuple(found)

    def _shapes(self, fact: str, kind: str) -> tuple[set[tuple[int, ...]], set[str]]:
        """Return the evidence that is made for a case's entities, and the fields that it reads."""
        made, read = set(), set()
        for entity in [*self._truth.sets[fact], *self._truth.background.get(fact, ())]:
            if entity.case == kind and not entity.distractor:
                told = self._by_entity.get(entity, ())
                made.add(tuple(sorted(id(one.statement) for one in told)))
                read |= {
                    name
                    for one in told
                    for reads in one.reads.values()
                    for who, name in reads
                    if who == entity
                }
        return made, read

    def _tellable(
        self, one: tuple[set[tuple[int, ...]], set[str]], other: tuple[set[tuple[int, ...]], set[str]],
        fields: set[str],
    ) -> bool:  # fmt: skip
        if not one[0] or not other[0]:
            return True  # not in this sample
        return not one[0] & other[0] or bool((one[1] | other[1]) & (fields | {"case"})) or bool(
            {name for name in one[1] | other[1] if name not in ("index",)} & self._following(fields)
        )  # fmt: skip

    def _following(self, fields: set[str]) -> set[str]:
        """Fields that are worked out from these, or from the kind."""
        found = set(fields) | {"case"}
        for _ in range(4):
            for fact in self._definition.entities.values():
                for name, source in fact.fields.items():
                    if isinstance(source, Expression) and source.names & found:
                        found.add(name)
        return found


def _fields_read(entity: Entity, told: Told) -> set[str]:
    """Return the fields of an entity in a text; its time is no information for a reader."""
    thing = find_thing(told.statement.what) if told.statement else None
    when = thing.when if thing else None
    reads = (read for field, reads in told.reads.items() if field != when for read in reads)
    own = {name for who, name in reads if who is entity} - {"index", "this", "case", "distractor"}
    if told.statement and told.statement.as_ and told.entity is entity:
        own.add(told.statement.as_)  # the id that the service gives it, which it shows
    return own - set[str]().union(*(passed_over(told, part) for part in told.reads))


def passed_over(told: Told, part: str) -> set[str]:
    """Return the entity's names in a part of a text that are not evaluated: ``new_time or time``."""
    if told.entity is None or told.statement is None:
        return set()
    expressions = list(expressions_of(prepared(told.statement.fields.get(part))))
    over = [one.passed_over(told.entity.lookup) for one in expressions]
    shown = set[str]().union(*(one.mentions - it for one, it in zip(expressions, over, strict=True)))
    return set[str]().union(*over) - shown


def _values(entity: Entity, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(repr(entity[name]) for name in sorted(names))


def _names_in(source: Any) -> set[str]:
    """All names that the expressions in it have."""
    if isinstance(source, Expression):
        return set(source.names)
    inner = source.values() if isinstance(source, Mapping) else source if isinstance(source, list) else ()
    return set[str]().union(*map(_names_in, inner))


def rows_in(fields: Mapping[str, Any]) -> list[Rows]:
    """The rows of tables that are judged."""
    return [Rows.model_validate(value) for value in fields.values() if _is_rows(value)]


def _told_of(one: Told) -> Sequence[Entity]:
    """Return the entities that a statement is about; a table is about all in its rows."""
    those = [one.entity]
    if one.entity is None:
        those = [who for reads in one.reads.values() for who, _ in reads]
    tops = []
    for entity in those:
        while entity is not None and entity.parent is not None:
            entity = entity.parent
        if entity is not None:
            tops.append(entity)
    return list(dict.fromkeys(tops))


def _is_rows(value: Any) -> bool:
    return isinstance(value, Mapping) and "columns" in value
