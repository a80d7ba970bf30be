"""Readings of an hour against bounds that notes change: what is at the edges, and what is damage."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from trials import call, failures, rows_of, solve

from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance, build_instance

FAMILY = load_family("machine_operating")
CASES = ("recalibrated_rate", "proposed_rate", "withdrawn_rate", "restored_rate", "serviced_rate")
REPORT, BUCKET = "anomaly_report.csv", "iot_anomaly_reports"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    """The least there can be, and hardly anything around it."""
    parameters = {"total_machines": 6, "filler_tokens": 500}
    return build_instance(FAMILY, 4, tmp_path_factory.mktemp("built") / "x", parameters=parameters)


@pytest.fixture(scope="module")
def report(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the solver writes."""
    episode = Episode.create(tmp_path_factory.mktemp("solved") / "episode", instance.path, FAMILY)
    solve(FAMILY, episode)
    assert not failures(episode)
    text = (episode.world.path / "workspace" / REPORT).read_text()
    episode.close()
    return text


@pytest.fixture
def episode(instance: Instance, tmp_path: Path) -> Iterator[Episode]:
    episode = Episode.create(tmp_path / "episode", instance.path, FAMILY)
    yield episode
    episode.close()


def hand_in(episode: Episode, text: str, *, bucket: str = BUCKET, location: str = "US") -> None:
    call(episode, "filesystem", "write_file", path=REPORT, content=text)
    call(episode, "google_cloud", "storage_create_bucket", bucket_name=bucket, location=location)
    target = {"bucket_name": bucket, "source_file_path": REPORT, "destination_blob_name": REPORT}
    call(episode, "google_cloud", "storage_upload_file", **target)


def machines(instance: Instance) -> list[dict[str, Any]]:
    kept = json.loads((instance.path / "expected.json").read_bytes())["truth"]["entities"]
    return [one for one in kept if one["fact"] == "machine" and one["ident"][0] != "b"]


@pytest.mark.parametrize("seed", range(2))
def test_each_case_and_edge_occurs_in_the_smallest_world(seed: int, tmp_path: Path) -> None:
    built = build_instance(FAMILY, seed, tmp_path / "x", parameters={"total_machines": 6})
    kinds = {one["kind"] for one in machines(built)}
    assert kinds == {"plain", "recalibrated", "proposed", "withdrawn", "restored", "serviced"}
    sensors = [sensor for one in machines(built) for sensor in one["drawn"]["sensors"]]
    away = {
        round((reading - bound) * 100)
        for sensor in sensors
        for reading in sensor["readings"]
        for bound in (sensor["low"], sensor["high"])
    }
    assert {-1, 0, 1} <= away, "on a bound, and a hundredth beyond it"


def test_few_readings_are_out_and_many_lie_close_to_a_bound(tmp_path: Path) -> None:
    parameters = {"total_machines": 60, "plain_rate": 1, **dict.fromkeys(CASES, 0)}
    built = build_instance(FAMILY, 0, tmp_path / "x", parameters=parameters)
    sensors = [sensor for one in machines(built) for sensor in one["drawn"]["sensors"]]
    readings = [(sensor, reading) for sensor in sensors for reading in sensor["readings"]]
    out = [reading for sensor, reading in readings if not sensor["low"] <= reading <= sensor["high"]]
    assert 0.01 < len(out) / len(readings) < 0.06
    off = [min(reading - sensor["low"], sensor["high"] - reading) for sensor, reading in readings]
    assert sum(0 <= round(one * 100) <= 3 for one in off) > 2 * 60 / 3, "more than the cases"


def test_the_table_goes_on_before_and_after_the_hour(instance: Instance, report: str) -> None:
    (name,) = rows_of(instance, "google_cloud", "SELECT 't_' || number FROM tables")[0]
    moments = {row[0] for row in rows_of(instance, "google_cloud", f"SELECT timestamp FROM {name}")}
    reported = [line.split(",")[0] for line in report.splitlines()[1:]]
    first, last = (dt.datetime.fromisoformat(one.removesuffix(" UTC")) for one in (reported[0], reported[-1]))
    assert last - first == dt.timedelta(hours=1), "there is one at each end of the hour"
    step = dt.timedelta(minutes=10)
    texts = {str(moment)[:19] for moment in moments}
    assert {str(first - step), str(last + step)} <= texts


@pytest.mark.parametrize("location", ["US", "EU"])
def test_the_same_report_with_quotes_is_right(episode: Episode, report: str, location: str) -> None:
    head, *lines = report.splitlines()
    quoted = [",".join(f'"{cell}"' for cell in line.split(",")) for line in lines]
    hand_in(episode, "\r\n".join([head, *quoted]) + "\r\n", location=location)
    assert not failures(episode)


def no_ranges(lines: list[str]) -> list[str]:
    return [line.rpartition(",")[0] + "," for line in lines]


def an_hour_off(lines: list[str]) -> list[str]:
    return [line.replace(line[11:13], f"{(int(line[11:13]) + 1) % 24:02}", 1) for line in lines]


@pytest.mark.parametrize(
    "change",
    [
        no_ranges,
        an_hour_off,
        lambda lines: [*lines, lines[-1]],
        lambda lines: lines[1:],
        lambda lines: lines[::-1],
        lambda lines: [line.replace(" UTC", "") for line in lines],
        lambda lines: [line.replace(" - ", "-") for line in lines],
    ],
)
def test_another_report_is_wrong(
    episode: Episode, report: str, change: Callable[[list[str]], list[str]]
) -> None:
    head, *lines = report.splitlines()
    hand_in(episode, "\n".join([head, *change(lines)]) + "\n")
    assert any(name.startswith("report_rows") for name in failures(episode))
    assert any(name.startswith("upload_rows") for name in failures(episode))


def test_a_report_that_is_nowhere_else_or_elsewhere_is_missing(episode: Episode, report: str) -> None:
    call(episode, "filesystem", "write_file", path=REPORT, content=report)
    assert failures(episode) == {"bucket_missing", "upload_missing"}
    hand_in(episode, report, bucket="iot-reports")
    assert {"bucket_missing", "google_cloud_bucket_extra"} <= failures(episode)


def test_a_table_of_ones_own_and_a_reading_that_was_corrected_are_damage(
    episode: Episode, report: str
) -> None:
    hand_in(episode, report)
    for query in (
        "CREATE TABLE machine_operating.bounds AS SELECT 1 AS low",
        "UPDATE machine_operating.live_sensor SET reading = 1 WHERE reading = (SELECT MAX(reading) FROM "
        "machine_operating.live_sensor)",
    ):
        call(episode, "google_cloud", "bigquery_run_query", query=query)
    assert "google_cloud_unchanged" in failures(episode)


@pytest.mark.parametrize(
    ("tool", "setting"),
    [("storage_set_bucket_lifecycle", {"age_days": 1}), ("storage_enable_versioning", {"enabled": True})],
)
def test_a_bucket_with_settings_that_nobody_asked_for_is_another(
    episode: Episode, report: str, tool: str, setting: dict[str, Any]
) -> None:
    hand_in(episode, report)
    assert not failures(episode)
    call(episode, "google_cloud", tool, bucket_name=BUCKET, **setting)
    assert failures(episode) == {"bucket_otherwise"}


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    for number, parameters in enumerate([{"hours": 2.0}, {"total_sensors": "smell"}]):
        with pytest.raises(UsageError):
            build_instance(FAMILY, 0, tmp_path / str(number), parameters=parameters)
