"""Values at and beyond every limit, in tables that checkers read: each is answered, and none is our fault."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import WorldTools

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.words import words as google_words
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.servers.snowflake.words import words as snowflake_words
from mesocosm.services.calling import ToolError
from mesocosm.services.queries.words import WarehouseWords, _value
from mesocosm.services.world import World

DEEP = "[" * 1100 + "]" * 1100
SNOWFLAKE = {
    "D": ("'20250-02-17'", "'infinity'", "'-infinity'", "'10000-01-01'",
          "dateadd(day, 3000000, '2025-01-01')", "'0001-01-01'", "'9999-12-31'", "'2025-02-30'"),
    "M": ("'infinity'", "'20250-02-17 10:00:00'", "to_timestamp(1759307518000)",
          "'9999-12-31 23:59:59.999999'"),
    "F": ("'inf'::float", "'nan'::float", "1e308 * 10", "-1e308"),
    "V": ("parse_json('1e400')", f"parse_json('{DEEP}')", "to_variant('nan'::float)", "parse_json('[1e999]')",
          "array_construct('inf'::float, 'nan'::float)", "object_construct('a', 'nan'::float)"),
    "N": ("99999999999999999999999999999999999999", "struct(99999999999999999999999999999999999999)",
          "1e37", "1e39", "'nan'"),
    "T": ("'24:00:00'", "'23:59:59.999999999'"),
    "B": ("to_binary('ff', 'HEX')",),
}  # fmt: skip
BIGQUERY = {
    "d": ("DATE_ADD('2025-01-01', INTERVAL 3000000 DAY)", "CAST('10000-01-01' AS DATE)", "DATE '9999-12-31'",
          "CAST('infinity' AS DATE)", "CAST('20250-02-17' AS DATE)"),
    "m": ("TIMESTAMP_SECONDS(1759307518000)", "CAST('infinity' AS TIMESTAMP)", "TIMESTAMP_MILLIS(-1)",
          "TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL 100000000 HOUR)"),
    "f": ("CAST('inf' AS FLOAT64)", "CAST('nan' AS FLOAT64)"),
    "fs": ("[CAST('nan' AS FLOAT64), CAST('inf' AS FLOAT64)]", "[1e308]"),
    "j": ("PARSE_JSON('1e400')", f"PARSE_JSON('{DEEP}')", "TO_JSON(CAST('nan' AS FLOAT64))"),
    "n": ("CAST('99999999999999999999999999999.999999999' AS NUMERIC)", "CAST('1e30' AS NUMERIC)"),
    "s": ("STRUCT(CAST('inf' AS FLOAT64) AS x)",),
}  # fmt: skip


def fill(world: World) -> None:
    kinds = {"D": "DATE", "M": "TIMESTAMP_NTZ", "F": "FLOAT", "V": "VARIANT", "N": "NUMBER(38,0)"}
    store = world.store(SnowflakeStore)
    store.add_table("DB.PUBLIC.T", {"ID": "INT", **kinds, "T": "TIME", "B": "BINARY"}, [(1,) + (None,) * 7])
    store.sessions.use("DB", "PUBLIC")
    world.store(GoogleCloudStore).bigquery.queries.run(
        "CREATE SCHEMA shop; CREATE TABLE shop.t (id INT64, d DATE, m TIMESTAMP, f FLOAT64,"
        " fs ARRAY<FLOAT64>, j JSON, n NUMERIC, s STRUCT<x FLOAT64>)"
    )


def asked(tools: WorldTools, service: str, tool: str, query: str) -> str:
    """The answer, or the refusal; a fault of ours fails."""
    try:
        said = str(tools.call(service, tool, query=query))
    except ToolError as refused:
        said = str(refused)
    assert not tools.world.journal.faults(), (query, tools.world.journal.faults())
    return said


def differing(world: World, base: Path) -> list[str]:
    """What checkers say of the tables."""
    with tempfile.TemporaryDirectory() as folder:
        world.copy_to(Path(folder) / "judged")
        with World(Path(folder) / "judged", base=base) as judged:
            changes = judged.changes()
            found = []
            for words in (snowflake_words, google_words):
                assert isinstance(words, WarehouseWords)
                found += list(words.others(judged, changes))
                for thing in words.things.values():
                    for way in (thing.made, thing.altered, thing.gone):
                        found += [str(one.fields) for one in way(judged, changes)]
            return found


def test_every_value_is_answered_and_judged(open_tools: Callable[..., WorldTools], tmp_path: Path) -> None:
    tools = open_tools(fill, "snowflake", "google_cloud")
    tools.world.copy_to(tmp_path / "base")
    for column, values in SNOWFLAKE.items():
        for value in values:
            asked(tools, "snowflake", "read_query", f"select {value} x, {column} from t")
            asked(tools, "snowflake", "write_query", f"insert into t (id, {column}) select 2, {value}")
            asked(tools, "snowflake", "read_query", f"select * from t where {column} is not null")
        assert differing(tools.world, tmp_path / "base") is not None
    for column, values in BIGQUERY.items():
        for value in values:
            asked(tools, "google_cloud", "bigquery_run_query", f"SELECT {value} x, [STRUCT({value} AS y)] z")
            insert = f"INSERT INTO shop.t (id, {column}) SELECT 2, {value}"
            asked(tools, "google_cloud", "bigquery_run_query", insert)
            asked(tools, "google_cloud", "bigquery_run_query", "SELECT * FROM shop.t")
        assert differing(tools.world, tmp_path / "base") is not None


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("DATE", "20250-02-17"),
        ("DATE", "infinity"),
        ("TIMESTAMP", "10000-01-01 00:00:00"),
        ("TIMESTAMP WITH TIME ZONE", "-infinity"),
        ("JSON", "1e400x"),
        ("JSON", DEEP),
        ("DOUBLE[]", "[nan]"),
        ("DECIMAL(38,9)", "much"),
        ("BIGINT", "ten"),
        ("STRUCT(a BIGINT)", "{"),
    ],
)
def test_what_python_has_no_value_for_is_said_to_be_so(kind: str, kept: str) -> None:
    assert str(_value(kind, kept)).startswith("unreadable, because ")
