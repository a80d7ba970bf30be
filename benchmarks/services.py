"""Speed of the six large services' tools in worlds of 64K tokens and of 4M.

    python benchmarks/services.py [--services email,calendar] [--small 64k] [--large 4m] [--rounds 5] [--json]

For each service two worlds are filled through the bulk methods of its store; reported are the CPU seconds
per million tokens that this takes (without those of writing the prose). Then every tool that reads is called
with several sensible arguments, in turn in the small world and in the large one. A call's time is the least
CPU time of its rounds: all the work is done in this process, and others use the machine too. Of a tool, the
median and the most of its calls are shown, and how the most grows. ``SLOW`` marks what takes more than 50 ms.
Tokens are those of the texts, and an estimate of the facts around them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

from fills.texts import Call, Texts

from mesocosm.families.quantities import parse_length, show_length
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

SERVICES = ("email", "calendar", "canvas", "woocommerce", "documents", "codehost")
TARGET = 50.0
_NEAR = 25.0
_LONG = 500.0
"""Milliseconds from which a call is not made again."""


@dataclass
class Filled:
    """A world, how it was filled, and the calls to be timed in it."""

    world: World
    calls: list[Call]
    tokens: int
    seconds_per_million: float


@dataclass
class Row:
    """Measurement of one tool."""

    service: str
    tool: str
    calls: int
    median_small: float
    most_small: float
    median_large: float
    most_large: float
    growth: float
    slowest: list[tuple[float, dict[str, Any]]]
    """The calls in the large world that come near the target or miss it."""


def fill(service: str, path: Path, texts: Texts, size: int) -> Filled:
    """A world of about ``size`` tokens."""
    world = World.create(path, Manifest(services={service: None}))
    texts.rewind()
    started = process_time()
    calls = importlib.import_module(f"fills.{service}").fill(world, texts, size)
    world.finish_building()
    seconds = process_time() - started - texts.writing
    return Filled(world, calls, texts.tokens, seconds / texts.tokens * 1e6)


def time_call(world: World, service: str, call: Call, rounds: int) -> float:
    """Least CPU milliseconds of a call in its rounds, after one that is not counted."""
    tool, arguments = call
    times: list[float] = []
    for _ in range(rounds + 1):
        started = process_time()
        outcome = world.call(service, tool, arguments)
        times.append((process_time() - started) * 1e3)
        if outcome.status != "ok":
            raise SystemExit(f"{service}.{tool} {arguments}: {outcome.text[:500]}")
        if len(times) > 1 and times[-1] > _LONG:
            break
    return min(times[1:])


def measure(service: str, worlds: Sequence[Filled], rounds: int) -> list[Row]:
    """The rows of a service's tools, in their order."""
    timed: dict[str, tuple[list[float], list[tuple[float, dict[str, Any]]]]] = {}
    small, large = worlds
    tools = {name for name, tool in large.world.services[service].tools.items() if not tool.writes}
    # The two have the same calls but for ids and page numbers, of which the small world may have fewer.
    for at in range(max(len(small.calls), len(large.calls))):
        for filled, kept in ((small, 0), (large, 1)):
            if at < len(filled.calls):
                call = filled.calls[at]
                milliseconds = time_call(filled.world, service, call, rounds)
                if call[0] in tools:
                    both = timed.setdefault(call[0], ([], []))
                    both[0].append(milliseconds) if kept == 0 else both[1].append((milliseconds, call[1]))
    if missed := sorted(tools - set(timed)):
        print(f"not called: {', '.join(missed)}", file=sys.stderr)
    return [_row(service, tool, *both) for tool, both in timed.items()]


def _row(service: str, tool: str, small: list[float], large: list[tuple[float, dict[str, Any]]]) -> Row:
    times = [milliseconds for milliseconds, _ in large]
    slowest = sorted((entry for entry in large if entry[0] > _NEAR), key=lambda entry: -entry[0])
    return Row(
        service=service,
        tool=tool,
        calls=len(times),
        median_small=statistics.median(small),
        most_small=max(small),
        median_large=statistics.median(times),
        most_large=max(times),
        growth=max(times) / max(small),
        slowest=slowest,
    )


def show(service: str, worlds: Sequence[Filled], sizes: Sequence[str], rows: Sequence[Row]) -> None:
    """Print the table of a service."""
    fills = "; ".join(
        f"{filled.tokens:,} tokens at {filled.seconds_per_million:.2f} s per million" for filled in worlds
    )
    print(f"\n{service}: {fills}")
    print(f"{'tool':34} {'calls':>5}   {sizes[0]:>7} median/most ms   {sizes[1]:>7} median/most ms   growth")
    for row in rows:
        mark = "  SLOW" if row.most_large > TARGET else ""
        print(
            f"{row.tool:34} {row.calls:5}   {row.median_small:10.2f} {row.most_small:11.2f}   "
            f"{row.median_large:10.2f} {row.most_large:11.2f}   {row.growth:6.1f}{mark}"
        )
        for milliseconds, arguments in row.slowest[:6]:
            print(f"    {milliseconds:8.1f} ms  {json.dumps(arguments)[:110]}")
    sys.stdout.flush()


def main() -> None:
    """Fill, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", default=",".join(SERVICES))
    parser.add_argument("--small", default="64k")
    parser.add_argument("--large", default="4m")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    options = parser.parse_args()
    sizes = [parse_length(options.small), parse_length(options.large)]
    texts = Texts()
    report: dict[str, Any] = {}
    for service in options.services.split(","):
        with tempfile.TemporaryDirectory() as folder:
            worlds = [fill(service, Path(folder) / str(size), texts, size) for size in sizes]
            rows = measure(service, worlds, options.rounds)
            for filled in worlds:
                filled.world.close()
        if not options.json:
            show(service, worlds, [show_length(size) for size in sizes], rows)
        report[service] = {
            "fills": [
                {"tokens": filled.tokens, "seconds_per_million": filled.seconds_per_million}
                for filled in worlds
            ],
            "tools": [asdict(row) for row in rows],
        }
    if options.json:
        print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
