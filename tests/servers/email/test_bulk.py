"""Filling mailboxes from a generator."""

from datetime import datetime, timedelta, timezone

import pytest

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.email.headers import addresses
from mesocosm.servers.email.store import EmailStore

PLAIN = {
    "sender": "a@b.org",
    "to": "ann@mcp.com",
    "subject": "s",
    "body": "b",
    "date": "2025-01-01T00:00:00Z",
}


@pytest.fixture
def store(mail):
    return mail.world.store(EmailStore)


def test_add_emails_returns_ids_in_order(store):
    assert store.add_emails("ann@mcp.com", "INBOX", [PLAIN, PLAIN]) == [4, 5]
    assert store.add_emails("bob@mcp.com", "Archive", [PLAIN]) == [6]
    assert store.add_emails("ann@mcp.com", "INBOX", []) == []


def test_messages_of_one_thread_answer_each_other(store):
    ids = store.add_emails("ann@mcp.com", "INBOX", [{**PLAIN, "thread": key} for key in "aba"])
    first, other, second = (store.email(str(id)) for id in ids)

    assert second["in_reply_to"] == second["references"] == first["message_id"]
    assert other["in_reply_to"] is None


def test_dates_are_kept_in_utc(store):
    moment = datetime(2025, 1, 1, 8, 0, tzinfo=timezone(timedelta(hours=8)))
    ids = store.add_emails(
        "ann@mcp.com", "INBOX", [{**PLAIN, "date": date} for date in (moment, "2025-01-01T02:00:00+02:00")]
    )
    assert {store.email(str(id))["date"] for id in ids} == {"2025-01-01T00:00:00Z"}


def test_mail_in_sent_and_drafts_is_read(store):
    for folder, draft in (("Sent", False), ("Drafts", True)):
        email = store.email(str(store.add_emails("ann@mcp.com", folder, [PLAIN])[0]))
        assert (email["is_read"], email["is_draft"]) == (True, draft)


@pytest.mark.parametrize(
    "wrong",
    [
        {"sender": "nobody"},
        {"sender": "a@b.org, c@d.org"},
        {"date": "2025-01-01T25:00:00Z"},
        {"date": datetime(2025, 1, 1)},  # noqa: DTZ001
        {"subject": "a\nb"},
        {"attachments": [{"filename": "a/b", "data": b""}]},
        {"attachments": [{"filename": "a", "data": b""}] * 2},
    ],
)
def test_what_no_server_would_have_accepted_is_refused(store, wrong):
    with pytest.raises(Invalid, match=r"emails\[1\]: "):
        store.add_emails("ann@mcp.com", "INBOX", [PLAIN, {**PLAIN, **wrong}])


def test_accounts_and_folders_must_exist_once(store):
    with pytest.raises(Conflict):
        store.create_accounts(
            [{"email": f"{name}@mcp.com", "name": "N", "password": "p"} for name in ("x", "X")]
        )
    with pytest.raises(NotFound):
        store.sign_in("nobody@mcp.com")
    with pytest.raises(NotFound):
        store.add_emails("ann@mcp.com", "Nowhere", [PLAIN])


def test_addresses_are_read_from_a_header():
    assert addresses('"a@b.c, d" <X@y.org>, Ann <ann@mcp.com>, z@z.zz') == [
        "x@y.org",
        "ann@mcp.com",
        "z@z.zz",
    ]
    assert addresses(None) == []
