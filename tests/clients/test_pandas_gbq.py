"""pandas-gbq, which finds an episode by BIGQUERY_EMULATOR_HOST."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from google.oauth2.credentials import Credentials
from later import later_or_skip
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World

gbq = later_or_skip("pandas_gbq")
pandas = later_or_skip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")
FRAME = {"id": [1, 2], "name": ["a", None], "x": [1.5, None]}


class Gbq:
    """The client with what each call needs."""

    def __init__(self, token: str) -> None:
        credentials = Credentials(token=token)  # type: ignore[no-untyped-call]
        self._options = {"project_id": "local-project", "credentials": credentials}

    def write(self, place: str, frame: dict[str, Any] | None = None, **more: Any) -> None:
        gbq.to_gbq(pandas.DataFrame(frame or FRAME), place, progress_bar=False, **more, **self._options)

    def read(self, query: str, **more: Any) -> list[list[Any]]:
        found = gbq.read_gbq(query, progress_bar_type=None, use_bqstorage_api=False, **more, **self._options)
        return [[None if one is pandas.NA or one != one else one for one in row] for row in found.to_numpy()]


@pytest.fixture(scope="module")
def client(episode_of: Callable[..., HostedWorld]) -> Iterator[Gbq]:
    def fill(world: World) -> None:
        world.store(GoogleCloudStore).bigquery.datasets.create("shop")

    hosted = episode_of(["google_cloud"], fill)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIGQUERY_EMULATOR_HOST", hosted.api("google_cloud"))
        yield Gbq(hosted.id)


def _refused(client: Gbq) -> str:
    with pytest.raises(gbq.gbq.TableCreationError) as caught:
        client.write("shop.frame")
    return type(caught.value).__name__


def _read_after(place: str, query: str, **how: Any) -> Callable[[Gbq], Any]:
    def run(client: Gbq) -> Any:
        client.write(place, **how)
        return client.read(query)

    return run


COUNT = "SELECT COUNT(*) AS n, SUM(x) AS s FROM {}"
PARAMETERS = {
    "query": {
        "parameterMode": "NAMED",
        "queryParameters": [
            {"name": "x", "parameterType": {"type": "STRING"}, "parameterValue": {"value": "q"}}
        ],
    }
}
CASES: dict[str, tuple[Callable[[Gbq], Any], Any]] = {
    "write": (
        _read_after("shop.frame", "SELECT * FROM shop.frame ORDER BY id"),
        [[1, "a", 1.5], [2, None, None]],
    ),
    "what is there is not overwritten": (_refused, "TableCreationError"),
    "append": (_read_after("shop.frame", COUNT.format("shop.frame"), if_exists="append"), [[4, 3.0]]),
    "replace": (_read_after("shop.frame", COUNT.format("shop.frame"), if_exists="replace"), [[2, 1.5]]),
    "as CSV": (_read_after("shop.csv", COUNT.format("shop.csv"), api_method="load_csv"), [[2, 1.5]]),
    "in chunks": (
        _read_after("shop.parts", COUNT.format("shop.parts"), chunksize=1, if_exists="append"),
        [[2, 1.5]],
    ),
    "into a new dataset": (_read_after("fresh.frame", COUNT.format("fresh.frame")), [[2, 1.5]]),
    "a schema": (
        _read_after(
            "shop.exact",
            "SELECT id FROM shop.exact ORDER BY id LIMIT 1",
            frame={"id": [1]},
            table_schema=[{"name": "id", "type": "NUMERIC"}],
        ),
        [[Decimal(1)]],
    ),
    "a whole table": (lambda client: len(client.read("shop.frame")), 2),
    "some rows": (lambda client: len(client.read("shop.frame", max_results=1)), 1),
    "columns in another order": (
        lambda client: client.read("SELECT 1 AS a, 2 AS b", columns=["b", "a"]),
        [[2, 1]],
    ),
    "types": (
        lambda client: client.read("SELECT NUMERIC '1.5' AS n, DATE '2025-01-02' AS d, TRUE AS t"),
        [[Decimal("1.5"), dt.date(2025, 1, 2), True]],
    ),
    "parameters": (lambda client: client.read("SELECT @x AS x", configuration=PARAMETERS), [["q"]]),
}


@pytest.mark.parametrize("case", CASES)
def test_pandas_gbq(case: str, client: Gbq) -> None:
    run, expected = CASES[case]
    assert run(client) == expected
