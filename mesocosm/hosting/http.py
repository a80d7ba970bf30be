"""HTTP as it is served: uvicorn's protocol with limits of time, size and number."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mesocosm.doors.connections import BODY, INTRODUCTION, connections
from mesocosm.doors.deadlines import Deadline

MAX_HEADERS = 65_536
"""Bytes of a request's line and headers."""
A_HEADER = 100
"""Bytes for which each header counts besides its own, so that there are hundreds of them at most."""

_AHEAD = 16
"""Requests that a client may send before it has the answer to the first."""

_TOGETHER = 65_536
"""Bytes of a body with which the head of an answer is sent as one piece."""

_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class _TooMany(Exception):
    """A client sends more requests ahead than it may."""


class _Answer:
    """Output of an answer. Head and first piece of the body go out as one write, which wakes the reader once;
    a body that comes later follows by itself.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""
        self._is_begun = False

    def write(self, data: bytes) -> None:
        """Send some bytes of it."""
        if self._is_begun:
            if self._head and len(data) <= _TOGETHER:
                data, self._head = self._head + data, b""
            self._send_head()
            self._transport.write(data)
        else:
            self._is_begun, self._head = True, data
            self._loop.call_soon(self._send_head)

    def _send_head(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            if not self._transport.is_closing():
                self._transport.write(head)

    def close(self) -> None:
        """End the connection when all is sent."""
        self._send_head()
        self._transport.close()

    def is_closing(self) -> bool:
        """True if the connection is closing."""
        return self._transport.is_closing()


class Answering(HttpToolsProtocol):
    """uvicorn's connection, whose answers take as few pieces as they can."""

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if not self.cycle.waiting_for_100_continue:
            self.cycle.transport = _Answer(self.transport, self.loop)  # type: ignore[assignment]


class Http(Answering):
    """A connection that is closed when a request's headers, or its body, do not come in time."""

    _deadline: Deadline
    _size = 0
    _whole = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = Deadline(self.loop, self._give_up)
        if connections.admit(transport):
            self._deadline.set(INTRODUCTION)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.end()
        connections.left(self.transport)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= _AHEAD:
            raise _TooMany  # ends the parsing: of what was sent at once, there may be thousands
        super().on_message_begin()
        self._size, self._whole = 0, False
        self._deadline.set(INTRODUCTION)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        # What was sent at once is parsed to its end, though the connection was given up.
        if self._size <= MAX_HEADERS:
            super().on_header(name, value)
            self._count(A_HEADER + len(name) + len(value))

    def on_headers_complete(self) -> None:
        connections.asks(self.transport)
        self._deadline.set(BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._whole = True
        self._deadline.set(None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._whole:
            connections.rests(self.transport)
        super().on_response_complete()

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > MAX_HEADERS:
            self.transport.abort()

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not begun and not self.transport.get_write_buffer_size():
            self.transport.write(_TOO_LATE)
        # Who does not read could keep a connection open that is closed only after all was written.
        if begun or self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()
