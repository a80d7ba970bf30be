"""What statements change, against the same statements run by DuckDB itself on the same rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

COLUMNS = {"ID": "INT", "GRP": "VARCHAR", "N": "INT"}


def made_up(rng: random.Random) -> Iterator[str]:
    """Statements over the tables T and S, which mean the same to both."""
    while True:
        number, group = rng.randrange(40), rng.choice("abc")
        value = rng.choice([str(number), "n + 1", "n * id", "null", "length(grp) + n"])
        wheres = [
            f"id = {number}",
            f"grp = '{group}'",
            f"n > {number}",
            "n is null",
            f"id % 3 = {number % 3}",
        ]
        where = rng.choice(wheres)
        yield rng.choice(
            [
                f"insert into t values ({100 + number}, '{group}', {number})",
                f"insert into t (n, id) select n, id + 50 from t where {where}",
                f"insert into t select id, grp, {value} from s where {where}",
                f"update t set n = {value} where {where}",
                f"update t set grp = '{group}', n = id where {where}",
                f"update t set n = s.n from s where s.id = t.id and s.n > {number}",
                f"update t set n = (select max(n) from s) where {where}",
                f"delete from t where {where}",
                "delete from t using s where s.id = t.id and s.grp = t.grp",
                f"delete from t where id in (select id from s where {where})",
                "merge into t using (select id, max(n) as n from s group by id) s "
                "on t.id = s.id and t.grp = 'a' "
                f"when matched and t.n > {number} then delete "
                "when matched then update set n = s.n + 1 "
                f"when not matched and s.n > {number} then insert (id, n) values (s.id, s.n)",
            ]
        )


@pytest.mark.parametrize("seed", range(3))
def test_statements_change_what_duckdb_changes(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    direct = duckdb.connect()
    world = World.create(tmp_path / "world", Manifest(services={"snowflake": None}))
    store = world.store(SnowflakeStore)
    for name in ("T", "S"):
        rows = [(n, rng.choice("abc"), rng.choice([None, n, n * 7])) for n in range(30)]
        store.add_table(f"DB.PUBLIC.{name}", COLUMNS, rows)
        direct.execute(f"create table {name} (id bigint, grp varchar, n bigint)")
        direct.executemany(f"insert into {name} values (?, ?, ?)", rows)
    store.sessions.use("DB", "PUBLIC")
    world.finish_building()
    statements = made_up(rng)
    for _ in range(25):
        statement = next(statements)
        outcome = world.call("snowflake", "write_query", {"query": statement})
        assert outcome.status == "ok", (statement, outcome.text)
        direct.execute(statement)
        order = "select * from t order by id nulls last, grp nulls last, n nulls last"
        assert store.query(order, limit=None).rows == direct.execute(order).fetchall(), statement
        if direct.execute("select count(*) from t").fetchall()[0][0] > 400:
            break
    world.close()
    direct.close()


def test_the_same_calls_make_the_same_bytes(tmp_path: Path) -> None:
    told = []
    for name in ("one", "other"):
        world = World.create(tmp_path / name, Manifest(services={"snowflake": None}))
        store = world.store(SnowflakeStore)
        rows = [(number, "abc"[number % 3], number * 7 % 11) for number in range(5_000)]
        store.add_table("DB.PUBLIC.T", COLUMNS, rows)
        store.sessions.use("DB", "PUBLIC")
        world.finish_building()
        statements = [
            "create table u as select grp, n, count(*) c, uuid_string() x, random() r from t group by grp, n",
            "update u set r = random() where c > 100",
            "delete from t where id % 7 = 0",
        ]
        for statement in statements:
            assert world.call("snowflake", "write_query", {"query": statement}).status == "ok"
        read = world.call(
            "snowflake", "read_query", {"query": "select grp, n, count(*) from t group by grp, n"}
        )
        world.close()
        told.append((read.text, (tmp_path / name / "snowflake.db").read_bytes()))
    assert told[0] == told[1]


def test_changes_of_a_world_name_rows_and_tables_that_come_and_go(tmp_path: Path) -> None:
    built = World.create(tmp_path / "base", Manifest(services={"snowflake": None}))
    store = built.store(SnowflakeStore)
    store.add_table("DB.PUBLIC.T", COLUMNS, [(1, "a", 1), (2, "b", 2)])
    store.add_table("DB.PUBLIC.GONE", COLUMNS, [(1, "a", 1)])
    store.sessions.use("DB", "PUBLIC")
    built.finish_building()
    built.copy_to(tmp_path / "world")
    with World(tmp_path / "world", base=tmp_path / "base") as world:
        for statement in (
            "update t set n = 5 where id = 2",
            "alter table t add column more varchar",
            "drop table gone",
            "create table fresh as select 7 seven",
        ):
            assert world.call("snowflake", "write_query", {"query": statement}).status == "ok"
        changes = world.changes()
    found = changes.table("snowflake", "t_1").changed
    assert [after for _, after in found if after["N"] == 5] == [
        {"row_id": 2, "ID": 2, "GRP": "b", "N": 5, "MORE": None}
    ]
    assert len(changes.table("snowflake", "t_2").removed) == 1
    assert [row["SEVEN"] for row in changes.table("snowflake", "t_3").added] == [7]
    built.close()
