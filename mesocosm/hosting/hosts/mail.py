"""Mail through the door: clients sign in here, and go on at the host that their episode is on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from mesocosm.doors.mail.access import BadSignIn, Broken
from mesocosm.doors.mail.onward import Onward, imap_onward, smtp_onward
from mesocosm.hosting.hosts.door import Door
from mesocosm.hosting.hosts.ids import is_id
from mesocosm.hosting.hosts.relay import HostReply

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
