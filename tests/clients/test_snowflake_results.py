"""What Snowflake's connector does with results: in Arrow, once more, several at once, as lists."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

connector = pytest.importorskip("snowflake.connector")
pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")


def fill(world: World) -> None:
    columns = {"ID": "VARCHAR NOT NULL", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "MORE": "VARIANT"}
    rows = [("A-1", Decimal("12.50"), dt.date(2025, 1, 2), {"tags": ["x"]}), ("A-2", None, None, None)]
    world.store(SnowflakeStore).add_table("SALES.PUBLIC.ORDERS", columns, rows)


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["snowflake"], fill)


def connect(hosted: HostedWorld, **more: Any) -> Any:
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    options = {"user": "me", "password": hosted.id, "account": "any", "database": "SALES", "schema": "PUBLIC"}
    return connector.connect(
        host=host, port=int(port), protocol="http", login_timeout=PATIENCE, **options | more
    )


@pytest.fixture
def cursor(hosted: HostedWorld) -> Iterator[Any]:
    with connect(hosted) as made:
        yield made.cursor()


TYPES = (
    "select id, amount, day, more, 1 n, 1.5::float f, true b, '2025-01-02 03:04:05.678'::timestamp at,"
    " '10:20:30'::time clock, 12345678901234567890123::number(38,0) big, null x from orders order by id"
)


def test_values_come_in_arrow_and_in_json_alike(cursor: Any) -> None:
    moment = dt.datetime.fromisoformat("2025-01-02T03:04:05.678")
    more = (1, 1.5, True, moment, dt.time(10, 20, 30), 12345678901234567890123, None)
    expected = [
        ("A-1", Decimal("12.50"), dt.date(2025, 1, 2), '{"tags":["x"]}', *more),
        ("A-2", None, None, None, *more),
    ]
    assert cursor.execute(TYPES).fetchall() == expected
    asked = {"PYTHON_CONNECTOR_QUERY_RESULT_FORMAT": "JSON"}
    assert cursor.execute(TYPES, _statement_params=asked).fetchall() == expected


def test_results_become_frames(cursor: Any) -> None:
    frame = cursor.execute("select id, amount from orders order by id").fetch_pandas_all()
    assert list(frame["ID"]) == ["A-1", "A-2"]
    assert float(frame["AMOUNT"][0]) == 12.5
    assert cursor.execute("select id from orders").fetch_arrow_all().num_rows == 2
    assert cursor.execute("select * from orders where 1 = 0").fetch_pandas_all().shape == (0, 4)


def test_a_result_is_scanned_once_more(cursor: Any) -> None:
    cursor.execute("show tables")
    scan = 'select "name", "rows" from table(result_scan(last_query_id())) where "kind" = \'TABLE\''
    assert cursor.execute(scan).fetchall() == [("ORDERS", 2)]
    cursor.execute("select 1.50 a, 'x' b, '2025-01-02'::date d, true t")
    scan = f"select a + 1, b, d + 1, t from table(result_scan('{cursor.sfqid}')) r"
    assert cursor.execute(scan).fetchall() == [(Decimal("2.50"), "x", dt.date(2025, 1, 3), True)]
    with pytest.raises(connector.errors.ProgrammingError, match="not found"):
        cursor.execute("select * from table(result_scan('nothing'))")


def test_statements_are_counted_back(cursor: Any) -> None:
    first, second = (cursor.execute(f"select {number} n").sfqid for number in (1, 2))
    asked = "select last_query_id(), last_query_id(-1), last_query_id(-2)"
    assert cursor.execute(asked).fetchall() == [(second, second, first)]
    scan = "select n from table(result_scan(last_query_id(-3)))"
    assert cursor.execute(scan).fetchall() == [(1,)]
    for number in ("1", "-99", "0", "null"):
        with pytest.raises(connector.errors.ProgrammingError, match="reaches back from -1 to -20"):
            cursor.execute(f"select last_query_id({number})")


def test_a_session_is_set_to_what_holds(cursor: Any) -> None:
    for said in ("timezone = 'UTC'", "query_tag = 'x' week_start = 0", "client_prefetch_threads = 8"):
        cursor.execute(f"alter session set {said}")
    for said, words in {
        "timezone = 'Asia/Tokyo'": "'TIMEZONE = Asia/Tokyo'. It is 'UTC' here",
        "query_tag = 'x', week_start = 7": "'WEEK_START = 7'",
        "query_tag = 'x' week_start = 7": "'WEEK_START = 7'",
        "quoted_identifiers_ignore_case = true": "'QUOTED_IDENTIFIERS_IGNORE_CASE = TRUE'",
        "autocommit = false": "'AUTOCOMMIT = FALSE'. It is 'TRUE' here",
        "nonsense = 1": "invalid property 'NONSENSE'",
        "multi_statement_count = -1": "invalid value",
        "multi_statement_count = 99999999999999999999": "invalid value",
    }.items():
        with pytest.raises(connector.errors.ProgrammingError, match=words):
            cursor.execute(f"alter session set {said}")
    cursor.execute("alter session set multi_statement_count = 0")
    cursor.execute("alter session unset timezone, multi_statement_count")
    with pytest.raises(connector.errors.ProgrammingError, match="did not match the desired"):
        cursor.execute("select 1; select 2")


def test_a_login_is_set_to_what_holds(hosted: HostedWorld) -> None:
    taken = {"QUERY_TAG": "x", "TIMEZONE": "UTC", "MULTI_STATEMENT_COUNT": 0, "OWN_OPTION_OF_A_DRIVER": 1}
    with connect(hosted, session_parameters=taken, autocommit=True) as connection:
        assert connection.cursor().execute("select 1; select 2").fetchall() == [(1,)]
    for option, words in (
        ({"session_parameters": {"TIMEZONE": "Asia/Tokyo"}}, "'TIMEZONE = Asia/Tokyo'"),
        ({"session_parameters": {"WEEK_START": 7}}, "'WEEK_START = 7'"),
    ):
        with pytest.raises(connector.errors.DatabaseError, match=words):
            connect(hosted, **option)


def test_several_statements_of_one_request(cursor: Any) -> None:
    cursor.execute("create or replace table m (a int); insert into m values (1), (2); select * from m",
                   num_statements=3)  # fmt: skip
    found = [cursor.fetchall()]
    while cursor.nextset():
        found.append(cursor.fetchall())
    assert found[1:] == [[(2,)], [(1,), (2,)]]
    with pytest.raises(connector.errors.ProgrammingError, match="did not match the desired"):
        cursor.execute("select 1; select 2")
    cursor.execute("alter session set multi_statement_count = 0")
    assert cursor.execute("select 1; select 2").fetchall() == [(1,)]
    cursor.execute("alter session set multi_statement_count = 1 timezone = 'UTC'")
    with pytest.raises(connector.errors.ProgrammingError, match="did not match the desired"):
        cursor.execute("select 1; select 2")


def test_lists_have_the_products_columns(cursor: Any) -> None:
    terse = cursor.execute("show terse tables like 'ORDERS'").fetchall()
    assert [row[1:] for row in terse] == [("ORDERS", "TABLE", "SALES", "PUBLIC")]
    names = [one[0] for one in cursor.execute("show objects").description]
    assert {"is_dynamic", "is_iceberg"} <= set(names)
    assert cursor.execute("show iceberg tables").fetchall() == []
    assert isinstance(terse[0][0], dt.datetime)
    assert cursor.execute("show user functions in sales.public").fetchall() == []
    identity = (
        "select identity_start, identity_increment from information_schema.columns where column_name = 'N'"
    )
    cursor.execute("create or replace table counting (n int autoincrement, a int)")
    assert cursor.execute(identity).fetchall() == [("1", "1")]
    assert cursor.execute("select system$cancel_all_queries(1)").fetchall() == [("No queries to cancel.",)]


def test_what_cannot_be_undone_is_refused(cursor: Any) -> None:
    cursor.execute("begin")
    cursor.execute("commit")
    cursor.execute("rollback")
    cursor.execute("begin")
    with pytest.raises(connector.errors.ProgrammingError, match="kept one by one"):
        cursor.execute("rollback")


def test_without_autocommit_what_was_changed_cannot_be_taken_back(hosted: HostedWorld) -> None:
    with connect(hosted, autocommit=False) as connection:
        cursor = connection.cursor()
        cursor.execute("create or replace table kept (a int)")
        connection.rollback()  # nothing has changed since objects did
        cursor.execute("insert into kept values (1)")
        connection.commit()
        connection.rollback()
        cursor.execute("insert into kept values (2)")
        with pytest.raises(connector.errors.ProgrammingError, match="kept one by one"):
            connection.rollback()
        connection.commit()


def test_replay_makes_the_same(hosted: HostedWorld) -> None:
    assert hosted.replay().identical
