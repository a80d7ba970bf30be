"""Forks of a world with warehouses and sheets, used at once: each is as if it were alone."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from worlds import build_world

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.servers.google_sheet.store.bulk import NewSheet
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World

SERVICES = ("snowflake", "google_cloud", "google_sheet")


def fill(world: World) -> None:
    rows = [(number, f"n{number % 7}", number) for number in range(3_000)]
    snowflake = world.store(SnowflakeStore)
    snowflake.add_table("DB.PUBLIC.T", {"ID": "INT", "NAME": "VARCHAR", "N": "NUMBER(10,2)"}, rows)
    snowflake.sessions.use("DB", "PUBLIC")
    world.store(GoogleCloudStore).bigquery.queries.run(
        "CREATE SCHEMA shop;"
        "CREATE TABLE shop.t AS SELECT id, MOD(id, 7) AS n FROM UNNEST(GENERATE_ARRAY(1, 3000)) AS id"
    )
    sheets = world.store(SheetStore)
    sheets.drive.create_account("ada@example.org", "Ada")
    sheets.drive.sign_in("ada@example.org")
    lines = [[number, f"=A{number + 1}*2"] for number in range(40)]
    sheets.filling.spreadsheet("Figures", [NewSheet("Data", [*lines, ["=SUM(B1:B40)"]])])


def use(path: Path, number: int) -> tuple[list[str], list[str]]:
    """What a fork tells, and what its files are afterwards. Some of it is the fork's own."""
    told = []
    with World(path) as world:
        book = next(iter(world.store(SheetStore).drive.visible())).id

        def call(service: str, tool: str, **arguments: Any) -> None:
            outcome = world.call(service, tool, arguments)
            assert outcome.status == "ok", outcome.text
            told.append(outcome.text)

        for turn in (1, 2, 3):
            wanted = number * 100 + turn
            call("snowflake", "read_query", query=f"select * from t where id = {wanted}")
            call("snowflake", "write_query", query=f"update t set n = n + 1 where id < {wanted}")
            call("snowflake", "read_query", query="select name, sum(n) s from t group by name order by name")
            call("google_cloud", "bigquery_run_query", query=f"SELECT * FROM shop.t WHERE id = {wanted}")
            call("google_cloud", "bigquery_run_query", query=f"DELETE FROM shop.t WHERE id = {wanted}")
            call(
                "google_cloud",
                "bigquery_run_query",
                query="SELECT n, COUNT(*) c FROM shop.t GROUP BY n ORDER BY n",
            )
            cell: dict[str, Any] = {"spreadsheet_id": book, "sheet": "Data", "range": "A3"}
            call("google_sheet", "update_cells", **cell, data=[[wanted]])
            call("google_sheet", "get_sheet_data", **{**cell, "range": "A1:B41"})
    return told, [
        hashlib.sha256((path / f"{service}.db").read_bytes()).hexdigest() for service in SERVICES
    ]  # fmt: skip


def test_forks_that_are_used_at_once_are_as_if_each_were_alone(tmp_path: Path) -> None:
    with build_world(tmp_path / "base", SERVICES, fill) as world:
        for number in range(8):
            for name in ("alone", "together", "twin"):
                world.copy_to(tmp_path / f"{name}-{number}")
    alone = [use(tmp_path / f"alone-{number}", number) for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        jobs = [
            threads.submit(use, tmp_path / f"{name}-{number}", number)
            for number in range(8)
            for name in ("together", "twin")
        ]
        found = [job.result() for job in jobs]
    assert found == [one for one in alone for _ in ("together", "twin")]
    assert len({files[0] for _, files in alone}) == 8
