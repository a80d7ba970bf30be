"""Files that are loaded into warehouses: what is too much, damaged, or not what it says that it is."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pyarrow as pa
import pytest
from patience import PATIENCE
from pyarrow import parquet
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

PROJECT = "local-project"
BOUNDARY = "boundary-of-the-tests"
MANY = 5_100_000


def fill(world: World) -> None:
    world.store(SnowflakeStore).add_table("DB.PUBLIC.T", {"X": "VARCHAR", "V": "VARIANT"}, [])
    world.store(GoogleCloudStore).bigquery.datasets.create("shop")


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    made = episode_of(["snowflake", "google_cloud"], fill)
    with made.tools() as tools:
        tools.call("snowflake", "write_query", query="create stage db.public.s")
    return made


def columns(**arrays: Any) -> bytes:
    made = io.BytesIO()
    parquet.write_table(pa.table(arrays), made)
    return made.getvalue()


def list_of(values: Any) -> Any:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def nested(depth: int) -> Any:
    found = pa.array([1])
    for _ in range(depth):
        found = list_of(found)
    return found


def refused(hosted: HostedWorld, kind: str, data: bytes) -> list[str]:
    """What Snowflake and BigQuery say of a file."""
    bearer = {"Authorization": f"Bearer {hosted.id}"}
    with httpx2.Client(timeout=PATIENCE, headers=bearer) as client, hosted.tools() as tools:
        put = client.put(f"{hosted.api('snowflake')}/stage/s1/files/f", content=data)
        assert put.status_code == 200
        form = {"CSV": "csv", "NEWLINE_DELIMITED_JSON": "json", "PARQUET": "parquet"}[kind]
        into = "x" if kind == "CSV" else "v"
        copy = f"copy into db.public.t ({into}) from @db.public.s file_format = (type = {form}) force = true"
        with pytest.raises(ToolError) as copied:
            tools.call("snowflake", "write_query", query=copy)
        load = {
            "destinationTable": {"projectId": PROJECT, "datasetId": "shop", "tableId": "t"},
            "sourceFormat": kind,
            "autodetect": True,
        }
        parts = [("application/json", json.dumps({"configuration": {"load": load}}).encode()), ("*/*", data)]
        body = b"".join(
            f"--{BOUNDARY}\r\nContent-Type: {type_}\r\n\r\n".encode() + content + b"\r\n"
            for type_, content in parts
        )
        answer = client.post(
            f"{hosted.api('google_cloud')}/upload/bigquery/v2/projects/{PROJECT}/jobs?uploadType=multipart",
            content=body + f"--{BOUNDARY}--".encode(),
            headers={"Content-Type": f"multipart/related; boundary={BOUNDARY}"},
        )
        assert answer.status_code == 400, answer.text
        return [str(copied.value), answer.json()["error"]["message"]]


ROWS, VALUES = "more than 250,000 rows", "more than 5,000,000 values"
TOO_MUCH: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "rows": ("CSV", lambda: gzip.compress(b"a\n" * 400_000, 1), ROWS),
    "columns": ("CSV", lambda: gzip.compress(b"a," * 3_000 + b"\n", 1), "more than 2,000 columns"),
    "documents": ("NEWLINE_DELIMITED_JSON", lambda: gzip.compress(b"{}\n" * 400_000, 1), ROWS),
    "deep": ("NEWLINE_DELIMITED_JSON", lambda: b'{"a":' * 400 + b"1" + b"}" * 400, "within each other"),
    # Nothing of these takes room in the file, and nothing in Arrow's tables.
    "nothings": ("PARQUET", lambda: columns(a=list_of(pa.nulls(MANY))), VALUES),
    "columns of nothings": (
        "PARQUET",
        lambda: columns(**{f"a{n}": pa.nulls(30_000) for n in range(200)}),
        VALUES,
    ),
    "one value, named often": (
        "PARQUET",
        lambda: columns(a=pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), ["x" * 2**20])),
        "Parquet file",
    ),
    "nested": ("PARQUET", lambda: columns(a=nested(30)), "within each other"),
    "damaged": ("PARQUET", lambda: columns(a=[1])[:-20], "no whole Parquet file"),
    "made up": ("PARQUET", lambda: b"PAR1" + b"\xff" * 999 + b"\x08\0\0\0PAR1", "no whole Parquet file"),
    "no date": ("PARQUET", lambda: columns(a=pa.array([2**31 - 1], pa.date32())), "Parquet file"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_file_that_is_too_much_is_refused_where_nobody_waits(hosted: HostedWorld, name: str) -> None:
    kind, made, words = TOO_MUCH[name]
    for said in refused(hosted, kind, made()):
        assert words in said


FORMATS = [
    *("skip_header = x", "skip_header = 1.5", "skip_header = (1, 2)", "skip_header = 99999999999999999999"),
    *("null_if = (('a'))", "trim_space = 5", "field_delimiter = '\n'", "type = (csv)", "type ="),
    *("field_delimiter = '\"' field_optionally_enclosed_by = '\"'", "compression = (1)"),
]
REFUSED = r"^\d{6} \(\w{5}\): "
STATEMENTS = [
    *(f"copy into db.public.t (x) from @db.public.s file_format = ({one})" for one in FORMATS),
    *(f"create file format db.public.f type = csv {one}" for one in FORMATS),
    *(
        f"copy into db.public.t (x) from @db.public.s {one}"
        for one in ("files =", "pattern =", "pattern = '('")
    ),
    *("create stage current_date()", "create file format db.public.f type = current_date()", "remove "),
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_option_that_means_nothing_is_refused(hosted: HostedWorld, statement: str) -> None:
    with hosted.tools() as tools, pytest.raises(ToolError, match=REFUSED):
        tools.call("snowflake", "write_query", query=statement)


def test_values_of_any_kind_become_documents(hosted: HostedWorld) -> None:
    zone = pa.timestamp("us", tz="Nowhere/At_All")
    data = columns(
        u=pa.array([b"0" * 16], pa.uuid()), d=pa.array([1], pa.duration("ns")), t=pa.array([0], zone)
    )
    bearer = {"Authorization": f"Bearer {hosted.id}"}
    httpx2.put(
        f"{hosted.api('snowflake')}/stage/s1/files/v", content=data, headers=bearer, timeout=PATIENCE
    ).raise_for_status()
    with hosted.tools() as tools:
        tools.call("snowflake", "write_query", query="create file format db.public.p type = parquet")
        asked = "select $1:u::varchar u, $1:t::varchar t from @db.public.s/v (file_format => 'db.public.p')"
        said = tools.call("snowflake", "read_query", query=asked)
    assert "0000000000000000" in said
    assert "1970-01-01" in said


def test_a_service_keeps_no_more_than_it_may(hosted: HostedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        hosted.tools() as tools,
        httpx2.Client(headers={"Authorization": f"Bearer {hosted.id}"}, timeout=PATIENCE) as client,
    ):

        def put(number: int) -> httpx2.Response:
            place = f"{hosted.api('snowflake')}/stage/s1/files/big/{number}"
            return client.put(place, content=b"\xff" * 2_000_000)

        tools.call("snowflake", "write_query", query="remove @db.public.s")
        monkeypatch.setenv("MESOCOSM_SERVICE_SIZE", "5MiB")
        assert [put(1).status_code, put(2).status_code] == [200, 200]
        assert "full" in put(3).text
        tools.call("snowflake", "write_query", query="remove @db.public.s/big/1")
        assert put(3).status_code == 200
        upload = f"{hosted.api('google_cloud')}/upload/storage/v1/b/{{}}/o?uploadType=media&name=x"
        tools.call("google_cloud", "storage_create_bucket", bucket_name="kept")
        assert "full" in client.post(upload.format("kept"), content=b"x" * 6_000_000).text


def test_no_fault_is_ours(hosted: HostedWorld) -> None:
    assert not [one for one in hosted.journal() if one.status == "fault"]
