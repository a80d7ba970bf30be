"""Supervision of hosts: start, watch, and replace those that end or hang."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from typing import Self

from mesocosm.hosting.hosts.asking import ask
from mesocosm.hosting.hosts.door import Door
from mesocosm.hosting.hosts.host import HostSettings
from mesocosm.hosting.hosts.links import Host

STARTING = 120.0
"""Seconds in which a host has to serve."""
_LOOKED_AT_EVERY = 2.0
_DEAF_AFTER = 20.0
"""Seconds without an answer after which a host is taken for one that will give none."""
_PAUSES = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds before a host is started again that has ended so many times without having served for a minute."""
_SETTLED = 60.0

_log = logging.getLogger("mesocosm.hosting")


class Hosts(ABC):
    """A number of hosts behind a door; an asynchronous context manager, which ends them.

    Args:
        door: Told which hosts serve.
        settings: What each is told; number and address are its own.
        count: How many.
    """

    def __init__(self, door: Door, settings: HostSettings, count: int) -> None:
        self.door = door
        self.settings = settings
        self._count = count
        self._keepers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._keepers = [asyncio.create_task(self._keep(number)) for number in range(self._count)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    @abstractmethod
    async def live(self, number: int) -> None:
        """One life of a host, from its start to its end."""

    async def _keep(self, number: int) -> None:
        """One life after the other."""
        loop, failures = asyncio.get_running_loop(), 0
        while True:
            began = loop.time()
            try:
                await self.live(number)
            except Exception:  # noqa: BLE001 - whatever it was, the next one is started
                _log.exception("host %d could not be kept", number)
            failures = 1 if loop.time() - began > _SETTLED else failures + 1
            pause = _PAUSES[min(failures, len(_PAUSES)) - 1]
            _log.warning("host %d has ended and is replaced in %g seconds", number, pause)
            await asyncio.sleep(pause)


async def watch(host: Host, ended: asyncio.Event) -> None:
    """Until a host has ended, or answers no more."""
    while not await _is_set(ended, _LOOKED_AT_EVERY):
        answer = await ask(host, "GET", "/health", {}, patience=_DEAF_AFTER)
        if answer.status != 200:
            if not ended.is_set():
                _log.warning("host %d does not answer and is ended", host.number)
            return


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
