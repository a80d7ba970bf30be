"""Input that no mail client should send, and the command that opens the mail ports."""

from __future__ import annotations

import base64
import contextlib
import email
import email.policy
import errno
import imaplib
import select
import smtplib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
from commands import Started
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import PATIENCE
from pymap.mime import MessageContent
from rest.hosted import HostedWorld
from rest.mailing import ADA, BOB, MailHost, found, mail_host, message_at, ok

from mesocosm.doors.mail import messages
from mesocosm.errors import Invalid
from mesocosm.servers.email.mail import parsing
from mesocosm.servers.email.mail.parsing import parse_message
from mesocosm.servers.email.mail.rendering import render_header, render_message

TRIES = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("mail-input")) as host:
        yield host


@pytest.fixture(scope="module")
def mailbox(host: MailHost) -> Iterator[HostedWorld]:
    """An episode that has to be as healthy as before, when everything was tried on it."""
    mailbox = host.episode()
    yield mailbox
    assert {entry.status for entry in mailbox.journal()} <= {"ok", "refused"}
    assert mailbox.replay().identical


# fmt: off
WORDS = st.sampled_from([
    b"LOGIN", b"SELECT INBOX", b"FETCH", b"UID", b"STORE", b"SEARCH", b"APPEND INBOX", b"COPY", b"MOVE",
    b"IDLE", b"DONE", b"LIST", b"STATUS INBOX", b"CREATE", b"RENAME", b"EXPUNGE", b"CLOSE",
    b"AUTHENTICATE PLAIN", b"1:*", b"*", b"4294967295:1", b"0", b"99999999999999999999", b"+FLAGS",
    rb"(\Seen \Deleted)", rb"\Nope", b"BODY[1.2.3.MIME]", b"BODY[HEADER.FIELDS ()]", b"BODY[]<0.0>",
    b"BODY[]<5", b"(ENVELOPE BODYSTRUCTURE)", b"OR", b"NOT", b"SINCE 31-Feb-2025", b"CHARSET utf-9",
    b'"', b"(", b")", b"{3}", b"{3+}\r\nabc", b"{-1}", b"{99999999999}", b"{99999999999+}", b"&AGE-",
    b"&!!-", b"INBOX", b"%", b"Archive", b"NIL", b"~{2}\r\nab", b"MAIL FROM:<ada@example.org>",
    b"RCPT TO:<bob@example.org>", b"RCPT TO:<>", b"DATA", b".", b"RSET", b"EHLO x", b"HELO",
    b"AUTH PLAIN", b"AUTH LOGIN =", b"BDAT 5", b"VRFY <x>", b"SIZE=1e9", b"MAIL FROM:<\xff>",
])
# fmt: on
LINES = st.lists(
    st.lists(WORDS | st.binary(max_size=12) | st.just(b"x" * 2000), max_size=6).map(b" ".join)
    | st.binary(max_size=300)
    | st.just(b"(" * 3000)
    | st.just(b"x" * 200_000),
    max_size=8,
)


def shout(port: int, greeting: bytes, lines: list[bytes], tags: bool) -> None:
    """Send lines and hang up without waiting; the server may have hung up before."""
    with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(greeting)
        for line in lines:
            connection.sendall((b"t " if tags else b"") + line + b"\r\n")
        try:
            connection.shutdown(socket.SHUT_WR)
        except OSError as refused:
            # Whose connection was reset since the last line is told so in words of another kind.
            if refused.errno == errno.ENOTCONN:
                return
            raise
        connection.settimeout(PATIENCE)
        while connection.recv(65536):
            pass


@TRIES
@given(lines=LINES, tags=st.booleans(), selected=st.booleans())
def test_imap_survives_whatever_is_sent(
    host: MailHost, mailbox: HostedWorld, lines: list[bytes], tags: bool, selected: bool
) -> None:
    greeting = f"a LOGIN {ADA} {mailbox.id}\r\n".encode() + (b"b SELECT Archive\r\n" if selected else b"")
    shout(host.port("imap"), greeting, lines, tags)
    shout(host.port("imap"), b"", lines, tags)
    with host.imap(mailbox) as client:
        ok(client.fetch("1:*", "(FLAGS)"))


@TRIES
@given(lines=LINES, ready=st.booleans())
def test_smtp_survives_whatever_is_sent(
    host: MailHost, mailbox: HostedWorld, lines: list[bytes], ready: bool
) -> None:
    plain = base64.b64encode(f"\0{ADA}\0{mailbox.id}".encode())
    greeting = b"EHLO x\r\nAUTH PLAIN " + plain + b"\r\n"
    if ready:
        greeting += f"MAIL FROM:<{ADA}>\r\nRCPT TO:<{BOB}>\r\nDATA\r\n".encode()
    shout(host.port("smtp"), greeting, [*lines, b".", b"QUIT"], tags=False)
    with host.smtp(mailbox) as client:
        assert client.noop()[0] == 250


# fmt: off
HEADERS = st.sampled_from([
    b"From: ada@example.org", b"To: bob@example.org", b"To: =?utf-8?q?=ff?= <x", b'Cc: a@b.c, , <>, "',
    b"Subject:", b"Subject: =?utf-8?b?4pyT?=", b"Subject: =?nope?q?x?=", b"Date: yesterday",
    b"Date: Mon, 1 Jan 0001 00:00:00", b"Message-ID: <[]>", b"Message-ID: <a@b>",
    b"References: <a@b>\r\n <c@d>", b"From: @, :;", b"To: group:;",
    b"Content-Type: multipart/mixed; boundary=b", b"Content-Type: message/rfc822", b"Content-Type: x",
    b"Content-Type: text/html; charset=nope", b"Content-Transfer-Encoding: base64",
    b"MIME-Version: 1.0", b"Content-Disposition: attachment; filename*=utf-8''%ff",
    b"Content-Disposition: attachment; filename=..",
])
# fmt: on
MESSAGES = st.tuples(
    st.lists(HEADERS | st.binary(max_size=40), max_size=8).map(b"\r\n".join),
    st.lists(
        st.sampled_from([b"--b", b"--b--", b"", b"text"]) | HEADERS | st.binary(max_size=60), max_size=12
    ).map(b"\r\n".join),
).map(b"\r\n\r\n".join)


@settings(TRIES, max_examples=150)
@given(source=MESSAGES | st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(source: bytes) -> None:
    with contextlib.suppress(Invalid):
        parse_message(source)


UNITS = ("a ", "a\r\n\t", "(a) ", "<a@b> ", "[a] ", "\\a", "=?utf-8?q?a?=")


@pytest.mark.parametrize(
    "field",
    [
        "To: " + "," * 10**6,
        "To: " + '"' * 19_000,
        "Cc: " + ". " * 9_000,
        "Content-Type: text/plain" + "; a=b" * 10**6,
        "Subject: " + "=?utf-8?q?a?= " * 10**6,
        *(f"{name}: " + unit * (19_000 // len(unit)) for name in ("To", "References") for unit in UNITS),
        *(f"Content-Type: text/plain; {unit * (1_900 // len(unit))}" for unit in ("a ", "(a) ")),
    ],
)
def test_a_field_that_takes_long_to_be_taken_apart_is_refused(field: str) -> None:
    began = time.process_time()
    with pytest.raises(Invalid, match="too long"):
        parse_message(f"From: {ADA}\r\n{field}\r\n\r\ntext".encode())
    assert time.process_time() - began < 2


FIELDS = b"From: ada@example.org\r\nTo: bob@example.org\r\nSubject: many\r\n"
IN_PARTS = FIELDS + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"


def _nested(depth: int, between: bytes) -> bytes:
    """Multiparts in each other, of which none ends; ``between`` two of them is what holds the inner one."""
    holds = b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n'
    return FIELDS + between.join(holds % (n, n) for n in range(depth)) + b"Content-Type: text/plain\r\n\r\n"


# fmt: off
TOO_MANY = {
    "lines of a header": (FIELDS + b"X-a: b\r\n" * 200_000 + b"\r\nx", "headers are too long"),
    "lines of a field": (FIELDS + b"X-a: b\r\n" + b" b\r\n" * 200_000 + b"\r\nx", "headers are too long"),
    "bytes of a header": (FIELDS + b"X-a: " + b"b" * 1_100_000 + b"\r\n\r\nx", "headers are too long"),
    "lines of parts' headers": (
        IN_PARTS + (b"--b\r\n" + b"X-a: b\r\n" * 100 + b"\r\nx\r\n") * 150 + b"--b--", "headers are too long"
    ),
    "parts": (IN_PARTS + b"--b\r\n\r\nx\r\n" * 20_000 + b"--b--", "too many parts"),
    "messages in a message": (
        FIELDS + b"Content-Type: multipart/digest; boundary=b\r\n" + b"\r\n--b\r\n\r\nA: b\r\n\r\nx" * 5000,
        "too many parts",
    ),
    "multiparts in multiparts": (_nested(150, b"") + b"x\r\n" * 300_000, "nested too deep"),
    "multiparts in messages": (_nested(25, b"Content-Type: message/rfc822\r\n\r\n"), "nested too deep"),
    "lines": (FIELDS + b"\r\n" * 2_000_000, "too many lines"),
}
# fmt: on


@pytest.mark.parametrize("what", TOO_MANY)
def test_a_message_with_more_than_anybody_sends_is_refused_before_it_is_read(
    host: MailHost, mailbox: HostedWorld, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, message = TOO_MANY[what]
    longest, last = 0.0, time.thread_time()

    def look() -> None:
        nonlocal longest, last
        longest, last = max(longest, time.thread_time() - last), time.thread_time()

    with monkeypatch.context() as patch:
        patch.setattr("mesocosm.worlds.deadlines.check", look)
        with pytest.raises(Invalid, match=message):
            parse_message(source)
        look()
    assert longest < 0.1, "seconds without a look at the time, in which nobody else is answered"
    with host.imap(mailbox, None) as client:
        status, said = client.append("Drafts", "", None, source)
        assert (status, message in said[0].decode()) == ("NO", True)
    if what not in ("bytes of a header", "lines"):  # SMTP reads no such lines, and not so many
        with host.smtp(mailbox) as sender, pytest.raises(smtplib.SMTPDataError, match=message) as refused:
            sender.sendmail(ADA, [BOB], source)
        assert refused.value.smtp_code == 554


@pytest.mark.parametrize("charset", ["punycode", "IDNA", "unicode_escape", "raw_unicode_escape", "undefined"])
def test_what_python_can_decode_and_no_mail_is_written_in_is_text_as_it_is(
    host: MailHost, mailbox: HostedWorld, charset: str
) -> None:
    # Punycode takes the square of its length: ten million bytes half an hour, in which nothing ends it.
    head = f'Subject: in {charset}\r\nContent-Type: text/plain; charset="{charset}"\r\n\r\n'
    with host.imap(mailbox) as client:
        ok(client.append("INBOX", None, None, FIELDS[:54] + head.encode() + b"xn--bcher-kva \\u0041"))
        ok(client.select("INBOX"))
        assert message_at(client, "*").get_content().strip() == "xn--bcher-kva \\u0041"


def test_a_message_with_many_fields_and_parts_is_read() -> None:
    part = b"--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a\r\n\r\nx\r\n"
    parsed = parse_message(b"X-a: b\r\n" * 9_000 + IN_PARTS + part * 200 + b"--b--\r\n")
    assert (len(parsed.files), parsed.files[-1]["data"]) == (200, b"x")


def _begin(
    host: MailHost, mailbox: HostedWorld, addressed: Callable[[], None] = lambda: None
) -> smtplib.SMTP:
    """A client that may send its message; what is ``addressed`` is called before it asks whether it may."""
    sender = smtplib.SMTP("127.0.0.1", host.port("smtp"), timeout=PATIENCE)
    sender.login(ADA, mailbox.id)
    assert [sender.mail(ADA)[0], sender.rcpt(BOB)[0]] == [250, 250]
    addressed()
    assert sender.docmd("DATA")[0] == 354
    return sender


def _pour(client: socket.socket, piece: bytes, most: int) -> bytes:
    """Send the same again and again, until the server hangs up; what it said meanwhile."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < most:
            client.sendall(piece)
            sent += len(piece)
        raise AssertionError("the server reads on and on")
    with contextlib.suppress(ConnectionError):
        return client.recv(65_536)
    return b""


def test_a_line_without_end_is_not_read_forever(host: MailHost, mailbox: HostedWorld) -> None:
    with socket.create_connection(("127.0.0.1", host.port("smtp")), timeout=PATIENCE) as client:
        _pour(client, b"x" * 10_000, 64 * 2**20)
    with _begin(host, mailbox) as sender:
        assert sender.sock is not None
        _pour(sender.sock, b"x" * 2**20, 128 * 2**20)
        sender.close()
    with _begin(host, mailbox) as sender:
        assert sender.sock is not None
        _pour(sender.sock, b"line\r\n" * 10_000, 16 * 2**20)
        sender.close()
    with socket.create_connection(("127.0.0.1", host.port("smtp")), timeout=PATIENCE) as client:
        client.recv(1000)
        client.sendall(b"x" * 70_000)
        assert client.recv(1000).startswith(b"552 5.3.4 ")
        assert client.recv(1000) == b""


def test_a_message_that_is_too_large_is_refused_and_the_next_one_sent(
    host: MailHost, mailbox: HostedWorld
) -> None:
    with _begin(host, mailbox) as sender:
        sender.send(b"x" * 998 + b"\r\n")
        sender.send((b"x" * 998 + b"\r\n") * 15_000 + b".\r\n")
        assert sender.getreply()[0] == 552
        assert sender.sendmail(ADA, [BOB], FIELDS + b"\r\nx") == {}


def test_a_message_has_a_hundred_recipients_at_most(host: MailHost, mailbox: HostedWorld) -> None:
    with host.smtp(mailbox) as sender:
        sender.mail(ADA)
        assert {sender.rcpt(BOB)[0] for _ in range(100)} == {250}
        calls = len(mailbox.journal())
        assert {sender.rcpt(BOB)[0] for _ in range(50)} == {452}
        assert len(mailbox.journal()) == calls
        assert sender.data(FIELDS + b"\r\nx")[0] == 250


def test_a_client_that_is_silent_is_sent_away(
    host: MailHost, mailbox: HostedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _begin(host, mailbox) as sender, monkeypatch.context() as patch:
        patch.setattr("mesocosm.doors.mail.smtp.INTRODUCTION", 0.3)
        with socket.create_connection(("127.0.0.1", host.port("smtp")), timeout=PATIENCE) as client:
            client.sendall(b"EHLO x\r\nMAIL FR")
            said = client.makefile("rb").read()
            assert said.endswith(b"\r\n421 4.4.2 Too quiet. Goodbye.\r\n")
        time.sleep(0.5)
        sender.send(b"Subject: x\r\n\r\nx\r\n.\r\n")
        assert sender.getreply()[0] == 250, "who has signed in may be silent for longer"
        shorten = partial(patch.setattr, "mesocosm.doors.mail.smtp.SILENCE", 0.5)
        with _begin(host, mailbox, shorten) as slow:
            assert slow.sock is not None
            slow.sock.settimeout(0.05)
            said = b""
            for _ in range(PATIENCE * 20):
                slow.sock.sendall(b"x\r\n")
                with contextlib.suppress(TimeoutError):
                    said = slow.sock.recv(1000)
                    break
            assert said.startswith(b"421 4.4.2 ")
            slow.close()


def test_a_client_that_sends_many_commands_at_once_lets_others_pass(
    host: MailHost, mailbox: HostedWorld
) -> None:
    count = 40_000
    with host.smtp(mailbox) as other, host.smtp(mailbox) as many:
        assert many.sock is not None
        assert other.sock is not None
        lines = many.sock.makefile("rb")
        threading.Thread(target=many.sock.sendall, args=(b"NOOP\r\n" * count,)).start()
        lines.readline()
        answered = 1
        other.sock.sendall(b"NOOP\r\n")
        while not select.select([other.sock], [], [], 0)[0]:
            assert lines.readline().startswith(b"250 ")
            answered += 1
        assert answered < count / 4
        for _ in range(count - answered):
            lines.readline()
        other.getreply()


_WORDS = [
    b"From",
    b"to ",
    b"CC",
    b"content-Type",
    b"X-a",
    b"resent-x",
    b"\r\n",
    b"\n",
    b":",
    b" ",
    b"\r",
    b"x, y",
]


@given(words=st.lists(st.sampled_from(_WORDS)), piece=st.integers(1, 50))
def test_fields_are_found_in_pieces_as_in_one_go(words: list[bytes], piece: int) -> None:
    source = b"".join(words)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parsing, "_PIECE", piece)
        found = [field.span() for field in parsing._fields(source)]
    assert found == [field.span() for field in parsing._STRUCTURED.finditer(source)]


@given(
    source=st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"--x", b" "])).map(b"".join),
    piece=st.integers(1, 9),
)
def test_lines_are_found_in_pieces_as_in_one_go(source: bytes, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(messages, "_LONG", piece)
        assert messages._Content._find_lines(source) == MessageContent._find_lines(source)


@pytest.mark.parametrize("length", [998, 999])
@pytest.mark.parametrize("around", ["", "short\n" * 400, "short\n" * 8000])
def test_a_line_that_is_too_long_is_encoded(
    host: MailHost, mailbox: HostedWorld, length: int, around: str
) -> None:
    text = f"{around}{'x' * length}\n{around}end"
    with host.imap(mailbox) as client:
        ok(client.append("INBOX", None, None, f"Subject: {length}\n\n{text}".replace("\n", "\r\n").encode()))
        client.select("INBOX")
        structure: Any = client.fetch("*", "(BODYSTRUCTURE)")
        assert (b"7BIT" in structure[1][0].upper()) == (length == 998)
        data: Any = client.fetch("*", "(BODY.PEEK[])")
    message: Any = email.message_from_bytes(data[1][0][1], policy=email.policy.default)
    assert message.get_content().replace("\r\n", "\n").removesuffix("\n") == text


@TRIES
@given(source=MESSAGES)
def test_any_message_can_be_handed_in(host: MailHost, mailbox: HostedWorld, source: bytes) -> None:
    with host.imap(mailbox, None) as client:
        status, _ = client.append("Drafts", "", None, source or b"x")
        assert status in ("OK", "NO")
        ok(client.select("Drafts"))
        if status == "OK":
            message_at(client, "*")
            ok(client.fetch("*", "(ENVELOPE BODYSTRUCTURE RFC822.SIZE BODY.PEEK[1] INTERNALDATE)"))
    with host.smtp(mailbox) as sender, contextlib.suppress(smtplib.SMTPException):
        sender.sendmail(ADA, [BOB], source)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80)
LINE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=80)


@settings(TRIES, max_examples=100)
@given(subject=LINE, body=TEXT, html=TEXT, name=LINE, data=st.binary(max_size=100))
def test_what_is_rendered_reads_back(subject: str, body: str, html: str, name: str, data: bytes) -> None:
    email = {
        "date": "2025-01-02T08:00:00Z",
        "sender": "Zoë <zoe@example.com>",
        "to": ADA,
        "cc": None,
        "bcc": None,
        "subject": subject,
        "message_id": "<1@example.com>",
        "in_reply_to": None,
        "references": None,
        "body": body,
        "html_body": html or None,
    }
    usable = name.strip() == name and name.strip(". ") and not {"/", "\\"} & set(name)
    files = [{"filename": name if usable else "a.bin", "content_type": "application/x-thing", "data": data}]
    for attached in ([], files):
        source = render_message(email, attached)
        assert source.isascii()
        assert source.startswith(render_header(email, attached))
        parsed = parse_message(source.encode())
        assert parsed.subject == " ".join(subject.split(" ")).strip()
        assert parsed.sender == "Zoë <zoe@example.com>"
        assert parsed.body.rstrip("\n") == body.replace("\r\n", "\n").rstrip("\n")
        assert (parsed.html_body or "").rstrip("\n") == html.replace("\r\n", "\n").rstrip("\n")
        assert [(file["filename"], file["data"]) for file in parsed.files] == [
            (file["filename"], file["data"]) for file in attached
        ]


def test_the_command_opens_the_ports(tmp_path: Path) -> None:
    words = ["serve", "--port", "0", "--imap-port", "0", "--smtp-port", "0", "--state", str(tmp_path)]
    words += ["--task", "apply_phd_email", "--length", "8k"]
    with Started(*words) as process:
        try:
            said = _until(process.stderr, "password: ")
            ports = {
                line.split()[0]: int(line.split()[-1]) for line in said if " on 127.0.0.1, port " in line
            }
            password = said[-1].split("password: ")[1].strip()
            with imaplib.IMAP4("127.0.0.1", ports["imap"], timeout=PATIENCE) as client:
                client.login("me", password)
                ok(client.select("INBOX"))
                assert found(client, "ALL")
            with smtplib.SMTP("127.0.0.1", ports["smtp"], timeout=PATIENCE) as sender:
                assert sender.login("me", password)[0] == 235
        finally:
            process.terminate()
        assert process.wait(PATIENCE) in (-15, 143, 0)
        assert "Traceback" not in process.stderr.read()


def _until(stream: IO[str], end: str) -> list[str]:
    lines: list[str] = []
    for line in stream:
        lines.append(line)
        if end in line:
            return lines
    raise AssertionError("".join(lines))


def test_commands_that_are_sent_ahead_are_answered_one_by_one(host: MailHost, mailbox: HostedWorld) -> None:
    signed_in = f"a LOGIN {ADA} {mailbox.id}\r\n".encode()
    for before in (b"", signed_in):
        with socket.create_connection(("127.0.0.1", host.port("imap")), 60) as client:
            client.sendall(before + b"n NOOP\r\n" * 3000 + b"z LOGOUT\r\n")
            said = client.makefile("rb").read()
        assert said.count(b"n OK ") == 3000
    with socket.create_connection(("127.0.0.1", host.port("smtp")), 60) as client:
        client.sendall(b"EHLO x\r\n" + b"NOOP\r\n" * 3000 + b"QUIT\r\n")
        assert client.makefile("rb").read().count(b"\r\n250 OK") == 3000
