"""Vocabulary of task files for the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.services.calling import Tools
from mesocosm.services.later import later
from mesocosm.services.words import Fields, Found, Spoiling, Thing, Word, Words, made_anew

if TYPE_CHECKING:
    import sqlalchemy as sql

    from mesocosm.servers.memory import models
    from mesocosm.servers.memory import store as rules
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes
else:
    sql, models, rules = later(
        "sqlalchemy", "mesocosm.servers.memory.models", "mesocosm.servers.memory.store"
    )

_FIELDS: Mapping[str, Word] = {
    "name": Word("Its name, of which there is one.", required=True),
    "entityType": Word("What it is.", required=True),
    "observations": Word("What is known of it, one text each.", "list"),
}


class EntityThing(Thing):
    """A node of the graph with what is known of it."""

    name = "entity"
    about = "An entity of the memory, with its observations."
    overhead = 30
    identified_by = "name"
    says = _FIELDS
    judges = _FIELDS

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        world.store(rules.MemoryStore).add_graph(
            [(one["name"], one["entityType"], one.get("observations") or []) for one in things]
        )
        return [{} for _ in things]

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(fields["name"])  # what is observed may be the same of many

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("memory", "entities").added:
            yield self._found(world, changes, row["id"], frozenset({("entities", row["id"])}))

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        difference = changes.table("memory", "observations")
        added = {row["id"] for row in changes.table("memory", "entities").added}
        removed = {row["id"] for row in changes.table("memory", "entities").removed}
        touched = {row["entity_id"] for row in [*difference.added, *difference.removed]}
        for number in sorted(touched - added - removed):
            rows = {("observations", row["id"]) for row in difference.removed if row["entity_id"] == number}
            yield self._found(world, changes, number, frozenset(rows))

    def gone(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("memory", "entities").removed:
            facts = [
                fact
                for fact in changes.table("memory", "observations").removed
                if fact["entity_id"] == row["id"]
            ]
            rows = {("entities", row["id"]), *(("observations", fact["id"]) for fact in facts)}
            fields = {"name": row["name"], "entityType": row["entity_type"]}
            yield Found({**fields, "observations": [fact["content"] for fact in facts]}, frozenset(rows))

    def _found(self, world: World, changes: Changes, number: int, rows: frozenset[tuple[str, Any]]) -> Found:
        session = world.store(rules.MemoryStore).session
        entity = session.execute(
            sql.select(models.Entity.name, models.Entity.entity_type).where(models.Entity.id == number)
        ).one()
        facts = session.execute(
            sql.select(models.Observation.id, models.Observation.content)
            .where(models.Observation.entity_id == number)
            .order_by(models.Observation.id)
        ).all()
        new = {row["id"] for row in changes.table("memory", "observations").added}
        return Found(
            {
                "name": entity.name,
                "entityType": entity.entity_type,
                "observations": [fact.content for fact in facts],
            },
            rows | {("observations", fact.id) for fact in facts if fact.id in new},
        )


class RelationThing(Thing):
    """An edge of the graph."""

    name = "relation"
    about = "A relation between two entities of the memory."
    overhead = 25
    says: ClassVar[Mapping[str, Word]] = {
        "from": Word("Name of the one entity.", required=True),
        "to": Word("Name of the other.", required=True),
        "relationType": Word("In active voice: `works_at`.", required=True),
    }
    judges = says

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        world.store(rules.MemoryStore).add_graph(
            [], [(one["from"], one["to"], one["relationType"]) for one in things]
        )
        return [{} for _ in things]

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(fields["from"])

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("memory", "relations").added:
            fields = {
                "from": row["from_name"],
                "to": row["to_name"],
                "relationType": row["relation_type"],
            }
            yield Found(fields, frozenset({("relations", row["id"])}))


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    page: int | None = 1
    while page:
        graph = tools.call("memory", "read_graph", page=page, per_page=100)
        page = graph.get("next_page")


def _renamed(world: World) -> bool:
    session = world.store(rules.MemoryStore).session
    first = session.scalar(sql.select(models.Observation.id).order_by(models.Observation.id).limit(1))
    if first is not None:
        session.execute(
            sql.update(models.Observation)
            .where(models.Observation.id == first)
            .values(content="Something else.")
        )
    return first is not None


def _forgotten(world: World) -> bool:
    session = world.store(rules.MemoryStore).session
    first = session.scalar(sql.select(models.Observation.id).order_by(models.Observation.id).limit(1))
    if first is not None:
        session.execute(sql.delete(models.Observation).where(models.Observation.id == first))
    return first is not None


def _related(world: World) -> bool:
    session = world.store(rules.MemoryStore).session
    session.add(models.Relation(from_name="somebody", to_name="something", relation_type="knows"))
    session.flush()
    return True


def _noted(world: World) -> bool:
    world.store(rules.MemoryStore).create_entities([("To do", "note", ["All done"])])
    return True


def _put_back(world: World, changes: Changes) -> Iterator[tuple[str, Any]]:
    """Yield the changes that were deleted and restored."""
    entities = list(made_anew(changes.table("memory", "entities"), "id", ()))
    belongs = {"entity_id": {new: old for old, new in entities}}
    facts = made_anew(changes.table("memory", "observations"), "id", (), belongs=belongs)
    relations = made_anew(changes.table("memory", "relations"), "id", ())
    for table, pairs in (("entities", entities), ("observations", facts), ("relations", relations)):
        yield from ((table, number) for pair in pairs for number in pair)


words = Words(
    service="memory",
    things={"entity": EntityThing(), "relation": RelationThing()},
    survey=_survey,
    excuses=lambda world, changes: set(_put_back(world, changes)),
    spoilings=(
        Spoiling("something known changed", _renamed),
        Spoiling("something forgotten", _forgotten),
        Spoiling("something noted", _noted, frozenset({"memory_entity_extra"})),
        Spoiling("a relation put in", _related, frozenset({"memory_relation_extra"})),
    ),
)
