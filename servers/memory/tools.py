"""What an agent sees of the memory service."""

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.servers.memory.store import Edge, Graph, MemoryStore, Node
from mesocosm.services.schema import Words
from mesocosm.services.service import Service

server = Service(
    "memory",
    MemoryStore,
    instructions="A knowledge graph that lasts: entities, observations about them, relations between them.",
)


class NewEntity(TypedDict):
    """An entity to create."""

    name: str
    entityType: str
    observations: list[str]


NewRelation = TypedDict("NewRelation", {"from": str, "to": str, "relationType": str})


class Addition(TypedDict):
    """Observations to add to an entity."""

    entityName: str
    contents: list[str]


class Deletion(TypedDict):
    """Observations to delete from an entity."""

    entityName: str
    observations: list[str]


@server.writes
def create_entities(store: MemoryStore, entities: list[NewEntity]) -> list[dict[str, Any]]:
    """Create entities in the graph and return the new ones; entities that exist are left as they are.

    Args:
        entities: The entities, each with a unique name, a type and observations (facts, one each).
    """
    created = store.create_entities((e["name"], e["entityType"], e["observations"]) for e in entities)
    return [_node(node) for node in created]


@server.writes
def create_relations(store: MemoryStore, relations: list[NewRelation]) -> list[dict[str, str]]:
    """Create relations between entities that exist; returns those that are new.

    Args:
        relations: The relations, each from one entity to another, with a type in active voice (works_at).
    """
    return [_relation(edge) for edge in store.create_relations(map(_edge, relations))]


@server.writes
def add_observations(store: MemoryStore, observations: list[Addition]) -> list[dict[str, Any]]:
    """Add observations to entities that exist; returns what was new of each.

    Args:
        observations: The entities' names with the contents to add.
    """
    added = store.add_observations((o["entityName"], o["contents"]) for o in observations)
    return [{"entityName": name, "addedObservations": contents} for name, contents in added]


@server.writes(destructive=True, idempotent=True)
def delete_entities(store: MemoryStore, entityNames: list[str]) -> str:  # noqa: N803
    """Delete entities and all relations that they have.

    Args:
        entityNames: Names of the entities.
    """
    return _deleted("Entities", store.delete_entities(entityNames))


@server.writes(destructive=True, idempotent=True)
def delete_observations(store: MemoryStore, deletions: list[Deletion]) -> str:
    """Delete observations of entities.

    Args:
        deletions: The entities' names with the observations to delete, word for word.
    """
    missing = store.delete_observations((d["entityName"], d["observations"]) for d in deletions)
    return _deleted("Observations", missing)


@server.writes(destructive=True, idempotent=True)
def delete_relations(store: MemoryStore, relations: list[NewRelation]) -> str:
    """Delete relations.

    Args:
        relations: The relations to delete, given in full.
    """
    return _deleted("Relations", store.delete_relations(map(_edge, relations)))


@server.reads(long=True)
def read_graph(store: MemoryStore, page: int = 1, per_page: int = 100) -> dict[str, Any]:
    """Read the graph: its entities with their observations, and its relations.

    A large graph comes in pages; next_page and the totals are returned while there are more.

    Args:
        page: Page of entities and of relations, from 1.
        per_page: Entities, and relations, per page, 1 to 100.
    """
    return _graph(store.graph(page, per_page), page)


@server.reads(long=True)
def search_nodes(store: MemoryStore, query: Words, page: int = 1, per_page: int = 100) -> dict[str, Any]:
    """Find entities whose name, type or observations contain a text, and all relations that they have.

    Args:
        query: The text, in any case.
        page: Page of the entities, from 1.
        per_page: Entities per page, 1 to 100.
    """
    return _graph(store.search(query, page, per_page), page)


@server.reads(long=True)
def open_nodes(store: MemoryStore, names: list[str], page: int = 1) -> dict[str, Any]:
    """Read entities by name, and all relations that they have. Names that do not exist are left out.

    Args:
        names: Names of the entities.
        page: Page of the observations of each entity (50 per page), from 1.
    """
    return _graph(store.open(names, page), page)


def _graph(graph: Graph, page: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "entities": [_node(node) for node in graph.nodes],
        "relations": [_relation(edge) for edge in graph.edges],
    }
    if graph.has_more:
        shown["total_entities"] = graph.total_entities
        if graph.total_relations is not None:
            shown["total_relations"] = graph.total_relations
        shown["next_page"] = page + 1
    return shown


def _node(node: Node) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": node.name,
        "entityType": node.entity_type,
        "observations": node.observations,
    }
    if node.total_observations > len(node.observations):
        shown["total_observations"] = node.total_observations
    return shown


def _relation(edge: Edge) -> dict[str, str]:
    return {"from": edge[0], "to": edge[1], "relationType": edge[2]}


def _edge(relation: NewRelation) -> Edge:
    return relation["from"], relation["to"], relation["relationType"]


def _deleted(what: str, missing: list[str]) -> str:
    """What was done; what was not there is said, though the product passes over it."""
    if not missing:
        return f"{what} deleted successfully"
    shown = ", ".join(missing[:20]) + (f" and {len(missing) - 20} more" if len(missing) > 20 else "")
    return f"{what} deleted; not found: {shown}"
