"""Clients that cannot share an environment with this one: MESOCOSM_CLIENTS_PYTHON names an interpreter that
has them (``pip install pandas-gbq 'ibis-framework[snowflake]'``).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

PYTHON = os.environ.get("MESOCOSM_CLIENTS_PYTHON", "")
FOLDER = Path(__file__).with_name("elsewhere")
pytestmark = pytest.mark.skipif(not PYTHON, reason="MESOCOSM_CLIENTS_PYTHON names no interpreter")
EpisodeOf = Callable[[list[str], Callable[[World], Any]], HostedWorld]


def ran(package: str, script: str, *arguments: str, **env: str) -> str:
    """What a script prints that needs a package."""
    if subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{PYTHON} has no {package}")
    command = [PYTHON, "-W", "ignore", str(FOLDER / script), *arguments]
    done = subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ibis_on_snowflake(episode_of: EpisodeOf) -> None:
    def fill(world: World) -> None:
        columns = {"ID": "VARCHAR NOT NULL", "AMOUNT": "NUMBER(10,2)", "DAY": "DATE", "MORE": "VARIANT"}
        rows = [("A-1", Decimal("12.50"), date(2025, 1, 2), {"tags": ["x"]}), ("A-2", None, None, None)]
        world.store(SnowflakeStore).add_table("SALES.PUBLIC.ORDERS", columns, rows)

    hosted = episode_of(["snowflake"], fill)
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    assert "20 expressions" in ran("ibis", "with_ibis.py", host, port, hosted.id)


def test_pandas_gbq_writes_and_reads(episode_of: EpisodeOf) -> None:
    def fill(world: World) -> None:
        world.store(GoogleCloudStore).bigquery.datasets.create("shop")

    hosted = episode_of(["google_cloud"], fill)
    told = ran(
        "pandas_gbq", "with_pandas_gbq.py", hosted.id, BIGQUERY_EMULATOR_HOST=hosted.api("google_cloud")
    )
    assert "written and read" in told
