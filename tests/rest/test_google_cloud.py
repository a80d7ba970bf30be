"""Google's SDKs for Cloud Storage, BigQuery and Cloud Logging, unmodified, against an episode."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import requests
from google.auth.credentials import AnonymousCredentials
from google.oauth2.credentials import Credentials
from later import Later
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.doors.mcp import McpTools
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World

bigquery, storage = Later("google.cloud.bigquery"), Later("google.cloud.storage")
cloud_logging, google = Later("google.cloud.logging"), Later("google.api_core.exceptions")
PROJECT = "local-project"


def fill(world: World) -> None:
    store = world.store(GoogleCloudStore)
    store.storage.create("reports")
    store.bigquery.datasets.create("shop")
    fields = [
        {"name": "id", "type": "INT64", "mode": "REQUIRED"},
        {"name": "name", "type": "STRING"},
        {"name": "price", "type": "NUMERIC"},
        {"name": "made", "type": "TIMESTAMP"},
        {"name": "tags", "type": "STRING", "mode": "REPEATED"},
        {"name": "size", "type": "RECORD", "fields": [{"name": "w", "type": "FLOAT64"}]},
    ]
    table = store.bigquery.tables.create("shop", "items", fields)
    store.bigquery.tables.append(
        table,
        [
            {"id": n, "name": f"Item {n}", "price": f"{n}.5", "made": "2025-01-01T00:00:00Z", "tags": ["a"]}
            for n in range(1, 26)
        ],
    )


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["google_cloud"], fill)


@pytest.fixture(scope="module")
def tools(hosted: HostedWorld) -> Iterator[McpTools]:
    with hosted.tools() as tools:
        yield tools


def options(hosted: HostedWorld) -> dict[str, Any]:
    return {
        "project": PROJECT,
        "credentials": Credentials(token=hosted.id),  # type: ignore[no-untyped-call]
        "client_options": {"api_endpoint": hosted.api("google_cloud")},
    }


@pytest.fixture(scope="module")
def gcs(hosted: HostedWorld) -> Iterator[Any]:
    with storage.Client(**options(hosted)) as client:
        yield client


@pytest.fixture(scope="module")
def bq(hosted: HostedWorld) -> Iterator[Any]:
    with bigquery.Client(**options(hosted)) as client:
        yield client


# -- Cloud Storage ------------------------------------------------------------------------------------------


def test_buckets_and_objects_are_made_read_changed_and_deleted(gcs: Any, tools: McpTools) -> None:
    bucket = gcs.create_bucket("photos-1", location="EU")
    assert (bucket.location, bucket.exists()) == ("EU", True)
    with pytest.raises(google.Conflict):
        gcs.create_bucket("photos-1")
    blob = bucket.blob("2025/a b.txt")
    blob.metadata = {"by": "ada"}
    blob.upload_from_string("hello", content_type="text/plain", if_generation_match=0)
    blob.upload_from_string("hello", content_type="text/plain")  # the same bytes in its own place
    with pytest.raises(google.PreconditionFailed):
        blob.upload_from_string("again", if_generation_match=0)
    found = gcs.bucket("photos-1").get_blob("2025/a b.txt")
    assert (found.size, found.content_type, found.metadata) == (5, "text/plain", {"by": "ada"})
    assert (found.download_as_bytes(), found.download_as_bytes(start=1, end=2)) == (b"hello", b"el")
    assert "- 2025/a b.txt: 5 bytes" in tools.call(
        "google_cloud", "storage_list_objects", bucket_name="photos-1"
    )
    bucket.copy_blob(found, bucket, "copy.txt")
    bucket.rename_blob(bucket.blob("copy.txt"), "moved.txt")
    assert [one.name for one in gcs.list_blobs(bucket)] == ["2025/a b.txt", "moved.txt"]
    page = gcs.list_blobs(bucket, delimiter="/")
    assert [one.name for one in page] == ["moved.txt"]
    assert page.prefixes == {"2025/"}
    whole = bucket.blob("whole.txt")
    whole.compose([found, bucket.blob("moved.txt")])
    assert whole.download_as_text() == "hellohello"
    bucket.delete_blob("moved.txt")
    with pytest.raises(google.NotFound):
        bucket.delete_blob("moved.txt")
    bucket.delete(force=True)
    assert not bucket.exists()


def test_answers_come_in_part_and_lists_of_access_are_the_vendors(gcs: Any, hosted: HostedWorld) -> None:
    bucket = gcs.create_bucket("parts-1", predefined_acl="private")
    bucket.blob("a").upload_from_string("x", predefined_acl="bucketOwnerRead")
    (found,) = gcs.list_blobs(bucket, fields="items(name),nextPageToken")
    assert (found.name, found.size) == ("a", None)
    place = f"{hosted.api('google_cloud')}/upload/storage/v1/b/parts-1/o?uploadType=media&name=b"
    refused = requests.post(f"{place}&predefinedAcl=everybody", data=b"x", timeout=PATIENCE)
    assert (refused.status_code, "predefinedAcl 'everybody'" in refused.text) == (400, True)
    assert [one.name for one in gcs.list_blobs(bucket)] == ["a"]


GLOBS = [
    ("*.csv", ["a.csv", "b.csv"]),
    ("**.csv", ["a.csv", "b.csv", "year/2025/a.csv", "year/a.csv"]),
    ("**/a.csv", ["a.csv", "year/2025/a.csv", "year/a.csv"]),
    ("year/*", ["year/a.csv", "year/b.txt"]),
    ("{year/**,b.*}", ["b.csv", "year/2025/a.csv", "year/a.csv", "year/b.txt"]),
    ("[^a].csv", ["b.csv"]),
    ("year/{[!a]*,{x,a}.csv}", ["year/a.csv", "year/b.txt"]),
    ("?.csv", ["a.csv", "b.csv"]),
    ("", ["a.csv", "b.csv", "year/2025/a.csv", "year/a.csv", "year/b.txt"]),
    ("*" * 400 + "b", []),
    ("*a" * 200 + "b", []),
    ("{*," * 40 + "x" + "}" * 40 + "y", []),
]
"""Patterns, the last three of which an expression that goes back tries for years."""


def test_globs_choose_objects_in_bounded_time(gcs: Any) -> None:
    bucket = gcs.create_bucket("globs-1")
    for name in ("a.csv", "b.csv", "year/a.csv", "year/b.txt", "year/2025/a.csv"):
        bucket.blob(name).upload_from_string("x")
    for pattern, names in GLOBS:
        assert [one.name for one in gcs.list_blobs(bucket, match_glob=pattern)] == names, pattern
    assert [one.name for one in gcs.list_blobs(bucket, start_offset="b", end_offset="year/b.txt")] == [
        *("b.csv", "year/2025/a.csv", "year/a.csv"),
    ]
    bucket.blob("a" * 1000).upload_from_string("x")
    assert not list(gcs.list_blobs(bucket, match_glob=GLOBS[-2][0]))
    for pattern in ("{a", "[b-a]", "*" * 1025, "{" * 60 + "}" * 60):
        with pytest.raises(google.BadRequest, match="Invalid glob pattern"):
            list(gcs.list_blobs(bucket, match_glob=pattern))


def test_versions_lifecycle_and_labels_are_kept(gcs: Any, tools: McpTools) -> None:
    bucket = gcs.create_bucket("versions-1")
    bucket.versioning_enabled = True
    bucket.labels = {"team": "data"}
    bucket.add_lifecycle_delete_rule(age=30)
    bucket.patch()
    for text in ("one", "two"):
        bucket.blob("a").upload_from_string(text)
    versions = list(gcs.list_blobs(bucket, versions=True))
    assert [one.download_as_text() for one in versions] == ["one", "two"]
    assert gcs.get_bucket("versions-1").labels == {"team": "data"}
    told = tools.call("google_cloud", "storage_get_bucket_info", bucket_name="versions-1")
    assert "Versioning: Enabled" in told
    assert '{"age":30}' in told
    bucket.add_lifecycle_set_storage_class_rule("COLDLINE", age=3)
    bucket.lifecycle_rules = [
        {**one, "action": {**one["action"], "tier": 1}} for one in bucket.lifecycle_rules
    ]
    with pytest.raises(google.BadRequest, match="'tier' of a lifecycle action Delete"):
        bucket.patch()


def test_an_upload_may_come_in_pieces(gcs: Any) -> None:
    data = bytes(range(256)) * 3000
    blob = gcs.bucket("reports").blob("big.bin", chunk_size=256 * 1024)
    blob.upload_from_file(io.BytesIO(data))
    assert blob.download_as_bytes() == data


def test_an_unknown_field_of_an_upload_is_refused_before_anything_is_sent(hosted: HostedWorld) -> None:
    answer = requests.post(
        f"{hosted.api('google_cloud')}/upload/storage/v1/b/reports/o?uploadType=resumable",
        json={"name": "unknown.txt", "colour": "blue"},
        headers={"Authorization": f"Bearer {hosted.id}"},
        timeout=PATIENCE,
    )
    assert answer.status_code == 400
    assert "colour" in answer.text


def test_an_upload_is_finished_at_the_door_where_it_began(hosted: HostedWorld) -> None:
    door, headers = hosted.api("google_cloud"), {"Authorization": f"Bearer {hosted.id}"}
    begun = requests.post(
        f"{door}/upload/storage/v1/b/reports/o?uploadType=resumable&name=begun.txt",
        headers=headers,
        timeout=PATIENCE,
    )
    query = begun.headers["Location"].partition("?")[2]
    elsewhere = f"{door}/upload/bigquery/v2/projects/{PROJECT}/jobs?{query}"
    answer = requests.put(elsewhere, data=b"id\n1\n", headers=headers, timeout=PATIENCE)
    assert (answer.status_code, "unknown, or complete" in answer.text) == (404, True), answer.text


@pytest.mark.parametrize(
    "path",
    [
        "bigquery/v2/projects/other/datasets",
        "bigquery/v2/projects/other/queries/x",
        "storage/v1/b?project=other",
    ],
)
def test_a_project_is_the_one_that_there_is(hosted: HostedWorld, path: str) -> None:
    headers = {"Authorization": f"Bearer {hosted.id}"}
    answer = requests.get(f"{hosted.api('google_cloud')}/{path}", headers=headers, timeout=PATIENCE)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        404,
        f"Not found: Project other; the project is {PROJECT}.",
    )


LOAD = {"destinationTable": {"datasetId": "shop", "tableId": "late"}, "sourceFormat": "CSV"}


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"configuration": {"load": LOAD}, "colour": "blue"}, "colour"),
        ({"configuration": {"load": {**LOAD, "colour": "blue"}}}, "colour"),
        ({"configuration": {"load": {**LOAD, "maxBadRecords": 3}}}, "all or nothing"),
        ({"configuration": {}}, "missing: load"),
    ],
)
def test_a_load_that_cannot_be_is_refused_before_anything_is_sent(
    hosted: HostedWorld, job: dict[str, Any], words: str
) -> None:
    answer = requests.post(
        f"{hosted.api('google_cloud')}/upload/bigquery/v2/projects/{PROJECT}/jobs?uploadType=resumable",
        json=job,
        headers={"Authorization": f"Bearer {hosted.id}"},
        timeout=PATIENCE,
    )
    assert (answer.status_code, words in answer.text) == (400, True), answer.text


def test_a_signed_url_opens_one_object(hosted: HostedWorld, gcs: Any, tools: McpTools) -> None:
    gcs.bucket("reports").blob("secret.txt").upload_from_string("secret")
    arguments = {"bucket_name": "reports", "blob_name": "secret.txt"}
    told = tools.call("google_cloud", "storage_generate_signed_url", **arguments)
    url = told.split("\n")[1].replace("https://storage.googleapis.com", hosted.api("google_cloud"))
    assert requests.get(url, timeout=PATIENCE).text == "secret"
    assert requests.get(url.replace("secret.txt", "other.txt"), timeout=PATIENCE).status_code == 403
    assert requests.delete(url, timeout=PATIENCE).status_code == 403


def test_a_client_needs_no_credentials_but_no_wrong_ones(hosted: HostedWorld) -> None:
    endpoint = {"api_endpoint": hosted.api("google_cloud")}
    client = storage.Client(project=PROJECT, credentials=AnonymousCredentials(), client_options=endpoint)
    assert client.bucket("reports").exists()
    wrong = requests.get(
        f"{endpoint['api_endpoint']}/storage/v1/b", headers={"Authorization": "Bearer x"}, timeout=PATIENCE
    )
    assert wrong.status_code == 401


# -- BigQuery -----------------------------------------------------------------------------------------------


def test_queries_give_typed_rows(bq: Any, tools: McpTools) -> None:
    rows = list(bq.query("SELECT * FROM shop.items WHERE id <= 2 ORDER BY id").result())
    assert (rows[0].id, rows[0].price, rows[0].tags, rows[0].size) == (1, Decimal("1.5"), ["a"], None)
    assert rows[0].made == datetime(2025, 1, 1, tzinfo=UTC)
    typed = """SELECT DATE '2025-01-02' AS d, TRUE AS b, 1.5 AS f, b'x' AS y, [STRUCT(1 AS a)] AS s,
        TIME '10:00:00' AS t, JSON '[1]' AS j"""
    (row,) = bq.query_and_wait(typed)
    assert (str(row.d), row.b, row.f, row.y, row.s, str(row.t), row.j) == (
        *("2025-01-02", True, 1.5, b"x", [{"a": 1}], "10:00:00", [1]),
    )
    numbers = bq.query_and_wait("SELECT NUMERIC '1.5' AS n, BIGNUMERIC '1.5' AS b, CAST(2 AS NUMERIC) AS c")
    assert [field.field_type for field in numbers.schema] == ["NUMERIC", "BIGNUMERIC", "NUMERIC"]
    assert len(list(bq.query_and_wait("SELECT id FROM shop.items", page_size=10))) == 25
    assert "SELECT id FROM shop.items" in tools.call("google_cloud", "bigquery_list_jobs")


def test_parameters_dry_runs_and_default_datasets(bq: Any) -> None:
    given = [
        bigquery.ScalarQueryParameter("least", "INT64", 24),
        bigquery.ArrayQueryParameter("names", "STRING", ["Item 25", "x"]),
    ]
    config = bigquery.QueryJobConfig(query_parameters=given, default_dataset=f"{PROJECT}.shop")
    sql = "SELECT id FROM items WHERE id >= @least AND name IN UNNEST(@names)"
    assert [row.id for row in bq.query(sql, job_config=config).result()] == [25]
    nothing = [
        bigquery.ScalarQueryParameter("text", "STRING", None),
        bigquery.ScalarQueryParameter("number", "INT64", None),
        bigquery.ArrayQueryParameter("texts", "STRING", ["x", None]),
        bigquery.StructQueryParameter("both", bigquery.ScalarQueryParameter("a", "STRING", None)),
    ]
    (row,) = bq.query(
        "SELECT @text AS t, @number AS n, ARRAY_LENGTH(@texts) AS l, @texts[OFFSET(1)] IS NULL AS i, @both.a",
        job_config=bigquery.QueryJobConfig(query_parameters=nothing),
    ).result()
    assert tuple(row) == (None, None, 2, True, None)
    bq.query("ALTER TABLE shop.items SET OPTIONS()").result()  # which dbt sends
    dry = bq.query("SELECT id FROM shop.items", job_config=bigquery.QueryJobConfig(dry_run=True))
    assert dry.total_bytes_processed == 200


def test_a_job_of_a_client_may_have_the_id_that_comes_next(episode_of: Callable[..., HostedWorld]) -> None:
    def post(hosted: HostedWorld, what: str, body: dict[str, Any]) -> str:
        url = f"{hosted.api('google_cloud')}/bigquery/v2/projects/{PROJECT}/{what}"
        said = requests.post(
            url, json=body, headers={"Authorization": f"Bearer {hosted.id}"}, timeout=PATIENCE
        )
        assert said.status_code == 200, said.text
        id_: str = said.json()["jobReference"]["jobId"]
        return id_

    query = {"query": "SELECT 1", "useLegacySql": False}
    next_id = post(episode_of(["google_cloud"], fill), "queries", query)
    other = episode_of(["google_cloud"], fill)
    job = {"jobReference": {"jobId": next_id}, "configuration": {"query": query}}
    assert post(other, "jobs", job) == next_id
    assert post(other, "queries", query) != next_id


@pytest.mark.parametrize("where", ["parameterType", "parameterValue"])
def test_a_parameter_has_no_unknown_fields(hosted: HostedWorld, where: str) -> None:
    one = {"parameterType": {"type": "INT64"}, "parameterValue": {"value": "4"}}
    asked = {
        "query": "SELECT ?",
        "useLegacySql": False,
        "queryParameters": [one | {where: {**one[where], "more": 1}}],
    }
    url = f"{hosted.api('google_cloud')}/bigquery/v2/projects/{PROJECT}/queries"
    said = requests.post(url, json=asked, headers={"Authorization": f"Bearer {hosted.id}"}, timeout=PATIENCE)
    assert said.status_code == 400
    assert 'Unknown name "more"' in said.json()["error"]["message"]


def test_permissions_are_asked_for_and_nothing_else(hosted: HostedWorld) -> None:
    url = f"{hosted.api('google_cloud')}/storage/v1/b/reports/iam/testPermissions"
    asked = [("permissions", "storage.objects.get"), ("permissions", "storage.objects.list")]
    authorized = {"Authorization": f"Bearer {hosted.id}"}
    said = requests.get(url, params=asked, headers=authorized, timeout=PATIENCE)
    assert said.json()["permissions"] == [name for _, name in asked]
    said = requests.get(url, params=[*asked, ("more", "1")], headers=authorized, timeout=PATIENCE)
    assert said.status_code == 400, said.text


def test_datasets_and_tables_are_made_filled_and_deleted(bq: Any, tools: McpTools) -> None:
    dataset = bq.create_dataset("crm")
    assert [one.dataset_id for one in bq.list_datasets()] == ["crm", "shop"]
    schema = [bigquery.SchemaField("id", "INT64", "REQUIRED"), bigquery.SchemaField("email", "STRING")]
    table = bq.create_table(bigquery.Table(dataset.table("customers"), schema=schema))
    assert bq.insert_rows_json(table, [{"id": 1, "email": "a@b.org"}, {"id": 2}]) == []
    (wrong,) = bq.insert_rows_json(table, [{"id": 3, "mail": "x"}])
    assert "no such field: mail" in wrong["errors"][0]["message"]
    assert [row.id for row in bq.list_rows(table)] == [1, 2]
    done = bq.query("UPDATE crm.customers SET email = 'c@d.org' WHERE id = 2")
    done.result()
    assert (done.num_dml_affected_rows, done.dml_stats.updated_row_count) == (1, 1)
    told = tools.call(
        "google_cloud", "bigquery_run_query", query="SELECT email FROM crm.customers WHERE id = 2"
    )
    assert '{"email":"c@d.org"}' in told
    assert bq.get_table(table).num_rows == 2
    view = bigquery.Table(dataset.table("mails"))
    view.view_query = "SELECT email FROM crm.customers"
    assert bq.create_table(view).table_type == "VIEW"
    dataset.friendly_name, dataset.description = "The customers", "All of them"
    changed = bq.update_dataset(dataset, ["friendly_name", "description"])
    assert (changed.friendly_name, changed.description) == ("The customers", "All of them")
    table = bq.get_table(table)
    for labels in ({"team": "data"}, {"kind": "real"}):
        table.labels = labels
        table = bq.update_table(table, ["labels"])
    assert table.labels == {"team": "data", "kind": "real"}
    daily = bigquery.Table(dataset.table("daily"), schema=[bigquery.SchemaField("day", "DATE")])
    daily.time_partitioning = bigquery.TimePartitioning(field="day")
    daily = bq.create_table(daily)
    daily.require_partition_filter = True
    assert bq.update_table(daily, ["require_partition_filter"]).require_partition_filter
    with pytest.raises(google.BadRequest, match="filter over column"):
        bq.query_and_wait("SELECT * FROM crm.daily")
    bq.delete_dataset(dataset, delete_contents=True)
    with pytest.raises(google.NotFound):
        bq.get_dataset("crm")


def test_files_are_loaded_and_tables_exported(bq: Any, gcs: Any) -> None:
    text = b"id,name\n1,Ada\n2,Bob\n"
    config = bigquery.LoadJobConfig(autodetect=True, source_format="CSV")
    bq.load_table_from_file(io.BytesIO(text), f"{PROJECT}.shop.people", job_config=config).result()
    bq.load_table_from_json([{"id": 3, "name": "Cy"}], f"{PROJECT}.shop.people").result()
    bq.extract_table(f"{PROJECT}.shop.people", "gs://reports/people.csv").result()
    assert gcs.bucket("reports").blob("people.csv").download_as_bytes() == text + b"3,Cy\n"
    bq.copy_table(f"{PROJECT}.shop.people", f"{PROJECT}.shop.again").result()
    into = bigquery.QueryJobConfig(destination=f"{PROJECT}.shop.counted", write_disposition="WRITE_TRUNCATE")
    bq.query("SELECT COUNT(*) AS n FROM shop.again", job_config=into).result()
    assert [row.n for row in bq.list_rows(f"{PROJECT}.shop.counted")] == [3]
    with pytest.raises(google.BadRequest, match="line 2: Could not parse 'x' as INT64"):
        bq.load_table_from_file(io.BytesIO(b"id,name\nx,y\n"), "shop.people", job_config=config)


def test_a_wrong_statement_is_refused_in_the_vendors_words(bq: Any) -> None:
    with pytest.raises(google.BadRequest, match=r"Unrecognized name: nme; Did you mean name\? at \[1:8\]"):
        bq.query("SELECT nme FROM shop.items").result()


# -- Cloud Logging ------------------------------------------------------------------------------------------


def test_entries_are_written_found_and_sent_on(hosted: HostedWorld, bq: Any, tools: McpTools) -> None:
    client: Any = cloud_logging.Client(_use_grpc=False, **options(hosted))
    sink = client.sink(
        "errors",
        filter_="severity>=ERROR",
        destination=f"bigquery.googleapis.com/projects/{PROJECT}/datasets/shop",
    )
    sink.create()
    ever = 'timestamp>="2000-01-01"'  # else the SDK asks for the last day by the machine's clock
    logger = client.logger("app")
    logger.log_text("started", severity="INFO")
    logger.log_struct({"user": "ada", "n": 3}, severity="ERROR", labels={"zone": "a"})
    found = list(client.list_entries(filter_=f'{ever} severity="ERROR" AND jsonPayload.user="ada"'))
    assert [(one.payload, one.severity, one.labels) for one in found] == [
        ({"user": "ada", "n": 3}, "ERROR", {"zone": "a"})
    ]
    assert "started" in tools.call("google_cloud", "logging_read_logs", log_filter='textPayload:"start"')
    rows = list(bq.query_and_wait("SELECT jsonPayload.user FROM `shop.app_*`"))
    assert [row.user for row in rows] == ["ada"]
    assert [one.name for one in client.list_sinks()] == ["errors"]
    with pytest.raises(google.BadRequest, match="Unparseable filter: syntax error at line 1, column 12"):
        list(client.list_entries(filter_="timestamp>="))
    logger.delete()
    place = "/projects/local-project/sinks/errors"
    body = {"description": "Kept", "filter": "severity>=DEBUG"}
    answer = client._connection.api_request(
        "PATCH", place, query_params={"updateMask": "description"}, data=body
    )
    assert (answer["description"], answer["filter"]) == ("Kept", sink.filter_)
    for mask in ("colour", " "):
        with pytest.raises(google.BadRequest, match=f"Invalid update mask: '{mask.strip()}'"):
            client._connection.api_request("PATCH", place, query_params={"updateMask": mask}, data=body)
    sink.delete()
    assert list(client.list_entries(filter_=ever)) == []


def test_a_request_to_write_no_entry_is_refused(hosted: HostedWorld) -> None:
    answer = requests.post(
        f"{hosted.api('google_cloud')}/v2/entries:write",
        json={"labels": {"team": "data"}},
        headers={"Authorization": f"Bearer {hosted.id}"},
        timeout=PATIENCE,
    )
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_the_same_requests_give_the_same_world(hosted: HostedWorld) -> None:
    assert hosted.replay().identical
