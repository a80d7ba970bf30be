"""What other products write is refused, in the product's words and with names as they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rest.conftest import episode_of, server
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

__all__ = ["episode_of", "server"]


MANY_GROUPS = "functions must not have more than 1 capturing group"


def _fill(world: World) -> None:
    google = world.store(GoogleCloudStore).bigquery
    google.datasets.create("shop")
    google.queries.run("CREATE TABLE shop.t AS SELECT 1 AS a, 'x' AS b, 5 AS percent, 2 AS list")
    world.store(SnowflakeStore).add_table("SALES.PUBLIC.T", {"A": "INT", "N": "INT"}, [(1, 2)])


@pytest.fixture(scope="module")
def tools(episode_of: Callable[..., HostedWorld]) -> Iterator[Any]:
    with episode_of(["google_cloud", "snowflake"], _fill).tools() as tools:
        yield tools


@pytest.fixture
def ask(tools: Any) -> Callable[[str, str], Any]:
    names = {"google_cloud": "bigquery_run_query", "snowflake": "read_query"}
    return lambda service, query: tools.call(service, names[service], query=query)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT '1'::INT64", 'Unexpected "::"'),
        ("SELECT 'a' ILIKE 'A'", 'Unexpected "ILIKE"'),
        ("FROM shop.t SELECT a", "Unexpected keyword FROM"),
        ("SELECT (FROM shop.t SELECT a)", "Unexpected keyword FROM"),
        ("SELECT a FROM shop.t LIMIT 1 PERCENT", 'Unexpected "PERCENT"'),
        ("SELECT * EXCLUDE (a) FROM shop.t", 'Unexpected "EXCLUDE"'),
        ("SELECT UNNEST([1])", "Unexpected .*UNNEST"),
        ("SELECT {'a': 1}", 'Unexpected "{"'),
        ("SELECT APPROX_QUANTILES(a, -3000000) FROM shop.t", "Argument 2 .* must be at least 1"),
        ("SELECT APPROX_QUANTILES(DISTINCT a, 0) FROM shop.t", "Argument 2 .* must be at least 1"),
        ("SELECT Len('x')", "Function not found: Len"),
        ("SELECT nvl(a, 1) FROM shop.t", "Function not found: nvl"),
        ("SELECT TRY_CAST('x' AS INT64)", "Function not found: TRY_CAST"),
        ("SELECT CAST('x' AS Varchar)", "Type not found: Varchar"),
        ("SELECT * FROM read_csv('x')", "Function not found: read_csv"),
        ("SELECT Levenshtein('a', 'b')", "Function not found: Levenshtein$"),
        ("SELECT SAFE.HEX('a')", "Function not found: HEX"),
        ("SELECT QUANTILE(a, 0.5) FROM shop.t", "Function not found: QUANTILE"),
        ("SELECT ARRAY_LENGHT([1])", "Function not found: ARRAY_LENGHT; Did you mean array_length"),
        ("SELECT REGEXP_CONTAINS(b, '(') FROM shop.t", r"Cannot parse regular expression: missing \): \($"),
        ("SELECT REGEXP_EXTRACT('a', '[')", r"Cannot parse regular expression: missing \]: \[$"),
        ("SELECT REGEXP_EXTRACT_ALL('a', '*')", r"expression: no argument for repetition operator: \*$"),
        ("SELECT REGEXP_REPLACE('a', 'a**', 'b')", r"expression: bad repetition operator: \*\*$"),
        ("SELECT REGEXP_INSTR('a', '(?=a)')", r"expression: invalid perl operator: \(\?=$"),
        ("SELECT REGEXP_SUBSTR('a', r'\\1')", r"expression: invalid escape sequence: \\1$"),
        (
            "SELECT REGEXP_REPLACE('a', 'a', r'\\3')",
            "Invalid REGEXP_REPLACE pattern: Rewrite schema requests 3",
        ),
        ("SELECT UPPER(t) FROM shop.t", "function UPPER for argument types: STRUCT$"),
        ("SELECT REGEXP_EXTRACT('ab', '(a)(b)')", MANY_GROUPS),
        ("SELECT REGEXP_EXTRACT_ALL('ab', '(a)(?P<x>b)')", MANY_GROUPS),
        ("SELECT REGEXP_SUBSTR('ab', CONCAT('(a)', '(b)'))", MANY_GROUPS),
        ("SELECT REGEXP_INSTR('ab', '(a)(b)')", MANY_GROUPS),
        ("SELECT REGEXP_EXTRACT(b, p) FROM shop.t, UNNEST(['x', '(x)(y)']) AS p", MANY_GROUPS),
        ("SELECT REGEXP_EXTRACT(b, p) FROM shop.t, UNNEST(['x', '(']) AS p", r"expression: missing \): \($"),
        ("SELECT REGEXP_CONTAINS('a', 'A', 'i')", "No matching signature for function REGEXP_CONTAINS"),
        ("SELECT REGEXP_REPLACE('a', 'a', 'b', 'g')", "No matching signature for function REGEXP_REPLACE"),
        ("SELECT REGEXP_EXTRACT_ALL('a', 'a', 1)", "No matching signature for function REGEXP_EXTRACT_ALL"),
    ],
)
def test_googlesql(query: str, words: str, ask: Callable[[str, str], Any]) -> None:
    with pytest.raises(Exception, match=words):
        ask("google_cloud", query)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("FROM sales.public.t SELECT a", "unexpected 'FROM'"),
        ("SELECT * EXCEPT (a) FROM sales.public.t", "unexpected 'EXCEPT'"),
        ("SELECT a FROM sales.public.t USING SAMPLE 1", "unexpected 'SAMPLE'"),
        ("SELECT SAFE_CAST('x' AS INT)", "Unknown function SAFE_CAST"),
        ("SELECT CountIf(a > 1) FROM sales.public.t", "Unknown function COUNTIF"),
        ("SELECT ARRAY_LENGTH([1])", "Unknown function ARRAY_LENGTH"),
        ("SELECT '1'::INT64", "Unsupported data type 'INT64'"),
        ("SELECT read_csv('x')", "Unknown function READ_CSV"),
        ("SELECT ERROR('x')", "Unknown function ERROR"),  # of BigQuery and of the engine
        ("SELECT LEVENSHTEIN('a', 'b')", "Unknown function LEVENSHTEIN"),
        ("SELECT a FROM sales.public.t WHERE Try(a) = 1", "Unknown function TRY"),
        ("SELECT HEX('a')", "Unknown function HEX"),
        (
            "SELECT REGEXP_REPLACE('a', '(', 'b')",
            r"100048 .2201B.: Invalid regular expression: '\(', missing \): \($",
        ),
        ("SELECT REGEXP_LIKE('a', '[')", r"expression: '\[', missing \]: \[$"),
        ("SELECT REGEXP_SUBSTR('a', '*')", r"expression: '\*', no argument for repetition operator: \*$"),
        ("SELECT REGEXP_COUNT('a', 'a**')", r"expression: 'a\*\*', bad repetition operator: \*\*$"),
        ("SELECT REGEXP_INSTR('a', '(?=a)')", r"expression: '\(\?=a\)', invalid perl operator: \(\?=$"),
        ("SELECT 'a' RLIKE '(b'", r"expression: '\(b', missing \): \(b$"),
        ("SELECT 'a' REGEXP '\\\\1'", r"expression: '\\1', invalid escape sequence: \\1$"),
        ("SELECT 'a' RLIKE a || '(' FROM sales.public.t", r"expression: '1\(', missing \): 1\($"),
        ("SELECT REGEXP_REPLACE('a', 'a', '\\\\3')", "expression: Rewrite schema requests 3"),
        *(
            (f"SELECT {call}", r"100048 .2201B.: Invalid regular expression: 'B', unknown parameter '[zg]'")
            for call in (
                "REGEXP_LIKE('a', 'B', 'z')",
                "RLIKE('a', 'B', 'iz')",
                "REGEXP_SUBSTR('a', 'B', 1, 1, 'z')",
                "REGEXP_SUBSTR_ALL('a', 'B', 1, 1, 'z')",
                "REGEXP_REPLACE('a', 'B', 'x', 1, 0, 'g')",
                "REGEXP_COUNT('a', 'B', 1, 'z')",
                "REGEXP_INSTR('a', 'B', 1, 1, 0, 'z')",
            )
        ),
        ("SELECT REGEXP_LIKE('a', 'B', 'i' || n) FROM sales.public.t", "parameters of a regular expression"),
        ("SELECT OBJECT_CONSTRUCT('x', 1, 'x', 2)", "Duplicate field key 'x'"),
        ("SELECT OBJECT_CONSTRUCT(*) FROM sales.public.t x, sales.public.t y", "Duplicate field key 'A'"),
        ("SELECT OBJECT_CONSTRUCT(q.*) FROM sales.public.t", "invalid identifier 'Q'"),
        ("SELECT {t.*, x.*} FROM sales.public.t, sales.public.t x", "syntax error"),
    ],
)
def test_snowflake(query: str, words: str, ask: Callable[[str, str], Any]) -> None:
    with pytest.raises(Exception, match=words):
        ask("snowflake", query)


@pytest.mark.parametrize(
    ("service", "query"),
    [
        ("google_cloud", "SELECT percent, list, percent * list FROM shop.t WHERE b LIKE '%::%' OR b = 'x'"),
        ("google_cloud", "WITH len AS (SELECT 1 AS nvl) SELECT nvl FROM len"),
        ("google_cloud", "SELECT EXTRACT(YEAR FROM DATE '2025-01-01'), CAST('1' AS INT64) AS text"),
        (
            "google_cloud",
            "WITH hex AS (SELECT 1 AS quantile) SELECT quantile FROM (SELECT * FROM hex) AS hex",
        ),
        ("google_cloud", "SELECT SAFE.REGEXP_CONTAINS('a', '('), LOGICAL_AND(a = 1), SAFE.LN(1) FROM shop.t"),
        ("google_cloud", "SELECT '''x::y''', r'ILIKE', `a` FROM shop.t -- FROM t SELECT"),
        ("snowflake", "SELECT a::varchar, a::number(10, 2) FROM sales.public.t"),
        ("snowflake", "SELECT * EXCLUDE (a) FROM sales.public.t WHERE 'A' ILIKE 'a'"),
        ("snowflake", "SELECT a FROM sales.public.t EXCEPT (SELECT 7)"),
        ("snowflake", "WITH hex (quantile) AS (SELECT a FROM sales.public.t) SELECT quantile FROM hex"),
        ("snowflake", "SELECT EDITDISTANCE('a', 'b'), BIT_OR(1, 2), TRY_TO_NUMBER('1') FROM sales.public.t"),
    ],
)
def test_what_only_looks_like_it_is_taken(service: str, query: str, ask: Callable[[str, str], Any]) -> None:
    assert ask(service, query)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("{'ab': 1}", '{"ab":1}'),
        ("{'a,b': 1}::VARCHAR", '{"a,b":1}'),
        ("LEFT({'a-b': 1}::VARCHAR, 6)", '{"a-b"'),
    ],
)
def test_keys_of_an_object_are_texts_and_not_names(
    value: str, text: str, ask: Callable[[str, str], Any]
) -> None:
    assert text in ask("snowflake", f"SELECT {value} AS x").replace("\\", "")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ('SELECT t::VARCHAR FROM (SELECT 1 AS "ab") t', "T"),
        ("SELECT t FROM sales.public.t", "T"),
        ("SELECT COUNT(DISTINCT x) FROM sales.public.t x", "X"),
        ("SELECT TO_JSON(x), OBJECT_CONSTRUCT('k', x) FROM sales.public.t x", "X"),
        ("SELECT a FROM sales.public.t x WHERE x IS NOT NULL", "X"),
        ("SELECT x.a FROM sales.public.t x ORDER BY x", "X"),
        ("SELECT MAX(n) FROM sales.public.t x GROUP BY x", "X"),
        ("SELECT a FROM sales.public.t x QUALIFY ROW_NUMBER() OVER (ORDER BY x) = 1", "X"),
        ("SELECT x.a FROM sales.public.t x JOIN sales.public.t y ON x = y", "X"),
        ("SELECT (SELECT MAX(x)) FROM sales.public.t x", "X"),
        ("SELECT x, 1 AS x FROM sales.public.t x", "X"),
        ("WITH c AS (SELECT 1 a) SELECT c FROM c", "C"),
        ("SELECT f FROM TABLE(FLATTEN(input => PARSE_JSON('[1]'))) f", "F"),
        ("SELECT x FROM VALUES (1) x", "X"),
        ('SELECT "x" FROM sales.public.t "x"', "x"),
        ("SELECT rowid FROM sales.public.t", "ROWID"),
        ("SELECT unnamed_subquery FROM (SELECT 1 a)", "UNNAMED_SUBQUERY"),
    ],
)
def test_a_table_is_no_value_in_snowflake(query: str, name: str, ask: Callable[[str, str], Any]) -> None:
    with pytest.raises(Exception, match=rf"error line 1 at position \d+\s+invalid identifier '{name}'"):
        ask("snowflake", query)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("SELECT 1 AS x, x + 1 AS z FROM sales.public.t x", "X: 1\n  Z: 2"),
        ("SELECT x.a AS x, COUNT(*) AS n FROM sales.public.t x GROUP BY x", 'X: 1\n  "N": 1'),
        ("SELECT x FROM (SELECT a AS x FROM sales.public.t) x", "X: 1"),
        ("SELECT rowid FROM (SELECT 7 AS rowid)", "ROWID: 7"),
        (
            "SELECT (SELECT MAX(b.n) FROM sales.public.t b WHERE b.a = t.a) AS m FROM sales.public.t",
            "M: 2",
        ),
    ],
)
def test_a_name_that_is_a_columns_too_is_the_columns(
    query: str, answer: str, ask: Callable[[str, str], Any]
) -> None:
    assert answer in ask("snowflake", query)


def test_a_statement_that_changes_rows_takes_no_table_for_a_value(tools: Any) -> None:
    for query in (
        "UPDATE sales.public.t SET n = t WHERE a = 1",
        "DELETE FROM sales.public.t WHERE t IS NULL",
    ):
        with pytest.raises(Exception, match="invalid identifier 'T'"):
            tools.call("snowflake", "write_query", query=query)


def test_a_table_is_a_struct_in_bigquery(ask: Callable[[str, str], Any]) -> None:
    def answer(query: str) -> Any:
        return ask("google_cloud", query)

    whole = '{"t":{"a":1,"b":"x","percent":5,"list":2}}'
    assert whole in answer("SELECT t FROM shop.t")
    assert "Bytes processed: 27" in answer("SELECT t FROM shop.t")
    assert r'"{\"a\":1,\"bC\":2}"' in answer("SELECT TO_JSON_STRING(x) FROM (SELECT 1 AS a, 2 AS bC) x")
    assert '{"a":1,"n":1}' in answer("SELECT ANY_VALUE(t).a, COUNT(t) AS n FROM shop.t")
    answer("CREATE TABLE shop.noted AS SELECT 1 AS a, '' AS b")
    answer("UPDATE shop.noted x SET b = TO_JSON_STRING(x) WHERE x IS NOT NULL")
    assert r'{"b":"{\"a\":1,\"b\":\"\"}"}' in answer("SELECT b FROM shop.noted")
    for query, words in (
        ("SELECT a FROM shop.t ORDER BY t", "Ordering by expressions of type STRUCT is not allowed"),
        ("SELECT CAST(t AS STRING) FROM shop.t", "Invalid cast from STRUCT to STRING"),
        ("SELECT rowid FROM shop.t", r"Unrecognized name: rowid at \[1:8\]"),
        ("SELECT unnamed_subquery FROM (SELECT 1 AS a)", "Unrecognized name: unnamed_subquery"),
    ):
        with pytest.raises(Exception, match=words):
            answer(query)
