"""Requests that the door itself makes to hosts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import httptools

from mesocosm.hosting.hosts.links import Host
from mesocosm.hosting.hosts.relay import ENDED, REPLACED, HostReply, busy

_NOT_HANDED_ON = {"connection", "content-length", "transfer-encoding", "expect", "upgrade"}
"""Headers that are about the connection of a client, not about what it asks for."""


def handed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers of a client's request that a host has to know."""
    return {name: value for name, value in headers.items() if name not in _NOT_HANDED_ON}


async def ask(
    host: Host, method: str, target: str, headers: Mapping[str, str], body: bytes = b"", patience: float = 600
) -> HostReply:
    """Ask a host; 503 if it cannot be reached (``REPLACED``), ends meanwhile (``ENDED``), or takes longer
    than ``patience``.
    """
    try:
        async with asyncio.timeout(patience):
            link = await host.link()
    except OSError:  # a time-out is one
        return REPLACED
    whole = _Whole()
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if "host" not in headers:
        lines.append("host: localhost")
    lines += [f"content-length: {len(body)}", "", ""]
    link.begin(whole, head_only=False)
    host.busy += 1
    try:
        link.send("\r\n".join(lines).encode("latin-1") + body)
        async with asyncio.timeout(patience):
            reply, keep = await whole.reply
        link.rest(keep)
        return reply
    except TimeoutError:
        return busy("the host has too much to do")
    except ConnectionError:
        return ENDED
    finally:
        host.busy -= 1
        if not whole.reply.done() or whole.reply.cancelled():
            link.give_up()


class _Whole:
    """An answer that is read to its end."""

    def __init__(self) -> None:
        self.reply: asyncio.Future[tuple[HostReply, bool]] = asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []

    def answer(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def answered(self, status: int, keep: bool) -> None:
        if not self.reply.done():
            self.reply.set_result((HostReply(status, b"".join(self._body), handed_on(self._headers)), keep))

    def lost(self) -> None:
        if not self.reply.done():
            self.reply.set_exception(ConnectionError())

    def hold(self, full: bool) -> None:
        """Never pause: the door's own requests are small, or buffered for the host."""
