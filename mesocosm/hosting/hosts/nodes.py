"""Hosts on the nodes of a Ray cluster, each with a disk of its own: episodes move by way of the store."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
import tempfile
import threading
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mesocosm.families import trust
from mesocosm.families.workers.cluster import RayCluster
from mesocosm.hosting.hosts.door import Door
from mesocosm.hosting.hosts.host import HostSettings, hosting_of, mail_servers
from mesocosm.hosting.hosts.links import Host
from mesocosm.hosting.hosts.processes import STARTING, Hosts, watch
from mesocosm.worlds.limits import Settings, variable

_ENDING = 30.0
"""Seconds in which a host has to keep what is not kept yet, when the door ends."""

_log = logging.getLogger("mesocosm.hosting")


class NodeHost:
    """A host as a process of the cluster.

    Args:
        settings: What it is told, as JSON; where it lies and listens is its own.
        environment: Variables that hold where the door is.
    """

    def __init__(self, settings: str, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        self._folder = Path(tempfile.mkdtemp(prefix="mesocosm-host-"))
        told = HostSettings.model_validate_json(settings)
        self._settings = told.model_copy(update={"state": self._folder})
        self._serving = ExitStack()
        self._over = threading.Event()

    def start(self) -> dict[str, str]:
        """Serve; where: ``http``, ``imap``, ``smtp``."""
        import ray

        from mesocosm.hosting.server import authority, listen, serving

        sys.setswitchinterval(0.001)
        name = str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call, unused-ignore]  # without Ray installed
        listeners = {kind: listen(name, 0) for kind in ("http", *self._settings.mail_ports)}
        hosting = hosting_of(self._settings)
        mail = {kind: listener for kind, listener in listeners.items() if kind != "http"}
        beside = mail_servers(hosting.pool, mail)
        self._serving.enter_context(serving(hosting, beside, listeners["http"]))
        return {kind: authority(*one.getsockname()[:2]) for kind, one in listeners.items()}

    def live(self) -> None:
        """Return when it has ended: whoever waits for this learns of its death, too."""
        self._over.wait()

    def end(self) -> None:
        """Keep what is not kept yet, and serve no more."""
        self._serving.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._over.set()


class NodeHosts(Hosts):
    """Hosts on nodes of a cluster, spread as far as there are nodes with a processor to give."""

    def __init__(self, door: Door, settings: HostSettings, count: int, cluster: RayCluster) -> None:
        super().__init__(door, settings, count)
        self._cluster = cluster
        names = [trust.VARIABLE, *map(variable, Settings.model_fields)]
        self._environment = {name: os.environ[name] for name in names if name in os.environ}

    async def live(self, number: int) -> None:
        """One life of a host, on whichever node has room."""
        settings = self.settings.model_copy(update={"number": number}).model_dump_json()
        actor = await asyncio.to_thread(self._cluster.actor, NodeHost, settings, self._environment)
        host = None
        try:
            where = await asyncio.to_thread(self._cluster.ask, actor.start, STARTING)
            if where is None:
                _log.warning("no node of the cluster could start host %d", number)
                return
            host = Host(number, where.pop("http"), where)
            await self.door.came(host)
            await watch(host, self._end_of(actor))
        finally:
            if host is not None:
                self.door.went(host)
                await asyncio.shield(asyncio.to_thread(self._cluster.ask, actor.end, _ENDING))
            self._cluster.kill(actor)

    def _end_of(self, actor: Any) -> asyncio.Event:
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        life: Future[Any] = actor.live.remote().future()
        life.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
        return ended
