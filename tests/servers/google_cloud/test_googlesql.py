"""GoogleSQL: what statements give, and how wrong ones are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from worlds import build_world

from mesocosm.errors import Refusal
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World
from mesocosm.worlds import database

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DATA = yaml.load(Path(__file__).with_name("googlesql.yaml").read_bytes(), LOADER)


def fill(world: World) -> None:
    world.store(GoogleCloudStore).bigquery.queries.run(DATA["setup"])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with build_world(tmp_path_factory.mktemp("googlesql") / "world", ["google_cloud"], fill) as world:
        yield world


def run(world: World, sql: str, **options: Any) -> Any:
    """What a statement gives, as the store has it."""
    store = world.store(GoogleCloudStore)
    database.begin(store.session, read_only=False)
    try:
        answer = store.bigquery.queries.run(sql, **options)
        database.commit(store.session)
    finally:
        database.rollback(store.session)
        store.session.expunge_all()
    return answer


@pytest.mark.parametrize("statement", DATA["statements"], ids=lambda one: one["sql"][:60])
def test_a_statement_gives_what_the_reference_says(world: World, statement: dict[str, Any]) -> None:
    assert run(world, statement["sql"]).rows == statement["rows"]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("", "Unexpected end of script"),
        ("SELEC 1", r"Syntax error: .* at \[1:"),
        ("SELECT itm FROM shop.produce", r"Unrecognized name: itm; Did you mean item\? at \[1:8\]"),
        ("SELECT * FROM shop.produces", "Table local-project:shop.produces was not found.*'produce'"),
        ("SELECT * FROM shp.produce", "Dataset local-project:shp was not found"),
        ("SELECT * FROM produce", r"must be qualified with a dataset.*Did you mean shop.produce\?"),
        ("SELECT * FROM other.shop.produce", "Project other"),
        ("SELECT FOO(1)", "Function not found: FOO"),
        ("SELECT 1 / 0", "division by zero"),
        ("SELECT CAST('x' AS INT64)", "Bad int64 value: x"),
        ("SELECT [1][OFFSET(1)]", "Array index 1 is out of bounds"),
        ("SELECT PARSE_DATE('%Y-%m-%d', 'soon')", 'Failed to parse input string "soon"'),
        ("SELECT item, SUM(purchases) FROM shop.produce", "neither grouped nor aggregated"),
        ("SELECT (SELECT item FROM shop.produce)", "more than one element"),
        ("SELECT @x", "Query parameter 'x' not found"),
        ("DELETE FROM shop.produce", "DELETE must have a WHERE clause"),
        ("INSERT INTO shop.produce VALUES ('x')", "wrong column count; Has 1, expected 3"),
        ("INSERT INTO shop.big VALUES ('x', 1)", "it is a view"),
        ("CREATE TABLE shop.produce (x INT64)", "Already Exists: Table local-project:shop.produce"),
        ("CREATE TABLE shop.x (a WORD)", "Type not found|Syntax error"),
        ("DROP TABLE shop.nothing", "Not found: Table"),
        ("SELECT * FROM read_csv('/etc/passwd')", "Syntax error|not found|not supported"),
        ("SELECT * FROM `/etc/passwd`", "must be qualified"),
        ("SELECT pg_read_file('/etc/passwd')", "Function not found"),
        ("SELECT getenv('HOME')", "Function not found"),
        ("ATTACH '/tmp/x.db' AS x", "Unsupported|Syntax error"),
        ("COPY shop.produce TO '/tmp/x'", "Unsupported|Syntax error"),
        ("INSTALL httpfs", "Unsupported|Syntax error"),
        ("PRAGMA version", "Unsupported|Syntax error"),
        ("SET threads = 4", "Undeclared variable: threads"),
        ("SELECT CAST('x' AS DATE FORMAT 'QQ')", "The format 'QQ' is not provided"),
        ("SELECT INTERVAL '1 2' YEAR TO MONTH", "Invalid INTERVAL value '1 2'"),
        ("SELECT JSON_STRIP_NULLS(JSON '{}', '$.a')", "with a path is not provided"),
        ("BEGIN SELECT 1; EXCEPTION WHEN ERROR THEN SELECT 2; END", "Unsupported"),
    ],
)
def test_a_wrong_statement_is_refused_and_changes_nothing(world: World, sql: str, words: str) -> None:
    outcome = world.call("google_cloud", "bigquery_run_query", {"query": sql})
    assert outcome.status == "refused", outcome.text
    assert re.search(words, outcome.text, re.DOTALL), outcome.text


def test_statements_change_rows(world: World) -> None:
    def do(sql: str) -> Any:
        return run(world, sql)

    do("CREATE TABLE shop.stock (item STRING NOT NULL, n INT64 DEFAULT 1, at TIMESTAMP)")
    assert do("INSERT shop.stock (item) VALUES ('a'), ('b')").changed.inserted == 2
    with pytest.raises(Refusal, match="Required field item cannot be null"):
        do("INSERT shop.stock (n) VALUES (1)")
    do("UPDATE shop.stock SET n = n + 10, at = TIMESTAMP '2025-01-01' WHERE item = 'a'")
    merge = """MERGE shop.stock AS t USING (SELECT 'b' AS item, 7 AS n UNION ALL SELECT 'c', 8) AS s
        ON t.item = s.item WHEN MATCHED THEN UPDATE SET n = s.n
        WHEN NOT MATCHED THEN INSERT (item, n) VALUES (item, n)
        WHEN NOT MATCHED BY SOURCE THEN DELETE"""
    done = do(merge).changed
    assert (done.inserted, done.updated, done.deleted) == (1, 1, 1)
    assert do("SELECT item, n FROM shop.stock ORDER BY item").rows == [["b", 7], ["c", 8]]
    with pytest.raises(Refusal, match="must match at most one source row"):
        do("UPDATE shop.stock SET n = x FROM UNNEST([1, 2]) AS x WHERE TRUE")
    do("ALTER TABLE shop.stock ADD COLUMN note STRING; ALTER TABLE shop.stock DROP COLUMN n")
    assert do("SELECT * FROM shop.stock ORDER BY 1").rows == [["b", None, None], ["c", None, None]]
    do("CREATE OR REPLACE TABLE shop.stock AS SELECT item, purchases AS n FROM shop.produce")
    do("CREATE OR REPLACE TABLE shop.stock AS SELECT * FROM shop.stock WHERE n > 0")
    assert do("SELECT COUNT(*) FROM shop.stock").rows == [[6]]
    do("TRUNCATE TABLE shop.stock; DROP TABLE shop.stock")


def test_intervals_are_kept_with_their_months(world: World) -> None:
    run(world, "CREATE TABLE shop.terms AS SELECT INTERVAL '1-2 3 4:5:6.7' YEAR TO SECOND AS term")
    asked = "SELECT term, term * 2, DATE '2025-01-31' + term FROM shop.terms"
    assert run(world, asked).rows == [["1-2 3 4:5:6.700", "2-4 6 8:10:13.400", "2026-04-03T04:05:06.700000"]]
    run(world, "DROP TABLE shop.terms")


def test_a_field_of_what_is_no_column_is_called_by_its_name(world: World) -> None:
    found = run(world, "SELECT STRUCT(1 AS a).a, [STRUCT(2 AS b)][0].b, data.n, 3 FROM shop.notes LIMIT 1")
    assert [one["name"] for one in found.fields] == ["a", "b", "n", "f3_"]


def test_a_dry_run_counts_the_bytes_of_the_columns(world: World) -> None:
    def size(sql: str) -> int:
        return int(run(world, sql, dry_run=True).bytes)

    assert size("SELECT purchases FROM shop.produce") == 48
    assert size("SELECT COUNT(*) FROM shop.produce") == 0
    assert size("SELECT * FROM shop.big") == size("SELECT item, purchases FROM shop.produce")
