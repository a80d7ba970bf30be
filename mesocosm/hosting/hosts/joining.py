"""Hosts that join by themselves, such as containers: they announce their address and get their number."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.hosting.hosts.asking import ask
from mesocosm.hosting.hosts.door import Door
from mesocosm.hosting.hosts.host import HostSettings, hosting_of, mail_servers
from mesocosm.hosting.hosts.links import Host
from mesocosm.hosting.hosts.placement import key_of
from mesocosm.hosting.hosts.processes import STARTING, watch
from mesocosm.hosting.hosts.relay import HostReply
from mesocosm.hosting.server import authority, listen, serving

_LOOKED_EVERY = 0.5
"""Seconds after which the door looks again whether a host that comes serves."""
_ASKED_EVERY = 5.0
"""Seconds after which a host asks whether the door knows it."""


class Joining(BaseModel):
    """Announcement of a host to the door: where it will serve, as ``name:port``."""

    address: str
    mail: dict[str, str] = {}


class JoinedHosts:
    """The hosts that come to a door; one that leaves or ends is forgotten, and may come again."""

    def __init__(self, door: Door, settings: HostSettings) -> None:
        self._door = door
        self._settings = settings
        self._lives: dict[int, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        self._door.joins = self._join
        self._door.parts = self._part
        return self

    async def __aexit__(self, *_: object) -> None:
        for life in (lives := list(self._lives.values())):
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)

    def _join(self, body: bytes) -> HostReply:
        try:
            asked = Joining.model_validate_json(body)
        except ValueError:
            return HostReply.refusal(400, "say the address, as in 10.0.0.7:8322, and mail")
        number = next(number for number in count() if number not in self._lives)
        self._lives[number] = asyncio.create_task(self._live(number, asked))
        told = self._settings.model_copy(update={"number": number}).model_dump_json()
        return HostReply(200, told.encode(), {"content-type": "application/json"})

    async def _part(self, body: bytes) -> HostReply:
        """A host is to end: what it has is on others when this is answered."""
        try:
            address = Joining.model_validate_json(body).address
        except ValueError:
            return HostReply.refusal(400, "say the address, as in 10.0.0.7:8322")
        for host in list(self._door.hosts.values()):
            if host.address == address:
                await self._door.leaves(host.number)
        return HostReply(204)

    async def _live(self, number: int, asked: Joining) -> None:
        host = Host(number, asked.address, asked.mail)
        try:
            async with asyncio.timeout(STARTING):
                while (await ask(host, "GET", "/health", {}, patience=_LOOKED_EVERY)).status != 200:
                    await asyncio.sleep(_LOOKED_EVERY)
            await self._door.came(host)
            await watch(host, asyncio.Event())
        except TimeoutError:
            return
        finally:
            self._door.went(host)
            del self._lives[number]


def serve_joined(
    door: str, token: str, state: Path, name: str, port: int, told: Callable[[int, str], None]
) -> None:
    """Be a host of a door until interrupted.

    Args:
        door: The door's URL.
        token: The door's own admin token.
        state: The door's state directory; another one, if the door keeps episodes in a store.
        name: The address to listen on.
        port: The port; mail has ports that are free.
        told: Is told the host's number and address.

    Raises:
        UsageError: The door cannot be reached, refuses, or no longer knows this host.
    """
    mine = _way_to(door)
    listener = listen(name, port)
    mail = {protocol: listen(name, 0) for protocol in _ask(door, token, "GET")["mail"]}
    address = authority(mine, listener.getsockname()[1])
    mail_at = {kind: authority(mine, one.getsockname()[1]) for kind, one in mail.items()}
    asked = {"address": address, "mail": mail_at}
    settings = HostSettings.model_validate(_ask(door, token, "POST", asked))
    alone = key_of(state).hex() != settings.key
    if alone and settings.store is None:
        raise UsageError(f"{state} is not the state directory of {door}, which keeps episodes in no store")
    hosting = hosting_of(settings.model_copy(update={"state": state, "alone": alone}))
    with serving(hosting, mail_servers(hosting.pool, mail), listener):
        told(settings.number, address)
        began = time.monotonic()
        try:
            while _knows(door, token, address) or time.monotonic() - began < STARTING:
                time.sleep(_ASKED_EVERY)
        except (SystemExit, KeyboardInterrupt):
            # Told to end: clients are led to others before it does.
            with suppress(UsageError):
                _ask(door, token, "DELETE", {"address": address})
            raise
    raise UsageError(f"{door} no longer knows this host")


def _way_to(door: str) -> str:
    """The address of this machine as the door sees it."""
    found = urlsplit(door)
    try:
        with socket.create_connection((found.hostname or "", found.port or 80), 10) as connection:
            return str(connection.getsockname()[0])
    except OSError as error:
        raise UsageError(f"cannot reach {door}: {error}") from None


def _knows(door: str, token: str, address: str) -> bool:
    """True if a door has this host. An unreachable door may be restarting; it then has not."""
    try:
        return any(host["address"] == address for host in _ask(door, token, "GET")["hosts"])
    except UsageError:
        return False


def _ask(door: str, token: str, method: str, what: dict[str, Any] | None = None) -> dict[str, Any]:
    found = urlsplit(door)
    connection = http.client.HTTPConnection(found.hostname or "", found.port or 80, timeout=15)
    try:
        headers = {"Authorization": f"Bearer {token}", "Host": found.netloc}
        connection.request(method, "/hosts", None if what is None else json.dumps(what), headers)
        answer = connection.getresponse()
        said = json.loads(answer.read() or b"{}")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UsageError(f"cannot reach {door}: {error}") from None
    finally:
        connection.close()
    if answer.status not in (200, 204):
        raise UsageError(f"{door} takes no host: {said.get('detail', said)}")
    found_there: dict[str, Any] = said
    return found_there
