"""``episode_of``: episodes for vendors' clients, on one real server for the whole session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rest.hosted import HostedWorld, host_world

from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving
from mesocosm.services.world import World

EpisodeOf = Callable[[list[str], Callable[[World], Any]], HostedWorld]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hosting, str]]:
    """A hosting application that is being served, and its URL."""
    app = Hosting(tmp_path_factory.mktemp("rest") / "state", admin_token="admin-token-of-the-tests")
    with serving(app) as base:
        yield app, base


@pytest.fixture(scope="session")
def episode_of(server: tuple[Hosting, str], tmp_path_factory: pytest.TempPathFactory) -> EpisodeOf:
    """``episode_of(["canvas"], fill)``: a new episode with these services, filled by ``fill(world)``."""

    def make(services: list[str], fill: Callable[[World], Any]) -> HostedWorld:
        folder: Path = tmp_path_factory.mktemp("instance")
        return host_world(*server, folder, services, fill)

    return make
