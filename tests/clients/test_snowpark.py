"""Snowpark, in an environment of its own: MESOCOSM_CLIENTS_PYTHON names its interpreter
(``elsewhere/requirements.txt``)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rest.hosted import HostedWorld

from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

PYTHON = os.environ.get("MESOCOSM_CLIENTS_PYTHON", "")
SCRIPT = Path(__file__).parent / "elsewhere" / "with_snowpark.py"
pytestmark = pytest.mark.skipif(not PYTHON, reason="MESOCOSM_CLIENTS_PYTHON names no interpreter")
CASES: dict[str, Any] = {
    "a statement": [[1, "x"]],
    "a table": [["A-1", "12.50"], ["A-2", None]],
    "a filter": 1,
    "groups": [[None, None, 1], ["2025-01-02", "12.50", 1]],
    "a new column": [[None], ["25.00"]],
    "a join": 2,
    "a union": 4,
    "distinct": 2,
    "a window": [["A-1", 1], ["A-2", 2]],
    "a case": [["n"], ["y"]],
    "a schema": ["StringType()", "DecimalType(10, 2)", "DateType()", "VariantType()"],
    "a frame of values": [[1, "a", "2025-01-01"], [2, None, None]],
    "a frame with a schema": [[1, "a"]],
    "a large frame": 2000,
    "a range": [[0], [1], [2]],
    "a new table": 2,
    "more rows": 4,
    "update": 2,
    "delete": 2,
    "merge": 2,
    "a view": 2,
    "a temporary view": 2,
    "a cached result": 2,
    "an iterator": 2,
    "to pandas": 2,
    "from pandas": 2,
    "described": 5,
    "the first row": "A-1",
    "flattened": [["A-1", '"x"']],
    "without waiting": [["A-1"], ["A-2"]],
    "where it is": ['"SALES"', '"PUBLIC"'],
    "a transaction": "Statement executed successfully.",
    "a table goes": [],
}


@pytest.fixture(scope="module")
def told(episode_of: Callable[..., HostedWorld]) -> dict[str, Any]:
    if subprocess.run(
        [PYTHON, "-c", "import snowflake.snowpark"], capture_output=True, check=False
    ).returncode:
        pytest.skip(f"{PYTHON} has no snowflake-snowpark-python")

    def fill(world: World) -> None:
        columns = {"ID": "VARCHAR NOT NULL", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "MORE": "VARIANT"}
        rows = [("A-1", Decimal("12.50"), date(2025, 1, 2), {"tags": ["x"]}), ("A-2", None, None, None)]
        world.store(SnowflakeStore).add_table("SALES.PUBLIC.ORDERS", columns, rows)

    hosted = episode_of(["snowflake"], fill)
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    command = [PYTHON, "-W", "ignore", str(SCRIPT), host, port, hosted.id]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("case", CASES)
def test_snowpark(case: str, told: dict[str, Any]) -> None:
    assert told[case] == CASES[case]


def test_no_case_is_without_an_expectation(told: dict[str, Any]) -> None:
    assert list(told) == list(CASES)
