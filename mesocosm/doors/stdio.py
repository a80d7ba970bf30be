"""One world over stdio: shared with other processes, and answering all that was asked."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from mesocosm.doors.admission import take_turn
from mesocosm.services.calls import Outcome
from mesocosm.services.service import Action, Service
from mesocosm.services.world import World


class SharedWorld:
    """A world on which several processes act, each of which opens it for one call at a time.

    A client that starts one server per service is served so. Whose turn it is says a lock on the world's
    directory, which the system gives back whatever becomes of its holder.
    """

    def __init__(self, path: Path, offer: Mapping[str, Sequence[str] | None] | None = None) -> None:
        self._path = path
        self._offer = offer
        self._turn = anyio.Lock(fast_acquire=True)
        World(path).close()  # says so where there is none
        with _alone(path), World(path, offer=offer) as world:
            _ = world.journal  # says so where a hosting server has the world
            self.services: Mapping[str, Service[Any]] = world.services
            """The services with the tools that are offered."""
            self.all_services = world.all_services
            """Their names, and those of services without a tool that is offered."""
            self._open = frozenset(filter(world.is_open, world.all_services))

    def is_open(self, service: str) -> bool:
        """True if the whole service is offered."""
        return service in self._open

    async def make(
        self, service: str, action: Action, arguments: Mapping[str, Any], key: str | None
    ) -> Outcome:
        """Make one call, after those of this process and of others."""
        async with self._turn:
            # To wait for others must not keep this process from hearing its client.
            folder = await anyio.to_thread.run_sync(_locked, self._path)
            try:
                with World(self._path, offer=self._offer) as world:
                    return await take_turn(world, service, action, arguments, key)
            finally:
                os.close(folder)


def _locked(path: Path) -> int:
    """A descriptor of a world's directory that holds its lock; whoever closes it gives the lock back."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
    except BaseException:
        os.close(folder)
        raise
    return folder


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    folder = _locked(path)
    try:
        yield
    finally:
        os.close(folder)


class StdioEnvelope(Protocol):
    """A message on its way, as the SDK's transports pass it."""

    @property
    def message(self) -> Any:
        """The JSON-RPC message."""


class StdioConversation:
    """The messages of one client, whose end comes only when every request was answered.

    A script that writes its requests and closes the pipe wants the answers all the same; the SDK stops what
    is under way when nothing more comes in. And a client may ask what there is (``server/discover``), hear
    nothing in the second that it waits, and shake hands the older way: the SDK, which lets the first request
    decide on the protocol, is then started anew.
    """

    def __init__(
        self, reading: ObjectReceiveStream[Any], writing: ObjectSendStream[Any], patience: float = 600
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._patience = patience
        self._open: set[Any] = set()
        self._answered = anyio.Event()
        self._discovered = False
        self._handshake: StdioEnvelope | Exception | None = None
        self._first: StdioEnvelope | Exception | None = None
        self._answered_before: Any = None

    def begin_with(self, envelope: StdioEnvelope | Exception, answered: Any) -> None:
        """Let a message that was read already be the first; with the id of one that was answered, too."""
        self._first, self._answered_before = envelope, answered

    async def serve(
        self, run: Callable[[ObjectReceiveStream[Any], ObjectSendStream[Any]], Awaitable[None]]
    ) -> None:
        """Let a server answer the messages; ``run`` gets streams to use in place of the transport's."""
        await self._serve_once(run)
        while self._handshake:
            await self._serve_once(run)
        await self._writing.aclose()

    async def _serve_once(
        self, run: Callable[[ObjectReceiveStream[Any], ObjectSendStream[Any]], Awaitable[None]]
    ) -> None:
        into, received = anyio.create_memory_object_stream[Any](0)
        sent, out = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._pass_in, into)
            group.start_soon(self._pass_out, out)
            await run(received, sent)
            group.cancel_scope.cancel()

    async def _pass_in(self, into: ObjectSendStream[Any]) -> None:
        async with into:
            first, self._handshake = self._handshake, None
            only_discovers = first is None
            if first:
                await self._pass(first, into)
            async for envelope in self._incoming():
                method = getattr(getattr(envelope, "message", None), "method", None)
                if method == "initialize" and only_discovers and self._discovered:
                    self._handshake, self._discovered = envelope, False
                    break
                self._discovered |= method == "server/discover"
                only_discovers &= method == "server/discover"
                await self._pass(envelope, into)
            with anyio.move_on_after(self._patience):
                while self._open:
                    await self._answered.wait()

    async def _incoming(self) -> AsyncIterator[StdioEnvelope | Exception]:
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        async for envelope in self._reading:
            yield envelope

    async def _pass(self, envelope: StdioEnvelope | Exception, into: ObjectSendStream[Any]) -> None:
        self._note(envelope)
        await into.send(envelope)

    async def _pass_out(self, out: ObjectReceiveStream[Any]) -> None:
        async for envelope in out:
            message = envelope.message
            if self._answered_before is not None and self._is_answer(message):
                self._answered_before = None
            else:
                await self._writing.send(envelope)
            if not hasattr(message, "method") and hasattr(message, "id"):
                self._close(message.id)

    def _is_answer(self, message: Any) -> bool:
        return not hasattr(message, "method") and getattr(message, "id", None) == self._answered_before

    def _note(self, envelope: StdioEnvelope | Exception) -> None:
        message = getattr(envelope, "message", None)
        method = getattr(message, "method", None)
        if method == "notifications/cancelled":
            # What was called off may be answered by nothing.
            self._close((getattr(message, "params", None) or {}).get("requestId"))
        elif method is not None and getattr(message, "id", None) is not None:
            self._open.add(getattr(message, "id", None))

    def _close(self, id_: Any) -> None:
        self._open.discard(id_)
        self._answered.set()
        self._answered = anyio.Event()
