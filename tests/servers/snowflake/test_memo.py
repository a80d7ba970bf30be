"""The memo of insights, which MCP clients read as a resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

from mesocosm.doors.mcp import world_server
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

MEMO = "memo://insights"


def world_of(path: Path, services: Mapping[str, Sequence[str] | None]) -> World:
    World.create(path, Manifest(services=dict(services))).close()
    return World(path)


def test_the_memo_is_read_like_a_tool_is_called(tmp_path: Path) -> None:
    async def talk(world: World) -> None:
        async with Client(world_server(world)) as client:
            (resource,) = (await client.list_resources()).resources
            assert (await client.list_resource_templates()).resource_templates == []
            assert (str(resource.uri), resource.mime_type) == (MEMO, "text/plain")
            for expected in ("No data insights", "- Sales doubled in May."):
                (content,) = (await client.read_resource(MEMO)).contents
                assert expected in content.text  # type: ignore[union-attr]
                await client.call_tool("append_insight", {"insight": "Sales doubled in May."})
            with pytest.raises(MCPError, match="Unknown resource"):
                await client.read_resource("memo://nothing")

    with world_of(tmp_path / "world", {"snowflake": None}) as world:
        anyio.run(talk, world)
        assert [entry.tool for entry in world.journal.entries()].count(MEMO) == 2
        again = [world.calls.make_again(entry) for entry in list(world.journal.entries())]
        assert "Sales doubled" in again[0].text


def test_who_is_offered_some_tools_reads_no_memo(tmp_path: Path) -> None:
    async def talk(world: World) -> None:
        async with Client(world_server(world)) as client:
            assert (await client.list_resources()).resources == []
            told = await client.call_tool("read_query", {"query": "SELECT 6 * 7 AS answer"})
            assert "ANSWER: 42" in told.content[0].text  # type: ignore[union-attr]

    with world_of(tmp_path / "world", {"snowflake": ["read_query"]}) as world:
        anyio.run(talk, world)
