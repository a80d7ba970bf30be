"""Queries and changes in GoogleSQL, against the same run by DuckDB itself on the same rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

FIELDS = [{"name": "id", "type": "INT64"}, {"name": "grp", "type": "STRING"}, {"name": "n", "type": "INT64"}]
ORDER = "SELECT * FROM %t ORDER BY id NULLS FIRST, grp NULLS FIRST, n NULLS FIRST"


def made_up(rng: random.Random) -> Iterator[str]:
    """Queries over the tables t and s, which mean the same to both."""
    while True:
        number, group = rng.randrange(40), rng.choice("abc")
        value = rng.choice(
            ["n", "n + id", "COALESCE(n, id)", "ABS(n - 20)", "IF(n > 9, n, id)", "LENGTH(grp)"]
        )
        where = rng.choice([f"n > {number}", f"grp = '{group}'", "n IS NULL", f"id BETWEEN 5 AND {number}"])
        yield rng.choice(
            [
                f"SELECT grp, COUNT(*), SUM({value}), MIN(n) FROM %t WHERE {where} GROUP BY grp ORDER BY 1",
                f"SELECT id, {value} FROM %t WHERE NOT ({where}) ORDER BY id NULLS FIRST, 2 NULLS FIRST",
                f"SELECT id, SUM({value}) OVER (PARTITION BY grp ORDER BY id) FROM %t ORDER BY id",
                f"SELECT t.id, s.n FROM %t AS t LEFT JOIN %s AS s ON s.id = t.n AND s.n > {number}"
                " ORDER BY 1, 2",
                "SELECT id, grp FROM %t QUALIFY ROW_NUMBER() OVER (PARTITION BY grp ORDER BY id DESC) = 1"
                " ORDER BY id",
                f"SELECT id FROM %t WHERE {where} EXCEPT DISTINCT SELECT id FROM %s WHERE {where} ORDER BY 1",
                f"WITH a AS (SELECT grp, MAX({value}) AS m FROM %t GROUP BY grp) "
                "SELECT t.id FROM %t AS t JOIN a ON a.grp = t.grp AND a.m = t.n ORDER BY 1",
                f"SELECT grp, COUNT(DISTINCT {value}), AVG(n) FROM %t GROUP BY grp HAVING COUNT(*) > 3"
                " ORDER BY grp",
            ]
        )


def changes(rng: random.Random) -> Iterator[str]:
    """Statements that change t."""
    while True:
        number, group = rng.randrange(40), rng.choice("abc")
        yield rng.choice(
            [
                f"INSERT INTO %t (id, grp, n) VALUES ({100 + number}, '{group}', {number})",
                f"INSERT INTO %t (n, id) SELECT n, id + 50 FROM %s WHERE n > {number}",
                f"UPDATE %t SET n = id, grp = '{group}' WHERE id = {number}",
                f"DELETE FROM %t WHERE id IN (SELECT id FROM %s WHERE n > {number} AND grp = '{group}')",
                "MERGE INTO %t AS t USING (SELECT id, MAX(n) AS n FROM %s GROUP BY id) AS s ON t.id = s.id "
                f"WHEN MATCHED AND t.n > {number} THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n + 1 "
                f"WHEN NOT MATCHED AND s.n > {number} THEN INSERT (id, n) VALUES (s.id, s.n)",
            ]
        )


def both(store: GoogleCloudStore, direct: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, Any]:
    ours = store.bigquery.queries.run(sql.replace("%", "shop.")).rows
    theirs = sql.replace("%", "").replace("EXCEPT DISTINCT", "EXCEPT")
    return [tuple(row) for row in ours], direct.execute(theirs).fetchall()


@pytest.mark.parametrize("seed", range(2))
def test_queries_and_changes_give_what_duckdb_gives(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    direct = duckdb.connect()
    direct.execute("SET default_null_order = 'nulls_first'")  # as in GoogleSQL
    world = World.create(tmp_path / "world", Manifest(services={"google_cloud": None}))
    store = world.store(GoogleCloudStore)
    store.bigquery.datasets.create("shop")
    for name in ("t", "s"):
        rows = [(n, rng.choice("abc"), rng.choice([None, n, n * 7 % 50])) for n in range(40)]
        table = store.bigquery.tables.create("shop", name, FIELDS)
        store.bigquery.tables.append(table, ({"id": i, "grp": g, "n": n} for i, g, n in rows))
        direct.execute(f"CREATE TABLE {name} (id BIGINT, grp VARCHAR, n BIGINT)")
        direct.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    queries, statements = made_up(rng), changes(rng)
    for turn in range(30):
        sql = next(queries)
        ours, theirs = both(store, direct, sql)
        assert ours == theirs, sql
        if turn % 3 == 0:
            change = next(statements)
            store.bigquery.queries.run(change.replace("%", "shop."))
            direct.execute(change.replace("%", ""))
            ours, theirs = both(store, direct, ORDER)
            assert ours == theirs, change
    world.close()
    direct.close()
