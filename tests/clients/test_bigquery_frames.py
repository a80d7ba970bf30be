"""Data frames through Google's client: loaded as Parquet, and read from the tables of results."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from google.oauth2.credentials import Credentials
from later import later_or_skip
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World

bigquery = later_or_skip("google.cloud.bigquery")
pandas = later_or_skip("pandas")
exceptions = later_or_skip("google.api_core.exceptions")
pa = later_or_skip("pyarrow")
parquet = later_or_skip("pyarrow.parquet")
pytestmark = pytest.mark.filterwarnings("ignore")


def fill(world: World) -> None:
    world.store(GoogleCloudStore).bigquery.datasets.create("shop")


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["google_cloud"], fill)


@pytest.fixture(scope="module")
def client(hosted: HostedWorld) -> Iterator[Any]:
    credentials = Credentials(token=hosted.id)  # type: ignore[no-untyped-call]
    options = {"api_endpoint": hosted.api("google_cloud")}
    with bigquery.Client("local-project", credentials=credentials, client_options=options) as client:
        yield client


def test_a_frame_is_loaded_and_read_again(client: Any) -> None:
    frame = pandas.DataFrame(
        {
            "id": [1, 2],
            "name": ["a", None],
            "x": [1.5, None],
            "ok": [True, False],
            "at": pandas.to_datetime(["2025-01-01 10:00", "2025-01-02 00:00"], utc=True),
            "day": [dt.date(2025, 1, 1), None],
            "amount": [Decimal("1.25"), None],
        }
    )
    assert client.load_table_from_dataframe(frame, "shop.frame").result().output_rows == 2
    schema = {one.name: one.field_type for one in client.get_table("shop.frame").schema}
    assert list(schema.values()) == [
        *("INTEGER", "STRING", "FLOAT", "BOOLEAN", "TIMESTAMP", "DATE", "NUMERIC")
    ]
    first = next(iter(client.query("SELECT * FROM shop.frame ORDER BY id").result()))
    at = dt.datetime(2025, 1, 1, 10, tzinfo=dt.UTC)
    assert tuple(first) == (1, "a", 1.5, True, at, dt.date(2025, 1, 1), Decimal("1.25"))
    read = client.query("SELECT id FROM shop.frame ORDER BY id").to_arrow(create_bqstorage_client=False)
    assert read.column("id").to_pylist() == [1, 2]


def test_lists_and_structs_of_a_parquet_file_are_repeated_and_nested(client: Any) -> None:
    file = io.BytesIO()
    table = pa.table({"tags": [["a", "b"], []], "size": [{"w": 1.5}, None], "raw": [b"\x00\xff", None]})
    moment = dt.datetime.fromisoformat("2025-01-01T10:00")
    table = table.append_column("at", pa.array([moment, None], pa.timestamp("us")))
    parquet.write_table(table, file)
    file.seek(0)
    config = bigquery.LoadJobConfig(source_format="PARQUET")
    client.load_table_from_file(file, "shop.nested", job_config=config).result()
    rows = [tuple(row) for row in client.list_rows("shop.nested")]
    assert rows == [(["a", "b"], {"w": 1.5}, b"\x00\xff", moment), ([], None, None, None)]


@pytest.mark.parametrize(("kind", "words"), [("PARQUET", "no whole Parquet file"), ("ORC", "there are CSV")])
def test_what_cannot_be_loaded_is_refused_by_its_name(client: Any, kind: str, words: str) -> None:
    config = bigquery.LoadJobConfig(source_format=kind)
    with pytest.raises(exceptions.BadRequest, match=words):
        client.load_table_from_file(io.BytesIO(b"PAR1 nothing PAR1"), "shop.p", job_config=config).result()


def test_the_result_of_a_query_lies_in_a_table(client: Any) -> None:
    job = client.query("SELECT 1 AS a UNION ALL SELECT 2")
    job.result()
    table = client.get_table(job.destination)
    assert (table.num_rows, sorted(row.a for row in client.list_rows(table))) == (2, [1, 2])
    made = client.query("CREATE TABLE shop.made AS SELECT 1 AS x")
    made.result()
    assert str(made.destination) == "local-project.shop.made"
    with pytest.raises(exceptions.NotFound, match="Not found: Table"):
        client.get_table(f"{job.destination.dataset_id}.anon00")


def test_what_a_dataset_has_none_of_is_an_empty_list(client: Any) -> None:
    assert list(client.list_routines("shop")) == list(client.list_models("shop")) == []
    views = client.query("SELECT * FROM shop.INFORMATION_SCHEMA.MATERIALIZED_VIEWS").result()
    assert views.total_rows == 0


def test_null_stays_null_in_every_parameter(client: Any) -> None:
    struct = bigquery.StructQueryParameter(
        "s",
        bigquery.ScalarQueryParameter("k", "DATE", None),
        bigquery.ScalarQueryParameter("l", "STRING", "y"),
    )
    parameters = [
        bigquery.ScalarQueryParameter("a", "INT64", None),
        bigquery.ArrayQueryParameter("b", "STRING", ["x", None]),
        struct,
    ]
    config = bigquery.QueryJobConfig(query_parameters=parameters)
    text = "SELECT @a IS NULL, @s.k IS NULL, @s.l, (SELECT COUNTIF(v IS NULL) FROM UNNEST(@b) AS v)"
    assert [tuple(row) for row in client.query(text, config).result()] == [(True, True, "y", 1)]


def test_partitions_are_listed(client: Any) -> None:
    columns = [("id", "INT64"), ("day", "DATE")]
    table = bigquery.Table("local-project.shop.dated", [bigquery.SchemaField(*one) for one in columns])
    table.time_partitioning = bigquery.TimePartitioning(type_="DAY", field="day")
    client.create_table(table)
    rows = [{"id": 1, "day": "2025-01-01"}, {"id": 2, "day": "2025-01-02"}, {"id": 3, "day": None}]
    assert client.insert_rows_json("shop.dated", rows) == []
    assert client.list_partitions("shop.dated") == ["20250101", "20250102", "__NULL__"]
    client.query("CREATE TABLE shop.whole AS SELECT 1 AS a").result()
    assert client.list_partitions("shop.whole") == []


def test_several_objects_are_loaded_at_once(client: Any, hosted: HostedWorld) -> None:
    storage = pytest.importorskip("google.cloud.storage")
    credentials = Credentials(token=hosted.id)  # type: ignore[no-untyped-call]
    options = {"api_endpoint": hosted.api("google_cloud")}
    with storage.Client("local-project", credentials=credentials, client_options=options) as store:
        bucket = store.create_bucket("loaded")
        for name, text in (("a-1.csv", "n,x\n1,a\n"), ("a-2.csv", "n,x\n2,b\n"), ("b.csv", "z\n1\n")):
            bucket.blob(name).upload_from_string(text)
    config = bigquery.LoadJobConfig(source_format="CSV", autodetect=True, skip_leading_rows=1)
    job = client.load_table_from_uri("gs://loaded/a-*.csv", "shop.many", job_config=config)
    assert (job.result().output_rows, job.input_files) == (2, 2)
    assert sorted(tuple(row) for row in client.list_rows("shop.many")) == [(1, "a"), (2, "b")]
    with pytest.raises(exceptions.NotFound, match="Not found: URI"):
        client.load_table_from_uri("gs://loaded/c-*.csv", "shop.many", job_config=config).result()
    with pytest.raises(exceptions.BadRequest, match="do not have the same header"):
        client.load_table_from_uri(
            ["gs://loaded/a-1.csv", "gs://loaded/b.csv"], "shop.many", job_config=config
        ).result()


def test_null_stays_null_in_json(client: Any) -> None:
    parameters = [
        bigquery.ScalarQueryParameter("j", "JSON", None),
        bigquery.ScalarQueryParameter("k", "JSON", {"a": None}),
    ]
    config = bigquery.QueryJobConfig(query_parameters=parameters)
    asked = "SELECT @j IS NULL, JSON_TYPE(@k.a), TO_JSON_STRING(@k)"
    assert [tuple(row) for row in client.query(asked, config).result()] == [(True, "null", '{"a":null}')]
