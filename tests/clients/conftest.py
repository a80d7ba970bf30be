"""``episode_of`` for vendors' clients, as in ``tests/rest``."""

from __future__ import annotations

from rest.conftest import episode_of, server

__all__ = ["episode_of", "server"]
