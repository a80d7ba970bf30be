"""Sending, answering and forwarding."""

import pytest

from mesocosm.servers.email.headers import addresses
from mesocosm.services.calling import ToolError


def newest(mail, address):
    mail.as_user(address)
    return mail.read_email(email_id=mail.get_emails()["emails"][0]["id"])


def test_a_message_reaches_local_recipients_and_stays_in_sent(mail):
    sent = mail.send_email(
        to="Bob <BOB@mcp.com>, x@gmail.com", subject="Hi", body="Text", html_body="<b>Text</b>"
    )
    received = newest(mail, "bob@mcp.com")

    assert (sent["folder"], sent["is_read"], sent["from"]) == ("Sent", True, "Ann Lee <ann@mcp.com>")
    assert (received["folder"], received["is_read"]) == ("INBOX", False)
    assert received["to"] == "Bob <BOB@mcp.com>, x@gmail.com"
    assert received["html_body"] == "<b>Text</b>"
    assert received["message_id"] == sent["message_id"]
    assert sent["message_id"].endswith("@mcp.com>")


def test_nobody_but_the_sender_sees_blind_copies(mail):
    sent = mail.send_email(to="bob@mcp.com", subject="Hi", body="Text", cc="ann@mcp.com", bcc="eve@mcp.com")

    assert sent["bcc"] == "eve@mcp.com"
    for address in ("ann@mcp.com", "bob@mcp.com", "eve@mcp.com"):
        received = newest(mail, address)
        assert (received["subject"], received["bcc"], received["cc"]) == ("Hi", None, "ann@mcp.com")


def test_a_recipient_named_twice_gets_one_copy(mail):
    mail.send_email(to="bob@mcp.com, Bob <bob@mcp.com>", subject="Hi", body="Text", cc="bob@mcp.com")
    assert mail.as_user("bob@mcp.com").get_emails()["total"] == 1


def test_an_unknown_local_recipient_refuses_the_whole_message(mail):
    before = mail.tables()
    with pytest.raises(ToolError, match=r"550 5\.1\.1 <nobody@mcp\.com>: User unknown"):
        mail.send_email(to="bob@mcp.com", subject="Hi", body="Text", bcc="nobody@mcp.com")
    assert mail.tables() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": ""}, "Invalid TO addresses"),
        ({"to": " , "}, "Invalid TO addresses"),
        ({"to": "not-an-email"}, "Invalid TO addresses: not-an-email"),
        ({"to": "bob@mcp.com, Eve <eve@>"}, "Invalid TO addresses: Eve <eve@>"),
        ({"to": "bob@mcp.com\nBcc: x@y.zz"}, "Invalid TO addresses"),
        ({"to": "bob@mcp.com;eve@mcp.com"}, "Invalid TO addresses"),
        ({"cc": '"Eve <eve@mcp.com>'}, "Invalid CC addresses"),
        ({"bcc": "a@b"}, "Invalid BCC addresses: a@b"),
        ({"to": ", ".join(f"a{n}@x.org" for n in range(101))}, "Too many recipients"),
        ({"subject": "a\r\nBcc: x@y.zz"}, "Subject must be a single line"),
        ({"subject": "x" * 999}, "Subject is too long"),
        ({"body": "a\0b"}, "Body must not contain null"),
        ({"html_body": "a\0b"}, "HTML body must not contain null"),
        ({"attachments": ["missing.pdf"]}, "No such file: /workspace/missing.pdf"),
        ({"attachments": ["../world.json"]}, "outside the workspace"),
        ({"attachments": ["/etc/passwd"]}, "outside the workspace"),
        ({"attachments": ["."]}, "is a directory"),
    ],
)
def test_send_email_refuses_what_no_server_would_take(mail, arguments, message):
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.send_email(**{"to": "bob@mcp.com", "subject": "Hi", "body": "Text", **arguments})
    assert mail.tables() == before


def test_attachments_are_stored_with_their_contents(mail):
    root = mail.world.workspace.root
    (root / "report.pdf").write_bytes(b"%PDF-1")
    sent = mail.send_email(to="bob@mcp.com", subject="Hi", body="Text", attachments=["/workspace/report.pdf"])
    (root / "report.pdf").unlink()
    mail.as_user("bob@mcp.com")
    saved = mail.download_attachment(email_id=str(int(sent["id"]) + 1), attachment_filename="report.pdf")

    assert sent["attachments"] == [{"filename": "report.pdf", "size": 6, "content_type": "application/pdf"}]
    assert saved["path"] == "/workspace/report.pdf"
    assert (root / "report.pdf").read_bytes() == b"%PDF-1"


def test_attachments_must_fit_and_differ_in_name(mail):
    root = mail.world.workspace.root
    (root / "sub").mkdir()
    for name in ("a.txt", "sub/a.txt"):
        (root / name).write_bytes(b"x")
    (root / "big.bin").write_bytes(bytes(10_240_001))

    with pytest.raises(ToolError, match=r"same name: a\.txt"):
        mail.send_email(to="bob@mcp.com", subject="s", body="b", attachments=["a.txt", "sub/a.txt"])
    with pytest.raises(ToolError, match=r"552 5\.3\.4"):
        mail.send_email(to="bob@mcp.com", subject="s", body="b", attachments=["big.bin"])


def test_a_reply_goes_to_the_sender_within_the_conversation(mail):
    sent = mail.reply_email(email_id="1", body="I will.")

    assert (sent["to"], sent["cc"], sent["subject"]) == ("Bob Stone <bob@mcp.com>", None, "Re: Budget review")
    assert sent["in_reply_to"] == sent["references"] == "<budget-1@mcp.com>"
    assert sent["body"].startswith(
        "I will.\n\nOn Fri, 10 Jan 2025 09:00:00 +0000, Bob Stone <bob@mcp.com> wrote:\n"
    )
    assert "> The café budget is 40% over.\n> Please look at it." in sent["body"]


def test_a_reply_to_a_reply_extends_the_conversation(mail):
    first = mail.reply_email(email_id="1", body="One")
    mail.as_user("bob@mcp.com")
    second = mail.reply_email(email_id=str(int(first["id"]) + 1), body="Two")

    assert second["subject"] == "Re: Budget review"
    assert second["in_reply_to"] == first["message_id"]
    assert second["references"] == f"<budget-1@mcp.com> {first['message_id']}"


def test_reply_all_copies_the_other_recipients_but_not_oneself(mail):
    sent = mail.reply_email(
        email_id="1", body="All", reply_all=True, cc="x@y.org, bob@mcp.com", html_body="<p>All</p>"
    )

    assert addresses(sent["to"]) == ["bob@mcp.com"]
    assert addresses(sent["cc"]) == ["eve@mcp.com", "carol@partner.org", "x@y.org"]
    assert "<blockquote>The café budget is 40% over.<br>" in sent["html_body"]


def test_a_reply_to_ones_own_message_goes_to_its_recipients(mail):
    sent = mail.send_email(to="bob@mcp.com, eve@mcp.com", subject="Hi", body="Text")
    again = mail.reply_email(email_id=sent["id"], body="One more thing")
    assert again["to"] == "bob@mcp.com, eve@mcp.com"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"email_id": "99"}, "Email not found: 99"),
        ({"cc": "nobody@mcp.com"}, "User unknown"),
        ({"bcc": "nonsense"}, "Invalid BCC addresses"),
        ({"body": "\0"}, "null characters"),
    ],
)
def test_a_refused_reply_leaves_no_trace(mail, arguments, message):
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.reply_email(**{"email_id": "1", "body": "x", **arguments})
    assert mail.tables() == before


def test_a_forward_carries_text_and_attachments(mail):
    sent = mail.forward_email(email_id="1", to="eve@mcp.com", body="See below")
    received = newest(mail, "eve@mcp.com")

    assert sent["subject"] == received["subject"] == "Fwd: Budget review"
    assert received["body"].startswith("See below\n\n---------- Forwarded message ---------\nFrom: Bob Stone")
    assert "Cc: carol@partner.org\n\nThe café budget" in received["body"]
    assert [file["filename"] for file in received["attachments"]] == ["budget.csv"]
    assert received["in_reply_to"] == "<budget-1@mcp.com>"
    assert mail.forward_email(email_id=received["id"], to="bob@mcp.com")["subject"] == "Fwd: Budget review"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"email_id": "99"}, "Email not found: 99"),
        ({"to": ""}, "Invalid TO addresses"),
        ({"to": "nobody@mcp.com"}, "User unknown"),
        ({"html_body": "\0"}, "null characters"),
    ],
)
def test_a_refused_forward_leaves_no_trace(mail, arguments, message):
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.forward_email(**{"email_id": "1", "to": "bob@mcp.com", **arguments})
    assert mail.tables() == before


def test_names_with_commas_are_kept_in_quotes(mail):
    sent = mail.send_email(to='"Stone, Bob" <bob@mcp.com>, "Eve" <eve@mcp.com>', subject="Hi", body="Text")

    assert sent["to"] == '"Stone, Bob" <bob@mcp.com>, Eve <eve@mcp.com>'
    assert addresses(sent["to"]) == ["bob@mcp.com", "eve@mcp.com"]
