"""Delay of an episode's calls caused by another episode.

    python benchmarks/hostile_neighbours.py [--neighbours 50] [--seconds 10] [--hosts 2]
        [--only edit_file,...] [--json] [--table]

All kinds, for ten neighbours, as a table, in about seven minutes:

    python benchmarks/hostile_neighbours.py --neighbours 10 --seconds 3 --table 2>progress.txt

A server is started as a process. So many ordinary episodes call a short tool each, ten times a second; beside
them one hostile episode does one thing as fast as it can, of each kind in turn, from a process of its own. In
the last kinds a dozen hostile episodes hold what statements and formulas are computed in, and ten ordinary
ones ask for a statement, or write a formula, twice a second.

Reported are median and worst time of the ordinary calls, without a hostile episode and beside each kind. The
targets, 50 and 500 ms, hold for a machine with nothing else to do: the lines ``nobody`` and ``nobody again``
say what this one takes by itself, before and after. A line is printed for each kind as it is measured. Exit
code 1 if any was late.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hostility.acts import ATTACKS, NEIGHBOURS
from hostility.episodes import ASKING, MORE, Agent, Ordinary, Server, reading, serving

_MEDIAN, _WORST = 0.05, 0.5


def measure(agents: list[Ordinary], seconds: float, pause: float = 0.1) -> list[float]:
    """Seconds of the ordinary calls, of which each makes one in so many seconds."""
    end = time.perf_counter() + seconds

    def act(number: int) -> list[float]:
        taken = []
        time.sleep(pause * number / len(agents))
        while time.perf_counter() < end:
            taken.append(agents[number].call())
            time.sleep(max(0.0, pause - taken[-1]))
        return taken

    with ThreadPoolExecutor(len(agents)) as pool:
        return [taken for each in pool.map(act, range(len(agents))) for taken in each]


def _attack(name: str, server: Server, episode: str, stop: Any, began: Any, made: Any) -> None:
    """Run the hostile episode's process; in the same one its work would delay the clocks."""
    act = ATTACKS[name](server, Agent(server, episode))
    began.set()
    while not stop.is_set():
        act()
        made.value += 1


def beside(
    server: Server, name: str, agents: list[Ordinary], seconds: float, pause: float
) -> tuple[list[float], int]:
    """Seconds of the ordinary calls beside an attack, and how often it was made."""
    processes = multiprocessing.get_context("spawn")
    stop, began, made = processes.Event(), processes.Event(), processes.Value("i", 0)
    hostile = processes.Process(
        target=_attack, args=(name, server, server.create(MORE), stop, began, made), daemon=True
    )
    hostile.start()
    began.wait(60)
    taken = measure(agents, seconds, pause)
    stop.set()
    hostile.join(60)
    return taken, made.value


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--neighbours", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--hosts", type=int, default=0, help="hosts behind a door (0: one process)")
    parser.add_argument("--only", default="", help=f"some of {','.join(ATTACKS)}")
    parser.add_argument("--table", action="store_true", help="print a table of Markdown at the end")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server ends, too
    chosen = [name for name in ATTACKS if not options.only or name in options.only.split(",")]
    rows: dict[str, dict[str, float]] = {}
    with serving(options.hosts) as server:
        agents = [reading(server) for _ in range(options.neighbours)]
        measure(agents, 1)
        print(f"{'beside':<16}{'attacks':>8}{'calls':>8}{'median ms':>11}{'worst ms':>10}", file=sys.stderr)
        rows["nobody"] = _row("nobody", measure(agents, options.seconds), 0)
        for name in chosen:
            others, pause = agents, 0.1
            if name in NEIGHBOURS:
                others, pause = [NEIGHBOURS[name](server) for _ in range(ASKING)], 0.5
                measure(others, 1, pause)
                alone = f"beside {name}, nobody"
                rows[alone] = _row("nobody", measure(others, options.seconds, pause), 0)
            rows[name] = _row(name, *beside(server, name, others, options.seconds, pause))
        rows["nobody again"] = _row("nobody again", measure(agents, options.seconds), 0)
    if options.json:
        print(json.dumps(rows))
    if options.table:
        _print_table(rows)
    return 1 if any(row["median"] > _MEDIAN or row["worst"] > _WORST for row in rows.values()) else 0


def _print_table(rows: dict[str, dict[str, float]]) -> None:
    print("| beside | attacks | median ms | worst ms | late |\n|---|---:|---:|---:|---|")
    for name, row in rows.items():
        late = "late" if row["median"] > _MEDIAN or row["worst"] > _WORST else ""
        said = f"{1000 * row['median']:.0f} | {1000 * row['worst']:.0f}"
        print(f"| {name} | {row['attacks']:.0f} | {said} | {late} |")


def _row(name: str, taken: list[float], attacks: int) -> dict[str, float]:
    row = {
        "attacks": attacks,
        "calls": len(taken),
        "median": statistics.median(taken),
        "worst": max(taken),
    }
    late = "" if row["median"] <= _MEDIAN and row["worst"] <= _WORST else "  LATE"
    print(
        f"{name:<16}{row['attacks']:>8.0f}{row['calls']:>8.0f}{1000 * row['median']:>11.1f}"
        f"{1000 * row['worst']:>10.1f}{late}",
        file=sys.stderr,
        flush=True,
    )
    return row


if __name__ == "__main__":
    sys.exit(main())
