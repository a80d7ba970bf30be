"""A/B tests of shops."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from trials import call, failures, rows_of, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import Expected, load_family
from mesocosm.families.instances import Instance

FAMILY = load_family("ab_testing")
FILE, BUCKET, LOG = "record.csv", "promo-assets-for-b", "abtesting_logging"
CONCLUDED = '{"action": "No_Change", "winner": "A", "status": "AB_Test_Concluded"}'


@pytest.fixture(scope="module")
def done(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Episode]:
    """A solved episode; to be read."""
    episode = Episode.create(tmp_path_factory.mktemp("done") / "episode", instance.path, FAMILY)
    solve(FAMILY, episode)
    assert not failures(episode)
    yield episode
    episode.close()


def lines(episode: Episode) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((episode.world.workspace.root / FILE).read_text())))


def write(episode: Episode, rows: list[dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    call(episode, "filesystem", "write_file", path=FILE, content=text.getvalue())


def wins(expected: Expected) -> bool:
    """Whether B does, as the drawn margin says."""
    [me] = [one for one in expected.model_dump()["truth"]["entities"] if one["fact"] == "me"]
    return str(me["drawn"]["margin"]).startswith("B")


def conclude(episode: Episode, *, bucket: bool) -> None:
    if bucket:
        call(episode, "google_cloud", "storage_create_bucket", bucket_name=BUCKET)
    else:
        call(episode, "google_cloud", "logging_write_log", log_name=LOG, message=CONCLUDED)


@pytest.fixture
def solved(episode: Episode, expected: Expected, done: Episode) -> Episode:
    """The same by other means, not declared done; lines end as on Windows, keys are in another order."""
    write(episode, lines(done))
    conclude(episode, bucket=wins(expected))
    return episode


def test_every_case_occurs_and_bots_come_right_beside_the_limit(
    expected: Expected, instance: Instance
) -> None:
    scenarios = [one for one in expected.model_dump()["truth"]["entities"] if one["fact"] == "scenario"]
    assert {one["kind"] for one in scenarios} == set(FAMILY.task.definition["entities"]["scenario"]["cases"])
    limit = 260 * 2  # windows of two hours at this length
    tables = rows_of(instance, "google_cloud", "SELECT number FROM tables WHERE id LIKE 'ab_%'")
    clicks = [
        row[0]
        for (number,) in tables
        for row in rows_of(instance, "google_cloud", f'SELECT "A_clicks" FROM t_{number}')
    ]
    assert clicks.count(limit) >= 1
    assert clicks.count(limit + 1) >= 1


def test_the_same_in_another_form_is_right(solved: Episode) -> None:
    assert not failures(solved)


def test_rates_may_be_off_by_the_last_decimal(solved: Episode, done: Episode) -> None:
    write(
        solved,
        [row | {"A_conversion %": f"{float(row['A_conversion %']) + 0.001:.3f}"} for row in lines(done)],
    )
    assert not failures(solved)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda rows: [*rows[:-1], rows[-1] | {"B_conversion %": "50.000"}], "record_rows_cells"),
        (lambda rows: rows[:-1], "record_rows_missing"),
        (lambda rows: [rows[-1], *rows[:-1]], "record_rows_order"),
        (lambda rows: [rows[0] | {"scenario": "Example_Banner_00"}, *rows], "record_rows_extra"),
        (lambda rows: [dict(row) | {"note": ""} for row in rows], "record_rows_columns"),
    ],
)  # fmt: skip
def test_a_wrong_record_is_found(solved: Episode, done: Episode, change: Any, finding: str) -> None:
    write(solved, change(lines(done)))
    assert finding in failures(solved)


def test_the_other_conclusion_is_wrong(episode: Episode, expected: Expected, done: Episode) -> None:
    write(episode, lines(done))
    conclude(episode, bucket=not wins(expected))
    found = failures(episode)
    assert found & {"promotion_missing", "conclusion_missing"}
    assert found & {"google_cloud_bucket_extra", "google_cloud_entry_extra"}


def test_what_nobody_asked_for_is_damage(solved: Episode) -> None:
    call(
        solved,
        "google_cloud",
        "bigquery_run_query",
        query="DELETE FROM ab_testing.ab_home WHERE A_clicks = 0",
    )
    assert "google_cloud_unchanged" in failures(solved)


def test_the_overall_rates_are_as_far_apart_as_was_drawn(expected: Expected) -> None:
    truth_of = FAMILY.hook("truth_of")
    assert truth_of
    me = truth_of(expected).singles["me"]
    a, b = (Fraction(me["overall"][f"{one}_store_views"], me["overall"][f"{one}_clicks"]) for one in "AB")
    lead = {"tie": a - b, "B by a view": (b - a) * me["overall"]["B_clicks"] - 1}
    lead |= {"A by a view": (a - b) * me["overall"]["A_clicks"] - 1, "B": min(b - a, 0), "A": min(a - b, 0)}
    assert lead[me["margin"]] == 0
    assert me["overall"]["winner"] == ("B" if b > a else "A")
