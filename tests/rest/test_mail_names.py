"""Names and patterns of mailboxes that kept a server busy, and connections that say nothing."""

from __future__ import annotations

import asyncio
import fnmatch
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE
from rest.hosted import HostedWorld
from rest.mailing import MailHost, mail_host

from mesocosm.doors.connections import Connections
from mesocosm.doors.mail.mailbox_names import decode, encode, matcher


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("mail-names")) as host:
        yield host


@pytest.fixture(scope="module")
def mailbox(host: MailHost) -> HostedWorld:
    return host.episode()


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_name_is_read_as_it_was_written(name: str) -> None:
    assert decode(encode(name)) == name


@settings(max_examples=100, deadline=None)
@given(st.binary() | st.text("&-R,A+").map(str.encode))
def test_any_bytes_are_a_name(data: bytes) -> None:
    decode(data).encode()


@settings(max_examples=200, deadline=None)
@given(st.text("ab*%"), st.text("ab", max_size=6))
def test_a_pattern_means_what_it_says(pattern: str, name: str) -> None:
    assert matcher(pattern)(name) == fnmatch.fnmatchcase(name, pattern.replace("%", "*"))


@pytest.mark.parametrize(
    "line",
    [
        b'SELECT "R&D"',
        b'LIST "" "*a*a*a*a*a*a*a*a*a*a*b"',
        b'LIST "" "' + b"%a*" * 3000 + b'"',
        b'STATUS "&&&AAA" (MESSAGES)',
        b'CREATE "&2AA-"',
    ],
)
@pytest.mark.parametrize("signed_in", [False, True])
def test_a_line_is_answered_at_once(
    host: MailHost, mailbox: HostedWorld, line: bytes, signed_in: bool
) -> None:
    with socket.create_connection(("127.0.0.1", host.app.pool.mail_ports["imap"])) as client:
        client.settimeout(PATIENCE)
        stream = client.makefile("rwb")
        stream.readline()
        lines = [line, b"NOOP"]
        if signed_in:
            lines.insert(0, b"LOGIN ada@example.org " + mailbox.id.encode())
        for number, sent in enumerate(lines):
            stream.write(b"%d %s\r\n" % (number, sent))
        stream.flush()
        while not (said := stream.readline()).startswith(b"%d OK" % (len(lines) - 1)):
            assert said


class _Transport(asyncio.Transport):
    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1)})
        self.open = True

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        self.open = False


def test_who_says_nothing_gives_way_and_no_address_takes_all() -> None:
    async def come_and_go() -> None:
        connections = Connections(8)
        silent = [_Transport("10.0.0.1") for _ in range(6)]
        assert all(map(connections.admit, silent))
        assert [transport.open for transport in silent] == [False, False, True, True, True, True]
        asking = [_Transport("10.0.0.2") for _ in range(4)]
        for transport in asking:
            assert connections.admit(transport)
            connections.asks(transport)
        assert not connections.admit(_Transport("10.0.0.2"))
        assert connections.admit(_Transport("10.0.0.3"))
        assert sum(transport.open for transport in silent) == 3
        assert all(transport.open for transport in asking)
        for transport in (*silent, *asking):
            connections.left(transport)
        assert connections.admit(_Transport("10.0.0.2"))

    asyncio.run(come_and_go())
