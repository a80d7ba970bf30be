"""Statements that try to leave the warehouse or to keep everybody waiting."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from time import process_time

import pytest

from mesocosm.errors import Refusal
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.queries.dialects.snowflake import Snowflake
from mesocosm.services.queries.engine import engine
from mesocosm.services.queries.statements import parse_one
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

LEAVING = [
    "select * from read_csv('/etc/passwd')",
    "select * from read_text('/etc/passwd')",
    "select * from read_parquet('x')",
    "select * from '/etc/passwd'",
    'select * from "/etc/passwd"',
    "select * from '/etc/passwd' as x, t",
    "select read_text('/etc/passwd')",
    "select * from table(read_csv('/etc/passwd'))",
    "select * from table(glob('/*')) g",
    "select * from t, lateral read_csv('/etc/passwd')",
    "select * from sqlite_master",
    "select * from duckdb_settings()",
    "select * from information_schema.duckdb",
    "select current_setting('temp_directory')",
    "select getenv('HOME')",
    "select nextval('counter_1')",
    "select query('select 1')",
    "select * from query_table('t')",
    "select * from t; drop table t",
    "attach database '/tmp/x.db' as x",
    "copy into t from @stage",
    "copy (select 1) to '/tmp/x.csv'",
    "copy t to '/tmp/x'",
    "install httpfs",
    "load httpfs",
    "set memory_limit = '10GB'",
    "pragma table_info('t')",
    "call pragma_version()",
    "vacuum",
    "export database '/tmp/x'",
    "execute immediate 'select 1'",
    "create function f() returns int as '1'",
    "create stage s url = 's3://x'",
    "create external table e location = @s",
    "put file:///etc/passwd @s",
    "select * from @stage",
    "insert into t select * from read_csv('/etc/passwd')",
    "create table x as select * from read_csv('/etc/passwd')",
    "create view x as select * from read_csv('/etc/passwd')",
    "merge into t using (select * from read_csv('/etc/passwd')) s on true when matched then delete",
    "update t set id = (select count(*) from read_csv('/etc/passwd'))",
    "create table x (a int default getenv('HOME'))",
    "from read_csv('/etc/passwd')",
    "select * from pragma_database_list()",
    'select * from "contents"',
    'select * from db.public."t_1"',
    'select "\u2063row_id" from t',
    "select columns('.*') from t",
    "select $1 from t",
    # What gives rows is no value.
    "select explode([1, 2])",
    "select posexplode([1]) + 1",
    "alter table t add column b varchar default explode(null)",
    "update t set id = unnest([1, 2])",
]
LEAVING_BIGQUERY = [
    "SELECT * FROM `/etc/passwd`",
    "FROM read_csv('/etc/passwd') |> SELECT *",
    "SELECT * FROM EXTERNAL_QUERY('x', 'select 1')",
    "EXPORT DATA OPTIONS(uri='gs://x/*') AS SELECT 1",
    "LOAD DATA INTO shop.t FROM FILES(uris=['file:///etc/passwd'])",
    "CREATE TEMP FUNCTION f() AS (getenv('HOME')); SELECT f()",
    "CREATE FUNCTION shop.f() RETURNS STRING LANGUAGE js AS 'return 1'",
    "CREATE EXTERNAL TABLE shop.e OPTIONS(uris=['file:///etc/passwd'], format='CSV')",
    """EXECUTE IMMEDIATE 'SELECT getenv("HOME")'""",
    "EXECUTE IMMEDIATE CONCAT('ATT', 'ACH \\'/etc/passwd\\'')",
    "EXECUTE IMMEDIATE 'EXECUTE IMMEDIATE \\'SELECT 1\\''",
    "DECLARE x STRING DEFAULT (SELECT getenv('HOME')); SELECT x",
    "DECLARE x STRING DEFAULT 'a'; LOOP SET x = CONCAT(x, x); END LOOP",
    "FOR r IN (SELECT * FROM read_csv('/etc/passwd')) DO SELECT r; END FOR",
    "BEGIN " * 60 + "SELECT 1; " + "END; " * 60,
    "SELECT @@version",
    "SELECT * FROM ML.PREDICT(MODEL shop.m, TABLE shop.t)",
    "SELECT * FROM shop.__TABLES__ t, duckdb_settings()",
    "SELECT EXPLODE([1, 2])",
    "SELECT * FROM EXPLODE([1, 2])",
    "DECLARE x INT64 DEFAULT EXPLODE([]); SELECT x",
    "DECLARE x INT64; SET x = UNNEST([]); SELECT x",
]
LARGE = [
    f"select 1 in ({', '.join(map(str, range(100_000)))})",
    "with a0 as (select 1 x)"
    + "".join(f", a{n} as (select x + 1 x from a{n - 1})" for n in range(1, 400))
    + " select x from a399",
    "select repeat('x', 1000000000)",
    "select length(repeat('x', 100000 * 100000))",
    "select lpad('x', 1000000000, 'ab')",
    "select count(*) from table(generator(rowcount => 1000000000))",
    "select length(replace(repeat('x', 10000000), 'x', repeat('y', 1000)))",
    "select length(regexp_replace(repeat('x', 10000000), 'x', repeat('y', 1000)))",
    "select length(hex_encode(hex_encode(repeat('x', 16000000))))",
    "select count(*) from table(split_to_table(repeat('a,', 8000000), ','))",
    "select array_size(split(repeat('a,', 8000000), ','))",
    "select array_size(strtok_to_array(repeat('a ', 8000000)))",
    "select editdistance(repeat('a', 1000000), repeat('b', 1000000))",
    "select jarowinkler_similarity(repeat('ab', 1000000), repeat('ba', 1000000))",
    "with recursive r as (select repeat('x', 1000000) s union all select s || s from r) "
    "select max(length(s)) from r",
]
LARGE += [f"select approx_quantiles({what}id, 1000000000) from t" for what in ("", "distinct ")]
ENDLESS = [
    "with recursive r as (select 1 n union all select n + 1 from r) select count(*) from r",
    "select count(*) from n a, n b, n c, n d where a.id + b.id + c.id = d.id * 7 + 1",
    "select sum(a.id * b.id) from n a cross join n b cross join n c",
]
NESTED = [
    "select " + "(" * 20_000 + "1" + ")" * 20_000,
    "select " + "not " * 50_000 + "true",
    "select " + "- " * 50_000 + "1",
    "select " + "case when true then " * 5_000 + "1",
    "select * from (" * 5_000 + "select 1" + ")" * 5_000,
    "select 1 " + "+ 1" * 5_000,
    "select 1 " + "|| 'x'" * 5_000,
    "select a" + "::int" * 5_000 + " from t",
    "select " + "[" * 20_000,
    "select x -> y " * 2_000,
    "select 1 where " + "exists " * 20_000,
    "select cast(" * 20_000,
    "select " + "interval " * 20_000,
    "select 1 " + "union select 1 " * 5_000,
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World.create(tmp_path_factory.mktemp("attacks") / "world", Manifest(services={"snowflake": None}))
    store = world.store(SnowflakeStore)
    store.add_table("DB.PUBLIC.T", {"ID": "INT", "NAME": "VARCHAR"}, [(1, "a"), (2, "b")])
    store.add_table("DB.PUBLIC.N", {"ID": "INT"}, [(number,) for number in range(3_000)])
    store.sessions.use("DB", "PUBLIC")
    world.finish_building()
    return world


@pytest.mark.parametrize("statement", LEAVING)
def test_a_statement_that_tries_to_leave_is_refused(world: World, statement: str) -> None:
    before = (world.path / "snowflake.db").read_bytes()
    for tool in ("read_query", "write_query"):
        outcome = world.call("snowflake", tool, {"query": statement})
        assert outcome.status == "refused", outcome.text
        assert not re.search("root|/bin/", outcome.text)
    assert (world.path / "snowflake.db").read_bytes()[100:] == before[100:]


def test_googlesql_that_tries_to_leave_or_is_too_large_is_refused(tmp_path: Path) -> None:
    large = [
        "SELECT REPEAT('x', 1000000000)",
        "SELECT LENGTH(REPLACE(REPEAT('x', 10000000), 'x', REPEAT('y', 1000)))",
        "SELECT GENERATE_ARRAY(1, 1000000000)",
        "SELECT APPROX_QUANTILES(id, 100000000) FROM shop.t",
        "SELECT APPROX_QUANTILES(DISTINCT id, 100000000) FROM shop.t",
        "SELECT LENGTH(FORMAT('%1000000000d', 1))",
        "SELECT COUNT(*) FROM UNNEST(SPLIT(REPEAT('a,', 8000000), ','))",
        "SELECT ARRAY_LENGTH(TO_CODE_POINTS(REPEAT('x', 16000000)))",
        "SELECT EDIT_DISTANCE(REPEAT('a', 1000000), REPEAT('b', 1000000))",
    ]
    with World.create(tmp_path / "world", Manifest(services={"google_cloud": None})) as world:
        world.store(GoogleCloudStore).bigquery.queries.run(
            "CREATE SCHEMA shop; CREATE TABLE shop.t (id INT64)"
        )
        world.finish_building()
        before = (world.path / "google_cloud.db").read_bytes()
        for statement in (*LEAVING_BIGQUERY, *large):
            started = process_time()
            outcome = world.call("google_cloud", "bigquery_run_query", {"query": statement})
            assert outcome.status == "refused", (statement, outcome.text)
            assert not re.search("root|/bin/", outcome.text)
            assert ("The array is too long" in outcome.text) == ("GENERATE_ARRAY" in statement)
            assert process_time() - started < 3
        assert (world.path / "google_cloud.db").read_bytes()[100:] == before[100:]


@pytest.mark.parametrize("statement", [*LARGE, *NESTED], ids=lambda text: text[:40])
def test_what_is_too_large_is_refused_at_once(world: World, statement: str) -> None:
    started = process_time()
    assert world.call("snowflake", "read_query", {"query": statement}).status == "refused"
    assert process_time() - started < 3


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "update t set name = array_join(j_s_o_n_cast(id, 0.1), json_extract_array(id))",
            "Unknown function ARRAY_JOIN",
        ),
        ("select make_interval(id) from t", "Unknown function MAKE_INTERVAL"),
        ("create or replace view v.cast('[' as int) as select 1 x", "a name that is none"),
        ("select interval -1e3081000000000 'a'", "syntax error"),
    ],
)
def test_what_is_parsed_and_has_no_meaning_is_refused(world: World, statement: str, words: str) -> None:
    tool = "read_query" if statement.startswith("select") else "write_query"
    outcome = world.call("snowflake", tool, {"query": statement})
    assert (outcome.status, words in outcome.text) == ("refused", True), outcome.text


RAISING = [
    ("select to_number('abc')", "Numeric value 'abc' is not recognized"),
    ("select 'abc'::int", "Numeric value 'abc' is not recognized"),
    ("select 'x'::date", "Date 'x' is not recognized"),
    ("select 1 / 0", "Division by zero"),
    ("select id / (id - id) from t", "Division by zero"),
    ("select 99999999999999999999999999999999999999 * 10", "out of range"),
    ("select parse_json('{')", "Error parsing JSON"),
    ("select dateadd(day, 99999999999, current_date)", "out of"),
    ("select x from t", "invalid identifier 'X'"),
    ("select t.id, count(*) from t", "GROUP BY"),
    ("select id from t group by id having name > 1", "GROUP BY"),
    ("select upper(id, id) from t", "syntax error line 1 at position 19"),
    ("select (select id from n) from t", "more than one row"),
    ("select id from t union select id, name from t", "column"),
    ("select sum(name) from t", "Invalid argument types for function 'SUM'"),
    ("select regexp_replace('a', '(', 'b')", "Invalid regular expression"),
    ("select last_query_id(parse_json('{'))", "Unsupported feature 'LAST_QUERY_ID'."),
]
RAW = re.compile(
    r"\b(?:duckdb|(?:Conversion|Binder|Catalog|Parser|Invalid Input|Out of Range) Error|LINE \d+:"
    r"|Candidate|to_json|BIGINT|INT32|Python|pyarrow)",
    re.IGNORECASE,
)
"""Words of the engine that no product says."""


@pytest.mark.parametrize(("statement", "words"), RAISING)
def test_what_the_engine_raises_is_told_in_the_products_words(
    world: World, statement: str, words: str
) -> None:
    outcome = world.call("snowflake", "read_query", {"query": statement})
    assert outcome.status == "refused"
    assert words.lower() in outcome.text.lower()
    assert not RAW.search(outcome.text), outcome.text
    assert not world.journal.faults()


@pytest.mark.parametrize("statement", ENDLESS)
def test_what_does_not_end_is_interrupted(
    world: World, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("MESOCOSM_CALL_TIMEOUT", "1")
        outcome = world.call("snowflake", "read_query", {"query": statement})
    assert (outcome.status, "longer than 1 seconds" in outcome.text) == ("refused", True), outcome.text
    assert world.call("snowflake", "read_query", {"query": "select 1 a"}).status == "ok"


def test_others_are_served_while_a_statement_does_not_end(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_CALL_TIMEOUT", "5")
    world.copy_to(tmp_path / "other")
    with World(tmp_path / "other") as other:
        tool = other.tool("snowflake", "read_query")
        other.store(SnowflakeStore)

        def attack() -> None:
            outcome = other.calls.make("snowflake", tool, {"query": ENDLESS[0]})
            assert "longer than" in outcome.text

        thread = threading.Thread(target=attack)
        thread.start()
        served = 0
        while thread.is_alive() and served < 3:
            assert (
                world.call("snowflake", "read_query", {"query": f"select {served} n from t"}).status == "ok"
            )
            served += 1
        thread.join()
    assert served == 3


CALLS = [
    "dateadd({}, 1, current_date)",
    "timestampadd({}, 1, current_date)",
    "time_add({}, 1, current_date)",
    "date_sub({}, 1, current_date)",
    "time_slice(current_date, 1, {})",
    "date_trunc({}, current_date)",
    "last_day(current_date, {})",
    "extract({} from current_date)",
    "anonymous_agg_func({})",
    "to_char(current_date, {})",
]
ENDING = [
    "day; COMMIT; CREATE OR REPLACE MACRO sing(x) AS 666; SELECT 1--",
    "day; COMMIT; DROP TABLE canary; SELECT 1--",
    "day; BEGIN; SELECT ERROR('x') --",
    "day, (SELECT s FROM canary)) --",
    "day, sing(1)) --",
    "day FROM (SELECT 1)) UNION ALL SELECT table_name FROM DUCKDB_TABLES() --",
]


def in_marks(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark


def test_what_stands_in_the_engines_is_neither_seen_nor_changed(world: World, tmp_path: Path) -> None:
    world.copy_to(tmp_path / "other")
    engines = [str(path / "snowflake.db") for path in (world.path, tmp_path / "other")]
    planted = (
        "COMMIT; CREATE TABLE canary AS SELECT 'song' s; CREATE MACRO sing(x) AS concat('song', x); BEGIN; "
    )
    asked = (
        "SELECT s, sing(1), sum(1), (SELECT count(*) FROM duckdb_functions() WHERE NOT internal) FROM canary"
    )
    for one in engines:
        engine().run(f"{planted} SELECT 1", {}, world=one, unchecked=True)
    before = engine().run(f"{asked} GROUP BY s", {}, world=engines[1], unchecked=True).rows
    assert before == [("song", "song1", 1, 1)]
    for text in ENDING:
        units = (in_marks(text, "'"), in_marks(text, '"'), f"$${text}$$", text)
        for call in CALLS:
            for unit in units:
                outcome = world.call("snowflake", "read_query", {"query": f"select {call.format(unit)}"})
                assert outcome.status != "fault", outcome.text
                assert "song" not in outcome.text, outcome.text
    for one in engines:
        assert engine().run(f"{asked} GROUP BY s", {}, world=one, unchecked=True).rows == before
        engine().run(
            "COMMIT; DROP TABLE canary; DROP MACRO sing; BEGIN; SELECT 1", {}, world=one, unchecked=True
        )


def test_the_parser_takes_what_people_write() -> None:
    conditions = " or ".join(f"(a = {number} and b in ({number}, 1))" for number in range(300))
    rows = ", ".join(f"({number}, 'x')" for number in range(3_000))
    for statement in (f"select * from t where {conditions}", f"insert into t values {rows}"):
        assert parse_one(statement, Snowflake())
    with pytest.raises(Refusal, match=r"syntax error line 2 at position \d+ unexpected"):
        parse_one("select a\nfrom t whre b", Snowflake())


def test_what_views_of_views_grow_to_is_bounded(tmp_path: Path) -> None:
    with World.create(
        tmp_path / "world", Manifest(services={"google_cloud": None, "snowflake": None})
    ) as world:
        run = world.store(GoogleCloudStore).bigquery.queries.run
        run("CREATE SCHEMA shop; CREATE VIEW shop.v0 AS SELECT 1 AS x")
        store = world.store(SnowflakeStore)
        store.add_table("DB.PUBLIC.V0", {"X": "INT"}, [(1,)])
        store.sessions.use("DB", "PUBLIC")
        joined = "SELECT a.x FROM {0}v{1} a JOIN {0}v{1} b USING (x)"
        for number in range(1, 7):
            run(f"CREATE VIEW shop.v{number} AS {joined.format('shop.', number - 1)}")
            store.execute(f"create view v{number} as {joined.format('', number - 1)}")
        world.finish_building()
        asked = (
            ("google_cloud", "bigquery_run_query", "SELECT COUNT(*) AS n FROM shop.v5 a{}", "shop.v6"),
            ("snowflake", "read_query", "select count(*) n from v5 a{}", "v6"),
        )
        for service, tool, query, view in asked:
            assert world.call(service, tool, {"query": query.format("")}).status == "ok"
            started = process_time()
            joined = "".join(f" CROSS JOIN {view} b{number}" for number in range(3))
            outcome = world.call(service, tool, {"query": query.format(joined)})
            assert outcome.status == "refused", outcome.text
            assert "too complex" in outcome.text
            assert process_time() - started < 3


def test_patterns_and_files_that_are_too_large_are_refused(tmp_path: Path) -> None:
    with World.create(tmp_path / "world", Manifest(services={"google_cloud": None})) as world:
        world.store(GoogleCloudStore).bigquery.queries.run("CREATE SCHEMA shop")
        world.finish_building()
        (world.path / "workspace" / "long.csv").write_bytes(b"a,b\n" + b"1,x\n" * 300_000)
        loaded = {"dataset_id": "shop", "table_id": "t", "csv_file_path": "long.csv"}
        outcome = world.call("google_cloud", "bigquery_load_csv_data", loaded)
        assert (outcome.status, "more than 250,000 rows" in outcome.text) == ("refused", True), outcome.text
        world.call("google_cloud", "logging_write_log", {"log_name": "app", "message": "a" * 5_000})
        asked = {"log_filter": f'textPayload =~ "{"x" * 10_000}"'}
        outcome = world.call("google_cloud", "logging_read_logs", asked)
        assert (outcome.status, "regular expression" in outcome.text) == ("refused", True), outcome.text


def test_types_have_the_names_of_the_product(tmp_path: Path) -> None:
    with World.create(tmp_path / "world", Manifest(services={"google_cloud": None})) as world:
        world.finish_building()
        query = "SELECT TYPEOF([1]) a, TYPEOF(STRUCT(1.5 AS x, 'a' AS y)) b"
        outcome = world.call("google_cloud", "bigquery_run_query", {"query": query})
        assert '{"a":"ARRAY<INT64>","b":"STRUCT<x FLOAT64, y STRING>"}' in outcome.text
