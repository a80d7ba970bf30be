"""Signing in to mailboxes, and what clients of one port have to do with each other."""

from __future__ import annotations

import imaplib
import importlib.metadata
import re
import smtplib
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld
from rest.mailing import ADA, BOB, MailHost, expect_goodbye, fill, found, letter, mail_host, ok

from mesocosm.hosting.application import Hosting
from mesocosm.hosting.pool import folder_of
from mesocosm.servers.email.store import EmailStore
from mesocosm.services.world import World


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("mail")) as host:
        yield host


@pytest.fixture
def mailbox(host: MailHost) -> HostedWorld:
    return host.episode()


def sign_in(host: MailHost, user: str, password: str) -> list[Any]:
    """What IMAP LOGIN, AUTHENTICATE and SMTP AUTH answer."""
    answers: list[Any] = []
    plain = f"\0{user}\0{password}".encode()
    for attempt in (lambda c: c.login(user, password), lambda c: c.authenticate("PLAIN", lambda _: plain)):
        with imaplib.IMAP4("127.0.0.1", host.port("imap"), timeout=PATIENCE) as client:
            try:
                answers.append(attempt(client)[0])
            except imaplib.IMAP4.error as error:
                answers.append(str(error))
    for mechanism in ("auth_plain", "auth_login"):
        with smtplib.SMTP("127.0.0.1", host.port("smtp"), timeout=PATIENCE) as sender:
            sender.ehlo()
            sender.user, sender.password = user, password
            try:
                name = mechanism.removeprefix("auth_").upper()
                answers.append(sender.auth(name, getattr(sender, mechanism))[0])
            except smtplib.SMTPAuthenticationError as error:
                answers.append((error.smtp_code, error.smtp_error))
    return answers


def test_the_password_names_the_episode(host: MailHost, mailbox: HostedWorld) -> None:
    for user in (ADA, ADA.upper(), "me"):
        assert sign_in(host, user, mailbox.id) == ["OK", "OK", 235, 235]
    wrong = ["0" * 32, folder_of(mailbox.id), "../" * 8, "x" * 300]
    for user, password in [(BOB, mailbox.id), *((ADA, password) for password in wrong)]:
        answers = sign_in(host, user, password)
        assert all("AUTHENTICATIONFAILED" in answer for answer in answers[:2]), answers
        assert [answer[0] for answer in answers[2:]] == [535, 535]
    with smtplib.SMTP("127.0.0.1", host.port("smtp"), timeout=PATIENCE) as client:
        client.ehlo()
        assert client.mail(ADA)[0] == 530


def test_a_mailbox_without_open_door(host: MailHost) -> None:
    def sign_out(world: World) -> None:
        fill(world)
        world.store(EmailStore).sign_out()

    for world, reason in (
        (host.episode(sign_out), "Nobody is signed in"),
        (host.episode(lambda _: None, services=("memory",)), "no mailbox"),
    ):
        answers = sign_in(host, ADA, world.id)
        assert all(reason in str(answer) for answer in answers), answers


def test_a_task_with_some_of_the_tools_is_closed(host: MailHost) -> None:
    pool = host.app.pool
    world = host.episode()
    hosted = pool.get(world.id)
    path = world.path / "world" / "world.json"
    hosted.close()
    del pool._open[world.id]
    offers = path.read_text().replace('"email": null', '"email": ["get_emails"]')
    path.unlink()  # the file has the name of the instance's, too
    path.write_text(offers)
    assert all("some of the tools" in str(answer) for answer in sign_in(host, ADA, world.id))


def test_episodes_on_the_same_ports_do_not_meet(host: MailHost) -> None:
    one, two = host.episode(), host.episode()
    untouched = two.tables("email")
    with host.imap(one) as first, host.imap(two) as second, host.smtp(one) as sender:
        ok(first.store("1:*", "+FLAGS", r"(\Deleted)"))
        ok(first.expunge())
        sender.send_message(letter(To=ADA))
        ok(first.noop())
        assert found(first, "ALL") == [1]
        assert found(second, "ALL") == [1, 2, 3, 4]
    assert two.tables("email") == untouched


def test_the_control_plane_tells_the_ports(host: MailHost, mailbox: HostedWorld) -> None:
    headers = {"Authorization": "Bearer admin-token-of-the-tests"}
    view = httpx.get(f"{host.base}/episodes/{mailbox.id}", headers=headers, timeout=PATIENCE).json()
    assert view["mail"] == {"imap": host.port("imap"), "smtp": host.port("smtp")}


def test_a_client_of_a_deleted_episode_is_sent_away(host: MailHost, mailbox: HostedWorld) -> None:
    headers = {"Authorization": "Bearer admin-token-of-the-tests"}
    with (
        imaplib.IMAP4("127.0.0.1", host.port("imap"), timeout=PATIENCE) as client,
        host.smtp(mailbox) as sender,
    ):
        client.login(ADA, mailbox.id)
        assert (
            httpx.delete(f"{host.base}/episodes/{mailbox.id}", headers=headers, timeout=PATIENCE).status_code
            == 204
        )
        expect_goodbye(client, b'LIST "" *')
        with pytest.raises(smtplib.SMTPException, match="421"):
            sender.send_message(letter())


def test_the_example_of_the_guide_works(host: MailHost, mailbox: HostedWorld) -> None:
    guide = Path(__file__).parents[2] / "docs" / "guides" / "use-your-own-client.md"
    codes = re.findall(r"^```py\n(.*?)^```", guide.read_text(), re.S | re.M)
    (code,) = (code for code in codes if "imaplib" in code)
    code = code.replace("1143", str(host.port("imap"))).replace("1025", str(host.port("smtp")))
    script = f"episode = {mailbox.id!r}\naddress = {ADA!r}\n{code}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "The mill" in ran.stdout
    assert len(mailbox.journal()) > 4


def test_many_clients_at_once(host: MailHost, mailbox: HostedWorld) -> None:
    def work() -> None:
        with host.imap(mailbox) as client, host.smtp(mailbox) as sender:
            for _ in range(5):
                sender.send_message(letter(To=ADA))
                ok(client.noop())
                ok(client.fetch("1:*", "(UID FLAGS BODY.PEEK[HEADER])"))
                ok(client.store("1", "+FLAGS", r"(\Answered)"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    with host.imap(mailbox) as client:
        assert len(found(client, "ALL")) == 24
    assert mailbox.replay().identical


def test_half_open_connections_hold_nobody_up(host: MailHost, mailbox: HostedWorld) -> None:
    unfinished = (b"a1 LOGIN x", b"a1 APPEND INBOX {100}\r\nhalf", b"EHLO x\r\nMAIL FROM:<")
    sockets = [
        socket.create_connection(("127.0.0.1", host.port(protocol)))
        for protocol in ("imap", "smtp")
        for _ in unfinished
    ]
    for connection, text in zip(sockets, unfinished * 2, strict=True):
        connection.sendall(text)
    with host.imap(mailbox) as client:
        assert found(client, "ALL") == [1, 2, 3, 4]
    for connection in sockets:
        connection.close()


def test_a_connection_reads_no_files_of_the_machine(
    host: MailHost, mailbox: HostedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To look through all installed packages takes as long as ten calls, and everybody waits for it.
    monkeypatch.setattr(importlib.metadata.Distribution, "discover", unwanted)
    with host.imap(mailbox) as client:
        assert found(client, "ALL") == [1, 2, 3, 4]


def unwanted(*_: object, **__: object) -> None:
    raise AssertionError("it looks through the installed packages")


def test_without_ports_there_is_no_mail(tmp_path: Path) -> None:
    assert Hosting(tmp_path / "state", admin_token="x" * 20).pool.mail_ports == {}


def test_sessions_that_are_cut_leave_no_traceback(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Open ones of every protocol when the server ends, and ones that their clients cut before."""
    large = b"Subject: x\r\n\r\n" + b"z y\r\n" * 200_000
    threads = set(threading.enumerate())
    with ExitStack() as clients:
        with mail_host(tmp_path) as host:
            mailbox = host.episode()
            ports = [host.port("imap"), host.port("smtp"), int(host.base.rpartition(":")[2])]
            sockets = []
            for port in ports:
                for said in (b"", b"a NOOP\r\n", b"GET / HTTP/1.1\r\nHost", b"a APPEND INBOX {10+}\r\nab"):
                    sockets.append(clients.enter_context(socket.create_connection(("127.0.0.1", port))))
                    sockets[-1].sendall(said)
            for one in sockets[::2]:
                one.close()
            waiting = imaplib.IMAP4("127.0.0.1", host.port("imap"), timeout=PATIENCE)
            clients.callback(waiting.shutdown)
            waiting.login(ADA, mailbox.id)
            ok(waiting.append("INBOX", "", "", large))
            ok(waiting.select("INBOX"))
            # More than fits between the two, and nothing of it is read.
            waiting.send(b"a FETCH 1:* BODY.PEEK[]\r\n" * 100 + b"a LOGOUT\r\n")
            sender = smtplib.SMTP("127.0.0.1", host.port("smtp"), timeout=PATIENCE)
            clients.callback(sender.close)
            sender.login(ADA, mailbox.id)
            sender.mail(ADA)
            sender.rcpt(BOB)
            assert sender.docmd("DATA")[0] == 354
            sender.send(b"Subject: half\r\n")
        for thread in set(threading.enumerate()) - threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        told = [record.getMessage() for record in caplog.records]
        assert not [record for record in caplog.records if record.exc_info or record.name == "asyncio"], told
