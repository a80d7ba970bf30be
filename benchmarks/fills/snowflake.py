"""An account with tables, a view and a sequence."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from fills.texts import Call, Texts
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

_PER_ROW = 200
_SESSION = 2
"""Of a connector: the first is the tools' own."""
TOLD = {
    "sqlText": "select id, title from shop.public.items limit 3",
    "session": _SESSION,
    "bindings": {"1": {"type": "FIXED", "value": "3"}},
}
"""Values from which paths and bodies of requests are made."""
_READS = (
    "select * from shop.public.items where id < 5 order by id",
    "select title, count(*) n, sum(price) / count(*) mean from shop.public.items group by all order by n",
    "select id, more:tags[0]::string t from shop.public.items qualify row_number() over (order by id) < 4",
    "select i.id, f.value from shop.public.items i, lateral flatten(input => i.more:tags) f limit 5",
    "with r as (select 1 n union all select n + 1 from r where n < 5) select listagg(n, ',') from r",
    "select table_name, row_count from shop.information_schema.tables",
    "select dateadd(month, 1, day), datediff(day, day, current_date) from shop.public.items limit 2",
    "select * from shop.public.cheap order by 1 limit 3",
    "show tables like 'I%' in schema shop.public",
    "describe table shop.public.items",
)
_WRITES = (
    "insert into shop.public.small (note) values ('x'), ('y')",
    "update shop.public.small set note = upper(note) where id = 1",
    "merge into shop.public.small t using (select 1 id) s on t.id = s.id "
    "when matched then update set note = 'm'",
    "delete from shop.public.small where id > 3",
    "create or replace table shop.public.made as select id, price * 2 twice from shop.public.items",
    "alter table shop.public.small add column extra number(10,2) default 1.5",
    "alter table shop.public.small drop column extra",
    "comment on column shop.public.items.price is 'in EUR'",
    "use schema shop.public",
    "insert into shop.public.small (id) select shop.public.numbers.nextval from shop.public.small",
)


def requests(world: World) -> list[Call]:
    """Requests of the vendor's connectors that are known to be answered."""
    route = "POST /{session}/queries/v1/query-request"
    bound = {
        "session": _SESSION,
        "sqlText": "select ? + 1",
        "bindings": {"1": {"type": "FIXED", "value": "3"}},
    }
    signing_in = {"data": {"LOGIN_NAME": "a"}, "databaseName": "SHOP", "schemaName": "PUBLIC"}
    return [
        ("POST /session/v1/login-request", signing_in),
        *((route, {"session": _SESSION, "sqlText": sql}) for sql in (*_READS, *_WRITES)),
        (route, {"session": _SESSION, "sqlText": _READS[0], "describeOnly": True}),
        (route, bound),
    ]


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """The account."""
    store = world.store(SnowflakeStore)
    columns = {
        "ID": "INT NOT NULL",
        "TITLE": "VARCHAR(200)",
        "PRICE": "NUMBER(10,2)",
        "SHARE": "FLOAT",
        "DAY": "DATE",
        "MORE": "VARIANT",
    }
    store.add_table(
        "SHOP.PUBLIC.ITEMS",
        columns,
        (
            (n, texts.title(), Decimal(n) / 4, n / 7, date(2025, 1, 1 + n % 28), {"tags": ["a", n]})
            for n in range(size // _PER_ROW)
        ),
        comment="What is sold",
    )
    store.add_table("SHOP.PUBLIC.SMALL", {"ID": "INT AUTOINCREMENT", "NOTE": "VARCHAR DEFAULT 'none'"})
    store.execute("create view shop.public.cheap as select id, price from shop.public.items where price < 9")
    store.execute("create sequence shop.public.numbers start 10")
    assert store.sessions.begin() == _SESSION
    place = {"database": "SHOP", "schema": "PUBLIC"}
    return [
        ("list_databases", {}),
        ("list_schemas", {"database": "SHOP"}),
        ("list_tables", place),
        ("describe_table", {"table_name": "SHOP.PUBLIC.ITEMS"}),
        *(("read_query", {"query": query}) for query in _READS),
        *(("write_query", {"query": query}) for query in _WRITES),
        ("create_table", {"query": "create or replace table shop.public.other (a int, b varchar)"}),
        ("append_insight", {"insight": "Prices rise with the number."}),
    ]
