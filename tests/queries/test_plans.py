"""Queries whose form is known from an earlier one: they give what they give when they are worked out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from mesocosm.servers.snowflake.store import SnowflakeStore, running
from mesocosm.services.queries import plans as reading
from mesocosm.services.queries.plans import Plans
from mesocosm.services.queries.refusals import SqlError
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

NUMBERS = (0, 1, 2, 7, 31, 100, 999_999_999)
KEPT = (
    "select * from t where id = {}",
    "select id, amount from t order by id limit {} offset 1",
    "select count(*), sum(amount) from t where id >= {} and amount < 40",
    "select a.id from t a join t b on a.id = b.id where b.id <> {} order by 1",
    "with big as (select * from t where amount > {}) select count(*) from big",
    "select name, v:n from j where v:n = {}",
    "select round(amount, 1) from t where id > {} order by amount desc",
    "select id, id / 2 from t where id = {} or id = 3 order by id",
    "select day from t where year(day) = 2024 and day(day) <= {} order by 1",
)
OTHERS = (
    "select id = {} from t order by id",  # its column is called after the number
    "select * from seen where id = {}",  # a view
    "select random() from t where id = {}",
    "select current_timestamp() from t where id = {}",
    "select current_database() from t where id = {}",
    "select table_name from information_schema.tables where row_count = {}",
)


@pytest.fixture(autouse=True)
def plans(monkeypatch: pytest.MonkeyPatch) -> Plans:
    """None are known yet."""
    made = Plans(running.DIALECT)
    monkeypatch.setattr(running, "PLANS", made)
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SnowflakeStore]:
    with World.create(tmp_path / "world", Manifest(services={"snowflake": None})) as world:
        store = world.store(SnowflakeStore)
        rows = [(n, Decimal(n * 7) / 2, f"2024-01-0{n % 9 + 1}", f"n{n}") for n in range(1, 40)]
        kinds = {"ID": "INT", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "NAME": "VARCHAR"}
        store.add_table("DB.PUBLIC.T", kinds, rows)
        store.add_table(
            "DB.PUBLIC.J", {"NAME": "VARCHAR", "V": "VARIANT"}, [("a", {"n": 7}), ("b", {"n": 31})]
        )
        store.use("DB", "PUBLIC")
        store.execute("create view seen as select * from t")
        yield store


def told(store: SnowflakeStore, text: str) -> tuple[object, object]:
    """What a query gives when it is worked out."""
    answer = running.run(store, text, running.parsed(text), 20)
    return answer.fields, answer.rows


@pytest.mark.parametrize("form", KEPT)
def test_a_query_with_other_numbers_gives_what_it_should(
    store: SnowflakeStore, plans: Plans, form: str
) -> None:
    for met, number in enumerate(NUMBERS):
        text = form.format(number)
        answer = plans.answer(text, running.context_of(store), limit=20)
        assert (answer is None) == (met == 0), "from the second time on"
        if answer is not None:
            assert (answer.fields, answer.rows) == told(store, text)


@pytest.mark.parametrize("form", OTHERS)
def test_what_follows_from_more_than_tables_is_worked_out_each_time(
    store: SnowflakeStore, plans: Plans, form: str
) -> None:
    for number in NUMBERS[:4]:
        assert plans.answer(form.format(number), running.context_of(store), limit=20) is None


PICKED = (
    "select * from wide where id = {}",
    "select note, id, amount as id_2 from wide where 3 <= id and id < {} order by id limit 5 offset 2",
    "select id, day, at from wide where id between 3 and 90 and amount >= 1.5 and id < {} order by id desc",
    "select id from wide where day >= '2024-01-03' and id < {} and kind = 'b' limit 7",
    "select whole from wide where whole > {} and id > 7",
    "select id from wide order by id desc limit 3 offset {}",
    "select huge from wide where id <= {}",
)
NOT_PICKED = (
    "select amount as id from wide where whole > {} order by id",  # by another column of that name
    "select distinct kind from wide where id > {}",
    "select id from wide where kind > 'a' and id < {}",
    "select id from wide where day = '2024-01-02' or id = {}",
    "select id from wide where ratio < {}",
    "select id, id from wide where id = {}",
)


def test_what_only_picks_rows_needs_no_duckdb_and_gives_the_same(
    store: SnowflakeStore, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {
        "ID": "INT", "WHOLE": "NUMBER(38,0)", "HUGE": "NUMBER(38,0)", "AMOUNT": "NUMBER(10,2)",
        "RATIO": "FLOAT", "DAY": "DATE", "AT": "TIMESTAMP_NTZ", "THERE": "TIMESTAMP_TZ", "OK": "BOOLEAN",
        "KIND": "VARCHAR", "NOTE": "VARCHAR(80)", "V": "VARIANT",
    }  # fmt: skip
    rows = [
        (
            n * 3, n % 7, 10**20 * n, Decimal(n * 7) / 4 if n % 5 else None, n / 3,
            f"2024-01-0{n % 9 + 1}", f"2024-01-01 00:00:{n:02}.5", datetime(2024, 1, 1, 5, n, tzinfo=UTC),
            n % 2 == 0 if n % 3 else None,
            "abc"[n % 3], f"note {n}" if n % 4 else None, {"n": n},
        )
        for n in range(40)
    ]  # fmt: skip
    store.add_table("DB.PUBLIC.WIDE", kinds, rows)
    for form in (*PICKED, *NOT_PICKED):
        for number in NUMBERS:
            answer = plans.answer(form.format(number), running.context_of(store), limit=20, skip=number % 3)
            if number:
                expected = running.run(
                    store, form.format(number), running.parsed(form.format(number)), 20, number % 3
                )
                assert answer is not None, form
                assert (answer.fields, answer.rows) == (expected.fields, expected.rows), form
                assert answer.more == expected.more, form
                for row, other in zip(answer.rows, expected.rows, strict=True):
                    assert list(map(type, row)) == list(map(type, other))

    def refuse() -> None:
        raise AssertionError("DuckDB is asked")

    monkeypatch.setattr(reading, "engine", refuse)
    told = {}
    for form in (*PICKED, *NOT_PICKED):
        try:
            told[form] = plans.answer(form.format(9), running.context_of(store), limit=20) is not None
        except AssertionError:
            told[form] = False
    every = "select * from wide where id = {}"  # of which one is of a type that is DuckDB's own
    larger = "select huge from wide where id <= {}"
    assert {form for form, picked in told.items() if picked} == {*PICKED} - {every, larger}


def test_a_form_follows_the_tables_that_are_there(store: SnowflakeStore) -> None:
    def ask(number: int) -> list[tuple[object, ...]]:
        return store.query(f"select * from t where id = {number}", limit=9).rows

    assert [len(ask(number)) for number in (1, 2, 50)] == [1, 1, 0]
    store.execute("insert into t (id) values (50)")
    assert len(ask(50)) == 1
    store.execute("create or replace table t as select id, 'new' as note from t")
    assert [ask(number) for number in (3, 4, 5)] == [[(3, "new")], [(4, "new")], [(5, "new")]]
    store.execute("alter table t rename column note to remark")
    assert store.query("select * from t where id = 6", limit=9).fields[1].name == "REMARK"
    store.execute("drop table t")
    with pytest.raises(SqlError, match="does not exist"):
        ask(7)


def test_refusals_are_the_same_each_time(store: SnowflakeStore) -> None:
    texts = ("select 1 / (id - id) from t where id = {}", "select nme from t where id = {}")
    for text in texts:
        said = set()
        for number in (3, 3, 3, 3):
            with pytest.raises(SqlError) as refused:
                store.query(text.format(number), limit=9)
            said.add(str(refused.value))
        assert len(said) == 1
