"""Reading a large workbook in pages, beside loading it with openpyxl once.

    python benchmarks/workbook.py [--megabytes 10] [--pages 20]

A workbook of that size (as it lies on the disk) is written and read page after page through the tool
``read_data_from_excel``, each page from where the last one ended; then a page is read after the file has
changed. Seconds and their ratio to one load by openpyxl in the same run; the pages after the first should
cost next to nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any

import openpyxl

from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

COLUMNS = 12


def workbook(megabytes: float) -> bytes:
    """A workbook of about that size, with rows of numbers and words that do not repeat."""
    dice = random.Random(0)

    def save(rows: int) -> bytes:
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("Data")
        for row in range(rows):
            sheet.append(
                [f"{dice.getrandbits(48):x}", *(round(dice.random() * 1e6, 3) for _ in range(COLUMNS - 1))]
            )
            assert row < 2**20
        file = BytesIO()
        book.save(file)
        return file.getvalue()

    per_row = len(save(2_000)) / 2_000
    return save(int(megabytes * 1e6 / per_row))


def read(world: World, start: str) -> tuple[float, dict[str, Any]]:
    """Seconds, and a page."""
    started = perf_counter()
    arguments = {"filepath": "large.xlsx", "sheet_name": "Data", "start_cell": start}
    outcome = world.call("excel", "read_data_from_excel", arguments)
    took = perf_counter() - started
    assert not outcome.is_error, outcome.text
    page: dict[str, Any] = json.loads(outcome.text.partition("\n\n")[0])
    return took, page


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--pages", type=int, default=20)
    options = parser.parse_args()
    data = workbook(options.megabytes)
    with tempfile.TemporaryDirectory() as folder:
        started = perf_counter()
        openpyxl.load_workbook(BytesIO(data))
        loaded = perf_counter() - started
        with World.create(Path(folder) / "world", Manifest(services={"excel": None})) as world:
            world.workspace.write("large.xlsx", data)
            world.finish_building()
            first, page = read(world, "A1")
            rest = []
            for _ in range(options.pages - 1):
                took, page = read(world, f"A{page['cells'][-1]['row'] + 1}")
                rest.append(took)
            world.workspace.write("large.xlsx", data + b"\0")
            changed, _ = read(world, "A1")
    print(f"a workbook of {len(data) / 1e6:.1f} MB, {COLUMNS} columns")
    for name, seconds in (
        ("openpyxl, loaded once", loaded),
        ("first page", first),
        (f"{len(rest)} further pages, median of each", statistics.median(rest)),
        ("first page after a change", changed),
    ):
        print(f"{name:36} {seconds:8.4f} s {seconds / loaded:8.4f}")


if __name__ == "__main__":
    main()
