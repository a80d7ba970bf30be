"""Scripts in GoogleSQL, through the tool that runs statements."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World.create(
        tmp_path_factory.mktemp("scripts") / "world", Manifest(services={"google_cloud": None})
    )
    store = world.store(GoogleCloudStore)
    store.bigquery.datasets.create("shop")
    world.finish_building()
    for text in (
        "CREATE TABLE shop.items (id INT64, name STRING, price NUMERIC)",
        "INSERT INTO shop.items VALUES (1, 'Cap', 5.5), (2, 'Hat', 20), (3, 'Tie', 12)",
        "CREATE TABLE shop.made (n INT64, said STRING)",
    ):
        assert world.call("google_cloud", "bigquery_run_query", {"query": text}).status == "ok"
    return world


def run(world: World, text: str) -> Any:
    return world.call("google_cloud", "bigquery_run_query", {"query": text})


CASES = [
    ("DECLARE x INT64 DEFAULT 2; SELECT name FROM shop.items WHERE id = x", "Hat"),
    ("DECLARE a, b STRING; SET a = 'x'; SET (a, b) = (CONCAT(a, 'y'), 'z'); SELECT a || b AS s", "xyz"),
    ("DECLARE most DEFAULT (SELECT MAX(price) FROM shop.items);"
     " SELECT name FROM shop.items WHERE price = most", "Hat"),
    ("DECLARE i INT64 DEFAULT 0; LOOP SET i = i + 1; IF i >= 5 THEN BREAK; END IF; END LOOP; SELECT i", "5"),
    ("DECLARE i INT64 DEFAULT 0; DECLARE s INT64 DEFAULT 0; WHILE i < 6 DO SET i = i + 1;"
     " IF MOD(i, 2) = 0 THEN CONTINUE; END IF; SET s = s + i; END WHILE; SELECT s", "9"),
    ("DECLARE i INT64 DEFAULT 0; DECLARE s INT64 DEFAULT 0; WHILE TRUE DO SET i = i + 1;"
     " IF MOD(i, 2) = 0 THEN ITERATE; END IF; IF i > 7 THEN LEAVE; END IF; SET s = s + i; END WHILE;"
     " SELECT s", "16"),
    ("DECLARE i INT64 DEFAULT 0; REPEAT SET i = i + 2; UNTIL i > 6 END REPEAT; SELECT i", "8"),
    ("DECLARE s STRING DEFAULT ''; FOR r IN (SELECT id, name FROM shop.items ORDER BY id) DO"
     " SET s = CONCAT(s, r.name, CAST(r.id AS STRING)); END FOR; SELECT s", "Cap1Hat2Tie3"),
    ("DECLARE x INT64 DEFAULT 7; IF x < 5 THEN SELECT 'low'; ELSEIF x < 10 THEN SELECT 'mid';"
     " ELSE SELECT 'high'; END IF", "mid"),
    ("DECLARE x STRING DEFAULT 'b'; CASE x WHEN 'a' THEN SELECT 1;"
     " WHEN 'b' THEN SELECT CASE WHEN TRUE THEN 22 END; END CASE;", "22"),
    ("BEGIN DECLARE y INT64 DEFAULT 3; SELECT y; END", "3"),
    ("DECLARE ids ARRAY<INT64> DEFAULT [1, 3]; SELECT STRING_AGG(name ORDER BY id) FROM shop.items"
     " WHERE id IN UNNEST(ids)", "Cap,Tie"),
    ("DECLARE n INT64; EXECUTE IMMEDIATE 'SELECT COUNT(*) FROM shop.items WHERE price > @least' INTO n"
     " USING 10 AS least; SELECT n", "2"),
    ("DECLARE d DATE DEFAULT '2024-02-29'; SELECT DATE_ADD(d, INTERVAL 1 DAY)", "2024-03-01"),
    ("DECLARE price INT64 DEFAULT 1; -- the column comes first; so does\n"
     "SELECT SUM(price) FROM shop.items", "37.5"),
    ("DECLARE n INT64 DEFAULT 4; INSERT INTO shop.made (n, said) VALUES (n, 'it\\'s; so');"
     " SELECT n FROM shop.made", "4"),
    ("DECLARE x INT64 DEFAULT 1; ASSERT x = 1 AS 'no'; SELECT x; RETURN; SELECT 2", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:40] for text, _ in CASES])
def test_a_script_gives_what_its_last_statement_gives(world: World, text: str, expected: str) -> None:
    outcome = run(world, text)
    assert outcome.status == "ok", outcome.text
    assert (
        f'"{expected}"' in outcome.text
        or f": {expected}" in outcome.text
        or expected in json.dumps(outcome.text).replace("\\", "")
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SET x = 1", "Undeclared variable: x"),
        ("DECLARE x INT64; SET x = 'a'", "Cannot coerce expression 'a' of type STRING to type INT64 of"),
        ("DECLARE x INT64; DECLARE x INT64", "redeclaration is not allowed"),
        ("LOOP END LOOP", "A script may come to 1,000 steps here"),
        ("DECLARE x DEFAULT (GENERATE_ARRAY(1, 3000)); SELECT x", "A variable has at most 2,000 values"),
        ("BREAK", "only allowed inside of a loop"),
        ("IF TRUE THEN SELECT 1; END", "Expected IF but got end of script at [1:27]"),
        ("IF 1 THEN SELECT 1; END IF", "Expected BOOL, but got INT64"),
        ("BEGIN SELECT 1; EXCEPTION WHEN ERROR THEN SELECT 2; END", "EXCEPTION in a script"),
        ("ASSERT FALSE AS 'never'", "never"),
        ("EXECUTE IMMEDIATE 'SELECT @a' USING 1 AS a, 2", "either all values of USING have names or none"),
        ("RAISE USING MESSAGE = 'mine'", "mine"),
        ("BEGIN DECLARE y INT64; END; SELECT y", "Unrecognized name: y"),
    ],
)  # fmt: skip
def test_what_a_script_may_not(world: World, text: str, words: str) -> None:
    outcome = run(world, text)
    assert outcome.status == "refused"
    assert words in outcome.text


def test_a_script_that_fails_leaves_nothing(world: World) -> None:
    outcome = run(world, "INSERT INTO shop.made (n) VALUES (99); DECLARE x INT64 DEFAULT 1; ASSERT x = 2")
    assert outcome.status == "refused"
    assert "99" not in run(world, "SELECT STRING_AGG(CAST(n AS STRING)) AS s FROM shop.made").text
