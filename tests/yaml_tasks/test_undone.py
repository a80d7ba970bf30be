"""What was undone is no change: whoever judges sees what tables, sheets and buckets hold, not how often."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from worlds import build_world

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.storage import NewObject
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.bulk import NewSheet
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.words import load_words
from mesocosm.services.world import World

Call = tuple[str, dict[str, Any]]
SNOWFLAKE, CLOUD, SHEET = "snowflake", "google_cloud", "google_sheet"


def fill(world: World) -> None:
    snowflake = world.store(SnowflakeStore)
    rows = [(number, f"n{number}", number) for number in range(20)]
    snowflake.add_table("DB.PUBLIC.T", {"ID": "INT", "NAME": "VARCHAR", "N": "NUMBER(10,2)"}, rows)
    snowflake.sessions.use("DB", "PUBLIC")
    snowflake.execute("create sequence seq")
    snowflake.execute("create view seen (a, b) as select id, name from t")
    cloud = world.store(GoogleCloudStore)
    cloud.bigquery.queries.run(
        "CREATE SCHEMA shop; CREATE TABLE shop.t (id INT64, name STRING);"
        "INSERT INTO shop.t VALUES (1, 'a'), (2, 'b'); CREATE VIEW shop.v AS SELECT id FROM shop.t"
    )
    cloud.storage.create("kept-files")
    cloud.storage.objects.write("kept-files", NewObject("a.txt", b"hello"))
    sheets = world.store(SheetStore)
    sheets.drive.create_account("ada@example.org", "Ada")
    sheets.drive.sign_in("ada@example.org")
    sheets.filling.spreadsheet("Figures", [NewSheet("Data", [["a", "b"], [1, 2], [3, "=A2+B2"]])])


def sql(*texts: str) -> list[Call]:
    return [("write_query", {"query": text}) for text in texts]


def jobs(*texts: str) -> list[Call]:
    return [("bigquery_run_query", {"query": text}) for text in texts]


def moved(start: str, end: str) -> Call:
    places = {"source_bucket": "kept-files", "dest_bucket": "kept-files"}
    return "storage_move_object", {**places, "source_blob": start, "dest_blob": end}


def versions(kept: bool) -> Call:
    return "storage_enable_versioning", {"bucket_name": "kept-files", "enabled": kept}


def cells(place: str, *values: Any) -> list[Call]:
    return [("update_cells", {"sheet": "Data", "range": place, "data": [[value]]}) for value in values]


VIEW = "create or replace view seen (a, b) as select id, name from t"
UNDONE: dict[str, Sequence[Sequence[Call]]] = {
    SNOWFLAKE: (
        sql("insert into t values (99, 'x', 1)", "delete from t where id = 99"),
        sql("update t set n = n + 1 where id < 5", "update t set n = n - 1 where id < 5"),
        sql("delete from t where id = 3", "insert into t values (3, 'n3', 3)"),
        sql("create table u clone t", "truncate table t", "insert into t select * from u", "drop table u"),
        sql("create schema db.spare", "drop schema db.spare", "create database spare", "drop database spare"),
        sql("alter table t add column z int", "alter table t drop column z"),
        sql("alter table t rename to t2", "alter table t2 rename to t"),
        sql("comment on table t is 'x'", "comment on table t is ''"),
        sql("insert into t select seq.nextval, 'x', 1", "delete from t where name = 'x'"),
        sql("drop view seen", VIEW, "use schema db.public", "create temporary table own as select * from t"),
    ),
    CLOUD: (
        jobs("INSERT INTO shop.t VALUES (9, 'x')", "DELETE FROM shop.t WHERE id = 9", "SELECT 1"),
        jobs("DELETE FROM shop.t WHERE id = 2", "INSERT INTO shop.t VALUES (2, 'b')"),
        jobs("CREATE TABLE shop.u (a INT64)", "DROP TABLE shop.u", "CREATE SCHEMA more", "DROP SCHEMA more"),
        jobs("DROP VIEW shop.v", "CREATE VIEW shop.v AS SELECT id FROM shop.t"),
        jobs("ALTER TABLE shop.t ADD COLUMN z INT64", "ALTER TABLE shop.t DROP COLUMN z"),
        [moved("a.txt", "b.txt"), moved("b.txt", "a.txt")],
        [versions(True), versions(False)],
        [
            ("logging_write_log", {"log_name": "mine", "message": "hi"}),
            ("logging_delete_log", {"log_name": "mine"}),
        ],
    ),
    SHEET: (
        cells("A2", 5, 1),
        cells("F9", "new", ""),
        cells("B3", 7, "=A2+B2"),
        [
            ("rename_sheet", {"sheet": start, "new_name": end})
            for start, end in (("Data", "Other"), ("Other", "Data"))
        ],
    ),
}  # fmt: skip
DONE: dict[str, Sequence[Sequence[Call]]] = {
    SNOWFLAKE: (
        sql("delete from t where id = 3", "insert into t values (3, 'n4', 3)"),
        sql("delete from t where id = 3", "insert into t values (3, 'n3', 3), (3, 'n3', 3)"),
        sql("drop view seen", "create view seen (a, c) as select id, name from t"),
        sql("create view more as select 1 as one"),
    ),
    CLOUD: (
        jobs("UPDATE shop.t SET name = 'z' WHERE id = 1"),
        jobs("DROP VIEW shop.v", "CREATE VIEW shop.v AS SELECT id + 0 AS id FROM shop.t"),
        [moved("a.txt", "b.txt")],
        [versions(True)],
    ),
    SHEET: (cells("A2", 5), cells("F9", "new"), cells("B3", 3)),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("undone") / "base"
    build_world(path, [SNOWFLAKE, CLOUD, SHEET], fill).close()
    return path


def seen(base: Path, folder: Path, service: str, calls: Sequence[Call]) -> list[str]:
    """What nothing explains after these calls."""
    with World(base) as world:
        world.copy_to(folder)
    with World(folder, base=base) as world:
        book = next(iter(world.store(SheetStore).drive.visible())).id
        for tool, arguments in calls:
            if service == SHEET:
                name = "spreadsheet" if tool == "rename_sheet" else "spreadsheet_id"
                arguments = {name: book, **arguments}
            outcome = world.call(service, tool, arguments)
            assert outcome.status == "ok", outcome.text
        words = load_words(service)
        assert words is not None
        return list(words.others(world, world.changes(), []))


@pytest.mark.parametrize("service", [SNOWFLAKE, CLOUD, SHEET])
def test_what_was_undone_is_no_change_and_what_was_not_is(base: Path, tmp_path: Path, service: str) -> None:
    for number, calls in enumerate(UNDONE[service]):
        assert seen(base, tmp_path / f"undone-{number}", service, calls) == [], calls
    for number, calls in enumerate(DONE[service]):
        assert seen(base, tmp_path / f"done-{number}", service, calls) != [], calls
