"""Connections of clients and HTTP on them: their number, the time to send a request, and the id of each.

Every connection is a descriptor, and so is every file of an episode: clients that connect and say nothing
would take those of all others. So there is a most, below the descriptors, for all and for each address; where
it is reached, the connection that has gone longest without asking for anything gives way, else the new one.
"""

from __future__ import annotations

import asyncio
import re
import resource
import secrets
import socket
import struct
import sys
from asyncio import AbstractEventLoop, TimerHandle
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Send buffers: bytes that clients have not taken yet, in this process's memory.
#
# A client that asks for much and reads nothing, or a byte a second, would keep that memory for ever, and
# whoever writes to it would wait as long. So who takes too little in its time is cut off; and where more lies
# about than may, those who have taken nothing for longest are.

# A client that does not read would make the server keep its answers in memory without end (decision 031).


PATIENCE = 120.0
"""Seconds in which a client has to take ``LEAST`` bytes, or all that there is."""
LEAST = 16_384
"""A kernel takes more for a slow reader, at a time (64 KiB on the same machine); who reads bytes, less."""
MOST_UNREAD = 256 * 2**20
"""Bytes that may lie about for all clients together."""
_LOOK = 1.0
"""Seconds between two looks."""


class Unread:
    """The connections of one event loop, and how far behind their clients are."""

    def __init__(self) -> None:
        self._connections: dict[asyncio.WriteTransport, None] = {}
        self._behind: dict[asyncio.WriteTransport, tuple[float, int]] = {}
        """Since when, and how much it had taken then; longest first."""
        self._is_looking = False

    def watch(self, transport: asyncio.WriteTransport) -> None:
        """Look after a connection."""
        self._connections[transport] = None
        if not self._is_looking:
            self._is_looking = True
            asyncio.get_running_loop().call_later(_LOOK, self._look)

    def forget(self, transport: asyncio.WriteTransport) -> None:
        """It has ended."""
        self._connections.pop(transport, None)
        self._behind.pop(transport, None)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._cut_the_slow(loop.time())
        finally:
            self._is_looking = bool(self._connections)
            if self._is_looking:
                loop.call_later(_LOOK, self._look)

    def _cut_the_slow(self, now: float) -> None:
        waiting = 0
        for transport in self._connections:
            if size := transport.get_write_buffer_size():
                waiting += size
                self._note(transport, now)
            else:
                self._behind.pop(transport, None)
        for transport, (since, _) in list(self._behind.items()):
            if now - since < PATIENCE and waiting <= MOST_UNREAD:
                break
            waiting -= transport.get_write_buffer_size()
            _cut(transport)

    def _note(self, transport: asyncio.WriteTransport, now: float) -> None:
        taken = _taken(transport)
        if (known := self._behind.get(transport)) and taken - known[1] < LEAST:
            return
        self._behind.pop(transport, None)
        self._behind[transport] = (now, taken)


def _taken(transport: asyncio.WriteTransport) -> int:
    """Bytes that the client's machine has taken; where that is not said, the fewer wait, the more it took."""
    connection = transport.get_extra_info("socket")
    if sys.platform == "linux" and connection.family in (socket.AF_INET, socket.AF_INET6):
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKNOWLEDGED.size)
        return int(_ACKNOWLEDGED.unpack(told)[0])
    return -transport.get_write_buffer_size()


def _cut(transport: asyncio.WriteTransport) -> None:
    """End a connection; the kernel does not keep what it has of it, either."""
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


_ACKNOWLEDGED = struct.Struct("120xQ")
"""Offset of the acknowledged bytes in the kernel's ``tcp_info``."""


# A request's own id, by which it is found again in answers, logs and journals: the client's, or one made.

REQUEST_ID = "X-Request-Id"
RAW_REQUEST_ID = REQUEST_ID.lower().encode()

current_request: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Id of the request being answered."""
_ALLOWED = re.compile(r"[\w.:-]{1,64}", re.ASCII)


def new_request_id() -> str:
    """One for a request that came without."""
    return secrets.token_hex(8)


def accepted_id(text: str | None) -> str | None:
    """Return a client's request id if it is acceptable."""
    return text if text and _ALLOWED.fullmatch(text) else None


# Deadlines of connections, which are set anew several times a request and met hardly ever.


class Deadline:
    """Calls ``late`` when what was expected was not there in time.

    To set a timer and take it back costs more than to let one run out that nobody needs any more.
    """

    def __init__(self, loop: AbstractEventLoop, late: Callable[[], None]) -> None:
        self._loop, self._late = loop, late
        self._until: float | None = None
        self._timer: TimerHandle | None = None

    def set(self, seconds: float | None) -> None:
        """Require the next data within ``seconds``; ``None`` expects nothing."""
        if seconds is None:
            self._until = None
            return
        self._until = until = self._loop.time() + seconds
        if self._timer is None:
            self._timer = self._loop.call_at(until, self._look)
        elif self._timer.when() > until:
            self._timer.cancel()
            self._timer = self._loop.call_at(until, self._look)

    def end(self) -> None:
        """The connection is over."""
        self._until = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._until is None:
            return
        if self._loop.time() < self._until:
            self._timer = self._loop.call_at(self._until, self._look)
        else:
            self._until = None
            self._late()


SHARE = 4
"""One descriptor in so many may be a connection."""
FEWEST, MOST = 64, 16_384
INTRODUCTION = 20.0
"""Seconds in which a client has to say what it wants: to send a request's headers, or to sign in."""
BODY = 300.0
"""Seconds in which a request has to be there with its whole body."""
IDLE = 120.0
"""Seconds for which a connection may rest between two requests. Longer than clients keep one that rests
(httpx 5 seconds, aiohttp 15, Go 90): where the server closes first, a client may be sending just then, and
learns only that the connection broke."""


def raise_file_limit() -> None:
    """Raise this process's limit of descriptors to the maximum."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65_536) if hard != resource.RLIM_INFINITY else 65_536
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections() -> int:
    """Return the maximum number of simultaneous connections of this process."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(FEWEST, min(MOST, files // SHARE))


class Connections:
    """The connections of one process, oldest first."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self.limited = True
        """Not where all come from a door of ours, which has let in as many as it wants to."""
        self._waiting: dict[asyncio.WriteTransport, str] = {}
        """Those that have not asked for anything yet, by address."""
        self._asking: dict[asyncio.WriteTransport, str] = {}
        self._of: Counter[str] = Counter()
        self._unread: WeakKeyDictionary[AbstractEventLoop, Unread] = WeakKeyDictionary()

    def admit(self, transport: asyncio.WriteTransport) -> bool:
        """Accept a connection, or close it and return false if there is no place."""
        address = _address(transport)
        most = self._most or most_connections()
        if not self.limited:
            place = True
        elif self._of[address] >= max(most // 2, 1):
            place = self._give_way(address)
        elif len(self._waiting) + len(self._asking) >= most:
            place = self._give_way(None)
        else:
            place = True
        if not place:
            _end(transport)
            return False
        self._waiting[transport] = address
        self._of[address] += 1
        if self.limited:
            self._unread.setdefault(asyncio.get_running_loop(), Unread()).watch(transport)
        return True

    def asks(self, transport: asyncio.WriteTransport) -> None:
        """The client has said what it wants."""
        if transport in self._waiting:
            self._asking[transport] = self._waiting.pop(transport)

    def rests(self, transport: asyncio.WriteTransport) -> None:
        """The client has got what it wanted, and may give way."""
        if transport in self._asking:
            self._waiting[transport] = self._asking.pop(transport)

    def left(self, transport: asyncio.WriteTransport) -> None:
        """The connection has ended."""
        address = self._waiting.pop(transport, None) or self._asking.pop(transport, None)
        if address is not None:
            self._of[address] -= 1
            if not self._of[address]:
                del self._of[address]
            if unread := self._unread.get(asyncio.get_running_loop()):
                unread.forget(transport)

    def _give_way(self, address: str | None) -> bool:
        for transport, other in self._waiting.items():
            if address in (None, other):
                self.left(transport)
                _end(transport)
                return True
        return False


def _end(transport: Any) -> None:
    """Close a connection that rests, so that its client sees the end; at once where it does not read."""
    if transport.get_write_buffer_size():
        transport.abort()
    else:
        transport.close()


def _address(transport: asyncio.WriteTransport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) and peer else ""


connections = Connections()
"""Those of this process: all its doors share the descriptors."""


# HTTP as it is served: uvicorn's protocol with limits of time, size and number.

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
