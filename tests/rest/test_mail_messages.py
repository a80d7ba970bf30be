"""What mail clients are told of a message's parts, and messages that name no recipient."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from rest.hosted import HostedWorld
from rest.mailing import ADA, BOB, MailHost, fetched, found, letter, mail_host, message_at, ok, told

Tree = list["str | Tree | None"]

_TOKEN = re.compile(rb'[()]|"((?:\\.|[^"\\])*)"|[^\s()"]+|\s+')


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("mail-messages")) as host:
        yield host


@pytest.fixture
def mailbox(host: MailHost) -> HostedWorld:
    return host.episode()


def tree(answer: bytes) -> Tree:
    """A parenthesised list of quoted strings, numbers and NIL."""
    stack: list[Tree] = [[]]
    position = 0
    while position < len(answer):
        token = _TOKEN.match(answer, position)
        assert token is not None, answer[position:]
        position = token.end()
        if token[0] == b"(":
            stack.append([])
        elif token[0] == b")":
            inner = stack.pop()
            stack[-1].append(inner)
        elif not token[0].isspace():
            text = (token[0] if token[1] is None else token[1]).decode("ascii")
            stack[-1].append(None if token[0] == b"NIL" else text)
    assert len(stack) == 1, answer
    return stack[0]


def structure(host: MailHost, mailbox: HostedWorld, folder: str, number: str) -> tuple[Tree, list[int]]:
    """A message's BODYSTRUCTURE, and how long the parts are of which it tells."""
    with host.imap(mailbox, folder) as client:
        (answer,) = told(client, number, "(BODYSTRUCTURE)")
        numbered, (name, parts) = tree(answer)
        assert (numbered, name) == (number, "BODYSTRUCTURE")
        assert isinstance(parts, list)
        count = sum(isinstance(part, list) for part in parts[:-4]) if isinstance(parts[0], list) else 1
        return parts, [len(fetched(client, number, f"(BODY.PEEK[{part}])")) for part in range(1, count + 1)]


# -- parts ----------------------------------------------------------------------------------------------

UTF8 = ["charset", "utf-8"]


def test_a_message_of_one_part_has_its_size_in_bytes_and_lines(host: MailHost, mailbox: HostedWorld) -> None:
    with host.imap(mailbox) as client:
        assert told(client, "1", "(BODYSTRUCTURE)") == [
            b'1 (BODYSTRUCTURE ("text" "plain" ("charset" "utf-8") NIL NIL "7bit" 20 2 NIL NIL NIL NIL))'
        ]
        assert told(client, "1", "(BODY)") == [
            b'1 (BODY ("text" "plain" ("charset" "utf-8") NIL NIL "7bit" 20 2))'
        ]


def test_an_attachment_has_a_disposition_with_parameters(host: MailHost, mailbox: HostedWorld) -> None:
    parts, sizes = structure(host, mailbox, "INBOX", "3")
    text, picture, table, empty = map(str, sizes)
    encoded = "utf-8''Ma%C3%9Fe%20f%C3%BCr%20Zo%C3%AB.csv"
    quoted, nothing = ["text", "plain", UTF8, None, None, "quoted-printable", text, "17"], [None, None]
    assert parts[:4] == [
        [*quoted, None, None, None, None],
        [
            "image",
            "png",
            None,
            None,
            None,
            "base64",
            picture,
            None,
            attached("filename", "drawing.png"),
            *nothing,
        ],
        [
            "text",
            "csv",
            None,
            None,
            None,
            "base64",
            table,
            "1",
            None,
            attached("filename*", encoded),
            *nothing,
        ],
        _binary(empty, attached("filename", "empty.bin")),
    ]
    assert parts[4] == "mixed"
    assert parts[6:] == [None, None, None]


def attached(parameter: str, name: str) -> Tree:
    """The disposition of an attachment."""
    return ["attachment", [parameter, name]]


def _binary(size: str, disposition: Tree) -> Tree:
    kind: Tree = ["application", "octet-stream"]
    return [*kind, None, None, None, "base64", size, None, disposition, None, None]


def test_parts_of_parts_are_told_with_their_boundaries(host: MailHost, mailbox: HostedWorld) -> None:
    message = letter(Subject="Both")
    message.add_alternative("<p>Dear Bob</p>", subtype="html")
    message.add_attachment(letter(Subject="Inside"), filename='a "b".eml')
    with host.imap(mailbox, "Archive") as client:
        ok(client.append("Archive", "", None, bytes(message)))
        ok(client.noop())
        boundaries = [part.get_boundary() for part in message_at(client, "1").walk() if part.is_multipart()]
        (short,) = told(client, "1", "(BODY)")
    ((plain, rich, *alternative), inside, *mixed), sizes = structure(host, mailbox, "Archive", "1")
    assert (plain[:3], rich[:3]) == (["text", "plain", UTF8], ["text", "html", UTF8])
    assert alternative == ["alternative", ["boundary", boundaries[1]], None, None, None]
    assert mixed == ["mixed", ["boundary", boundaries[0]], None, None, None]
    # A message that is attached is a file like others.
    assert inside == _binary(str(sizes[1]), attached("filename*", "utf-8''a%20%22b%22.eml"))
    assert tree(short)[1] == ["BODY", [[plain[:8], rich[:8], "alternative"], inside[:7], "mixed"]]


# -- messages that name nobody ----------------------------------------------------------------------------


def test_a_message_without_recipients_can_be_kept(host: MailHost, mailbox: HostedWorld) -> None:
    bounce = b"Subject: Undelivered\r\n\r\nUser unknown.\r\n"
    with host.imap(mailbox, "Archive") as client:
        for header in (
            b"From: MAILER-DAEMON (Mail System)\r\n",
            b"From: Cron <root>\r\nTo: undisclosed-recipients:;\r\n",
        ):
            ok(client.append("Archive", "", None, header + bounce))
        kept = message_at(client, "1")
        assert (kept["From"], kept["To"]) == ("MAILER-DAEMON@example.org", None)
        assert message_at(client, "2")["From"] == "Cron <root@example.org>"
        (envelope,) = told(client, "1", "(ENVELOPE)")
        assert b'((NIL NIL "MAILER-DAEMON" "example.org")) NIL NIL NIL NIL "<' in envelope
        assert found(client, "FROM mailer-daemon") == [1]
        # A name with a byte that its charset does not have.
        ok(client.append("Drafts", "", None, b"To: =?utf-8?q?B=ffb?= <bob>\r\n\r\nx\r\n"))
    with mailbox.tools() as tools:
        listed = tools.call("email", "get_emails", folder="Archive")["emails"]
        assert [(mail["id"], mail["to"]) for mail in listed] == [("6", ""), ("5", "")]
        assert tools.call("email", "read_email", email_id="5")["from"] == "MAILER-DAEMON@example.org"
        assert tools.call("email", "get_email_headers", email_id="5")["to"] == ""
        assert tools.call("email", "search_emails", query="undelivered", folder="Archive")["total"] == 2
        tools.call("email", "forward_email", email_id="5", to=BOB)
        assert tools.call("email", "get_drafts")["drafts"][0]["to"] == f"B\ufffdb <{BOB}>"
    assert mailbox.replay().identical


@pytest.mark.parametrize("field", ["", "To: undisclosed-recipients:;\r\n", "Cc: Nobody in particular: ;\r\n"])
def test_mail_that_names_nobody_goes_to_its_envelope(
    host: MailHost, mailbox: HostedWorld, field: str
) -> None:
    with host.smtp(mailbox) as sender:
        sender.sendmail(ADA, [BOB, ADA], f"From: {ADA}\r\n{field}Subject: Quietly\r\n\r\nHello.\r\n")
    with host.imap(mailbox, "Sent") as client:
        sent = message_at(client, "1")
        assert (sent["To"], sent["Cc"], sent["Bcc"]) == (None, None, f"{BOB}, {ADA}")
        ok(client.select("INBOX"))
        received = message_at(client, "5")
        assert (received["To"], received["Cc"], received["Bcc"]) == (None, None, None)
    with mailbox.tools() as tools:
        tools.call("email", "login", email=BOB, password="engine-1843")
        (mail,) = tools.call("email", "get_emails")["emails"]
        assert (mail["subject"], mail["to"]) == ("Quietly", "")
        tools.call("email", "reply_email", email_id=mail["id"], body="Hello to you", reply_all=True)
        tools.call("email", "forward_email", email_id=mail["id"], to="zoe@example.com")
        # What was exported can be imported.
        tools.call("email", "export_emails", export_path="mail.json")
        tools.call(
            "email", "import_emails", import_path="mail.json", target_folder="Archive", preserve_folders=False
        )
        (copy,) = tools.call("email", "get_emails", folder="Archive")["emails"]
        assert (copy["subject"], copy["to"]) == ("Quietly", "")
    assert mailbox.replay().identical
