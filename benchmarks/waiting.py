"""Reading a file beside episodes that wait for places of statements, more of them than there are threads.

    python benchmarks/waiting.py [--episodes 300] [--seconds 25] [--keep]

Each of these episodes asks for statements that do not end, again and again. Reported are the median and the
worst of another one's calls, once who waits was there for some seconds. With ``--keep`` those who wait keep
their threads, as they did before: what lending them is worth.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from pathlib import Path
from time import perf_counter

from mesocosm.doors import admission
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

ENDLESS = "with recursive r as (select 1 n union all select n + 1 from r) select count(*) from r"
_SETTLED = 6.0
"""Seconds after which all wait who are to."""
_PAUSE = 0.2


def worlds(folder: Path, episodes: int) -> tuple[World, list[World]]:
    """A world with a file, and so many with a warehouse."""
    with World.create(folder / "first", Manifest(services={"snowflake": None})) as first:
        first.store(SnowflakeStore).add_table("DB.PUBLIC.T", {"ID": "INT"}, [(1,)])
        first.finish_building()
        for number in range(episodes):
            first.copy_to(folder / str(number))
    quiet = World.create(folder / "quiet", Manifest(services={"filesystem": None}))
    quiet.workspace.write("a.txt", b"x", quiet.now)
    quiet.finish_building()
    return quiet, [World(folder / str(number)) for number in range(episodes)]


async def ask_endlessly(world: World) -> None:
    """Ask for statements that do not end."""
    tool = world.tool("snowflake", "read_query")
    while True:
        await admission.take_turn(world, "snowflake", tool, {"query": ENDLESS}, None)


async def measure(quiet: World, hostile: list[World], seconds: float) -> list[float]:
    """Seconds of a quiet episode's calls beside the others."""
    asking = [asyncio.create_task(ask_endlessly(world)) for world in hostile]
    await asyncio.sleep(_SETTLED)
    took: list[float] = []
    until = perf_counter() + seconds
    tool = quiet.tool("filesystem", "read_text_file")
    while perf_counter() < until:
        began = perf_counter()
        outcome = await admission.take_turn(quiet, "filesystem", tool, {"path": "a.txt"}, None)
        assert outcome.status == "ok", outcome.text
        took.append(perf_counter() - began)
        await asyncio.sleep(_PAUSE)
    for task in asking:
        task.cancel()
    return took


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    os.environ |= {"MESOCOSM_CALL_TIMEOUT": "15", "MESOCOSM_QUERY_JOBS": "4"}
    if options.keep:
        admission._lend = lambda threads, more: None
    with tempfile.TemporaryDirectory() as folder:
        quiet, hostile = worlds(Path(folder), options.episodes)
        took = asyncio.run(measure(quiet, hostile, options.seconds))
        quiet.close()
        for world in hostile:
            world.close()
    middle, worst = (1000 * found for found in (statistics.median(took), max(took)))
    print(f"{options.episodes} wait: {len(took)} calls, median {middle:.0f} ms, worst {worst:.0f} ms")


if __name__ == "__main__":
    main()
