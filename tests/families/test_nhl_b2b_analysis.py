"""Back-to-back sets of hockey clubs."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from trials import call, failures, sizes

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.tasks.nhl_b2b_analysis import Books, clubs_for, tally

FAMILY = load_family("nhl_b2b_analysis")
DONE = 1, {"target": 8_000}
KINDS = ["plain"] * 10 + ["off", "replayed", "moved", "twice", "withdrawn", "undone", "neutral", "late"]
DAY = dt.timedelta(days=1)
TITLE = "nhl_b2b_analysis"


def books(games: int, seed: int, clubs: int = 0) -> Books:
    """A schedule of so many games, as an instance plans it."""

    sets = {
        "game": [SimpleNamespace(case=KINDS[number % len(KINDS)]) for number in range(games)],
        "club": [None] * (clubs or clubs_for(games)),
    }

    def stream(name: str) -> random.Random:
        return random.Random(seed)

    truth = SimpleNamespace(sets=sets, stream=stream)
    game: Any = SimpleNamespace(truth=truth, lookup={"start_date": "2024-10-08"}.get)
    return Books(game)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", sizes(FAMILY))
def test_every_boundary_occurs_at_every_length(size: str, seed: int) -> None:
    found = books(sizes(FAMILY)[size], seed)
    played: dict[str, set[dt.date]] = {}
    for line in found.lines:
        if line["status"].startswith("Final") and not line["r1"] and not line["r2"]:
            for side in ("visitor", "home"):
                assert line["first"] not in played.setdefault(line[side], set()), "twice on a day"
                played[line[side]].add(line["first"])
    opening, last = found.seasons[0]
    year = dt.date(opening.year + 1, 1, 1)
    turns = [year, dt.date(year.year, 2, 1)]
    for turn in turns:
        assert any({turn - DAY, turn} <= days for days in played.values())
    assert any({day, day + DAY, day + 2 * DAY} <= days for days in played.values() for day in days)
    assert any(opening in days for days in played.values())
    assert any(last in days for days in played.values())
    assert any(line["east"] < "02:00" for line in found.lines)
    assert {line["site"] == "Home" for line in found.lines} == {True, False}


def test_clubs_play_no_more_games_in_a_season_than_there_are() -> None:
    found = books(1200, 0)
    for window in found.seasons:
        for club in found.clubs:
            label = f"NHL {window[0].year}-{(window[0].year + 1) % 100:02}"
            games = [line for line in found.lines if line["competition"] == label and club in line.values()]
            assert len(games) <= 82


@pytest.mark.parametrize("games", [60, 570, 2303])
def test_two_clubs_meet_four_times_in_a_season_at_most(games: int) -> None:
    found = books(games, 1)
    met = Counter((line["competition"], frozenset((line["visitor"], line["home"]))) for line in found.lines)
    assert max(met.values()) <= 4
    assert sum(met.values()) == games


def test_sets_are_counted_as_the_prompt_says() -> None:
    def game(day: str, visitor: str, home: str, *, neutral: bool = False, played: bool = True) -> Any:
        line = {"visitor": visitor, "home": home}
        return {"line": line, "neutral": neutral, "day": dt.date.fromisoformat(day) if played else None}

    games = [
        game("2025-01-31", "A", "B"),
        game("2025-02-01", "B", "A"),
        game("2025-02-02", "C", "A", neutral=True),
        game("2025-02-04", "A", "C"),
        game("2025-02-05", "A", "C", played=False),
    ]
    found = tally(games, [{"name": name} for name in "ABC"])
    assert found["A"] == {"HA": 1, "AH": 1, "HH": 0, "AA": 0}
    assert found["B"] == {"HA": 1, "AH": 0, "HH": 0, "AA": 0}
    assert sum(found["C"].values()) == 0


@pytest.fixture
def fork(done: Episode, tmp_path: Path) -> Iterator[Episode]:
    episode = done.fork(tmp_path / "fork")
    yield episode
    episode.close()


def table_of(episode: Episode) -> list[list[str]]:
    text = call(episode, "filesystem", "read_text_file", path=f"{TITLE}.csv")
    return [line for line in csv.reader(io.StringIO(text)) if line]


def report_of(episode: Episode) -> str:
    listed = orjson.loads(call(episode, "google_sheet", "list_spreadsheets"))
    return str(next(one["id"] for one in listed if one["title"] == TITLE))


def put(episode: Episode, rows: list[list[Any]], where: str = "A1", sheet: str = "Sheet1") -> None:
    call(
        episode,
        "google_sheet",
        "update_cells",
        spreadsheet_id=report_of(episode),
        sheet=sheet,
        range=where,
        data=rows,
    )


def write(episode: Episode, rows: list[list[str]], ending: str = "\n") -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator=ending, quoting=csv.QUOTE_ALL).writerows(rows)
    call(episode, "filesystem", "write_file", path=f"{TITLE}.csv", content=text.getvalue())


def test_the_solved_world_passes_and_so_do_other_forms_of_it(fork: Episode) -> None:
    assert failures(fork) == set()
    table = table_of(fork)
    write(fork, table, "\r\n")
    for number, row in enumerate(table, 1):  # numbers as they are typed, row by row
        put(fork, [row], f"A{number}")
    put(fork, [[9]], "H40")
    put(fork, [[""]], "H40")
    assert failures(fork) == set()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda rows: [rows[0], *rows[:0:-1]], "rows_order"),
        (lambda rows: rows[:-1], "rows_missing"),
        (lambda rows: [*rows, rows[-1]], "rows_extra"),
        (lambda rows: [*rows, ["All", *["0"] * 5]], "rows_extra"),
        (lambda rows: [[*row, "x"] for row in rows], "rows_columns"),
        (lambda rows: [[row[0], row[2], row[1], *row[3:]] for row in rows], "rows_columns"),
        (lambda rows: [rows[0], [*rows[1][:5], str(int(rows[1][5]) + 1)], *rows[2:]], "rows_cells"),
    ],
)
def test_a_table_that_is_another_is_found_in_the_file_and_in_the_sheet(
    fork: Episode, change: Any, finding: str
) -> None:
    rows = table_of(fork)
    write(fork, change(rows))
    assert f"file_{finding}" in failures(fork)
    write(fork, rows)
    put(fork, [[""] * 8] * (len(rows) + 2))
    put(fork, change(rows))
    assert f"report_{finding}" in failures(fork)


def test_whatever_else_was_made_or_changed_is_damage(fork: Episode) -> None:
    call(fork, "google_sheet", "create_sheet", spreadsheet_id=report_of(fork), title="Notes")
    assert failures(fork) == set()  # a sheet with nothing in it
    put(fork, [["Remark"]], "A1", "Notes")
    assert "google_sheet_sheet_extra" in failures(fork)
    listed = orjson.loads(call(fork, "google_sheet", "list_spreadsheets"))
    source = next(one["id"] for one in listed if one["title"] != TITLE)
    where = {"spreadsheet_id": source, "sheet": "Games", "range": "A1"}
    call(fork, "google_sheet", "update_cells", **where, data=[["Number"]])
    call(fork, "filesystem", "write_file", path="nhl_b2b_analysis (1).csv", content="Team\n")
    assert {"google_sheet_sheet_extra", "filesystem_csv_extra"} <= failures(fork)


def test_a_report_that_others_may_open_is_damage(fork: Episode) -> None:
    reader = {"email_address": "stranger@elsewhere.example", "role": "reader"}
    call(fork, "google_sheet", "share_spreadsheet", spreadsheet_id=report_of(fork), recipients=[reader])
    assert failures(fork) == {"google_sheet_unchanged"}


def test_the_first_row_is_the_first(fork: Episode) -> None:
    table = table_of(fork)
    put(fork, [[""] * 6] * (len(table) + 1))
    put(fork, table, "A2")
    assert failures(fork) == {"report_rows_columns"}
