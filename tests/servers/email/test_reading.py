"""Listing, searching and reading."""

import pytest

from mesocosm.servers.email.store import EmailStore
from mesocosm.services.calling import ToolError


def ids(result):
    return [email["id"] for email in result["emails"]]


def test_get_emails_lists_headers_newest_first(mail):
    result = mail.get_emails()

    assert ids(result) == ["3", "2", "1"]
    assert result["emails"][2] == {
        "id": "1",
        "subject": "Budget review",
        "from": "Bob Stone <bob@mcp.com>",
        "to": "Ann Lee <ann@mcp.com>, Eve <eve@mcp.com>",
        "cc": "carol@partner.org",
        "date": "2025-01-10T09:00:00Z",
        "is_read": False,
        "is_important": False,
        "folder": "INBOX",
        "has_attachments": True,
    }


def test_get_emails_pages_to_the_end_and_past_it(mail):
    assert ids(mail.get_emails(page=2, page_size=2)) == ["1"]
    beyond = mail.get_emails(page=9, page_size=2)
    assert (beyond["emails"], beyond["total"], beyond["total_pages"]) == ([], 3, 2)


@pytest.mark.parametrize("tool", ["get_emails", "search_emails", "get_drafts", "list_users"])
@pytest.mark.parametrize(("page", "size"), [(0, 20), (-1, 20), (10**12, 20), (1, 0), (1, -3), (1, 101)])
def test_a_page_that_cannot_be_is_refused(mail, tool, page, size):
    query = {"query": "a"} if tool == "search_emails" else {}
    with pytest.raises(ToolError, match="page"):
        getattr(mail, tool)(page=page, page_size=size, **query)


def test_messages_of_the_same_second_are_listed_by_id(mail):
    same = {
        "sender": "a@b.org",
        "to": "ann@mcp.com",
        "subject": "s",
        "body": "",
        "date": "2025-01-12T09:00:00Z",
    }
    with mail.world.editing():
        mail.world.store(EmailStore).add_emails("ann@mcp.com", "INBOX", [same, same])
    assert ids(mail.get_emails()) == ["5", "4", "3", "2", "1"]


def test_inbox_is_found_in_any_capitals_and_other_folders_must_exist(mail):
    assert mail.get_emails(folder="inbox")["total"] == 3
    for tool in ("get_emails", "search_emails"):
        with pytest.raises(ToolError, match="Folder not found: Nowhere"):
            getattr(mail, tool)(folder="Nowhere", **({"query": "a"} if tool == "search_emails" else {}))


def test_read_email_gives_everything_and_changes_nothing(mail):
    before = mail.tables()
    email = mail.read_email(email_id="1")

    assert email["body"] == "The café budget is 40% over.\nPlease look at it."
    assert email["attachments"] == [{"filename": "budget.csv", "size": 20, "content_type": "text/csv"}]
    assert email["message_id"] == "<budget-1@mcp.com>"
    assert (email["bcc"], email["in_reply_to"], email["html_body"]) == (None, None, None)
    assert mail.tables() == before


@pytest.mark.parametrize("email_id", ["", "0", "-1", "99", "abc", "1.0", " 1", "٣", "9" * 5000])
@pytest.mark.parametrize("tool", ["read_email", "get_email_headers", "delete_email"])
def test_an_id_that_names_no_message_is_not_found(mail, tool, email_id):
    with pytest.raises(ToolError, match="Email not found"):
        getattr(mail, tool)(email_id=email_id)


def test_get_email_headers_shows_what_ties_a_conversation_together(mail):
    reply = mail.reply_email(email_id="1", body="Fine")
    headers = mail.get_email_headers(email_id=reply["id"])

    assert headers["in_reply_to"] == headers["references"] == "<budget-1@mcp.com>"
    assert headers["date"].startswith("Wed, 15 Jan 2025 09:00:")
    assert headers["content_type"] == "text/plain; charset=utf-8"
    assert mail.get_email_headers(email_id="1")["content_type"] == "multipart/mixed"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("budget", ["1"]),
        ("BUDGET please", ["1"]),
        ("udge", ["1"]),
        ("review", ["3", "1"]),
        ('"budget is"', ["1"]),
        ('"is budget"', []),
        ("CAFÉ", ["1"]),
        ("40%", ["1"]),
        ("4_%", []),
        ("we", ["3"]),
        ("eve@", ["3", "1"]),
        ("from:eve", ["3"]),
        ('from:"bob stone" review', ["1"]),
        ("to:carol", ["1"]),
        ("cc:eve", []),
        ("subject:review", ["1"]),
        ("body:review", ["3"]),
        ("is:unread", ["3", "1"]),
        ("IS:read", ["2"]),
        ("is:important", ["3"]),
        ("has:attachment", ["1"]),
        ("after:2025-01-11", ["3", "2"]),
        ("before:2025-01-11", ["1"]),
        ("since:2025/1/11 before:2025-01-12", ["2"]),
        ('""', ["3", "2", "1"]),
        ("lunch AND", []),
        ("Re: lunch", []),
    ],
)
def test_search_finds_messages_in_which_every_term_occurs(mail, query, found):
    assert ids(mail.search_emails(query=query)) == found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "cannot be empty"),
        ("  ", "cannot be empty"),
        ("x" * 1001, "too long"),
        ("a\0b", "null characters"),
        ("is:green", "Unknown search operator is:green"),
        ("lunch in:sent", "Unknown search operator in:; there is from:.*The folder is an argument"),
        ("has:wheels", "there is has:attachment"),
        ("after:yesterday", "YYYY-MM-DD"),
        ("before:2025-02-30", "YYYY-MM-DD"),
    ],
)
def test_a_search_that_cannot_be_understood_is_refused(mail, query, message):
    with pytest.raises(ToolError, match=message):
        mail.search_emails(query=query)


@pytest.mark.parametrize(
    "query", ['"', "'", "(", "NEAR(a b)", "x*", "^a", "a:b", '"-a"', "{x}", "💥💥💥", '"""', "\\"]
)
def test_a_search_takes_punctuation_literally(mail, query):
    assert mail.search_emails(query=query)["total"] >= 0


def test_search_covers_one_folder_or_all(mail):
    mail.move_email(email_id="1", target_folder="Archive")

    assert ids(mail.search_emails(query="review")) == ["3"]
    assert ids(mail.search_emails(query="review", folder="*")) == ["3", "1"]
    assert ids(mail.search_emails(query="review", folder="*", page=2, page_size=1)) == ["1"]
    assert mail.search_emails(query="review", folder="*", page=9)["total"] == 2


def test_search_all_folders_stays_in_the_own_mailbox(mail):
    mail.as_user("bob@mcp.com")
    assert mail.search_emails(query="review", folder="*")["total"] == 0


def test_search_follows_changes_of_drafts(mail):
    draft = mail.save_draft(subject="Holidays", body="In summer")
    mail.update_draft(draft_id=draft["id"], body="In winter")

    assert mail.search_emails(query="summer", folder="Drafts")["total"] == 0
    assert ids(mail.search_emails(query="winter holidays", folder="Drafts")) == [draft["id"]]
    mail.delete_draft(draft_id=draft["id"])
    assert mail.search_emails(query="winter holidays", folder="*")["total"] == 0
