"""ADBC's driver of Snowflake (in Go): the cases of a day, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from later import later_or_skip
from rest.hosted import HostedWorld

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

dbapi = later_or_skip("adbc_driver_snowflake.dbapi")
pa = later_or_skip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore")


class Work:
    """A connection and a cursor of it."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.cursor = connection.cursor()

    def ask(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        self.cursor.execute(text, values or None)
        return list(self.cursor.fetchall())

    def table(self, text: str) -> Any:
        self.cursor.execute(text)
        return self.cursor.fetch_arrow_table()


@pytest.fixture(scope="module")
def work(episode_of: Callable[..., HostedWorld]) -> Iterator[Work]:
    def fill(world: World) -> None:
        columns = {"ID": "VARCHAR NOT NULL", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "MORE": "VARIANT"}
        rows = [("A-1", Decimal("12.50"), date(2025, 1, 2), {"tags": ["x"]}), ("A-2", None, None, None)]
        world.store(SnowflakeStore).add_table("SALES.PUBLIC.ORDERS", columns, rows)

    hosted = episode_of(["snowflake"], fill)
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    sql = "adbc.snowflake.sql"
    options = {
        "username": "me",
        "password": hosted.id,
        f"{sql}.account": "any",
        f"{sql}.uri.host": host,
        f"{sql}.uri.port": port,
        f"{sql}.uri.protocol": "http",
        f"{sql}.db": "SALES",
        f"{sql}.schema": "PUBLIC",
        f"{sql}.client_option.tracing": "fatal",
    }
    with dbapi.connect(db_kwargs=options, autocommit=True) as connection:
        yield Work(connection)


def _ingested(mode: str, table: dict[str, list[Any]]) -> Callable[[Work], Any]:
    def run(work: Work) -> Any:
        count = work.cursor.adbc_ingest("TAKEN", pa.table(table), mode=mode)
        return count, work.ask("SELECT * FROM taken ORDER BY 1")

    return run


def _many(work: Work) -> Any:
    work.cursor.executemany("INSERT INTO made VALUES (?, ?)", [(3, "z"), (4, None)])
    return work.ask("SELECT count(*), count(b) FROM made")


def _objects(work: Work) -> Any:
    found = work.connection.adbc_get_objects(depth="all", table_name_filter="MADE").read_all().to_pylist()
    schema = next(one for one in found[0]["catalog_db_schemas"] if one["db_schema_name"] == "PUBLIC")
    return [column["column_name"] for column in schema["db_schema_tables"][0]["table_columns"]]


def _schema(work: Work) -> Any:
    found = work.cursor.adbc_execute_schema("SELECT amount, day FROM orders")
    return [str(one) for one in found.types]


def _wrong(work: Work) -> Any:
    with pytest.raises(Exception, match="invalid identifier 'NOTHING'"):
        work.ask("SELECT nothing FROM orders")
    return "refused"


VALUES = "SELECT 1::int a, 'x' b, 1.5::float c, null::int d, true e, '2025-01-02'::date f"
CASES: dict[str, tuple[Callable[[Work], Any], Any]] = {
    "values": (
        lambda work: work.ask(VALUES),
        [(1, "x", 1.5, None, True, date(2025, 1, 2))],
    ),
    "rows": (
        lambda work: work.ask("SELECT id, amount, day FROM orders ORDER BY id"),
        [("A-1", Decimal("12.50"), date(2025, 1, 2)), ("A-2", None, None)],
    ),
    "an Arrow table": (lambda work: work.table("SELECT * FROM orders").num_rows, 2),
    "no rows": (lambda work: work.table("SELECT id FROM orders WHERE 1 = 0").num_rows, 0),
    "create": (
        lambda work: work.ask("CREATE TABLE made (a int, b varchar)"),
        [("Table MADE successfully created.",)],
    ),
    "insert": (
        lambda work: [
            work.cursor.execute("INSERT INTO made VALUES (1, 'x'), (2, 'y')"),
            work.ask("SELECT count(*) FROM made"),
        ][1],
        [(2,)],
    ),
    "a value for a place": (lambda work: work.ask("SELECT b FROM made WHERE a = ?", 2), [("y",)]),
    "many values": (_many, [(4, 3)]),
    "what there is": (_objects, ["A", "B"]),
    "the schema of a table": (lambda work: work.connection.adbc_get_table_schema("MADE").names, ["A", "B"]),
    "the schema of a query": (_schema, ["decimal128(10, 2)", "date32[day]"]),
    "ingest into a new table": (
        _ingested("create", {"A": [1, 2], "B": ["x", None]}),
        (2, [(1, "x"), (2, None)]),
    ),
    "ingest more": (_ingested("append", {"A": [3], "B": ["z"]}), (1, [(1, "x"), (2, None), (3, "z")])),
    "ingest anew": (_ingested("replace", {"A": [9], "B": ["q"]}), (1, [(9, "q")])),
    "lists": (lambda work: sorted(row[1] for row in work.ask("SHOW TABLES")), ["MADE", "ORDERS", "TAKEN"]),
    "what is wrong": (_wrong, "refused"),
}


@pytest.mark.parametrize("case", CASES)
def test_adbc(case: str, work: Work) -> None:
    run, expected = CASES[case]
    assert run(work) == expected
