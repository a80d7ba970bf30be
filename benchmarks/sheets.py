"""Cost of a spreadsheet of 50,000 cells with 2,000 formulas, in CPU time.

    python benchmarks/sheets.py [--rounds 20] [--json]

A sheet of 2,000 lines and 25 columns, of which one is a formula over its line; a further sheet sums. Measured
are filling it, reading a page of 50 lines, writing one cell that two formulas depend on, the same where no
process holds the workbook, and inserting a line. Wall time, and the CPU time of this process without those
that compute.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.bulk import NewSheet
from mesocosm.servers.google_sheet.store.engine.processes import processes
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

_LINES, _COLUMNS = 2_000, 25


def fill(world: World) -> str:
    """The spreadsheet; returns its id."""
    store = world.store(SheetStore)
    store.drive.create_account("ada@example.org", "Ada")
    store.drive.sign_in("ada@example.org")
    lines: list[list[Any]] = [
        [(row * column) % 97 for column in range(_COLUMNS - 1)] + [f"=SUM(A{row + 1}:X{row + 1})"]
        for row in range(_LINES)
    ]
    sums = [[f"=SUM(Data!Y{n * 80 + 1}:Y{n * 80 + 80})"] for n in range(25)]
    return store.filling.spreadsheet("Figures", [NewSheet("Data", lines), NewSheet("Sums", sums)]).id


def _timed(what: Callable[[int], Any], rounds: int) -> tuple[float, float]:
    """The medians of wall and of own CPU milliseconds."""
    walls, own = [], []
    for number in range(rounds):
        wall, cpu = perf_counter(), process_time()
        what(number)
        walls.append((perf_counter() - wall) * 1e3)
        own.append((process_time() - cpu) * 1e3)
    return statistics.median(walls), statistics.median(own)


def measure(rounds: int) -> dict[str, tuple[float, float]]:
    """By what was done, milliseconds of wall and of this process."""
    with tempfile.TemporaryDirectory() as folder:
        world = World.create(Path(folder) / "world", Manifest(services={"google_sheet": None}))
        began, cpu = perf_counter(), process_time()
        book = fill(world)
        world.finish_building()
        found = {"fill": ((perf_counter() - began) * 1e3, (process_time() - cpu) * 1e3)}

        def call(tool: str, **arguments: Any) -> None:
            outcome = world.call("google_sheet", tool, {"spreadsheet_id": book, "sheet": "Data", **arguments})
            assert outcome.status == "ok", outcome

        def page(number: int) -> None:
            call("get_sheet_data", range=f"A{number * 50 + 1}:Y{number * 50 + 50}")

        def write(number: int) -> None:
            call("update_cells", range="C5", data=[[1000 + number]])

        def cold(number: int) -> None:
            processes.close()
            call("update_cells", range="C5", data=[[number]])

        write(0)
        found["page of 50 lines"] = _timed(page, rounds)
        found["one cell"] = _timed(write, rounds)
        found["one cell, a new process"] = _timed(cold, 3)
        found["insert a line"] = _timed(lambda _: call("add_rows", count=1, start_row=3), 3)
        world.close()
    return found


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.rounds)
    if options.json:
        print(json.dumps(found))
        return
    for name, (wall, cpu) in found.items():
        print(f"{name:26}{wall:9.1f} ms{cpu:9.1f} ms of this process")


if __name__ == "__main__":
    main()
