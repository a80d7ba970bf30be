"""Storage, logging, compute and loads, through the tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.logs import NewEntry
from mesocosm.servers.google_cloud.store.storage import NewObject
from mesocosm.services.world import World

Open = Callable[..., Any]
ZONE = {"zone": "us-central1-a"}


def fill(world: World) -> None:
    store = world.store(GoogleCloudStore)
    store.storage.create("reports")
    store.storage.objects.fill("reports", [NewObject(f"2025/{n:03}.txt", b"x" * n) for n in range(120)])
    store.bigquery.datasets.create("crm")
    fields = [{"name": "id", "type": "INT64", "mode": "REQUIRED"}, {"name": "name", "type": "STRING"}]
    store.bigquery.tables.append(
        store.bigquery.tables.create("crm", "people", fields), [{"id": 1, "name": "A"}]
    )
    store.logs.entries.fill(
        NewEntry(
            "app", {"user": "ada", "n": n} if n % 2 else f"message {n}", 100 * (n % 8), None, {"zone": "a"}
        )
        for n in range(60)
    )
    files = {
        "people.csv": "id,name\n2,B\n3,C\n",
        "wrong.csv": "id,name\n4,D\nx,E\n",
        "new.csv": "a,b\n1,2025-01-02\n",
    }
    world.workspace.fill(((name, text.encode()) for name, text in files.items()), world.now)


@pytest.fixture
def cloud(open_tools: Open) -> Callable[..., str]:
    tools = open_tools(fill, "google_cloud")
    return lambda tool, **arguments: tools.call("google_cloud", tool, **arguments)  # type: ignore[no-any-return]


def refused(cloud: Callable[..., str], words: str, tool: str, **arguments: Any) -> None:
    with pytest.raises(Exception, match=words):
        cloud(tool, **arguments)


def token_of(text: str) -> str:
    return text.rpartition('page_token="')[2].partition('"')[0]


def test_objects_are_listed_page_by_page(cloud: Callable[..., str]) -> None:
    first = cloud("storage_list_objects", bucket_name="reports", prefix="2025/")
    assert first.startswith("Found 100 objects in bucket 'reports':\n- 2025/000.txt: 0 bytes")
    second = cloud("storage_list_objects", bucket_name="reports", prefix="2025/", page_token=token_of(first))
    assert second.count("\n- ") == 20
    assert "More follows" not in second
    refused(cloud, "Invalid page token", "storage_list_objects", bucket_name="reports", page_token="x")


def test_a_move_that_cannot_be_made_loses_nothing(cloud: Callable[..., str]) -> None:
    one = {"source_bucket": "reports", "source_blob": "2025/001.txt", "dest_blob": "2025/001.txt"}
    refused(cloud, "bucket does not exist", "storage_move_object", **one, dest_bucket="nowhere")
    refused(cloud, "must not be the same", "storage_move_object", **one, dest_bucket="reports")
    refused(
        cloud, "No such object", "storage_move_object", **(one | {"source_blob": "x"}), dest_bucket="reports"
    )
    assert "Total Objects: 120" in cloud("storage_get_bucket_size", bucket_name="reports")


def test_names_and_places_are_checked(cloud: Callable[..., str]) -> None:
    for name in ("Ab", "a", "goog-x", "1.2.3.4", "x" * 64, "my_google_bucket", "-a-"):
        refused(cloud, "Invalid bucket name", "storage_create_bucket", bucket_name=name)
    refused(cloud, "already own it", "storage_create_bucket", bucket_name="reports")
    refused(
        cloud,
        "Did you mean 'EUROPE-WEST1'",
        "storage_create_bucket",
        bucket_name="abc",
        location="europe-wst1",
    )
    upload = {"bucket_name": "reports", "destination_blob_name": "x"}
    refused(cloud, "outside the workspace", "storage_upload_file", source_file_path="/etc/passwd", **upload)
    refused(cloud, "Did you mean 'reports'", "storage_get_bucket_info", bucket_name="report")
    refused(
        cloud,
        "Invalid lifecycle|storageClass",
        "storage_set_bucket_lifecycle",
        bucket_name="reports",
        action="x",
    )


def test_machines_go_through_their_states(cloud: Callable[..., str]) -> None:
    told = cloud("compute_create_instance", instance_name="vm-1", **ZONE)
    operation = told.rpartition(" ")[2]
    assert "Status: PROVISIONING" in cloud("compute_get_instance", instance_name="vm-1", **ZONE)
    refused(cloud, "is not ready", "compute_stop_instance", instance_name="vm-1", **ZONE)
    cloud("compute_wait_for_operation", operation_name=operation, **ZONE)
    assert "Status: RUNNING" in cloud("compute_list_instances")
    cloud("compute_stop_instance", instance_name="vm-1", **ZONE)
    for _ in range(16):  # the clock goes on by a second with each call
        told = cloud("compute_get_instance", instance_name="vm-1", **ZONE)
    assert "Status: TERMINATED" in told
    refused(cloud, "must be running", "compute_restart_instance", instance_name="vm-1", **ZONE)
    refused(
        cloud, "one of that name in zone", "compute_get_instance", instance_name="vm-1", zone="us-central1-b"
    )
    refused(cloud, "Unknown zone", "compute_start_instance", instance_name="vm-1", zone="us-centrl1-a")
    refused(
        cloud, "machineType", "compute_create_instance", instance_name="vm-2", machine_type="huge", **ZONE
    )


@pytest.mark.parametrize(
    ("log_filter", "count"),
    [
        ("", 50),
        ("severity>=ERROR", 21),
        ("severity=(DEBUG OR INFO) AND labels.zone=A", 16),
        ('jsonPayload.user="ADA" jsonPayload.n>50', 5),
        ("jsonPayload.n>50 OR textPayload:message AND severity=DEFAULT", 8),
        ("NOT jsonPayload:*", 30),
        ("-textPayload:* AND jsonPayload.n<=5", 3),
        (r'textPayload=~"message \d$"', 5),
        ('"message 1"', 5),
        ('log_id("app") AND timestamp<"2000-01-01"', 0),
        ('jsonPayload.user!="ada" severity=200', 8),
        ("severity=(NOT DEBUG) AND severity<=INFO", 16),
        ('logName:"/logs/ap" resource.type=global severity=CRITICAL -- a remark', 7),
    ],
)
def test_a_filter_finds_what_it_says(cloud: Callable[..., str], log_filter: str, count: int) -> None:
    assert cloud("logging_read_logs", log_filter=log_filter).startswith(f"Found {count} log entries:")


@pytest.mark.parametrize(
    ("log_filter", "words"),
    [
        ("severity>=", "line 1, column 11, end of the filter"),
        ("a=1 AND\n)", r"line 2, column 1, token '\)'"),
        ("payload=1", "Field not found: 'payload'"),
        ("severity=BAD", "Invalid value for severity"),
        ('textPayload=~"("', "Invalid regular expression"),
        (r'textPayload=~"(\pL{100}){9}"', "pattern too large"),
        (f'textPayload=~"{"x" * 1_001}"', "1,001 characters"),
        ('timestamp>"soon"', "Invalid value for timestamp"),
        ('log_id("a" "b")', """line 1, column 12, token '"'"""),
        ("(" * 200, "nested too deeply"),
        ("a=" + "(" * 200, "nested too deeply"),
        ("nothing(1)", "syntax error at line 1, column 1"),
    ],
)
def test_a_wrong_filter_is_refused(cloud: Callable[..., str], log_filter: str, words: str) -> None:
    refused(cloud, words, "logging_read_logs", log_filter=log_filter)


def test_a_sink_sends_entries_to_a_bucket_and_a_table(cloud: Callable[..., str]) -> None:
    errors = {"log_filter": "severity>=ERROR"}
    cloud("logging_create_log_sink", sink_name="a", destination="storage.googleapis.com/reports", **errors)
    dataset = "bigquery.googleapis.com/projects/local-project/datasets/crm"
    cloud("logging_create_log_sink", sink_name="b", destination=dataset, **errors)
    refused(cloud, "Invalid sink destination", "logging_create_log_sink", sink_name="c", destination="d")
    for severity, message in (
        ("ERROR", '{"code": 5}'),
        ("INFO", "fine"),
        ("ALERT", '{"code": 6, "by": {"x": 1}}'),
    ):
        cloud("logging_write_log", log_name="app", message=message, severity=severity)
    assert "- app/2025/01/15/09:00:00_09:59:59_S0.json" in cloud(
        "storage_list_objects", bucket_name="reports", prefix="app"
    )
    told = cloud(
        "bigquery_run_query", query="SELECT jsonPayload.code AS c, jsonPayload.by.x FROM crm.app_20250115"
    )
    assert '{"c":5.0,"x":null},\n{"c":6.0,"x":1.0}' in told
    refused(
        cloud,
        "Invalid value for severity",
        "logging_write_log",
        log_name="app",
        message="x",
        severity="BOGUS",
    )
    refused(cloud, "does not exist", "logging_delete_log", log_name="nope")


def test_a_load_is_all_or_nothing(cloud: Callable[..., str]) -> None:
    def rows() -> str:
        told = cloud("bigquery_run_query", query="SELECT name FROM crm.people ORDER BY id")
        return ",".join(
            line.strip('{}",').rpartition('"')[2] for line in told.split("\n") if line.startswith("{")
        )

    place = {"dataset_id": "crm", "table_id": "people"}
    refused(
        cloud, "line 3: Could not parse 'x'", "bigquery_load_csv_data", **place, csv_file_path="wrong.csv"
    )
    assert rows() == "A"
    cloud("bigquery_load_csv_data", **place, csv_file_path="people.csv", write_mode="WRITE_APPEND")
    assert rows() == "A,B,C"
    cloud("bigquery_load_csv_data", **place, csv_file_path="people.csv")
    assert rows() == "B,C"
    refused(cloud, "Cannot add fields", "bigquery_load_csv_data", **place, csv_file_path="new.csv")
    cloud("bigquery_load_csv_data", dataset_id="crm", table_id="new", csv_file_path="new.csv")
    told = cloud(
        "bigquery_run_query",
        query="SELECT data_type FROM crm.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'new'",
    )
    assert '{"data_type":"INT64"},\n{"data_type":"DATE"}' in told
    out = {"destination_bucket": "reports", "destination_path": "out.csv"}
    cloud("bigquery_export_table", **place, **out)
    cloud(
        "storage_download_file",
        bucket_name="reports",
        source_blob_name="out.csv",
        destination_file_path="o.csv",
    )


def test_results_come_page_by_page_while_the_tables_stay(cloud: Callable[..., str]) -> None:
    query = "SELECT x FROM UNNEST(GENERATE_ARRAY(1, 5)) AS x, crm.people"
    first = cloud("bigquery_run_query", query=query, max_results=2)
    assert "Total rows: 5" in first
    token = token_of(first)
    second = cloud("bigquery_run_query", query=query, max_results=2, page_token=token)
    assert '[\n{"x":3},\n{"x":4}\n]' in second
    refused(cloud, "another query", "bigquery_run_query", query="SELECT 1", page_token=token)
    cloud("bigquery_run_query", query="INSERT crm.people (id) VALUES (9)")
    refused(cloud, "its tables have changed", "bigquery_run_query", query=query, page_token=token)
    assert "Found 2 jobs" in cloud("bigquery_list_jobs")
