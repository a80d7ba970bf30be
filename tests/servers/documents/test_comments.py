"""Comments: threads, replies, resolving, deleting."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.calling import ToolError


@pytest.fixture
def comment(documents: Any) -> str:
    """The id of a comment of Ada's on a passage of the roadmap."""
    made: str = documents("add_comment", file_id="roadmap", text="Which one?", quoted_text="the loom")["id"]
    return made


def test_a_thread_is_listed_with_its_replies(documents: Any, comment: str) -> None:
    documents.sign_in("bob@example.org")
    reply = documents("reply_to_comment", comment_id=comment, text="The big one")
    documents("reply_to_comment", comment_id=reply["id"], text="Really")
    [thread] = documents("list_comments", file_id="roadmap")["comments"]
    assert (thread["text"], thread["quoted_text"], thread["reply_count"]) == ("Which one?", "the loom", 2)
    assert [(r["author"], r["text"]) for r in thread["replies"]] == [
        ("bob@example.org", "The big one"),
        ("bob@example.org", "Really"),
    ]
    assert documents("list_replies", comment_id=comment, per_page=1)["total"] == 2


def test_a_settled_thread_can_be_left_out_and_opened_again(documents: Any, comment: str) -> None:
    assert documents("get_document", file_id="roadmap")["open_comments"] == 1
    assert documents("resolve_comment", comment_id=comment) == {"id": comment, "resolved": True}
    assert documents("list_comments", file_id="roadmap", include_resolved=False)["total"] == 0
    [thread] = documents("list_comments", file_id="roadmap")["comments"]
    assert (thread["resolved"], thread["resolved_by"]) == (True, "ada@example.org")
    with pytest.raises(ToolError, match="resolved already"):
        documents("resolve_comment", comment_id=comment)
    assert documents("resolve_comment", comment_id=comment, resolved=False)["resolved"] is False
    assert documents("get_document", file_id="roadmap")["open_comments"] == 1


def test_a_long_thread_shows_only_its_first_replies(documents: Any, comment: str) -> None:
    with documents.tools.world.editing() as world:
        replies = [{"author": "bob@example.org", "text": str(n)} for n in range(15)]
        given = [{"author": "bob@example.org", "text": "Long", "replies": replies}]
        world.store(DocumentsStore).filling.add_comments("roadmap", given)
    [_, thread] = documents("list_comments", file_id="roadmap")["comments"]
    assert (thread["reply_count"], len(thread["replies"])) == (15, 10)
    rest = documents("list_replies", comment_id=thread["id"], per_page=10, page=2)
    assert [reply["text"] for reply in rest["replies"]] == ["10", "11", "12", "13", "14"]


def test_a_deleted_thread_is_gone_with_its_replies(documents: Any, comment: str) -> None:
    reply = documents("reply_to_comment", comment_id=comment, text="x")["id"]
    documents("delete_comment", comment_id=comment)
    assert documents("list_comments", file_id="roadmap")["total"] == 0
    with pytest.raises(ToolError, match="Comment not found"):
        documents("delete_comment", comment_id=reply)


def test_only_author_and_owner_delete_a_comment(documents: Any, comment: str) -> None:
    documents.sign_in("bob@example.org")
    theirs = documents("add_comment", file_id="roadmap", text="Mine")["id"]
    documents("delete_comment", comment_id=comment)
    documents.sign_in("ada@example.org")
    with pytest.raises(ToolError, match="Only its author and the document's owner"):
        documents("delete_comment", comment_id=theirs)


def test_comments_of_hidden_documents_are_not_found(documents: Any, comment: str) -> None:
    documents.sign_in("cy@example.org")
    for tool, more in (("reply_to_comment", {"text": "x"}), ("list_replies", {}), ("resolve_comment", {})):
        with pytest.raises(ToolError, match="Comment not found"):
            documents(tool, comment_id=comment, **more)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("add_comment", {"file_id": "nope", "text": "x"}, "File not found"),
        ("add_comment", {"file_id": "roadmap", "text": " "}, "needs a text"),
        ("add_comment", {"file_id": "roadmap", "text": "x", "quoted_text": "zebra"}, "does not occur"),
        ("add_comment", {"file_id": "roadmap", "text": "x" * 10_001}, "too long"),
        ("reply_to_comment", {"comment_id": "nope", "text": "x"}, "Comment not found"),
        ("resolve_comment", {"comment_id": "", "resolved": False}, "Comment not found"),
        ("delete_comment", {"comment_id": "nope"}, "Comment not found"),
        ("list_comments", {"file_id": "roadmap", "page": 0}, "page must be"),
        ("list_replies", {"comment_id": "nope"}, "Comment not found"),
    ],
)
def test_bad_comments_are_refused_without_a_trace(
    documents: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = documents.state()
    with pytest.raises(ToolError, match=message):
        documents(tool, **arguments)
    assert documents.state() == before
