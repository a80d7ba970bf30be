"""``episode_of`` for vendors' clients, as in ``tests/rest``; and a server behind TLS, of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rest.conftest import episode_of, server
from rest.hosted import HostedWorld, host_world
from secure_host import NAME, SecureHost, proxy_to

from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving
from mesocosm.hosting.tls import certificate
from mesocosm.services.world import World

__all__ = ["episode_of", "secure_episode_of", "server"]

SecureEpisodeOf = Callable[[list[str], Callable[[World], Any]], tuple[HostedWorld, SecureHost]]


@pytest.fixture(scope="session")
def secure_episode_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureEpisodeOf]:
    """``episode_of`` on a server behind TLS, and where clients find that."""
    app = Hosting(
        tmp_path_factory.mktemp("secure"), admin_token="admin-token-of-the-tests", allowed_hosts=[NAME]
    )
    pair = certificate(tmp_path_factory.mktemp("tls"), [NAME])
    with serving(app, tls=pair) as base, proxy_to(int(base.rpartition(":")[2]), pair[0]) as host:

        def make(services: list[str], fill: Callable[[World], Any]) -> tuple[HostedWorld, SecureHost]:
            return host_world(app, base, tmp_path_factory.mktemp("instance"), services, fill), host

        yield make
