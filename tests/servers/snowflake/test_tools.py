"""An account of Snowflake as agents meet it: what is listed, described, shown, counted and refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World

Call = Callable[..., str]
STATEMENTS = (
    "use schema shop.public",
    "create table shop.public.orders (id int not null primary key, at timestamp_ntz, note varchar"
    " default 'none' comment 'What was said', total number(10,2)) comment = 'All of them'",
    "insert into orders values (1, '2025-01-02 03:04:05', 'a', 1.5), (2, null, 'null', 20)",
    "create view shop.public.large as select id from orders where total > 10",
    "create sequence shop.public.numbers start 7 increment 2",
    "create schema shop.aside",
    "create table shop.aside.old_orders (n int)",
    "create database other",
    "use schema shop.public",
)


def fill(world: World) -> None:
    store = world.store(SnowflakeStore)
    store.add_table(
        "SHOP.PUBLIC.PEOPLE", {"ID": "INT", "NAME": "VARCHAR"}, [(n, f"P{n}") for n in range(250)]
    )
    for statement in STATEMENTS:
        store.execute(statement)


@pytest.fixture
def account(open_tools: Callable[..., Any]) -> Call:
    tools = open_tools(fill, "snowflake")
    return lambda tool, **arguments: tools.call("snowflake", tool, **arguments)  # type: ignore[no-any-return]


def data(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(text)["data"]
    return found


def read(account: Call, query: str) -> list[dict[str, Any]]:
    return data(account("read_query", query=query))


def refused(account: Call, words: str, tool: str, **arguments: Any) -> None:
    with pytest.raises(ToolError, match=words):
        account(tool, **arguments)


def test_databases_schemas_and_tables_are_listed(account: Call) -> None:
    assert {"OTHER", "SHOP"} <= {row["DATABASE_NAME"] for row in data(account("list_databases"))}
    assert [row["SCHEMA_NAME"] for row in data(account("list_schemas", database="shop"))] == [
        "INFORMATION_SCHEMA",
        "ASIDE",
        "PUBLIC",
    ]
    told = {row["TABLE_NAME"]: row for row in data(account("list_tables", database="shop", schema="public"))}
    assert {name: row["TABLE_TYPE"] for name, row in told.items()} == {
        "LARGE": "VIEW",
        "ORDERS": "BASE TABLE",
        "PEOPLE": "BASE TABLE",
    }
    assert (told["ORDERS"]["COMMENT"], told["PEOPLE"]["COMMENT"]) == ("All of them", None)


def test_a_table_is_described_column_by_column(account: Call) -> None:
    told = data(account("describe_table", table_name="shop.public.orders"))
    assert [(row["COLUMN_NAME"], row["IS_NULLABLE"], row["DATA_TYPE"]) for row in told] == [
        ("ID", "NO", "NUMBER(38,0)"),
        ("AT", "YES", "TIMESTAMP_NTZ(9)"),
        ("NOTE", "YES", "VARCHAR(16777216)"),
        ("TOTAL", "YES", "NUMBER(10,2)"),
    ]
    assert [row["COLUMN_DEFAULT"] for row in told] == [None, None, "'none'", None]
    assert [row["COMMENT"] for row in told] == [None, None, "What was said", None]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("list_schemas", {"database": "a.b"}, "does not name a database: it has 2 parts"),
        ("list_schemas", {"database": "nowhere"}, "NOWHERE"),
        ("list_tables", {"database": "shop", "schema": "nowhere"}, "NOWHERE"),
        ("describe_table", {"table_name": "public.orders"}, "it has 2 parts"),
        ("describe_table", {"table_name": "shop.public.nothing"}, "NOTHING"),
        ("read_query", {"query": "delete from shop.public.orders"}, "."),
        ("write_query", {"query": "select 1"}, "use read_query"),
        ("create_table", {"query": "create view v as select 1 as a"}, "Only CREATE TABLE"),
        ("create_table", {"query": "drop table shop.public.orders"}, "Only CREATE TABLE"),
        ("create_table", {"query": "create table shop.public.orders (n int)"}, "already exists"),
        ("write_query", {"query": "insert into shop.public.orders (note) values ('x')"}, "NULL"),
        ("read_query", {"query": "select nothing from shop.public.orders"}, "NOTHING"),
        (
            "read_query",
            {"query": 'select last_query_id("aB c")'},
            r'LAST_QUERY_ID\("aB c"\)',  # no mark of ours in a name
        ),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    account: Call, tool: str, arguments: dict[str, Any], words: str
) -> None:
    refused(account, words, tool, **arguments)
    assert read(account, "select count(*) as n, sum(total) as t from shop.public.orders") == [
        {"N": 2, "T": 21.5}
    ]


def test_changes_are_counted(account: Call) -> None:
    told = account("write_query", query="insert into orders (id) values (3), (4), (5)")
    assert "3 rows affected (rows inserted: 3)" in told
    told = account("write_query", query="update orders set total = 1 where id >= 4")
    assert "2 rows affected" in told
    assert "1 rows affected" in account("write_query", query="delete from orders where id = 5")
    assert read(account, "select note, total from orders where id = 4") == [{"NOTE": "none", "TOTAL": 1}]
    told = account("create_table", query="create table shop.public.fresh (n int)")
    assert "FRESH successfully created" in told


def test_what_yaml_would_take_for_something_else_is_quoted(account: Call) -> None:
    [row] = read(
        account,
        "select 'null' as a, 'no' as b, '1' as c, null as d, 1.50::number(5,2) as e, 'x: y' as f, true as g,"
        " '2025-01-02'::date as h, parse_json('[1, \"b\"]') as i, 0.1::float as j",
    )
    assert [row[name] for name in "ABCDEFGHI"[:7]] == ["null", "no", "1", None, 1.5, "x: y", True]
    assert (row["H"], row["I"], row["J"]) == ("2025-01-02", [1, "b"], 0.1)
    assert "E: 1.50\n" in account("read_query", query="select 1.50::number(5,2) as e, 1 as f")
    assert list(read(account, "select 1 as a, 2 as a")[0]) == ["A", "A_2"]


def test_a_long_result_is_cut_after_200_rows_and_says_how_to_go_on(account: Call) -> None:
    told = account("read_query", query="select id from people order by id")
    assert (len(data(told)), data(told)[-1]["ID"]) == (200, 199)
    assert "more: rows follow these 200; add LIMIT and OFFSET 200" in told
    rest = account("read_query", query="select id from people order by id limit 50 offset 200")
    assert [data(rest)[0]["ID"], len(data(rest))] == [200, 50]
    assert "more:" not in rest
    long = account("read_query", query="select repeat('x', 16001) as a")
    assert "(16001 characters; use SUBSTR for the rest)" in long
    assert "characters;" not in account("read_query", query="select repeat('x', 16000) as a")


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("show tables", ["ORDERS", "PEOPLE"]),
        ("show tables in schema shop.aside", ["OLD_ORDERS"]),
        ("show tables in database shop", ["OLD_ORDERS", "ORDERS", "PEOPLE"]),
        ("show tables like '%ord%' in account", ["OLD_ORDERS", "ORDERS"]),
        ("show tables in database shop starts with 'O'", ["OLD_ORDERS", "ORDERS"]),
        ("show tables in database shop limit 1", ["OLD_ORDERS"]),
        ("show views", ["LARGE"]),
        ("show objects in schema shop.public", ["LARGE", "ORDERS", "PEOPLE"]),
        ("show sequences", ["NUMBERS"]),
        ("show sequences in schema shop.aside", []),
        ("show schemas like 'a%' in database shop", ["ASIDE"]),
    ],
)
def test_a_show_looks_where_it_is_told(account: Call, statement: str, names: list[str]) -> None:
    assert sorted(row["name"] for row in read(account, statement)) == names


def test_a_show_tells_how_much_there_is_and_what_is_current(account: Call) -> None:
    shown = {row["name"]: row for row in read(account, "show tables")}
    assert (shown["PEOPLE"]["rows"], shown["PEOPLE"]["bytes"]) == (250, 512 * 16)
    assert (shown["ORDERS"]["rows"], shown["ORDERS"]["bytes"]) == (2, 512)
    account("create_table", query="create table some as select id from people limit 17")
    [some] = read(account, "show tables like 'some'")
    assert (some["rows"], some["bytes"]) == (17, 2 * 512)
    current = {row["name"]: row["is_current"] for row in read(account, "show schemas in database shop")}
    assert (current["PUBLIC"], current["ASIDE"]) == ("Y", "N")
    [sequence] = read(account, "show sequences")
    assert (sequence["next_value"], sequence["interval"]) == (7, 2)
    [key] = read(account, "show primary keys in table shop.public.orders")
    assert (key["column_name"], key["key_sequence"]) == ("ID", 1)
    columns = {row["column_name"]: row for row in read(account, "show columns in table shop.public.orders")}
    assert [columns[name]["null?"] for name in ("ID", "AT")] == ["NOT_NULL", "true"]
    refused(account, "SHOW", "read_query", query="show grants")


def test_a_column_that_is_added_has_its_default_in_every_row(account: Call) -> None:
    account("write_query", query="alter table orders add column kind varchar(5) default 'new'")
    account("write_query", query="alter table orders add column empty int")
    account("write_query", query="alter table orders add column if not exists kind varchar default 'x'")
    assert read(account, "select kind, empty from orders") == [{"KIND": "new", "EMPTY": None}] * 2
    measured = read(
        account,
        "select column_name as n, data_type as t, character_maximum_length as l, character_octet_length as o,"
        " numeric_precision as p, numeric_scale as s, datetime_precision as d"
        " from shop.information_schema.columns where table_name = 'ORDERS' order by ordinal_position",
    )
    assert [tuple(row.values()) for row in measured] == [
        ("ID", "NUMBER", None, None, 38, 0, None),
        ("AT", "TIMESTAMP_NTZ", None, None, None, None, 9),
        ("NOTE", "TEXT", 16_777_216, 16_777_216, None, None, None),
        ("TOTAL", "NUMBER", None, None, 10, 2, None),
        ("KIND", "TEXT", 5, 20, None, None, None),
        ("EMPTY", "NUMBER", None, None, 38, 0, None),
    ]


def test_a_merge_says_what_it_did_and_a_failed_statement_does_nothing(account: Call) -> None:
    told = account(
        "write_query",
        query="merge into orders o using (select 2 as id union all select 9) s on o.id = s.id"
        " when matched then update set total = 0 when not matched then insert (id) values (s.id)",
    )
    assert "rows inserted: 1" in told
    assert "rows updated: 1" in told
    refused(account, "NULL", "write_query", query="update orders set id = null where id = 9")
    assert read(account, "select sum(id) as n from orders") == [{"N": 12}]
