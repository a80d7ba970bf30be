"""Python's imaplib and smtplib, unmodified, against a mailbox that the tools also work in."""

from __future__ import annotations

import imaplib
import smtplib
from collections.abc import Iterator

import pytest
from rest.hosted import HostedWorld
from rest.mailing import (
    ADA,
    BOB,
    LETTERS,
    PICTURE,
    MailHost,
    expect_goodbye,
    fetched,
    found,
    letter,
    mail_host,
    message_at,
    ok,
    told,
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("mail")) as host:
        yield host


@pytest.fixture
def mailbox(host: MailHost) -> HostedWorld:
    return host.episode()


# -- IMAP -----------------------------------------------------------------------------------------------


def test_folders_are_listed_made_renamed_and_removed(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox, None) as client:
        assert {"IDLE", "MOVE", "UIDPLUS", "SPECIAL-USE"} <= set(ok(client.capability())[0].decode().split())
        assert b"(\\HasNoChildren \\Junk) NIL Spam" in ok(client.list())
        assert ok(client.list('""', "S*")) == [
            b"(\\HasNoChildren \\Sent) NIL Sent",
            b"(\\HasNoChildren \\Junk) NIL Spam",
        ]
        ok(client.create("Work"))
        ok(client.subscribe("Work"))
        ok(client.rename("Work", '"Old work"'))
        assert b'(\\HasNoChildren) NIL "Old work"' in ok(client.lsub())
        (status,) = ok(client.status("INBOX", "(MESSAGES UNSEEN UIDNEXT UIDVALIDITY)"))
        assert status == b"INBOX (MESSAGES 4 UNSEEN 3 UIDNEXT 5 UIDVALIDITY 1)"
        before = mailbox.tables("email")
        assert client.delete("Sent") == ("NO", [b"[NOPERM] Cannot delete system folder: Sent"])
        assert client.create("inbox")[0] == client.create("a:b")[0] == client.create("Sent")[0] == "NO"
        assert client.rename("Trash", "Bin")[0] == client.rename("None", "Bin")[0] == "NO"
        assert client.status("Nowhere", "(MESSAGES)")[0] == client.select("Nowhere")[0] == "NO"
        assert mailbox.tables("email") == before
        ok(client.delete('"Old work"'))
    assert mailbox.replay().identical


def test_a_message_is_fetched_by_its_parts(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as client:
        (envelope,) = told(client, "1", "(UID FLAGS INTERNALDATE ENVELOPE)")
        assert envelope.startswith(b'1 (UID 1 FLAGS () INTERNALDATE "02-Jan-2025 08:00:00 +0000" ENVELOPE (')
        assert b'(("Bob, the second" NIL "bob" "example.org"))' in envelope
        assert (
            b'(("Charles Babbage" NIL "charles" "example.org")) ((NIL NIL "ada" "example.org"))' in envelope
        )
        whole = fetched(client, "1")
        assert (
            fetched(client, "1", "(BODY.PEEK[HEADER])") + fetched(client, "1", "(BODY.PEEK[TEXT])") == whole
        )
        (size,) = ok(client.fetch("1", "(RFC822.SIZE)"))
        assert size == b"1 (RFC822.SIZE %d)" % len(whole)
        some = fetched(client, "1", "(BODY.PEEK[HEADER.FIELDS (SUBJECT TO)])")
        assert some == b"To: ada@example.org\r\nSubject: The mill\r\n\r\n"
        assert b"Subject" not in fetched(client, "1", "(BODY.PEEK[HEADER.FIELDS.NOT (SUBJECT)])")
        assert fetched(client, "1", "(BODY.PEEK[]<5.6>)") == whole[5:11]
        structure = b"".join(told(client, "3", "(BODYSTRUCTURE)"))
        assert structure.startswith(b'3 (BODYSTRUCTURE (("text" "plain" ')
        assert fetched(client, "3", "(BODY.PEEK[1.MIME])").startswith(b"Content-Type: text/plain")
        assert fetched(client, "3", "(BODY.PEEK[9])") == b""
        assert told(client, "1:*", "(FLAGS)")[3] == b"4 (FLAGS (\\Seen))"
        assert fetched(client, "1", "(RFC822)") == whole
        assert told(client, "1", "(FLAGS)") == [b"1 (FLAGS (\\Seen))"]
    assert mailbox.replay().identical


@pytest.mark.parametrize(
    "section",
    ["HEADER.FIELDS (TO FROM SUBJECT DATE)", "HEADER.FIELDS (subject From)", "HEADER.FIELDS.NOT (To Cc)"],
)
def test_a_section_bears_the_name_that_the_client_gave_it(
    host: MailHost, mailbox: HostedWorld, section: str
) -> None:
    with host.imap(mailbox) as client:
        answer = told(client, "1", f"(BODY.PEEK[{section}])")
        assert f"BODY[{section}]".encode() in answer[0]
        answer = told(client, "1", f"(BODY.PEEK[{section}]<0.10>)")
        assert f"BODY[{section}]<0>".encode() in answer[0]


def test_messages_read_as_they_were_written(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as client:
        plain, rich, full = (message_at(client, str(number)) for number in (1, 2, 3))
    assert plain.get_content() == "It turns.\nSlowly.\n"
    assert rich["Subject"] == LETTERS[1]["subject"]
    assert rich["From"].addresses[0].display_name == "Zoë Müller"
    assert [part.get_content_type() for part in rich.walk()] == [
        "multipart/alternative",
        "text/plain",
        "text/html",
    ]
    texts = [part.get_content() for part in rich.iter_parts()]
    assert [text.rstrip("\n") for text in texts] == [LETTERS[1]["body"], LETTERS[1]["html_body"]]
    assert full["In-Reply-To"] == full["References"] == plain["Message-ID"]
    body = full.get_body()
    assert body is not None
    assert body.get_content().rstrip("\n") == LETTERS[2]["body"]
    names = {part.get_filename(): part.get_payload(decode=True) for part in full.iter_attachments()}
    assert names == {"drawing.png": PICTURE, "Maße für Zoë.csv": b"a;b\n1;2\n", "empty.bin": b""}


SEARCHES = [
    ('SUBJECT "mill"', [1, 3]),
    ("FROM charles UNSEEN", [1, 3]),
    ("TO ada NOT FROM charles", [2, 4]),
    ("CC bob", [1]),
    ("BCC ada", []),
    ("SEEN", [4]),
    ("FLAGGED", [2]),
    ("UNFLAGGED UNANSWERED UNDELETED UNDRAFT SINCE 3-Jan-2025 BEFORE 5-Jan-2025", [3]),
    ("ON 3-Jan-2025", [2]),
    ("SENTSINCE 4-Jan-2025", [3, 4]),
    ("BODY slowly", [1]),
    ("TEXT attached", [3]),
    ("OR SUBJECT news (FROM zoe FLAGGED)", [2, 4]),
    ("UID 2:3", [2, 3]),
    ("2,4:*", [2, 4]),
    ("LARGER 5000", [3]),
    ("NOT LARGER 5000 SMALLER 310", [4]),
    ('HEADER References "@"', [3]),
    ('HEADER MIME-Version ""', [1, 2, 3, 4]),
    ("HEADER X-Nothing y", []),
    ("KEYWORD work", []),
    ("NEW", []),
    ("ALL", [1, 2, 3, 4]),
]


def test_messages_are_searched(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as client:
        for criteria, numbers in SEARCHES:
            assert found(client, criteria) == numbers, criteria
        client.literal = "GRÜSSE".encode()  # type: ignore[attr-defined]
        assert ok(client.uid("SEARCH", "CHARSET", "UTF-8", "TEXT")) == [b"2"]
        with pytest.raises(imaplib.IMAP4.error):
            client.search(None, "SUBJECT")
        for charset in ("utf-9", "utf-16", "undefined", "base64"):
            answer = ("NO", [b"[BADCHARSET (US-ASCII UTF-8)] The charset is not known."])
            assert client.search(charset, "ALL") == client.uid("SEARCH", "CHARSET", charset, "ALL") == answer
        for number in (2**32, 10**20, "9" * 5000):
            with pytest.raises(imaplib.IMAP4.error, match="BAD"):
                client.search(None, f"NOT LARGER {number}")
        client.literal = b"\xff"  # type: ignore[attr-defined]
        with pytest.raises(imaplib.IMAP4.error, match="BAD"):
            client.uid("SEARCH", "CHARSET", "UTF-8", "TEXT")
        assert found(client, f"SMALLER {2**32 - 1}") == [1, 2, 3, 4]
        deep = "NOT (" * 60 + "ALL" + ")" * 60
        assert client._simple_command("SEARCH", deep)[0] == "NO"  # type: ignore[attr-defined]
    assert mailbox.replay().identical


def test_flags_copies_moves_and_expunging(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as client:
        assert ok(client.store("1", "+FLAGS", r"(\Answered \Draft custom)")) == [b"1 (FLAGS (\\Answered))"]
        assert ok(client.store("1", "FLAGS", r"(\Seen \Flagged)")) == [b"1 (FLAGS (\\Flagged \\Seen))"]
        assert ok(client.store("1:2", "-FLAGS.SILENT", r"(\Flagged)")) == [None]
        ok(client.copy("1:2", "Archive"))
        assert client.response("COPYUID")[1] == [b"6 1:2 5:6"]
        ok(client.uid("MOVE", "3", "Trash"))
        assert client.response("COPYUID")[1] == [b"4 3 3"]
        assert client.response("EXPUNGE")[1] == [b"3"]
        assert client.copy("1", "Nowhere") == ("NO", [b"[TRYCREATE] Folder not found: Nowhere"])
        assert client.uid("MOVE", "1", "Drafts")[0] == "NO"  # only drafts lie there
        ok(client.store("1:3", "+FLAGS", r"(\Deleted)"))
        ok(client.uid("EXPUNGE", "2"))
        assert client.response("EXPUNGE")[1] == [b"2"]
        assert ok(client.expunge()) == [b"2", b"1"]
        assert found(client, "ALL") == []
        ok(client.select("Archive"))
        assert told(client, "1:*", "(UID FLAGS)") == [b"1 (UID 5 FLAGS (\\Seen))", b"2 (UID 6 FLAGS ())"]
        ok(client.store("2", "+FLAGS", r"(\Deleted)"))
        ok(client.close())
    with mailbox.tools() as tools:
        assert [e["id"] for e in tools.call("email", "get_emails", folder="Archive")["emails"]] == ["5"]
        assert [e["id"] for e in tools.call("email", "get_emails", folder="Trash")["emails"]] == ["3"]
    assert mailbox.replay().identical


def test_a_folder_that_is_examined_is_not_changed(host: MailHost, mailbox: HostedWorld) -> None:
    before = mailbox.tables("email")
    with host.imap(mailbox, None) as client:
        ok(client.select("INBOX", readonly=True))
        fetched(client, "1", "(BODY[])")
        assert client.store("1", "+FLAGS", r"(\Deleted)")[0] == client.expunge()[0] == "NO"
        assert client.uid("MOVE", "1", "Trash")[0] == "NO"
        ok(client.close())
    assert mailbox.tables("email") == before


def test_messages_are_appended(host: MailHost, mailbox: HostedWorld) -> None:
    message = letter(To="Zoë <zoe@example.com>", Subject="Anlage für später", Message_ID="<1@client.example>")
    message.add_alternative("<p>Dear Bob</p>", subtype="html")
    message.add_attachment(PICTURE, maintype="image", subtype="png", filename="Bild ü.png")
    with host.imap(mailbox, "Archive") as client:
        when = '"05-Feb-2025 10:00:00 +0100"'
        ok(client.append("Archive", r"(\Seen \Flagged \Answered)", when, bytes(message)))
        (uid,) = client.response("APPENDUID")[1]
        assert told(client, "1", "(FLAGS INTERNALDATE)") == [
            b'1 (FLAGS (\\Answered \\Flagged \\Seen) INTERNALDATE "05-Feb-2025 09:00:00 +0000")'
        ]
        back = message_at(client, "1")
        assert (back["Message-ID"], back["Subject"]) == ("<1@client.example>", "Anlage für später")
        ok(client.append("Drafts", "", None, b"Subject: An idea\r\n\r\nNot yet for anybody.\r\n"))
        before = mailbox.tables("email")
        for refused in (
            b"From: not an address\r\nSubject: x\r\n\r\nx\r\n",
            b"To: not an address\r\nSubject: x\r\n\r\nx\r\n",
            b"no header at all",
            b"\xff\xfe\x00",
            b"From: a@b.example\r\nTo: ada@example.org\r\nSubject: x\r\n\r\nwith a null \x00\r\n",
        ):
            assert client.append("INBOX", "", None, refused)[0] == "NO", refused
        assert client.append("Nowhere", "", None, bytes(message))[0] == "NO"
        assert mailbox.tables("email") == before
    with mailbox.tools() as tools:
        read = tools.call("email", "read_email", email_id=uid.split()[1].decode())
        assert (read["body"], read["html_body"]) == ("Dear Bob,\n\nyours, Ada", "<p>Dear Bob</p>")
        assert [(file["filename"], file["size"]) for file in read["attachments"]] == [("Bild ü.png", 5120)]
        assert read["date"] == "2025-02-05T09:00:00Z"
        drafts = tools.call("email", "get_drafts")["drafts"]
        assert [draft["subject"] for draft in drafts] == ["An idea"]
    assert mailbox.replay().identical


# -- the tools' changes ---------------------------------------------------------------------------------


def test_a_client_learns_what_the_tools_changed(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as client, mailbox.tools() as tools:
        client.untagged_responses.clear()
        tools.call("email", "mark_emails", email_ids=["1"], status="read")
        tools.call("email", "delete_emails", email_ids=["2", "4"])
        tools.call("email", "send_email", to=ADA, subject="To myself", body="x")
        ok(client.noop())
        assert client.response("EXPUNGE")[1] == [b"4", b"2"]
        assert client.response("EXISTS")[1] == [b"3"]
        assert client.response("FETCH")[1] == [b"1 (FLAGS (\\Seen))", b"3 (FLAGS ())"]
        # Moved back, it lies between the others, as its UID does.
        tools.call("email", "move_email", email_id="2", target_folder="INBOX")
        assert len(told(client, "1:*", "(FLAGS)")) == 3  # may not say so yet
        ok(client.noop())
        assert client.response("EXPUNGE")[1] == [b"3", b"2"]
        assert client.response("EXISTS")[1] == [b"4"]
        assert told(client, "1:*", "(UID)")[1:3] == [b"2 (UID 2)", b"3 (UID 3)"]
        tools.call("email", "logout")
        expect_goodbye(client)


def test_idle_tells_at_once(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as client, mailbox.tools() as tools:
        client.send(b"a1 IDLE\r\n")
        assert client.readline().startswith(b"+")
        tools.call("email", "get_unread_count")
        tools.call("email", "delete_emails", email_ids=["2"])
        assert client.readline() == b"* 2 EXPUNGE\r\n"
        client.send(b"DONE\r\n")
        assert client.readline() == b"a1 OK IDLE completed.\r\n"
        names = [entry.tool for entry in mailbox.journal()]
        assert names.count("IMAP NOOP") == 1


def test_messages_that_vanish_under_a_client(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as one, host.imap(mailbox) as other:
        ok(other.store("2:3", "+FLAGS", r"(\Deleted)"))
        ok(other.expunge())
        ok(one.fetch("1:4", "(BODY.PEEK[] ENVELOPE BODYSTRUCTURE RFC822.SIZE)"))
        ok(one.store("2", "+FLAGS", r"(\Flagged)"))
        ok(one.copy("2:3", "Archive"))
        ok(one.noop())
        assert one.response("EXPUNGE")[1] == [b"3", b"2"]
        ok(other.create("Doomed"))
        ok(other.select("Doomed"))
        ok(one.delete("Doomed"))
        expect_goodbye(other)


def test_nothing_is_changed_once_the_task_is_done(host: MailHost) -> None:
    mailbox = host.episode(services=("email", "claim_done"))
    with host.imap(mailbox) as client, host.smtp(mailbox) as sender, mailbox.tools() as tools:
        tools.call("claim_done", "claim_done")
        before = mailbox.tables("email")
        assert fetched(client, "1", "(BODY[])")
        assert client.store("1", "+FLAGS", r"(\Seen)")[0] == client.create("Late")[0] == "NO"
        with pytest.raises(smtplib.SMTPDataError, match="declared done"):
            sender.send_message(letter())
        assert mailbox.tables("email") == before


# -- SMTP -----------------------------------------------------------------------------------------------


def test_mail_is_sent(host: MailHost, mailbox: HostedWorld) -> None:
    message = letter(To=f"Bob <{BOB}>", Cc="zoe@example.com", Subject="Größe", In_Reply_To="<9@x.example>")
    message.add_alternative("<p>Liebe Grüße</p>", subtype="html")
    message.add_attachment("1;2\n", subtype="csv", filename="Maße.csv")
    with host.smtp(mailbox) as client:
        assert client.has_extn("8bitmime")
        assert client.has_extn("smtputf8")
        assert client.send_message(message, to_addrs=[BOB, "zoe@example.com", ADA]) == {}
        assert client.send_message(letter(), mail_options=["SMTPUTF8"]) == {}
    with host.imap(mailbox, "Sent") as reader:
        sent = message_at(reader, "1")
        assert (sent["Bcc"], sent["Cc"], sent["Subject"]) == (ADA, "zoe@example.com", "Größe")
        ok(reader.select("INBOX"))
        copy = message_at(reader, "5")
        assert (copy["Bcc"], copy["From"], copy["In-Reply-To"]) == (
            None,
            f"Ada Byron <{ADA}>",
            "<9@x.example>",
        )
        assert copy["Date"].datetime.isoformat().startswith("2025-01-15T09:00:")  # the world's clock
    with mailbox.tools() as tools:
        tools.call("email", "login", email=BOB, password="engine-1843")
        inbox = tools.call("email", "get_emails")["emails"]
        assert [mail["subject"] for mail in inbox] == ["A letter", "Größe"]
        received = tools.call("email", "read_email", email_id=inbox[1]["id"])
        assert (received["body"], received["html_body"]) == ("Dear Bob,\n\nyours, Ada", "<p>Liebe Grüße</p>")
        assert received["bcc"] is None
        assert [file["filename"] for file in received["attachments"]] == ["Maße.csv"]
    assert mailbox.replay().identical


def test_bytes_that_are_no_text_can_be_sent(host: MailHost, mailbox: HostedWorld) -> None:
    raw = f"From: {ADA}\r\nTo: {BOB}\r\nSubject: Latin\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
    source = raw.encode() + b"Content-Transfer-Encoding: 8bit\r\n\r\nGr\xfc\xdfe\r\n.\r\n..\r\n"
    with host.smtp(mailbox) as client:
        client.sendmail(ADA, [BOB], source)
    with host.imap(mailbox, "Sent") as reader:
        assert message_at(reader, "1").get_content() == "Grüße\n.\n..\n"
    assert mailbox.replay().identical


def test_what_cannot_be_sent_leaves_no_trace(host: MailHost, mailbox: HostedWorld) -> None:
    before = mailbox.tables("email")
    with host.smtp(mailbox) as client:
        with pytest.raises(smtplib.SMTPSenderRefused, match=r"553, b'5\.7\.1"):
            client.send_message(letter(From=BOB))
        with pytest.raises(smtplib.SMTPDataError, match="550"):
            client.send_message(letter(From=BOB), from_addr=ADA)
        with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
            client.send_message(letter(To="nobody@example.org"))
        assert refused.value.recipients["nobody@example.org"][0] == 550
        for to in ("nobody", "undisclosed-recipients:; nobody", "friends: nobody;", ":;"):
            with pytest.raises(smtplib.SMTPDataError, match="554"):
                client.sendmail(ADA, [BOB], f"From: {ADA}\r\nTo: {to}\r\nSubject: x\r\n\r\nx")
        with pytest.raises(smtplib.SMTPDataError, match="554"):
            client.sendmail(
                ADA, [BOB], f"From: {ADA}\r\nTo: {BOB}\r\nSubject: {'x' * 600}\r\n {'x' * 600}\r\n\r\nx"
            )
        with pytest.raises(smtplib.SMTPSenderRefused, match="552"):
            client.sendmail(ADA, [BOB], b"Subject: x\r\n\r\n" + b"x" * 16_000_000)
        client.rset()
        head = f"From: {ADA}\r\nTo: {BOB}\r\nContent-Disposition: attachment; filename=a.zip\r\n"
        head += "Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        with pytest.raises(smtplib.SMTPDataError, match="552"):
            client.sendmail(ADA, [BOB], head + ("QUFB" * 240 + "\r\n") * 14_300)
    assert mailbox.tables("email") == before
    assert mailbox.replay().identical
