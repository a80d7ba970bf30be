"""A client's connection to the door: requests and answers are relayed unchanged.

Both messages are followed only to see where they end. What is sent before the answer to the request before is
there waits, up to ``_AHEAD`` bytes; two requests in one piece are refused.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import unquote

import httptools
import orjson

from mesocosm.doors.connections import (
    A_HEADER,
    BODY,
    IDLE,
    INTRODUCTION,
    MAX_HEADERS,
    REQUEST_ID,
    Deadline,
    accepted_id,
    connections,
    new_request_id,
)
from mesocosm.hosting.hosts.links import Host, HostLink

_log = logging.getLogger(__name__)
_AHEAD = 65_536
_TOGETHER = 65_536
"""Bytes up to which a request is awaited whole, before a host is told of it."""
MAX_BODY = 64 * 2**20
"""Bytes of a request that the door itself reads, such as one about many episodes."""


@dataclass(frozen=True)
class Head:
    method: str
    path: str
    raw: bytes

    @property
    def headers(self) -> dict[str, str]:
        """Names in small letters, and values; of several of one name the first."""
        found: dict[str, str] = {}
        for line in self.raw.decode("latin-1").split("\r\n")[1:]:
            name, _, value = line.partition(":")
            found.setdefault(name.strip().lower(), value.strip())
        return found

    @property
    def target(self) -> str:
        """Path and query as they were sent."""
        return self.raw.split(b" ", 2)[1].decode("latin-1")


@dataclass(frozen=True)
class HostReply:
    """An answer of the door itself, or one that it was given whole."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def refusal(cls, status: int, detail: str, **headers: str) -> HostReply:
        """Make an error reply in the control plane's form."""
        return cls(status, orjson.dumps({"detail": detail}), {"content-type": "application/json", **headers})


def busy(detail: str, seconds: int = 1) -> HostReply:
    """Not now: the same request may be sent again after some seconds."""
    return HostReply.refusal(503, detail, **{"retry-after": str(seconds)})


REPLACED = busy("the host of this episode is being replaced")
ENDED = busy("the host of this episode has ended; whether this was done is not known")

Handler = Callable[[Head, bytes], Coroutine[Any, Any, HostReply]]
"""Handler of a request that is read completely."""
Choice = Host | Handler | HostReply | Awaitable[Host | HostReply]


class Chooser(Protocol):
    """Choice of a request's host, with feedback on the outcome."""

    def choose(self, head: Head) -> Choice:
        """A host, soon or at once; or what answers in its place."""

    def seen(self, head: Head, host: int | None, status: int, seconds: float, sent: int) -> None:
        """A request was answered, by a host or by the door itself."""


class Client(asyncio.Protocol):
    """One connection of a client."""

    def __init__(self, chooser: Chooser) -> None:
        self._chooser = chooser
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._deadline = Deadline(self._loop, self._give_up)
        self._task: asyncio.Task[None] | None = None
        self._ahead = bytearray()
        self._link: HostLink | None = None
        self._gone = self._rests = False
        self._renew()

    def _renew(self) -> None:
        """Wait for the next request."""
        self._parser = httptools.HttpRequestParser(self)
        self._pieces: list[bytes] = []
        self._size = 0
        self._url = b""
        self._head: Head | None = None
        self._keep = True
        self._asks_first: bool | None = None
        self._headed = self._whole = self._second = self._last = False
        self._replied: tuple[int, bool] | None = None
        self._body: _Body | None = None
        self._handler: Handler | None = None
        self._streams = False
        self._began = 0.0
        self._sent = 0

    @property
    def waits(self) -> bool:
        """True if a request is not completely answered. Streams never are."""
        if self._gone or self._transport is None:
            return False
        asked = self._head is not None and not self._streams
        return asked or (not self._streams and self._transport.get_write_buffer_size() > 0)

    # -- what a client sends ----------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Of ``asyncio``."""
        self._transport = transport
        if connections.admit(transport):
            self._deadline.set(INTRODUCTION)

    def data_received(self, data: bytes) -> None:
        """Of ``asyncio``."""
        # One request at a time: what comes after it is kept until that is answered. Reading stops where a
        # client sends ever more, so that TCP holds it back.
        if self._whole:
            self._ahead += data
            if len(self._ahead) > _AHEAD:
                self._transport.pause_reading()
            return
        first = not self._size
        self._size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # The parser has stopped at the end of the head; the bytes themselves are passed on unchanged.
            self._last = True  # hosts know no other protocol, and go on with this one
        except httptools.HttpParserError:
            self._refuse(HostReply(400, b"Invalid HTTP request received.", {"content-type": "text/plain"}))
            return
        if first:
            self._rests = False
            if not self._whole:
                self._deadline.set(INTRODUCTION)
        # Two requests in one piece cannot be cut apart here: the parser does not say where the first one
        # ends.
        if self._second:
            self._last = True
            self._refuse(HostReply.refusal(400, "one request at a time: pipelining is not served"))
        elif self._head is not None:
            self._pass_on(data)
        elif self._headed and (self._whole or not self._waits_for_body(data)):
            self._begin(data)
        elif self._size > MAX_HEADERS and not self._headed:
            self._transport.abort()
        else:
            self._pieces.append(data)

    def on_message_begin(self) -> None:
        """Of ``httptools``."""
        self._second = self._whole

    def on_url(self, url: bytes) -> None:
        """Of ``httptools``."""
        self._url += url

    def on_headers_complete(self) -> None:
        """Of ``httptools``."""
        self._headed = True
        self._keep = bool(self._parser.should_keep_alive())

    def on_message_complete(self) -> None:
        """Of ``httptools``."""
        self._whole = True

    def _waits_for_body(self, data: bytes) -> bool:
        """True if the body should be awaited before a host is contacted. Many clients send it right behind
        the head, and one piece wakes the host once.
        """
        if self._asks_first is None:
            self._asks_first = b"\r\nexpect:" in b"".join((*self._pieces, data)).lower()
            connections.asks(self._transport)
            self._deadline.set(BODY)
        return not self._asks_first and self._size <= _TOGETHER

    def _begin(self, data: bytes) -> None:
        """Route a request once its head has arrived."""
        raw = b"".join((*self._pieces, data)) if self._pieces else data
        self._pieces = []
        # The parser counts no bytes of headers, and a thousand short ones cost more than a long one.
        end = raw.find(b"\r\n\r\n")
        if end < 0 or end + A_HEADER * raw.count(b"\r\n", 0, end) > MAX_HEADERS:
            self._transport.abort()
            return
        # The host and the door log the same id. It is put in as bytes: to parse and write the head anew would
        # change what the client sent.
        if b"\r\nx-request-id:" not in raw[:end].lower():
            line, _, rest = raw.lstrip(b"\r\n").partition(b"\r\n")
            raw = b"%s\r\nx-request-id: %s\r\n%s" % (line, new_request_id().encode(), rest)
            end = raw.find(b"\r\n\r\n")
        method = self._parser.get_method().decode("latin-1")
        try:
            path = _unquoted(httptools.parse_url(self._url).path or b"/")
        except (httptools.HttpParserError, UnicodeDecodeError):
            self._refuse(HostReply(400, b"Invalid HTTP request received.", {"content-type": "text/plain"}))
            return
        self._head = Head(method, path, raw[:end].lstrip(b"\r\n"))
        self._began = self._loop.time()
        self._streams = method == "GET"
        connections.asks(self._transport)
        self._deadline.set(None if self._whole else BODY)
        choice = self._chooser.choose(self._head)
        if isinstance(choice, HostReply):
            self._refuse(choice)
        elif isinstance(choice, Host):
            # The usual way, without a task: a connection to the host rests, and the request goes out at once.
            # The latest one is taken, since the oldest may be about to be closed by the host.
            if choice.idle and not choice.idle[-1].transport.is_closing():
                self._bind(choice.idle.pop())
                self._pass_on(raw)
            else:
                self._wait_for(self._linked(choice), raw)
        elif callable(choice):
            self._handler, self._body = choice, _Body()
            if self._head.headers.get("expect", "").lower() == "100-continue":
                # Hosts say so themselves; where the door answers, nobody else would, and the client waits.
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._pass_on(raw)
        else:
            self._wait_for(self._chosen(choice), raw)

    def _pass_on(self, data: bytes) -> None:
        """Forward bytes of the request."""
        if self._whole:
            self._deadline.set(None)
        if self._body is not None:
            self._collect(data)
        elif self._link is not None:
            if not self._link.transport.is_closing():
                self._link.send(data)
            # A host may answer before it has read the body, as with a refusal: the connection is free only
            # now.
            if self._whole and self._replied:
                self._finish(*self._replied)
        else:
            self._pieces.append(data)  # the connection to the host is being made

    def _collect(self, data: bytes) -> None:
        assert self._body
        self._body.feed(data)
        if self._body.size > MAX_BODY:
            self._refuse(HostReply.refusal(413, f"a request like this has at most {MAX_BODY:,} bytes"))
        elif self._whole:
            assert self._head
            assert self._handler
            self._task = self._loop.create_task(self._handle(self._handler, self._head, self._body.whole))

    async def _handle(self, handler: Handler, head: Head, body: bytes) -> None:
        try:
            reply = await handler(head, body)
        except Exception:  # noqa: BLE001 - the boundary of a request: others go on
            _log.exception("a request could not be answered")
            reply = HostReply.refusal(500, "a fault of the server")
        self._say(reply)

    # -- to a host --------------------------------------------------------------------------------------

    def _wait_for(self, coming: Coroutine[Any, Any, HostLink | HostReply], raw: bytes) -> None:
        self._pieces.append(raw)
        # A body that comes meanwhile stays in the kernel instead of our memory.
        self._transport.pause_reading()
        self._task = self._loop.create_task(self._connect(coming))

    async def _linked(self, host: Host) -> HostLink | HostReply:
        try:
            return await host.link()
        except OSError:
            return REPLACED

    async def _chosen(self, choice: Awaitable[Host | HostReply]) -> HostLink | HostReply:
        found = await choice
        return found if isinstance(found, HostReply) else await self._linked(found)

    async def _connect(self, coming: Coroutine[Any, Any, HostLink | HostReply]) -> None:
        found = await coming
        self._transport.resume_reading()
        if isinstance(found, HostReply):
            self._refuse(found)
            return
        self._bind(found)
        pieces, self._pieces = self._pieces, []
        self._pass_on(b"".join(pieces))

    def _bind(self, link: HostLink) -> None:
        assert self._head is not None
        self._link = link
        if not self._streams:
            link.host.busy += 1
        link.begin(self, head_only=self._head.method == "HEAD")

    def _unbind(self) -> HostLink | None:
        link, self._link = self._link, None
        if link is not None and not self._streams:
            link.host.busy -= 1
        return link

    # -- what comes back --------------------------------------------------------------------------------

    def answer(self, data: bytes) -> None:
        """Bytes of the answer, for the client."""
        self._sent += len(data)
        self._transport.write(data)

    def answered(self, status: int, keep: bool) -> None:
        """The answer is there; the request may not be, yet."""
        if self._whole:
            self._finish(status, keep)
        else:
            self._replied = (status, keep)

    def _finish(self, status: int, keep: bool) -> None:
        host = self._link.host.number if self._link else None
        if link := self._unbind():
            link.rest(keep and not self._last)
        self._report(status, host)
        if not keep or self._last:
            self._transport.close()
            return
        self._next()

    def _next(self) -> None:
        connections.rests(self._transport)
        self._rests = True
        self._deadline.set(IDLE)
        ahead, self._ahead = bytes(self._ahead), bytearray()
        self._renew()
        if ahead:
            if len(ahead) > _AHEAD:
                self._transport.resume_reading()
            self.data_received(ahead)

    def lost(self) -> None:
        """The host has ended, or the connection to it has."""
        host = self._link.host.number if self._link else None
        self._unbind()
        if self._sent:
            self._report(502, host)
            self._transport.abort()  # half an answer must not look like a whole one
        else:
            self._say(ENDED, host)

    def hold(self, full: bool) -> None:
        """The host takes no more, or takes it again."""
        (self._transport.pause_reading if full else self._transport.resume_reading)()

    def _refuse(self, reply: HostReply) -> None:
        """Answer in place of a host, whatever the client still sends."""
        self._last = self._last or not self._whole
        self._body = None
        self._say(reply)

    def _say(self, reply: HostReply, host: int | None = None) -> None:
        if self._gone or self._transport.is_closing():
            return
        self._last = self._last or not self._whole or not self._keep
        headers = {**reply.headers, "content-length": str(len(reply.body))}
        if self._head and (request := accepted_id(self._head.headers.get(REQUEST_ID.lower()))):
            headers[REQUEST_ID.lower()] = request
        headers["connection"] = "close" if self._last else "keep-alive"
        lines = [
            f"HTTP/1.1 {reply.status} {_phrase(reply.status)}",
            *(f"{k}: {v}" for k, v in headers.items()),
        ]
        body = b"" if self._head and self._head.method == "HEAD" else reply.body
        data = "\r\n".join((*lines, "", "")).encode("latin-1") + body
        self._sent += len(data)
        self._transport.write(data)
        if link := self._unbind():
            link.give_up()
        self._report(reply.status, host)
        if self._last:
            self._transport.close()
        else:
            self._next()

    def _report(self, status: int, host: int | None) -> None:
        if self._head is not None:
            seconds = self._loop.time() - self._began
            self._chooser.seen(self._head, host, status, seconds, self._sent)

    # -- the connection ---------------------------------------------------------------------------------

    def connection_lost(self, error: Exception | None) -> None:
        """Of ``asyncio``."""
        self._gone = True
        self._deadline.end()
        connections.left(self._transport)
        if self._task is not None and self._handler is None:
            self._task.cancel()
        if link := self._unbind():
            link.give_up()

    def pause_writing(self) -> None:
        """Of ``asyncio``: the client reads more slowly than the host writes."""
        if self._link is not None:
            self._link.transport.pause_reading()

    def resume_writing(self) -> None:
        """Of ``asyncio``."""
        if self._link is not None:
            self._link.transport.resume_reading()

    def _give_up(self) -> None:
        """Give up on input that did not arrive in time. The host's part ends with its connection."""
        if self._sent or self._rests:
            self._transport.abort()
        else:
            self._refuse(HostReply(408))


class _Body:
    """The body of a request, out of the request's bytes."""

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._pieces: list[bytes] = []
        self.size = 0

    def feed(self, data: bytes) -> None:
        """Some bytes of the request, from its first on."""
        with suppress(httptools.HttpParserUpgrade):
            self._parser.feed_data(data)

    def on_body(self, data: bytes) -> None:
        """Of ``httptools``."""
        self._pieces.append(data)
        self.size += len(data)

    @property
    def whole(self) -> bytes:
        return b"".join(self._pieces)


def _unquoted(path: bytes) -> str:
    text = path.decode("ascii")
    return unquote(text) if "%" in text else text


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase
