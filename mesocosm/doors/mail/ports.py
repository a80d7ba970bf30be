"""The mail ports of a hosting process: they live in its event loop, beside HTTP."""

from __future__ import annotations

import asyncio
import logging
import socket
from asyncio import StreamReader, StreamWriter
from types import TracebackType
from typing import Self, cast

from mesocosm.doors.connections import connections
from mesocosm.doors.episodes import EpisodeSource
from mesocosm.doors.mail.access import Mailboxes, OwnMailboxes
from mesocosm.doors.mail.imap import ImapService
from mesocosm.doors.mail.smtp import Connection

_HOSTNAME = "mail.mesocosm.example"
_ENDING = 1.0
"""Seconds in which clients may take what they were answered, when the server ends."""
_log = logging.getLogger(__name__)


class MailServers:
    """Serves IMAP and SMTP on sockets that listen already; an asynchronous context manager.

    Its sockets are closed with it.
    """

    def __init__(
        self, mailboxes: Mailboxes, *, imap: socket.socket | None, smtp: socket.socket | None
    ) -> None:
        self._mailboxes = mailboxes
        self._imap, self._smtp = imap, smtp
        self._servers: list[asyncio.Server] = []
        self._clients: dict[asyncio.Task[None], asyncio.WriteTransport] = {}
        self._connections: set[asyncio.BaseTransport] = set()

    @classmethod
    def of(cls, pool: EpisodeSource, *, imap: socket.socket | None, smtp: socket.socket | None) -> Self:
        """For the episodes of this process, which are told the ports."""
        for name, listener in (("imap", imap), ("smtp", smtp)):
            if listener is not None:
                pool.mail_ports[name] = listener.getsockname()[1]
        return cls(OwnMailboxes(pool), imap=imap, smtp=smtp)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        if self._imap is not None:
            service = ImapService(self._mailboxes)

            def serve(reader: StreamReader, writer: StreamWriter) -> None:
                # A coroutine function would be run by asyncio, whose report of one that is cancelled (3.11)
                # is a traceback in the log.
                task = loop.create_task(service(reader, writer))
                self._clients[task] = writer.transport
                task.add_done_callback(self._left)

            start = asyncio.start_unix_server if _is_unix(self._imap) else asyncio.start_server
            self._servers.append(await start(serve, sock=self._imap))
        if self._smtp is not None:

            def connect() -> Connection:
                return _Tracked(self._connections, self._mailboxes, _HOSTNAME, loop)

            create = loop.create_unix_server if _is_unix(self._smtp) else loop.create_server
            self._servers.append(await create(connect, sock=self._smtp))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()
        for client in tuple(self._clients):
            client.cancel()
        for connection in tuple(self._connections):
            connection.close()
        if self._clients:
            await asyncio.wait(self._clients, timeout=_ENDING)
        for transport in self._clients.values():
            transport.abort()  # of a client that takes nothing any more
        await asyncio.gather(*self._clients, return_exceptions=True)

    def _left(self, client: asyncio.Task[None]) -> None:
        del self._clients[client]
        if not client.cancelled() and (problem := client.exception()):
            _log.error("an IMAP connection ended with a fault", exc_info=problem)


def _is_unix(listener: socket.socket) -> bool:
    return listener.family == socket.AF_UNIX


class _Tracked(Connection):
    """A connection that can be found when the server stops."""

    def __init__(
        self,
        connections: set[asyncio.BaseTransport],
        mailboxes: Mailboxes,
        hostname: str,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(mailboxes, hostname, loop)
        self._connections = connections
        self._tracked: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._tracked = cast(asyncio.WriteTransport, transport)
        self._connections.add(transport)
        super().connection_made(transport)
        connections.admit(self._tracked)

    def connection_lost(self, error: Exception | None) -> None:
        if self._tracked is not None:
            self._connections.discard(self._tracked)
            connections.left(self._tracked)
        super().connection_lost(error)
