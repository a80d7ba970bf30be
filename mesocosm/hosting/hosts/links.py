"""Connections from the door to the hosts: kept open, one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import httptools


class Asker(Protocol):
    """A waiting request."""

    def answer(self, data: bytes) -> None:
        """Some bytes of it, as they came."""

    def answered(self, status: int, keep: bool) -> None:
        """Receive the answer; ``keep`` is true if the client's connection can be reused."""

    def lost(self) -> None:
        """The connection has ended before the answer has."""

    def hold(self, full: bool) -> None:
        """The host takes no more of the request for now, or takes it again."""


@dataclass
class Host:
    """A host as the door sees it."""

    number: int
    address: str
    """The path of its unix socket, or ``name:port``."""
    mail: Mapping[str, str] = field(default_factory=dict)
    """Where it serves ``imap`` and ``smtp``, if it does."""
    pid: int | None = None
    """Its process, where that is one of this machine."""
    idle: list[HostLink] = field(default_factory=list)
    links: set[HostLink] = field(default_factory=set)
    busy: int = 0
    """Requests that it has not answered yet, streams left out."""

    async def link(self) -> HostLink:
        """A connection that nobody uses. Raises ``OSError`` if the host cannot be reached."""
        while self.idle:
            if not (found := self.idle.pop()).transport.is_closing():
                return found
        loop = asyncio.get_running_loop()
        if "/" in self.address:
            _, made = await loop.create_unix_connection(lambda: HostLink(self), self.address)
        else:
            name, _, port = self.address.rpartition(":")
            _, made = await loop.create_connection(lambda: HostLink(self), name.strip("[]"), int(port))
        return made

    def close(self) -> None:
        """Close all connections; pending requests fail."""
        for link in list(self.links):
            link.transport.abort()


class HostLink(asyncio.Protocol):
    """One connection to a host."""

    transport: asyncio.Transport

    def __init__(self, host: Host) -> None:
        self.host = host
        self._asker: Asker | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._head_only = self._complete = False
        self._keep = True
        self._status = 0

    def begin(self, asker: Asker, *, head_only: bool) -> None:
        """Use the connection for one request, whose answer has no body if ``head_only``."""
        self._asker, self._head_only = asker, head_only
        self._complete, self._status = False, 0

    def send(self, data: bytes) -> None:
        self.transport.write(data)

    def give_up(self) -> None:
        """Nobody waits for the answer any more."""
        self._asker = None
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Of ``asyncio``."""
        self.transport = transport
        self.host.links.add(self)

    def data_received(self, data: bytes) -> None:
        """Of ``asyncio``."""
        asker = self._asker
        if asker is None:
            self.transport.abort()
            return
        asker.answer(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.transport.abort()
            return
        if self._complete:
            self._end(asker)

    def _end(self, asker: Asker) -> None:
        self._asker = None
        if self._head_only:
            self._parser = httptools.HttpResponseParser(self)
        asker.answered(self._status, self._keep)

    def rest(self, keep: bool) -> None:
        """Request and answer have ended."""
        if keep and not self.transport.is_closing():
            self.host.idle.append(self)
        else:
            self.transport.close()

    def on_headers_complete(self) -> None:
        """Of ``httptools``."""
        self._status = self._parser.get_status_code()
        self._keep = bool(self._parser.should_keep_alive())
        self._complete = self._head_only and self._status >= 200

    def on_message_complete(self) -> None:
        """Of ``httptools``."""
        self._complete = self._complete or self._status >= 200

    def connection_lost(self, error: Exception | None) -> None:
        """Of ``asyncio``."""
        self.host.links.discard(self)
        if self in self.host.idle:
            self.host.idle.remove(self)
        if asker := self._asker:
            self._asker = None
            asker.lost()

    def pause_writing(self) -> None:
        """Of ``asyncio``."""
        if self._asker:
            self._asker.hold(True)

    def resume_writing(self) -> None:
        """Of ``asyncio``."""
        if self._asker:
            self._asker.hold(False)
