"""Statements that hide in others: one episode's agent asks, another episode's answers must not change.

The neighbour's table stays what it is and unseen, and so do the functions of its engine. The attacks are
those that were found, and as many places as there are in which a text is written.
"""

from __future__ import annotations

import re
import resource
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from conftest import WorldTools
from samples import sampled

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.calling import ToolError
from mesocosm.services.queries.allowlist import Barred, passed
from mesocosm.services.queries.engine import EngineTable, engine
from mesocosm.services.queries.failures import Failed
from mesocosm.services.world import World

CANARY = "canary_of_the_neighbour"
PAYLOADS = (
    "day; CREATE OR REPLACE MACRO SUM(X) AS 666; SELECT 1--",
    "day; BEGIN; SELECT ERROR('x') --",
    "day, LENGTH(REPEAT('X', 1500000000)) --",
    "day FROM (SELECT 1)) UNION ALL SELECT table_name FROM DUCKDB_TABLES() --",
    "day' FROM (SELECT 1)); DROP TABLE t; --",
    "day\" ; ATTACH ':memory:' AS x; --",
    "day) FROM (SELECT CURRENT_SETTING('memory_limit')) /*",
)
SNOWFLAKE = (
    "DATEADD('{}', 1, CURRENT_DATE)",
    'DATEADD("{}", 1, CURRENT_DATE)',
    "TIMESTAMPADD('{}', 1, CURRENT_DATE)",
    "TIMEADD('{}', 1, CURRENT_TIMESTAMP)",
    "TIME_ADD('{}', 1, CURRENT_TIME)",
    "DATE_SUB('{}', 1, CURRENT_DATE)",
    "DATEDIFF('{}', CURRENT_DATE, CURRENT_DATE)",
    "TIME_SLICE(CURRENT_DATE, 1, '{}')",
    "DATE_TRUNC('{}', CURRENT_DATE)",
    "TRUNC(CURRENT_DATE, '{}')",
    "LAST_DAY(CURRENT_DATE, '{}')",
    "DATE_PART('{}', CURRENT_DATE)",
    "EXTRACT('{}' FROM CURRENT_DATE)",
    'EXTRACT("{}" FROM CURRENT_DATE)',
    "CURRENT_DATE + INTERVAL '1 {}'",
    "CURRENT_DATE + INTERVAL '1' \"{}\"",
    "'x' COLLATE '{}'",
    "IDENTIFIER('{}')",
    "PARSE_JSON('{{}}'):\"{}\"",
    "GET_PATH(PARSE_JSON('{{}}'), '{}')",
    "OBJECT_CONSTRUCT('{}', 1)",
    "TO_CHAR(CURRENT_DATE, '{}')",
    "TO_DATE('2025-01-01', '{}')",
    "REGEXP_LIKE('a', '{}', '{}')",
    "CONVERT_TIMEZONE('{}', CURRENT_TIMESTAMP)",
    "ANONYMOUS_AGG_FUNC('{}')",
    '"{}"(1)',
    "CAST('1' AS \"{}\")",
    'ID AS "{}" FROM T --',
    "1 /*+ {} */",
    "1 -- {}",
    "$${}$$",
    "LISTAGG(ID, '{}') WITHIN GROUP (ORDER BY 1) FROM T --",
)
BIGQUERY = (
    "EXTRACT(`{}` FROM CURRENT_DATE())",
    "TIME_TRUNC(CURRENT_TIME(), `{}`)",
    "DATE_TRUNC(CURRENT_DATE(), `{}`)",
    "DATE_TRUNC(CURRENT_DATE(), WEEK(`{}`))",
    "TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), `{}`)",
    "DATE_DIFF(CURRENT_DATE(), CURRENT_DATE(), `{}`)",
    "TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), CURRENT_TIMESTAMP(), `{}`)",
    "LAST_DAY(CURRENT_DATE(), `{}`)",
    "DATE_ADD(CURRENT_DATE(), INTERVAL 1 `{}`)",
    "GENERATE_DATE_ARRAY(CURRENT_DATE(), CURRENT_DATE(), INTERVAL 1 `{}`)",
    'CAST("1 {}" AS INTERVAL)',
    'COLLATE("x", "{}")',
    'FORMAT_DATE("{}", CURRENT_DATE())',
    'PARSE_DATE("{}", "2025")',
    'CAST(CURRENT_DATE() AS STRING FORMAT "{}")',
    'JSON_VALUE(JSON "{{}}", "$.{}")',
    'STRUCT(1 AS `{}`)',
    "`{}`(1)",
    "SAFE.`{}`(1)",
    "NORMALIZE('x', `{}`)",
    "CAST(1 AS `{}`)",
    'b"{}"',
    "@@`{}`",
    "1 AS `{}` FROM shop.t --",
    'CURRENT_DATE("{}")',
    'STRING_AGG(CAST(id AS STRING), "{}") FROM shop.t --',
)  # fmt: skip


def fill(world: World) -> None:
    store = world.store(SnowflakeStore)
    store.add_table("DB.PUBLIC.T", {"ID": "INT", "NAME": "VARCHAR"}, [(1, "a"), (2, "b")])
    store.sessions.use("DB", "PUBLIC")
    run = world.store(GoogleCloudStore).bigquery.queries.run
    run("CREATE SCHEMA shop; CREATE TABLE shop.t AS SELECT id FROM UNNEST([1, 2]) AS id")


def fill_neighbour(world: World) -> None:
    fill(world)
    world.store(SnowflakeStore).add_table(f"DB.PUBLIC.{CANARY.upper()}", {"SECRET": "VARCHAR"}, [(CANARY,)])


@pytest.fixture
def doors(open_tools: Callable[..., WorldTools]) -> tuple[WorldTools, WorldTools]:
    return (
        open_tools(fill, "snowflake", "google_cloud"),
        open_tools(fill_neighbour, "snowflake", "google_cloud"),
    )


def asked(tools: WorldTools, statement: str, service: str = "snowflake", tool: str = "read_query") -> str:
    """The answer, or the refusal; a fault of ours raises."""
    try:
        said = tools.call(service, tool, query=statement)
    except ToolError as refused:
        said = str(refused)
    assert "internal error" not in said.lower(), (statement, said)
    return said


def seen_by_neighbour(tools: WorldTools) -> str:
    told = tools.call(
        "snowflake", "read_query", query=f"select sum(id) total, max(secret) s from t, {CANARY}"
    )
    told += tools.call("google_cloud", "bigquery_run_query", query="SELECT SUM(id) AS total FROM shop.t")
    return re.sub(r"data_id: \S+|\"jobId\":\"\w+\"|job_\w+", "", told)


@pytest.mark.parametrize("payload", sampled(PAYLOADS, (PAYLOADS[0], PAYLOADS[4])))
def test_no_statement_hides_in_another(doors: tuple[WorldTools, WorldTools], payload: str) -> None:
    attacker, neighbour = doors
    before = seen_by_neighbour(neighbour)
    for places, service, tool in (
        (SNOWFLAKE, "snowflake", "read_query"),
        (BIGQUERY, "google_cloud", "bigquery_run_query"),
    ):
        for place in places:
            inside = payload.replace("'", "''") if "'{}" in place else payload
            statement = "SELECT " + place.replace("{{}}", "{ }").replace("{}", inside)
            said = asked(attacker, statement, service, tool)
            assert CANARY not in said.lower(), statement
        assert seen_by_neighbour(neighbour) == before
    assert "TOTAL: 3" in asked(attacker, "select sum(id) total from t")


@pytest.mark.parametrize(
    "statement",
    [
        "select * from duckdb_tables()",
        "select * from duckdb_tables",
        "with duckdb_tables as (select * from duckdb_tables) select * from duckdb_tables",
        "select current_setting('memory_limit')",
        "select canary()",
        "select * from information_schema.duckdb_tables",
    ],
)
def test_no_catalogue_of_the_engine_is_read(doors: tuple[WorldTools, WorldTools], statement: str) -> None:
    for _ in range(3):  # the third time, its form would be known
        with pytest.raises(ToolError):
            doors[0].call("snowflake", "read_query", query=statement)


PASSING = (
    "SELECT sum(a) FROM t",
    "WITH a AS (SELECT * FROM t), b AS (SELECT * FROM a) SELECT * FROM b UNION ALL SELECT * FROM t",
    "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    "SELECT nextval('counter')",
    "SELECT a FROM t, LATERAL (SELECT unnest([1])) l(x), range(3) r",
    "SELECT ARRAY(SELECT a FROM t), list_transform([1], x -> x + 1), CAST('1' AS DECIMAL(3,1)) ",
    "SELECT t.user FROM (SELECT 1 AS user) t WHERE user = 1",
)
BARRED = (
    "SELECT 1; SELECT 2",
    "CREATE TABLE x AS SELECT 1",
    "BEGIN",
    "SELECT * FROM other",
    "SELECT * FROM main.t",
    "SELECT * FROM 'a.csv'",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x), x",
    "WITH sqlite_master AS (SELECT * FROM sqlite_master) SELECT 1",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "SELECT current_setting('x')",
    "SELECT 'x'.getenv()",
    "SELECT main.abs(1)",
    "SELECT nextval('another')",
    "SELECT setseed(1)",
    "SELECT now()",
    "SELECT current_timestamp",
    "SELECT session_user FROM t",
    "SELECT pg_sleep(1)",
    "SELECT query('SELECT 1')",
    "SELECT count(*) OVER (ORDER BY currval('counter')) FROM t",
    "SELECT a FROM t ORDER BY getvariable('x')",
    "SELECT a FROM t LIMIT (SELECT count(*) FROM duckdb_tables())",
    "SELECT * FROM t PIVOT (sum(txid_current()) FOR a IN (1))",
    "SELECT list_transform([1], x -> current_query())",
    "SELECT 1::mytype",
    "SELECT $1",
    "DESCRIBE t",
    "SHOW TABLES",
    "SUMMARIZE t",
    "EXPLAIN SELECT 1",
    "PIVOT t ON a",
)


def test_the_wall_lets_one_query_of_listed_parts_through() -> None:
    with duckdb.connect() as connection:
        for sql in PASSING:
            assert passed(sql, ["t"], connection, ["counter"])
        for sql in BARRED:
            with pytest.raises((Barred, duckdb.ParserException)):
                passed(sql, ["t"], connection, ["counter"])


def test_what_a_statement_leaves_behind_is_gone_and_unseen_by_others(tmp_path: Path) -> None:
    """Even had it passed the wall."""
    attacker, neighbour = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    numbers = {"t": EngineTable(pa.table({"x": [1, 2]}))}

    def total(world: str) -> object:
        return engine().run("SELECT SUM(x) FROM t", numbers, world=world).rows

    assert total(neighbour) == [(3,)]
    engine().run("CREATE OR REPLACE MACRO sum(x) AS 666", {}, world=attacker, unchecked=True)
    assert total(attacker) == total(neighbour) == [(3,)]
    engine().run("COMMIT; CREATE OR REPLACE MACRO sum(x) AS 666", {}, world=attacker, unchecked=True)
    assert total(neighbour) == [(3,)]
    for statement in ("BEGIN", "SELECT error('x')", "COMMIT; BEGIN; SELECT error('x')"):
        with suppress(Failed):
            engine().run(statement, {}, world=attacker, unchecked=True)
        assert total(neighbour) == [(3,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT length(repeat('x', 1500000000))",
        pytest.param(
            "SELECT sum(length(repeat('x', 16000000 + CAST(i AS INT)))) FROM range(2048) r(i)",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "SELECT list(repeat('x', 1000000 + CAST(i AS INT))) FROM range(5000) r(i)",
            marks=pytest.mark.long,
        ),
        "SELECT range(9000000), range(9000001), range(9000002)",
    ],
)
def test_no_statement_takes_more_memory_than_a_process_may(query: str, tmp_path: Path) -> None:
    """Whatever has passed: the process allocates no more, or is ended, and the next one answers."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended, peaks = threading.Event(), [0]

    def watch() -> None:
        while not ended.wait(0.005):
            peaks.extend(_peaks_of_statements())

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        with pytest.raises(Invalid, match=r"memory|result is larger"):
            engine().run(query, {}, world=str(tmp_path), limit=100)
        ended.set()
        watching.result()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert 0 < max(peaks) < 1280 * 1024
    assert engine().run("SELECT 1", {}, world=str(tmp_path)).rows == [(1,)]


def _peaks_of_statements() -> Iterator[int]:
    """The most memory, in KiB, that each process for statements has had: they are forked from one of their
    own, so nothing that this process waited for says it."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"services.queries" in (folder / "cmdline").read_bytes():
                lines = (folder / "status").read_text().splitlines()
                yield from (int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
