"""Worlds for tests. What a function of a module fills is built once per process, and copied for each test."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mesocosm.services.world import World
from mesocosm.worlds.copies import copy_world
from mesocosm.worlds.manifest import Manifest

Fill = Callable[[World], Any]


def build_world(path: Path, services: Sequence[str], fill: Fill | None) -> World:
    """A finished world with these services, filled by ``fill(world)``."""
    if fill is None or "<locals>" in getattr(fill, "__qualname__", "<locals>"):
        return _build(path, services, fill)
    copy_world(_built(tuple(services), fill), path)
    return World(path)


def _build(path: Path, services: Sequence[str], fill: Fill | None) -> World:
    world = World.create(path, Manifest(services=dict.fromkeys(services)))
    try:
        if fill:
            fill(world)
        world.finish_building()
    except BaseException:
        world.close()
        raise
    return world


@cache
def _built(services: tuple[str, ...], fill: Fill) -> Path:
    folder = tempfile.TemporaryDirectory(prefix="mesocosm-tests-")
    atexit.register(folder.cleanup)
    with _build(Path(folder.name) / "world", services, fill) as world:
        return world.path
