"""Serving with several hosts on one machine, in the foreground."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from types import MappingProxyType
from weakref import WeakKeyDictionary

import uvicorn

from mesocosm.doors.mail.access import BadSignIn, Broken
from mesocosm.doors.mail.onward import Onward, imap_onward, smtp_onward
from mesocosm.hosting.hosts.door import Door
from mesocosm.hosting.hosts.host import HostSettings, take_turns
from mesocosm.hosting.hosts.placement import Ids, Placement, is_id
from mesocosm.hosting.hosts.relay import HostReply
from mesocosm.hosting.metrics import RequestLog
from mesocosm.hosting.pool import count_in
from mesocosm.hosting.tokens import following
from mesocosm.worlds.garbage import leave_modules_out

# Mail through the door: clients sign in here, and go on at the host that their episode is on.

SignIn = Callable[[str, str, str], Awaitable[Onward]]
"""Address, user, password: a connection on which the client has signed in."""

_SIGN_INS: dict[str, tuple[str, SignIn]] = {
    "IMAP LOGIN": ("imap", imap_onward),
    "SMTP AUTH": ("smtp", smtp_onward),
}
_TRIES = 20
_PAUSE = 0.5
_PATIENCE = 30.0
"""Seconds in which a host has to sign a client in."""


class HostsMailboxes:
    """The mailboxes of all hosts: the password says which."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._on: WeakKeyDictionary[Onward, tuple[str, int]] = WeakKeyDictionary()
        door.told.append(self._part)

    async def sign_in(self, operation: str, user: str, password: str) -> Onward:
        """Sign a client in at the host of its episode; where that has just ended, at the one that follows."""
        if not is_id(password):
            raise BadSignIn
        protocol, sign_in = _SIGN_INS[operation]
        for _ in range(_TRIES):
            host = await self._door.host_of(password)
            if isinstance(host, HostReply):
                raise Broken
            try:
                async with asyncio.timeout(_PATIENCE):
                    onward = await sign_in(host.mail[protocol], user, password)
            except TimeoutError:
                raise Broken from None
            except (OSError, EOFError):
                await asyncio.sleep(_PAUSE)
                continue
            self._on[onward] = (password, host.number)
            return onward
        raise Broken

    def _part(self) -> None:
        """End the connections to hosts that episodes are on no longer; clients come again."""
        for onward, (id_, number) in list(self._on.items()):
            if self._door.placement.of(id_) != number:
                onward.end()


Start = Callable[[Door, HostSettings], AbstractAsyncContextManager[object]]
"""Begins hosts of a door, as they are told to be."""


def serve_hosts(
    listener: socket.socket,
    settings: HostSettings,
    start: Start,
    when_up: Callable[[], None],
    log: RequestLog | None = None,
    mail: Mapping[str, socket.socket] = MappingProxyType({}),
) -> None:
    """Serve until interrupted, on sockets that listen already. ``when_up`` is called beside, once.

    ``start`` says what the hosts are; ``mail`` has the sockets of ``imap`` and ``smtp``, if they are served.
    """
    factory = uvicorn.Config("", loop="auto").get_loop_factory()
    with listener, asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_serve(listener, settings, start, when_up, log, mail))


async def _serve(
    listener: socket.socket,
    settings: HostSettings,
    start: Start,
    when_up: Callable[[], None],
    log: RequestLog | None,
    mail: Mapping[str, socket.socket],
) -> None:
    take_turns()
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    door = Door(
        Placement(Ids(bytes.fromhex(settings.key))),
        settings.admin_token,
        log=log,
        tokens=settings.tokens,
        token_file=settings.token_file,
        state=settings.state,
        prune=settings.store is None,
        mail=settings.mail_ports,
    )
    if not settings.alone:
        door.metrics.gauge("mesocosm_episodes", "Episodes that there are", lambda: count_in(settings.state))
    async with (
        start(door, settings),
        _mail_servers(door, mail),
        following(settings.token_file, door.take_tokens, door.background),
    ):
        server = await loop.create_server(door.client, sock=listener, backlog=2048)
        leave_modules_out()
        beside = asyncio.create_task(asyncio.to_thread(when_up))

        def end_if_failed(done: asyncio.Task[None]) -> None:
            if done.exception():
                over.set()

        beside.add_done_callback(end_if_failed)
        await over.wait()
        server.close()
        await door.drain()
    if beside.done():
        beside.result()


def _mail_servers(door: Door, mail: Mapping[str, socket.socket]) -> AbstractAsyncContextManager[object]:
    if not mail:
        return nullcontext()
    from mesocosm.doors.mail.ports import MailServers
    from mesocosm.hosting.hosts.serving import HostsMailboxes

    return MailServers(HostsMailboxes(door), imap=mail.get("imap"), smtp=mail.get("smtp"))
