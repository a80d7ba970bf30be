"""dbt against both warehouses: a project of six models is seeded, run twice, tested and documented.

dbt and its adapters have an environment of their own (``elsewhere/requirements.txt``), whose interpreter
MESOCOSM_CLIENTS_PYTHON names, or whose folder of programs is on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

BESIDE = os.path.dirname(os.environ.get("MESOCOSM_CLIENTS_PYTHON", ""))
DBT = shutil.which("dbt", path=os.pathsep.join([BESIDE, os.environ["PATH"]]))
PROJECT = Path(__file__).with_name("dbt")
pytestmark = pytest.mark.skipif(DBT is None, reason="there is no dbt")
EpisodeOf = Callable[[list[str], Callable[[World], Any]], HostedWorld]


def bigquery(hosted: HostedWorld) -> dict[str, Any]:
    api = hosted.api("google_cloud")
    about = {"project": "local-project", "dataset": "dbt_shop", "api_endpoint": api}
    return {"type": "bigquery", "method": "oauth-secrets", "token": hosted.id, **about}


def snowflake(hosted: HostedWorld) -> dict[str, Any]:
    host, _, port = hosted.base.removeprefix("http://").partition(":")
    place = {"host": host, "port": int(port), "protocol": "http", "database": "SALES", "schema": "DBT"}
    return {"type": "snowflake", "account": "any", "user": "me", "password": hosted.id, **place}


def fill_google(world: World) -> None:
    world.store(GoogleCloudStore).bigquery.datasets.create("shop")


def fill_snowflake(world: World) -> None:
    world.store(SnowflakeStore).add_table("SALES.PUBLIC.T", {"ID": "INT"}, [])


@pytest.mark.parametrize(
    ("service", "fill", "target", "table"),
    [
        ("google_cloud", fill_google, bigquery, "dbt_shop.customer_summary"),
        ("snowflake", fill_snowflake, snowflake, "SALES.DBT.CUSTOMER_SUMMARY"),
    ],
    ids=["bigquery", "snowflake"],
)
def test_a_project_is_seeded_run_tested_and_documented(
    service: str,
    fill: Callable[[World], Any],
    target: Callable[[HostedWorld], dict[str, Any]],
    table: str,
    episode_of: EpisodeOf,
    tmp_path: Path,
) -> None:
    hosted = episode_of([service], fill)
    project = shutil.copytree(PROJECT, tmp_path / "shop")
    profile = {"shop": {"target": "it", "outputs": {"it": {**target(hosted), "threads": 2}}}}
    (project / "profiles.yml").write_text(json.dumps(profile))  # JSON is YAML

    def dbt(*words: str) -> str:
        assert DBT is not None
        command = [DBT, "--no-use-colors", *words, "--profiles-dir", "."]
        env = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "PASS=2 WARN=0 ERROR=0" in dbt("seed")
    assert "PASS=6 WARN=0 ERROR=0" in dbt("run")
    assert "PASS=6 WARN=0 ERROR=0" in dbt("run")  # the incremental model is merged now
    assert "PASS=5 WARN=0 ERROR=0" in dbt("test")
    dbt("docs", "generate")
    catalog = json.loads((project / "target" / "catalog.json").read_text())
    assert "model.shop.customer_summary" in catalog["nodes"]
    with hosted.tools() as tools:
        tool = {"google_cloud": "bigquery_run_query", "snowflake": "read_query"}[service]
        told = tools.call(service, tool, query=f"SELECT name, total FROM {table} ORDER BY id")
    assert "Ada" in str(told)
    assert "19.75" in str(told)
