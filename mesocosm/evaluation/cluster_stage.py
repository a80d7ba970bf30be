"""Episodes of an evaluation on the nodes of a cluster: a server on each, models asked from here."""

from __future__ import annotations

import atexit
import logging
import secrets
import shutil
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from mesocosm.errors import UsageError
from mesocosm.evaluation.stage import EvaluationStage, Opened, RemoteStage, Settled, StageOrder
from mesocosm.families.family import Expected, Family
from mesocosm.families.workers.cluster import RayCluster

_STARTING_SECONDS = 120
_log = logging.getLogger(__name__)


class NodeServer:
    """A server of a node; lives in a process of the cluster."""

    def __init__(self, address: str, token: str) -> None:
        from mesocosm.doors.connections import raise_file_limit
        from mesocosm.hosting.application import Hosting
        from mesocosm.hosting.server import listen, serve

        raise_file_limit()
        folder = tempfile.mkdtemp(prefix="mesocosm-node-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        listener = listen(address, 0)
        port = listener.getsockname()[1]
        self._name = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        app = Hosting(Path(folder), admin_token=token, allowed_hosts=[self._name])
        threading.Thread(target=serve, args=(app, address, port, listener), daemon=True).start()

    def url(self) -> str:
        """Return the server's address for other nodes."""
        return f"http://{self._name}"


class ClusterStage(EvaluationStage):
    """A server on each node; an episode is opened where there are fewest, and lives and ends there.

    Raises ``UsageError`` where no node could start one.
    """

    def __init__(self, cluster: RayCluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        token = secrets.token_urlsafe(32)
        started = cluster.on_each_node(NodeServer, token)
        self._actors: dict[str, Any] = {}
        self._stages: dict[str, RemoteStage] = {}
        for actor in started:
            url = cluster.ask(actor.url, _STARTING_SECONDS)
            if url is not None:
                self._actors[url], self._stages[url] = actor, RemoteStage(url, token)
        self._places: dict[str, str] = {}
        self._load = Counter(dict.fromkeys(self._stages, 0))

    def open(self, order: StageOrder) -> Opened:
        while True:
            with self._lock:
                if not self._load:
                    raise UsageError("no node of the cluster can host episodes any more")
                url = min(self._load, key=lambda url: (self._load[url], url))
                self._load[url] += 1
            try:
                opened = self._stages[url].open(order)
            except UsageError:
                if self._cluster.ask(self._actors[url].url, 10) is not None:
                    raise
                _log.warning("the node that served at %s is gone; others take its episodes", url)
                with self._lock:
                    self._load.pop(url, None)
                continue
            self._places[opened.id] = url
            return opened

    def settle(self, id_: str) -> Settled:
        return self._at(id_).settle(id_)

    def keep(self, id_: str, folder: Path) -> None:
        try:
            self._at(id_).keep(id_, folder)
        finally:
            with self._lock:
                if (url := self._places.pop(id_)) in self._load:
                    self._load[url] -= 1

    def truth(self, id_: str, family: Family) -> Expected:
        return self._at(id_).truth(id_, family)

    def _at(self, id_: str) -> RemoteStage:
        return self._stages[self._places[id_]]
