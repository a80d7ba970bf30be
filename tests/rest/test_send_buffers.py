"""Clients that ask for much and take little: what waits for them does not stay in the server's memory."""

from __future__ import annotations

import imaplib
import socket
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from time import sleep
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld
from rest.mailing import ADA, BOB, MailHost, mail_host, ok
from rest.mailing import fill as fill_mailbox

from mesocosm.doors.connections import Unread
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World

SIZE = 24_000_000
"""More than kernels keep of a connection for both sides."""


def fill(world: World) -> None:
    world.store(GoogleCloudStore).storage.create("reports")


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    hosted = episode_of(["google_cloud"], fill)
    where = f"{hosted.api('google_cloud')}/upload/storage/v1/b/reports/o?uploadType=media&name=large"
    headers = {"Authorization": f"Bearer {hosted.id}", "Content-Type": "application/octet-stream"}
    with urllib.request.urlopen(urllib.request.Request(where, b"x" * SIZE, headers)) as answer:
        assert answer.status == 200
    return hosted


@pytest.fixture
def ask(hosted: HostedWorld) -> Iterator[Callable[[], socket.socket]]:
    """A connection on which the large object was asked for, and nothing was read yet."""
    opened: list[socket.socket] = []

    def open_() -> socket.socket:
        url = urlsplit(hosted.api("google_cloud"))
        connection = socket.create_connection((url.hostname or "", url.port or 0), 30)
        opened.append(connection)
        head = f"GET {url.path}/storage/v1/b/reports/o/large?alt=media HTTP/1.1\r\nHost: localhost\r\n"
        connection.sendall(f"{head}Authorization: Bearer {hosted.id}\r\nConnection: close\r\n\r\n".encode())
        return connection

    yield open_
    for connection in opened:
        connection.close()


def rest(connection: socket.socket) -> int:
    """How many bytes still come, until the connection ends in whatever way."""
    count = 0
    try:
        while data := connection.recv(1 << 20):
            count += len(data)
    except ConnectionError:
        pass
    return count


def is_cut(connection: socket.socket, read: Callable[[], object]) -> bool:
    """Whether the server ends the connection while its client reads like this."""
    for _ in range(PATIENCE * 10):
        read()
        sleep(0.1)
        # The other side sends a reset, which is all that a client sees that does not read.
        if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            return True
    return False


@pytest.mark.parametrize("pace", [0, 1])
def test_who_does_not_read_is_cut_off(
    ask: Callable[[], socket.socket], hosted: HostedWorld, monkeypatch: pytest.MonkeyPatch, pace: int
) -> None:
    monkeypatch.setattr("mesocosm.doors.connections.PATIENCE", 1.0)
    connection = ask()
    assert is_cut(connection, lambda: connection.recv(pace) if pace else None)
    monkeypatch.undo()
    assert rest(ask()) > SIZE


def test_who_reads_slowly_gets_all(ask: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    # The time that the server sees passes as the client reads, however busy the machine is: 6 seconds in all.
    reads, looks = 0, 0
    cut = Unread._cut_the_slow

    def look(unread: Unread, now: float) -> None:
        nonlocal looks
        looks += 1
        cut(unread, 0.05 * reads)

    monkeypatch.setattr(Unread, "_cut_the_slow", look)
    monkeypatch.setattr("mesocosm.doors.connections._LOOK", 0.05)
    monkeypatch.setattr("mesocosm.doors.connections.PATIENCE", 3.0)
    connection, count = ask(), 0
    while data := connection.recv(200_000, socket.MSG_WAITALL):
        count += len(data)
        seen, reads = looks, reads + 1
        for _ in range(PATIENCE * 100 if reads in (20, 40, 60) else 0):
            sleep(0.01)
            if looks > seen:
                break
    assert count > SIZE
    assert looks > 2


def test_where_too_much_waits_those_who_took_nothing_for_longest_give_way(
    ask: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.doors.connections.MOST_UNREAD", SIZE)
    left = [ask() for _ in range(4)]
    for _ in range(PATIENCE * 10):
        left = [one for one in left if not one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)]
        if len(left) == 1:
            break
        sleep(0.1)
    # Not beside another that still has to be read: then this one would be the older of two.
    assert [rest(one) > SIZE for one in left] == [True]


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("unread")) as host:
        yield host


def fill_with_large(world: World) -> None:
    fill_mailbox(world)
    letter: NewEmail = {"sender": BOB, "to": ADA, "subject": "large", "date": "2025-01-06T00:00:00Z"}
    world.store(EmailStore).add_emails(ADA, "INBOX", [{**letter, "body": ("x" * 70 + "\n") * 60_000}] * 8)


def test_a_mailbox_is_fetched_as_its_client_reads(mail: MailHost, monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = mail.episode(fill_with_large)
    client = imaplib.IMAP4("127.0.0.1", mail.port("imap"))
    client.login(ADA, mailbox.id)
    count = int(ok(client.select("INBOX"))[0])
    monkeypatch.setattr("mesocosm.doors.connections.PATIENCE", 1.0)
    with closing(client.sock):
        client.send(b"x FETCH 1:* (BODY.PEEK[])\r\n")
        assert is_cut(client.sock, lambda: None)
    read = [entry for entry in mailbox.journal() if entry.tool == "IMAP FETCH"]
    assert 0 < len(read) < count - 4
    with mail.imap(mailbox) as other:
        assert other.noop()[0] == "OK"
