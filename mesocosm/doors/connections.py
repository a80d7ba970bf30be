"""Limits on clients' connections: their number, and the time to send a request.

Every connection is a descriptor, and so is every file of an episode: clients that connect and say nothing
would take those of all others. So there is a most, below the descriptors, for all and for each address; where
it is reached, the connection that has gone longest without asking for anything gives way, else the new one.
"""

from __future__ import annotations

import asyncio
import resource
from asyncio import AbstractEventLoop
from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

from mesocosm.doors.send_buffers import Unread

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
