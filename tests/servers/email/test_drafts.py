"""Drafts."""

import pytest

from mesocosm.services.calling import ToolError


def test_save_draft_keeps_an_unsent_message_in_drafts(mail):
    draft = mail.save_draft(subject="Plan", body="First", to="Bob <bob@mcp.com>")

    assert draft["to"] == "Bob <bob@mcp.com>"
    assert (draft["cc"], draft["bcc"], draft["html_body"]) == (None, None, None)
    assert draft["created_at"] == draft["updated_at"]
    assert mail.read_email(email_id=draft["id"])["folder"] == "Drafts"
    assert mail.as_user("bob@mcp.com").get_emails()["total"] == 0


def test_get_drafts_lists_the_last_changed_first(mail):
    first, second = (mail.save_draft(subject=subject, body="b")["id"] for subject in ("One", "Two"))
    mail.update_draft(draft_id=first, body="c")
    result = mail.get_drafts(page_size=1)

    assert [draft["id"] for draft in result["drafts"]] == [first]
    assert (result["total"], result["total_pages"]) == (2, 2)
    assert [draft["id"] for draft in mail.get_drafts(page=2, page_size=1)["drafts"]] == [second]


def test_update_draft_changes_what_is_given_and_clears_what_is_empty(mail):
    draft = mail.save_draft(subject="Plan", body="First", to="bob@mcp.com", cc="eve@mcp.com", html_body="<p>")
    changed = mail.update_draft(draft_id=draft["id"], body="Second", to="", cc="", html_body="")

    assert (changed["subject"], changed["body"], changed["to"]) == ("Plan", "Second", "")
    assert (changed["cc"], changed["html_body"]) == (None, None)
    assert changed["created_at"] == draft["created_at"]
    assert changed["updated_at"] > draft["updated_at"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Nothing to update"),
        ({"to": "nonsense"}, "Invalid TO addresses: nonsense"),
        ({"subject": "a\nb"}, "single line"),
        ({"body": "\0"}, "null characters"),
    ],
)
def test_a_refused_change_leaves_the_draft(mail, fields, message):
    draft = mail.save_draft(subject="Plan", body="First")
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.update_draft(draft_id=draft["id"], **fields)
    if fields:
        with pytest.raises(ToolError, match=message):
            mail.save_draft(**{"subject": "s", "body": "b", **fields})
    assert mail.tables() == before


def test_delete_draft_throws_it_away(mail):
    draft = mail.save_draft(subject="Plan", body="First")

    assert mail.delete_draft(draft_id=draft["id"]) == f"Draft {draft['id']} deleted successfully"
    assert mail.get_drafts()["total"] == 0


@pytest.mark.parametrize("draft_id", ["1", "99", "", "x", "9" * 30])
def test_only_drafts_are_found_as_drafts(mail, draft_id):
    with pytest.raises(ToolError, match="Draft not found"):
        mail.delete_draft(draft_id=draft_id)
    with pytest.raises(ToolError, match="Draft not found"):
        mail.update_draft(draft_id=draft_id, body="x")


def test_a_draft_comes_back_from_trash(mail):
    draft = mail.save_draft(subject="Plan", body="First")
    mail.delete_email(email_id=draft["id"])
    mail.move_email(email_id=draft["id"], target_folder="Drafts")
    assert mail.get_drafts()["total"] == 1
