"""A server with mail ports, and a mailbox on it that mail clients are pointed at."""

from __future__ import annotations

import imaplib
import smtplib
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from patience import PATIENCE
from rest.hosted import HostedWorld, host_world

from mesocosm.doors.mail.ports import MailServers
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import listen, serving
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.services.world import World

ADA = "ada@example.org"
BOB = "bob@example.org"
PICTURE = bytes(range(256)) * 20
LETTERS: list[NewEmail] = [
    {
        "sender": "Charles Babbage <charles@example.org>",
        "to": ADA,
        "cc": f'"Bob, the second" <{BOB}>',
        "subject": "The mill",
        "body": "It turns.\nSlowly.",
        "date": "2025-01-02T08:00:00Z",
        "thread": "mill",
    },
    {
        "sender": "Zoë Müller <zoe@example.com>",
        "to": ADA,
        "subject": "Grüße aus Köln – 你好",
        "body": "Schöne Grüße!\nÄ.",
        "html_body": "<p>Schöne <b>Grüße</b>!</p>",
        "date": "2025-01-03T09:30:00Z",
        "is_important": True,
    },
    {
        "sender": "charles@example.org",
        "to": ADA,
        "subject": "Re: The mill",
        "body": "Drawings attached. " + "x" * 1200,
        "date": "2025-01-04T23:59:59Z",
        "thread": "mill",
        "attachments": [
            {"filename": "drawing.png", "data": PICTURE},
            {"filename": "Maße für Zoë.csv", "data": b"a;b\n1;2\n"},
            {"filename": "empty.bin", "data": b""},
        ],
    },
    {
        "sender": "list@example.net",
        "to": ADA,
        "subject": "News",
        "body": "Nothing new.",
        "date": "2025-01-05T00:00:00Z",
        "is_read": True,
    },
]


def fill(world: World) -> None:
    """Ada's mailbox, in which she is signed in, and Bob's."""
    store = world.store(EmailStore)
    for address, name in ((ADA, "Ada Byron"), (BOB, "Bob")):
        store.create_account(address, name, "engine-1843")
    store.add_emails(ADA, "INBOX", LETTERS)
    store.sign_in(ADA)


class MailHost:
    """A server whose ports every episode's clients use."""

    def __init__(self, app: Hosting, base: str, folder: Path) -> None:
        self.app, self.base, self.folder = app, base, folder
        self.made = 0

    def episode(self, fill: Any = fill, services: tuple[str, ...] = ("email",)) -> HostedWorld:
        """A new episode."""
        self.made += 1
        folder = self.folder / f"instance-{self.made}"
        folder.mkdir()
        return host_world(self.app, self.base, folder, list(services), fill)

    def port(self, protocol: str) -> int:
        """``imap`` or ``smtp``."""
        return self.app.pool.mail_ports[protocol]

    @contextmanager
    def imap(self, world: HostedWorld, folder: str | None = "INBOX") -> Iterator[imaplib.IMAP4]:
        """A client that has signed in and opened a folder."""
        with imaplib.IMAP4("127.0.0.1", self.port("imap"), timeout=PATIENCE) as client:
            client.login(ADA, world.id)
            if folder is not None:
                ok(client.select(folder))
            yield client

    @contextmanager
    def smtp(self, world: HostedWorld) -> Iterator[smtplib.SMTP]:
        """A client that has signed in."""
        with smtplib.SMTP("127.0.0.1", self.port("smtp"), timeout=PATIENCE) as client:
            client.login(ADA, world.id)
            yield client


@contextmanager
def mail_host(folder: Path) -> Iterator[MailHost]:
    """Such a server, while the context is open."""
    app = Hosting(folder / "state", admin_token="admin-token-of-the-tests")
    ports = {name: listen("127.0.0.1", 0) for name in ("imap", "smtp")}
    with serving(app, MailServers.of(app.pool, imap=ports["imap"], smtp=ports["smtp"])) as base:
        yield MailHost(app, base, folder)


def ok(answer: tuple[str, list[Any]]) -> list[Any]:
    """What a command answered, which must have been done."""
    status, data = answer
    assert status == "OK", data
    return data


def told(client: imaplib.IMAP4, numbers: str, what: str) -> list[bytes]:
    """What FETCH answers, without what was told before."""
    client.untagged_responses.clear()  # type: ignore[attr-defined]
    parts = ok(client.fetch(numbers, what))
    return [b"".join(part) if isinstance(part, tuple) else part for part in parts]


def fetched(client: imaplib.IMAP4, number: str, what: str = "(BODY.PEEK[])") -> bytes:
    """The one literal of an answer to FETCH."""
    literals = [part[1] for part in ok(client.fetch(number, what)) if isinstance(part, tuple)]
    assert len(literals) == 1
    return bytes(literals[0])


def message_at(client: imaplib.IMAP4, number: str) -> EmailMessage:
    """A message, as Python's parser reads it."""
    source = fetched(client, number)
    assert source.count(b"\n") == source.count(b"\r\n")
    message = message_from_bytes(source.replace(b"\r\n", b"\n"), policy=policy.default)
    assert isinstance(message, EmailMessage)
    assert message.defects == []
    return message


def found(client: imaplib.IMAP4, *criteria: str) -> list[int]:
    """The sequence numbers that a search returns."""
    return [int(number) for number in ok(client.search(None, *criteria))[0].split()]


def letter(**fields: str) -> EmailMessage:
    """A message from Ada to Bob, unless it is said otherwise."""
    message = EmailMessage()
    for name, value in {"From": ADA, "To": BOB, "Subject": "A letter", **fields}.items():
        message[name.replace("_", "-")] = value
    message.set_content("Dear Bob,\n\nyours, Ada\n")
    return message


def expect_goodbye(client: imaplib.IMAP4, command: bytes = b"NOOP") -> None:
    """The server has nothing more to say to this client."""
    client.send(b"z %b\r\n" % command)
    rest = client.file.read()
    assert b"* BYE " in rest, rest
    client.state = "LOGOUT"
    client.shutdown()
