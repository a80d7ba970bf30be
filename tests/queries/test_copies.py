"""Columns as they are read from SQLite: in halves or through the session, whole numbers of any size, names
that differ in case alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.queries import copies
from mesocosm.services.queries.failures import SqlError
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

ROWS = 9_000
HUGE = 10**25
KINDS = {"N": "INT", "WIDE": "NUMBER(38,0)", '"n"': "VARCHAR", "PRICE": "NUMBER(10,2)", "NONE": "INT"}
SUMS = 'SELECT COUNT(*), SUM(n), SUM(wide - n), MAX(n || "n"), SUM(price), COUNT(none) FROM d.public.t'
LAST = "SELECT MAX(n) FROM (SELECT n FROM d.public.t LIMIT 4501)"


@pytest.mark.parametrize("long", [1_000, 10**9])
@pytest.mark.parametrize("huge", [None, 1, ROWS - 2])
def test_columns_are_the_same_however_they_are_read(
    huge: int | None, long: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_LONG", long)
    monkeypatch.setattr(copies, "_BATCH", 1_000)
    copies.forget()
    world = World.create(tmp_path / "world", Manifest(services={"snowflake": None}))
    store = world.store(SnowflakeStore)
    rows = ((n, n + HUGE if n == huge else n, "x" * (n % 3), "0.5", None) for n in range(ROWS))
    store.add_table("D.PUBLIC.T", KINDS, rows)
    expected = [ROWS, ROWS * (ROWS - 1) // 2, HUGE if huge else 0, f"{ROWS - 1}", ROWS / 2, 0]

    def found() -> list[object]:
        (row,) = store.query(SUMS, limit=None).rows
        return [row[0], row[1], row[2], str(row[3]).rstrip("x"), float(row[4]), row[5]]

    within = found()
    world.finish_building()
    copies.forget()
    assert found() == within
    assert within[:3] + within[4:] == expected[:3] + expected[4:]
    assert store.query(LAST, limit=None).rows == [(4_500,)]
    world.close()


def test_the_same_query_follows_the_tables_that_are_there(tmp_path: Path) -> None:
    with World.create(tmp_path / "world", Manifest(services={"snowflake": None})) as world:
        store = world.store(SnowflakeStore)
        store.add_table("DB.PUBLIC.T", {"ID": "INT"}, [(n,) for n in range(1, 40)])
        store.sessions.use("DB", "PUBLIC")

        def ask(number: int) -> list[tuple[object, ...]]:
            return store.query(f"select * from t where id = {number}", limit=9).rows

        assert [len(ask(number)) for number in (1, 2, 50)] == [1, 1, 0]
        store.execute("insert into t (id) values (50)")
        assert len(ask(50)) == 1
        store.execute("create or replace table t as select id, 'new' as note from t")
        assert [ask(number) for number in (3, 4)] == [[(3, "new")], [(4, "new")]]
        store.execute("alter table t rename column note to remark")
        assert store.query("select * from t where id = 6", limit=9).fields[1].name == "REMARK"
        store.execute("drop table t")
        with pytest.raises(SqlError, match="does not exist"):
            ask(7)
