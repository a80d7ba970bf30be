"""The rules of the memory service: a knowledge graph that grows by what the agent writes down."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Executable, TextClause, bindparam, func, insert, select, text

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.memory.models import (
    INDEXED,
    Base,
    Entity,
    Observation,
    Relation,
    insert_trigger,
)
from mesocosm.services.service import Store

T = TypeVar("T")

MAX_NAME = 1_000
MAX_OBSERVATION = 10_000
"""Characters of one observation."""
MAX_PER_PAGE = 100
OBSERVATIONS_PER_PAGE = 50
"""Observations that are shown of one entity at once."""
MAX_CHARACTERS = 100_000
"""Characters of observations in a result about several entities."""
MAX_NAMES = 100

_ENTITIES = select(Entity.id, Entity.name, Entity.entity_type).where(
    Entity.id.in_(bindparam("ids", expanding=True))
)
_LAST_ID = select(func.max(Entity.id).label("id"))
_RELATIONS = select(Relation.from_name, Relation.to_name, Relation.relation_type)
_RELATIONS_OF = (
    _RELATIONS.where(
        Relation.from_name.in_(bindparam("names", expanding=True))
        | Relation.to_name.in_(bindparam("names", expanding=True))
    )
    .order_by(Relation.id)
    .limit(1_000)
)
_RELATIONS_PAGE = _RELATIONS.order_by(Relation.id).limit(bindparam("limit")).offset(bindparam("offset"))
_COUNTS = select(
    select(func.count()).select_from(Entity).scalar_subquery().label("entities"),
    select(func.count()).select_from(Relation).scalar_subquery().label("relations"),
)
_RANKED = select(
    Observation.entity_id,
    Observation.content,
    func.row_number().over(partition_by=Observation.entity_id, order_by=Observation.id).label("number"),
    func.count().over(partition_by=Observation.entity_id).label("total"),
).where(Observation.entity_id.in_(bindparam("ids", expanding=True)))
_OBSERVATIONS = (
    select(_RANKED.subquery())
    .where(text("number > :first AND number <= :last"))
    .order_by(text("entity_id, number"))
)

# The words of a query are matched as one phrase of the trigram index, which is a search for a substring.
_INDEXED = text(
    "SELECT rowid AS id FROM entities_text WHERE entities_text MATCH :phrase"
    " UNION SELECT entity_id FROM observations WHERE id IN"
    " (SELECT rowid FROM observations_text WHERE observations_text MATCH :phrase) ORDER BY id"
)
# The index knows nothing shorter than three characters.
_SCANNED = text(
    "SELECT id FROM entities WHERE instr(lower(name), :part) OR instr(lower(entity_type), :part)"
    " UNION SELECT entity_id FROM observations WHERE instr(lower(content), :part) ORDER BY id"
)
_ALL = select(Entity.id).order_by(Entity.id)

_NAMES = "(SELECT value FROM json_each(:given))"
_PAIRS = "(SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:given))"
_EDGES = (
    "(SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')"
    " FROM json_each(:given))"
)
_IDS = text(f"SELECT name, id FROM entities WHERE name IN {_NAMES}")
_KNOWN_OBSERVATIONS = text(
    f"SELECT entity_id, content FROM observations WHERE (entity_id, content) IN {_PAIRS}"
)
_EDGE = "from_name, to_name, relation_type"
_KNOWN_RELATIONS = text(f"SELECT {_EDGE} FROM relations WHERE ({_EDGE}) IN {_EDGES}")
_DELETE_ENTITIES = text(f"DELETE FROM entities WHERE name IN {_NAMES} RETURNING name")
_DELETE_RELATIONS_OF = text(
    f"DELETE FROM relations WHERE from_name IN {_NAMES} OR to_name IN {_NAMES} RETURNING from_name, to_name"
)
_DELETE_OBSERVATIONS = text(
    f"DELETE FROM observations WHERE (entity_id, content) IN {_PAIRS} RETURNING entity_id, content"
)
_DELETE_RELATIONS = text(f"DELETE FROM relations WHERE ({_EDGE}) IN {_EDGES} RETURNING {_EDGE}")


@dataclass
class Node:
    """An entity with the observations that are shown of it."""

    name: str
    entity_type: str
    observations: list[str] = field(default_factory=list)
    total_observations: int = 0


Edge = tuple[str, str, str]
"""From, to and type of a relation."""
NewEntity = tuple[str, str, Sequence[str]]
"""Name, type and observations of an entity."""


@dataclass(frozen=True)
class Graph:
    """A part of the graph."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    total_entities: int
    total_relations: int | None
    """``None`` where the relations follow from the entities that were chosen."""
    has_more: bool


class MemoryStore(Store):
    """The graph."""

    metadata = Base.metadata

    # -- reading ----------------------------------------------------------------------------------------

    def graph(self, page: int, per_page: int) -> Graph:
        """One page of all entities and of all relations, in the order in which they were written."""
        first = _offset(page, per_page)
        counts = self.fetch(_COUNTS)[0]
        statement = _ALL.limit(per_page).offset(first)
        nodes = self._nodes([row["id"] for row in self.fetch(statement)])
        edges = self._edges(_RELATIONS_PAGE, limit=per_page, offset=first)
        total = max(counts["entities"], counts["relations"])
        return Graph(nodes, edges, counts["entities"], counts["relations"], first + per_page < total)

    def search(self, query: str, page: int, per_page: int) -> Graph:
        """One page of the entities whose name, type or observations contain the query, in any case.

        The relations are those of entities of the page, to whatever they lead.
        """
        _check_text(query, "query", MAX_NAME, empty=True)
        first = _offset(page, per_page)
        if not query:
            rows = self.fetch(_ALL)
        elif len(query) < 3:
            rows = self.fetch(_SCANNED, part=query.lower())
        else:
            rows = self.fetch(_INDEXED, phrase='"' + query.replace('"', '""') + '"')
        ids = [row["id"] for row in rows]
        return self._with_relations(ids[first : first + per_page], len(ids), first + per_page < len(ids))

    def open(self, names: Sequence[str], page: int) -> Graph:
        """The entities of these names with a page of their observations, and all relations that they have."""
        if len(names) > MAX_NAMES:
            raise Invalid(f"At most {MAX_NAMES} nodes can be opened at once, got {len(names)}.")
        _offset(page, OBSERVATIONS_PER_PAGE)
        statement = select(Entity.id).where(Entity.name.in_(names)).order_by(Entity.id)
        ids = [row["id"] for row in self.fetch(statement)]
        return self._with_relations(ids, len(ids), False, page)

    def _with_relations(self, ids: Sequence[int], total: int, has_more: bool, page: int = 1) -> Graph:
        nodes = self._nodes(ids, page)
        edges = self._edges(_RELATIONS_OF, names=[node.name for node in nodes])
        return Graph(nodes, edges, total, None, has_more)

    def _edges(self, statement: Executable, **parameters: object) -> list[Edge]:
        rows = self.fetch(statement, **parameters)
        return [(row["from_name"], row["to_name"], row["relation_type"]) for row in rows]

    def _nodes(self, ids: Sequence[int], page: int = 1) -> list[Node]:
        """The entities in the order of their ids, each with a page of its observations."""
        rows = self.fetch(_ENTITIES, ids=ids)
        nodes = {row["id"]: Node(row["name"], row["entity_type"]) for row in rows}
        first = (page - 1) * OBSERVATIONS_PER_PAGE
        left = MAX_CHARACTERS if len(ids) > 1 else MAX_OBSERVATION * OBSERVATIONS_PER_PAGE
        observations = self.fetch(_OBSERVATIONS, ids=ids, first=first, last=first + OBSERVATIONS_PER_PAGE)
        for row in observations:
            node = nodes[row["entity_id"]]
            node.total_observations = row["total"]
            left -= len(row["content"])
            if left >= 0:
                node.observations.append(row["content"])
        return [nodes[key] for key in sorted(nodes)]

    # -- writing ----------------------------------------------------------------------------------------

    # A call may name thousands of things, so each of these asks and writes once for all of them.

    def create_entities(self, entities: Iterable[NewEntity]) -> list[Node]:
        """Add entities of a name, a type and observations; names that exist are left as they are."""
        given: dict[str, NewEntity] = {}
        for name, entity_type, observations in entities:
            _check_text(name, "name", MAX_NAME)
            _check_text(entity_type, "entityType", MAX_NAME)
            given.setdefault(name, (name, entity_type, observations))
        known = self._ids(given)
        new = [entity for name, entity in given.items() if name not in known]
        self._insert(Entity, [{"name": name, "entity_type": kind} for name, kind, _ in new])
        ids = self._ids(name for name, _, _ in new)
        facts = self._observe([(ids[name], observations) for name, _, observations in new])
        return [Node(name, kind, own) for (name, kind, _), own in zip(new, facts, strict=True)]

    def create_relations(self, relations: Iterable[Edge]) -> list[Edge]:
        """Add relations between entities that exist; those that are there are left out of the result."""
        given = list(dict.fromkeys(relations))
        for edge in given:
            for part, what in zip(edge, ("from", "to", "relationType"), strict=True):
                _check_text(part, what, MAX_NAME)
        ids = self._ids(name for edge in given for name in edge[:2])
        for name in (name for edge in given for name in edge[:2]):
            if name not in ids:
                raise NotFound(f"Entity with name {name} not found")
        created = _not_in(self._found(_KNOWN_RELATIONS, given), given)
        self._insert(Relation, [_relation(edge) for edge in created])
        return created

    def add_observations(self, additions: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add observations to entities that exist; returns what was new of each."""
        additions = list(additions)
        ids = self._ids(name for name, _ in additions)
        for name, _ in additions:
            if name not in ids:
                raise NotFound(f"Entity with name {name} not found")
        facts = self._observe([(ids[name], contents) for name, contents in additions])
        return [(name, own) for (name, _), own in zip(additions, facts, strict=True)]

    def delete_entities(self, names: Iterable[str]) -> list[str]:
        """Delete entities and the relations that they have; returns the names that were not there."""
        names = list(names)
        found = self._found(_DELETE_ENTITIES, names) | self._found(_DELETE_RELATIONS_OF, names)
        there = {name for row in found for name in row}
        return _not_in(there, names)

    def delete_observations(self, deletions: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """Delete observations of entities; returns those that were not there."""
        facts = [(name, content) for name, contents in deletions for content in contents]
        ids = self._ids(name for name, _ in facts)
        numbered = [(ids[name], content) for name, content in facts if name in ids]
        names = {number: name for name, number in ids.items()}
        there = {(names[number], content) for number, content in self._found(_DELETE_OBSERVATIONS, numbered)}
        return [f"{name}: {content}" for name, content in _not_in(there, facts)]

    def delete_relations(self, relations: Iterable[Edge]) -> list[str]:
        """Delete relations; returns those that were not there."""
        relations = list(relations)
        there = self._found(_DELETE_RELATIONS, relations)
        return [" - ".join((edge[0], edge[2], edge[1])) for edge in _not_in(there, relations)]

    def _ids(self, names: Iterable[str]) -> dict[str, int]:
        """The entities of these names that there are."""
        return dict(map(tuple, self._found(_IDS, list(names))))

    def _found(self, statement: TextClause, values: Sequence[Any]) -> set[tuple[Any, ...]]:
        """The rows of a statement about many values, given as JSON, of which a text may be in a table."""
        given = json.dumps([value for value in values if _may_be_stored(value)])
        return {tuple(row) for row in self.session.execute(statement, {"given": given})}

    def _insert(self, model: type[Base], rows: Sequence[Mapping[str, Any]]) -> None:
        # Without the bookkeeping of the session, which costs most.
        if rows:
            self.session.connection().execute(insert(model), rows)

    def _observe(self, additions: Sequence[tuple[int, Sequence[str]]]) -> list[list[str]]:
        """Add unknown observations to entities; returns what was new for each."""
        for _, contents in additions:
            for content in contents:
                _check_text(content, "observation", MAX_OBSERVATION)
        facts = [(entity, content) for entity, contents in additions for content in contents]
        known = self._found(_KNOWN_OBSERVATIONS, facts)
        new: list[list[str]] = []
        for entity, contents in additions:
            own = [content for content in dict.fromkeys(contents) if (entity, content) not in known]
            known.update((entity, content) for content in own)
            new.append(own)
        entities = (entity for entity, _ in additions)
        rows = [(entity, content) for entity, own in zip(entities, new, strict=True) for content in own]
        self._insert(Observation, [{"entity_id": entity, "content": content} for entity, content in rows])
        return new

    # -- filling ----------------------------------------------------------------------------------------

    def add_graph(self, entities: Iterable[NewEntity], relations: Iterable[Edge] = ()) -> None:
        """Add many entities (name, type, observations) and relations (from, to, type), all of them new."""
        # Indexing all new text at once takes a fifth of the time of indexing it row by row.
        for table in INDEXED:
            self.session.execute(text(f"DROP TRIGGER {table}_text_insert"))
        self._add_rows(list(entities), list(relations))
        for table in INDEXED:
            self.session.execute(text(f"INSERT INTO {table}_text({table}_text) VALUES ('rebuild')"))
            self.session.execute(text(insert_trigger(table)))

    def _add_rows(self, entities: Sequence[NewEntity], relations: Sequence[Edge]) -> None:
        first = (self.fetch(_LAST_ID)[0]["id"] or 0) + 1
        rows, facts = [], []
        for number, (name, entity_type, observations) in enumerate(entities, start=first):
            _check_text(name, "name", MAX_NAME)
            _check_text(entity_type, "entityType", MAX_NAME)
            rows.append({"id": number, "name": name, "entity_type": entity_type})
            for content in observations:
                _check_text(content, "observation", MAX_OBSERVATION)
                facts.append({"entity_id": number, "content": content})
        for edge in relations:
            for part, what in zip(edge, ("from", "to", "relationType"), strict=True):
                _check_text(part, what, MAX_NAME)
        edges = [_relation(edge) for edge in relations]
        self._insert(Entity, rows)
        self._insert(Observation, facts)
        self._insert(Relation, edges)


def _relation(edge: Edge) -> dict[str, str]:
    return {"from_name": edge[0], "to_name": edge[1], "relation_type": edge[2]}


def _offset(page: int, per_page: int) -> int:
    if not 1 <= page <= 1_000_000:
        raise Invalid(f"page must be 1 or more, got {page}.")
    if not 1 <= per_page <= MAX_PER_PAGE:
        raise Invalid(f"per_page must be between 1 and {MAX_PER_PAGE}, got {per_page}.")
    return (page - 1) * per_page


def _check_text(value: str, what: str, limit: int, *, empty: bool = False) -> None:
    if not value and not empty:
        raise Invalid(f"{what} must not be empty.")
    if len(value) > limit:
        raise Invalid(f"{what} has {len(value):,} characters; at most {limit:,} are allowed.")
    if "\0" in value or not _is_unicode(value):
        raise Invalid(f"{what} contains a character that is not allowed.")


def _not_in(there: Collection[T], wanted: Iterable[T]) -> list[T]:
    """Return the items of ``wanted`` that are missing, in order, counting duplicates."""
    left, missing = set(there), []
    for item in wanted:
        if item in left:
            left.discard(item)
        else:
            missing.append(item)
    return missing


def _may_be_stored(value: str | tuple[Any, ...]) -> bool:
    parts = (value,) if isinstance(value, str) else value
    return all(not isinstance(part, str) or ("\0" not in part and _is_unicode(part)) for part in parts)


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
