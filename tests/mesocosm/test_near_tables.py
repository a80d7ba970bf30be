"""Near misses of tables: the same change in a CSV file and in a workbook."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from mesocosm.families.verdict import Inapplicable
from mesocosm.kits.near_tables import Lines, NearTable
from mesocosm.servers.excel.store import save_workbook
from mesocosm.services.world import World

MakeWorld = Callable[..., World]
Row = tuple[str, int]

HEADER = ("name", "points")
ROWS: list[Row] = [("ash", 3), ("bay", 3), ("elm", 5)]


def _fill(world: World) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([HEADER, *ROWS])
    world.workspace.write("points.csv", text.getvalue().encode(), world.now)
    book = Workbook()
    for line in (HEADER, *ROWS):
        book.worksheets[0].append(line)
    world.workspace.write("points.xlsx", save_workbook(book, world.now), world.now)


def _read(world: World, path: str) -> Lines:
    """The lines as texts; empty cells are ''."""
    data = world.workspace.read(path)
    if path.endswith(".csv"):
        return list(csv.reader(io.StringIO(data.decode())))
    [sheet] = load_workbook(io.BytesIO(data)).worksheets
    lines = sheet.iter_rows(values_only=True)
    return [["" if value is None else str(value) for value in line] for line in lines]


def _doubled(row: Row, expected: list[Row]) -> Any:
    return row[1] * 2


CHANGES: dict[str, tuple[Callable[[NearTable[list[Row], Row]], Any], Lines]] = {
    "short": (lambda table: table.short(), [["ash", "3"], ["bay", "3"]]),
    "long": (lambda table: table.long(), [["ash", "3"], ["bay", "3"], ["elm", "5"], ["ash", "3"]]),
    "turned round": (lambda table: table.turned_round(), [["elm", "5"], ["bay", "3"], ["ash", "3"]]),
    "tie swapped": (
        lambda table: table.swapped(lambda one, other: one[1] == other[1]),
        [["bay", "3"], ["ash", "3"], ["elm", "5"]],
    ),
    "added": (
        lambda table: table.added(lambda rows: ("fir", rows[0][1])),
        [["ash", "3"], ["bay", "3"], ["elm", "5"], ["fir", "3"]],
    ),
    "a cell that is right already is passed over": (
        lambda table: table.cell("points", lambda row, _: 3),
        [["ash", "3"], ["bay", "3"], ["elm", "3"]],
    ),
    "an empty cell": (
        lambda table: table.cell("points", lambda row, _: "" if row[0] == "bay" else None),
        [["ash", "3"], ["bay", ""], ["elm", "5"]],
    ),
}


@pytest.mark.parametrize("path", ["points.csv", "points.xlsx"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_the_same_in_both_forms(make_world: MakeWorld, name: str, path: str) -> None:
    change, lines = CHANGES[name]
    world = make_world(_fill, "filesystem", "excel")
    change(NearTable(path, HEADER, lambda rows: rows, lambda row: [*row]))(world, ROWS)
    assert _read(world, path) == [[*HEADER], *lines]


@pytest.mark.parametrize("path", ["points.csv", "points.xlsx"])
def test_a_column_can_have_another_name(make_world: MakeWorld, path: str) -> None:
    world = make_world(_fill, "filesystem", "excel")
    table: NearTable[list[Row], Row] = NearTable(path, HEADER, lambda rows: rows, lambda row: [*row])
    table.heading("points", "score")(world, ROWS)
    assert _read(world, path)[0] == ["name", "score"]


def test_what_has_no_place_says_so_and_changes_nothing(make_world: MakeWorld) -> None:
    world = make_world(_fill, "filesystem", "excel")
    before = world.workspace.read("points.csv")
    table: NearTable[list[Row], Row] = NearTable("points.csv", HEADER, lambda rows: rows, lambda row: [*row])
    for change in (table.swapped(lambda *_: False), table.cell("points", lambda row, _: row[1])):
        with pytest.raises(Inapplicable):
            change(world, ROWS)
    assert world.workspace.read("points.csv") == before
