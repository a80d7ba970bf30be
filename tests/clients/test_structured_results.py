"""Results as objects (``--structured``), for clients that read them so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from rest.hosted import HostedWorld
from rest.test_calendar import fill


@pytest.fixture(scope="module")
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["calendar"], fill)


def asked(hosted: HostedWorld) -> tuple[dict[str, Any], Any, Any]:
    """The output schemas of the tools, and what a call gives: of an object, and of one that is refused."""

    async def ask() -> tuple[dict[str, Any], Any, Any]:
        async with Client(f"{hosted.base}/e/{hosted.id}/mcp") as client:
            tools = (await client.list_tools()).tools
            schemas = {tool.name: tool.output_schema for tool in tools}
            times = {
                "start": {"dateTime": "2025-01-20T10:00:00-05:00"},
                "end": {"dateTime": "2025-01-20T11:00:00-05:00"},
            }
            made = await client.call_tool("create_event", {"summary": "Talk", **times})
            refused = await client.call_tool("create_event", {"summary": "Talk"})
            return schemas, made, refused

    return anyio.run(ask)


def test_objects_are_given_as_such_if_that_is_asked_for(
    hosted: HostedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    schemas, made, _ = asked(hosted)
    assert set(schemas.values()) == {None}
    assert made.structured_content is None
    monkeypatch.setenv("MESOCOSM_STRUCTURED_RESULTS", "true")
    schemas, made, refused = asked(hosted)
    assert schemas["create_event"] == {"type": "object"}
    assert made.structured_content["summary"] == "Talk"
    assert refused.is_error
    assert refused.structured_content is None
