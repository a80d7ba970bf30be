"""Send buffers: bytes that clients have not taken yet, in this process's memory.

A client that asks for much and reads nothing, or a byte a second, would keep that memory for ever, and
whoever writes to it would wait as long. So who takes too little in its time is cut off; and where more lies
about than may, those who have taken nothing for longest are.
"""

# A client that does not read would make the server keep its answers in memory without end (decision 031).

from __future__ import annotations

import asyncio
import socket
import struct
import sys

PATIENCE = 120.0
"""Seconds in which a client has to take ``LEAST`` bytes, or all that there is."""
LEAST = 16_384
"""A kernel takes more for a slow reader, at a time (64 KiB on the same machine); who reads bytes, less."""
MOST = 256 * 2**20
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
            if now - since < PATIENCE and waiting <= MOST:
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
