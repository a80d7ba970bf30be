"""Admission of requests: what bodies may have, and the threads that calls are made in.

Reading JSON holds up everybody, in proportion to the values that it makes rather than to its bytes: a
megabyte of brackets takes twenty times as long as a megabyte of text. So do forms, by their fields. So bodies
are looked at before they are parsed, and an episode has a quota of them.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope

from mesocosm.services.calls import Outcome
from mesocosm.services.service import Action
from mesocosm.services.world import World
from mesocosm.worlds.limits import settings
from mesocosm.worlds.places import whoever_waits
from mesocosm.worlds.shares import Shares

T = TypeVar("T")

# Quota of request bodies per episode: a body stays in memory until its request is answered.
#
# Each request has a limit of its own, but of a thousand that are sent at once, and never to their end, each
# would be within it.

MOST = 64 * 2**20
"""Bytes for one episode: two of the largest requests that there are."""
FULL = "Too much is being sent to this episode at a time; send it again when the rest was answered."

Take = Callable[[int], None]
"""Told of each piece before it is kept; raises ``Full``."""


class Full(Exception):
    """There is no room for more."""


class Intake:
    """Bytes that each episode is currently receiving."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    @contextmanager
    def of(self, episode: str) -> Iterator[Take]:
        """A request, as long as anything of it is kept."""
        held = 0

        def take(size: int) -> None:
            nonlocal held
            if self._held[episode] + size > MOST:
                raise Full(FULL)
            self._held[episode] += size
            held += size

        try:
            yield take
        finally:
            self._held[episode] -= held
            if not self._held[episode]:
                del self._held[episode]


intake = Intake()
"""Of this process, by whichever door it comes."""


MAX_CONTAINERS = 50_000
"""Lists and objects in one call; what a product's own client sends has some hundred."""
MAX_BODY = 4 * 2**20
"""Bytes of one call, which the SDK sets."""
MAX_UPLOAD = 32 * 2**20
"""Bytes of a request to a vendor's API, as sent and after decompression: a push of git may be large."""
MAX_TEXT = 16 * 2**20
"""Bytes of it where it is JSON or a form."""
MAX_FIELDS = 10_000
"""Fields of a form, and values of a query; frameworks allow 1,000 to 4,096."""
MAX_QUERY = 16_384
"""Bytes of a query; servers allow some 8,000."""


class BodyTooLarge(Exception):
    """A request that is refused unread, with its answer."""


async def looked_at(scope: Scope, receive: Receive, take: Take) -> tuple[Receive, str]:
    """Buffer a body for whoever answers; also return the error, if any."""
    declared = dict(scope["headers"]).get(b"content-length", b"")
    if declared.isdigit() and int(declared) < MAX_CONTAINERS:
        return receive, ""
    waiting: list[Message] = []
    size = containers = 0
    more = scope["method"] == "POST"
    while more and size <= MAX_BODY:
        message = await receive()
        part = message.get("body", b"")
        take(len(part))
        waiting.append(message)
        size += len(part)
        containers += part.count(b"[") + part.count(b"{")
        more = message.get("more_body", False)
        if containers > MAX_CONTAINERS:
            return receive, f"A call may have {MAX_CONTAINERS:,} lists and objects; this one has more."
    coming = iter(waiting)

    async def again() -> Message:
        for message in coming:
            return message
        return await receive()

    return again, ""


async def received(receive: Receive, headers: Mapping[str, str], take: Take) -> bytes:
    """The body of a request to a vendor's API.

    Raises ``BodyTooLarge``, ``zlib.error`` for what is cut off, or ``ClientDisconnect`` for half a request.
    """
    kind = headers.get("content-type", "")
    most = MAX_TEXT if not kind or "json" in kind or "form" in kind else MAX_UPLOAD
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise BodyTooLarge(f"The body is larger than {most} bytes.")
        take(len(part))
        parts.append(part)
        more = message.get("more_body", False)
    body = b"".join(parts)
    if body and headers.get("content-encoding") == "gzip":
        packed, body = len(body), await anyio.to_thread.run_sync(_unpacked, body, most)
        take(max(0, len(body) - packed))
    return body


def _unpacked(body: bytes, most: int) -> bytes:
    """Decompress gzip. Raises ``zlib.error`` unless the body is one whole stream."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    unpacked = unpacking.decompress(body, most + 1)
    if len(unpacked) > most:
        raise BodyTooLarge(f"The body is larger than {most} bytes.")
    if not unpacking.eof or unpacking.unused_data:
        raise zlib.error("the stream is cut off, or something follows it")
    return unpacked


def check_size(query: str, kind: str, body: bytes) -> None:
    """Raise ``BodyTooLarge`` for a request that would take long to parse.

    Args:
        query: That of its URL.
        kind: The type of its body.
        body: The body, decompressed.
    """
    if len(query) > MAX_QUERY:
        raise BodyTooLarge(f"The query is longer than {MAX_QUERY} bytes.")
    values = query.count("&")
    if kind == "application/x-www-form-urlencoded":
        fields = body.count(b"&")
    elif kind == "multipart/form-data":
        fields = len(re.findall(rb"\ncontent-disposition:", body, re.IGNORECASE))
    else:
        fields = 0
    if max(values, fields) > MAX_FIELDS:
        raise BodyTooLarge(f"A form may have {MAX_FIELDS:,} fields; this one has more.")
    is_json = not kind or "json" in kind
    containers = body.count(b"[") + body.count(b"{") if is_json else 0
    if containers > MAX_CONTAINERS:
        raise BodyTooLarge(f"A body may have {MAX_CONTAINERS:,} lists and objects; this one has more.")


# Dispatch of calls to threads: the event loop reads requests and writes answers, a thread makes the call.
#
# Calls are ordinary blocking code (SQLite, files, parsers), so none of them runs on the event loop, which
# serves every connection. An episode has one call at a time (its lock is the caller's), different episodes
# have theirs at once. A call that has a thread ends at its deadline (``worlds/deadlines.py``), and one that
# computes for long lets the event loop go first (``worlds/deadlines.py``).
#
# A call that waits for one of the places for statements, formulas or large files does not count as one of
# the ``MAX_THREADS``: however many episodes wait there, those who ask for something else are served.
#
# Code of agents runs in sandboxes, for minutes if need be, and has threads of its own, as many as there may
# be sandboxes; ``worlds/shares.py`` says whose turn it is. So nobody who only reads mail waits for a
# sandbox.
#
# Until decision 103 a call was made on the event loop for 20 ms, undone if it had not ended, and made once
# more in a thread, which saved short calls some 0.1 ms for the thread. What to measure:
# ``benchmarks/tool_call.py`` and ``benchmarks/hostile_neighbours.py``.

MAX_THREADS = 256
"""Calls that may be at work in threads, beside code and those that wait for places: an episode has one, so
this many episodes."""


async def take_turn(
    world: World, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
) -> Outcome:
    """Make a call on a world while holding its turn."""
    call = partial(world.calls.make, service, action, arguments, idempotency_key=key)
    # Not cancellable: a call that has begun is finished and journalled even if the client has gone.
    if action.runs_code:
        async with code_places().place(str(world.path)):
            return await anyio.to_thread.run_sync(call, limiter=_code_threads.get())
    threads, loop = _calls.get(), asyncio.get_running_loop()

    def wait(more: int) -> None:
        """Lend another call the thread of one that waits for a place, until it goes on."""
        with suppress(RuntimeError):  # the loop has ended, and the server with it
            loop.call_soon_threadsafe(_lend, threads, more)

    token = whoever_waits.set(wait)
    try:
        return await anyio.to_thread.run_sync(call, limiter=threads)
    finally:
        whoever_waits.reset(token)


def _lend(threads: anyio.CapacityLimiter, more: int) -> None:
    threads.total_tokens += more


class _OfLoop(Generic[T]):
    """A value per event loop."""

    def __init__(self, name: str, make: Callable[[], T]) -> None:
        self._kept: RunVar[T] = RunVar(name)
        self._make = make

    def get(self) -> T:
        """Return the running event loop's value."""
        try:
            return self._kept.get()
        except LookupError:
            self._kept.set(self._make())
            return self._kept.get()


def call_threads() -> anyio.CapacityLimiter:
    """Return the threads of calls that run no code."""
    return _calls.get()


def code_places() -> Shares:
    """Places of calls that run code, by episodes in turn."""
    return _code.get()


_calls = _OfLoop("call_limiter", lambda: anyio.CapacityLimiter(MAX_THREADS))
_code = _OfLoop("code_places", lambda: Shares(settings().sandbox_jobs))
_code_threads = _OfLoop("code_threads", lambda: anyio.CapacityLimiter(settings().sandbox_jobs))
