"""Snowflake's connector for Python, pointed at an episode."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast

import httpx
import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

connector = pytest.importorskip("snowflake.connector")
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = [("A-1", Decimal("12.50"), date(2025, 1, 2), {"tags": ["x"]}), ("A-2", None, None, None)]


def fill(world: World) -> None:
    store = world.store(SnowflakeStore)
    columns = {"ID": "VARCHAR NOT NULL", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "MORE": "VARIANT"}
    store.add_table("SALES.PUBLIC.ORDERS", columns, ROWS)


@pytest.fixture
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["snowflake"], fill)


def connect(hosted: HostedWorld, **options: Any) -> Any:
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    options = {"user": "me", "password": hosted.id, "account": "any", "database": "SALES"} | options
    return connector.connect(host=host, port=int(port), protocol="http", login_timeout=PATIENCE, **options)


@pytest.fixture
def cursor(hosted: HostedWorld) -> Iterator[Any]:
    with connect(hosted, schema="PUBLIC") as connection:
        yield connection.cursor()


def test_the_connector_reads_writes_and_is_refused(hosted: HostedWorld, cursor: Any) -> None:
    cursor.execute(
        "select id, amount, day, more:tags[0]::string, 1.5::float, true, null from orders order by id"
    )
    assert cursor.fetchall() == [
        ("A-1", Decimal("12.50"), date(2025, 1, 2), "x", 1.5, True, None),
        ("A-2", None, None, None, 1.5, True, None),
    ]
    assert [column[0] for column in cursor.description][:3] == ["ID", "AMOUNT", "DAY"]
    cursor.execute("insert into orders (id, amount) values (%s, %s)", ("B'1", 3))
    assert cursor.rowcount == 1
    cursor.executemany("insert into orders (id, amount) values (%s, %s)", [("C", 1), ("D", 2)])
    cursor.execute("select '2025-01-02 03:04:05'::timestamp, '10:20:30'::time, count(*) from orders")
    moment, at, count = cursor.fetchone()
    assert (str(moment), str(at), count) == ("2025-01-02 03:04:05", "10:20:30", 5)
    with pytest.raises(connector.errors.ProgrammingError, match="invalid identifier 'AMOUN'") as refused:
        cursor.execute("select amoun from orders")
    assert (refused.value.errno, refused.value.sqlstate) == (904, "42000")
    with hosted.tools() as tools:
        told = tools.call(
            "snowflake", "read_query", query="select id from sales.public.orders where amount = 3"
        )
    assert "B'1" in str(told)
    assert hosted.replay().identical


def test_each_connection_has_a_session_of_its_own(hosted: HostedWorld) -> None:
    with connect(hosted, schema="PUBLIC") as one, connect(hosted) as other:
        one.cursor().execute("create schema aside")
        assert one.cursor().execute("select current_schema()").fetchone() == ("ASIDE",)
        assert other.cursor().execute("select current_schema()").fetchone() == ("PUBLIC",)
    with pytest.raises(connector.errors.Error, match="Incorrect username or password"):
        connect(hosted, password="wrong")


def test_values_are_bound_by_the_server(hosted: HostedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connector, "paramstyle", "qmark")
    with connect(hosted, schema="PUBLIC") as connection:
        cursor = connection.cursor()
        moment = datetime.fromisoformat("2025-01-02T03:04:05.000600")
        cursor.execute(
            "select ? - 1, ?, ?, ?, ?, ?::date", (-2, "B'1", True, date(2025, 1, 2), moment, "2025-02-03")
        )
        assert cursor.fetchone() == (-3, "B'1", True, date(2025, 1, 2), moment, date(2025, 2, 3))
        cursor.execute("select count(*) from orders where id = ? and amount > ?", ("A-1", 12.4))
        assert cursor.fetchone() == (1,)
        cursor.executemany("insert into orders (id, amount) values (?, ?)", [("C", 1), ("D", None)])
        assert cursor.rowcount == 2
        assert cursor.execute("select id, amount from orders where id > 'B'").fetchall() == [
            ("C", Decimal("1.00")),
            ("D", None),
        ]
        with pytest.raises(connector.errors.ProgrammingError, match="Bind variable 2 not set"):
            cursor.execute("select ?, ?", (1,))


def test_what_is_bound_as_a_number_is_one(hosted: HostedWorld) -> None:
    answered = httpx.post(
        f"{hosted.base}/session/v1/login-request",
        json={"data": {"LOGIN_NAME": "me", "PASSWORD": hosted.id}},
        timeout=PATIENCE,
    )
    token = answered.json()["data"]["token"]
    headers = {"Authorization": f'Snowflake Token="{token}"'}

    def ask(content: str) -> dict[str, Any]:
        url = f"{hosted.base}/queries/v1/query-request"
        return cast(
            dict[str, Any], httpx.post(url, content=content, headers=headers, timeout=PATIENCE).json()
        )

    bound = {"sqlText": "select ?", "bindings": {"1": {"type": "FIXED", "value": "getenv('HOME')"}}}
    assert ask(json.dumps(bound))["message"] == "Numeric value 'getenv('HOME')' is not recognized"
    assert [ask(text)["success"] for text in ("{", "[]", '{"sqlText": "select 1", "bindings": [1]}')] == [
        False
    ] * 3
