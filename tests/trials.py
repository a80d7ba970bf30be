"""What tests of task families share: building, acting, solving and judging."""

from __future__ import annotations

import sqlite3
from typing import Any

from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.families.building import Instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family
from mesocosm.families.verdict import Verdict


def sizes(family: Family) -> dict[str, int]:
    """The value of the parameter that grows at the family's minimum and at 64k."""
    growth = family.task.growth
    return {"minimum": next(iter(growth.points.values())), "64k": growth.size_for(64_000)}


def call(episode: Episode, service: str, tool: str, **arguments: Any) -> str:
    """The text of a tool's result; the call must not be refused."""
    outcome = episode.world.call(service, tool, arguments)
    assert outcome.status == "ok", outcome.text
    return outcome.text


def solve(family: Family, episode: Episode) -> None:
    """Let the reference solver do the task through MCP."""
    with McpTools(world_server(episode.world)) as tools:
        family.solve(tools, episode.prompt, episode.expected())


def truth(family: Family, episode: Episode) -> Any:
    """What the checker knows of an episode."""
    return family.read_expected((episode.path / "expected.json").read_bytes())


def failed(verdict: Verdict) -> set[str]:
    """Names of the checks that failed."""
    assert verdict.verdict != "errored", verdict.error
    return {check.name for check in verdict.findings if not check.passed}


def failures(episode: Episode) -> set[str]:
    """Names of the checks that fail now."""
    return failed(episode.grade())


def rows_of(instance: Instance, service: str, query: str) -> list[Any]:
    """Rows of a service's database as it was built."""
    connection = sqlite3.connect(instance.path / "world" / f"{service}.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
