"""Spaces and folders; moving, renaming and the trash."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.services.calling import ToolError


def names(listing: dict[str, Any]) -> list[str]:
    return [item["name"] for item in listing["items"]]


def test_spaces_that_can_be_seen_are_listed_the_personal_one_first(documents: Any) -> None:
    spaces = documents("list_spaces")
    assert [(s["name"], s["role"]) for s in spaces["spaces"]] == [
        ("My documents", "owner"),
        ("Research", "editor"),
    ]
    assert spaces["total"] == 2
    assert spaces["spaces"][0]["personal"] is True


def test_a_new_space_belongs_to_its_maker(documents: Any) -> None:
    made = documents("create_space", name="Lab", description="Tests")
    assert (made["kind"], made["role"]) == ("space", "owner")
    documents.sign_in("bob@example.org")
    assert "Lab" not in [s["name"] for s in documents("list_spaces")["spaces"]]


def test_a_folder_lists_folders_before_documents(documents: Any, folder: Any) -> None:
    documents("create_document", title="A note", content="x", folder_id="research")
    root = documents("list_folder", folder_id="research")
    assert names(root) == ["Papers", "Plans", "A note"]
    first = documents("list_folder", folder_id="research", per_page=2)
    second = documents("list_folder", folder_id="research", per_page=2, page=first["next_page"])
    assert names(first) + names(second) == names(root)
    assert documents("list_folder", folder_id=folder("Plans"))["path"] == "Research/Plans"
    assert documents("list_folder")["path"] == "My documents"


def test_folders_are_made_in_folders(documents: Any, folder: Any) -> None:
    made = documents("create_folder", name="2026", parent_id=folder("Plans"))
    assert made["path"] == "Research/Plans/2026"


def test_folders_nest_only_so_deep(documents: Any) -> None:
    parent = None
    for level in range(20):
        parent = documents("create_folder", name=str(level), **({"parent_id": parent} if parent else {}))[
            "id"
        ]
    with pytest.raises(ToolError, match="20 deep"):
        documents("create_folder", name="too deep", parent_id=parent)


def test_items_can_be_renamed(documents: Any, folder: Any) -> None:
    assert documents("rename_item", item_id="roadmap", name="Road map")["name"] == "Road map"
    documents("rename_item", item_id=folder("Plans"), name="Ideas")
    assert documents("get_document", file_id="roadmap")["path"] == "Research/Ideas/2025/Road map"


def test_only_the_owner_renames_a_space(documents: Any) -> None:
    with pytest.raises(ToolError, match="need the role owner"):
        documents("rename_item", item_id="research", name="Mine")


def test_a_folder_moves_with_all_that_is_in_it(documents: Any, folder: Any) -> None:
    mine = documents("get_current_user")["personal_space_id"]
    documents("move_item", item_id=folder("Plans"), destination_id=mine)
    assert documents("get_document", file_id="roadmap")["path"] == "My documents/Plans/2025/Roadmap"
    assert names(documents("list_folder", folder_id="research")) == ["Papers"]
    documents.sign_in("bob@example.org")
    assert documents("get_document", file_id="roadmap")["role"] == "owner"


def test_a_document_moves_between_folders(documents: Any, folder: Any) -> None:
    moved = documents("move_item", item_id="roadmap", destination_id=folder("Papers"))
    assert moved["path"] == "Research/Papers/Roadmap"


def test_a_folder_does_not_move_into_itself(documents: Any, folder: Any) -> None:
    inner = documents("list_folder", folder_id=folder("Plans"))["items"][0]["id"]
    for target in (inner, folder("Plans")):
        with pytest.raises(ToolError, match="into itself"):
            documents("move_item", item_id=folder("Plans"), destination_id=target)


def test_a_deleted_document_is_in_the_trash_until_it_is_restored(documents: Any) -> None:
    assert (
        documents("delete_item", item_id="roadmap") == "Moved the document 'Roadmap' (roadmap) to the trash."
    )
    with pytest.raises(ToolError, match="in the trash; restore_item brings it back"):
        documents("read_document", file_id="roadmap")
    assert documents("search_documents", query="ship")["total"] == 0
    assert names(documents("list_trash")) == ["Roadmap"]
    assert documents("get_document", file_id="roadmap")["trashed_at"] == "2025-01-15T09:00:01Z"
    assert documents("restore_item", item_id="roadmap")["path"] == "Research/Plans/2025/Roadmap"
    assert documents("search_documents", query="ship")["total"] == 1
    assert documents("list_trash")["total"] == 0


def test_a_deleted_folder_takes_what_is_in_it_and_brings_it_back(documents: Any, folder: Any) -> None:
    documents("delete_item", item_id="v4%-7")
    plans = folder("Plans")
    documents("delete_item", item_id=plans)
    assert sorted(names(documents("list_trash"))) == ["Minutes", "Plans"]
    with pytest.raises(ToolError, match="restore that folder"):
        documents("restore_item", item_id="roadmap")
    with pytest.raises(ToolError, match="restore that folder first"):
        documents("restore_item", item_id="v4%-7")
    documents("restore_item", item_id=plans)
    assert documents("read_document", file_id="roadmap").startswith("Ship")
    assert names(documents("list_trash")) == ["Minutes"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("list_folder", {"folder_id": "nope"}, "Folder not found: nope"),
        ("list_folder", {"folder_id": "roadmap"}, "Folder not found"),
        ("list_folder", {"page": 2**63 - 1}, "page must be"),
        ("list_spaces", {"per_page": 0}, "per_page must be"),
        ("create_space", {"name": ""}, "name must be one line"),
        ("create_space", {"name": "x", "description": "x" * 2001}, "too long"),
        ("create_folder", {"name": "a\nb"}, "name must be one line"),
        ("create_folder", {"name": "x", "parent_id": "hidden"}, "Folder not found"),
        ("rename_item", {"item_id": "nope", "name": "x"}, "Item not found: nope"),
        ("rename_item", {"item_id": "roadmap", "name": " "}, "name must be one line"),
        ("move_item", {"item_id": "research", "destination_id": "research"}, "need the role|cannot be moved"),
        ("move_item", {"item_id": "roadmap", "destination_id": "site"}, "Folder not found: site"),
        ("delete_item", {"item_id": "secret"}, "Item not found: secret"),
        ("delete_item", {"item_id": "research"}, "A space cannot be deleted"),
        ("restore_item", {"item_id": "roadmap"}, "not in the trash"),
        ("list_trash", {"page": -1}, "page must be"),
    ],
)
def test_bad_calls_on_items_are_refused_without_a_trace(
    documents: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = documents.state()
    with pytest.raises(ToolError, match=message):
        documents(tool, **arguments)
    assert documents.state() == before
