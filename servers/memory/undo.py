"""Undoing changes to the graph."""

from __future__ import annotations

from mesocosm.services.undo import Done, ToolCall


def _entities(done: Done) -> list[ToolCall]:
    names = [entity["name"] for entity in done.value]
    return [("delete_entities", {"entityNames": names})] if names else []


def _observations(done: Done) -> list[ToolCall]:
    added = [
        {"entityName": one["entityName"], "observations": one["addedObservations"]}
        for one in done.value
        if one["addedObservations"]
    ]
    return [("delete_observations", {"deletions": added})] if added else []


def _relations(done: Done) -> list[ToolCall]:
    return [("delete_relations", {"relations": done.value})] if done.value else []


UNDO = {
    "create_entities": _entities,
    "add_observations": _observations,
    "create_relations": _relations,
}
