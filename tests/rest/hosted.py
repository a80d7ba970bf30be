"""A hosting server in a thread, and worlds on it that vendors' clients are pointed at."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from worlds import build_world

from mesocosm.doors.mcp import McpTools
from mesocosm.evaluation.replay import Replay, replay_episode
from mesocosm.families.disturbances import Disturbances, EpisodeDisturber
from mesocosm.hosting.application import Hosting
from mesocosm.services.world import World
from mesocosm.worlds.journal import Entry

TASK: Any = SimpleNamespace(name="by-hand", path=Path("tasks/by-hand.yaml"), task=SimpleNamespace(servers={}))


class HostedWorld:
    """A world that is served as an episode; ``api`` is the URL of its services' APIs."""

    def __init__(self, app: Hosting, base: str, id_: str) -> None:
        self.id = id_
        """Names the episode, and is the token of its APIs."""
        self.base = base
        self._app = app

    @property
    def path(self) -> Path:
        """The episode's directory."""
        return self._app.pool.path(self.id)

    def api(self, service: str) -> str:
        """The URL of a service's API."""
        return f"{self.base}/e/{self.id}/{service}"

    def disturb(self, how: str) -> None:
        """Disturb its calls from now on; no task says what of it is evidence."""
        world = self._app.pool.get(self.id).episode.world
        world.disturber = EpisodeDisturber(Disturbances.parse(how), world, [])

    def tools(self) -> McpTools:
        """The MCP tools of all services; a context manager."""
        return McpTools(f"{self.base}/e/{self.id}/mcp")

    def tables(self, service: str) -> list[str]:
        """Everything that a service's tables hold, as SQL."""
        with closing(sqlite3.connect(self.path / "world" / f"{service}.db")) as database:
            return list(database.iterdump())

    def journal(self) -> list[Entry]:
        """The calls that were made so far."""
        with self._copy() as path, World(path / "world") as world:
            return list(world.journal.entries())

    def replay(self) -> Replay:
        """What making the same calls again shows."""
        with self._copy() as path:
            return replay_episode(path)

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        """The server keeps the journal locked, so what it wrote is read from a copy."""
        with tempfile.TemporaryDirectory() as folder:
            yield shutil.copytree(self.path, Path(folder) / "episode")


def host_world(
    app: Hosting, base: str, folder: Path, services: list[str], fill: Callable[[World], Any]
) -> HostedWorld:
    """A new world with these services, filled by ``fill(world)``, as an episode of the server."""
    build_world(folder / "world", services, fill).close()
    (folder / "expected.json").write_text("{}")
    (folder / "prompt.md").write_text("Do as the test does.\n")
    return HostedWorld(app, base, app.pool.adopt(folder, TASK))
