"""SQLAlchemy on both warehouses: tables made, filled, asked, reflected, mapped and read by pandas."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from later import later_or_skip
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

pandas = later_or_skip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")
EpisodeOf = Callable[[list[str], Callable[[World], Any]], HostedWorld]
MADE = dt.datetime.fromisoformat("2025-01-01T12:00")


def _snowflake(episode_of: EpisodeOf) -> sa.Engine:
    dialect = pytest.importorskip("snowflake.sqlalchemy")

    def fill(world: World) -> None:
        world.store(SnowflakeStore).add_table("SALES.PUBLIC.ORDERS", {"ID": "VARCHAR NOT NULL"}, [("A-1",)])

    hosted = episode_of(["snowflake"], fill)
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    account = {"account": "any", "user": "me", "password": hosted.id}
    url = dialect.URL(database="SALES", schema="PUBLIC", host=host, port=int(port), **account)
    return sa.create_engine(url, connect_args={"protocol": "http"})


def _bigquery(episode_of: EpisodeOf) -> sa.Engine:
    pytest.importorskip("sqlalchemy_bigquery")
    from google.cloud import bigquery
    from google.oauth2.credentials import Credentials

    def fill(world: World) -> None:
        store = world.store(GoogleCloudStore).bigquery
        store.datasets.create("shop")
        store.queries.run("CREATE TABLE shop.orders AS SELECT 'A-1' AS id")

    hosted = episode_of(["google_cloud"], fill)
    client = bigquery.Client(
        "local-project",
        credentials=Credentials(token=hosted.id),  # type: ignore[no-untyped-call]
        client_options={"api_endpoint": hosted.api("google_cloud")},
        default_query_job_config=bigquery.QueryJobConfig(default_dataset="local-project.shop"),
    )
    url = "bigquery://local-project/shop?user_supplied_client=True"
    return sa.create_engine(url, connect_args={"client": client})


metadata = sa.MetaData()
things = sa.Table(
    "things",
    metadata,
    sa.Column("id", sa.Integer, nullable=False),
    sa.Column("name", sa.String(30)),
    sa.Column("price", sa.Numeric(10, 2)),
    sa.Column("made", sa.DateTime),
)


class Base(sa.orm.DeclarativeBase):
    """Classes that are mapped."""


class Customer(Base):
    """A row of a table of its own."""

    __tablename__ = "customers"
    id: sa.orm.Mapped[int] = sa.orm.mapped_column(primary_key=True, autoincrement=False)
    name: sa.orm.Mapped[str | None]


@pytest.fixture(scope="module", params=[_bigquery, _snowflake], ids=["bigquery", "snowflake"])
def engine(request: pytest.FixtureRequest, episode_of: EpisodeOf) -> Iterator[sa.Engine]:
    engine = request.param(episode_of)
    metadata.create_all(engine)
    metadata.create_all(engine)  # what is there stays
    with engine.begin() as connection:
        rows = [(1, "a", Decimal("1.50"), MADE), (2, "b", None, None)]
        names = [column.name for column in things.columns]
        connection.execute(things.insert(), [dict(zip(names, row, strict=True)) for row in rows])
    yield engine
    engine.dispose()


def _all(statement: Any) -> Callable[[sa.Engine], Any]:
    def ask(engine: sa.Engine) -> Any:
        with engine.begin() as connection:
            return [tuple(row) for row in connection.execute(statement)]

    return ask


def _count(statement: Any) -> Callable[[sa.Engine], Any]:
    def change(engine: sa.Engine) -> Any:
        with engine.begin() as connection:
            return connection.execute(statement).rowcount

    return change


def _reflected(engine: sa.Engine) -> Any:
    found = sa.MetaData()
    found.reflect(engine)
    return {name: [column.name for column in table.columns] for name, table in found.tables.items()}


def _loaded(engine: sa.Engine) -> Any:
    return [column.nullable for column in sa.Table("things", sa.MetaData(), autoload_with=engine).columns]


def _inspected(engine: sa.Engine) -> Any:
    found = sa.inspect(engine)
    columns = [type(one["type"]).__name__.upper() for one in found.get_columns("things")]
    return sorted(found.get_table_names()), found.has_table("nothing"), len(columns)


def _mapped(engine: sa.Engine) -> Any:
    Base.metadata.create_all(engine)
    with sa.orm.Session(engine) as session:
        session.add_all([Customer(id=1, name="x"), Customer(id=2, name="y")])
        session.commit()
        session.query(Customer).filter_by(name="x").one().name = "z"
        session.commit()
        session.delete(session.get(Customer, 2))
        session.commit()
        return [(one.id, one.name) for one in session.query(Customer)]


def _framed(engine: sa.Engine) -> Any:
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for _ in range(2):
        frame.to_sql("frame", engine, index=False, if_exists="replace")
    read = pandas.read_sql("SELECT a, b FROM frame ORDER BY a", engine)
    return read.to_numpy().tolist(), len(pandas.read_sql_table("frame", engine))


c = things.c
CASES: dict[str, tuple[Callable[[sa.Engine], Any], Any]] = {
    "rows": (
        _all(sa.select(things).order_by(c.id)),
        [(1, "a", Decimal("1.50"), MADE), (2, "b", None, None)],
    ),
    "where": (_all(sa.select(c.id).where(c.name.like("a%"), c.made >= MADE)), [(1,)]),
    "one of": (_all(sa.select(c.id).where(c.name.in_(["a", "c"]))), [(1,)]),
    "groups": (
        _all(sa.select(c.name, sa.func.count()).group_by(c.name).order_by(c.name)),
        [("a", 1), ("b", 1)],
    ),
    "some rows": (_all(sa.select(c.id).order_by(c.id.desc()).limit(1).offset(1)), [(1,)]),
    "a window": (
        _all(sa.select(c.id, sa.func.row_number().over(order_by=c.id.desc()).label("n")).order_by("n")),
        [(2, 1), (1, 2)],
    ),
    "a common table": (
        _all(sa.select(sa.func.count()).select_from(sa.select(things).where(c.price > 1).cte("dear"))),
        [(1,)],
    ),
    "an outer join": (
        _all(sa.select(sa.func.count()).select_from(things.outerjoin(things.alias("t"), sa.true()))),
        [(4,)],
    ),
    "update": (_count(things.update().where(c.id == 2).values(name="z")), 1),
    "delete": (_count(things.delete().where(c.name == "z")), 1),
    "inspect": (_inspected, (["orders", "things"], False, 4)),
    "load a table": (_loaded, [False, True, True, True]),
    "reflect": (_reflected, {"orders": ["id"], "things": ["id", "name", "price", "made"]}),
    "map": (_mapped, [(1, "z")]),
    "frames": (_framed, ([[1, "x"], [2, "y"]], 2)),
    "drop": (lambda engine: [metadata.drop_all(engine), sa.inspect(engine).has_table("things")][1], False),
}


@pytest.mark.parametrize("case", CASES)
def test_sqlalchemy(case: str, engine: sa.Engine) -> None:
    run, expected = CASES[case]
    assert run(engine) == expected
