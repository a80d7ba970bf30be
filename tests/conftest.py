"""Fixtures that every test may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mesocosm.protocol import McpTools, WorldCaller, build_server
from mesocosm.world import Manifest, World


class WorldTools(McpTools):
    """The tools of a world, through the real MCP client and server, with the world in the test's hands."""

    def __init__(self, world: World) -> None:
        self.world = world
        caller = WorldCaller(world)
        super().__init__(build_server(None, lambda _: caller))


Fill = Callable[[World], Any]
OpenTools = Callable[..., WorldTools]


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """``make_world(fill, "email", ...)``: a finished world with these services, filled by ``fill(world)``."""
    worlds: list[World] = []

    def make(fill: Fill | None, *services: str) -> World:
        path = tmp_path / f"world-{len(worlds)}"
        world = World.create(path, Manifest(services=dict.fromkeys(services)))
        worlds.append(world)
        if fill:
            fill(world)
        world.finish_building()
        return world

    yield make
    for world in worlds:
        world.close()


@pytest.fixture
def open_tools(make_world: Callable[..., World]) -> Iterator[OpenTools]:
    """``open_tools(fill, "email", ...)``: such a world, served over MCP."""
    with ExitStack() as stack:

        def open_world(fill: Fill | None, *services: str) -> WorldTools:
            return stack.enter_context(WorldTools(make_world(fill, *services)))

        yield open_world
