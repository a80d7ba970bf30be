"""Hosts as processes: started, watched, and replaced when they end or hang; here those of this machine."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import shutil
import tempfile
from abc import ABC, abstractmethod
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self

from mesocosm.hosting.hosts.asking import ask
from mesocosm.hosting.hosts.door import Door
from mesocosm.hosting.hosts.host import HostSettings, live
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


_LONGEST = 100
"""Bytes by which a host says that it serves. They are no pickle: nothing of a host is loaded here."""
_ENDING = 5.0
"""Seconds in which a host has to end when told to."""


class HostProcesses(Hosts):
    """Hosts that share the machine and its state directory."""

    async def __aenter__(self) -> Self:
        self._forks = multiprocessing.get_context("forkserver")
        # A host that is forked from a process that has loaded everything serves at once.
        self._forks.set_forkserver_preload(["mesocosm.hosting.hosts.loaded"])
        # Nobody else on this machine may speak to hosts in the door's place.
        self._folder = tempfile.mkdtemp(prefix="mesocosm-hosts-")
        self._born = 0
        return await super().__aenter__()

    async def __aexit__(self, *_: object) -> None:
        await super().__aexit__()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def live(self, number: int) -> None:
        self._born += 1
        address = f"{self._folder}/{self._born}"
        mail = {protocol: f"{address}.{protocol}" for protocol in self.settings.mail_ports}
        settings = self.settings.model_copy(update={"number": number, "address": address, "mail": mail})
        ours, theirs = self._forks.Pipe()
        process = self._forks.Process(target=live, args=(settings, theirs), name=f"host-{number}")
        await asyncio.to_thread(process.start)
        theirs.close()
        host = Host(number, address, mail, process.pid)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        try:
            if await _says_that_it_serves(ours):
                await self.door.came(host)
                loop.add_reader(process.sentinel, ended.set)
                await watch(host, ended)
        finally:
            loop.remove_reader(process.sentinel)
            self.door.went(host)
            ours.close()
            await asyncio.shield(_end(process))
            for path in (address, *mail.values()):
                Path(path).unlink(missing_ok=True)


async def _says_that_it_serves(host: Connection) -> bool:
    if not await _readable(host.fileno(), STARTING):
        return False
    try:
        return bool(host.recv_bytes(_LONGEST))
    except (EOFError, OSError):
        return False


async def _end(process: BaseProcess) -> None:
    """End a process, in good order if that is quick."""
    for end in (process.terminate, process.kill):
        if await _readable(process.sentinel, 0):
            break
        end()
        await _readable(process.sentinel, _ENDING)
    process.join()
    process.close()


async def _readable(descriptor: int, seconds: float) -> bool:
    """True if the descriptor becomes readable within ``seconds``, also because the process ended."""
    loop = asyncio.get_running_loop()
    there = asyncio.Event()
    loop.add_reader(descriptor, there.set)
    try:
        async with asyncio.timeout(max(seconds, 0.001)):
            await there.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
    return True
