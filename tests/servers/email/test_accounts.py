"""Accounts and signing in."""

import pytest

from mesocosm.servers.email.store import EmailStore
from mesocosm.services.calling import ToolError
from mesocosm.services.service import load_service

WITHOUT_LOGIN = {"login", "logout", "get_current_user", "list_users", "create_user", "check_connection"}


def test_login_switches_the_mailbox(mail):
    answer = mail.login(email="BOB@mcp.com", password="secret-bob")

    assert answer == {
        "email": "bob@mcp.com",
        "name": "Bob Stone",
        "logged_in": True,
        "message": "Logged in as bob@mcp.com",
    }
    assert mail.get_emails()["total"] == 0


@pytest.mark.parametrize("email", ["bob@mcp.com", "nobody@mcp.com", ""])
def test_login_does_not_tell_an_unknown_account_from_a_wrong_password(mail, email):
    with pytest.raises(ToolError, match=r"Login failed: \[AUTHENTICATIONFAILED\]"):
        mail.login(email=email, password="wrong")
    assert mail.get_current_user()["email"] == "ann@mcp.com"


def test_logout_closes_the_mailbox(mail):
    assert mail.logout() == {"logged_in": False, "message": "Logged out"}
    assert mail.logout()["message"] == "Nobody was logged in"
    assert mail.get_current_user() == {"email": None, "name": None, "logged_in": False}


ARGUMENTS = {
    "email_id": "1",
    "email_ids": ["1"],
    "draft_id": "1",
    "folder_name": "X",
    "target_folder": "Trash",
    "query": "a",
    "to": "bob@mcp.com",
    "subject": "s",
    "body": "b",
    "status": "read",
    "import_path": "x.json",
    "attachment_filename": "budget.csv",
}


@pytest.mark.parametrize("name", sorted(set(load_service("email").tools) - WITHOUT_LOGIN))
def test_every_mailbox_tool_needs_a_login(mail, name):
    mail.logout()
    required = load_service("email").tools[name].signature.schema["required"]
    with pytest.raises(ToolError, match="Not logged in"):
        getattr(mail, name)(**{argument: ARGUMENTS[argument] for argument in required})


def test_a_message_of_another_account_cannot_be_read_or_touched(mail):
    mail.as_user("bob@mcp.com")
    for call in (
        lambda: mail.read_email(email_id="1"),
        lambda: mail.delete_email(email_id="1"),
        lambda: mail.move_email(email_id="1", target_folder="Trash"),
        lambda: mail.forward_email(email_id="1", to="bob@mcp.com"),
        lambda: mail.download_attachment(email_id="1", attachment_filename="budget.csv"),
    ):
        with pytest.raises(ToolError, match="Email not found: 1"):
            call()


def test_list_users_pages_in_a_stable_order_without_passwords(mail):
    first = mail.list_users(page_size=2)
    second = mail.list_users(page=2, page_size=2)

    assert [user["email"] for user in first["users"] + second["users"]] == [
        "ann@mcp.com",
        "bob@mcp.com",
        "eve@mcp.com",
    ]
    assert (first["count"], first["total"], first["total_pages"]) == (2, 3, 2)
    assert "secret" not in str(first)


def test_create_user_makes_a_mailbox_that_receives_mail(mail):
    created = mail.create_user(email="Zoe@MCP.com", name="Zoe", password="secret-zoe")
    mail.send_email(to="zoe@mcp.com", subject="Welcome", body="Hello")

    assert created["email"] == "zoe@mcp.com"
    assert created["created_at"].startswith("2025-01-15T09:00")
    assert "secret" not in str(created)
    assert mail.as_user("zoe@mcp.com").get_emails()["total"] == 1
    assert "6. Archive (0 total, 0 unread)" in mail.get_folders()


@pytest.mark.parametrize(
    ("email", "name", "password", "message"),
    [
        ("", "Zoe", "x", "Invalid email address"),
        ("not-an-email", "Zoe", "x", "Invalid email address"),
        ("../../../evil@x.com", "Zoe", "x", "Invalid email address"),
        ("a b@mcp.com", "Zoe", "x", "Invalid email address"),
        ("zoe@mcp.com\0", "Zoe", "x", "null characters"),
        ("zoe@mcp.com", " ", "x", "name cannot be empty"),
        ("zoe@mcp.com", "Z\r\nBcc: x@y.zz", "x", "single line"),
        ("zoe@mcp.com", "Zoe", "", "password cannot be empty"),
        ("ANN@mcp.com", "Ann", "x", "User already exists: ann@mcp.com"),
    ],
)
def test_create_user_refuses_what_is_no_account(mail, email, name, password, message):
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.create_user(email=email, name=name, password=password)
    assert mail.tables() == before


def test_check_connection_says_whether_anybody_is_signed_in(mail):
    assert "IMAP: ✓ Connected\nSMTP: ✓ Connected" in mail.check_connection()
    mail.logout()
    assert "Not logged in" in mail.check_connection()


def test_signing_in_again_changes_nothing(mail):
    before = mail.tables()
    mail.as_user("ann@mcp.com")
    assert mail.tables() == before
    assert mail.world.store(EmailStore).account == "ann@mcp.com"
