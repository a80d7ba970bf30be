"""Students who fell far below their average."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import Expected, load_family
from mesocosm.families.instances import Instance

FAMILY = load_family("academic_warning")
FILE = "bad_student.csv"


def of_fact(expected: Expected, fact: str) -> list[dict[str, Any]]:
    """The entities of a fact that are no background, as they were drawn."""
    entities = expected.model_dump()["truth"]["entities"]
    return [one for one in entities if one["fact"] == fact and not one["ident"].startswith("b")]


@pytest.fixture(scope="module")
def done(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A solved episode; to be forked."""
    episode = Episode.create(tmp_path_factory.mktemp("done") / "episode", instance.path, FAMILY)
    solve(FAMILY, episode)
    yield episode
    episode.close()


@pytest.fixture
def solved(episode: Episode, done: Episode) -> Episode:
    """The same by other means, not declared done; keys of entries are in another order."""
    enter(episode, done)
    return episode


def lines(episode: Episode) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((episode.world.workspace.root / FILE).read_text())))


def write(episode: Episode, rows: list[dict[str, str]], end: str = "\n") -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    call(episode, "filesystem", "write_file", path=FILE, content=text.getvalue())


def test_every_case_occurs_and_the_bounds_are_met_exactly(expected: Expected) -> None:
    students = of_fact(expected, "student")
    kinds = {one["kind"] for one in students}
    assert kinds == set(FAMILY.task.definition["entities"]["student"]["cases"])
    assert {one["kind"] for one in of_fact(expected, "ruling")} == {"annulled", "reinstated"}
    months = [
        one["drawn"]["exam"]["$one"][1] for one in of_fact(expected, "ruling") if one["kind"] == "annulled"
    ]
    shares = {}
    for one in students:
        if one["kind"].startswith(("at_", "beyond_")):
            marks = [mark for place, mark in enumerate(one["drawn"]["marks"]) if str(place) not in months]
            shares[one["kind"]] = (
                Decimal(one["drawn"]["latest"]) * len(marks) / sum(marks),
                Decimal(sum(marks)),
            )
    assert shares["at_25"][0] == Decimal("0.75")
    assert shares["at_45"][0] == Decimal("0.55")
    assert Decimal("0.74") < shares["beyond_25"][0] < Decimal("0.75")
    assert Decimal("0.54") < shares["beyond_45"][0] < Decimal("0.55")


def test_numbers_in_other_forms_and_lines_that_end_otherwise_are_right(solved: Episode) -> None:
    rows = lines(solved)
    for row in rows:
        row["score"] = f"{float(row['score']):.2f}"
        row["past_average"] = str(Decimal(row["past_average"]) + Decimal("0.01"))
        row["drop"] = str(Decimal(row["drop"]) - Decimal("0.01"))
    write(solved, rows, end="\r\n")
    assert not failures(solved)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_blank_lines_end_the_list_and_stand_nowhere_else(solved: Episode, place: int) -> None:
    text = (solved.world.workspace.root / FILE).read_text()
    call(solved, "filesystem", "write_file", path=FILE, content=f"{text}\n\n")
    assert not failures(solved)
    written = text.splitlines()
    written.insert(place, "")
    call(solved, "filesystem", "write_file", path=FILE, content="\n".join(written))
    assert failures(solved)


@pytest.mark.parametrize(
    ("column", "change", "finding"),
    [
        ("past_average", lambda value: str(Decimal(value) + Decimal("0.02")), "bad_student_rows_cells"),
        ("name", str.upper, "bad_student_rows_cells"),
        ("student_id", lambda value: value[1:], "bad_student_rows_missing"),
        ("drop", lambda value: f"{value} %", "bad_student_rows_cells"),
    ],
)
def test_a_wrong_cell_is_found(solved: Episode, column: str, change: Any, finding: str) -> None:
    rows = lines(solved)
    rows[-1][column] = change(rows[-1][column])
    write(solved, rows)
    assert finding in failures(solved)


def enter(episode: Episode, done: Episode, severity: str = "CRITICAL") -> None:
    """The list, and the entries with their keys in another order; the first one of that severity."""
    rows = lines(done)
    write(episode, rows)
    month = re.search(r"latest exam, (\d+)", episode.prompt)
    assert month
    for row in rows:
        if Decimal(row["drop"]) > 45:
            message = json.dumps({"exam": month[1], "name": row["name"], "student_id": row["student_id"]})
            call(
                episode,
                "google_cloud",
                "logging_write_log",
                log_name="exam_log",
                message=message,
                severity=severity,
            )
            severity = "CRITICAL"


def test_entries_are_right_whatever_the_order_of_their_keys(solved: Episode) -> None:
    assert not failures(solved)


def test_an_entry_of_another_severity_is_wrong(episode: Episode, done: Episode) -> None:
    enter(episode, done, "ERROR")
    assert "exam_log_severity" in failures(episode)


def test_an_entry_for_somebody_else_is_too_much(solved: Episode) -> None:
    message = json.dumps({"student_id": "S110415", "name": "Nobody", "exam": "2501"})
    call(
        solved, "google_cloud", "logging_write_log", log_name="exam_log", message=message, severity="CRITICAL"
    )
    assert "google_cloud_entry_extra" in failures(solved)


def test_what_nobody_asked_for_is_damage(solved: Episode) -> None:
    call(solved, "google_cloud", "logging_delete_log", log_name="exam_log")
    assert failures(solved) & {"exam_log_missing", "google_cloud_unchanged"}


def test_a_cell_that_no_reader_takes_fails(solved: Episode) -> None:
    text = (solved.world.workspace.root / FILE).read_text()
    call(solved, "filesystem", "write_file", path=FILE, content=f"{text}{'9' * 140_000},1\n")
    assert failures(solved)
