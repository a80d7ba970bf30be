"""Clients that sign in at one server and go on at another: they are signed in there, too; then bytes pass.

What a client may say before it has signed in is answered where it is: both servers may be the same program.
"""

from __future__ import annotations

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from base64 import b64encode
from contextlib import suppress

_PIECE = 65_536
_NO = re.compile(r"NO (?:\[(?P<code>[A-Z-]+)\] )?(?P<text>.*)", re.DOTALL)


class Declined(Exception):
    """The other server says no: its code, and its words."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class Onward:
    """A connection to another server, on which the client has signed in."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def relay(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Relay between client and server until the server closes the connection."""
        up = asyncio.create_task(self._pass_up(reader))
        try:
            await _copy(self._reader, writer)
        finally:
            up.cancel()
            self.end()

    async def _pass_up(self, reader: StreamReader) -> None:
        with suppress(ConnectionError):
            await _copy(reader, self._writer)
            self._writer.write_eof()

    def end(self) -> None:
        """End it, and with it the client's."""
        self._writer.transport.abort()


async def connect(address: str, limit: int = _PIECE) -> tuple[StreamReader, StreamWriter]:
    """To the path of a unix socket, or to ``name:port``. Raises ``OSError``."""
    if "/" in address:
        return await asyncio.open_unix_connection(address, limit=limit)
    name, _, port = address.rpartition(":")
    return await asyncio.open_connection(name.strip("[]"), int(port), limit=limit)


async def imap_onward(address: str, user: str, password: str) -> Onward:
    """Sign in over IMAP. Raises ``Declined``, or ``OSError`` or ``EOFError`` where nobody answers."""
    reader, writer = await connect(address)
    try:
        await _line(reader)
        literals = [text.encode("utf-8", "surrogateescape") for text in (user, password)]
        named = b" ".join(b"{%d+}\r\n%b" % (len(literal), literal) for literal in literals)
        writer.write(b"onward LOGIN %b\r\n" % named)
        while not (said := await _line(reader)).startswith("onward "):
            pass
        answer = said.removeprefix("onward ")
        if not answer.startswith("OK"):
            no = _NO.fullmatch(answer)
            raise Declined(*(no["code"] or "CANNOT", no["text"]) if no else ("CANNOT", answer))
    except BaseException:
        writer.transport.abort()
        raise
    return Onward(reader, writer)


async def smtp_onward(address: str, user: str, password: str) -> Onward:
    """Sign in over SMTP. Raises ``Declined``, or ``OSError`` or ``EOFError`` where nobody answers."""
    reader, writer = await connect(address)
    try:
        await _smtp_reply(reader)
        writer.write(b"EHLO onward.example\r\n")
        await _smtp_reply(reader)
        plain = f"\0{user}\0{password}".encode("utf-8", "surrogateescape")
        writer.write(b"AUTH PLAIN %b\r\n" % b64encode(plain))
        code, _, text = (await _smtp_reply(reader)).partition(" ")
        if code != "235":
            raise Declined(code, text)
    except BaseException:
        writer.transport.abort()
        raise
    return Onward(reader, writer)


async def _smtp_reply(reader: StreamReader) -> str:
    """The last line of a reply."""
    while (line := await _line(reader))[3:4] == "-":
        pass
    return line


async def _line(reader: StreamReader) -> str:
    line = await reader.readline()
    if not line.endswith(b"\n"):
        raise EOFError("the connection has ended")
    return line.decode("utf-8", "replace").rstrip("\r\n")


async def _copy(source: StreamReader, target: StreamWriter) -> None:
    while data := await source.read(_PIECE):
        target.write(data)
        await target.drain()
