"""ibis on both warehouses: the same twenty expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from later import later_or_skip
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

ibis = later_or_skip("ibis")
later_or_skip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")
EpisodeOf = Callable[[list[str], Callable[[World], Any]], HostedWorld]


def _snowflake(episode_of: EpisodeOf) -> Any:
    pytest.importorskip("snowflake.connector")

    def fill(world: World) -> None:
        columns = {"ID": "VARCHAR NOT NULL", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "MORE": "VARIANT"}
        rows = [("A-1", Decimal("12.50"), date(2025, 1, 2), {"tags": ["x"]}), ("A-2", None, None, None)]
        world.store(SnowflakeStore).add_table("SALES.PUBLIC.ORDERS", columns, rows)

    hosted = episode_of(["snowflake"], fill)
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    place = {"host": host, "port": int(port), "protocol": "http", "database": "SALES", "schema": "PUBLIC"}
    account = {"account": "any", "user": "me", "password": hosted.id}
    return ibis.snowflake.connect(create_object_udfs=False, **account, **place)


def _bigquery(episode_of: EpisodeOf) -> Any:
    bigquery = pytest.importorskip("google.cloud.bigquery")
    from google.oauth2.credentials import Credentials

    def fill(world: World) -> None:
        store = world.store(GoogleCloudStore).bigquery
        store.datasets.create("shop")
        store.queries.run(
            "CREATE TABLE shop.ORDERS AS"
            " SELECT 'A-1' AS ID, NUMERIC '12.5' AS AMOUNT, DATE '2025-01-02' AS DAY"
            " UNION ALL SELECT 'A-2', NULL, NULL"
        )

    hosted = episode_of(["google_cloud"], fill)
    credentials = Credentials(token=hosted.id)  # type: ignore[no-untyped-call]
    client = bigquery.Client(
        "local-project",
        credentials=credentials,
        client_options={"api_endpoint": hosted.api("google_cloud")},
    )
    con = ibis.bigquery.connect(
        project_id="local-project", dataset_id="shop", client=client, credentials=credentials
    )
    # With allow_large_results, which ibis sets, rows come through the Storage API (gRPC) alone.
    con.client.default_query_job_config = bigquery.QueryJobConfig(use_legacy_sql=False)
    return con


@pytest.fixture(scope="module", params=[_bigquery, _snowflake], ids=["bigquery", "snowflake"])
def con(request: pytest.FixtureRequest, episode_of: EpisodeOf) -> Iterator[Any]:
    con = request.param(episode_of)
    yield con
    con.disconnect()


Expression = Callable[[Any], Any]
CASES: dict[str, tuple[Expression, Any]] = {
    "count": (lambda t: t.count(), 2),
    "limit": (lambda t: t.limit(1).count(), 1),
    "filter": (lambda t: t.filter(t.AMOUNT > 10).select("ID"), [["A-1"]]),
    "sum and mean": (
        lambda t: t.agg(s=t.AMOUNT.sum().cast("float64"), m=t.AMOUNT.mean().cast("float64")),
        [[12.5, 12.5]],
    ),
    "mutate": (
        lambda t: t.filter(t.ID == "A-1").select(y=(t.AMOUNT * 2).cast("float64")),
        [[25.0]],
    ),
    "order": (lambda t: t.order_by(ibis.desc("ID")).select("ID"), [["A-2"], ["A-1"]]),
    "group": (lambda t: t.group_by("DAY").agg(n=t.count()).n.sum(), 2),
    "upper": (lambda t: t.order_by("ID").select(u=t.ID.lower()), [["a-1"], ["a-2"]]),
    "cases": (
        lambda t: t.order_by("ID").select(c=ibis.cases((t.AMOUNT > 10, "big"), else_="small")),
        [["big"], ["small"]],
    ),
    "window": (
        lambda t: t.select("ID", r=ibis.row_number().over(order_by=t.ID)).order_by("ID"),
        [["A-1", 0], ["A-2", 1]],
    ),
    "join": (lambda t: t.join(t.view(), "ID").count(), 2),
    "distinct": (lambda t: t.select("DAY").distinct().count(), 2),
    "cast": (lambda t: t.order_by("ID").select(f=t.AMOUNT.cast("float64")).limit(1), [[12.5]]),
    "null": (lambda t: t.filter(t.DAY.isnull()).count(), 1),
    "like": (lambda t: t.filter(t.ID.like("A-%")).count(), 2),
    "topk": (lambda t: t.ID.topk(2).count(), 2),
    "union": (lambda t: t.select("ID").union(t.select("ID")).count(), 4),
    "round": (lambda t: t.AMOUNT.max().round(0).cast("int64"), 13),
    "length": (lambda t: t.ID.length().sum(), 6),
    "year": (lambda t: t.DAY.year().max(), 2025),
}


@pytest.mark.parametrize("case", CASES)
def test_an_expression(case: str, con: Any) -> None:
    expression, expected = CASES[case]
    found = expression(con.table("ORDERS")).to_pandas()
    assert (found.to_numpy().tolist() if hasattr(found, "to_numpy") else found) == expected


def test_tables_are_listed_and_views_made(con: Any) -> None:
    t = con.table("ORDERS")
    con.create_view("SEEN", t.select("ID"), overwrite=True)
    assert sorted(con.list_tables()) == ["ORDERS", "SEEN"]
    assert con.table("SEEN").count().to_pandas() == 2
    assert list(con.get_schema("ORDERS"))[:3] == ["ID", "AMOUNT", "DAY"]
