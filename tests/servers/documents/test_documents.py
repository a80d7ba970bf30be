"""Reading, making and changing documents, and their versions."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.calling import ToolError


def test_a_short_document_is_read_as_its_bare_text(documents: Any) -> None:
    assert [block.text for block in documents.blocks("read_document", file_id="v4%-7")] == [
        "Read the document v3%X."
    ]


def test_a_long_document_is_read_in_stretches(documents: Any) -> None:
    text = "".join(chr(97 + n % 26) for n in range(45_000)) + "é"
    made = documents("create_document", title="Long", content=text)["id"]
    collected, offset = "", 0
    while offset is not None:
        first, *more = documents.blocks("read_document", file_id=made, offset=offset)
        collected += first.text
        where = orjson.loads(more[0].text)
        assert where["total"] == 45_001
        offset = where["next_offset"]
    assert collected == text


def test_lines_can_be_read(documents: Any) -> None:
    first, where = documents.blocks("read_document", file_id="roadmap", unit="lines", offset=1, limit=1)
    assert first.text == "Test the loom."
    assert orjson.loads(where.text) == {"unit": "lines", "offset": 1, "next_offset": 2, "total": 3}


def test_an_empty_document_reads_as_nothing(documents: Any) -> None:
    made = documents("create_document", title="Empty", content="")["id"]
    assert documents("read_document", file_id=made) == ""
    assert documents("read_document", file_id=made, unit="lines") == ""


def test_what_a_document_is(documents: Any) -> None:
    about = documents("get_document", file_id="roadmap")
    assert about["path"] == "Research/Plans/2025/Roadmap"
    assert (about["type"], about["mime_type"], about["role"]) == ("text", "text/plain", "editor")
    assert (about["version"], about["characters"], about["owner"]) == (1, 36, "bob@example.org")


def test_new_documents_get_opaque_ids_and_lie_where_they_should(documents: Any, folder: Any) -> None:
    made = documents(
        "create_document", title="Note", content="# Hi", type="markdown", folder_id=folder("Plans")
    )
    assert len(made["id"]) == 20
    assert documents("get_document", file_id=made["id"])["path"] == "Research/Plans/Note"
    mine = documents("create_document", title="Note", content="x")
    assert documents("get_document", file_id=mine["id"])["path"] == "My documents/Note"


def test_every_change_of_the_text_makes_a_version(documents: Any) -> None:
    documents("update_document", file_id="roadmap", content="New plan")
    documents("append_to_document", file_id="roadmap", content="and more")
    edited = documents("edit_document", file_id="roadmap", old_text="plan", new_text="road")
    assert (edited["version"], edited["replaced"]) == (4, 1)
    assert documents("read_document", file_id="roadmap") == "New road\nand more"
    listed = documents("list_versions", file_id="roadmap")
    assert [(v["version"], v["created_by"][:3]) for v in listed["versions"]] == [
        (4, "ada"),
        (3, "ada"),
        (2, "ada"),
        (1, "bob"),
    ]
    assert documents("read_version", file_id="roadmap", version=1).startswith("Ship the loom.")
    assert documents("read_version", file_id="roadmap", version=3) == "New plan\nand more"


def test_an_earlier_version_can_be_restored(documents: Any) -> None:
    documents("update_document", file_id="roadmap", content="Oops")
    assert documents("restore_version", file_id="roadmap", version=1)["version"] == 3
    assert documents("read_document", file_id="roadmap").startswith("Ship the loom.")
    assert documents("read_version", file_id="roadmap", version=2) == "Oops"


def test_writing_the_same_text_again_makes_no_version(documents: Any) -> None:
    documents("update_document", file_id="roadmap", content="Same")
    before = documents.state()
    assert documents("update_document", file_id="roadmap", content="Same")["version"] == 2
    # Only the number of the call in the file's header differs.
    assert documents.state()[100:] == before[100:]


def test_an_update_can_depend_on_the_version_that_was_read(documents: Any) -> None:
    documents("update_document", file_id="roadmap", content="A", expected_version=1)
    with pytest.raises(ToolError, match="at version 2, not 1"):
        documents("update_document", file_id="roadmap", content="B", expected_version=1)
    assert documents("read_document", file_id="roadmap") == "A"


def test_what_would_be_too_long_is_refused_before_it_is_made(documents: Any) -> None:
    made = documents("create_document", title="Long", content="a" * 4_000_000)["id"]
    with pytest.raises(ToolError, match="more than 5000000 characters"):
        documents("edit_document", file_id=made, old_text="a", new_text="b" * 4_000_000, replace_all=True)


def test_all_occurrences_can_be_replaced(documents: Any) -> None:
    with pytest.raises(ToolError, match="occurs 2 times"):
        documents("edit_document", file_id="roadmap", old_text="loom", new_text="wheel")
    done = documents("edit_document", file_id="roadmap", old_text="loom", new_text="wheel", replace_all=True)
    assert done["replaced"] == 2
    assert documents("read_document", file_id="roadmap") == "Ship the wheel.\nTest the wheel.\nRest.\n"


def test_a_copy_stands_alone(documents: Any) -> None:
    copy = documents("copy_document", file_id="roadmap")
    assert copy["title"] == "Copy of Roadmap"
    assert documents("get_document", file_id=copy["id"])["path"] == "Research/Plans/2025/Copy of Roadmap"
    documents("update_document", file_id=copy["id"], content="Changed")
    assert documents("read_document", file_id="roadmap").startswith("Ship")


def test_files_come_from_the_workspace_and_go_there(documents: Any) -> None:
    documents("download_file", file_id="roadmap", path="out/roadmap.md")
    made = documents("upload_file", path="/workspace/out/roadmap.md")
    assert (made["title"], made["type"]) == ("roadmap.md", "markdown")
    assert documents("read_document", file_id=made["id"]) == documents("read_document", file_id="roadmap")


def test_the_last_changed_documents_are_listed_first(documents: Any) -> None:
    documents("update_document", file_id="site", content="<p>New</p>")
    recent = documents("list_recent_documents")
    assert recent["documents"][0]["id"] == "site"
    assert {d["id"] for d in recent["documents"]} == {"site", "roadmap", "v4%-7", "shapes"}
    assert documents("list_recent_documents", type="html")["total"] == 1
    assert documents("list_recent_documents", updated_after="2025-01-15T09:00:00Z")["total"] == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("read_document", {"file_id": "v9%3"}, "File not found: v9%3"),
        ("read_document", {"file_id": "secret"}, "File not found: secret"),
        ("read_document", {"file_id": "research"}, "File not found: research"),
        ("read_document", {"file_id": "roadmap", "offset": -1}, "offset must be 0 or more"),
        (
            "read_document",
            {"file_id": "roadmap", "offset": 36},
            "beyond the end: the document has 36 characters",
        ),
        ("read_document", {"file_id": "roadmap", "offset": 3, "unit": "lines"}, "has 3 lines"),
        ("read_document", {"file_id": "roadmap", "limit": 0}, "limit must be between 1 and 100000"),
        ("read_document", {"file_id": "roadmap", "offset": 2**63 - 1}, "offset must be"),
        ("get_document", {"file_id": ""}, "File not found"),
        ("read_version", {"file_id": "roadmap", "version": 2}, "has the versions 1 to 1"),
        ("restore_version", {"file_id": "roadmap", "version": 0}, "Version not found"),
        ("list_versions", {"file_id": "roadmap", "page": 0}, "page must be 1 or more"),
        ("create_document", {"title": " ", "content": "x"}, "title must be one line"),
        ("create_document", {"title": "x", "content": "a\x00b"}, "characters that text cannot hold"),
        ("create_document", {"title": "x", "content": "x", "type": "image"}, "must be one of"),
        ("create_document", {"title": "x", "content": "x", "folder_id": "hidden"}, "Folder not found"),
        ("update_document", {"file_id": "nope", "content": "x"}, "File not found"),
        ("append_to_document", {"file_id": "roadmap", "content": ""}, "nothing to append"),
        ("edit_document", {"file_id": "roadmap", "old_text": "zebra", "new_text": "x"}, "does not occur"),
        ("edit_document", {"file_id": "roadmap", "old_text": "", "new_text": "x"}, "old_text is empty"),
        ("edit_document", {"file_id": "roadmap", "old_text": "x", "new_text": "x"}, "are the same"),
        (
            "edit_document",
            {"file_id": "roadmap", "old_text": "e", "new_text": "x" * 4_999_999, "replace_all": True},
            "more than 5000000 characters",
        ),
        ("copy_document", {"file_id": "roadmap", "title": ""}, "title must be one line"),
        ("upload_file", {"path": "nope.txt"}, "No such file"),
        ("download_file", {"file_id": "roadmap", "path": "../out"}, "outside"),
        ("list_recent_documents", {"updated_after": "soon"}, "must be a time"),
        ("list_recent_documents", {"per_page": 101}, "per_page must be between 1 and 100"),
    ],
)
def test_bad_arguments_are_refused_without_a_trace(
    documents: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = documents.state()
    with pytest.raises(ToolError, match=message):
        documents(tool, **arguments)
    assert documents.state() == before


def test_a_line_that_is_too_long_is_refused(documents: Any) -> None:
    made = documents("create_document", title="Wide", content="x" * 200_000)["id"]
    with pytest.raises(ToolError, match="read by characters"):
        documents("read_document", file_id=made, unit="lines")


def test_a_generator_keeps_to_the_rules_of_the_tools(documents: Any) -> None:
    store = documents.tools.world.store(DocumentsStore)
    taken = {"title": "x", "content": "x", "file_id": "research"}
    for bad, message in (
        (taken, "in use already"),
        ({"title": "x", "content": "x", "owner": "eve@example.org"}, "no user"),
        ({"title": "x", "content": "x", "type": "pdf"}, "type must be one of"),
        ({"title": "a\nb", "content": "x"}, "one line"),
        ({"title": "x", "content": "x", "created_at": "soon"}, "must be a time"),
    ):
        with pytest.raises(Exception, match=message):
            store.filling.add_documents("research", [bad])
