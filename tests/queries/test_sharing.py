"""Several episodes whose statements do not end, and one that asks for little."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld, host_world

from mesocosm.doors import admission
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.calls import Outcome
from mesocosm.services.queries import select_queries
from mesocosm.services.queries.engine import Engine
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

ENDLESS = "with recursive r as (select 1 n union all select n + 1 from r) select count(*) from r"
HOSTILE = 3


@pytest.fixture
def worlds(tmp_path: Path) -> Iterator[list[World]]:
    with ExitStack() as stack:
        first = stack.enter_context(World.create(tmp_path / "0", Manifest(services={"snowflake": None})))
        first.store(SnowflakeStore).add_table("DB.PUBLIC.T", {"ID": "INT"}, [(1,), (2,)])
        first.store(SnowflakeStore).sessions.use("DB", "PUBLIC")
        first.finish_building()
        found = [first]
        for number in range(1, HOSTILE + 1):
            first.copy_to(tmp_path / str(number))
            found.append(stack.enter_context(World(tmp_path / str(number))))
        yield found


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine with places for fewer statements than there are hostile episodes."""
    monkeypatch.setenv("MESOCOSM_QUERY_JOBS", "2")
    monkeypatch.setenv("MESOCOSM_CALL_TIMEOUT", "600")
    made = Engine()
    monkeypatch.setattr(select_queries, "engine", lambda: made)
    yield made
    made.close()


def test_statements_that_do_not_end_keep_nobody_waiting_who_asks_for_little(
    small: Engine, worlds: list[World]
) -> None:
    quiet, *hostile = worlds

    def ask(world: World, query: str) -> Outcome:
        return world.call("snowflake", "read_query", {"query": query})

    with ThreadPoolExecutor(HOSTILE) as pool:
        attacks = [pool.submit(ask, world, ENDLESS) for world in hostile]
        for number in range(3):
            assert '"N": 3' in ask(quiet, f"select sum(id) n from t where id < {number + 10}").text
        assert not any(one.done() for one in attacks)
        while wait(attacks, 0.1).not_done:  # who waited for a place takes it
            for place in list(small._places._held):
                if worker := place.worker:
                    worker.kill()
        assert {one.result().status for one in attacks} == {"refused"}


def test_who_waits_for_a_place_keeps_no_thread_from_others(
    small: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "MAX_THREADS", 1)

    def fill(world: World) -> None:
        world.store(SnowflakeStore).add_table("DB.PUBLIC.T", {"ID": "INT"}, [(1,), (2,)])
        world.store(SnowflakeStore).sessions.use("DB", "PUBLIC")

    app = Hosting(tmp_path / "state", admin_token="admin-token-of-the-tests")
    with serving(app) as base, ThreadPoolExecutor(HOSTILE) as pool:
        hosted = []
        for number in range(HOSTILE + 1):
            (folder := tmp_path / str(number)).mkdir()
            hosted.append(host_world(app, base, folder, ["snowflake"], fill))

        def ask(one: HostedWorld, tool: str, **said: str) -> str:
            with one.tools() as tools:
                return str(tools.call("snowflake", tool, **said))

        # Nothing takes these places away, and they are not given back.
        held = [small._places.take(f"another {number}") for number in range(2)]
        try:
            asked = [
                pool.submit(ask, one, "read_query", query="select sum(id) n from t") for one in hosted[1:]
            ]
            deadline = time.monotonic() + PATIENCE
            while len(small._places._waiting) < HOSTILE:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            assert "DB" in ask(hosted[0], "list_databases")
            assert not any(one.done() for one in asked)
        finally:
            for place in held:
                small._places.release(place)
        assert all("3" in one.result(PATIENCE) for one in asked)


SERVER = f"""
import threading, time
from mesocosm.services.queries.engine import engine
asking = dict(target=engine().run, args=({ENDLESS!r}, {{}}), kwargs=dict(world="/a/b", unchecked=True))
threading.Thread(**asking).start()
while not any(place.worker and place.worker.worked() > 0.05 for place in engine()._places._held):
    time.sleep(0.01)
print(engine()._nursery.process.pid, flush=True)
"""


def test_what_is_computed_ends_with_the_server_however_that_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        nursery = int(server.stdout.readline())
        at_work = Path(f"/proc/{nursery}/task/{nursery}/children").read_text().split()
        assert at_work
        server.kill()
    deadline = time.monotonic() + PATIENCE
    while any(os.path.exists(f"/proc/{process}") for process in (nursery, *at_work)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
