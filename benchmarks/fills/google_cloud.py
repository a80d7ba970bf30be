"""A project with tables, buckets, logs and machines."""

from __future__ import annotations

from fills.texts import Call, Texts, moment
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.logs import NewEntry
from mesocosm.servers.google_cloud.store.storage import NewObject
from mesocosm.services.world import World

TOLD = {
    "project": "local-project",
    "projectId": "local-project",
    "bucket": "reports",
    "object": "2025/1.txt",
    "sourceBucket": "reports",
    "sourceObject": "2025/1.txt",
    "destinationBucket": "reports",
    "destinationObject": "copy.txt",
    "dataset": "shop",
    "table": "items",
    "sink": "errors",
    "log": "app",
    "place": "global",
    "resourceNames": ["projects/local-project"],
    "logName": "projects/local-project/logs/app",
    "query": "SELECT id FROM shop.items LIMIT 3",
    "filter": "severity>=ERROR",
    "name": "new.txt",
}
"""What paths and bodies of requests are made of."""
_PER_ROW = 200
_FIELDS = (
    {"name": "id", "type": "INT64", "mode": "REQUIRED"},
    {"name": "title", "type": "STRING"},
    {"name": "price", "type": "NUMERIC"},
    {"name": "share", "type": "FLOAT64"},
    {"name": "day", "type": "DATE"},
    {"name": "at", "type": "TIMESTAMP"},
    {"name": "tags", "type": "STRING", "mode": "REPEATED"},
    {"name": "box", "type": "STRUCT", "fields": [{"name": "w", "type": "INT64"}]},
    {"name": "data", "type": "JSON"},
)
_STATEMENTS = (
    "SELECT id, title FROM shop.items WHERE id < 5 ORDER BY id",
    "SELECT title, COUNT(*) AS n, SUM(price) FROM shop.items GROUP BY title ORDER BY n DESC LIMIT 3",
    "SELECT day, AVG(share) OVER (ORDER BY id) FROM shop.items QUALIFY ROW_NUMBER() OVER (ORDER BY id) < 3",
    "SELECT t, box.w, JSON_VALUE(data, '$.a') FROM shop.items, UNNEST(tags) AS t LIMIT 2",
    "WITH a AS (SELECT 1 AS x) SELECT x, CURRENT_DATE(), FORMAT_DATE('%F', DATE '2025-01-01') FROM a",
    "SELECT table_name FROM shop.INFORMATION_SCHEMA.TABLES",
    "SELECT * FROM `shop.log_*`",
    "INSERT INTO shop.small (id) VALUES (1), (2)",
    "UPDATE shop.small SET note = 'x' WHERE id = 1",
    "MERGE shop.small t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET note = 'y'",
    "DELETE FROM shop.small WHERE id = 2",
    "CREATE OR REPLACE TABLE shop.made AS SELECT 1 AS a, 'b' AS b",
    "CREATE OR REPLACE VIEW shop.seen AS SELECT id FROM shop.items",
)


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """The project."""
    store, many = world.store(GoogleCloudStore), size // _PER_ROW
    datasets, tables = store.bigquery.datasets, store.bigquery.tables
    datasets.create("shop", description="Items")
    items = tables.create("shop", "items", _FIELDS, partitioning={"type": "DAY", "field": "day"})
    tables.append(items, (_row(texts, number) for number in range(many)))
    small = [{"name": "id", "type": "INT64"}, {"name": "note", "type": "STRING"}]
    for name in ("small", "log_20250101", "log_20250102"):
        tables.create("shop", name, small)
    store.storage.create("reports", labels={"team": "data"}, versioning=True)
    objects = [NewObject(f"2025/{number}.txt", texts.title().encode()) for number in range(many // 10 + 3)]
    store.storage.objects.fill("reports", objects)
    store.logs.entries.fill(
        NewEntry("app", {"user": texts.title(), "n": number}, 100 * (number % 9), None, {"zone": "a"})
        for number in range(many)
    )
    store.logs.sinks.create("errors", "storage.googleapis.com/reports", "severity>=ERROR")
    store.logs.buckets.create("kept")
    store.compute.create("vm-1", "us-central1-a")
    return _calls()


def _row(texts: Texts, number: int) -> dict[str, object]:
    at = moment(number / 400)
    return {
        "id": number,
        "title": texts.title(),
        "price": f"{number}.25",
        "share": number / 7,
        "day": at.date().isoformat(),
        "at": at.isoformat(),
        "tags": ["a", "b"][: number % 3],
        "box": {"w": number},
        "data": {"a": number},
    }


def _calls() -> list[Call]:
    bucket = {"bucket_name": "reports"}
    table = {"dataset_id": "shop", "table_id": "items"}
    machine = {"instance_name": "vm-1", "zone": "us-central1-a"}
    one = {"source_bucket": "reports", "source_blob": "2025/1.txt", "dest_bucket": "reports"}
    return [
        *(("bigquery_run_query", {"query": sql}) for sql in _STATEMENTS),
        ("bigquery_run_query", {"query": _STATEMENTS[0], "dry_run": True, "max_results": 2}),
        ("bigquery_list_datasets", {}),
        ("bigquery_get_dataset_info", {"dataset_id": "shop"}),
        ("bigquery_load_csv_data", {"dataset_id": "shop", "table_id": "lines", "csv_file_path": "a.txt"}),
        ("bigquery_export_table", {**table, "destination_bucket": "reports", "destination_path": "a.json",
                                   "file_format": "JSON"}),
        ("bigquery_list_jobs", {}),
        ("storage_list_buckets", {}),
        ("storage_list_objects", {**bucket, "prefix": "2025/"}),
        ("storage_upload_file", {**bucket, "source_file_path": "a.txt", "destination_blob_name": "a.txt"}),
        ("storage_download_file", {**bucket, "source_blob_name": "a.txt", "destination_file_path": "b.txt"}),
        ("storage_copy_object", {**one, "dest_blob": "copy.txt"}),
        ("storage_move_object", {**one, "source_blob": "copy.txt", "dest_blob": "moved.txt"}),
        ("storage_get_bucket_info", bucket),
        ("storage_get_bucket_size", bucket),
        ("storage_generate_signed_url", {**bucket, "blob_name": "a.txt"}),
        ("storage_enable_versioning", bucket),
        ("storage_set_bucket_lifecycle", bucket),
        ("storage_delete_object", {**bucket, "blob_name": "moved.txt"}),
        ("compute_list_instances", {"zone": "us-central1-a"}),
        ("compute_get_instance", machine),
        ("compute_create_instance", {**machine, "instance_name": "vm-2"}),
        ("logging_write_log", {"log_name": "app", "message": '{"a": 1}', "severity": "ERROR"}),
        ("logging_read_logs", {"log_filter": 'severity>=ERROR AND jsonPayload.n>3 AND labels.zone="a"'}),
        ("logging_list_logs", {}),
        ("logging_list_log_buckets", {}),
        ("logging_list_log_sinks", {}),
        ("logging_create_log_bucket", {"bucket_id": "more"}),
        ("logging_create_log_sink", {"sink_name": "all", "destination": "storage.googleapis.com/reports"}),
    ]  # fmt: skip
