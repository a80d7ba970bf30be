"""Several episodes whose statements do not end, and one that asks for little."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

import pytest

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.outcomes import Outcome
from mesocosm.services.queries import plans, selecting
from mesocosm.services.queries.engine import Engine
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

ENDLESS = "with recursive r as (select 1 n union all select n + 1 from r) select count(*) from r"
HOSTILE = 4


@pytest.fixture
def worlds(tmp_path: Path) -> Iterator[list[World]]:
    with ExitStack() as stack:
        first = stack.enter_context(World.create(tmp_path / "0", Manifest(services={"snowflake": None})))
        first.store(SnowflakeStore).add_table("DB.PUBLIC.T", {"ID": "INT"}, [(1,), (2,)])
        first.store(SnowflakeStore).use("DB", "PUBLIC")
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
    for module in (selecting, plans):
        monkeypatch.setattr(module, "engine", lambda: made)
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
        while wait(attacks, 0.1).not_done:
            small.close()  # which ends what is computed; who waited for a place takes it
        assert {one.result().status for one in attacks} == {"refused"}
