"""The knowledge graph."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.memory.store import MemoryStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes Été", "is 30% taller"]}
BOB = {"name": "Bob", "entityType": "person", "observations": []}
ACME = {"name": "Acme", "entityType": "company", "observations": ["makes anvils"]}
WORKS = {"from": "Ann", "to": "Acme", "relationType": "works_at"}
KNOWS = {"from": "Ann", "to": "Bob", "relationType": "knows"}


def fill(world: World) -> None:
    world.store(MemoryStore).add_graph(
        [(e["name"], e["entityType"], e["observations"]) for e in (ANN, BOB, ACME)],  # type: ignore[misc]
        [("Ann", "Acme", "works_at"), ("Ann", "Bob", "knows")],
    )


@pytest.fixture
def tools(open_tools: Any) -> Any:
    return open_tools(fill, "memory")


def call(tools: Any, tool: str, **arguments: Any) -> Any:
    return tools.call("memory", tool, **arguments)


def test_the_graph_is_read_in_the_order_in_which_it_was_written(tools: Any) -> None:
    assert call(tools, "read_graph") == {"entities": [ANN, BOB, ACME], "relations": [WORKS, KNOWS]}


def test_a_large_graph_comes_in_pages(tools: Any) -> None:
    names = [(f"n{number}", "t", ["fact"]) for number in range(250)]
    with tools.world.editing():
        tools.world.store(MemoryStore).add_graph(names, [("n0", f"n{number}", "r") for number in range(120)])

    seen, relations, page = [], [], 1
    while page:
        result = call(tools, "read_graph", page=page)
        seen += [entity["name"] for entity in result["entities"]]
        relations += result["relations"]
        page = result.get("next_page")

    assert len(seen) == len(set(seen)) == 253
    assert len(relations) == 122


def test_entities_are_created_once(tools: Any) -> None:
    eve = {"name": "Eve", "entityType": "person", "observations": ["x", "x"]}

    created = call(tools, "create_entities", entities=[eve, eve, ANN | {"observations": ["other"]}])

    assert created == [eve | {"observations": ["x"]}]
    assert call(tools, "open_nodes", names=["Ann"])["entities"] == [ANN]


def test_relations_are_created_once_and_only_between_what_is_there(tools: Any) -> None:
    nowhere = {"from": "Bob", "to": "Zed", "relationType": "waits_for"}
    later = nowhere | {"to": "Acme"}
    with pytest.raises(ToolError, match="Entity with name Zed not found"):
        call(tools, "create_relations", relations=[later, nowhere])

    assert call(tools, "create_relations", relations=[later, later, KNOWS]) == [later]
    assert later in call(tools, "read_graph")["relations"]


def test_observations_are_added_once(tools: Any) -> None:
    added = call(
        tools, "add_observations", observations=[{"entityName": "Acme", "contents": ["makes anvils", "old"]}]
    )

    assert added == [{"entityName": "Acme", "addedObservations": ["old"]}]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("ANVIL", ["Acme"]),
        ("été", ["Ann"]),
        ("PERSON", ["Ann", "Bob"]),
        ("30% t", ["Ann"]),
        ("o", ["Ann", "Bob", "Acme"]),
        ('"', []),
        ("", ["Ann", "Bob", "Acme"]),
    ],
)
def test_nodes_are_found_by_any_part_of_their_text(tools: Any, query: str, names: list[str]) -> None:
    found = call(tools, "search_nodes", query=query)["entities"]

    assert [entity["name"] for entity in found] == names


def test_all_relations_of_the_nodes_that_were_opened_are_shown(tools: Any) -> None:
    result = call(tools, "open_nodes", names=["Bob", "Ann", "Nobody"])

    assert result == {"entities": [ANN, BOB], "relations": [WORKS, KNOWS]}
    assert call(tools, "search_nodes", query="company") == {"entities": [ACME], "relations": [WORKS]}


def test_an_entity_with_many_observations_is_shown_in_parts(tools: Any) -> None:
    facts = [f"fact {number}" for number in range(120)]
    call(tools, "add_observations", observations=[{"entityName": "Bob", "contents": facts}])

    pages = [
        call(tools, "open_nodes", names=["Bob"], page=page)["entities"][0]["observations"]
        for page in (1, 2, 3)
    ]

    assert [fact for page in pages for fact in page] == facts
    assert call(tools, "search_nodes", query="fact 7")["entities"][0]["total_observations"] == 120


def test_deleting_an_entity_takes_its_observations_and_relations_along(tools: Any) -> None:
    assert call(tools, "delete_entities", entityNames=["Ann"]) == "Entities deleted successfully"

    assert call(tools, "read_graph") == {"entities": [BOB, ACME], "relations": []}
    assert call(tools, "search_nodes", query="Été")["entities"] == []


def test_observations_and_relations_are_deleted(tools: Any) -> None:
    deletions = [{"entityName": "Acme", "observations": ["makes anvils"]}]
    assert call(tools, "delete_observations", deletions=deletions) == "Observations deleted successfully"
    assert call(tools, "delete_relations", relations=[KNOWS]) == "Relations deleted successfully"

    graph = call(tools, "read_graph")
    assert graph["entities"][2]["observations"] == []
    assert graph["relations"] == [WORKS]


def test_deleting_what_is_not_there_succeeds_and_says_so(tools: Any) -> None:
    assert call(tools, "delete_entities", entityNames=["Bob", "X"]) == "Entities deleted; not found: X"
    deletions = [{"entityName": "X", "observations": ["y"]}]
    assert call(tools, "delete_observations", deletions=deletions) == "Observations deleted; not found: X: y"
    gone = [WORKS | {"to": "X"}]
    text = call(tools, "delete_relations", relations=gone)
    assert text == "Relations deleted; not found: Ann - works_at - X"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (
            "create_entities",
            {"entities": [BOB | {"name": "New"}, BOB | {"name": ""}]},
            "name must not be empty",
        ),
        ("create_entities", {"entities": [BOB | {"name": "x" * 1_001}]}, "at most 1,000"),
        ("create_entities", {"entities": [{"name": "x"}]}, "entityType"),
        ("create_relations", {"relations": [KNOWS | {"to": ""}]}, "to must not be empty"),
        (
            "add_observations",
            {"observations": [{"entityName": n, "contents": ["new"]} for n in ("Ann", "Nobody")]},
            "Entity with name Nobody not found",
        ),
        (
            "add_observations",
            {"observations": [{"entityName": "Ann", "contents": [""]}]},
            "must not be empty",
        ),
        ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["a\0"]}]}, "not allowed"),
        ("delete_entities", {"entityNames": "Ann"}, "array"),
        ("delete_observations", {"deletions": [{"entityName": "Ann"}]}, "observations"),
        ("delete_relations", {"relations": [{"from": "Ann"}]}, "to"),
        ("read_graph", {"page": 0}, "page must be 1 or more"),
        ("read_graph", {"per_page": 101}, "between 1 and 100"),
        ("search_nodes", {"query": "x", "page": 10**18}, "page must be"),
        ("search_nodes", {"query": "a\0"}, "not allowed"),
        ("open_nodes", {"names": ["x"] * 101}, "At most 100 nodes"),
    ],
)
def test_bad_arguments_are_refused_and_leave_no_trace(
    tools: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = call(tools, "read_graph")

    with pytest.raises(ToolError, match=message):
        call(tools, tool, **arguments)

    assert call(tools, "read_graph") == before
