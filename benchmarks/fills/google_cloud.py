"""A project with tables, buckets, logs and machines."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl, urlsplit

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
"""Values from which paths and bodies of requests are made."""
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


_BIGQUERY, _STORAGE = "/bigquery/v2/projects/{project}", "/storage/v1/b"
_IN_PROJECT = {"project": "local-project"}
_ITEMS = {**_IN_PROJECT, "dataset": "shop", "table": "items"}
_SMALL = {**_IN_PROJECT, "dataset": "shop", "table": "small"}
_OBJECT = {"bucket": "reports", "object": "2025/1.txt"}
_FROM, _TO = f"{_STORAGE}/{{sourceBucket}}/o/{{sourceObject}}", "/b/{destinationBucket}/o/{destinationObject}"
_COPY = {"sourceBucket": "reports", "sourceObject": "2025/1.txt", "destinationBucket": "reports",
         "destinationObject": "copy.txt"}  # fmt: skip
_REFERENCE = {"projectId": "local-project", "datasetId": "shop", "tableId": "small"}
_SCHEMA = {
    "fields": [{"name": "id", "type": "INT64"}, {"name": "note", "type": "STRING", "mode": "NULLABLE"}]
}


def requests(world: World) -> list[Call]:
    """Requests to the vendor's API that are known to be answered: routes, and what is said to them."""
    jobs = [
        {"query": {"query": sql, "useLegacySql": False, "maximumBytesBilled": "1000000000"}}
        for sql in _STATEMENTS
    ]
    jobs += [
        {"load": {"sourceUris": ["gs://reports/2025/1.txt"], "sourceFormat": "CSV", "autodetect": True,
                  "destinationTable": {**_REFERENCE, "tableId": "loaded"}}},
        {"extract": {"sourceTable": _REFERENCE, "destinationUris": ["gs://reports/out.csv"]}},
        {"copy": {"sourceTable": _REFERENCE, "destinationTable": {**_REFERENCE, "tableId": "copied"},
                  "writeDisposition": "WRITE_TRUNCATE"}},
    ]  # fmt: skip
    # Two jobs under ids of their own, for the routes that ask after one.
    named = [
        {"jobReference": {"projectId": "local-project", "jobId": name}, "configuration": jobs[0]}
        for name in ("one", "two")
    ]
    job, table = {**_IN_PROJECT, "job": "one"}, _BIGQUERY + "/datasets/{dataset}/tables"
    two = "--x\r\nContent-Type: application/json\r\n\r\n{}\r\n--x\r\n\r\n1,a\r\n--x--"
    load = json.dumps({"configuration": {"load": {"sourceFormat": "CSV", "destinationTable": _REFERENCE}}})
    with_parts = {"uploadType": "multipart", "(type)": "multipart/related; boundary=x"}
    return [
        *((f"POST {_BIGQUERY}/jobs", {**_IN_PROJECT, **one}) for one in named),
        *((f"POST {_BIGQUERY}/jobs", {**_IN_PROJECT, "configuration": one}) for one in jobs),
        *((f"POST {_BIGQUERY}/queries", {**_IN_PROJECT, "query": sql, "useLegacySql": False, "maxResults": 5})
          for sql in _STATEMENTS),
        (f"POST {_BIGQUERY}/queries", {**_IN_PROJECT, "query": "SELECT @a + 1", "useLegacySql": False,
            "parameterMode": "NAMED", "queryParameters": [{"name": "a", "parameterType": {"type": "INT64"},
                                                          "parameterValue": {"value": "4"}}]}),
        (f"GET {_BIGQUERY}/queries/{{job}}", job),
        (f"GET {_BIGQUERY}/jobs/{{job}}", job),
        (f"POST {_BIGQUERY}/jobs/{{job}}/cancel", job),
        (f"DELETE {_BIGQUERY}/jobs/{{job}}/delete", {**job, "job": "two"}),
        (f"POST {_BIGQUERY}/datasets", {**_IN_PROJECT, "datasetReference": {"datasetId": "more"},
                                        "labels": {"a": "b"}}),
        (f"PATCH {_BIGQUERY}/datasets/{{dataset}}", {**_IN_PROJECT, "dataset": "shop", "description": "x"}),
        (f"PUT {_BIGQUERY}/datasets/{{dataset}}", {**_IN_PROJECT, "dataset": "shop", "friendlyName": "x"}),
        (f"POST {table}", {**_IN_PROJECT, "dataset": "shop", "schema": _SCHEMA,
                           "tableReference": {**_REFERENCE, "tableId": "fresh"}}),
        (f"POST {table}", {**_IN_PROJECT, "dataset": "shop", "view": {"query": _STATEMENTS[0]},
                           "tableReference": {**_REFERENCE, "tableId": "sight"}}),
        (f"GET {table}/{{table}}", _ITEMS),
        (f"GET {table}/{{table}}/data", _ITEMS),
        (f"PATCH {table}/{{table}}", {**_SMALL, "description": "x", "labels": {"a": "b"}}),
        (f"PUT {table}/{{table}}", {**_SMALL, "schema": _SCHEMA}),
        (f"POST {table}/{{table}}/insertAll", {**_SMALL, "rows": [{"insertId": "1", "json": {"id": 7}}]}),
        (f"POST /upload{_BIGQUERY}/jobs", {**_IN_PROJECT, **with_parts, "(body)": two.format(load)}),
        (f"POST {_STORAGE}", {**_IN_PROJECT, "name": "second-bucket", "labels": {"a": "b"}}),
        (f"PATCH {_STORAGE}/{{bucket}}", {"bucket": "reports", "versioning": {"enabled": True}}),
        (f"PATCH {_STORAGE}/{{bucket}}/o/{{object}}", {**_OBJECT, "metadata": {"a": "b"}}),
        (f"PUT {_STORAGE}/{{bucket}}/o/{{object}}", {**_OBJECT, "contentType": "text/csv"}),
        (f"GET {_STORAGE}/{{bucket}}/o/{{object}}", {**_OBJECT, "alt": "media"}),
        (f"GET /download{_STORAGE}/{{bucket}}/o/{{object}}", {**_OBJECT, "alt": "media"}),
        (f"POST {_FROM}/copyTo{_TO}", _COPY),
        (f"POST {_FROM}/rewriteTo{_TO}", _COPY),
        (f"POST {_STORAGE}/{{bucket}}/o/{{object}}/compose",
         {**_OBJECT, "object": "both.txt", "sourceObjects": [{"name": "2025/1.txt"}]}),
        (f"POST /upload{_STORAGE}/{{bucket}}/o", {"bucket": "reports", "uploadType": "media", "name": "u.txt",
                                                  "(body)": "1,2"}),
        (f"POST /upload{_STORAGE}/{{bucket}}/o", {"bucket": "reports", **with_parts,
                                                  "(body)": two.format('{"name": "v.txt"}')}),
        (f"POST /upload{_STORAGE}/{{bucket}}/o", {"bucket": "reports", "uploadType": "resumable",
                                                  "name": "w.txt"}),
        ("POST /v2/entries:list", {"resourceNames": ["projects/local-project"], "filter": "severity>=ERROR",
                                   "pageSize": 3, "orderBy": "timestamp desc"}),
        ("POST /v2/entries:write", {"entries": [{"logName": "projects/local-project/logs/app",
            "resource": {"type": "global"}, "severity": "INFO", "textPayload": "x"}]}),
        ("POST /v2/projects/{project}/sinks", {**_IN_PROJECT, "name": "third", "filter": "severity>=INFO",
                                               "destination": "storage.googleapis.com/reports"}),
        ("PATCH /v2/projects/{project}/sinks/{sink}", {**_IN_PROJECT, "sink": "errors",
                                                       "filter": "severity>=INFO", "updateMask": "filter"}),
        *_signed(world),
    ]  # fmt: skip


def _signed(world: World) -> list[Call]:
    """Requests by signed URLs."""
    made: list[Call] = []
    for method in ("GET", "PUT", "DELETE"):
        wanted = {"bucket_name": "reports", "blob_name": "2025/2.txt", "method": method}
        told = world.call("google_cloud", "storage_generate_signed_url", wanted)
        found = re.search(r"https://[^\s\"]+", told.text)
        query = dict(parse_qsl(urlsplit(found[0]).query)) if found else {}
        given = {"bucket": "reports", "object": "2025/2.txt", **query}
        made.append(
            (f"{method} /{{bucket}}/{{object:path}}", given | ({"(body)": "x"} if method == "PUT" else {}))
        )
    return made


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
