"""Roles: what each may do, and where they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.calling import ToolError

CY = "cy@example.org"


@pytest.fixture
def as_cy(documents: Any) -> Callable[[str, str], None]:
    """Give Cy a role on an item and sign in as Cy."""

    def give(item_id: str, role: str) -> None:
        with documents.tools.world.editing() as world:
            store = world.store(DocumentsStore)
            store.sharing.give(item_id, CY, role)
            store.sign_in(CY)

    return give


READ = ("read_document", {"file_id": "roadmap"})
COMMENT = ("add_comment", {"file_id": "roadmap", "text": "Hm"})
WRITE = ("append_to_document", {"file_id": "roadmap", "content": "x"})
SHARE = ("share_item", {"item_id": "roadmap", "email": "ada@example.org", "role": "viewer"})


@pytest.mark.parametrize(("role", "allowed"), [("viewer", 1), ("commenter", 2), ("editor", 3), ("owner", 4)])
def test_a_role_allows_what_the_lesser_ones_do_and_one_thing_more(
    documents: Any, as_cy: Any, role: str, allowed: int
) -> None:
    as_cy("roadmap", role)
    calls = (READ, COMMENT, WRITE, SHARE)
    for tool, arguments in calls[:allowed]:
        documents(tool, **arguments)
    before = documents.state()
    for tool, arguments in calls[allowed:]:
        with pytest.raises(ToolError, match=f"You need the role .* you are {role}"):
            documents(tool, **arguments)
    assert documents.state() == before


def test_roles_are_inherited_from_folders_and_spaces(documents: Any, folder: Any, as_cy: Any) -> None:
    as_cy(folder("Plans"), "viewer")
    assert documents("read_document", file_id="roadmap").startswith("Ship")
    assert [d["id"] for d in documents("search_documents", query="ship")["results"]] == ["roadmap"]
    with pytest.raises(ToolError, match="File not found"):
        documents("read_document", file_id="site")
    as_cy("research", "editor")
    assert documents("get_document", file_id="roadmap")["role"] == "editor"


def test_who_has_a_role_is_listed_with_where_it_comes_from(documents: Any, as_cy: Any) -> None:
    as_cy("roadmap", "owner")
    documents("share_item", item_id="roadmap", email="anyone", role="viewer")
    listed = documents("list_permissions", item_id="roadmap")["permissions"]
    assert [(p["email"][:3], p["role"], p["inherited"]) for p in listed] == [
        ("bob", "owner", True),
        ("cy@", "owner", False),
        ("ada", "editor", True),
        ("any", "viewer", False),
    ]


def test_a_role_can_be_changed_and_taken_back(documents: Any) -> None:
    documents.sign_in("bob@example.org")
    documents("share_item", item_id="roadmap", email=CY, role="editor")
    documents("share_item", item_id="roadmap", email=CY, role="viewer")
    assert len(documents("list_permissions", item_id="roadmap")["permissions"]) == 3
    documents("unshare_item", item_id="roadmap", email=CY)
    documents.sign_in(CY)
    with pytest.raises(ToolError, match="File not found"):
        documents("read_document", file_id="roadmap")


def test_everybody_can_be_given_a_role(documents: Any) -> None:
    documents.sign_in("bob@example.org")
    documents("share_item", item_id="research", email="anyone", role="commenter")
    documents.sign_in(CY)
    assert "Research" in [space["name"] for space in documents("list_spaces")["spaces"]]
    assert documents("get_document", file_id="site")["role"] == "commenter"


def test_users_can_be_found(documents: Any) -> None:
    assert documents("get_current_user")["email"] == "ada@example.org"
    listed = documents("list_users", per_page=2)
    assert [user["name"] for user in listed["users"]] == ["Ada", "Bob"]
    assert listed["next_page"] == 2


def test_nobody_signed_in_reads_nothing(open_tools: Callable[..., Any]) -> None:
    tools = open_tools(
        lambda world: world.store(DocumentsStore).items.create_user("ada@example.org", "Ada"), "documents"
    )
    for tool in ("list_spaces", "list_folder", "list_users"):
        with pytest.raises(ToolError, match="not signed in"):
            tools.call("documents", tool)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (
            "share_item",
            {"item_id": "roadmap", "email": "eve@example.org", "role": "viewer"},
            "User not found",
        ),
        ("share_item", {"item_id": "roadmap", "email": "eve", "role": "viewer"}, "Not an e-mail address"),
        ("share_item", {"item_id": "roadmap", "email": CY, "role": "boss"}, "must be one of"),
        ("share_item", {"item_id": "roadmap", "email": "anyone", "role": "owner"}, "Not everybody"),
        (
            "share_item",
            {"item_id": "roadmap", "email": "bob@example.org", "role": "viewer"},
            "keeps the role owner",
        ),
        ("unshare_item", {"item_id": "roadmap", "email": CY}, "was given no role"),
        ("unshare_item", {"item_id": "research", "email": "bob@example.org"}, "keeps the role owner"),
        ("list_permissions", {"item_id": "nope"}, "Item not found"),
        ("list_users", {"page": 0}, "page must be"),
    ],
)
def test_bad_sharing_is_refused_without_a_trace(
    documents: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    documents.sign_in("bob@example.org")
    before = documents.state()
    with pytest.raises(ToolError, match=message):
        documents(tool, **arguments)
    assert documents.state() == before
