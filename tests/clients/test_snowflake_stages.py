"""Stages through Snowflake's connector: what write_pandas does, and files of one's own."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

connector = pytest.importorskip("snowflake.connector")
pandas = pytest.importorskip("pandas")
write_pandas = pytest.importorskip("snowflake.connector.pandas_tools").write_pandas
pytestmark = pytest.mark.filterwarnings("ignore")
CSV = 'id,amount\nC-1,2.5\n"C,2",\n'


def fill(world: World) -> None:
    columns = {"ID": "VARCHAR NOT NULL", "AMOUNT": "NUMBER(10,2)", "MORE": "VARIANT"}
    world.store(SnowflakeStore).add_table("SALES.PUBLIC.ORDERS", columns, [("A-1", Decimal("12.50"), None)])


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["snowflake"], fill)


def connected(hosted: HostedWorld) -> Any:
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    options = {"user": "me", "password": hosted.id, "account": "any", "database": "SALES", "schema": "PUBLIC"}
    return connector.connect(host=host, port=int(port), protocol="http", login_timeout=PATIENCE, **options)


@pytest.fixture(scope="module")
def connection(hosted: HostedWorld) -> Iterator[Any]:
    with connected(hosted) as made:
        yield made


@pytest.fixture(scope="module")
def ask(connection: Any) -> Callable[[str], list[tuple[Any, ...]]]:
    return lambda text: list(connection.cursor().execute(text).fetchall())


Ask = Callable[[str], list[tuple[Any, ...]]]
FRAME = {
    "n": [1, 2, 3],
    "name": ["a", None, "c"],
    "x": [1.5, None, 2.0],
    "ok": [True, False, None],
    "at": [dt.datetime.fromisoformat("2025-01-01T10:00:00.5"), dt.datetime.fromisoformat("2025-01-02"), None],
    "day": [dt.date(2025, 1, 1), None, dt.date(2025, 1, 3)],
    "amount": [Decimal("1.25"), None, Decimal("10.50")],
}


def test_a_frame_is_written_into_a_table(connection: Any, ask: Ask) -> None:
    frame = pandas.DataFrame({"ID": ["B-1", "B-2"], "AMOUNT": [1.5, None]})
    assert write_pandas(connection, frame, "ORDERS")[:3] == (True, 1, 2)
    assert (
        write_pandas(connection, frame.rename(columns=str.lower), "orders", quote_identifiers=False)[2] == 2
    )
    rows = ask("select id, amount, count(*) from orders group by all order by id")
    assert rows == [("A-1", Decimal("12.50"), 1), ("B-1", Decimal("1.50"), 2), ("B-2", None, 2)]
    with pytest.raises(connector.errors.ProgrammingError, match="NOTHING' does not exist"):
        write_pandas(connection, frame, "NOTHING")


def test_a_frame_makes_its_table(connection: Any, ask: Ask) -> None:
    frame = pandas.DataFrame(FRAME)
    assert write_pandas(connection, frame, "MADE", auto_create_table=True)[2] == 3
    types = [
        "NUMBER(38,0)",
        "VARCHAR(16777216)",
        "FLOAT",
        "BOOLEAN",
        "TIMESTAMP_NTZ(9)",
        "DATE",
        "NUMBER(4,2)",
    ]
    assert [row[:2] for row in ask("desc table made")] == list(zip(FRAME, types, strict=True))
    assert ask('select * from made order by "n"') == list(zip(*FRAME.values(), strict=True))
    assert write_pandas(connection, frame.head(2), "MADE", overwrite=True)[2] == 2
    assert write_pandas(connection, frame, "MADE", auto_create_table=True, overwrite=True)[2] == 3
    for how in ({"compression": "snappy"}, {"bulk_upload_chunks": True}):
        assert write_pandas(connection, frame, "MADE", chunk_size=1, **how)[:3] == (True, 3, 3)
    assert ask("select count(*) from made") == [(9,)]


def test_temporary_stages_are_of_their_session(hosted: HostedWorld, ask: Ask) -> None:
    ask("create temporary stage mine")
    assert any(row[1] == "MINE" for row in ask("show stages"))
    with connected(hosted) as other:
        assert other.cursor().execute("show stages like 'MINE'").fetchall() == []


def test_files_are_put_listed_copied_and_removed(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(CSV)
    form = "type = csv skip_header = 1 field_optionally_enclosed_by = '\"'"
    ask(f"create or replace stage s file_format = ({form})")
    put = f"put file://{tmp_path}/x.csv @s/in"
    assert [row[6] for row in ask(put) + ask(put)] == ["UPLOADED", "SKIPPED"]
    assert [row[0] for row in ask("list @s")] == ["s/in/x.csv.gz"]
    assert ask("select $1, t.$2, $3 from @s/in t order by 1 desc") == [
        ("C-1", "2.5", None),
        ("C,2", None, None),
    ]
    ask("create or replace table copied (id varchar, amount number(10,2))")
    assert ask("copy into copied from @s/in files = ('x.csv.gz')")[0][:4] == ("in/x.csv.gz", "LOADED", 2, 2)
    assert ask("copy into copied from @s/in") == [("Copy executed with 0 files processed.",)]
    ask("copy into copied from (select 'x' || $1, $2::number(10,2) * 2 from @s) force = true purge = true")
    assert ask("select * from copied order by amount nulls last, id desc") == [
        *(("C-1", Decimal("2.50")), ("xC-1", Decimal("5.00"))),
        *(("xC,2", None), ("C,2", None)),
    ]
    assert ask("list @s") == []
    ask(put)
    assert ask("remove @s/in") == [("s/in/x.csv.gz", "removed")]
    ask("drop stage s")
    with pytest.raises(connector.errors.ProgrammingError, match=r"Stage 'SALES\.PUBLIC\.S' does not exist"):
        ask("list @s")


def test_what_is_enclosed_and_empty_is_a_text(ask: Ask, tmp_path: Path) -> None:
    text = '1,"",\n2,,""\n3,"a,"",b","""x"\n4,"",""\n'
    (tmp_path / "empty.csv").write_text(text)
    ask("create stage sales.public.empty_files")
    ask("create table sales.public.empties (n int, a varchar, b varchar)")
    ask(f"put file://{tmp_path}/empty.csv @sales.public.empty_files auto_compress = false")
    form = "type = csv field_optionally_enclosed_by = '\"'"
    copy = "copy into sales.public.empties from @sales.public.empty_files"
    ask(f"{copy} file_format = ({form})")
    rows = ask("select n, a, b from sales.public.empties order by n")
    assert rows == [(1, "", None), (2, None, ""), (3, 'a,",b', '"x'), (4, "", "")]
    ask("delete from sales.public.empties")
    ask(f"{copy} file_format = ({form} null_if = ('')) force = true")
    assert ask("select a, b from sales.public.empties where n = 4") == [(None, None)]


def test_json_is_read_by_a_format_with_a_name(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"id":"J-1","amount":"7.5","more":{"a":[1]}}\n{"id":"J-2"}\n')
    ask("create or replace stage js")
    ask("create or replace file format lines type = json")
    ask(f"put file://{tmp_path}/x.json @js auto_compress = false overwrite = true")
    found = ask("select $1:id::varchar, $1:more.a[0]::int from @js (file_format => 'lines') order by 1")
    assert found == [("J-1", 1), ("J-2", None)]
    source = "(select $1:id, $1:amount, $1:more from @js)"
    ask(f"copy into orders (id, amount, more) from {source} file_format = (format_name = 'lines')")
    read = ask("select id, amount, more:a[0]::int from orders where id like 'J%' order by id")
    assert read == [("J-1", Decimal("7.50"), 1), ("J-2", None, None)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("copy into orders from @bad", "does not match that of the corresponding"),
        ("copy into orders from @bad validation_mode = return_errors", "VALIDATION_MODE"),
        ("copy into @bad from orders", "COPY INTO a stage"),
        ("get @bad file:///tmp", "Read a stage with SELECT"),
        ("create stage t url = 's3://x'", "CREATE STAGE with"),
        ("create stage t file_format = (type = orc)", "TYPE = ORC"),
        ("create stage t file_format = (type = csv nothing = 1)", "invalid property 'NOTHING'"),
        ("select * from @bad", "name its columns"),
        ("put file:///nothing @~", "Stages have names"),
    ],
)
def test_what_is_not_offered_is_refused_by_name(text: str, words: str, ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("1\n")
    ask("create or replace stage bad")
    ask(f"put file://{tmp_path}/bad.csv @bad")
    with pytest.raises(connector.errors.Error, match=words):
        ask(text)


def test_a_statement_of_a_tool_has_no_files(hosted: HostedWorld, ask: Ask) -> None:
    ask("create or replace stage toolless")
    with hosted.tools() as tools, pytest.raises(Exception, match="no files of their own"):
        tools.call("snowflake", "write_query", query="PUT file:///x @SALES.PUBLIC.toolless")


def test_replay_makes_the_same(hosted: HostedWorld) -> None:
    assert hosted.replay().identical
