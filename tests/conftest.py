"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

import commands
import pytest
from hypothesis import settings
from worlds import Fill, build_world

from mesocosm.agents.program import OWN_VARIABLES
from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.services.world import World

# The same examples every time: some that chance would draw keep its search for more busy for minutes.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")


# What is compiled is kept, whatever the environment says (images with Python say no): hundreds of processes
# would each compile what they load, and each worker all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What the tests import stays: looking through it for garbage again and again would take a tenth of the time.
gc.disable()


IN_MEMORY = Path("/dev/shm")


def pytest_configure(config: pytest.Config) -> None:
    """Workers have commands forked from one process, and their files in memory where there is room: on a
    disk, a file or folder may take the system a third of a millisecond."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        stack = ExitStack()
        if "TMPDIR" not in os.environ and IN_MEMORY.is_dir() and disk_usage(IN_MEMORY).free > 4 << 30:
            folder = stack.enter_context(TemporaryDirectory(prefix="mesocosm-tests-", dir=IN_MEMORY))
            os.environ["TMPDIR"] = tempfile.tempdir = folder
        os.environ[commands.ADDRESS] = stack.enter_context(commands.forking())
        config.add_cleanup(stack.close)
    if address := os.environ.get(commands.ADDRESS):
        commands.fork_helpers(address)


def pytest_collection_finish() -> None:
    """Everything is imported, and stays: a look for garbage is one through what came since."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 10, 10)


@pytest.fixture(autouse=True)
def _programs_find_code_as_ever() -> Iterator[None]:
    """Take back what a run of an agent's program sets for its whole process: scripts that later tests start
    would not find the modules beside them."""
    before = {name: os.environ.get(name) for name in OWN_VARIABLES}
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class WorldTools(McpTools):
    """The tools of a world, through the real MCP client and server, with the world in the test's hands."""

    def __init__(self, world: World) -> None:
        self.world = world
        super().__init__(world_server(world))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """``-n auto``: one worker more than there are cores, since tests wait for processes, but each loads all.

    Each has a part of the suite in one piece, whose fixtures are made once, and at the end takes from others.
    """
    if config.option.dist == "no":
        config.option.dist = "worksteal"
    return (os.cpu_count() or 1) + 1


OpenTools = Callable[..., WorldTools]


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """``make_world(fill, "email", ...)``: a finished world with these services, filled by ``fill(world)``."""
    worlds: list[World] = []
    numbers = count()

    def make(fill: Fill | None, *services: str) -> World:
        path = tmp_path / f"world-{next(numbers)}"
        world = build_world(path, services, fill)
        worlds.append(world)
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
