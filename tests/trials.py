"""What tests of task families share: building, acting, solving and judging."""

from __future__ import annotations

import sqlite3
from typing import Any

from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family
from mesocosm.families.instances import Instance
from mesocosm.families.verdict import Verdict
from mesocosm.services.calling import Tools
from mesocosm.services.service import Image


def sizes(family: Family) -> dict[str, int]:
    """The value of the parameter that grows at the family's minimum and at 64k."""
    growth = family.task.growth
    return {"minimum": next(iter(growth.points.values())), "64k": growth.size_for(64_000)}


def call(episode: Episode, service: str, tool: str, **arguments: Any) -> str:
    """The text of a tool's result; the call must not be refused."""
    outcome = episode.world.call(service, tool, arguments)
    assert outcome.status == "ok", outcome.text
    return outcome.text


def solve(family: Family, episode: Episode, *, claim: bool = True) -> None:
    """Let the reference solver do the task through MCP; without ``claim`` it does not say that it is done."""
    with McpTools(world_server(episode.world)) as tools:
        family.solve(tools if claim else _Unclaimed(tools), episode.prompt, episode.expected())


def solve_but_mails(family: Family, episode: Episode) -> list[dict[str, Any]]:
    """Let the reference solver do all but send mails and say that it is done: what it would send."""
    sent: list[dict[str, Any]] = []

    class Kept(Tools):
        def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
            if tool == "send_email":
                sent.append(arguments)
            silent = tool in ("send_email", "claim_done")
            return ["{}"] if silent else tools.look(service, tool, arguments)

    with McpTools(world_server(episode.world)) as tools:
        family.solve(Kept(), episode.prompt, episode.expected())
    return sent


class _Unclaimed(Tools):
    """Tools with which a task cannot be declared done."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        return ["{}"] if service == "claim_done" else self._tools.look(service, tool, arguments)


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
