"""Cost of warehouses: the target figures, measured in one run.

python benchmarks/warehouses.py [--rows 1000000] [--calls 500] [--rounds 3] [--episodes 200] [--forks 200]

A point query and a page of 50 rows over HTTP are compared with an echo of the same text on the bare MCP SDK,
as in ``tool_call.py``, in Snowflake's and in BigQuery's tools; no query is asked twice, so none is answered
from what was read before. Target: at most 2 times. An aggregate over a million rows is timed with the columns
at hand (target: 150 ms) and from the file; a fork of the world with that table (target: 100 ms, of a file of
some 100 MB); and the memory of a process in which many episodes with warehouses have answered (target: 200 in
2 GiB).
"""

from __future__ import annotations

import argparse
import http.client
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tool_call import BARE, OURS, Target, free_port, report, start

from mesocosm.hosting.pool import EpisodePool
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.queries.copies import forget
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

TASK: Any = SimpleNamespace(name="by-hand", path=Path("tasks/by-hand.yaml"), task=SimpleNamespace(servers={}))
COLUMNS = {
    "ID": "NUMBER(38,0) NOT NULL",
    "CUSTOMER": "VARCHAR(40)",
    "REGION": "VARCHAR(10)",
    "AMOUNT": "NUMBER(12,2)",
    "SOLD": "DATE",
    "NOTE": "VARCHAR",
}
POINT = "select * from bench.public.customers where id = {}"
PAGE = "select id, customer, region, amount from bench.public.customers order by id limit 50 offset {}"
FACT_POINT = "select id, customer, amount from bench.public.sales where id = {}"
AGGREGATE = (
    "select region, count(*) n, sum(amount) total, avg(amount) mean from bench.public.sales "
    "where id > {} group by region order by region"
)


@dataclass
class Varying(Target):
    """A tool that is asked something else each time."""

    make: Callable[[int], dict[str, Any]] = lambda number: {}
    numbers: Any = field(default_factory=count)

    def call(self) -> bytes:
        """One tool call; returns the response's body."""
        self.arguments = self.make(next(self.numbers))
        return super().call()


def build(folder: Path, rows: int) -> Path:
    """A world with a table of facts and one of customers; says how long the rows took."""
    from datetime import date, timedelta
    from decimal import Decimal

    world = World.create(folder / "world", Manifest(services={"snowflake": None, "google_cloud": None}))
    store, first = world.store(SnowflakeStore), date(2024, 1, 1)
    days = [first + timedelta(days=number) for number in range(365)]
    cents = [Decimal(number) / 100 for number in range(10_000)]

    def row(number: int) -> tuple[Any, ...]:
        return (
            number,
            f"customer {number % 5000:05d}",
            ("north", "south", "east", "west")[number % 4],
            cents[number * 37 % 10_000],
            days[number % 365],
            f"order {number} was placed by telephone and paid by card",
        )

    started = time.process_time()
    store.add_table("BENCH.PUBLIC.SALES", COLUMNS, map(row, range(rows)))
    print(f"filling {rows:,} rows: {time.process_time() - started:.1f} s of a processor")
    store.add_table("BENCH.PUBLIC.CUSTOMERS", COLUMNS, map(row, range(5000)))
    fields = [
        {"name": name.lower(), "type": kind, "mode": "NULLABLE"}
        for name, kind in zip(
            COLUMNS, ("INT64", "STRING", "STRING", "NUMERIC", "DATE", "STRING"), strict=True
        )
    ]
    cloud = world.store(GoogleCloudStore).bigquery
    cloud.datasets.create("bench")
    table = cloud.tables.create("bench", "customers", fields)
    cells = map(row, range(5000))
    kept = ((n, who, at, f"{cost:f}", str(day), note) for n, who, at, cost, day, note in cells)
    cloud.tables.fill(table, kept)
    world.finish_building()
    world.close()
    (folder / "expected.json").write_text("{}")
    (folder / "prompt.md").write_text("Ask.\n")
    return folder


def over_http(folder: Path, calls: int, rounds: int) -> None:
    """Queries against echoes of the same text."""
    pool = EpisodePool(folder / "state")
    id_ = pool.adopt(folder / "instance", TASK)
    pool.close()
    bare_port, our_port = free_port(), free_port()
    bare, ours = start(BARE, bare_port), start(OURS, our_port, str(folder / "state"))
    echo_line = http.client.HTTPConnection("127.0.0.1", bare_port)
    line = http.client.HTTPConnection("127.0.0.1", our_port)

    def asking(name: str, query: str, modulus: int) -> Varying:
        service, tool = "snowflake", "read_query"
        if name.startswith("BigQuery"):
            service, tool = "google_cloud", "bigquery_run_query"
            query = query.replace("bench.public", "bench")

        def make(number: int) -> dict[str, Any]:
            return {"query": query.format(number % modulus)}

        return Varying(name, ours, line, f"/e/{id_}/{service}/mcp", tool, {}, make)

    try:
        for name, query, modulus, share in (
            ("point query, 5,000 rows", POINT, 5000, 1),
            ("page of 50 rows of 5,000", PAGE, 4900, 1),
            ("point query, 1 million rows", FACT_POINT, 1_000_000, 1),
            ("BigQuery: point query", POINT, 5000, 1),
            ("BigQuery: page of 50 rows", PAGE, 4900, 1),
        ):
            target = asking(name, query, modulus)
            text = json.loads(target.call())["result"]["content"][0]["text"]
            echo = Target("bare SDK echo of that text", bare, echo_line, "/mcp", "echo", {"text": text})
            report([echo, target], calls // share, rounds)
    finally:
        bare.terminate()
        ours.terminate()


def timed(action: Callable[[], Any]) -> tuple[float, float]:
    """Wall and processor milliseconds of something."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def aggregates(folder: Path) -> None:
    """An aggregate over all facts, with the columns at hand and from the file."""
    with World(folder / "instance" / "world") as world:
        numbers = count()

        def ask() -> None:
            outcome = world.call("snowflake", "read_query", {"query": AGGREGATE.format(-next(numbers))})
            assert outcome.status == "ok", outcome.text

        world.call("snowflake", "read_query", {"query": "select 1"})
        cold = []
        for _ in range(3):
            forget()
            cold.append(timed(ask))
        warm = [timed(ask) for _ in range(11)]
    for name, found in (("from the file", cold), ("columns at hand", warm)):
        wall, cpu = (statistics.median(one[i] for one in found) for i in (0, 1))
        print(f"aggregate over the facts, {name}: {wall:.0f} ms, {cpu:.0f} ms of a processor")


def forks(folder: Path) -> None:
    """A fork of the world."""
    size = (folder / "instance" / "world" / "snowflake.db").stat().st_size
    with World(folder / "instance" / "world") as world:
        found = []
        for number in range(7):
            target = folder / f"fork-{number}"
            found.append(timed(lambda target=target: world.copy_to(target)))  # type: ignore[misc]
            subprocess.run(["rm", "-r", str(target)], check=True)
    wall, cpu = (statistics.median(one[i] for one in found) for i in (0, 1))
    print(f"fork of a world of {size / 1e6:.0f} MB: {wall:.0f} ms, {cpu:.0f} ms of a processor")


def many_forks(folder: Path, many: int) -> None:
    """Forks of the world with the large table: made by eight threads, open together, each asked, some written
    to. It takes as much of a disk as the files are large together."""
    base, wanted = (
        folder / "instance" / "world",
        "select count(*) n, max(amount) most from bench.public.sales",
    )
    found: list[tuple[float, float]] = []

    def fork(number: int) -> World:
        place = folder / f"many-{number}"
        found.append(timed(lambda: origin.copy_to(place)))
        return World(place)

    def ask(world: World, tool: str, query: str) -> float:
        started = time.perf_counter()
        told = world.call("snowflake", tool, {"query": query})
        assert told.status == "ok", told.text
        return (time.perf_counter() - started) * 1e3

    def both(numbered: tuple[int, World]) -> tuple[float, float]:
        number, world = numbered
        return ask(world, "read_query", wanted), ask(world, "read_query", FACT_POINT.format(number))

    def changed(numbered: tuple[int, World]) -> float:
        number, world = numbered
        ask(world, "write_query", f"update bench.public.sales set note = 'of {number}' where id = {number}")
        return ask(world, "read_query", wanted)

    started = time.perf_counter()
    with World(base) as origin, ThreadPoolExecutor(8) as threads:
        worlds = list(threads.map(fork, range(many)))
        whole = time.perf_counter() - started
        each = statistics.median(wall for wall, _ in found)
        print(f"{many} forks by 8 threads: {whole:.1f} s, one {each:.0f} ms in the middle")
        asked = list(threads.map(both, enumerate(worlds)))
        for name, times in zip(("aggregate", "point query"), zip(*asked, strict=True), strict=True):
            print(f"  {name} of each: {statistics.median(times):.0f} ms, {max(times):.0f} at most")
        own = list(threads.map(changed, list(enumerate(worlds))[:: max(1, many // 20)]))
        print(f"  aggregate after a row of its own was changed: {statistics.median(own):.0f} ms")
        for world in worlds:
            world.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  memory: {peak:.0f} MiB at most")


def memory(folder: Path, episodes: int) -> None:
    """Episodes of worlds of their own, all open, each of which has answered."""
    first = folder / "small"
    world = World.create(first, Manifest(services={"snowflake": None}))
    store = world.store(SnowflakeStore)
    rows = ((n, f"customer {n}", "north", None, None, "x" * 40) for n in range(20_000))
    store.add_table("BENCH.PUBLIC.CUSTOMERS", COLUMNS, rows)
    world.finish_building()
    worlds = []
    for number in range(episodes):
        world.copy_to(folder / f"episode-{number}")
        worlds.append(World(folder / f"episode-{number}"))
        told = worlds[-1].call(
            "snowflake",
            "write_query",
            {"query": f"update bench.public.customers set note = 'of {number}' where id = {number}"},
        )
        assert told.status == "ok", told.text
        told = worlds[-1].call(
            "snowflake", "read_query", {"query": "select count(distinct note) from bench.public.customers"}
        )
        assert told.status == "ok", told.text
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{episodes} episodes with tables of 20,000 rows of their own, all asked: {peak:.0f} MiB at most")
    for one in (world, *worlds):
        one.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument(
        "--forks", type=int, default=0, help="forks of the large world at once, and nothing else"
    )
    parser.add_argument("--only-memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only_memory:
            memory(folder, options.episodes)
            return
        (folder / "instance").mkdir()
        build(folder / "instance", options.rows)
        if options.forks:
            many_forks(folder, options.forks)
            return
        forks(folder)
        aggregates(folder)
        over_http(folder, options.calls, options.rounds)
        command = [sys.executable, __file__, "--only-memory", "--episodes", str(options.episodes)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
