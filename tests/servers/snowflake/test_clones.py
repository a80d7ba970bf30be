"""Copies of tables, schemas and databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mesocosm.servers.snowflake.models import Sequence
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World.create(tmp_path / "world", Manifest(services={"snowflake": None})) as world:
        store = world.store(SnowflakeStore)
        store.add_table(
            "DB.PUBLIC.T", {"ID": "INT", "NAME": "VARCHAR"}, [(1, "a"), (2, "b")], comment="What is"
        )
        for statement in (
            "use schema db.public",
            "create view db.public.v as select name from t where id = 2",
            "create sequence db.public.s start 7",
            "create schema db.aside",
        ):
            store.execute(statement)
        world.finish_building()
        yield world


def rows(world: World, query: str) -> list[Any]:
    return list(world.store(SnowflakeStore).query(query, limit=100).rows)


@pytest.mark.parametrize("what", ["table db.public.t", "schema db.public", "database db"])
def test_what_is_a_copy_of_itself_has_what_it_had(world: World, what: str) -> None:
    kind, _, name = what.partition(" ")
    world.store(SnowflakeStore).execute(f"create or replace {kind} {name} clone {name}")
    assert rows(world, "select * from db.public.t order by id") == [(1, "a"), (2, "b")]


def test_a_table_like_itself_is_empty(world: World) -> None:
    world.store(SnowflakeStore).execute("create or replace table db.public.t like db.public.t")
    assert rows(world, "select count(*) from db.public.t") == [(0,)]


def test_a_copy_of_a_table_keeps_keys_comments_and_counts_on(world: World) -> None:
    store = world.store(SnowflakeStore)
    for statement in (
        "create table db.public.u (id number autoincrement start 5 increment 2 primary key,"
        " name varchar comment 'the name' unique) cluster by (name) comment = 'of u'",
        "insert into db.public.u (name) values ('a'), ('b')",
        "create table db.public.w clone db.public.u",
        "create table db.public.x like db.public.u",
        "insert into db.public.w (name) values ('c')",
        "insert into db.public.u (name) values ('d')",
    ):
        store.execute(statement)
    assert rows(world, "select id, name from db.public.w order by id") == [(5, "a"), (7, "b"), (9, "c")]
    assert rows(world, "select max(id) from db.public.u") == [(9,)]
    described = [list(store.execute(f"describe table db.public.{name}").rows) for name in ("u", "w", "x")]
    assert described[0] == described[1] == described[2]
    comments = "select table_name, comment from db.information_schema.tables where table_name in ('W', 'X')"
    assert rows(world, comments + " order by 1") == [("W", "of u"), ("X", None)]


def test_a_copy_of_a_schema_has_all_that_is_in_it_and_goes_its_own_way(world: World) -> None:
    store = world.store(SnowflakeStore)
    store.execute("create schema db.copied clone db.public")
    store.execute("delete from db.public.t where id = 2")
    assert rows(world, "select name from db.copied.v") == [("b",)]
    assert rows(world, "select name from db.public.v") == []
    store.execute("insert into db.copied.t (id) select db.copied.s.nextval")
    assert rows(world, "select id from db.copied.t order by id") == [(1,), (2,), (7,)]


def test_a_copy_says_what_its_source_says_and_has_nothing_of_a_session(world: World) -> None:
    store = world.store(SnowflakeStore)
    for statement in (
        "create or replace sequence db.public.s start 7 comment = 'Counts'",
        "create temporary table db.public.passing (n int)",
        "create schema db.copied clone db.public",
    ):
        store.execute(statement)
    comments = "select table_name, comment from db.information_schema.tables where table_schema = 'COPIED'"
    assert rows(world, comments + " order by 1") == [("T", "What is"), ("V", None)]
    listed = store.execute("show sequences in schema db.copied")
    at = [field.name for field in listed.fields].index("comment")
    assert [row[at] for row in listed.rows] == ["Counts"]


def test_tables_that_are_swapped_are_in_each_others_schemas(world: World) -> None:
    store = world.store(SnowflakeStore)
    store.execute("create table db.aside.u (n int)")
    store.execute("alter table db.public.t swap with db.aside.u")
    assert rows(world, "select count(*) from db.aside.u") == [(2,)]
    assert rows(world, "select count(n) from db.public.t") == [(0,)]


def test_a_table_that_goes_takes_its_counters_along(world: World) -> None:
    store = world.store(SnowflakeStore)
    before = store.session.query(Sequence).count()
    store.execute("create table db.public.counted (id int autoincrement)")
    assert store.session.query(Sequence).count() == before + 1
    store.execute("drop table db.public.counted")
    assert store.session.query(Sequence).count() == before


def test_a_copy_of_a_database_has_its_schemas(world: World) -> None:
    world.store(SnowflakeStore).execute("create database again clone db")
    found = rows(world, "select schema_name from again.information_schema.schemata order by 1")
    assert {"ASIDE", "PUBLIC"} <= {name for (name,) in found}
    assert rows(world, "select count(*) from again.public.t") == [(2,)]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("create table db.public.t clone db.public.t", "already exists"),
        ("create schema db.x clone db.nothing", "does not exist"),
        ("create or replace database db clone nothing", "does not exist"),
        ("create table db.public.x clone db.public.t at(offset => -60)", "AT and BEFORE"),
        ("create sequence db.public.x clone db.public.s", "CLONE"),
    ],
)
def test_a_copy_that_cannot_be_made_is_refused_and_changes_nothing(
    world: World, statement: str, words: str
) -> None:
    told = world.call(
        "snowflake", "create_table" if " table " in statement else "write_query", {"query": statement}
    )
    assert told.status == "refused", told.text
    assert words in told.text
    assert rows(world, "select count(*) from db.public.t") == [(2,)]


@pytest.mark.parametrize("statement", ["show grants", "explain select 1", "undrop table db.public.t"])
def test_what_is_not_offered_is_not_said_to_be_a_write(world: World, statement: str) -> None:
    told = world.call("snowflake", "read_query", {"query": statement})
    assert (told.status, "Unsupported feature" in told.text) == ("refused", True), told.text
