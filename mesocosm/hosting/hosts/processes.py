"""Hosts as processes of this machine."""

from __future__ import annotations

import asyncio
import multiprocessing
import shutil
import tempfile
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self

from mesocosm.hosting.hosts.host import live
from mesocosm.hosting.hosts.links import Host
from mesocosm.hosting.hosts.lives import STARTING, Hosts, watch

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
        """One life of a host."""
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
