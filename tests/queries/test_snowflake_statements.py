"""Statements of Snowflake SQL and what they give, as we know Snowflake's manual (it was not at hand)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

CASES = [
    tuple(line.rsplit(" => ", 1))
    for line in Path(__file__).with_name("snowflake_statements.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SnowflakeStore:
    world = World.create(tmp_path_factory.mktemp("corpus") / "world", Manifest(services={"snowflake": None}))
    store = world.store(SnowflakeStore)
    columns = {"ID": "INT", "GRP": "VARCHAR", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "NAME": "VARCHAR(20)"}
    amounts = ["10.00", "20.00", "5.25", "15.25", None, "50.00"]
    rows = [
        (number, group, amount and Decimal(amount), date(2024 + number // 5, 1, number), name)
        for number, group, amount, name in zip(
            range(1, 7), "aabbac", amounts, ("ann", "bob", "cy", "dan", "eve", "fay"), strict=True
        )
    ]
    store.add_table("DB.PUBLIC.T", columns, rows)
    cities = [(1, "Rome"), (3, "Oslo"), (9, "Bern")]
    store.add_table("DB.PUBLIC.U", {"ID": "INT", "CITY": "VARCHAR"}, cities)
    values = [
        (1, {"name": "Ann", "n": 5, "tags": ["red", "blue"], "big key": "yes", "nothing": None}),
        (2, {"name": "Bob", "n": 3}),
    ]
    store.add_table("DB.PUBLIC.J", {"ID": "INT", "V": "VARIANT"}, values)
    store.sessions.use("DB", "PUBLIC")
    return store


def said(value: Any) -> str:
    """A value as the file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return orjson.dumps(value).decode()
    if isinstance(value, float):
        return f"{value:.16g}"
    return "NULL" if value is None else str(value)


@pytest.mark.parametrize(("statement", "expected"), CASES, ids=lambda text: str(text)[:50])
def test_a_statement_gives_what_it_should(store: SnowflakeStore, statement: str, expected: str) -> None:
    for _ in range(3):  # the third time by the form that was kept, where one is
        rows = store.query(statement, limit=100).rows
        assert " / ".join(" | ".join(said(value) for value in row) for row in rows) == expected


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("select Count( * ), 1+1, 'lit', 2::varchar x", ["COUNT( * )", "1+1", "'LIT'", "X"]),
        ("select top 1 distinct 1 + 2, nullif(1, 2)", ["1 + 2", "NULLIF(1, 2)"]),
        (
            "with a as (select 1 + 1 as b) select b*2, b, (select max(b) from a) from a union select 3, 4, 5",
            ["B*2", "B", "(SELECT MAX(B) FROM A)"],
        ),
        ("select case when 1 in (1, 2) then 'a' end", ["CASE WHEN 1 IN (1, 2) THEN 'A' END"]),
        ("select $2 || 'x', $1 from values (1, 'a')", ["$2 || 'X'", "$1"]),
    ],
)
def test_a_column_without_a_name_is_called_as_it_was_written(
    store: SnowflakeStore, query: str, names: list[str]
) -> None:
    assert [one.name for one in store.query(query, limit=10).fields] == names


def test_an_instant_is_stored_as_the_text_that_it_becomes(tmp_path: Path) -> None:
    world = World.create(tmp_path / "world", Manifest(services={"snowflake": None}))
    store = world.store(SnowflakeStore)
    row = ("x", "2024-01-02 03:04:05")
    store.add_table("DB.PUBLIC.T", {"A": "VARCHAR", "AT": "TIMESTAMP_NTZ"}, [row])
    world.finish_building()
    for text in (
        "insert into db.public.t (a) select at from db.public.t",
        "update db.public.t set a = at where a = 'x'",
    ):
        assert world.call("snowflake", "write_query", {"query": text}).status == "ok"
    query = "select listagg(a, ' '), upper(max(at)) from db.public.t"
    shown = world.call("snowflake", "read_query", {"query": query}).text
    assert "2024-01-02 03:04:05.000 2024-01-02 03:04:05.000" in shown
    assert shown.count("2024-01-02 03:04:05.000") == 3
    refused = world.call("snowflake", "read_query", {"query": "select soundex_p123('a')"})
    assert "Unsupported feature 'The function SOUNDEX_P123'" in refused.text
