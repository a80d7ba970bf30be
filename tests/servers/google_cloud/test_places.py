"""Buckets, machines, logs and datasets as agents meet them: what is listed, kept, bounded and refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.storage import NewObject
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

Call = Callable[..., str]
ZONE = {"zone": "us-central1-a"}


def fill(world: World) -> None:
    store = world.store(GoogleCloudStore)
    store.storage.create("reports", "europe-west1")
    store.storage.create("archive")
    store.storage.objects.fill("reports", [NewObject(f"{n}.txt", b"x" * n) for n in (1, 2)])
    store.bigquery.datasets.create("crm")
    fields = [{"name": "id", "type": "INT64", "mode": "REQUIRED"}, {"name": "name", "type": "STRING"}]
    store.bigquery.tables.create("crm", "people", fields)
    world.workspace.fill([("one.txt", b"12345"), ("data.csv", b"a;b\n1;2\n")], world.now)


@pytest.fixture
def cloud(open_tools: Callable[..., Any]) -> Call:
    tools = open_tools(fill, "google_cloud")
    return lambda tool, **arguments: tools.call("google_cloud", tool, **arguments)  # type: ignore[no-any-return]


def refused(cloud: Call, words: str, tool: str, **arguments: Any) -> None:
    with pytest.raises(ToolError, match=words):
        cloud(tool, **arguments)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")]


# -- storage ------------------------------------------------------------------------------------------------


def test_buckets_come_by_name_and_page_by_page(cloud: Call) -> None:
    everything = lines(cloud("storage_list_buckets"))
    assert [line.partition(",")[0] for line in everything] == [
        "Found 2 buckets:",
        "- archive (Location: US",
        "- reports (Location: EUROPE-WEST1",
    ]
    first = cloud("storage_list_buckets", max_results=1)
    assert "- archive" in first
    assert "- reports" not in first
    token = first.rpartition('page_token="')[2].partition('"')[0]
    second = cloud("storage_list_buckets", max_results=1, page_token=token)
    assert second.startswith("Found 1 buckets:\n- reports")
    assert "page_token" not in second
    assert lines(cloud("storage_list_buckets", max_results=5_000)) == everything


def test_an_object_that_is_replaced_is_gone_unless_the_bucket_keeps_versions(cloud: Call) -> None:
    place = {"bucket_name": "reports", "source_file_path": "one.txt", "destination_blob_name": "1.txt"}
    assert cloud("storage_upload_file", **place).endswith("'reports/1.txt' (5 bytes)")
    size = lines(cloud("storage_get_bucket_size", bucket_name="reports"))
    assert size[1:3] == ["Total Objects: 2", "Total Size: 7 bytes"]
    assert not any("Earlier" in line for line in size)
    assert "Versioning: Disabled" in cloud("storage_get_bucket_info", bucket_name="reports")
    cloud("storage_enable_versioning", bucket_name="reports")
    assert "Versioning: Enabled" in cloud("storage_get_bucket_info", bucket_name="reports")
    cloud("storage_upload_file", **place)
    cloud("storage_delete_object", bucket_name="reports", blob_name="2.txt")
    size = lines(cloud("storage_get_bucket_size", bucket_name="reports"))
    assert size[1:3] == ["Total Objects: 1", "Total Size: 5 bytes"]
    assert size[-1] == "Earlier versions: 2 (7 bytes)"
    cloud("storage_enable_versioning", bucket_name="reports", enabled=False)
    cloud("storage_delete_object", bucket_name="reports", blob_name="1.txt")
    assert lines(cloud("storage_get_bucket_size", bucket_name="reports"))[-1] == size[-1]
    refused(cloud, "No such object", "storage_delete_object", bucket_name="reports", blob_name="1.txt")


def test_a_copy_is_another_object_and_a_move_leaves_nothing(cloud: Call) -> None:
    one = {"source_bucket": "reports", "dest_bucket": "archive"}
    cloud("storage_copy_object", **one, source_blob="1.txt", dest_blob="copies/1.txt")
    cloud("storage_move_object", **one, source_blob="2.txt", dest_blob="2.txt")
    assert "Found 1 objects" in cloud("storage_list_objects", bucket_name="reports")
    assert [
        line.partition(" (")[0] for line in lines(cloud("storage_list_objects", bucket_name="archive"))
    ] == [
        "Found 2 objects in bucket 'archive':",
        "- 2.txt: 2 bytes",
        "- copies/1.txt: 1 bytes",
    ]
    listed = cloud("storage_list_objects", bucket_name="archive", prefix="copies/")
    assert listed.count("\n- ") == 1


def test_what_is_downloaded_is_what_was_uploaded(cloud: Call) -> None:
    cloud("storage_upload_file", bucket_name="archive", source_file_path="one.txt", destination_blob_name="a")
    place = {"bucket_name": "archive", "source_blob_name": "a", "destination_file_path": "two.txt"}
    assert cloud("storage_download_file", **place).endswith("(5 bytes)")
    cloud("storage_upload_file", bucket_name="archive", source_file_path="two.txt", destination_blob_name="b")
    assert cloud("storage_list_objects", bucket_name="archive").count(": 5 bytes") == 2
    for name in ("x" * 1_025, "a\nb", "..", ""):
        refused(
            cloud,
            "Invalid object name",
            "storage_upload_file",
            **place_of(name),
        )


def place_of(name: str) -> dict[str, str]:
    return {"bucket_name": "archive", "source_file_path": "one.txt", "destination_blob_name": name}


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({}, '{"type":"Delete"},"condition":{"age":30}'),
        ({"age_days": 0, "action": "delete"}, '{"type":"Delete"},"condition":{"age":0}'),
        (
            {"age_days": 7, "action": "coldline"},
            '{"type":"SetStorageClass","storageClass":"COLDLINE"},"condition":{"age":7}',
        ),
    ],
)
def test_a_bucket_has_the_rule_that_was_set(cloud: Call, arguments: dict[str, Any], rule: str) -> None:
    cloud("storage_set_bucket_lifecycle", bucket_name="reports", **arguments)
    assert rule in cloud("storage_get_bucket_info", bucket_name="reports")


def test_rules_and_signed_urls_that_cannot_be_are_refused(cloud: Call) -> None:
    one = {"bucket_name": "reports", "blob_name": "1.txt"}
    refused(cloud, "age", "storage_set_bucket_lifecycle", bucket_name="reports", age_days=-1)
    refused(cloud, "lass", "storage_set_bucket_lifecycle", bucket_name="reports", action="FROZEN")
    for minutes in (0, 10_081):
        refused(cloud, "xpiration", "storage_generate_signed_url", **one, expiration_minutes=minutes)
    refused(cloud, "ethod", "storage_generate_signed_url", **one, method="PATCH")
    assert "expires in 10080 minutes" in cloud(
        "storage_generate_signed_url", **one, expiration_minutes=10_080
    )


# -- compute ------------------------------------------------------------------------------------------------


def made(cloud: Call, name: str, **more: Any) -> None:
    told = cloud("compute_create_instance", instance_name=name, **{**ZONE, **more})
    zone = more.get("zone", ZONE["zone"])
    cloud("compute_wait_for_operation", operation_name=told.rpartition(" ")[2], zone=zone)


def test_machines_are_listed_by_zone_and_name(cloud: Call) -> None:
    made(cloud, "b", zone="europe-west1-b")
    made(cloud, "b")
    made(cloud, "a", machine_type="e2-small")
    told = lines(cloud("compute_list_instances"))
    assert told == [
        "Found 3 instances:",
        "- b (Zone: europe-west1-b, Status: RUNNING, Type: e2-micro)",
        "- a (Zone: us-central1-a, Status: RUNNING, Type: e2-small)",
        "- b (Zone: us-central1-a, Status: RUNNING, Type: e2-micro)",
    ]
    assert lines(cloud("compute_list_instances", **ZONE))[1:] == told[2:]
    refused(cloud, "Unknown zone", "compute_list_instances", zone="mars-1")


def test_a_machine_that_is_deleted_leaves_its_name(cloud: Call) -> None:
    made(cloud, "vm")
    refused(cloud, "already exists", "compute_create_instance", instance_name="vm", **ZONE)
    told = cloud("compute_delete_instance", instance_name="vm", **ZONE)
    refused(cloud, "not ready", "compute_delete_instance", instance_name="vm", **ZONE)
    operation = {"operation_name": told.rpartition(" ")[2], **ZONE}
    for minutes in (0, 1_441):
        refused(cloud, "1 to 1440", "compute_wait_for_operation", **operation, timeout_minutes=minutes)
    cloud("compute_wait_for_operation", **operation, timeout_minutes=1_440)
    assert cloud("compute_list_instances") == "Found 0 instances:"
    refused(cloud, "was not found", "compute_get_instance", instance_name="vm", **ZONE)
    made(cloud, "vm")
    assert "Status: RUNNING" in cloud("compute_get_instance", instance_name="vm", **ZONE)


def test_a_machine_has_an_address_outside_only_while_it_runs(cloud: Call) -> None:
    made(cloud, "vm")
    assert "External IP: 34." in cloud("compute_get_instance", instance_name="vm", **ZONE)
    told = cloud("compute_stop_instance", instance_name="vm", **ZONE)
    cloud("compute_wait_for_operation", operation_name=told.rpartition(" ")[2], **ZONE)
    shown = cloud("compute_get_instance", instance_name="vm", **ZONE)
    assert "Status: TERMINATED" in shown
    assert "External IP: None" in shown
    told = cloud("compute_start_instance", instance_name="vm", **ZONE)
    refused(cloud, "not ready", "compute_restart_instance", instance_name="vm", **ZONE)
    cloud("compute_wait_for_operation", operation_name=told.rpartition(" ")[2], **ZONE)
    cloud("compute_restart_instance", instance_name="vm", **ZONE)
    assert "Status: RUNNING" in cloud("compute_get_instance", instance_name="vm", **ZONE)
    for name in ("Vm", "1vm", "vm-", "v" * 64):
        refused(cloud, "resource.name", "compute_create_instance", instance_name=name, **ZONE)


# -- logging ------------------------------------------------------------------------------------------------


def test_logs_are_there_while_they_have_entries(cloud: Call) -> None:
    for log, message in (("b", "x"), ("a/c", '{"n": 1}'), ("b", "{no object"), ("b", "[1]")):
        cloud("logging_write_log", log_name=log, message=message)
    assert lines(cloud("logging_list_logs")) == ["Found 2 logs:", "- a/c", "- b"]
    read = cloud("logging_read_logs")
    assert [line for line in lines(read) if line.startswith(("{", "x", "["))][1::2] == [
        "[1]",
        "{no object",
        '{"n":1}',
        "x",
    ]
    assert cloud("logging_delete_log", log_name="b").endswith("(3 entries)")
    assert lines(cloud("logging_list_logs")) == ["Found 1 logs:", "- a/c"]


def test_log_buckets_keep_entries_for_a_bounded_time(cloud: Call) -> None:
    for days in (0, 3_651):
        refused(cloud, "etention", "logging_create_log_bucket", bucket_id="audit", retention_days=days)
    for days in (1, 3_650):
        told = cloud("logging_create_log_bucket", bucket_id=f"audit-{days}", retention_days=days)
        assert told.endswith(f"with {days} days retention")
    refused(cloud, "lready", "logging_create_log_bucket", bucket_id="audit-1")
    shown = cloud("logging_list_log_buckets")
    assert shown.count("State: ACTIVE") == int(shown.split()[1])
    assert "Retention: 3650 days" in shown


def test_a_sink_sends_what_matches_until_it_is_deleted(cloud: Call) -> None:
    place = "storage.googleapis.com/archive"
    cloud("logging_create_log_sink", sink_name="errors", destination=place, log_filter="severity>=ERROR")
    refused(cloud, "lready", "logging_create_log_sink", sink_name="errors", destination=place)
    shown = lines(cloud("logging_list_log_sinks"))
    at = shown.index("- errors")
    assert shown[at + 1 : at + 4] == [f"Destination: {place}", "Filter: severity>=ERROR", "Disabled: False"]
    cloud("logging_write_log", log_name="app", message="fine", severity="WARNING")
    assert "Found 0 objects" in cloud("storage_list_objects", bucket_name="archive")
    cloud("logging_write_log", log_name="app", message="bad", severity="ERROR")
    assert "Found 1 objects" in cloud("storage_list_objects", bucket_name="archive")
    cloud("logging_delete_log_sink", sink_name="errors")
    cloud("logging_write_log", log_name="other", message="bad", severity="ERROR")
    assert "Found 1 objects" in cloud("storage_list_objects", bucket_name="archive")
    refused(cloud, "errors", "logging_delete_log_sink", sink_name="errors")


# -- BigQuery -----------------------------------------------------------------------------------------------


def query(cloud: Call, text: str) -> str:
    return cloud("bigquery_run_query", query=text)


def test_a_required_column_wants_a_value_and_counts_are_told(cloud: Call) -> None:
    refused(cloud, "id", "bigquery_run_query", query="INSERT crm.people (name) VALUES ('A')")
    assert "2" in query(cloud, "INSERT crm.people (id, name) VALUES (1, 'A'), (2, NULL)")
    assert '{"id":2,"name":null}' in query(cloud, "SELECT * FROM crm.people WHERE name IS NULL")
    assert '{"n":2}' in query(cloud, "SELECT COUNT(*) AS n FROM crm.people")
    refused(cloud, "crm.persons", "bigquery_run_query", query="SELECT * FROM crm.persons")
    refused(cloud, "nam", "bigquery_run_query", query="SELECT nam FROM crm.people")


def test_a_dataset_is_made_once_and_has_a_name_that_may_be(cloud: Call) -> None:
    refused(cloud, "lready", "bigquery_create_dataset", dataset_id="crm")
    for name in ("a-b", "", "x" * 1_025):
        refused(cloud, "nvalid", "bigquery_create_dataset", dataset_id=name)
    cloud("bigquery_create_dataset", dataset_id="x" * 1_024)
    assert lines(cloud("bigquery_list_datasets"))[0].startswith("Found 2 datasets")


def test_a_place_is_written_as_the_product_writes_it(cloud: Call) -> None:
    for given, written in (("Europe-West1", "europe-west1"), ("eu", "EU")):
        told = cloud("bigquery_create_dataset", dataset_id=f"in_{written[:2]}", location=given)
        assert f"{written}" in told + query(
            cloud, "SELECT location FROM INFORMATION_SCHEMA.SCHEMATA WHERE schema_name LIKE 'in%'"
        )


def test_a_dataset_tells_of_its_tables_and_views(cloud: Call) -> None:
    query(cloud, "INSERT crm.people (id, name) VALUES (1, 'Ada')")
    query(cloud, "CREATE VIEW crm.named AS SELECT id FROM crm.people WHERE name IS NOT NULL")
    told = query(cloud, "SELECT table_id, type, row_count FROM crm.__TABLES__ ORDER BY table_id")
    assert '{"table_id":"named","type":2,' in told
    assert '{"table_id":"people","type":1,"row_count":1}' in told
    told = query(cloud, "SELECT size_bytes FROM crm.__TABLES__ WHERE table_id = 'people'")
    assert '{"size_bytes":13}' in told  # a number of 8 bytes, a text of 2 and its 3
    shown = query(
        cloud,
        "SELECT column_name, is_nullable, data_type FROM crm.INFORMATION_SCHEMA.COLUMNS"
        " WHERE table_name = 'people' ORDER BY ordinal_position",
    )
    assert '"column_name":"id","is_nullable":"NO","data_type":"INT64"' in shown
    assert '"column_name":"name","is_nullable":"YES","data_type":"STRING"' in shown
    query(cloud, "CREATE TABLE crm.typed (a NUMERIC(10, 2), b ARRAY<STRUCT<c STRING(5)>>, d NUMERIC(7))")
    shown = query(
        cloud,
        "SELECT data_type FROM crm.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'typed'",
    )
    for kind in ("NUMERIC(10, 2)", "ARRAY<STRUCT<c STRING(5)>>", "NUMERIC(7)"):
        assert f'"data_type":"{kind}"' in shown


@pytest.mark.parametrize(
    ("kind", "fits"),
    [("NUMERIC(38, 9)", True), ("NUMERIC(39, 9)", False), ("NUMERIC(5, 6)", False), ("STRING(0)", False)],
)
def test_a_column_has_the_size_that_a_type_may_have(cloud: Call, kind: str, fits: bool) -> None:
    statement = f"CREATE TABLE crm.sized (x {kind})"
    if fits:
        query(cloud, statement)
        query(cloud, "INSERT crm.sized VALUES (12.5)")
        assert '{"x":12.5}' in query(cloud, "SELECT x FROM crm.sized").replace('"12.5"', "12.5")
    else:
        refused(cloud, "NUMERIC|scale|precision|maxLength", "bigquery_run_query", query=statement)
