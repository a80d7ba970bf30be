"""An episode is sent so much at a time, by whichever door: it and all others are served meanwhile."""

from __future__ import annotations

import gzip
import imaplib
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
import requests
from patience import PATIENCE
from rest.hosted import HostedWorld
from rest.mailing import ADA, BOB, MailHost, fill, mail_host

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World

MOST = 1_000_000


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mesocosm.doors.admission.MOST", MOST)


@pytest.fixture
def opened() -> Iterator[Callable[[str, bytes], socket.socket]]:
    """A connection to a URL's server, on which so much was sent and is waiting for more."""
    with ExitStack() as stack:

        def begin(url: str, data: bytes) -> socket.socket:
            where = urlsplit(url)
            client = socket.create_connection((where.hostname or "", where.port or 0), 30)
            stack.enter_context(client)
            client.sendall(data)
            return client

        yield begin


def fill_cloud(world: World) -> None:
    world.store(GoogleCloudStore).storage.create("reports")


def upload(hosted: HostedWorld, data: bytes, **headers: str) -> requests.Response:
    where = f"{hosted.api('google_cloud')}/upload/storage/v1/b/reports/o?uploadType=media&name=x"
    sent = {"Authorization": f"Bearer {hosted.id}", "Content-Type": "application/octet-stream", **headers}
    return requests.post(where, data, headers=sent, timeout=PATIENCE)


def half(hosted: HostedWorld, path: str) -> bytes:
    """The beginning of a request that does not come to its end."""
    path = urlsplit(hosted.base).path + f"/e/{hosted.id}/{path}"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {hosted.id}\r\n"
    return (
        f"{head}Content-Type: application/octet-stream\r\nContent-Length: {MOST}\r\n\r\n".encode()
        + b"x" * 600_000
    )


@pytest.mark.parametrize(
    "path", ["google_cloud/upload/storage/v1/b/reports/o?uploadType=media&name=y", "mcp"]
)
def test_requests_that_do_not_end_take_no_more_room_than_there_is(
    episode_of: Callable[..., HostedWorld], opened: Callable[[str, bytes], socket.socket], path: str
) -> None:
    hosted, other = (episode_of(["google_cloud"], fill_cloud) for _ in range(2))
    clients = [opened(hosted.base, half(hosted, path)) for _ in range(3)]
    until = time.monotonic() + PATIENCE
    while len(answered := select.select(clients, [], [], 0)[0]) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    ended = [client.recv(4096) for client in answered]
    assert [said.startswith(b"HTTP/1.1 503 ") and b"etry-" in said for said in ended] == [True, True]
    assert upload(other, b"x" * 900_000).status_code == 200
    with hosted.tools() as tools:
        assert tools.call("google_cloud", "storage_list_buckets") is not None
    # Which of them has the room, the server's turns decide.
    [waiting] = [client for client in clients if client not in answered]
    waiting.shutdown(socket.SHUT_WR)
    assert waiting.recv(10) == b""
    # The server learns that a client has gone a moment after it: who is told to send again does so.
    said = [upload(hosted, b"x" * 900_000)]
    while said[-1].status_code == 503 and time.monotonic() < until:
        time.sleep(float(said[-1].headers["Retry-After"]) / 4)
        said.append(upload(hosted, b"x" * 900_000))
    assert said[-1].status_code == 200


def test_what_is_compressed_counts_as_what_it_is(episode_of: Callable[..., HostedWorld]) -> None:
    hosted = episode_of(["google_cloud"], fill_cloud)
    headers = {"Content-Encoding": "gzip"}
    assert upload(hosted, gzip.compress(b"x" * 2 * MOST), **headers).status_code == 503
    assert upload(hosted, gzip.compress(b"x" * 900_000), **headers).status_code == 200


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("intake")) as host:
        yield host


def test_a_stranger_sends_no_long_string_over_imap(
    mail: MailHost, opened: Callable[[str, bytes], socket.socket]
) -> None:
    client = opened(f"http://127.0.0.1:{mail.port('imap')}", b"x LOGIN {1000000+}\r\n")
    assert b"BYE [UNAVAILABLE] Too long." in client.makefile("rb").read()


def test_mails_that_do_not_end_take_no_more_room_than_there_is(mail: MailHost) -> None:
    mailbox, other = mail.episode(fill), mail.episode(fill)
    letter = f"From: {ADA}\r\nTo: {BOB}\r\nSubject: x\r\n\r\n".encode() + (b"x" * 70 + b"\r\n") * 8_000
    with ExitStack() as stack:
        waiting = stack.enter_context(mail.imap(mailbox))
        waiting.send(b"x APPEND INBOX {%d+}\r\nFrom" % len(letter))
        refused = stack.enter_context(mail.smtp(mailbox))
        assert [refused.mail(ADA)[0], refused.rcpt(BOB)[0], refused.docmd("DATA")[0]] == [250, 250, 354]
        refused.send(letter)
        assert refused.getreply()[0] == 452
        refused.close()
        second = imaplib.IMAP4("127.0.0.1", mail.port("imap"), timeout=PATIENCE)
        second.login(ADA, mailbox.id)
        second.send(b"x APPEND INBOX {%d+}\r\n" % len(letter))
        assert second.readline().startswith(b"* BYE [UNAVAILABLE] Too much is being sent")
        second.shutdown()
        with mail.smtp(other) as free:
            free.sendmail(ADA, [BOB], letter)
        waiting.send(letter[4:] + b"\r\n")
        while not (said := waiting.readline()).startswith(b"x "):
            pass
        assert said.startswith(b"x OK")
        with mail.smtp(mailbox) as again:
            again.sendmail(ADA, [BOB], letter)
